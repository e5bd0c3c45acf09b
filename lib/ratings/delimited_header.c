/*
 * What the first rows of text with separators say: how many columns there are, whether there is a
 * header, and which column it makes the user, the item, the rating and the time. Fed by
 * format_delimited.c with a source of which nothing was parsed yet; fills in the struct delimited,
 * and skips the header.
 */
#define _GNU_SOURCE
#include "ratings/delimited_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "ratings/field_text.h"

static const char default_hint[] =
    "expected user,item,rating[,timestamp]; name other orders with {columns}";

/* ---- a look at the first rows ---------------------------------------------------------------- */

/* A copy of the whole rows at the beginning of the text, to be split freely. */
struct preview {
    char *bytes;
    size_t n;
};

static size_t whole_rows(const struct text_source *source, const struct delimited *layout) {
    const char *text = source->carry + source->carry_at;
    size_t n = source->carry_n - source->carry_at, open = n, whole;
    if (n == 0) return 0;
    if (layout->kind == ROW_QUOTED && !layout->by_line) {
        whole = text_cut_quoted(text, n, layout->separator, &open);
    } else {
        const char *newline = memrchr(text, '\n', n);
        whole = newline != NULL ? (size_t)(newline - text) + 1 : 0;
    }
    return source->stream_end && open == n ? n : whole;
}

static int preview_init(struct text_source *source, const struct delimited *layout,
                        struct preview *preview, struct dpmf_error *error) {
    size_t n = whole_rows(source, layout);
    if (n == 0) {
        int code = text_source_window(source, source->record_max + 1, error);
        if (code != 0) return code;
        n = whole_rows(source, layout);
    }
    preview->bytes = memory_alloc_zero(n + 1 + ROW_SLACK, 1);
    if (preview->bytes == NULL) return error_no_memory(error);
    if (n > 0) memcpy(preview->bytes, source->carry + source->carry_at, n);
    preview->n = n;
    if (n > 0 && preview->bytes[n - 1] != '\n') preview->bytes[preview->n++] = '\n';
    preview->bytes[preview->n] = '"';
    return 0;
}

/* The next row that is not blank, from *at on. @return false when there is none */
static bool preview_next(const struct preview *preview, const struct delimited *layout, size_t *at,
                         int64_t *lines, struct row *row) {
    char *end = preview->bytes + preview->n;
    while (*at < preview->n) {
        row->fault = ROW_SOUND;
        row->newlines = 0;
        char *begin = preview->bytes + *at;
        char *next =
            layout->kind == ROW_QUOTED && layout->by_line
                ? row_split_quoted_line(begin, end, layout->separator, ROW_COLUMNS_MAX, row)
                : row_split(layout->kind, begin, end, layout->separator, ROW_COLUMNS_MAX, row);
        *at = (size_t)(next - preview->bytes);
        *lines += 1 + (int64_t)row->newlines;
        if (row->fault != ROW_SOUND || !row_is_blank(row)) return true;
    }
    return false;
}

/* ---- headers --------------------------------------------------------------------------------- */

/* The name in a header's field: without blanks around it and, in `.inter`, without its type. */
static size_t name_of(const struct row *row, uint32_t i, bool typed, const char **name) {
    *name = row->start[i];
    size_t n = (size_t)(row->stop[i] - row->start[i]);
    const char *colon = typed && n > 0 ? memchr(*name, ':', n) : NULL;
    return colon != NULL ? (size_t)(colon - *name) : n;
}

/* What `.inter` declares a column to be, behind its name and a colon. */
enum declared_type { TYPE_TEXT, TYPE_FLOAT, TYPE_OTHER };

static enum declared_type type_of(const struct row *row, uint32_t i) {
    const char *name, *end = row->stop[i];
    const size_t n = name_of(row, i, true, &name);
    const char *type = name + n;
    while (end > type && end[-1] == ' ') end--;
    if (type == end) return TYPE_TEXT;
    const size_t length = (size_t)(end - ++type);
    if (length == 5 && strncasecmp(type, "token", 5) == 0) return TYPE_TEXT;
    return length == 5 && strncasecmp(type, "float", 5) == 0 ? TYPE_FLOAT : TYPE_OTHER;
}

