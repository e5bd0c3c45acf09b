/*
 * MatrixMarket coordinate files: a banner, comments, a size line, then `row column value` a line.
 * Rows are users and columns items; a pattern has no values and is one of events. The head is read
 * here; the entries are rows of three columns, which delimited_parse reads. Feeds the record batch.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "ratings/delimited.h"
#include "ratings/field_text.h"

static const char banner[] = "%%MatrixMarket";

struct matrix_market {
    struct delimited layout; /* first: it is what delimited_parse finds in source->state */
    uint64_t entries;
    int64_t size_line, entries_column;
};

/* ---- words of a line ------------------------------------------------------------------------- */

struct words {
    const char *text[8];
    size_t length[8];
    size_t n; /* may be more than are kept */
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void split_words(const char *line, size_t n, struct words *words) {
    words->n = 0;
    for (size_t at = 0;;) {
        while (at < n && is_blank(line[at])) at++;
        if (at == n) return;
        size_t start = at;
        while (at < n && !is_blank(line[at])) at++;
        if (words->n < 8) {
            words->text[words->n] = line + start;
            words->length[words->n] = at - start;
        }
        words->n++;
    }
}

static bool word_is(const struct words *words, size_t i, const char *word) {
    return i < words->n && strlen(word) == words->length[i] &&
           strncasecmp(words->text[i], word, words->length[i]) == 0;
}

/* ---- the head -------------------------------------------------------------------------------- */

static int refuse(const struct text_source *source, int64_t line, int64_t column,
                  const char *message, const char *hint, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_HEADER, "%s", message);
    if (hint != NULL) error_hint(error, "%s", hint);
    error_place(error, source->name, line, column);
    return DPMF_ERR_INPUT_HEADER;
}

static int check_banner(const struct text_source *source, const char *line, size_t n,
                        int64_t number, bool *is_pattern, struct dpmf_error *error) {
    static const char hint[] = "expected %%MatrixMarket matrix coordinate real general";
    struct words words;
    split_words(line, n, &words);
    const char *what = NULL;
    size_t at = 0;
    if (!word_is(&words, 0, banner) || words.n != 5)
        what = "the first line is not a whole MatrixMarket banner";
    else if (at = 1, !word_is(&words, at, "matrix"))
        what = "only a matrix can be read, no other MatrixMarket object";
    else if (at = 2, word_is(&words, at, "array"))
        what = "a dense matrix (array) cannot be read as ratings: every value would be one";
    else if (!word_is(&words, at, "coordinate"))
        what = "the matrix is not in coordinate form";
    else if (at = 3, word_is(&words, at, "complex"))
        what = "complex values are not ratings";
    else if (!word_is(&words, at, "real") && !word_is(&words, at, "integer") &&
             !word_is(&words, at, "pattern"))
        what = "the values must be real or integer";
    else if (at = 4, !word_is(&words, at, "general"))
        what = "the matrix must be general: users and items are not the same, so there is no "
               "symmetry";
    *is_pattern = word_is(&words, 3, "pattern");
    if (what == NULL) return 0;
    int64_t column = words.n > at ? words.text[at] - line + 1 : 1;
    return refuse(source, number, column, what, hint, error);
}

static bool whole_word(const struct words *words, size_t i, uint64_t *value) {
    const char *text = words->text[i];
    uint32_t n = words->length[i] < 64 ? (uint32_t)words->length[i] : 64;
    return field_whole(&text, &n, value);
}

static int read_size(const struct text_source *source, const char *line, size_t n, int64_t number,
                     struct matrix_market *matrix, struct dpmf_error *error) {
    static const char hint[] = "expected three whole numbers: rows, columns, entries";
    struct words words;
    split_words(line, n, &words);
    if (words.n != 3)
        return refuse(source, number, 1, "the size line does not have three numbers", hint, error);
    uint64_t *size[] = {&matrix->layout.max_user, &matrix->layout.max_item, &matrix->entries};
    for (size_t i = 0; i < 3; i++)
        if (!whole_word(&words, i, size[i]))
            return refuse(source, number, words.text[i] - line + 1,
                          "the size line has something other than a whole number", hint, error);
    if (matrix->entries > 0 && (matrix->layout.max_user == 0 || matrix->layout.max_item == 0))
        return refuse(source, number, 1, "the size line has entries, but no rows or no columns",
                      hint, error);
    matrix->size_line = number;
    matrix->entries_column = words.text[2] - line + 1;
    return 0;
}

