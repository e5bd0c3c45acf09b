/*
 * Rows of columns to records: the one loop that reads all text with separators, and what it says of
 * a row that is no record. Fed by text_source.c with chunks, and by a struct delimited that was
 * settled before the first of them; feeds the record batch.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ratings/delimited.h"
#include "ratings/field_text.h"

/* One row being read: `line` is that of its beginning. */
struct reading {
    const struct delimited *layout;
    struct record_batch *batch;
    const struct row *row;
    const char *begin;
    int64_t line;
    char (*numbers)[2][NUMBER_SPELLED_MAX]; /* room for ids, by record of the batch */
    bool has_nul;
    bool is_guessed; /* nothing but records says which column the ratings are in */
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
                               "%s \"%s\" is not from 1 to %llu, as the size line says", what,
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

static bool reject_float(const struct reading *reading, enum column_role role) {
    const struct row *row = reading->row;
    const uint32_t i = (uint32_t)reading->layout->column[role];
    const struct place place = place_of(reading, i, ROW_SINGLE);
    char shown[FIELD_SHOWN_MAX];
    field_show(shown, row->start[i], (size_t)(row->stop[i] - row->start[i]));
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_ID, place.line, place.column,
                               "declare ids that are texts as token in the header",
                               "%s id \"%s\" is declared as a float, and not a whole number below "
                               "2^53",
                               column_role_name(role), shown);
}

/* Ids that the header declares as floats: 1, 1.0 and 1e0 are one text. @return as
 * take_whole_ids */
static bool take_float_ids(const struct reading *reading, struct record *record, bool *go_on) {
    struct {
        const char **id;
        uint32_t *length;
    } const fields[] = {[COLUMN_USER] = {&record->user, &record->user_length},
                        [COLUMN_ITEM] = {&record->item, &record->item_length}};
    for (int role = COLUMN_USER; role <= COLUMN_ITEM; role++) {
        if (!reading->layout->is_float[role]) continue;
        char *out = reading->numbers[reading->batch->n][role];
        const size_t n = number_spell_float_id(*fields[role].id, *fields[role].length, out);
        if (n == 0) {
            *go_on = reject_float(reading, (enum column_role)role);
            return false;
        }
        *fields[role].id = out;
        *fields[role].length = (uint32_t)n;
    }
    return true;
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

static enum column_role role_at(const struct row *row, uint32_t i) {
    return column_role_of(row->start[i], (size_t)(row->stop[i] - row->start[i]));
}

bool delimited_names_pair(const struct delimited *layout, const struct row *row) {
    const uint32_t user = (uint32_t)layout->column[COLUMN_USER],
                   item = (uint32_t)layout->column[COLUMN_ITEM];
    if (role_at(row, user) == COLUMN_OTHER && role_at(row, item) == COLUMN_OTHER) return false;
    bool names_user = false, names_item = false;
    for (uint32_t i = 0; i < row->n && i < layout->n_columns; i++) {
        const enum column_role role = role_at(row, i);
        names_user |= role == COLUMN_USER;
        names_item |= role == COLUMN_ITEM;
    }
    return names_user && names_item;
}

static bool reject_names(const struct reading *reading, struct place place) {
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_HEADER, place.line, place.column,
                               NULL,
                               "the row names columns, as a header does, and is not an event");
}

/* From dates of eight digits to nanoseconds since 1970. */
static const double LEAST_TIME = 1e7, LAST_TIME = 1e19;

