/*
 * Makes numbers of the public features: a column of numbers becomes bumps over its range, so that
 * what is fitted to them can rise and fall with it, and a column of texts an indicator for each
 * category. Fed by item_features.c; what comes out, standardised over the catalogue, gives the
 * mechanisms the prior means of item vectors. A value that is missing is 0, which is the mean.
 *
 * The order of the file's rows does not matter, but where an item has several numbers.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "privacy/id_gather.h"
#include "privacy/item_features.h"
#include "privacy/trimmed_field.h"

#define LOW_QUANTILE 0.02 /* the outermost bumps are here and at 1 minus it */
#define BUMP_WIDTH 0.75   /* in units of their distance */
#define LEAST_VARIANCE 1e-12

/* One category of one item. */
struct token {
    const char *text;
    uint32_t length;
    uint32_t item;
};

/* What one column of the file holds. */
struct source {
    const struct feature_cells *cells;
    bool is_number;
    double low, high;     /* places of the outermost bumps, for numbers */
    struct token *tokens; /* tokens of texts: by category, then by item */
    size_t n_tokens;
};

/* Columns that may come out: the bumps of a number, which stay together, or one category. */
struct candidate {
    const struct source *source;
    size_t place;          /* by the file's columns, then by the categories' bytes */
    size_t n_columns;      /* 1 or FEATURE_BUMPS */
    uint64_t n_items;      /* that have it */
    size_t from, n_tokens; /* first token of a category, and their number */
};

struct conversion {
    const struct feature_table *table;
    uint64_t n_items;
    struct source *sources; /* one for each column of the table */
    struct candidate *candidates;
    size_t n_candidates, candidates_capacity;
    double *values; /* one for each item; NaN: missing */
    double *sorted; /* one for each item */
};

/* ---- numbers --------------------------------------------------------------------------------- */

static enum number_result parse(const struct conversion *conversion,
                                const struct feature_cell *cell, double *value) {
    return number_parse_double(conversion->table->text + cell->text, cell->length, value);
}

/* What the fields of a column are. */
struct field_kinds {
    size_t n_numbers, n_others;
    size_t n_commas;  /* others that are numbers but for a decimal comma, 4,5 */
    size_t n_missing; /* others that say that there is no value, such as N/A */
    bool has_lists;   /* some are categories for certain: a|b */
    const struct feature_cell *not_finite, *other; /* the first, or NULL */
};

static bool has_decimal_comma(const struct conversion *conversion,
                              const struct feature_cell *cell) {
    enum { LONGEST = 40 };
    const char *field = conversion->table->text + cell->text;
    const char *comma = memchr(field, ',', cell->length);
    char text[LONGEST];
    double value;
    if (!comma || cell->length > LONGEST) return false;
    memcpy(text, field, cell->length);
    text[comma - field] = '.';
    return number_parse_double(text, cell->length, &value) == NUMBER_OK;
}

/* Words and signs that tables have where nothing is known. */
static bool says_missing(const struct conversion *conversion, const struct feature_cell *cell) {
    static const char *const texts[] = {"na",      "n/a",         "nan", "null", "none", "unknown",
                                        "missing", "unspecified", "tbd", "?",    "??",   "-",
                                        "--",      ".",           "\\N", "nil"};
    const char *field = conversion->table->text + cell->text;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strlen(texts[i]) == cell->length && strncasecmp(field, texts[i], cell->length) == 0)
            return true;
    return false;
}

static struct field_kinds look_at(const struct conversion *conversion,
                                  const struct source *source) {
    struct field_kinds kinds = {0};
    double value;
    for (size_t i = source->cells->n; i-- > 0;) {
        const struct feature_cell *cell = &source->cells->at[i];
        const enum number_result result = parse(conversion, cell, &value);
        if (result == NUMBER_NOT_FINITE) kinds.not_finite = cell;
        kinds.n_numbers += result != NUMBER_MALFORMED;
        if (result != NUMBER_MALFORMED) continue;
        kinds.n_others++;
        kinds.other = cell;
        kinds.n_commas += has_decimal_comma(conversion, cell);
        kinds.n_missing += says_missing(conversion, cell);
        kinds.has_lists |= memchr(conversion->table->text + cell->text, '|', cell->length) != NULL;
    }
    return kinds;
}

