/*
 * `dpmf describe` of a model.
 */
#ifndef DPMF_PROGRAMS_DESCRIBE_MODEL_H
#define DPMF_PROGRAMS_DESCRIBE_MODEL_H

#include "cli/command.h"

/* @return an exit status */
int describe_model_run(struct invocation *invocation);

#endif
