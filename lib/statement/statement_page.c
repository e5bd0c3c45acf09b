/*
 * Sentences broken into lines, and numbers in them that are rounded against us. Fed by
 * statement_text.c and statement_conditional.c, which say what stands on the page.
 */
#include "statement/statement_page.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dpmf_text.h"

enum { WIDTH = 78, SENTENCE_MAX = 1024 };

/* ---- the page -------------------------------------------------------------------------------- */

void statement_page_put(struct statement_page *page, const char *bytes, size_t n) {
    uint8_t *room = page->failed ? NULL : byte_buffer_room(&page->text, n);
    page->failed = !room;
    if (!room) return;
    memcpy(room, bytes, n);
    page->text.n += n;
}

/* n blanks, of which there are enough for every indent of a statement. */
static const char *blanks(size_t n) {
    static const char spaces[] = "            ";
    assert(n < sizeof spaces);
    return spaces + sizeof spaces - 1 - n;
}

/* A word after a blank or, where the line has no room, on a new line that begins with `lead`. */
static void put_next(struct statement_page *page, const char *lead, const char *word, size_t n,
                     size_t *column) {
    if (*column + 1 + n > WIDTH) {
        statement_page_put(page, "\n", 1);
        statement_page_put(page, lead, strlen(lead));
        *column = strlen(lead);
    } else {
        statement_page_put(page, " ", 1);
        ++*column;
    }
    statement_page_put(page, word, n);
    *column += n;
}

/* Words, broken at blanks; lines after the first are indented by `indent`, the first by `first`. */
static void wrap(struct statement_page *page, size_t first, size_t indent, const char *text) {
    const size_t length = strcspn(text, " ");
    size_t column = first + length;
    statement_page_put(page, blanks(first), first);
    statement_page_put(page, text, length);
    for (const char *word = text + length; *(word += strspn(word, " "));) {
        const size_t n = strcspn(word, " ");
        put_next(page, blanks(indent), word, n, &column);
        word += n;
    }
    statement_page_put(page, "\n", 1);
}

/* Lines that all begin with a mark, whatever the text: words that are longer than a line are broken
 * too, between characters. */
void statement_page_quote(struct statement_page *page, const char *label, const char *text) {
    static const char mark[] = "  | ";
    size_t column = strlen(mark) + strlen(label) + 1;
    statement_page_put(page, mark, strlen(mark));
    statement_page_put(page, label, strlen(label));
    statement_page_put(page, ":", 1);
    for (const char *word = text; *word;) {
        size_t n = strcspn(word, " "), most = WIDTH - strlen(mark);
        if (n > most)
            for (n = most; ((unsigned char)word[n] & 0xc0) == 0x80;) n--;
        put_next(page, mark, word, n, &column);
        word += n + strspn(word + n, " ");
    }
    statement_page_put(page, "\n", 1);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Whole words alone: operating systems stay. No replacement is longer than what it replaces. */
void statement_page_rename(char *text) {
    static const char *const words[][2] = {
        {"the range of ratings", "what is an event"},
        {", in the declared range,", ""},
        {"malformed, out of range or", "malformed or"},
        {"ratings", "events"},
        {"Ratings", "Events"},
        {"RATINGS", "EVENTS"},
        {"rating", "event"},
        {"items were rated", "items anyone had"},
        {"rated", "had"},
        {"RATED", "HAD"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t from = strlen(words[i][0]), to = strlen(words[i][1]);
        for (char *at = text; (at = strstr(at, words[i][0])) != NULL;) {
            const bool goes_on = is_letter(at[from - 1]) && is_letter(at[from]);
            if (goes_on || (at > text && is_letter(at[0]) && is_letter(at[-1]))) {
                at += from;
                continue;
            }
            memcpy(at, words[i][1], to);
            memmove(at + to, at + from, strlen(at + from) + 1);
            at += to;
        }
    }
}

void statement_page_say(struct statement_page *page, const char *format, ...) {
    char text[SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (page->of_events) statement_page_rename(text);
    wrap(page, 2, 2, text);
}

/* One point of a list. */
void statement_page_point(struct statement_page *page, const char *format, ...) {
    char text[SENTENCE_MAX] = "- ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + 2, sizeof text - 2, format, arguments);
    va_end(arguments);
    if (page->of_events) statement_page_rename(text);
    wrap(page, 2, 4, text);
}

/* As it is, to the end of the line. */
void statement_page_line(struct statement_page *page, const char *format, ...) {
    char text[SENTENCE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0)
        statement_page_put(page, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    statement_page_put(page, "\n", 1);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* 3,883 */
struct statement_number statement_number_count(uint64_t n) {
    struct statement_number out = {""};
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

struct statement_number statement_number_exact(double value) {
    struct statement_number out;
    dpmf_format_double(value, out.text);
    return out;
}

/* The least number of so many decimals that is not below `value`; a margin for the logarithms' last
 * bits. */
struct statement_number statement_number_at_most(double value, int decimals) {
    struct statement_number out;
    double up = dpmf_round_decimals(value * (1 + 1e-12), decimals, true);
    if (up < 1e9)
        snprintf(out.text, sizeof out.text, "%.*f", decimals, up);
    else
        snprintf(out.text, sizeof out.text, "%.2e", value * 1.01);
    return out;
}

/* "one chance in 100,000", rounded against us: never fewer than it is. */
struct statement_number statement_number_one_in(double chance) {
    double n = floor(1 / chance * (1 + 1e-12));
    return statement_number_count(n < 1e15 ? (uint64_t)n : UINT64_C(1000000000000000));
}