/* Decimal commas, or a few words for what is not known, would make a category of each number. */
static int refuse_mixed(const struct conversion *conversion, const struct field_kinds *kinds,
                        struct dpmf_error *error) {
    const unsigned long long n = kinds->n_numbers;
    if (kinds->n_commas == kinds->n_others) {
        error_set(error, DPMF_ERR_INPUT_NUMBER, "a decimal comma: this field is not a number");
        error_hint(error, "write numbers with a point, as in 4.5");
    } else {
        error_set(error, DPMF_ERR_INPUT_NUMBER,
                  "this field is not a number, and %llu of %llu in its column are", n,
                  n + kinds->n_others);
        error_hint(error, "leave the field empty where the number is not known");
    }
    error_place(error, conversion->table->file, kinds->other->line, kinds->other->column);
    return DPMF_ERR_INPUT_NUMBER;
}

/* Such as zip codes, of which few have letters. */
static void warn_of_mixed(const struct conversion *conversion, const struct field_kinds *kinds) {
    const struct dpmf_run *run = conversion->table->run;
    char text[800];
    if (!run || !run->warn) return;
    snprintf(text, sizeof text,
             "%.300s:%lld:%lld: this field is not a number, and %zu of %zu in its column are: each "
             "is taken for the name of a category",
             conversion->table->file, (long long)kinds->other->line,
             (long long)kinds->other->column, kinds->n_numbers, kinds->n_numbers + kinds->n_others);
    run->warn(run->warn_self, text);
}

/* A column is one of numbers when every field is; among numbers, infinity and nan are mistakes. */
static int find_kind(struct conversion *conversion, struct source *source,
                     struct dpmf_error *error) {
    const struct field_kinds kinds = look_at(conversion, source);
    const size_t n_meant = kinds.n_numbers + kinds.n_commas;
    const bool are_meant =
        kinds.n_others > 0 && !kinds.has_lists && 2 * n_meant >= source->cells->n;
    if (are_meant && kinds.n_commas + kinds.n_missing == kinds.n_others)
        return refuse_mixed(conversion, &kinds, error);
    if (are_meant) warn_of_mixed(conversion, &kinds);
    source->is_number = source->cells->n > 0 && kinds.n_others == 0;
    if (!source->is_number || !kinds.not_finite) return 0;
    error_set(error, DPMF_ERR_INPUT_NOT_FINITE, "a number in a column of numbers is not finite");
    error_hint(error, "leave the field empty where the number is not known");
    error_place(error, conversion->table->file, kinds.not_finite->line, kinds.not_finite->column);
    return DPMF_ERR_INPUT_NOT_FINITE;
}

/* Fills `values`. @return how many items have a number */
static uint64_t fill_numbers(struct conversion *conversion, const struct source *source) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < conversion->n_items; i++) conversion->values[i] = NAN;
    for (size_t i = 0; i < source->cells->n; i++) {
        const struct feature_cell *cell = &source->cells->at[i];
        double *value = &conversion->values[cell->item];
        assert(isnan(*value)); /* no item has two rows, and each row has one field here */
        parse(conversion, cell, value);
        n++;
    }
    return n;
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the two values nearest to it, as their distances say. Of a level below 1. */
static double quantile(const double *sorted, uint64_t n, double level) {
    double at = level * (double)(n - 1);
    uint64_t i = (uint64_t)at;
    double share = at - (double)i;
    assert(i + 1 < n);
    return sorted[i] * (1 - share) + sorted[i + 1] * share;
}

/* @return how many different values there are, counted up to 3 */
static int count_distinct(const double *sorted, uint64_t n) {
    int distinct = n > 0;
    for (uint64_t i = 1; i < n && distinct < 3; i++) distinct += sorted[i] != sorted[i - 1];
    return distinct;
}

/* @return how many columns the n sorted values make: none when all are the same; one when there
 * are two values, since all bumps would be the same column then */
static size_t place_bumps(struct source *source, const double *sorted, uint64_t n) {
    int distinct = count_distinct(sorted, n);
    source->low = sorted[0];
    source->high = sorted[n - 1];
    if (distinct < 3) return distinct == 2;
    double low = quantile(sorted, n, LOW_QUANTILE), high = quantile(sorted, n, 1 - LOW_QUANTILE);
    if (low < high) { /* else nearly all are the same, and the others are what there is to tell */
        source->low = low;
        source->high = high;
    }
    return FEATURE_BUMPS;
}

