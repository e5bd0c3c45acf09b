/*
 * Dates as services, spreadsheets and people write them, for the order of ratings. A date that two
 * readings fit is not read: a wrong order would make the wrong rating count.
 */
#ifndef DPMF_TITLES_DIARY_DATE_H
#define DPMF_TITLES_DIARY_DATE_H

#include <stddef.h>
#include <stdint.h>

#define DIARY_NO_TIME INT64_MIN

/* What comes first where numbers alone say day and month: 31/12/2021 or 12/31/2021. A bit is set
 * for each that a date has ruled out. */
enum { DIARY_NOT_DAY_FIRST = 1, DIARY_NOT_MONTH_FIRST = 2 };

/* What a date says of those of its file. @return bits as above */
unsigned diary_date_order(const char *text, size_t n);

/* Reads 2021-12-31 (also with / or . between, and a time after it, perhaps with am or pm and a time
 * zone such as +01:00), 31 Dec 2021 12:34,
 * Dec 31, 2021, 31.12.2021, 20211231, seconds or milliseconds since 1970; and 31/12/2021 or
 * 12/31/2021 where `order`, of all dates of the file, leaves one reading.
 * @return seconds since 1970, or DIARY_NO_TIME */
int64_t diary_date_read(const char *text, size_t n, unsigned order);

#endif
