/*
 * Whether times can put records in order: what is the same everywhere, or counted in seconds here
 * and in milliseconds there, cannot.
 */
#ifndef DPMF_STORE_TIME_ENDS_H
#define DPMF_STORE_TIME_ENDS_H

#include "dpmf.h"

/* The first and the last of n times, of which some are beyond the year 9999. Starts as zeros. */
struct time_ends {
    int64_t first, last;
    uint64_t n, beyond;
};

/* Counts n times; STORE_NO_TIME is none. */
void time_ends_add(struct time_ends *ends, const int64_t *time, uint64_t n);

void time_ends_merge(struct time_ends *into, const struct time_ends *from);

/* Tells run->warn what does not put records in order; `run` may be NULL. */
void time_ends_warn(const struct time_ends *ends, const struct dpmf_run *run);

#endif