static bool reject_time_as_rating(const struct reading *reading, struct place place) {
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_HEADER, place.line, place.column,
                               "name the columns in a first line, such as user,item,timestamp; or "
                               "list them with {columns}",
                               "there is no header, and this looks like a time, not a rating");
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
    if (layout->ids == IDS_FLOATS) {
        if (!take_float_ids(reading, &record, &go_on)) return go_on;
    } else if (layout->ids != IDS_TEXT && !take_whole_ids(reading, &record, &go_on)) {
        return go_on;
    }
    struct place user_place = place_of(reading, user, kind);
    struct place item_place = place_of(reading, item, kind);
    struct place rating_place = place_of(reading, rating, kind);
    if (reading->has_nul && memchr(record.user, 0, record.user_length) != NULL)
        return field_reject_nul(batch, "user", user_place.line, user_place.column);
    if (reading->has_nul && memchr(record.item, 0, record.item_length) != NULL)
        return field_reject_nul(batch, "item", item_place.line, item_place.column);

    if (!has_value && layout->ids == IDS_TEXT && delimited_names_pair(layout, row))
        return reject_names(reading, user_place);
    const char *text = row->start[rating];
    size_t length = (size_t)(row->stop[rating] - text);
    if (has_value && !field_rating_quick(text, length, &record.rating) &&
        field_rating(text, length, &record.rating) != NUMBER_OK)
        return field_reject_rating(batch, text, length, rating_place.line, rating_place.column);

    if (reading->is_guessed && has_value && record.rating >= LEAST_TIME &&
        record.rating <= LAST_TIME)
        return reject_time_as_rating(reading, rating_place);

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

/* A rejected row that is the header of another table: what follows it is read by the columns of the
 * first, so that users may be taken for items. It is a record like any other where bad ones are
 * skipped, and decides nothing there; it is counted, for the curator to be told. */
static __attribute__((noinline)) void look_at_rejected(const struct reading *reading, char *begin,
                                                       char *end, enum row_kind kind) {
    const struct delimited *layout = reading->layout;
    struct record_batch *batch = reading->batch;
    struct row row;
    row.fault = ROW_SOUND;
    /* A file that begins with a byte order mark has it here, when it was put behind another. */
    if (end - begin >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0) begin += 3;
    if (kind == ROW_QUOTED && layout->by_line)
        row_split_quoted_line(begin, end, layout->separator, ROW_COLUMNS_MAX, &row);
    else
        row_split(kind, begin, end, layout->separator, ROW_COLUMNS_MAX, &row);
    if (delimited_names_otherwise(layout, &row, batch->counts))
        record_batch_header(batch, reading->line);
}

static inline __attribute__((always_inline)) void parse_rows(const struct text_source *source,
                                                             struct text_chunk *chunk,
                                                             struct record_batch *batch,
                                                             enum row_kind kind) {
    struct row row;
    const struct delimited *layout = source->state;
    struct reading reading = {.layout = layout,
                              .batch = batch,
                              .row = &row,
                              .line = 1,
                              .numbers = chunk->numbers,
                              .has_nul = chunk->has_nul,
                              .is_guessed = batch->refuses_times && !layout->is_listed &&
                                            source->base.layout.origin == STORE_ORIGIN_GUESSED};
    char *at = chunk->bytes, *end = at + chunk->n;
    bool go_on = true;
    while (at < end && go_on) {
        char *begin = at;
        const uint64_t n_rejected = batch->n_rejected;
        reading.begin = begin;
        at = kind == ROW_QUOTED && layout->by_line
                 ? row_split_quoted_line(at, end, layout->separator, layout->n_columns, &row)
                 : row_split(kind, at, end, layout->separator, layout->n_columns, &row);
        if (kind == ROW_QUOTED && row.fault != ROW_SOUND)
            go_on = reject_quote(&reading);
        else if (row.n - layout->least_columns <= layout->n_columns - layout->least_columns)
            go_on = take_row(&reading, kind);
        else if (!row_is_blank(&row))
            go_on = reject_shape(&reading, at, kind);
        if (!go_on || batch->n_rejected != n_rejected) look_at_rejected(&reading, begin, end, kind);
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
    case ROW_SINGLE: parse_rows(source, chunk, batch, ROW_SINGLE); break;
    case ROW_QUOTED: parse_rows(source, chunk, batch, ROW_QUOTED); break;
    case ROW_DOUBLE_COLON: parse_rows(source, chunk, batch, ROW_DOUBLE_COLON); break;
    case ROW_BLANKS: parse_rows(source, chunk, batch, ROW_BLANKS); break;
    }
}
