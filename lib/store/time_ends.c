/*
 * Times that put records in no order, or in 1970, are taken as they are, but not without a word: a
 * split by time would follow them, and so would a release of users of a period. Fed by imports,
 * descriptions and splits; feeds run->warn. No message has
 * anyone's time.
 */
#include "store/time_ends.h"

#include <inttypes.h>
#include <stdio.h>

#include "dpmf_text.h"
#include "store/store.h"

/* The last second of the year 9999: milliseconds are beyond it. */
#define LAST_SECOND INT64_C(253402300799)
#define YEAR_2200 INT64_C(7258118400)

enum {
    YEAR_SECONDS = 365 * 24 * 60 * 60,
    FEW = 10, /* so few ratings may well be of one second, or have small numbers for times */
    FIRST_DATE = 17000101,
    LAST_DATE = 22991231,
};

static enum time_unit unit_of(int64_t time) {
    int unit = TIME_SECONDS;
    for (; time > LAST_SECOND && unit + 1 < TIME_UNITS; time /= 1000) unit++;
    return (enum time_unit)unit;
}

static void look_at_early(struct time_ends *ends, int64_t time) {
    const int64_t month = time / 100 % 100, day = time % 100;
    ends->in_1970++;
    if (time < FIRST_DATE || time > LAST_DATE) return;
    ends->near_dates++;
    ends->like_dates += month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

void time_ends_add(struct time_ends *ends, const int64_t *time, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        if (time[i] == STORE_NO_TIME) continue;
        if (ends->n == 0 || time[i] < ends->first) ends->first = time[i];
        if (ends->n == 0 || time[i] > ends->last) ends->last = time[i];
        ends->n++;
        ends->of_unit[unit_of(time[i])]++;
        if (time[i] >= 0 && time[i] < YEAR_SECONDS) look_at_early(ends, time[i]);
        ends->after_2199 += time[i] >= YEAR_2200 && time[i] <= LAST_SECOND;
    }
}

void time_ends_merge(struct time_ends *into, const struct time_ends *from) {
    if (from->n == 0) return;
    if (into->n == 0 || from->first < into->first) into->first = from->first;
    if (into->n == 0 || from->last > into->last) into->last = from->last;
    into->n += from->n;
    for (int unit = 0; unit < TIME_UNITS; unit++) into->of_unit[unit] += from->of_unit[unit];
    into->in_1970 += from->in_1970;
    into->after_2199 += from->after_2199;
    into->like_dates += from->like_dates;
    into->near_dates += from->near_dates;
}

static void warn_of_units(const struct time_ends *ends, const struct dpmf_run *run) {
    static const char *const names[TIME_UNITS] = {"seconds", "milliseconds", "microseconds",
                                                  "nanoseconds"};
    char text[DPMF_ERROR_TEXT_MAX], list[200];
    size_t n = 0;
    int units = 0;
    for (int unit = 0; unit < TIME_UNITS; unit++) {
        if (ends->of_unit[unit] == 0) continue;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%" PRIu64 " in %s", units ? ", " : "",
                              ends->of_unit[unit], names[unit]);
        units++;
    }
    if (units < 2) return;
    dpmf_error_write(text, sizeof text,
                     "times of several units, by their size: %s; together they are in no order "
                     "(times are seconds since 1970)",
                     list);
    run->warn(run->warn_self, text);
}

/* Where numbers count up, few of those near dates are dates. */
static bool has_dates(const struct time_ends *ends) {
    return ends->like_dates > 0 && 2 * ends->like_dates >= ends->near_dates;
}

static void warn_of_dates(const struct time_ends *ends, const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    dpmf_error_write(text, sizeof text,
                     "times such as 20260115: %" PRIu64 " of %" PRIu64
                     ", taken as seconds since 1970, which makes them days of 1970; write dates "
                     "as 2026-01-15",
                     ends->like_dates, ends->n);
    run->warn(run->warn_self, text);
}

static void warn_of_1970(const struct time_ends *ends, const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    if (ends->n < FEW || ends->first == ends->last || ends->in_1970 < ends->n - ends->n / 10)
        return;
    dpmf_error_write(text, sizeof text,
                     "times in the year 1970: %" PRIu64 " of %" PRIu64
                     " (times are seconds since 1970; row numbers, days and the like give an "
                     "order, and no dates)",
                     ends->in_1970, ends->n);
    run->warn(run->warn_self, text);
}

/* Milliseconds and finer are another unit: warn_of_units reports where units are mixed. */
static void warn_of_future(const struct time_ends *ends, const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    if (ends->after_2199 == 0) return;
    dpmf_error_write(text, sizeof text,
                     "times after the year 2199: %" PRIu64 " of %" PRIu64
                     " (times are seconds since 1970; write dates as 2026-01-15)",
                     ends->after_2199, ends->n);
    run->warn(run->warn_self, text);
}

void time_ends_warn(const struct time_ends *ends, const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    if (!run || !run->warn) return;
    if (ends->n >= FEW && ends->first == ends->last) {
        snprintf(text, sizeof text, "all %" PRIu64 " times are the same: they put nothing in order",
                 ends->n);
        run->warn(run->warn_self, text);
    }
    warn_of_units(ends, run);
    warn_of_future(ends, run);
    if (has_dates(ends))
        warn_of_dates(ends, run);
    else
        warn_of_1970(ends, run);
}
