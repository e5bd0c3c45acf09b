/*
 * The table of formats, and the guess which of them a text is in. Sniffing looks at the first line
 * that is not blank and tries the formats in this order; the first that fits is taken:
 *
 *   first line                                   format
 *   %%MatrixMarket ...                           matrixmarket
 *   {"user": ...                                 jsonl
 *   user_id:token <tab> item_id:token ...        inter
 *   1:                                           netflix
 *   0|1234                                       yahoo
 *   1::1193::5::978300760                        movielens
 *   196 <tab> 242 <tab> 3 <tab> 881250949        u.data       (whole numbers only)
 *   anything with tabs                           tsv
 *   anything with commas or semicolons           csv
 *   1 2 3.5                                      libmf
 *
 * A line with control bytes in it is not text, and in no format.
 */
#define _GNU_SOURCE
#include "ratings/formats.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "ratings/field_text.h"

/* As they are listed to people: the usual ones first. */
static const struct text_format *const formats[] = {
    &format_csv,   &format_tsv,           &format_movielens, &format_u_data, &format_netflix,
    &format_yahoo, &format_matrix_market, &format_libmf,     &format_inter,  &format_json_lines,
};

static const struct text_format *const sniff_order[] = {
    &format_matrix_market, &format_json_lines, &format_inter, &format_netflix, &format_yahoo,
    &format_movielens,     &format_u_data,     &format_tsv,   &format_csv,     &format_libmf,
};

enum { N_FORMATS = sizeof formats / sizeof formats[0] };

_Static_assert(sizeof sniff_order == sizeof formats, "every format is sniffed");

/* Formats that are no text, each with a reader of its own. */
static const char *const others[][2] = {
    {FORMAT_ARROW, "Arrow IPC files and streams: .arrow, .arrows, .feather"},
    {FORMAT_PARQUET, "Parquet files"},
    {FORMAT_STORE, "a ratings store"},
};

static bool is_other(const char *name) {
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i][0], name) == 0) return true;
    return false;
}

const char *dpmf_format_name(size_t i, const char **description) {
    const char *name = NULL, *about = NULL;
    if (i < N_FORMATS) {
        name = formats[i]->name;
        about = formats[i]->description;
    } else if (i < N_FORMATS + sizeof others / sizeof others[0]) {
        name = others[i - N_FORMATS][0];
        about = others[i - N_FORMATS][1];
    }
    if (description != NULL) *description = about;
    return name;
}

void dpmf_input_options_init(struct dpmf_input_options *options, size_t size) {
    const struct dpmf_input_options made = {.size = sizeof made, .format = NULL, .columns = NULL};
    options_give(options, size, &made, sizeof made);
}

bool dpmf_separator_is(char character) {
    return character == '\t' ||
           (character != '\0' && strchr(" !#$%&'()*,/:;<=>?@[\\]^`{|}~", character));
}

bool format_is_auto(const struct dpmf_input_options *options) {
    return options->format == NULL || strcmp(options->format, "auto") == 0;
}

const struct text_format *format_find(const char *name) {
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

void format_list(char *out, size_t size) {
    size_t length = 0;
    const char *name;
    out[0] = '\0';
    for (size_t i = 0; (name = dpmf_format_name(i, NULL)) != NULL && length < size; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%s", i > 0 ? ", " : "", name);
}

int format_check(const char *name, struct dpmf_error *error) {
    if (is_other(name) || strcmp(name, "auto") == 0 || format_find(name) != NULL) return 0;
    char list[200];
    format_list(list, sizeof list);
    error_set(error, DPMF_ERR_USAGE_VALUE, "there is no format \"%.80s\"", name);
    error_hint(error, "the formats are auto, %s", list);
    return DPMF_ERR_USAGE_VALUE;
}

/* ---- the first line -------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Counts the separators of the first record, those in quotes left out. A quoted field may hold
 * newlines; one that is never closed is not taken as quoted. */
static void count_separators(struct first_line *line, const char *text, size_t n, bool quotes) {
    line->commas = line->semicolons = line->tabs = 0;
    bool inside = false, field_start = true;
    size_t i = 0;
    for (; i < n && (inside || text[i] != '\n'); i++) {
        char c = text[i];
        if (quotes && c == '"' && (inside || field_start)) inside = !inside;
        field_start = !inside && (c == ',' || c == ';' || c == '\t');
        if (inside) continue;
        line->commas += c == ',';
        line->semicolons += c == ';';
        line->tabs += c == '\t';
    }
    if (inside) count_separators(line, text, n, false);
}

static void count_words(struct first_line *line) {
    const char *at = line->text, *end = at + line->n;
    line->words = line->numbers = 0;
    for (;;) {
        while (at < end && is_blank(*at)) at++;
        if (at == end) return;
        const char *start = at;
        while (at < end && !is_blank(*at)) at++;
        double ignored;
        line->words++;
        if (line->words <= 3 &&
            field_rating(start, (size_t)(at - start), &ignored) != NUMBER_MALFORMED)
            line->numbers++;
    }
}

static void count_double_colons(struct first_line *line) {
    line->double_colons = 0;
    for (size_t i = 0; i + 1 < line->n; i++)
        if (line->text[i] == ':' && line->text[i + 1] == ':') line->double_colons++, i++;
}

bool format_first_line(const char *text, size_t n, bool end, struct first_line *line) {
    for (;;) {
        const char *newline = n > 0 ? memchr(text, '\n', n) : NULL;
        size_t length = newline != NULL ? (size_t)(newline - text) : n;
        size_t at = 0;
        while (at < length && is_blank(text[at])) at++;
        if (at < length) {
            line->text = text;
            line->n = text[length - 1] == '\r' ? length - 1 : length;
            line->whole = newline != NULL || end;
            break;
        }
        if (newline == NULL) return false;
        text = newline + 1;
        n -= length + 1;
    }
    count_separators(line, text, n, true);
    count_double_colons(line);
    count_words(line);
    return true;
}

/* Control bytes other than those that text has. */
static bool is_binary(const struct first_line *line) {
    for (size_t i = 0; i < line->n; i++) {
        unsigned char c = (unsigned char)line->text[i];
        if ((c < 0x20 && c != '\t' && c != '\r') || c == 0x7f) return true;
    }
    return false;
}

const struct text_format *format_sniff(const char *text, size_t n, bool end) {
    struct first_line line;
    if (!format_first_line(text, n, end, &line) || is_binary(&line)) return NULL;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (sniff_order[i]->sniff(&line)) return sniff_order[i];
    return NULL;
}
