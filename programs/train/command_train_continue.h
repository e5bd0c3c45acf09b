/*
 * dpmf train --continue: a model that continues to learn, from new ratings.
 */
#ifndef DPMF_PROGRAMS_COMMAND_TRAIN_CONTINUE_H
#define DPMF_PROGRAMS_COMMAND_TRAIN_CONTINUE_H

#include "cli/command.h"

/* What the manual says of it. */
extern const char train_continue_paragraph[];

/* @return an exit status */
int train_continue_run(struct invocation *invocation);

#endif
