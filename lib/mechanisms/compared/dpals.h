/*
 * What a user contributes to a round of `dpals`; for the tests of sensitivity.
 */
#ifndef DPMF_MECHANISMS_COMPARED_DPALS_H
#define DPMF_MECHANISMS_COMPARED_DPALS_H

#include "mechanisms/compared/user_moments.h"
#include "privacy/noisy_sum.h"

struct dpals_round {
    const struct public_model *model;
    bool is_first;                                 /* the vectors are no model yet */
    double curvature_weight, moment_weight, floor; /* rho, gamma, and the floor of the norm */
    double *residuals;                             /* worker w has residuals + w * longest */
    size_t longest;
};

/* Numbers an item: the curvature's triangle, the gradient and the residual. */
size_t dpals_width(size_t K);
/* The moments of [u, a, 1], and the mean squared residual. */
size_t dpals_tail(size_t K);

noisy_sum_contribute dpals_contribute; /* `self` is a struct dpals_round */

#endif