static double bump(const struct source *source, size_t k, double value) {
    double share = (double)k / (FEATURE_BUMPS - 1);
    double centre = source->low * (1 - share) + source->high * share;
    double width =
        BUMP_WIDTH * (source->high / (FEATURE_BUMPS - 1) - source->low / (FEATURE_BUMPS - 1));
    if (!(width > 0)) return 0;
    double z = (value - centre) / width;
    return exp(-0.5 * z * z);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int compare_texts(const struct token *x, const struct token *y) {
    uint32_t n = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, n);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int compare_tokens(const void *a, const void *b) {
    const struct token *x = a, *y = b;
    int order = compare_texts(x, y);
    return order != 0 ? order : (x->item > y->item) - (x->item < y->item);
}

/* Cuts "a|b|c" into three. */
static int cut_cell(const struct conversion *conversion, const struct feature_cell *cell,
                    struct source *source, size_t *capacity, struct dpmf_error *error) {
    const char *text = conversion->table->text + cell->text, *end = text + cell->length;
    while (text <= end) {
        const char *bar = text < end ? memchr(text, '|', (size_t)(end - text)) : NULL;
        const char *stop = bar ? bar : end;
        struct dpmf_field field =
            trimmed_field((struct dpmf_field){text, (size_t)(stop - text), 0});
        struct token token = {field.text, (uint32_t)field.length, cell->item};
        text = stop + 1;
        if (token.length == 0) continue;
        if (!memory_reserve(&source->tokens, capacity, source->n_tokens + 1, sizeof token))
            return error_no_memory(error);
        source->tokens[source->n_tokens++] = token;
    }
    return 0;
}

static int cut_texts(const struct conversion *conversion, struct source *source,
                     struct dpmf_error *error) {
    size_t capacity = 0, kept = 0;
    for (size_t i = 0; i < source->cells->n; i++) {
        int code = cut_cell(conversion, &source->cells->at[i], source, &capacity, error);
        if (code < 0) return code;
    }
    if (source->n_tokens == 0) return 0;
    qsort(source->tokens, source->n_tokens, sizeof source->tokens[0], compare_tokens);
    for (size_t i = 0; i < source->n_tokens; i++) /* an item has a category or not, never twice */
        if (i == 0 || compare_tokens(&source->tokens[i], &source->tokens[kept - 1]) != 0)
            source->tokens[kept++] = source->tokens[i];
    source->n_tokens = kept;
    return 0;
}

/* Fills `values` with 0 for the items that have any category. @return how many they are */
static uint64_t fill_known(struct conversion *conversion, const struct source *source) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < conversion->n_items; i++) conversion->values[i] = NAN;
    for (size_t i = 0; i < source->n_tokens; i++) {
        double *value = &conversion->values[source->tokens[i].item];
        n += isnan(*value) != 0;
        *value = 0;
    }
    return n;
}

/* ---- which columns there will be ------------------------------------------------------------- */

static bool is_rare(const struct conversion *conversion, uint64_t n) {
    return n < 3 || (double)n * 1000 < (double)conversion->n_items * 3;
}

static int propose(struct conversion *conversion, struct candidate candidate,
                   struct dpmf_error *error) {
    if (!memory_reserve(&conversion->candidates, &conversion->candidates_capacity,
                        conversion->n_candidates + 1, sizeof candidate))
        return error_no_memory(error);
    candidate.place = conversion->n_candidates;
    conversion->candidates[conversion->n_candidates++] = candidate;
    return 0;
}

static int propose_number(struct conversion *conversion, struct source *source,
                          struct dpmf_error *error) {
    uint64_t n = fill_numbers(conversion, source), k = 0;
    if (is_rare(conversion, n)) return 0;
    for (uint64_t i = 0; i < conversion->n_items; i++)
        if (!isnan(conversion->values[i])) conversion->sorted[k++] = conversion->values[i];
    qsort(conversion->sorted, (size_t)n, sizeof(double), compare_numbers);
    size_t n_columns = place_bumps(source, conversion->sorted, n);
    if (n_columns == 0) return 0;
    return propose(conversion,
                   (struct candidate){.source = source, .n_columns = n_columns, .n_items = n},
                   error);
}

static int propose_categories(struct conversion *conversion, struct source *source,
                              struct dpmf_error *error) {
    int code = cut_texts(conversion, source, error);
    uint64_t n_known = code == 0 ? fill_known(conversion, source) : 0;
    for (size_t i = 0, end; i < source->n_tokens && code == 0; i = end) {
        const struct token *tokens = source->tokens;
        for (end = i + 1; end < source->n_tokens && compare_texts(&tokens[i], &tokens[end]) == 0;)
            end++;
        if (is_rare(conversion, end - i) || end - i == n_known) continue;
        code = propose(conversion,
                       (struct candidate){.source = source,
                                          .n_columns = 1,
                                          .n_items = end - i,
                                          .from = i,
                                          .n_tokens = end - i},
                       error);
    }
    return code;
}

