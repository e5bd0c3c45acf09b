/*
 * Ratings, or events, in columns: CSV with comma or semicolon, TSV, MovieLens `::` and u.data,
 * LIBMF triples, RecBole `.inter`. They differ in what separates columns, in whether there is a
 * header and in what an id may be; all of that is in a struct delimited, settled before the first
 * chunk is parsed. Where it is settled by a record and not by a header or the options, the layout
 * of the source says that it was guessed. Fed by text_source.c; feeds the record batch.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ratings/delimited.h"
#include "ratings/field_text.h"

static const char default_hint[] =
    "expected user,item,rating[,timestamp]; name other orders with {columns}";

/* ---- rows to records ------------------------------------------------------------------------- */

/* One row being read: `line` is that of its beginning. */
struct reading {
    const struct delimited *layout;
    struct record_batch *batch;
    const struct row *row;
    const char *begin;
    int64_t line;
    bool has_nul;
};

struct place {
    int64_t line, column;
};

static inline struct place place_of(const struct reading *reading, uint32_t i, enum row_kind kind) {
    const struct row *row = reading->row;
    if (kind != ROW_QUOTED)
        return (struct place){reading->line, row->start[i] - reading->begin + 1};
    return (struct place){reading->line + row->line[i], row->column[i]};
}

static bool reject_quote(const struct reading *reading) {
    const struct row *row = reading->row;
    static const char *const message[] = {
        [ROW_QUOTE_OPEN] = "the quote that opens here is never closed",
        [ROW_QUOTE_TAIL] = "there is text after a closing quote",
        [ROW_QUOTE_INSIDE] = "there is a quote inside a field that does not begin with one",
    };
    return record_batch_reject(
        reading->batch, DPMF_ERR_INPUT_QUOTE, reading->line + row->fault_line, row->fault_column,
        "put the whole field in quotes and double the quotes inside it", "%s", message[row->fault]);
}

/* @return whether there is nothing in the row but blanks */
static bool is_blank_row(const struct row *row) {
    if (row->n != 1) return row->n == 0;
    for (const char *at = row->start[0]; at < row->stop[0]; at++)
        if (*at != ' ' && *at != '\t') return false;
    return true;
}

/* A row with a number of columns that is not the right one. */
static bool reject_shape(const struct reading *reading, const char *next, enum row_kind kind) {
    const struct row *row = reading->row;
    const struct delimited *layout = reading->layout;
    struct place place = {reading->line, next - reading->begin};
    if (row->n > layout->n_columns)
        place = place_of(reading, layout->n_columns, kind);
    else if (kind == ROW_QUOTED)
        place = (struct place){reading->line + row->newlines, row->end_column};
    char or_fewer[16] = "";
    if (layout->least_columns < layout->n_columns)
        snprintf(or_fewer, sizeof or_fewer, "%u or ", (unsigned)layout->least_columns);
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_COLUMNS, place.line, place.column,
                               layout->hint, "the row has %u column%s instead of %s%u",
                               (unsigned)row->n, row->n == 1 ? "" : "s", or_fewer,
                               (unsigned)layout->n_columns);
}

static bool reject_whole(const struct reading *reading, const char *whose, uint32_t i) {
    const struct row *row = reading->row;
    struct place place = place_of(reading, i, ROW_BLANKS);
    char shown[FIELD_SHOWN_MAX];
    field_show(shown, row->start[i], (size_t)(row->stop[i] - row->start[i]));
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_ID, place.line, place.column, NULL,
                               "%s id \"%s\" is not a whole number from 0 to 2^63-1", whose, shown);
}

static bool reject_matrix_index(const struct reading *reading, const char *what, uint32_t i,
                                uint64_t max) {
    const struct row *row = reading->row;
    struct place place = place_of(reading, i, ROW_BLANKS);
    char shown[FIELD_SHOWN_MAX];
    field_show(shown, row->start[i], (size_t)(row->stop[i] - row->start[i]));
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_ID, place.line, place.column, NULL,
                               "%s \"%s\" is not from 1 to %llu, as the size line has it", what,
                               shown, (unsigned long long)max);
}

/* Ids that must be whole numbers: checked, and made the same text for the same number. @return
 * whether they are good; if not, *go_on is what the batch said */
