/*
 * Days of the calendar as numbers. Years are counted from March, so that the leap day is a year's
 * last.
 */
#include "base/day.h"

#include <stdio.h>

int day_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leaps = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leaps ? 29 : days[month - 1];
}

int64_t day_number(int year, int month, int day) {
    int64_t y = month > 2 ? year : year - 1;
    int64_t era_day =
        365 * y + y / 4 - y / 100 + y / 400; /* y >= 0 but for year 0's first months */
    if (y < 0) era_day = -366;
    int64_t month_day = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
    return era_day + month_day + (day - 1) - 719468;
}

bool day_parse(const char *text, size_t n, int32_t *day) {
    static const char form[] = "yyyy-mm-dd";
    int year = 0, month = 0, date = 0;
    if (n != sizeof form - 1) return false;
    for (size_t i = 0; i < n; i++) {
        const int digit = text[i] - '0';
        if (form[i] == '-' ? text[i] != '-' : digit < 0 || digit > 9) return false;
        if (form[i] == 'y') year = 10 * year + digit;
        if (form[i] == 'm') month = 10 * month + digit;
        if (form[i] == 'd') date = 10 * date + digit;
    }
    if (year < 1 || month < 1 || month > 12 || date < 1 || date > day_in_month(year, month))
        return false;
    *day = (int32_t)day_number(year, month, date);
    return true;
}

bool day_has_text(int32_t day) {
    return day >= day_number(1, 1, 1) && day <= day_number(9999, 12, 31);
}

/* The year is guessed from below, a day late at worst, and corrected. */
void day_format(int32_t day, char text[DAY_TEXT]) {
    int year = (int)((day - day_number(1, 1, 1)) / 366) + 1, month = 1;
    while (day_number(year + 1, 1, 1) <= day) year++;
    while (month < 12 && day_number(year, month + 1, 1) <= day) month++;
    snprintf(text, DAY_TEXT, "%04u-%02u-%02u", (unsigned)year % 10000, (unsigned)month % 100,
             (unsigned)(day - day_number(year, month, 1) + 1) % 100);
}
