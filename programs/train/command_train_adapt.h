/*
 * The settings of dpmf train that follow from the ratings.
 */
#ifndef DPMF_PROGRAMS_COMMAND_TRAIN_ADAPT_H
#define DPMF_PROGRAMS_COMMAND_TRAIN_ADAPT_H

#include "cli/command.h"

/* Finds what no option gives, and prints it; nothing for solvers other than sgd. @return 0 or a
 * negative code */
int train_adapt(struct invocation *invocation, struct dpmf_store *store,
                struct dpmf_train_options *options, struct dpmf_error *error);

#endif
