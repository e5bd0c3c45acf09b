/*
 * Days of the calendar as numbers: dates such as 2026-03-01 read and written, for times in ratings,
 * for what curators declare and for the ledger. Gregorian, in UTC, without a locale.
 */
#ifndef DPMF_BASE_DAY_H
#define DPMF_BASE_DAY_H

#include "dpmf.h"

enum { DAY_TEXT = 11 }; /* 2026-03-01 and NUL */

/* Seconds of a day: no leap seconds, as in seconds since 1970. */
#define DAY_SECONDS 86400

int day_in_month(int year, int month); /* days of a month, 1 .. 12 */

/* Days since 1970-01-01 of a date that is one; years from 0. */
int64_t day_number(int year, int month, int day);

/* A date of the years 1 to 9999, in ten characters. @return whether it is one */
bool day_parse(const char *text, size_t n, int32_t *day);

/* Whether a day is in the years 1 to 9999. */
bool day_has_text(int32_t day);

/* The date of a day of the years 1 to 9999. */
void day_format(int32_t day, char text[DAY_TEXT]);

#endif
