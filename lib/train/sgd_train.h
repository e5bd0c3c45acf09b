/*
 * dpmf_train with the solver "sgd".
 */
#ifndef DPMF_TRAIN_SGD_TRAIN_H
#define DPMF_TRAIN_SGD_TRAIN_H

#include "train/train_run.h"

/* From a run that train_run_init has begun to a checkpoint. The caller frees the run. */
int sgd_train(struct train_run *train, const char *output, struct dpmf_error *error);

#endif