static bool is_all_blank(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!is_blank(line[i])) return false;
    return true;
}

/* A matrix without values is one of events, each of which happened once. */
static void set_pattern(struct text_source *source, struct matrix_market *matrix) {
    matrix->layout.n_columns = matrix->layout.least_columns = 2;
    matrix->layout.column[COLUMN_RATING] = -1;
    matrix->layout.hint = "expected row and column";
    source->base.layout.holds_events = true;
}

/* Reads banner, comments and size line from the text in sight. @return 1 when they are not all
 * there, else 0 or a negative code */
static int read_head(struct text_source *source, struct matrix_market *matrix,
                     struct dpmf_error *error) {
    const char *text = source->carry + source->carry_at;
    size_t n = source->carry_n - source->carry_at, at = 0;
    int64_t lines = 0;
    bool has_banner = false;
    while (at < n) {
        const char *line = text + at, *newline = memchr(line, '\n', n - at);
        if (newline == NULL && !source->stream_end) return 1;
        size_t length = newline != NULL ? (size_t)(newline - line) : n - at;
        at += length + (newline != NULL);
        int64_t number = source->lines_before + ++lines;
        if (is_all_blank(line, length)) continue;
        if (!has_banner) {
            bool is_pattern;
            int code = check_banner(source, line, length, number, &is_pattern, error);
            if (code != 0) return code;
            if (is_pattern) set_pattern(source, matrix);
            has_banner = true;
        } else if (line[0] != '%') {
            int code = read_size(source, line, length, number, matrix, error);
            if (code == 0) text_source_pass(source, at, lines);
            return code;
        }
    }
    return 1;
}

static int begin_matrix_market(struct text_source *source, const struct dpmf_input_options *options,
                               struct dpmf_error *error) {
    struct matrix_market *matrix = memory_alloc_zero(1, sizeof *matrix);
    if (matrix == NULL) return error_no_memory(error);
    source->state = matrix;
    source->base.layout.origin = STORE_ORIGIN_DECLARED; /* by its banner and size line */
    source->base.layout.holds_events = options->events;
    matrix->layout = (struct delimited){
        .kind = ROW_BLANKS,
        .n_columns = 3,
        .least_columns = 3,
        .column = {0, 1, 2, -1},
        .ids = IDS_MATRIX,
        .hint = "expected row, column and value",
    };
    int code = read_head(source, matrix, error);
    if (code == 1) {
        code = text_source_window(source, source->record_max + 1, error);
        if (code != 0) return code;
        code = read_head(source, matrix, error);
    }
    if (code == 1)
        return refuse(source, 1, 1,
                      source->stream_end ? "the size line is missing"
                                         : "there is no size line in the first MiB",
                      "expected rows, columns and entries after the comments", error);
    return code;
}

/* The number of entries is the header's, and yet a line more or less is somebody's: where records
 * are read each by itself it must not decide whether there is a store. Then it is a remark. */
static void finish_matrix_market(struct text_source *source, struct record_batch *batch) {
    const struct matrix_market *matrix = source->state;
    if (batch->failure.code != 0 || source->n_records == matrix->entries) return;
    struct dpmf_error *error = source->skip_bad ? &batch->remark : &batch->failure;
    error_set(error, DPMF_ERR_INPUT_COUNT, "the size line has %llu entries, but %llu follow",
              (unsigned long long)matrix->entries, (unsigned long long)source->n_records);
    if (source->n_records < matrix->entries) error_hint(error, "was the file cut short?");
    error_place(error, source->name, matrix->size_line, matrix->entries_column);
}

static bool sniff_matrix_market(const struct first_line *line) {
    size_t n = sizeof banner - 1;
    return line->n >= n && strncasecmp(line->text, banner, n) == 0;
}

const struct text_format format_matrix_market = {
    .name = "matrixmarket",
    .description = "MatrixMarket coordinate, rows are users and columns items",
    .has_header = true,
    .sniff = sniff_matrix_market,
    .begin = begin_matrix_market,
    .parse = delimited_parse,
    .finish = finish_matrix_market,
};
