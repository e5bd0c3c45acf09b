/*
 * Whether times can be what they are taken for, seconds since 1970 that put records in order: what
 * is the same everywhere, counted in seconds here and in milliseconds there, or a date written as a
 * number, cannot.
 */
#ifndef DPMF_STORE_TIME_ENDS_H
#define DPMF_STORE_TIME_ENDS_H

#include "dpmf.h"

/* What a time must be in, by its size, to be in the years up to 9999. */
enum time_unit { TIME_SECONDS, TIME_MILLISECONDS, TIME_MICROSECONDS, TIME_NANOSECONDS, TIME_UNITS };

/* The first and the last of n times, and what they look like. Starts as zeros. */
struct time_ends {
    int64_t first, last;
    uint64_t n;
    uint64_t of_unit[TIME_UNITS];
    uint64_t in_1970;    /* times within the first year */
    uint64_t like_dates; /* those of them that are dates of eight digits, such as 20260115 */
    uint64_t after_2199;
    uint64_t near_dates; /* all numbers from the first such date to the last */
};

/* Counts n times; STORE_NO_TIME is none. */
void time_ends_add(struct time_ends *ends, const int64_t *time, uint64_t n);

void time_ends_merge(struct time_ends *into, const struct time_ends *from);

/* Tells run->warn what does not put records in order, or not where they belong; `run` may be
 * NULL. */
void time_ends_warn(const struct time_ends *ends, const struct dpmf_run *run);

#endif