static bool take_whole_ids(const struct reading *reading, struct record *record, bool *go_on) {
    const struct delimited *layout = reading->layout;
    uint32_t user = (uint32_t)layout->column[COLUMN_USER];
    uint32_t item = (uint32_t)layout->column[COLUMN_ITEM];
    uint64_t user_number = 0, item_number = 0;
    bool user_good = field_whole(&record->user, &record->user_length, &user_number);
    bool item_good = field_whole(&record->item, &record->item_length, &item_number);
    if (layout->ids == IDS_MATRIX) {
        user_good = user_good && user_number - 1 < layout->max_user;
        item_good = item_good && item_number - 1 < layout->max_item;
        if (!user_good)
            *go_on = reject_matrix_index(reading, "row", user, layout->max_user);
        else if (!item_good)
            *go_on = reject_matrix_index(reading, "column", item, layout->max_item);
    } else {
        if (!user_good)
            *go_on = reject_whole(reading, "user", user);
        else if (!item_good)
            *go_on = reject_whole(reading, "item", item);
    }
    return user_good && item_good;
}

/* A record of more than a line: the batch knows of one line only, so it is told which field is
 * which by column numbers, and the real place is put in afterwards. */
static bool add_spanning(const struct reading *reading, const struct record *record,
                         const struct place places[COLUMN_ROLES]) {
    struct record_batch *batch = reading->batch;
    uint64_t rejected = batch->n_rejected;
    bool go_on = record_batch_add(batch, record, reading->line, 1 + COLUMN_USER, 1 + COLUMN_ITEM,
                                  1 + COLUMN_RATING);
    struct dpmf_error *error = NULL;
    if (!go_on && batch->failure.line > 0) error = &batch->failure;
    if (go_on && rejected == 0 && batch->n_rejected > 0) error = &batch->first_rejected;
    if (error != NULL) {
        struct place place = places[error->column - 1];
        error_place(error, NULL, place.line, place.column);
    }
    return go_on;
}

/* A pair of a user and an item has no number that a header would lack: so names of columns are no
 * record, wherever they stand. */
static bool is_pair_of_names(const struct delimited *layout, const struct row *row) {
    uint32_t user = (uint32_t)layout->column[COLUMN_USER];
    uint32_t item = (uint32_t)layout->column[COLUMN_ITEM];
    enum column_role a =
        column_role_of(row->start[user], (size_t)(row->stop[user] - row->start[user]));
    if (a != COLUMN_USER && a != COLUMN_ITEM) return false;
    enum column_role b =
        column_role_of(row->start[item], (size_t)(row->stop[item] - row->start[item]));
    return a == COLUMN_USER ? b == COLUMN_ITEM : b == COLUMN_USER;
}

static bool reject_names(const struct reading *reading, struct place place) {
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_HEADER, place.line, place.column,
                               NULL, "the row names columns, as a header does, and is no event");
}

static inline __attribute__((always_inline)) bool take_row(const struct reading *reading,
                                                           enum row_kind kind) {
    const struct delimited *layout = reading->layout;
    const struct row *row = reading->row;
    struct record_batch *batch = reading->batch;
    uint32_t user = (uint32_t)layout->column[COLUMN_USER];
    uint32_t item = (uint32_t)layout->column[COLUMN_ITEM];
    bool has_value = layout->column[COLUMN_RATING] >= 0;
    uint32_t rating = has_value ? (uint32_t)layout->column[COLUMN_RATING] : user;
    struct record record = {
        .user = row->start[user],
        .item = row->start[item],
        .user_length = (uint32_t)(row->stop[user] - row->start[user]),
        .item_length = (uint32_t)(row->stop[item] - row->start[item]),
        .rating = 1,
        .time = STORE_NO_TIME,
    };
    bool go_on = true;
    if (layout->ids != IDS_TEXT && !take_whole_ids(reading, &record, &go_on)) return go_on;
    struct place user_place = place_of(reading, user, kind);
    struct place item_place = place_of(reading, item, kind);
    struct place rating_place = place_of(reading, rating, kind);
    if (reading->has_nul && memchr(record.user, 0, record.user_length) != NULL)
        return field_reject_nul(batch, "user", user_place.line, user_place.column);
    if (reading->has_nul && memchr(record.item, 0, record.item_length) != NULL)
        return field_reject_nul(batch, "item", item_place.line, item_place.column);

    if (!has_value && layout->ids == IDS_TEXT && is_pair_of_names(layout, row))
        return reject_names(reading, user_place);
    const char *text = row->start[rating];
    size_t length = (size_t)(row->stop[rating] - text);
    if (has_value && !field_rating_quick(text, length, &record.rating) &&
        field_rating(text, length, &record.rating) != NUMBER_OK)
        return field_reject_rating(batch, text, length, rating_place.line, rating_place.column);

    if (layout->column[COLUMN_TIME] >= 0 && (uint32_t)layout->column[COLUMN_TIME] < row->n) {
        uint32_t time = (uint32_t)layout->column[COLUMN_TIME];
        length = (size_t)(row->stop[time] - row->start[time]);
        if (!field_time_quick(row->start[time], length, &record.time) &&
            !field_time(row->start[time], length, &record.time)) {
            struct place place = place_of(reading, time, kind);
            return field_reject_time(batch, row->start[time], length, place.line, place.column);
        }
    }
    if (kind == ROW_QUOTED && row->newlines > 0) {
        const struct place places[COLUMN_ROLES] = {user_place, item_place, rating_place};
        return add_spanning(reading, &record, places);
    }
    return record_batch_add(batch, &record, reading->line, user_place.column, item_place.column,
                            rating_place.column);
}

