/*
 * The solvers of dpmf_train by name.
 */
#ifndef DPMF_SAMPLE_SOLVER_H
#define DPMF_SAMPLE_SOLVER_H

#include "dpmf.h"

enum solver { SOLVER_SGD, SOLVER_IALS, SOLVER_GIBBS, SOLVER_SGLD, SOLVER_SGHMC, SOLVER_SGNHT };

/* NULL is "sgd". @return 0, or DPMF_ERR_USAGE_VALUE */
int solver_find(const char *name, enum solver *solver, struct dpmf_error *error);
const char *solver_name(enum solver solver);

/* Refuses options that no sampler takes and, without a sampler, those that only samplers take. */
int solver_check_options(enum solver solver, const struct dpmf_train_options *options,
                         struct dpmf_error *error);

/* The burn-in of a chain in epochs: as asked for, or what is usually enough for the solver; always
 * less than all. */
uint32_t solver_burn_in(enum solver solver, const struct dpmf_train_options *options);

/* The number of chains: as asked for, or the solver's default. */
uint32_t solver_chains(enum solver solver, const struct dpmf_train_options *options);

#endif
