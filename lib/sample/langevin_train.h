/*
 * dpmf_train with the solvers "sgld", "sghmc" and "sgnht".
 */
#ifndef DPMF_SAMPLE_LANGEVIN_TRAIN_H
#define DPMF_SAMPLE_LANGEVIN_TRAIN_H

#include "sample/solver.h"
#include "train/train_run.h"

/* From a run that train_run_init has begun to a checkpoint. The caller frees the run. */
int langevin_train(struct train_run *train, enum solver solver, const char *output,
                   struct dpmf_error *error);

#endif
