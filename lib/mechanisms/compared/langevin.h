/*
 * What a user contributes to a step of `langevin`; for the tests of sensitivity.
 */
#ifndef DPMF_MECHANISMS_COMPARED_LANGEVIN_H
#define DPMF_MECHANISMS_COMPARED_LANGEVIN_H

#include "mechanisms/user_solve.h"
#include "privacy/noisy_sum.h"

struct langevin_step {
    const struct public_model *model;
    double floor, scalar_weight; /* floor of the norm; weight of the scalars */
    double *residuals;           /* worker w has residuals + w * longest */
    size_t longest;
};

enum { LANGEVIN_TAIL = 4 };

noisy_sum_contribute langevin_contribute; /* `self` is a struct langevin_step; width K + 1 */

#endif
