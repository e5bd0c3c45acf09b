/*
 * dpmf_train with the solver "gibbs".
 */
#ifndef DPMF_SAMPLE_GIBBS_TRAIN_H
#define DPMF_SAMPLE_GIBBS_TRAIN_H

#include "train/train_run.h"

/* From a run that train_run_init has begun to a checkpoint. The caller frees the run. */
int gibbs_train(struct train_run *train, const char *output, struct dpmf_error *error);

#endif
