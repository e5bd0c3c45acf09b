/*
 * Times that put records in no order are taken as they are, but not without a word: a split by time
 * would follow them. Fed by imports, descriptions and splits; feeds run->warn.
 */
#include "store/time_ends.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/store.h"

/* The last second of the year 9999: milliseconds are beyond it. */
#define LAST_SECOND INT64_C(253402300799)

/* So few ratings may well be of one second. */
enum { FEW = 10 };

void time_ends_add(struct time_ends *ends, const int64_t *time, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        if (time[i] == STORE_NO_TIME) continue;
        if (ends->n == 0 || time[i] < ends->first) ends->first = time[i];
        if (ends->n == 0 || time[i] > ends->last) ends->last = time[i];
        ends->n++;
        ends->beyond += time[i] > LAST_SECOND;
    }
}

void time_ends_merge(struct time_ends *into, const struct time_ends *from) {
    if (from->n == 0) return;
    if (into->n == 0 || from->first < into->first) into->first = from->first;
    if (into->n == 0 || from->last > into->last) into->last = from->last;
    into->n += from->n;
    into->beyond += from->beyond;
}

void time_ends_warn(const struct time_ends *ends, const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    if (!run || !run->warn) return;
    if (ends->n >= FEW && ends->first == ends->last) {
        snprintf(text, sizeof text,
                 "all %" PRIu64 " times are the same, %" PRId64 ": they put nothing in order",
                 ends->n, ends->first);
        run->warn(run->warn_self, text);
    }
    if (ends->beyond > 0 && ends->beyond < ends->n) {
        snprintf(text, sizeof text,
                 "times beyond the year 9999, as milliseconds are: %" PRIu64 " of %" PRIu64
                 ", with the others they are in no order (times are seconds since 1970)",
                 ends->beyond, ends->n);
        run->warn(run->warn_self, text);
    }
}
