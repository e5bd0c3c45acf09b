/*
 * Reads the fields of a record once a reader has found where they begin and end. Fed by all readers
 * of text; a bad field is rejected with the words a person can act on.
 */
#include "ratings/field_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/day.h"
#include "base/utf8.h"

/* ---- showing --------------------------------------------------------------------------------- */

/* Whether the terminal would act on it: C0, DEL, and C1 in its two-byte form. */
static bool is_control(const char *text, size_t length) {
    unsigned char first = (unsigned char)text[0];
    if (length == 1) return first < 0x20 || first == 0x7f;
    return first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

const char *field_show(char out[FIELD_SHOWN_MAX], const char *text, size_t n) {
    char *at = out;
    size_t i = 0;
    while (i < n && i < FIELD_SHOWN_BYTES) {
        size_t length = utf8_sequence(text + i, n - i);
        if (length > 0 && !is_control(text + i, length)) {
            if (i + length > FIELD_SHOWN_BYTES) break;
            memcpy(at, text + i, length);
            at += length;
            i += length;
        } else {
            at += snprintf(at, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
            i++;
        }
    }
    memcpy(at, i < n ? "..." : "", i < n ? 4 : 1);
    return out;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void trim(const char **text, size_t *n) {
    while (*n > 0 && is_blank(**text)) (*text)++, (*n)--;
    while (*n > 0 && is_blank((*text)[*n - 1])) (*n)--;
}

enum number_result field_rating(const char *text, size_t n, double *rating) {
    trim(&text, &n);
    return number_parse_double(text, n, rating);
}

bool field_whole(const char **text, uint32_t *n, uint64_t *value) {
    size_t length = *n;
    if (!number_parse_whole(text, &length, value)) return false;
    *n = (uint32_t)length;
    return true;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* n digits at text. @return -1 when they are not all digits */
static int digits(const char *text, int n) {
    int value = 0;
    for (int i = 0; i < n; i++) {
        unsigned d = (unsigned)(unsigned char)text[i] - '0';
        if (d > 9) return -1;
        value = value * 10 + (int)d;
    }
    return value;
}

/* hh, hhmm, hh:mm or hh:mm:ss after a sign, as databases write what a time is ahead of UTC, or Z,
 * or nothing. No place on earth was ever 16 hours away. @return whether it is one */
static bool offset_seconds(const char *text, size_t n, int *offset) {
    *offset = 0;
    if (n == 0 || (n == 1 && text[0] == 'Z')) return true;
    if (text[0] != '+' && text[0] != '-') return false;
    bool colons = (n == 6 || n == 9) && text[3] == ':' && (n == 6 || text[6] == ':');
    if (n != 3 && n != 5 && !colons) return false;
    int hours = digits(text + 1, 2), seconds = n == 9 ? digits(text + 7, 2) : 0;
    int minutes = n == 3 ? 0 : digits(text + (colons ? 4 : 3), 2);
    if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59)
        return false;
    *offset = hours * 3600 + minutes * 60 + seconds;
    if (text[0] == '-') *offset = -*offset;
    return true;
}

/* hh:mm:ss, then perhaps a fraction, which is floored, then perhaps how far from UTC.
 * @return whether it is one */
static bool clock_seconds(const char *text, size_t n, int *seconds) {
    if (n < 8 || text[2] != ':' || text[5] != ':') return false;
    int hour = digits(text, 2), minute = digits(text + 3, 2), second = digits(text + 6, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return false;
    size_t at = 8;
    if (at < n && text[at] == '.') {
        size_t fraction = ++at;
        while (at < n && digits(text + at, 1) >= 0) at++;
        if (at == fraction) return false;
    }
    int offset;
    if (!offset_seconds(text + at, n - at, &offset)) return false;
    *seconds = hour * 3600 + minute * 60 + second - offset;
    return true;
}

static bool date_time(const char *text, size_t n, int64_t *time) {
    if (n < 10 || text[4] != '-' || text[7] != '-') return false;
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    if (year < 0 || month < 1 || month > 12) return false;
    if (day < 1 || day > day_in_month(year, month)) return false;
    int seconds = 0;
    if (n > 10) {
        if (text[10] != 'T' && text[10] != ' ') return false;
        if (!clock_seconds(text + 11, n - 11, &seconds)) return false;
    }
    *time = day_number(year, month, day) * DAY_SECONDS + seconds;
    return true;
}

/* [+-]digits.digits, floored; a double could not hold all of a large one. */
static bool decimal_time(const char *text, size_t n, int64_t *time) {
    const char *point = memchr(text, '.', n);
    size_t whole = point != NULL ? (size_t)(point - text) : n, at = whole + 1;
    if (number_parse_int64(text, whole, time) != NUMBER_OK || at >= n) return false;
    bool zero = true;
    for (; at < n; at++) {
        if (digits(text + at, 1) < 0) return false;
        zero = zero && text[at] == '0';
    }
    if (text[0] == '-' && !zero) {
        if (*time == INT64_MIN) return false;
        --*time;
    }
    return true;
}

/* 1.5e9 and such. */
static bool exponent_time(const char *text, size_t n, int64_t *time) {
    double value;
    if (number_parse_double(text, n, &value) != NUMBER_OK) return false;
    value = floor(value);
    if (fabs(value) >= 9223372036854775808.0 /* 2^63 */) return false;
    *time = (int64_t)value;
    return true;
}

bool field_time(const char *text, size_t n, int64_t *time) {
    *time = STORE_NO_TIME;
    trim(&text, &n);
    if (n == 0) return true;
    if (date_time(text, n, time)) return true;
    if (number_parse_int64(text, n, time) == NUMBER_OK) return *time != STORE_NO_TIME;
    if (decimal_time(text, n, time)) return *time != STORE_NO_TIME;
    return exponent_time(text, n, time);
}

/* ---- rejecting ------------------------------------------------------------------------------- */

bool field_reject_rating(struct record_batch *batch, const char *text, size_t n, int64_t line,
                         int64_t column) {
    char shown[FIELD_SHOWN_MAX];
    double ignored;
    enum number_result result = field_rating(text, n, &ignored);
    trim(&text, &n);
    field_show(shown, text, n);
    if (n == 0)
        return record_batch_reject(batch, DPMF_ERR_INPUT_NUMBER, line, column, NULL,
                                   "the %s is empty", record_value_name(batch));
    if (result != NUMBER_NOT_FINITE)
        return record_batch_reject(batch, DPMF_ERR_INPUT_NUMBER, line, column,
                                   memchr(text, ',', n) ? "write decimals with a point, as in 4.5"
                                                        : NULL,
                                   "%s \"%s\" is not a number", record_value_name(batch), shown);
    /* Words are for what is not finite; digits mean that it would be, were it not for its size. */
    bool word = strcspn(shown, "0123456789") == strlen(shown);
    if (word)
        return record_batch_reject(batch, DPMF_ERR_INPUT_NOT_FINITE, line, column, NULL,
                                   "%s \"%s\" is not finite", record_value_name(batch), shown);
    return record_batch_reject(batch, DPMF_ERR_INPUT_NOT_FINITE, line, column, NULL,
                               "%s %s is too large", record_value_name(batch), shown);
}

bool field_reject_time(struct record_batch *batch, const char *text, size_t n, int64_t line,
                       int64_t column) {
    char shown[FIELD_SHOWN_MAX];
    return record_batch_reject(batch, DPMF_ERR_INPUT_TIME, line, column,
                               "write seconds since 1970, 2005-09-06 or 2005-09-06T12:34:56Z",
                               "timestamp \"%s\" is not a time", field_show(shown, text, n));
}

bool field_reject_nul(struct record_batch *batch, const char *whose, int64_t line, int64_t column) {
    return record_batch_reject(batch, DPMF_ERR_INPUT_ID, line, column, NULL,
                               "the %s id holds a NUL byte", whose);
}
