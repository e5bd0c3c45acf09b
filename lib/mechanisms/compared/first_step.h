/*
 * Where every mechanism with factors starts: the release of counts and biases, and what it says.
 * `dpals`, `gram` and `langevin` share it; `residual` keeps its own, with its choice of factors.
 */
#ifndef DPMF_MECHANISMS_COMPARED_FIRST_STEP_H
#define DPMF_MECHANISMS_COMPARED_FIRST_STEP_H

#include "mechanisms/bias_release.h"
#include "mechanisms/mechanism.h"

struct first_step {
    struct residual_rule rule; /* the constants of the first release, and of the start */
    struct item_evidence evidence;
    struct bias_sums sums;
};

/* Makes the release with `share` of mu^2 and fills in the model's offset, biases and variances. */
int first_step_begin(struct first_step *step, const struct mechanism_input *input, double share,
                     struct public_model *model, struct dpmf_error *error);

/* The same release once more, with the rest of the budget: for when there are no factors. */
int first_step_repeat(struct first_step *step, const struct mechanism_input *input, double share,
                      struct public_model *model, struct dpmf_error *error);

void first_step_free(struct first_step *step);

/* The most factors for a number of items: 0 for a handful, whatever the rule says. */
size_t first_step_factors(double wanted, size_t most, size_t n_items);

#endif
