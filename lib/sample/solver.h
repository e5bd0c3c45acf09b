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

/* What every sampler refuses of the options, and what options that only samplers have are refused
 * without one. */
int solver_check_options(enum solver solver, const struct dpmf_train_options *options,
                         struct dpmf_error *error);

/* Epochs of a chain that do not count: as asked for, or what is enough for the solver as a rule;
 * always less than all. */
uint32_t solver_burn_in(enum solver solver, const struct dpmf_train_options *options);

/* As many chains as asked for, or as are good for the solver. */
uint32_t solver_chains(enum solver solver, const struct dpmf_train_options *options);

#endif
