/*
 * Ratings, or events, in columns: CSV with comma or semicolon, TSV, MovieLens `::` and u.data,
 * LIBMF triples, RecBole `.inter`. They differ in what separates columns, in whether there is a
 * header and in what an id may be; all of that is in a struct delimited, settled here before the
 * first chunk is parsed. Where it is settled by a record and not by a header or the options, the
 * layout of the source says that it was guessed. Fed by text_source.c and delimited_header.c; the
 * rows are read by delimited_rows.c.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ratings/delimited_header.h"
#include "ratings/field_text.h"

/* `layout` is already what the format itself says. A header that names the columns declares all,
 * its separator included. */
static int settle_layout(struct text_source *source, struct delimited *layout,
                         enum delimited_header header, const struct dpmf_input_options *options,
                         struct dpmf_error *error) {
    bool listed = options->columns != NULL, named = false;
    int code = 0;
    layout->by_line = source->skip_bad;
    layout->is_listed = listed;
    if (listed) {
        code = column_list_parse(options->columns, layout->column, &layout->n_columns,
                                 &source->base.layout.holds_events, error);
        if (code == 0 && options->events && !source->base.layout.holds_events)
            code = delimited_refuse_ratings(source, 0, error);
        layout->least_columns = layout->n_columns;
        layout->hint = "every row must have as many columns as {columns}; _ skips one";
    }
    if (code == 0 && (listed || header != HEADER_NEVER))
        code = delimited_look(source, layout, header, options, &named, error);
    bool is_fixed = source->format != &format_csv || options->separator != 0;
    if (named)
        source->base.layout.origin = STORE_ORIGIN_DECLARED;
    else if (!is_fixed || !(listed || header == HEADER_NEVER))
        source->base.layout.origin = STORE_ORIGIN_GUESSED;
    return code;
}

/* For the store to keep. */
static void record_layout(const struct delimited *layout, struct store_layout *kept) {
    kept->separator = layout->separator;
    kept->n_columns = (uint16_t)layout->n_columns;
    for (int i = 0; i < COLUMN_ROLES; i++) kept->column[i] = (uint16_t)(layout->column[i] + 1);
}

static int begin_with(struct text_source *source, struct delimited layout,
                      enum delimited_header header, const struct dpmf_input_options *options,
                      struct dpmf_error *error) {
    int code = settle_layout(source, &layout, header, options, error);
    if (code != 0) return code;
    struct delimited *state = memory_alloc(1, sizeof *state);
    if (state == NULL) return error_no_memory(error);
    *state = layout;
    source->state = state;
    source->has_quotes = layout.kind == ROW_QUOTED;
    source->quote_separator = source->has_quotes && !layout.by_line ? layout.separator : 0;
    record_layout(&layout, &source->base.layout);
    return 0;
}

/* The separator is declared; else comma or semicolon, whichever the first row has more of. */
static int begin_csv(struct text_source *source, const struct dpmf_input_options *options,
                     struct dpmf_error *error) {
    struct first_line line;
    bool any = format_first_line(source->carry + source->carry_at,
                                 source->carry_n - source->carry_at, source->stream_end, &line);
    char guessed = any && line.semicolons > line.commas ? ';' : ',';
    char separator = options->separator != 0 ? options->separator : guessed;
    struct delimited layout = {.kind = ROW_QUOTED, .separator = separator};
    return begin_with(source, layout, HEADER_MAYBE, options, error);
}

static int begin_tsv(struct text_source *source, const struct dpmf_input_options *options,
                     struct dpmf_error *error) {
    struct delimited layout = {.kind = ROW_QUOTED, .separator = '\t'};
    return begin_with(source, layout, HEADER_MAYBE, options, error);
}

static int begin_movielens(struct text_source *source, const struct dpmf_input_options *options,
                           struct dpmf_error *error) {
    struct delimited layout = {.kind = ROW_DOUBLE_COLON};
    delimited_set_columns(&layout, 4);
    layout.least_columns = 3; /* each row by itself: no row says how many the others have */
    return begin_with(source, layout, HEADER_NEVER, options, error);
}

static int begin_u_data(struct text_source *source, const struct dpmf_input_options *options,
                        struct dpmf_error *error) {
    struct delimited layout = {.kind = ROW_SINGLE, .separator = '\t'};
    delimited_set_columns(&layout, 4);
    layout.hint = "expected user, item, rating and timestamp separated by tabs";
    return begin_with(source, layout, HEADER_NEVER, options, error);
}

