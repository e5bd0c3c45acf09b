/*
 * What a round of `residual` shows about the users as a whole: mean and spread of their vectors,
 * read from the noisy moments that ride along with the residuals. Post-processing: reads nothing
 * private.
 *
 * Columns of the vectors are of two kinds, in this order. Learned ones are measured item by item in
 * every round. Free ones (free_columns.c) are functions of public things, and only their scale is
 * learned, from these moments.
 */
#ifndef DPMF_MECHANISMS_RESIDUAL_MOMENTS_H
#define DPMF_MECHANISMS_RESIDUAL_MOMENTS_H

#include "privacy/public_model.h"

enum { MOMENTS_K_MAX = RULE_WIDTH_MAX, MOMENTS_D_MAX = MOMENTS_K_MAX + 1 };

struct residual_moments {
    double mean[MOMENTS_D_MAX];                       /* mean of [u, a] */
    double covariance[MOMENTS_D_MAX * MOMENTS_D_MAX]; /* their mean posterior covariance, D x D */
    double C[MOMENTS_K_MAX * MOMENTS_K_MAX]; /* second moments of u about its mean, that included */
    double inverse[RULE_FACTORS_MAX * RULE_FACTORS_MAX]; /* inverse of C's learned block */
    double noise;  /* noise of a vector relative to that of G / N */
    double weight; /* weight of this round's sums against the first release's counts */
    double unit;   /* item_evidence_weight_unit */
};

/* From packed sums (residual_user.h) of noise sigma. The model's s2, var_a and b0 become what they
 * say. */
void residual_moments_read(const double *sums, const struct residual_rule *rule, double sigma,
                           bool is_first, struct public_model *model,
                           const struct item_evidence *evidence, struct residual_moments *out);

/* Maps in which users are white, so that u ~ N(0, I) holds. Of the learned columns, v := B (v + X
 * f) with f the free ones; of the free columns, f := F f, which leaves them functions of public
 * things. */
struct residual_whitening {
    double B[RULE_FACTORS_MAX * RULE_FACTORS_MAX]; /* n x n, n learned columns */
    double X[RULE_FACTORS_MAX * RULE_FREE_MAX];    /* n x q, q free columns */
    double F[RULE_FREE_MAX * RULE_FREE_MAX];       /* q x q */
};

void residual_moments_whiten(const struct residual_moments *moments, size_t n_learned,
                             size_t n_free, double over, bool is_first,
                             struct residual_whitening *out);

#endif