static int by_frequency(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    int order = (x->n_items < y->n_items) - (x->n_items > y->n_items);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Keeps the most frequent that there is room for. @return how many columns they are */
static size_t choose(struct conversion *conversion) {
    struct candidate *all = conversion->candidates;
    size_t n_columns = 0, kept = 0;
    if (conversion->n_candidates == 0) return 0;
    qsort(all, conversion->n_candidates, sizeof all[0], by_frequency);
    for (size_t i = 0; i < conversion->n_candidates; i++) {
        if (n_columns + all[i].n_columns > FEATURE_COLUMNS_MAX) continue;
        n_columns += all[i].n_columns;
        all[kept++] = all[i];
    }
    conversion->n_candidates = kept;
    qsort(all, kept, sizeof all[0], by_place);
    return n_columns;
}

/* ---- the columns themselves ------------------------------------------------------------------ */

static void fill(struct conversion *conversion, const struct candidate *candidate, size_t k) {
    const struct source *source = candidate->source;
    if (!source->is_number) {
        fill_known(conversion, source);
        for (size_t i = 0; i < candidate->n_tokens; i++)
            conversion->values[source->tokens[candidate->from + i].item] = 1;
        return;
    }
    fill_numbers(conversion, source);
    for (uint64_t i = 0; i < conversion->n_items; i++) {
        double *value = &conversion->values[i];
        if (isnan(*value)) continue;
        *value = candidate->n_columns == 1 ? *value > source->low : bump(source, k, *value);
    }
}

/* To mean 0 over the items that have a value, and variance 1 over all. @return false when it is
 * constant */
static bool standardise(double *values, uint64_t n) {
    double sum = 0, squares = 0, n_known = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (isnan(values[i])) continue;
        sum += values[i];
        n_known++;
    }
    for (uint64_t i = 0; i < n; i++) {
        values[i] = isnan(values[i]) ? 0 : values[i] - sum / n_known;
        squares += values[i] * values[i];
    }
    double variance = squares / (double)n;
    if (!(variance > LEAST_VARIANCE)) return false;
    for (uint64_t i = 0; i < n; i++) values[i] /= sqrt(variance);
    return true;
}

/* Fills the columns one after the other. @return how many there are: those that turn out to be
 * constant are left out */