static int begin_libmf(struct text_source *source, const struct dpmf_input_options *options,
                       struct dpmf_error *error) {
    struct delimited layout = {.kind = ROW_BLANKS, .ids = IDS_WHOLE};
    struct first_line line;
    delimited_set_columns(&layout, 3);
    layout.hint = "expected user, item and rating separated by spaces";
    /* Where bad records are skipped, no record says how many words the others have. */
    if (!source->skip_bad && !options->columns &&
        format_first_line(source->carry + source->carry_at, source->carry_n - source->carry_at,
                          source->stream_end, &line) &&
        line.words == 2) {
        delimited_set_pair(source, &layout);
        source->base.layout.origin = STORE_ORIGIN_GUESSED;
    }
    if (options->events) source->base.layout.holds_events = true;
    return begin_with(source, layout, HEADER_NEVER, options, error);
}

static int begin_inter(struct text_source *source, const struct dpmf_input_options *options,
                       struct dpmf_error *error) {
    struct delimited layout = {.kind = ROW_SINGLE, .separator = '\t'};
    return begin_with(source, layout, HEADER_TYPED, options, error);
}

/* ---- the formats ----------------------------------------------------------------------------- */

static bool sniff_csv(const struct first_line *line) { return line->commas + line->semicolons > 0; }

static bool sniff_tsv(const struct first_line *line) { return line->tabs > 0; }

/* Also ids may hold "::", so the third field must be a number where other separators are about. */
static bool sniff_movielens(const struct first_line *line) {
    if (line->double_colons < 2) return false;
    if (line->commas + line->semicolons + line->tabs == 0) return true;
    const char *end = line->text + line->n, *at = line->text;
    for (int i = 0; i < 2; i++) {
        at = memmem(at, (size_t)(end - at), "::", 2);
        if (at == NULL) return false;
        at += 2;
    }
    const char *stop = memmem(at, (size_t)(end - at), "::", 2);
    double ignored;
    size_t n = (size_t)((stop != NULL ? stop : end) - at);
    return field_rating(at, n, &ignored) == NUMBER_OK;
}

/* Four whole numbers with tabs between them. */
static bool sniff_u_data(const struct first_line *line) {
    if (line->tabs != 3) return false;
    const char *at = line->text, *end = line->text + line->n;
    for (int i = 0; i < 4; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        const char *stop = tab != NULL ? tab : end, *text = at;
        uint32_t n = (uint32_t)(stop - at);
        uint64_t ignored;
        if (!field_whole(&text, &n, &ignored)) return false;
        if (tab != NULL) at = tab + 1;
    }
    return true;
}

/* Two numbers of three, so that one bad field leads to its own error; or of two, a pair. */
static bool sniff_libmf(const struct first_line *line) {
    return (line->words == 3 || line->words == 2) && line->numbers >= 2;
}

static bool sniff_inter(const struct first_line *line) {
    return line->tabs >= 1 && (memmem(line->text, line->n, ":token", 6) != NULL ||
                               memmem(line->text, line->n, ":float", 6) != NULL);
}

const struct text_format format_csv = {
    .name = "csv",
    .description = "columns separated by commas or semicolons, quoted as in RFC 4180",
    .takes_columns = true,
    .has_header = true,
    .sniff = sniff_csv,
    .begin = begin_csv,
    .parse = delimited_parse,
};

const struct text_format format_tsv = {
    .name = "tsv",
    .description = "columns separated by tabs",
    .takes_columns = true,
    .has_header = true,
    .sniff = sniff_tsv,
    .begin = begin_tsv,
    .parse = delimited_parse,
};

const struct text_format format_movielens = {
    .name = "movielens",
    .description = "user::item::rating::timestamp, as in ratings.dat of MovieLens",
    .holds_ratings = true,
    .takes_columns = true,
    .sniff = sniff_movielens,
    .begin = begin_movielens,
    .parse = delimited_parse,
};

const struct text_format format_u_data = {
    .name = "u.data",
    .description = "user, "
                   "item, rating, timestamp separated by tabs, as in u.data of MovieLens 100K",
    .holds_ratings = true,
    .takes_columns = true,
    .sniff = sniff_u_data,
    .begin = begin_u_data,
    .parse = delimited_parse,
};

const struct text_format format_libmf = {
    .name = "libmf",
    .description = "user item rating separated by spaces, ids whole numbers, as in LIBMF",
    .takes_columns = true,
    .sniff = sniff_libmf,
    .begin = begin_libmf,
    .parse = delimited_parse,
};

const struct text_format format_inter = {
    .name = "inter",
    .description = "tabs and a header with types, as in .inter files of RecBole",
    .takes_columns = true,
    .has_header = true,
    .sniff = sniff_inter,
    .begin = begin_inter,
    .parse = delimited_parse,
};
