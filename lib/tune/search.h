/*
 * A search for the settings with the smallest value, where each value costs a training run: a few
 * settings spread around the first ones, then where a surface through all values (surface.h)
 * promises most. The same seed and the same values give the same settings. Knows nothing of what
 * they are for.
 */
#ifndef DPMF_TUNE_SEARCH_H
#define DPMF_TUNE_SEARCH_H

#include "dpmf.h"

enum { SEARCH_AXES_MAX = 8 };

/* A setting: above 0, and looked for on a logarithmic scale. */
struct search_axis {
    double start;       /* value that is tried first */
    double low, high;   /* bounds of the search; start is between them */
    double least, most; /* limits of `low` and `high`, which move when the best lies at the edge */
    double step;        /* values are multiples of it; 0: numbers of three significant digits */
    bool is_held;       /* whether it stays at `start` */
    bool is_risky;      /* whether large settings may give results that are not finite */
};

struct search;

int search_init(struct search **search, const struct search_axis *axes, size_t n_axes,
                uint64_t seed, struct dpmf_error *error);
void search_free(struct search *search); /* NULL is fine */

/* @return 1 with settings that were not tried yet, 0 when none are left, or a negative code */
int search_next(struct search *search, double *settings, struct dpmf_error *error);

/* Adds the result of settings. A result that is not finite rules them out. */
int search_tell(struct search *search, const double *settings, double value,
                struct dpmf_error *error);

#endif