static size_t build(struct conversion *conversion, double *features, size_t stride) {
    size_t n = 0;
    for (size_t c = 0; c < conversion->n_candidates; c++) {
        const struct candidate *candidate = &conversion->candidates[c];
        for (size_t k = 0; k < candidate->n_columns; k++) {
            fill(conversion, candidate, k);
            if (!standardise(conversion->values, conversion->n_items)) continue;
            for (uint64_t i = 0; i < conversion->n_items; i++)
                features[i * stride + n] = conversion->values[i];
            n++;
        }
    }
    for (uint64_t i = 1; n < stride && i < conversion->n_items; i++)
        memmove(features + i * n, features + i * stride, n * sizeof features[0]);
    return n;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* A column of which nothing comes out was hardly meant so. */
static void warn_of_nothing(const struct conversion *conversion, size_t column) {
    const struct dpmf_run *run = conversion->table->run;
    char text[800];
    if (!run || !run->warn) return;
    snprintf(text, sizeof text, "%.300s: nothing of column %zu is used: %s",
             conversion->table->file, column + 1,
             conversion->sources[column].is_number
                 ? "its numbers are all the same, or of too few"
                 : "each of its categories is of fewer than 3 or 0.3 %, or of all");
    run->warn(run->warn_self, text);
}

static int survey(struct conversion *conversion, struct dpmf_error *error) {
    int code = 0;
    for (size_t i = 0; i < conversion->table->n_columns && code == 0; i++) {
        struct source *source = &conversion->sources[i];
        source->cells = &conversion->table->columns[i];
        code = find_kind(conversion, source, error);
        if (code < 0) break;
        const size_t before = conversion->n_candidates;
        code = source->is_number ? propose_number(conversion, source, error)
                                 : propose_categories(conversion, source, error);
        if (code == 0 && source->cells->n > 0 && conversion->n_candidates == before)
            warn_of_nothing(conversion, i);
    }
    return code;
}

/* Ends the gathering: `number` is negative if it failed. No ids are left for none. */
static int end_gathering(struct id_gather *gather, int64_t number, struct factor_ids *ids,
                         struct dpmf_error *error) {
    int code = (int)(number < 0 ? number : 0);
    if (number >= 0 && gather->ids.n > 0) code = id_gather_finish(gather, ids, error);
    id_gather_free(gather);
    return code;
}

/* The texts of the columns, for a look at whether they are people. */
static int gather_categories(const struct conversion *conversion, struct catalogue *catalogue,
                             struct dpmf_error *error) {
    struct id_gather gather = {0};
    int64_t number = 0;
    factor_ids_free(&catalogue->categories);
    for (size_t i = 0; i < conversion->n_candidates && number >= 0; i++) {
        const struct candidate *candidate = &conversion->candidates[i];
        if (candidate->source->is_number) continue;
        const struct token *token = &candidate->source->tokens[candidate->from];
        number = id_gather_add(&gather, token->text, token->length, error);
    }
    return end_gathering(&gather, number, &catalogue->categories, error);
}

/* A whole number as the text that ids have: 17 of "17.0", too. @return its length; 0: it is none */
static size_t whole_number_text(const struct conversion *conversion,
                                const struct feature_cell *cell, char text[24]) {
    double value = NAN;
    parse(conversion, cell, &value);
    assert(isfinite(value)); /* find_kind looked at all of the column */
    if (value < 0 || value >= 0x1p53 || value != floor(value)) return 0;
    return number_format_int64((int64_t)value, text);
}

/* The whole numbers, for the same look. */
static int gather_numbers(const struct conversion *conversion, struct catalogue *catalogue,
                          struct dpmf_error *error) {
    struct id_gather gather = {0};
    char text[24];
    int64_t number = 0;
    factor_ids_free(&catalogue->numbers);
    for (size_t i = 0; i < conversion->table->n_columns && number >= 0; i++) {
        const struct source *source = &conversion->sources[i];
        for (size_t j = 0; source->is_number && j < source->cells->n && number >= 0; j++) {
            const size_t n = whole_number_text(conversion, &source->cells->at[j], text);
            if (n > 0) number = id_gather_add(&gather, text, n, error);
        }
    }
    return end_gathering(&gather, number, &catalogue->numbers, error);
}

static int make_features(struct conversion *conversion, struct catalogue *catalogue,
                         struct dpmf_error *error) {
    double *features = NULL;
    size_t n = choose(conversion);
    if (n > 0) {
        features = memory_alloc((size_t)conversion->n_items, n * sizeof features[0]);
        if (!features) return error_no_memory(error);
        n = build(conversion, features, n);
    }
    if (n > 0) {
        int code = gather_categories(conversion, catalogue, error);
        if (code == 0) code = gather_numbers(conversion, catalogue, error);
        if (code < 0) {
            free(features);
            return code;
        }
    }
    if (n == 0) {
        free(features);
        error_set(error, DPMF_ERR_INPUT_COLUMNS, "no column distinguishes items");
        error_hint(error, "besides the item, give numbers or categories that at least 3 items and "
                          "0.3 %% of the catalogue have, and not all of them");
        error_place(error, conversion->table->file, 0, 0);
        return DPMF_ERR_INPUT_COLUMNS;
    }
    free(catalogue->features);
    catalogue->features = features;
    catalogue->n_features = n;
    return 0;
}

int feature_table_convert(const struct feature_table *table, struct catalogue *catalogue,
                          struct dpmf_error *error) {
    size_t n = (size_t)catalogue->ids.n;
    struct conversion conversion = {.table = table, .n_items = n};
    conversion.sources = memory_alloc_zero(table->n_columns, sizeof conversion.sources[0]);
    conversion.values = memory_alloc(n, sizeof(double));
    conversion.sorted = memory_alloc(n, sizeof(double));
    int code = conversion.sources && conversion.values && conversion.sorted
                   ? survey(&conversion, error)
                   : error_no_memory(error);
    if (code == 0) code = make_features(&conversion, catalogue, error);
    for (size_t i = 0; conversion.sources && i < table->n_columns; i++)
        free(conversion.sources[i].tokens);
    free(conversion.sources);
    free(conversion.candidates);
    free(conversion.values);
    free(conversion.sorted);
    return code;
}