static uint32_t kept_columns(const struct row *row) {
    return row->n < ROW_COLUMNS_MAX ? row->n : ROW_COLUMNS_MAX;
}

/* Which columns have which roles, by the names in a header. */
static void find_roles(const struct row *row, bool typed, struct columns_found *found) {
    columns_found_begin(found);
    for (uint32_t i = 0; i < kept_columns(row); i++) {
        const char *name;
        size_t n = name_of(row, i, typed, &name);
        columns_found_add(found, name, n, i);
    }
}

static bool has_number(const struct row *row) {
    for (uint32_t i = 0; i < kept_columns(row); i++) {
        double ignored;
        size_t n = (size_t)(row->stop[i] - row->start[i]);
        if (field_rating(row->start[i], n, &ignored) != NUMBER_MALFORMED) return true;
    }
    return false;
}

/* @return whether the row names the user and the item, and the rating or the count; without these
 * it must hold no number, as records may */
static bool names_all(const struct row *row) {
    struct columns_found found;
    find_roles(row, true, &found);
    if (found.column[COLUMN_USER] < 0 || found.column[COLUMN_ITEM] < 0) return false;
    return found.column[COLUMN_RATING] >= 0 || found.column[COLUMN_COUNT] >= 0 || !has_number(row);
}

/* A header names all that is needed, or at least has a word for the rating and no number anywhere:
 * a first row like 1,10,abc is no header but a bad record, and says so. */
static bool is_header(const struct row *row, int32_t rating_column) {
    if (row->fault != ROW_SOUND) return false;
    struct columns_found found;
    find_roles(row, true, &found);
    bool some = false;
    for (int i = COLUMN_USER; i <= COLUMN_RATING; i++) some = some || found.column[i] >= 0;
    if (names_all(row)) return true;
    if (has_number(row)) return false;
    if ((int64_t)row->n <= rating_column) return some;
    return row->stop[rating_column] > row->start[rating_column];
}

/* "userId, movieId, stars": the beginning of a header, for an error. */
static void list_names(const struct row *row, char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < kept_columns(row) && length < size; i++) {
        char shown[FIELD_SHOWN_MAX];
        field_show(shown, row->start[i], (size_t)(row->stop[i] - row->start[i]));
        if (length + strlen(shown) + 8 > size) {
            snprintf(out + length, size - length, ", ...");
            return;
        }
        length += (size_t)snprintf(out + length, size - length, "%s%s", i > 0 ? ", " : "", shown);
    }
}

static void list_missing(const int32_t column[COLUMN_ROLES], char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (int i = COLUMN_USER; i <= COLUMN_RATING; i++)
        if (column[i] < 0)
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       column_role_name((enum column_role)i));
}

/* In a private run, where the line may be one person's record: none of its words is repeated. */
static int refuse_words(const struct text_source *source, const struct delimited *layout,
                        struct dpmf_error *error) {
    char missing[40];
    list_missing(layout->column, missing, sizeof missing);
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "the first line does not name the %s: it is a header in words that are not known "
              "here, or someone's record",
              missing);
    if (layout->kind == ROW_QUOTED && layout->separator != '\t')
        error_hint(error,
                   "name the columns in it, such as user,item,rating, or declare the format (csv), "
                   "the separator (%c) and the columns, e.g. {columns user,item,rating}",
                   layout->separator);
    else
        error_hint(error,
                   "name the columns in it, or declare the format (%s) and the columns, e.g. "
                   "{columns user,item,rating}",
                   source->format->name);
    error_place(error, source->name, 0, 0);
    return DPMF_ERR_PRIVACY_REFUSED;
}

static int refuse_header(const struct text_source *source, const struct row *row, int64_t line,
                         const int32_t column[COLUMN_ROLES], struct dpmf_error *error) {
    char names[240], missing[40];
    list_names(row, names, sizeof names);
    list_missing(column, missing, sizeof missing);
    error_set(error, DPMF_ERR_INPUT_HEADER, "the header lacks %s; it has %s", missing, names);
    error_hint(error,
               column[COLUMN_USER] >= 0 && column[COLUMN_ITEM] >= 0
                   ? "say what the columns are with {columns}, e.g. {columns user,item,rating}; "
                     "or, if these are events without ratings, {events}"
                   : "say what the columns are with {columns}, e.g. {columns user,item,rating}");
    error_place(error, source->name, line, 1);
    return DPMF_ERR_INPUT_HEADER;
}

