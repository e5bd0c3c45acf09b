/*
 * What a catalogue is warned of: see catalogue_doubts.h. Fed by catalogue.c with the ids in the
 * file's order.
 */
#include "privacy/catalogue_doubts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/id_blanks.h"
#include "tables/column_names.h"

enum { FEW = 10 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Bytes beyond ASCII are taken for letters. */
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool has_letter_or_digit(const char *id, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_letter(id[i]) || is_digit(id[i])) return true;
    return false;
}

static bool begins_with(const char *id, size_t n, const char *word) {
    return n >= strlen(word) && strncasecmp(id, word, strlen(word)) == 0;
}

static bool ends_with(const char *id, size_t n, const char *word) {
    const size_t length = strlen(word);
    return n >= length && strncasecmp(id + n - length, word, length) == 0;
}

/* "Total: 3", "sum = 7". */
static bool is_sum(const char *id, size_t n) {
    static const char *const words[] = {"total", "sum", "count", "rows", "items"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!begins_with(id, n, words[i])) continue;
        size_t at = strlen(words[i]);
        while (at < n && id_blank_is(id[at])) at++;
        if (at == n || (id[at] != ':' && id[at] != '=')) continue;
        for (at++; at < n && id_blank_is(id[at]);) at++;
        if (at < n && is_digit(id[at])) return true;
    }
    return false;
}

/* "(3 rows)", as databases end what they print. */
static bool is_count_of_rows(const char *id, size_t n) {
    return n > 2 && id[0] == '(' && is_digit(id[1]) &&
           (ends_with(id, n, " row)") || ends_with(id, n, " rows)"));
}

static bool is_comment(const char *id, size_t n) {
    return n > 1 && (((id[0] == '#' || id[0] == '%') && id_blank_is(id[1])) ||
                     begins_with(id, n, "// ") || begins_with(id, n, "-- "));
}

/* Whether an id looks like a comment, a sum, a count of rows, an object of JSON, or has neither a
 * letter nor a digit. */
static bool is_odd(const char *id, size_t n) {
    n = id_blanks_trim(&id, n);
    return !has_letter_or_digit(id, n) || is_comment(id, n) || is_sum(id, n) ||
           is_count_of_rows(id, n) || (id[0] == '{' && id[n - 1] == '}');
}

/* Words that begin lists of one column, besides those that are read as headers. */
static bool is_header_word(const char *id, size_t n) {
    static const char *const words[] = {
        "item",   "items", "id",       "ids",      "itemids", "product",   "title",  "titles",
        "name",   "names", "sku",      "skus",     "key",     "keys",      "movies", "books",
        "tracks", "songs", "products", "articles", "article", "itemnumber"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == n && strncasecmp(id, words[i], n) == 0) return true;
    return false;
}

static bool has_digit(const char *id, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_digit(id[i])) return true;
    return false;
}

/* A first word without a digit, where nearly all others have one. */
static bool is_first_alone(const struct factor_ids *ids) {
    uint64_t with = 0;
    if (ids->n < FEW || has_digit(ids->bytes, (size_t)ids->start[1])) return false;
    for (uint64_t i = 1; i < ids->n; i++)
        with += has_digit(ids->bytes + ids->start[i], (size_t)(ids->start[i + 1] - ids->start[i]));
    return with >= ids->n - 1 - (ids->n - 1) / FEW;
}

/* A header's name in the middle of a list, as where that was sorted: "item", "movie_id". */
static bool is_item_column(const char *id, size_t n) {
    return column_role_of(id, n) == COLUMN_ITEM &&
           ((n == 4 && strncasecmp(id, "item", 4) == 0) || (n > 4 && ends_with(id, n, "id")));
}

static bool is_number(const char *id, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (!is_digit(id[i])) return false;
    return n > 0;
}

/* Whether all are numbers but one, which may be a header or a sum. */
static bool has_one_word(const struct factor_ids *ids) {
    uint64_t words = 0;
    for (uint64_t i = 0; i < ids->n && ids->n >= FEW; i++)
        words += !is_number(ids->bytes + ids->start[i], ids->start[i + 1] - ids->start[i]);
    return words == 1;
}

uint64_t catalogue_doubts_count(const struct factor_ids *ids) {
    uint64_t doubtful = 0;
    for (uint64_t i = 0; i < ids->n; i++) {
        const char *id = ids->bytes + ids->start[i];
        const size_t n = (size_t)(ids->start[i + 1] - ids->start[i]);
        doubtful += is_odd(id, n) || is_item_column(id, n) || is_header_word(id, n);
    }
    return doubtful;
}

void catalogue_doubts_warn(const struct factor_ids *ids, const struct dpmf_run *run) {
    uint64_t odd = 0, headers = 0;
    char text[300];
    if (!run || !run->warn || ids->n == 0) return;
    for (uint64_t i = 0; i < ids->n; i++) {
        const char *id = ids->bytes + ids->start[i];
        const size_t n = (size_t)(ids->start[i + 1] - ids->start[i]);
        odd += is_odd(id, n);
        headers += is_item_column(id, n);
    }
    if (odd > 0) {
        snprintf(text, sizeof text,
                 "lines of the catalogue that look like no items: %" PRIu64 " of %" PRIu64
                 ", such as comments, sums and rules; all are published as items",
                 odd, ids->n);
        run->warn(run->warn_self, text);
    }
    if (has_one_word(ids))
        run->warn(run->warn_self, "all items of the catalogue but one are numbers: is that one a "
                                  "header, or a sum?");
    else if (headers > 0 || is_header_word(ids->bytes, (size_t)ids->start[1]) ||
             is_first_alone(ids))
        run->warn(run->warn_self, "a line of the catalogue looks like a header, and is published "
                                  "as an item: name its column item, in the first line");
}
