/*
 * The first release: how often each item is rated, how it is rated, and a few means over users. On
 * its own it is the mechanism `biases`; for `residual` it is where the rounds start from.
 */
#ifndef DPMF_MECHANISMS_BIAS_RELEASE_H
#define DPMF_MECHANISMS_BIAS_RELEASE_H

#include "mechanisms/shrink.h"
#include "privacy/noisy_sum.h"

/* The noisy sums. Taken twice they are averaged by precision, which is as good as one release of
 * both budgets: what users contribute is the same each time, and the noise is not. */
struct bias_sums {
    double *sums;     /* (counts, residuals) an item, then the scalars */
    double precision; /* mu^2 of these sums */
};

int bias_sums_init(struct bias_sums *sums, size_t n_items, struct dpmf_error *error);
void bias_sums_free(struct bias_sums *sums);

int bias_release_take(struct noisy_sum_context *context, const struct residual_rule *rule,
                      size_t n_items, double mu, struct bias_sums *sums, struct dpmf_error *error);

/* Post-processing: from the sums to counts, offset, variances and shrunk item biases. */
int bias_release_read(const struct bias_sums *sums, const struct residual_rule *rule,
                      const struct catalogue *catalogue, struct thread_pool *pool,
                      struct public_model *model, struct item_evidence *evidence,
                      struct dpmf_error *error);

/* A user's contribution, for the tests of sensitivity; `self` is the rule. */
noisy_sum_contribute bias_release_contribute;

#endif
