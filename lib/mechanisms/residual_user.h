/*
 * What a user contributes to a round of `residual`: for each item rated the residual times their
 * own vector, as far as it belongs to learned columns, and moments of the whole vector, all within
 * one unit of norm.
 */
#ifndef DPMF_MECHANISMS_RESIDUAL_USER_H
#define DPMF_MECHANISMS_RESIDUAL_USER_H

#include "mechanisms/user_solve.h"
#include "privacy/noisy_sum.h"

struct residual_round {
    const struct public_model *model;
    const struct residual_rule *rule; /* factors + free_columns = K of the model */
    bool is_first;                    /* the vectors are no model yet, only a way to make u */
    double *residuals;                /* worker w has residuals + w * longest */
    size_t longest;
};

noisy_sum_contribute residual_user_contribute; /* `self` is a struct residual_round */

#endif