static int refuse_ambiguous(const struct text_source *source, const struct row *row, int64_t line,
                            enum column_role role, const int32_t column[COLUMN_NAMED],
                            uint32_t second, bool is_private, struct dpmf_error *error) {
    char names[240];
    list_names(row, names, sizeof names);
    error_set(error, DPMF_ERR_INPUT_HEADER, "columns %d and %u of the header both name the %s%s%s",
              (int)column[role] + 1, (unsigned)second + 1, column_role_name(role),
              is_private ? "" : ": ", is_private ? "" : names);
    error_hint(error, "say which it is with {columns}, e.g. {columns user,item,_,rating}");
    error_place(error, source->name, line, 1);
    return DPMF_ERR_INPUT_HEADER;
}

int delimited_refuse_ratings(const struct text_source *source, int64_t line,
                             struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "these are declared as events, but there is a rating and no count");
    error_hint(error,
               "turn ratings into events with {like any}; or, if it is a count, name it so with "
               "{columns user,item,count}");
    error_place(error, source->name, line, line > 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

/* The types of ids, which `.inter` declares: in texts that stand for floats, 1 and 1.0 are one
 * person. The header's words are not repeated, as the line may be a record. */
static int take_types(struct text_source *source, struct delimited *layout, const struct row *row,
                      int64_t line, struct dpmf_error *error) {
    for (int role = COLUMN_USER; role <= COLUMN_ITEM; role++) {
        const enum declared_type type = type_of(row, (uint32_t)layout->column[role]);
        if (type == TYPE_OTHER) {
            error_set(error, DPMF_ERR_INPUT_HEADER,
                      "the header declares the %s's ids as neither token nor float",
                      column_role_name((enum column_role)role));
            error_hint(error, "declare texts as token, and whole numbers as token or float");
            error_place(error, source->name, line, 1);
            return DPMF_ERR_INPUT_HEADER;
        }
        layout->is_float[role] = type == TYPE_FLOAT;
        if (type == TYPE_FLOAT) layout->ids = IDS_FLOATS;
    }
    if (layout->is_float[COLUMN_USER])
        source->base.layout.formats =
            store_layout_format_of_ids(source->format->name, STORE_IDS_WHOLE);
    return 0;
}

static int take_header(struct text_source *source, struct delimited *layout, const struct row *row,
                       int64_t line, bool typed, const struct dpmf_input_options *options,
                       struct dpmf_error *error) {
    if (row->n > ROW_COLUMNS_MAX) {
        error_set(error, DPMF_ERR_INPUT_HEADER, "the header has %u columns, more than %d",
                  (unsigned)row->n, (int)ROW_COLUMNS_MAX);
        error_place(error, source->name, line, 1);
        return DPMF_ERR_INPUT_HEADER;
    }
    struct columns_found found;
    find_roles(row, typed, &found);
    enum column_role twice = columns_found_twice(&found, options->events);
    enum columns_kind kind = columns_found_settle(&found, options->events, layout->column);
    if (twice != COLUMN_OTHER)
        return refuse_ambiguous(source, row, line, twice, found.column,
                                (uint32_t)found.second[twice], options->by_record, error);
    if (kind == COLUMNS_LACKING && options->by_record) return refuse_words(source, layout, error);
    if (kind == COLUMNS_LACKING) return refuse_header(source, row, line, layout->column, error);
    if (kind == COLUMNS_CONFLICT) return delimited_refuse_ratings(source, line, error);
    source->base.layout.holds_events = kind == COLUMNS_EVENTS;
    for (uint32_t i = 0; i < kept_columns(row) && !options->by_record; i++) {
        const char *name;
        const size_t n = name_of(row, i, typed, &name);
        source_note_unused(&source->base, name, n, i, layout->column);
    }
    layout->n_columns = layout->least_columns = row->n;
    layout->hint = "every row must have as many columns as the header";
    return typed ? take_types(source, layout, row, line, error) : 0;
}

/* ---- what the first rows say ----------------------------------------------------------------- */

void delimited_set_columns(struct delimited *layout, uint32_t n) {
    layout->n_columns = layout->least_columns = n;
    for (int i = 0; i < COLUMN_ROLES; i++) layout->column[i] = i < (int)n ? i : -1;
    layout->hint = default_hint;
}

void delimited_set_pair(struct text_source *source, struct delimited *layout) {
    delimited_set_columns(layout, 2);
    layout->hint = "expected user,item; name other orders with {columns}";
    source->base.layout.holds_events = true;
}

/* Three columns or four, as the first row that has so many; two, of events, where no row in sight
 * has and the first has two. */
static void count_columns(struct text_source *source, const struct preview *preview,
                          struct delimited *layout) {
    struct row row;
    size_t at = 0;
    int64_t lines = 0;
    bool is_first = true, is_pair = false;
    delimited_set_columns(layout, 3);
    while (preview_next(preview, layout, &at, &lines, &row)) {
        if (is_first) is_pair = row.fault == ROW_SOUND && row.n == 2;
        is_first = false;
        if (row.fault != ROW_SOUND || row.n < 3 || row.n > 4) continue;
        delimited_set_columns(layout, row.n);
        return;
    }
    if (is_pair) delimited_set_pair(source, layout);
}

/* Whether a row that a comma would cut into a user and an item may be one of other separators, with
 * a rating such as 4,5. */
static bool has_decimal_comma(const char *text, size_t n) {
    const char *newline = memchr(text, '\n', n);
    if (newline != NULL) n = (size_t)(newline - text);
    const char *comma = memchr(text, ',', n), *end = text + n;
    if (comma == NULL || comma == text || comma + 1 == end) return false;
    if (memchr(comma + 1, ',', (size_t)(end - comma) - 1) != NULL) return false;
    const bool is_between_digits =
        comma[-1] >= '0' && comma[-1] <= '9' && comma[1] >= '0' && comma[1] <= '9';
    const size_t before = (size_t)(comma - text);
    return is_between_digits &&
           (memmem(text, before, "::", 2) != NULL || memchr(text, '|', before) != NULL ||
            memchr(text, ';', before) != NULL || memchr(text, ' ', before) != NULL);
}

static int check_pair(const struct text_source *source, const struct delimited *layout,
                      const struct dpmf_input_options *options, struct dpmf_error *error) {
    const char *text = source->carry + source->carry_at;
    size_t n = source->carry_n - source->carry_at;
    const bool is_guessed = format_is_auto(options) && options->separator == 0 &&
                            !options->columns && !options->events && !options->by_record;
    if (!is_guessed || source->base.layout.has_header || layout->n_columns != 2 ||
        layout->separator != ',')
        return 0;
    while (n > 0 && (*text == '\n' || *text == '\r' || *text == ' ')) text++, n--;
    if (!has_decimal_comma(text, n)) return 0;
    error_set(
        error, DPMF_ERR_INPUT_UNKNOWN_FORMAT,
        "the comma in the first line may be that of a decimal number: these may be ratings in "
        "columns of another separator, or events");
    error_hint(error, "write decimals with a point, as in 4.5; or say what it is with {format csv} "
                      "and {columns user,item}");
    error_place(error, source->name, 1, 1);
    return DPMF_ERR_INPUT_UNKNOWN_FORMAT;
}

/* Without a header, a third column of events can be a count or a time: nothing but its values would
 * tell. */
static int settle_nameless(struct text_source *source, const struct delimited *layout,
                           struct dpmf_error *error) {
    if (layout->n_columns == 2) return 0;
    error_set(error, DPMF_ERR_INPUT_HEADER,
              "there is no header, and the third column may be a count or a time");
    error_hint(error, "say which with {columns user,item,count} or {columns user,item,timestamp}");
    error_place(error, source->name, 1, 1);
    return DPMF_ERR_INPUT_HEADER;
}

/* Where the columns are declared, only a row that would be dropped as a record can be a header: so
 * it does not matter whether a record is the first. */
static bool is_passed_over(const struct row *row, const struct delimited *layout) {
    double ignored;
    if (layout->column[COLUMN_RATING] < 0) {
        if (row->fault != ROW_SOUND) return false;
        return row->n == layout->n_columns ? delimited_names_pair(layout, row) : names_all(row);
    }
    uint32_t rating = (uint32_t)layout->column[COLUMN_RATING];
    if (!is_header(row, (int32_t)rating)) return false;
    return row->n != layout->n_columns ||
           field_rating(row->start[rating], (size_t)(row->stop[rating] - row->start[rating]),
                        &ignored) != NUMBER_OK;
}

/* Names that are not known, above rows with numbers: as an event it would be one that nobody
 * caused. Where bad records are skipped no row is compared with others. */
static int check_first_pair(const struct text_source *source, const struct preview *preview,
                            const struct delimited *layout, struct dpmf_error *error) {
    struct row first, second;
    size_t at = 0;
    int64_t lines = 0;
    char names[240];
    if (layout->column[COLUMN_RATING] >= 0 || source->skip_bad ||
        !preview_next(preview, layout, &at, &lines, &first) || has_number(&first))
        return 0;
    list_names(&first, names, sizeof names);
    int64_t line = source->lines_before + lines - (int64_t)first.newlines;
    if (!preview_next(preview, layout, &at, &lines, &second) || !has_number(&second)) return 0;
    error_set(error, DPMF_ERR_INPUT_HEADER,
              "this looks like a header, but names no user and item: "
              "%s",
              names);
    error_hint(error, "name the columns user and item, or remove the line");
    error_place(error, source->name, line, 1);
    return DPMF_ERR_INPUT_HEADER;
}

/* Whether a row names a column by another role than it was declared to have: of two exchanged
 * columns everyone would be a user who is an item. Or, in `.inter`, declares ids as floats, which
 * are texts where the columns are listed: there no row says what others hold. */
static bool contradicts(const struct row *row, const struct delimited *layout, bool typed) {
    for (int role = 0; role < COLUMN_ROLES; role++) {
        const int32_t at = layout->column[role];
        if (at < 0 || (uint32_t)at >= kept_columns(row)) continue;
        const char *name;
        const size_t n = name_of(row, (uint32_t)at, true, &name);
        enum column_role named = column_role_of(name, n);
        if (named == COLUMN_COUNT) named = COLUMN_RATING;
        if (named != COLUMN_OTHER && named != (enum column_role)role) return true;
        if (typed && role <= COLUMN_ITEM && type_of(row, (uint32_t)at) != TYPE_TEXT) return true;
    }
    return false;
}

/* ---- headers of other tables ----------------------------------------------------------------- */

/* Remembers the names in a header, and their order with the types that they declare. Case, `_`, `-`
 * and blanks do not count. */
static void sum_names(const struct row *row, uint64_t *names, uint64_t *order) {
    char reduced[64];
    *names = *order = 0;
    for (uint32_t i = 0; i < kept_columns(row); i++) {
        const char *name;
        size_t n = name_of(row, i, true, &name), length = 0;
        for (size_t j = 0; j < n && length < sizeof reduced; j++)
            if (name[j] != '_' && name[j] != '-' && name[j] != ' ')
                reduced[length++] =
                    name[j] >= 'A' && name[j] <= 'Z' ? (char)(name[j] - 'A' + 'a') : name[j];
        *names += checksum64(reduced, length);
        *order += checksum64_seeded(reduced, length, 4 * (i + 1) + type_of(row, i));
    }
}

/* Whether a column that was settled to have a role has another in a row of names, or that role is
 * another column's there. */
static bool is_elsewhere(const struct row *row, int32_t at, enum column_role role,
                         const struct columns_found *found) {
    if (at < 0 || (uint32_t)at >= kept_columns(row)) return false;
    const char *name;
    const size_t n = name_of(row, (uint32_t)at, true, &name);
    const enum column_role named = column_role_of(name, n);
    return named == COLUMN_OTHER ? found->column[role] >= 0 : named != role;
}

bool delimited_names_otherwise(const struct delimited *layout, const struct row *row, bool counts) {
    static const char banner[] = "%%MatrixMarket";
    struct columns_found found;
    uint64_t names, order;
    if (row->fault != ROW_SOUND || row->n == 0 || row->n > ROW_COLUMNS_MAX) return false;
    if (layout->ids == IDS_MATRIX)
        return (size_t)(row->stop[0] - row->start[0]) == sizeof banner - 1 &&
               memcmp(row->start[0], banner, sizeof banner - 1) == 0;
    sum_names(row, &names, &order);
    if (names == layout->names) return order != layout->order;
    find_roles(row, true, &found);
    if (!names_all(row)) return false;
    if (row->n < layout->least_columns || row->n > layout->n_columns) return true;
    return is_elsewhere(row, layout->column[COLUMN_USER], COLUMN_USER, &found) ||
           is_elsewhere(row, layout->column[COLUMN_ITEM], COLUMN_ITEM, &found) ||
           is_elsewhere(row, layout->column[COLUMN_RATING], counts ? COLUMN_COUNT : COLUMN_RATING,
                        &found) ||
           is_elsewhere(row, layout->column[COLUMN_TIME], COLUMN_TIME, &found);
}

/* Where bad records are dropped, a header that cannot be read would be taken for one of them, and
 * its columns for those of a file without a header. A private run refuses any guess, in its own
 * words. */
static int refuse_unreadable(const struct text_source *source, int64_t line,
                             struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_HEADER,
              "the first line cannot be read, so that nobody knows whether it names the columns");
    error_hint(error, "write its quotes as CSV does, or say what the columns are with {columns}, "
                      "e.g. {columns user,item,rating}");
    error_place(error, source->name, line, 1);
    return DPMF_ERR_INPUT_HEADER;
}

