/*
 * dpmf_train with the solver "gibbs".
 */
#ifndef DPMF_SAMPLE_GIBBS_TRAIN_H
#define DPMF_SAMPLE_GIBBS_TRAIN_H

#include "dpmf.h"

/* As dpmf_train, whose options solver_check_options has passed; nothing but `valid` and on_epoch may be NULL. */
int gibbs_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
                const struct dpmf_train_options *options, const struct dpmf_run *run,
                int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                struct dpmf_train_report *report, struct dpmf_error *error);

#endif
