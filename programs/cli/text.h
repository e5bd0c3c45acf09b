/*
 * Small text: numbers as people read them, and wrapped paragraphs. Feeds the help, the summaries
 * and the error messages.
 */
#ifndef DPMF_PROGRAMS_TEXT_H
#define DPMF_PROGRAMS_TEXT_H

#include <stdint.h>
#include <stdio.h>

enum { TEXT_NUMBER_MAX = 64 };

/* A short text by value, so that several fit in one printf. */
struct short_text {
    char text[TEXT_NUMBER_MAX];
};

struct short_text text_number(uint64_t n);                        /* 1,000,209 */
struct short_text text_count(uint64_t n, const char *singular);   /* 1,000,209 ratings */
struct short_text text_bytes(uint64_t n);                         /* 2.1 MB */
struct short_text text_binary_bytes(uint64_t n);                  /* 2 GiB, 32 KiB */
struct short_text text_seconds(double seconds);                   /* 0.2 s, 3 min 20 s */
struct short_text text_rate(double per_second, const char *unit); /* 6.2 M ratings/s */
struct short_text text_double(double value);  /* the shortest exact text */
struct short_text text_figure(double value);  /* four places, or five digits where these fail */
struct short_text text_measure(double value); /* four places; below 0.1, four digits */

/* Decimal places for numbers on a scale from `low` to `high`: `usual`, and more on a small scale,
 * so that as many digits stay as on a scale as wide as 1. */
int text_places(int usual, double low, double high);

struct short_text text_time(int64_t unix_seconds); /* 2001-02-03 04:05:06 UTC */

/* What an errno means, in the small letters of our messages. */
struct short_text text_system_error(int number);

/* Writes words broken at spaces so that no line passes `width`; every line but the first is
 * indented by `indent`, and `column` is where the first begins. Ends with a line feed. */
void text_wrap(FILE *out, const char *text, size_t column, size_t indent, size_t width);

#endif
