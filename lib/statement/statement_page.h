/*
 * The page that a statement for people is written on.
 */
#ifndef DPMF_STATEMENT_STATEMENT_PAGE_H
#define DPMF_STATEMENT_STATEMENT_PAGE_H

#include "base/bytes.h"
#include "dpmf.h"
#include "numerics/exact_arithmetic.h"

struct statement_page {
    struct byte_buffer text;
    bool failed;    /* whether memory ran out */
    bool of_events; /* whether ratings are called events */
};

void statement_page_put(struct statement_page *page, const char *bytes, size_t n); /* unchanged */
/* A paragraph; a point of a list; a line that is not broken. */
void statement_page_say(struct statement_page *page, const char *format, ...) DPMF_PRINTF(2, 3);
void statement_page_point(struct statement_page *page, const char *format, ...) DPMF_PRINTF(2, 3);
void statement_page_line(struct statement_page *page, const char *format, ...) DPMF_PRINTF(2, 3);

/* The word for ratings in a text, or its replacement where there are only events. */
void statement_page_rename(char *text);

/* Words that are not dpmf's: "| Label: text". The text is one line of UTF-8. */
void statement_page_quote(struct statement_page *page, const char *label, const char *text);

struct statement_number {
    char text[32];
};

struct statement_number statement_number_count(uint64_t n); /* 3,883 */
struct statement_number statement_number_exact(double value);
struct statement_number statement_number_at_most(double value, int decimals); /* never below it */
struct statement_number statement_number_one_in(double chance); /* never fewer than it is */

#endif
