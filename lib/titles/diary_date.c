/*
 * Dates of any spelling as seconds since 1970: cut into numbers and words, of which few make a
 * date. Fed by the readers of tables and JSON; feeds diary_entries.
 */
#include "titles/diary_date.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/day.h"
#include "base/number.h"

enum { PARTS_MAX = 12 };

/* A run of digits or of letters, and the character behind it. */
struct part {
    const char *text;
    size_t n;
    bool is_number;
    int value; /* a number of at most four digits; else -1 */
    char after;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int value_of(const char *text, size_t n) {
    int value = 0;
    for (size_t i = 0; i < n; i++) value = 10 * value + (text[i] - '0');
    return value;
}

/* Cuts off the first PARTS_MAX parts. @return how many there are */
static int cut(const char *text, size_t n, struct part parts[PARTS_MAX]) {
    int count = 0;
    for (size_t i = 0; i < n && count < PARTS_MAX;) {
        const size_t from = i;
        const bool number = is_digit(text[i]);
        while (i < n && (number ? is_digit(text[i]) : is_letter(text[i]))) i++;
        if (i == from) {
            i++;
            continue;
        }
        parts[count++] = (struct part){
            text + from, i - from, number,
            number && i - from <= 4 ? value_of(text + from, i - from) : -1, i < n ? text[i] : '\0'};
    }
    return count;
}

/* A month by the first three letters of its English name, or more of them; 0: it is none */
static int month_of(const struct part *part) {
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    if (part->is_number || part->n < 3) return 0;
    for (int i = 0; i < 12; i++)
        if (part->n <= strlen(names[i]) && strncasecmp(part->text, names[i], part->n) == 0)
            return i + 1;
    return 0;
}

static bool is_word(const struct part *part, const char *word) {
    return !part->is_number && part->n == strlen(word) &&
           strncasecmp(part->text, word, part->n) == 0;
}

/* The hour of a day whose half may be in the part behind the clock; -1: there is no such hour. */
static int hour_of(int hour, const struct part *half) {
    if (!half || (!is_word(half, "am") && !is_word(half, "pm"))) return hour;
    if (hour < 1 || hour > 12) return -1;
    return hour % 12 + (is_word(half, "pm") ? 12 : 0);
}

/* Seconds by which a clock is ahead of Greenwich's, of the parts from `at` on: +01:00, -0500. */
static int64_t offset_of(const struct part *parts, int n, int at) {
    if (at >= n || !parts[at].is_number || parts[at].value < 0) return 0;
    const char sign = parts[at].text[-1]; /* a clock is before it */
    if (sign != '+' && sign != '-') return 0;
    int minutes = parts[at].n == 4 ? parts[at].value / 100 * 60 + parts[at].value % 100
                                   : parts[at].value * 60;
    if (parts[at].n <= 2 && parts[at].after == ':' && at + 1 < n && parts[at + 1].value >= 0)
        minutes += parts[at + 1].value;
    return (sign == '-' ? -60 : 60) * (int64_t)minutes;
}

/* hh:mm:ss or hh:mm in the parts from `at` on, perhaps with a fraction, am or pm, and a time zone.
 * @return seconds of Greenwich's day, which may be before or after it; 0 where there is no clock */
static int64_t clock_of(const struct part *parts, int n, int at) {
    if (at < n && is_word(&parts[at], "t")) at++;
    if (at + 1 >= n || parts[at].after != ':') return 0;
    int last = at + 1, second = 0;
    if (last + 1 < n && parts[last].after == ':' && parts[last + 1].n == 2)
        second = parts[++last].value;
    if (parts[last].after == '.' && last + 1 < n) last++;
    const struct part *half = last + 1 < n ? &parts[last + 1] : NULL;
    const int hour = hour_of(parts[at].value, half), minute = parts[at + 1].value;
    if (half && (is_word(half, "am") || is_word(half, "pm"))) last++;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return 0;
    return (hour * INT64_C(60) + minute) * 60 + second - offset_of(parts, n, last + 1);
}

static int64_t time_of(int year, int month, int day, int64_t seconds) {
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > day_in_month(year, month))
        return DIARY_NO_TIME;
    return day_number(year, month, day) * DAY_SECONDS + seconds;
}

