/*
 * Mechanisms: ways to a public model through noisy sums. All are accounted for in the same way; they differ in what they ask
 * of users.
 */
#ifndef DPMF_PRIVACY_MECHANISM_H
#define DPMF_PRIVACY_MECHANISM_H

#include "privacy/noisy_sum.h"
#include "privacy/public_model.h"

struct mechanism_input {
    struct noisy_sum_context *sums;
    const struct catalogue *catalogue;
    double mu; /* the whole budget: squares of the releases' mu add up to at most its square */
};

struct mechanism {
    const char *name;
    const char *description; /* one line */

    /* Fills in the model, which is initialised for the catalogue's items and no factors. */
    int (*run)(const struct mechanism_input *input, struct public_model *model,
               struct dpmf_error *error);
};

/* @return the mechanism, "auto" being the default one; NULL when there is none of that name */
const struct mechanism *mechanism_find(const char *name);
const struct mechanism *mechanism_at(size_t i); /* NULL past the last */

extern const struct mechanism mechanism_residual, mechanism_biases;
extern const struct mechanism mechanism_dpals, mechanism_gram, mechanism_langevin;

#endif
