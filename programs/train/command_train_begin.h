/*
 * What `dpmf train` does before it learns, with --continue and without.
 */
#ifndef DPMF_PROGRAMS_COMMAND_TRAIN_BEGIN_H
#define DPMF_PROGRAMS_COMMAND_TRAIN_BEGIN_H

#include "cli/command.h"

/* Refuses an option without the one that it is about. @return an exit status */
int train_check_companions(const struct invocation *invocation);

/* Checks that the outputs can be written, then opens the ratings and those of --valid (NULL without
 * it). @return a code; whatever it is, both are to be closed */
int train_open_stores(struct invocation *invocation, struct dpmf_store **store,
                      struct dpmf_store **valid, struct dpmf_error *error);

/* Opens the ratings of --history, NULL without it. */
int train_open_history(struct invocation *invocation, struct dpmf_store **history,
                       struct dpmf_error *error);

#endif