/* Twenty-one means 2021. */
static int year_of(const struct part *part) {
    if (part->n == 2 && part->value >= 0) return 2000 + part->value;
    return part->n == 4 ? part->value : -1;
}

/* 20211231, and seconds, milliseconds or microseconds since 1970, perhaps with a fraction. */
static int64_t number_time(const char *text, size_t n) {
    if (n == 0) return DIARY_NO_TIME;
    const char *point = memchr(text, '.', n);
    const size_t whole = point ? (size_t)(point - text) : n;
    int64_t number;
    for (size_t i = 0; i < n; i++)
        if (!is_digit(text[i]) && text + i != point) return DIARY_NO_TIME;
    if (whole < 8 || number_parse_int64(text, whole, &number) != NUMBER_OK) return DIARY_NO_TIME;
    if (whole == 8 && !point)
        return time_of((int)(number / 10000), (int)(number / 100 % 100), (int)(number % 100), 0);
    if (whole < 9 || whole > 16 || whole == 11 || whole == 14) return DIARY_NO_TIME;
    for (size_t digits = whole; digits > 10; digits -= 3) number /= 1000;
    return number;
}

/* Whether three numbers end in a year, with / or - between them. */
static bool is_ordered(const struct part *parts, int n) {
    if (n < 3 || parts[0].after != parts[1].after || !strchr("/-", parts[0].after)) return false;
    for (int i = 0; i < 3; i++)
        if (parts[i].value < 0) return false;
    return parts[0].after != '\0' && parts[0].n <= 2 && parts[1].n <= 2 && year_of(&parts[2]) > 0;
}

unsigned diary_date_order(const char *text, size_t n) {
    struct part parts[PARTS_MAX];
    if (!is_ordered(parts, cut(text, n, parts))) return 0;
    return (parts[1].value > 12 ? DIARY_NOT_DAY_FIRST : 0u) |
           (parts[0].value > 12 ? DIARY_NOT_MONTH_FIRST : 0u);
}

static int64_t ordered_time(const struct part *parts, int n, unsigned order) {
    const int year = year_of(&parts[2]), a = parts[0].value, b = parts[1].value;
    const int64_t seconds = clock_of(parts, n, 3);
    if (a == b) return time_of(year, a, b, seconds);
    if (order == DIARY_NOT_MONTH_FIRST) return time_of(year, b, a, seconds);
    return order == DIARY_NOT_DAY_FIRST ? time_of(year, a, b, seconds) : DIARY_NO_TIME;
}

int64_t diary_date_read(const char *text, size_t n, unsigned order) {
    struct part parts[PARTS_MAX];
    const int64_t number = number_time(text, n);
    const int count = cut(text, n, parts);
    if (number != DIARY_NO_TIME || count < 3) return number;
    const int64_t seconds = clock_of(parts, count, 3);
    const int month = month_of(&parts[0]), middle = month_of(&parts[1]);
    if (middle > 0 && parts[0].n <= 2)
        return time_of(year_of(&parts[2]), middle, parts[0].value, seconds);
    if (month > 0 && parts[1].n <= 2)
        return time_of(year_of(&parts[2]), month, parts[1].value, seconds);
    if (parts[0].n == 4 && parts[1].is_number && parts[2].is_number)
        return time_of(parts[0].value, parts[1].value, parts[2].value, seconds);
    if (parts[0].after == '.' && parts[1].after == '.' && parts[0].n <= 2)
        return time_of(year_of(&parts[2]), parts[1].value, parts[0].value, seconds);
    return is_ordered(parts, count) ? ordered_time(parts, count, order) : DIARY_NO_TIME;
}