static inline __attribute__((always_inline)) void parse_rows(const struct delimited *layout,
                                                             struct text_chunk *chunk,
                                                             struct record_batch *batch,
                                                             enum row_kind kind) {
    struct row row;
    struct reading reading = {layout, batch, &row, NULL, 1, chunk->has_nul};
    char *at = chunk->bytes, *end = at + chunk->n;
    bool go_on = true;
    while (at < end && go_on) {
        reading.begin = at;
        at = kind == ROW_QUOTED && layout->by_line
                 ? row_split_quoted_line(at, end, layout->separator, layout->n_columns, &row)
                 : row_split(kind, at, end, layout->separator, layout->n_columns, &row);
        if (kind == ROW_QUOTED && row.fault != ROW_SOUND)
            go_on = reject_quote(&reading);
        else if (row.n - layout->least_columns <= layout->n_columns - layout->least_columns)
            go_on = take_row(&reading, kind);
        else if (!is_blank_row(&row))
            go_on = reject_shape(&reading, at, kind);
        reading.line += kind == ROW_QUOTED ? 1 + (int64_t)row.newlines : 1;
    }
    chunk->n_lines = reading.line - 1;
}

void delimited_parse(const struct text_source *source, struct text_chunk *chunk,
                     struct record_batch *batch) {
    const struct delimited *layout = source->state;
    enum row_kind kind = layout->kind;
    if (kind == ROW_QUOTED && !chunk->has_quote) kind = ROW_SINGLE;
    switch (kind) {
    case ROW_SINGLE: parse_rows(layout, chunk, batch, ROW_SINGLE); break;
    case ROW_QUOTED: parse_rows(layout, chunk, batch, ROW_QUOTED); break;
    case ROW_DOUBLE_COLON: parse_rows(layout, chunk, batch, ROW_DOUBLE_COLON); break;
    case ROW_BLANKS: parse_rows(layout, chunk, batch, ROW_BLANKS); break;
    }
}

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
        if (row->fault != ROW_SOUND || !is_blank_row(row)) return true;
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

static int refuse_header(const struct text_source *source, const struct row *row, int64_t line,
                         const int32_t column[COLUMN_ROLES], struct dpmf_error *error) {
    char names[240], missing[40];
    list_names(row, names, sizeof names);
    size_t length = 0;
    missing[0] = '\0';
    for (int i = COLUMN_USER; i <= COLUMN_RATING; i++)
        if (column[i] < 0)
            length +=
                (size_t)snprintf(missing + length, sizeof missing - length, "%s%s",
                                 length > 0 ? ", " : "", column_role_name((enum column_role)i));
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
                            uint32_t second, struct dpmf_error *error) {
    char names[240];
    list_names(row, names, sizeof names);
    error_set(error, DPMF_ERR_INPUT_HEADER, "columns %d and %u of the header both name the %s: %s",
              (int)column[role] + 1, (unsigned)second + 1, column_role_name(role), names);
    error_hint(error, "say which it is with {columns}, e.g. {columns user,item,_,rating}");
    error_place(error, source->name, line, 1);
    return DPMF_ERR_INPUT_HEADER;
}

