/*
 * Whether the options of the generator make sense together.
 */
#ifndef DPMF_SYNTH_SYNTH_OPTIONS_H
#define DPMF_SYNTH_SYNTH_OPTIONS_H

#include "dpmf.h"

enum { SYNTH_MAX_RANK = 4096 };

/* @return 0, DPMF_ERR_USAGE_VALUE or DPMF_ERR_RATINGS_SHAPE */
int synth_options_check(const struct dpmf_synth_options *options, struct dpmf_error *error);

#endif
