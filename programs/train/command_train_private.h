/*
 * The private side of `dpmf train`.
 */
#ifndef DPMF_PROGRAMS_COMMAND_TRAIN_PRIVATE_H
#define DPMF_PROGRAMS_COMMAND_TRAIN_PRIVATE_H

#include "cli/command.h"

extern const struct option train_private_options[];

/* With --epsilon. @return an exit status */
int train_private_run(struct invocation *invocation);

/* Without it: no option may be there that is for private releases only. @return an exit status */
int train_private_check_absent(const struct invocation *invocation);

#endif
