/*
 * A cohort: the users whose own first record is in a declared period, of whom alone a release is
 * made. Declared by the curator as dates, which are public; applied by private_ratings.c; recorded
 * in the statement and in the ledger.
 *
 * What is proven. Whether a user is in the cohort is a function of that user's own records and of
 * the two dates. So adding or removing a user changes nothing about who else takes part, and the
 * promise of a release is what it would be without dates: it holds for everyone, in the cohort or
 * not.
 *
 * What is not. A user whose first record is in one period and who takes part in the releases of two
 * periods that do not overlap would have had two first records. That cannot be if every input holds
 * the same first record of each user; then each user's loss over releases of such periods is that
 * of the one they are in, not the sum. But an extract of the last year, a record that was deleted,
 * and a later record of the same item, which replaces the one before, all make an old user look
 * new. dpmf sees one input at a time and cannot know. So releases of any periods add up, unless the
 * curator declares that histories are complete; and a sum that counts on it is not proven.
 *
 * What is refused. dpmf itself leaves records out: by settings (a range of ratings, likes, splits),
 * by adding up events, and one by one where a record cannot be read. Settings are public and in the
 * header of a store, so the declaration is refused where one of them may have taken a first record
 * (release_options.c). Whether a record could be read is that one person's data. Refusing on its
 * account, or calling the total something else, would show that such a record is there; so it
 * decides nothing, for anyone, and the declaration says instead that a first record must be one
 * that could be read. The same holds of a record that a later one of its item replaced.
 */
#ifndef DPMF_STATEMENT_COHORT_H
#define DPMF_STATEMENT_COHORT_H

#include "base/day.h"

/* Days since 1970, in UTC; all zero: everyone. */
struct cohort {
    bool is_declared; /* whether there is a date at all */
    bool has_since;   /* whether first records before `since` are left out */
    bool has_before;  /* whether first records from `before` on are left out */
    bool is_complete; /* whether the curator declares that histories are complete */
    int32_t since;    /* first day of the period; 0 where there is none */
    int32_t before;   /* first day after the period; 0 where there is none */
};

/* Reads the dates, each of which may be NULL. @return NULL, or what is wrong */
const char *cohort_declare(const char *since, const char *before, bool is_complete,
                           struct cohort *cohort);

/* Whether what was read is a cohort that could have been declared. */
bool cohort_is_valid(const struct cohort *cohort);

/* The dates as text, "" where there is none. */
void cohort_dates(const struct cohort *cohort, char since[DAY_TEXT], char before[DAY_TEXT]);

/* A date of the cohort in a text that is read. @return whether it is one */
bool cohort_take_since(struct cohort *cohort, const char *text, size_t n);
bool cohort_take_before(struct cohort *cohort, const char *text, size_t n);

enum cohort_place {
    COHORT_IN,
    COHORT_OUT,     /* the first record is in another period */
    COHORT_UNKNOWN, /* a record has no time, or one beyond the years 1 to 9999: none is the first */
};

/* Where a user with these records belongs: a function of the times of that user's own records, in
 * seconds since 1970, and of the dates. `times` NULL: none has one. */
enum cohort_place cohort_place_of(const struct cohort *cohort, const int64_t *times, size_t n);

/* Whether a user whose first record is on this day may be in the cohort. */
bool cohort_has_day(const struct cohort *cohort, int64_t day);

#endif
