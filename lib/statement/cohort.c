/*
 * Users by the day of their first record: see the header, which says what is proven of it. Fed by
 * the options of a release, or by a statement or a ledger that is read.
 */
#include "statement/cohort.h"

#include <string.h>

bool cohort_take_since(struct cohort *cohort, const char *text, size_t n) {
    cohort->is_declared = cohort->has_since = true;
    return day_parse(text, n, &cohort->since);
}

bool cohort_take_before(struct cohort *cohort, const char *text, size_t n) {
    cohort->is_declared = cohort->has_before = true;
    return day_parse(text, n, &cohort->before);
}

bool cohort_is_valid(const struct cohort *cohort) {
    if (cohort->is_declared != (cohort->has_since || cohort->has_before)) return false;
    if (!cohort->is_declared && cohort->is_complete) return false;
    if (cohort->has_since ? !day_has_text(cohort->since) : cohort->since != 0) return false;
    if (cohort->has_before ? !day_has_text(cohort->before) : cohort->before != 0) return false;
    return !cohort->has_since || !cohort->has_before || cohort->since < cohort->before;
}

const char *cohort_declare(const char *since, const char *before, bool is_complete,
                           struct cohort *cohort) {
    *cohort = (struct cohort){.is_complete = is_complete};
    if (since && !cohort_take_since(cohort, since, strlen(since)))
        return "the date since which users are new is not a date";
    if (before && !cohort_take_before(cohort, before, strlen(before)))
        return "the date before which users are new is not a date";
    if (is_complete && !cohort->is_declared)
        return "complete histories matter only where users are chosen by their first record";
    return cohort_is_valid(cohort) ? NULL : "the period of first records is empty";
}

void cohort_dates(const struct cohort *cohort, char since[DAY_TEXT], char before[DAY_TEXT]) {
    since[0] = before[0] = '\0';
    if (cohort->has_since) day_format(cohort->since, since);
    if (cohort->has_before) day_format(cohort->before, before);
}

bool cohort_has_day(const struct cohort *cohort, int64_t day) {
    return (!cohort->has_since || day >= cohort->since) &&
           (!cohort->has_before || day < cohort->before);
}

/* Milliseconds since 1970 are beyond the year 9999, so that nobody is taken for someone else when
 * times are not in seconds. */
enum cohort_place cohort_place_of(const struct cohort *cohort, const int64_t *times, size_t n) {
    const int64_t least = day_number(1, 1, 1) * DAY_SECONDS;
    const int64_t end = (day_number(9999, 12, 31) + 1) * DAY_SECONDS;
    int64_t first = end;
    if (!times || n == 0) return COHORT_UNKNOWN;
    for (size_t i = 0; i < n; i++) {
        if (times[i] < least || times[i] >= end) return COHORT_UNKNOWN;
        if (times[i] < first) first = times[i];
    }
    /* rounded down: -1 is on the day before 1970 */
    const int64_t day = first / DAY_SECONDS - (first % DAY_SECONDS < 0);
    return cohort_has_day(cohort, day) ? COHORT_IN : COHORT_OUT;
}
