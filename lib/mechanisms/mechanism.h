/*
 * Mechanisms: ways to a public model. All but one go through noisy sums and are accounted for in
 * the same way; they differ in what they ask of users. `posterior` draws from a distribution
 * instead, and what it promises is conditional on the draw being one.
 */
#ifndef DPMF_MECHANISMS_MECHANISM_H
#define DPMF_MECHANISMS_MECHANISM_H

#include "privacy/noisy_sum.h"
#include "privacy/public_model.h"
#include "statement/mechanism_names.h"
#include "statement/posterior_rule.h"

struct mechanism_input {
    struct noisy_sum_context *sums;
    const struct catalogue *catalogue;
    double mu; /* the whole budget: squares of the releases' mu add up to at most its square */

    /* For a conditional mechanism alone. */
    const struct posterior_rule *posterior;
    const char *trace;                  /* NULL, or where its chains are drawn: private */
    struct dpmf_release_report *report; /* figures of the chains for the curator; may be NULL */
};

struct mechanism {
    const char *name;
    const char *description; /* one line */

    /* Fills in the model, which is initialised for the catalogue's items and no factors. */
    int (*run)(const struct mechanism_input *input, struct public_model *model,
               struct dpmf_error *error);

    bool is_conditional; /* what it promises holds only if its sampler has converged */
    bool ranks;          /* learns from events and ranks items; the others predict ratings */
};

/* @return the mechanism, NULL and "auto" being the default one for ratings; NULL when there is none
 * of that name */
const struct mechanism *mechanism_find(const char *name);

/* The same where the goal is known: the default is the one for it. */
const struct mechanism *mechanism_for(const char *name, bool ranks);
const struct mechanism *mechanism_at(size_t i); /* NULL after the last one */

extern const struct mechanism mechanism_residual, mechanism_biases;
extern const struct mechanism mechanism_dpals, mechanism_gram, mechanism_langevin;
extern const struct mechanism mechanism_posterior;
extern const struct mechanism mechanism_events;

#endif
