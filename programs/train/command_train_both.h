/*
 * dpmf train --goal both.
 */
#ifndef DPMF_PROGRAMS_COMMAND_TRAIN_BOTH_H
#define DPMF_PROGRAMS_COMMAND_TRAIN_BOTH_H

#include "cli/options.h"

choice_list train_goal_choices;

/* Prints how to make two models where one was asked for that would be both. @return STATUS_USAGE */
int train_both_explain(const struct invocation *invocation);

#endif
