/*
 * `dpmf export` of a model's vectors, for other tools.
 */
#ifndef DPMF_PROGRAMS_EXPORT_MODEL_H
#define DPMF_PROGRAMS_EXPORT_MODEL_H

#include "cli/command.h"

/* @return an exit status */
int export_model_run(struct invocation *invocation);

#endif
