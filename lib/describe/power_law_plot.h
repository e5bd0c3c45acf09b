/*
 * The paper's power-law figure as SVG.
 */
#ifndef DPMF_DESCRIBE_POWER_LAW_PLOT_H
#define DPMF_DESCRIBE_POWER_LAW_PLOT_H

#include "dpmf.h"

/* `counts` are the numbers of ratings of n items, in increasing order. */
int power_law_plot_write(const char *path, const uint64_t *counts, size_t n,
                         struct dpmf_error *error);

#endif