/* Declared as events, and yet there are ratings. */
static int refuse_ratings(const struct text_source *source, int64_t line,
                          struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "these are declared as events, but there is a rating and no count");
    error_hint(error,
               "make events of ratings with {like any}; or, if it is a count, name it so with "
               "{columns user,item,count}");
    error_place(error, source->name, line, line > 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int take_header(struct text_source *source, struct delimited *layout, const struct row *row,
                       int64_t line, bool typed, bool events, struct dpmf_error *error) {
    if (row->n > ROW_COLUMNS_MAX) {
        error_set(error, DPMF_ERR_INPUT_HEADER, "the header has %u columns, more than %d",
                  (unsigned)row->n, (int)ROW_COLUMNS_MAX);
        error_place(error, source->name, line, 1);
        return DPMF_ERR_INPUT_HEADER;
    }
    struct columns_found found;
    find_roles(row, typed, &found);
    enum column_role twice = columns_found_twice(&found, events);
    enum columns_kind kind = columns_found_settle(&found, events, layout->column);
    if (twice != COLUMN_OTHER)
        return refuse_ambiguous(source, row, line, twice, found.column,
                                (uint32_t)found.second[twice], error);
    if (kind == COLUMNS_LACKING) return refuse_header(source, row, line, layout->column, error);
    if (kind == COLUMNS_CONFLICT) return refuse_ratings(source, line, error);
    source->base.layout.holds_events = kind == COLUMNS_EVENTS;
    layout->n_columns = layout->least_columns = row->n;
    layout->hint = "every row must have as many columns as the header";
    return 0;
}

/* ---- beginning ------------------------------------------------------------------------------- */

enum header { HEADER_NEVER, HEADER_MAYBE, HEADER_TYPED };

static void set_default_columns(struct delimited *layout, uint32_t n) {
    layout->n_columns = layout->least_columns = n;
    for (int i = 0; i < COLUMN_ROLES; i++) layout->column[i] = i < (int)n ? i : -1;
    layout->hint = default_hint;
}

/* The user and the item alone, of events. */
static void set_pair_columns(struct text_source *source, struct delimited *layout) {
    set_default_columns(layout, 2);
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
    set_default_columns(layout, 3);
    while (preview_next(preview, layout, &at, &lines, &row)) {
        if (is_first) is_pair = row.fault == ROW_SOUND && row.n == 2;
        is_first = false;
        if (row.fault != ROW_SOUND || row.n < 3 || row.n > 4) continue;
        set_default_columns(layout, row.n);
        return;
    }
    if (is_pair) set_pair_columns(source, layout);
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
        return row->n == layout->n_columns ? is_pair_of_names(layout, row) : names_all(row);
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
    error_set(error, DPMF_ERR_INPUT_HEADER, "this looks like a header, but no user and item: %s",
              names);
    error_hint(error, "name the columns user and item, or take the line out");
    error_place(error, source->name, line, 1);
    return DPMF_ERR_INPUT_HEADER;
}

/* Whether a row names a column by another role than it was declared to have: of two exchanged
 * columns everyone would be a user who is an item. */
static bool contradicts(const struct row *row, const struct delimited *layout) {
    for (int role = 0; role < COLUMN_ROLES; role++) {
        const int32_t at = layout->column[role];
        if (at < 0 || (uint32_t)at >= kept_columns(row)) continue;
        enum column_role named =
            column_role_of(row->start[at], (size_t)(row->stop[at] - row->start[at]));
        if (named == COLUMN_COUNT) named = COLUMN_RATING;
        if (named != COLUMN_OTHER && named != (enum column_role)role) return true;
    }
    return false;
}

/* Passes over a header, if there is one. `named`: whether it names the user, the item and the
 * rating. */
static int read_header(struct text_source *source, struct delimited *layout,
                       const struct preview *preview, enum header header,
                       const struct dpmf_input_options *options, bool *named,
                       struct dpmf_error *error) {
    struct row row;
    size_t at = 0;
    int64_t lines = 0;
    *named = false;
    if (!preview_next(preview, layout, &at, &lines, &row)) return 0;
    bool typed = header == HEADER_TYPED, listed = options->columns != NULL;
    bool is_there = listed ? is_passed_over(&row, layout) : typed || is_header(&row, 2);
    if (!is_there && !listed && options->events) {
        int code = settle_nameless(source, layout, error);
        if (code != 0) return code;
    }
    if (!is_there) return 0;
    int64_t line = source->lines_before + lines - (int64_t)row.newlines;
    if (!listed) {
        int code = take_header(source, layout, &row, line, typed, options->events, error);
        if (code != 0) return code;
    }
    *named = names_all(&row);
    source->base.contradicts = listed && contradicts(&row, layout);
    source->base.layout.has_header = true;
    size_t have = source->carry_n - source->carry_at;
    text_source_pass(source, at < have ? at : have, lines);
    return 0;
}

/* What the first rows say: how many columns there are, and a header. */
static int look_at_rows(struct text_source *source, struct delimited *layout, enum header header,
                        const struct dpmf_input_options *options, bool *named,
                        struct dpmf_error *error) {
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
    if (code == 0 && !source->base.layout.has_header && layout->column[COLUMN_RATING] < 0) {
        code = preview_init(source, layout, &preview, error);
        if (code == 0) code = check_first_pair(source, &preview, layout, error);
        free(preview.bytes);
    }
    return code;
}

/* `layout` is already what the format itself says. A header that names the columns declares all,
 * its separator included. */
static int settle_layout(struct text_source *source, struct delimited *layout, enum header header,
                         const struct dpmf_input_options *options, struct dpmf_error *error) {
    bool listed = options->columns != NULL, named = false;
    int code = 0;
    layout->by_line = source->skip_bad;
    if (listed) {
        code = column_list_parse(options->columns, layout->column, &layout->n_columns,
                                 &source->base.layout.holds_events, error);
        if (code == 0 && options->events && !source->base.layout.holds_events)
            code = refuse_ratings(source, 0, error);
        layout->least_columns = layout->n_columns;
        layout->hint = "every row must have as many columns as {columns}; _ passes over one";
    }
    if (code == 0 && (listed || header != HEADER_NEVER))
        code = look_at_rows(source, layout, header, options, &named, error);
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

static int begin_with(struct text_source *source, struct delimited layout, enum header header,
                      const struct dpmf_input_options *options, struct dpmf_error *error) {
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
    set_default_columns(&layout, 4);
    layout.least_columns = 3; /* each row by itself: no row says how many the others have */
    return begin_with(source, layout, HEADER_NEVER, options, error);
}

static int begin_u_data(struct text_source *source, const struct dpmf_input_options *options,
                        struct dpmf_error *error) {
    struct delimited layout = {.kind = ROW_SINGLE, .separator = '\t'};
    set_default_columns(&layout, 4);
    layout.hint = "expected user, item, rating and timestamp with tabs between them";
    return begin_with(source, layout, HEADER_NEVER, options, error);
}

static int begin_libmf(struct text_source *source, const struct dpmf_input_options *options,
                       struct dpmf_error *error) {
    struct delimited layout = {.kind = ROW_BLANKS, .ids = IDS_WHOLE};
    struct first_line line;
    set_default_columns(&layout, 3);
    layout.hint = "expected user, item and rating with blanks between them";
    /* Where bad records are skipped, no record says how many words the others have. */
    if (!source->skip_bad && !options->columns &&
        format_first_line(source->carry + source->carry_at, source->carry_n - source->carry_at,
                          source->stream_end, &line) &&
        line.words == 2) {
        set_pair_columns(source, &layout);
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
    return line->tabs >= 1 && memmem(line->text, line->n, ":token", 6) != NULL;
}

const struct text_format format_csv = {
    .name = "csv",
    .description = "columns with commas or semicolons between them, quoted as RFC 4180 has it",
    .takes_columns = true,
    .has_header = true,
    .sniff = sniff_csv,
    .begin = begin_csv,
    .parse = delimited_parse,
};

const struct text_format format_tsv = {
    .name = "tsv",
    .description = "columns with tabs between them",
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
    .description = "user, item, rating, timestamp with tabs, as in u.data of MovieLens 100K",
    .holds_ratings = true,
    .takes_columns = true,
    .sniff = sniff_u_data,
    .begin = begin_u_data,
    .parse = delimited_parse,
};

const struct text_format format_libmf = {
    .name = "libmf",
    .description = "user item rating with blanks between them, ids whole numbers, as LIBMF has it",
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
