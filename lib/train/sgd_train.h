/*
 * dpmf_train with the solver "sgd".
 */
#ifndef DPMF_TRAIN_SGD_TRAIN_H
#define DPMF_TRAIN_SGD_TRAIN_H

#include "dpmf.h"

/* As dpmf_train, whose options have been checked; nothing but `valid` and on_epoch may be NULL. */
int sgd_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
              const struct dpmf_train_options *options, const struct dpmf_run *run,
              int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
              struct dpmf_train_report *report, struct dpmf_error *error);

#endif
