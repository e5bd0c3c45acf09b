/*
 * The fields of a record as text: ratings, times, whole-number ids, and how a bad one is shown and
 * rejected. Shared by all readers of text.
 */
#ifndef DPMF_RATINGS_FIELD_TEXT_H
#define DPMF_RATINGS_FIELD_TEXT_H

#include "base/number.h"
#include "ratings/record_batch.h"

enum {
    FIELD_SHOWN_BYTES = 40,                      /* bytes shown of the offending text */
    FIELD_SHOWN_MAX = FIELD_SHOWN_BYTES * 4 + 4, /* with escapes, "..." and NUL */
};

/* The beginning of a text, fit for a terminal: control bytes and what is no UTF-8 as \xNN.
 * @return out */
const char *field_show(char out[FIELD_SHOWN_MAX], const char *text, size_t n);

/* Ratings of one digit ("4") or one decimal ("3.5") need no call. The text must be readable for
 * three bytes, whatever n is. */
static inline bool field_rating_quick(const char *text, size_t n, double *rating) {
    unsigned ones = (unsigned)(unsigned char)text[0] - '0';
    if (ones > 9) return false;
    if (n == 1) {
        *rating = (double)ones;
        return true;
    }
    unsigned tenths = (unsigned)(unsigned char)text[2] - '0';
    if (n != 3 || text[1] != '.' || tenths > 9) return false;
    *rating = (double)(ones * 10 + tenths) / 10.0;
    return true;
}

/* Times that are nothing but digits need no call either. */
static inline bool field_time_quick(const char *text, size_t n, int64_t *time) {
    if (n == 0 || n > 18) return false;
    int64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9) return false;
        value = value * 10 + (int64_t)digit;
    }
    *time = value;
    return true;
}

/* Any number; blanks around it are allowed. */
enum number_result field_rating(const char *text, size_t n, double *rating);

/* A whole number, a decimal (floored), a date, a date and time (UTC, or with an offset such as
 * +02:00), or nothing (STORE_NO_TIME).
 * @return whether it is one of these */
bool field_time(const char *text, size_t n, int64_t *time);

/* A whole number of 0 .. 2^63-1, perhaps with a plus sign and leading zeroes, which are taken off.
 * @return whether it is one */
bool field_whole(const char **text, uint32_t *n, uint64_t *value);

/* Each @return as record_batch_reject. */
bool field_reject_rating(struct record_batch *batch, const char *text, size_t n, int64_t line,
                         int64_t column);
bool field_reject_time(struct record_batch *batch, const char *text, size_t n, int64_t line,
                       int64_t column);
bool field_reject_nul(struct record_batch *batch, const char *whose, int64_t line, int64_t column);

#endif