/* Skips a header, if there is one. `named`: whether it names the user, the item and the
 * rating. */
static int read_header(struct text_source *source, struct delimited *layout,
                       const struct preview *preview, enum delimited_header header,
                       const struct dpmf_input_options *options, bool *named,
                       struct dpmf_error *error) {
    struct row row;
    size_t at = 0;
    int64_t lines = 0;
    *named = false;
    bool typed = header == HEADER_TYPED, listed = options->columns != NULL;
    bool must_be_read = source->skip_bad && !listed && !options->by_record;
    if (!preview_next(preview, layout, &at, &lines, &row)) {
        const bool is_too_long = source->carry_n - source->carry_at > source->record_max;
        return must_be_read && is_too_long ? refuse_unreadable(source, 1, error) : 0;
    }
    if (must_be_read && row.fault != ROW_SOUND)
        return refuse_unreadable(source, source->lines_before + lines - (int64_t)row.newlines,
                                 error);
    bool is_there = listed ? is_passed_over(&row, layout) : typed || is_header(&row, 2);
    if (!is_there && !listed && options->events) {
        int code = settle_nameless(source, layout, error);
        if (code != 0) return code;
    }
    if (!is_there) {
        /* It stays an event like any other, which decides nothing; the curator is asked. */
        source->base.contradicts = listed && layout->column[COLUMN_RATING] < 0 &&
                                   row.fault == ROW_SOUND && row.n == layout->n_columns &&
                                   !has_number(&row) && contradicts(&row, layout, typed);
        return 0;
    }
    int64_t line = source->lines_before + lines - (int64_t)row.newlines;
    if (!listed) {
        int code = take_header(source, layout, &row, line, typed, options, error);
        if (code != 0) return code;
    }
    *named = names_all(&row);
    source->base.contradicts = listed && contradicts(&row, layout, typed);
    source->base.layout.has_header = true;
    sum_names(&row, &layout->names, &layout->order);
    size_t have = source->carry_n - source->carry_at;
    text_source_pass(source, at < have ? at : have, lines);
    return 0;
}

int delimited_look(struct text_source *source, struct delimited *layout,
                   enum delimited_header header, const struct dpmf_input_options *options,
                   bool *named, struct dpmf_error *error) {
    struct preview preview = {NULL, 0};
    int code = 0;
    if (layout->n_columns == 0) {
        code = preview_init(source, layout, &preview, error);
        if (code == 0) count_columns(source, &preview, layout);
        free(preview.bytes); /* splitting took quotes out of it */
        preview.bytes = NULL;
    }
    if (code == 0) code = preview_init(source, layout, &preview, error);
    if (code == 0) code = read_header(source, layout, &preview, header, options, named, error);
    free(preview.bytes);
    preview.bytes = NULL;
    if (code == 0) code = check_pair(source, layout, options, error);
    if (code == 0 && !source->base.layout.has_header && layout->column[COLUMN_RATING] < 0) {
        code = preview_init(source, layout, &preview, error);
        if (code == 0) code = check_first_pair(source, &preview, layout, error);
        free(preview.bytes);
    }
    return code;
}
