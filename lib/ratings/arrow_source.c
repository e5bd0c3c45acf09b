/*
 * Batches of columns behind the interface of source.h. A chunk is a stretch of a batch, which stays
 * where it is until the last of its chunks was read; rows are read by all threads, each by itself.
 * Fed by the tables of lib/arrow; feeds the importer.
 */
#include "ratings/arrow_source.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_values.h"
#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "ratings/database_source.h"
#include "ratings/field_text.h"
#include "ratings/import.h"

enum {
    CHUNK_ROWS = 1 << 15,  /* enough for a thread, few enough to hear of an interruption soon */
    CHUNK_BYTES = 2 << 20, /* bytes of a batch that is held in memory */
    SECONDS_A_DAY = 86400,
};

static_assert((int)ARROW_CHOSEN == (int)COLUMN_ROLES, "a column for each role");

struct arrow_source {
    struct source source; /* first: this is what others see */
    struct arrow_table *table;

    /* Serial, on the side of `next`. */
    struct arrow_batch *batch; /* being cut; NULL: the next one is to be fetched */
    int64_t next_row;
    _Atomic uint64_t held; /* memory of the batches that are in use, at most */

    uint64_t rows_before; /* serial, on the side of `settle` */
};

struct row_chunk {
    struct arrow_batch *batch; /* shared */
    int64_t begin, end;
    struct database_numbers numbers;
    char wide[RECORD_BATCH][DATABASE_IDS][ARROW_DECIMAL_MAX]; /* ids beyond an int64 */

    struct { /* a stretch of rows */
        int64_t whole[DATABASE_IDS][RECORD_BATCH];
        const char *text[DATABASE_IDS][RECORD_BATCH];
        uint32_t length[DATABASE_IDS][RECORD_BATCH];
        double rating[RECORD_BATCH];
        int64_t time[RECORD_BATCH];
    } stretch;
};

static const struct arrow_source *self_of(const struct source *source) {
    return (const struct arrow_source *)source;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void *chunk_new(const struct source *source) {
    (void)source;
    return memory_alloc_zero(1, sizeof(struct row_chunk));
}

static void chunk_let_go(struct row_chunk *chunk) {
    arrow_batch_release(chunk->batch);
    chunk->batch = NULL;
}

static void chunk_free(void *pointer) {
    chunk_let_go(pointer);
    free(pointer);
}

/* Chunks of a batch in memory are small, so that few batches are in use at a time: those that the
 * chunks in flight are of, which are two as soon as a batch is larger than these. */
static int64_t chunk_rows(const struct arrow_batch *batch) {
    if (batch->load) return batch->n_rows;
    if (batch->bytes <= CHUNK_BYTES) return CHUNK_ROWS;
    double rows = (double)batch->n_rows * CHUNK_BYTES / (double)batch->bytes;
    return rows < 1 ? 1 : rows < CHUNK_ROWS ? (int64_t)rows : CHUNK_ROWS;
}

static int fetch(struct arrow_source *self, struct dpmf_error *error) {
    while (!self->batch) {
        int code = self->table->ops->next(self->table, &self->batch, error);
        if (code != 1) return code;
        uint64_t bytes = 2 * self->batch->bytes;
        if (bytes > atomic_load(&self->held)) atomic_store(&self->held, bytes);
        self->next_row = 0;
        if (self->batch->n_rows > 0) return 1;
        arrow_batch_release(self->batch);
        self->batch = NULL;
    }
    return 1;
}

static int next_rows(struct source *source, void *pointer, struct dpmf_error *error) {
    struct arrow_source *self = (struct arrow_source *)source;
    struct row_chunk *chunk = pointer;
    chunk_let_go(chunk);
    int code = fetch(self, error);
    if (code != 1) return code;
    int64_t left = self->batch->n_rows - self->next_row, rows = chunk_rows(self->batch);
    chunk->batch = arrow_batch_share(self->batch);
    chunk->begin = self->next_row;
    chunk->end = self->next_row += left < rows ? left : rows;
    if (self->next_row == self->batch->n_rows) {
        arrow_batch_release(self->batch);
        self->batch = NULL;
    }
    return 1;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A row that is being read, for what is said of it. */
struct row {
    const struct arrow_batch *batch;
    const int32_t *column; /* column of each role, or ARROW_NONE */
    int64_t at;            /* in the batch */
    int64_t number;        /* in the chunk, from 1 */
    struct record_batch *records;
    struct row_chunk *chunk;
    bool go_on; /* once something was rejected */
};

static int64_t place_of(const struct row *row, enum column_role role) {
    return row->column[role] + 1;
}

static const char *name_of(const struct row *row, enum column_role role) {
    return role == COLUMN_RATING ? record_value_name(row->records) : column_role_name(role);
}

static bool reject_null(struct row *row, enum column_role role) {
    int code = role == COLUMN_RATING ? DPMF_ERR_INPUT_NUMBER : DPMF_ERR_INPUT_ID;
    row->go_on = record_batch_reject(row->records, code, row->number, place_of(row, role),
                                     "leave such rows out, or count and skip them with "
                                     "{on-error skip}",
                                     "the %s%s is null", name_of(row, role),
                                     role <= COLUMN_ITEM ? " id" : "");
    return false;
}

static bool reject_broken(struct row *row, enum column_role role) {
    row->go_on = record_batch_reject(
        row->records, DPMF_ERR_INPUT_ARROW, row->number, place_of(row, role), NULL,
        "the %s points outside of what its column holds", name_of(row, role));
    return false;
}

static bool reject_float_id(struct row *row, enum column_role role) {
    row->go_on = record_batch_reject(
        row->records, DPMF_ERR_INPUT_ID, row->number, place_of(row, role),
        "a float is an id only when it is a whole number below 2^53 (of 32 bits below 2^24, of 16 "
        "below 2^11): give text or whole numbers",
        "the %s id is a real number, not a text or a whole number", column_role_name(role));
    return false;
}

/* From here on a float of that type stands for several whole numbers: 2^53 + 1 is read as 2^53. */
static double float_whole_end(enum arrow_kind kind) {
    return kind == ARROW_FLOAT16 ? 0x1p11 : kind == ARROW_FLOAT32 ? 0x1p24 : 0x1p53;
}

static void number_id(const struct row *row, enum column_role role, int64_t number, const char **id,
                      uint32_t *length) {
    *id = database_number_id(&row->chunk->numbers, row->records->n, role, number, length);
}

/* A number that has been written to the cell, or is beyond an int64. */
static void wide_id(const struct row *row, enum column_role role, const struct arrow_cell *cell,
                    const char **id, uint32_t *length) {
    char *room = row->chunk->wide[row->records->n][role];
    *id = room;
    if (cell->kind == ARROW_CELL_DECIMAL) {
        memcpy(room, cell->number, (size_t)cell->length);
        *length = (uint32_t)cell->length;
    } else {
        *length = (uint32_t)snprintf(room, ARROW_DECIMAL_MAX, "%llu",
                                     (unsigned long long)cell->unsigned_whole);
    }
}

static bool text_id(struct row *row, enum column_role role, const struct arrow_cell *cell,
                    const char **id, uint32_t *length) {
    *id = cell->text;
    *length = cell->length > UINT32_MAX ? UINT32_MAX : (uint32_t)cell->length;
    if (cell->length > STORE_ID_MAX || !memchr(cell->text, '\0', (size_t)cell->length)) return true;
    row->go_on =
        field_reject_nul(row->records, column_role_name(role), row->number, place_of(row, role));
    return false;
}

/* @return whether there is an id; else it was rejected */
static bool take_id(struct row *row, enum column_role role, const char **id, uint32_t *length) {
    const struct arrow_column *column = &row->batch->column[role];
    struct arrow_cell cell;
    arrow_cell_read(column, row->at, &cell);
    switch (cell.kind) {
    case ARROW_CELL_WHOLE: number_id(row, role, cell.whole, id, length); return true;
    case ARROW_CELL_TEXT: return text_id(row, role, &cell, id, length);
    case ARROW_CELL_REAL:
        if (!(fabs(cell.real) < float_whole_end(arrow_column_type(column)->kind)) ||
            floor(cell.real) != cell.real)
            return isnan(cell.real) ? reject_null(row, role) : reject_float_id(row, role);
        number_id(row, role, (int64_t)cell.real, id, length);
        return true;
    case ARROW_CELL_UNSIGNED:
    case ARROW_CELL_DECIMAL: wide_id(row, role, &cell, id, length); return true;
    case ARROW_CELL_NULL: return reject_null(row, role);
    default: return reject_broken(row, role);
    }
}

/* Digits and a scale, as a text that is rounded once. */
static bool decimal_rating(const struct arrow_cell *cell, int scale, double *rating) {
    char text[ARROW_DECIMAL_MAX + 16];
    int n = snprintf(text, sizeof text, "%se%d", cell->number, -scale);
    return field_rating(text, (size_t)n, rating) == NUMBER_OK;
}

/* A float of 32 or 16 bits is the number that its text says: 0.7, not 0.699999988079071. */
static double widened(const struct arrow_column *column, double real) {
    switch (arrow_column_type(column)->kind) {
    case ARROW_FLOAT32: return number_widen_rating((float)real);
    case ARROW_FLOAT16: return number_widen_half(real);
    default: return real;
    }
}

static bool take_rating(struct row *row, double *rating) {
    const struct arrow_column *column = &row->batch->column[COLUMN_RATING];
    struct arrow_cell cell;
    arrow_cell_read(column, row->at, &cell);
    switch (cell.kind) {
    case ARROW_CELL_REAL: *rating = widened(column, cell.real); return true;
    case ARROW_CELL_WHOLE: *rating = (double)cell.whole; return true;
    case ARROW_CELL_UNSIGNED: *rating = (double)cell.unsigned_whole; return true;
    case ARROW_CELL_TEXT:
        if (field_rating(cell.text, (size_t)cell.length, rating) == NUMBER_OK) return true;
        row->go_on = field_reject_rating(row->records, cell.text, (size_t)cell.length, row->number,
                                         place_of(row, COLUMN_RATING));
        return false;
    case ARROW_CELL_DECIMAL:
        return decimal_rating(&cell, arrow_column_type(column)->scale, rating) ||
               reject_broken(row, COLUMN_RATING);
    case ARROW_CELL_NULL: return reject_null(row, COLUMN_RATING);
    default: return reject_broken(row, COLUMN_RATING);
    }
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static bool reject_time(struct row *row) {
    row->go_on = record_batch_reject(
        row->records, DPMF_ERR_INPUT_TIME, row->number, place_of(row, COLUMN_TIME),
        "give timestamps, dates, or seconds since 1970", "the timestamp is not a time");
    return false;
}

static bool take_time(struct row *row, int64_t *time) {
    const struct arrow_column *column = &row->batch->column[COLUMN_TIME];
    const struct arrow_type *type = arrow_column_type(column);
    struct arrow_cell cell;
    arrow_cell_read(column, row->at, &cell);
    switch (cell.kind) {
    case ARROW_CELL_NULL: return true;
    case ARROW_CELL_WHOLE:
        *time = type->kind == ARROW_TIMESTAMP   ? floor_divide(cell.whole, type->per_second)
                : type->kind == ARROW_DATE_DAYS ? cell.whole * SECONDS_A_DAY
                                                : cell.whole;
        return *time != STORE_NO_TIME || reject_time(row);
    case ARROW_CELL_REAL:
        if (isnan(cell.real)) return true; /* what pandas has for a time that is missing */
        if (!(fabs(cell.real) < 9e18)) return reject_time(row);
        *time = (int64_t)floor(cell.real);
        return true;
    case ARROW_CELL_TEXT:
        if (cell.length <= STORE_ID_MAX && field_time(cell.text, (size_t)cell.length, time))
            return true;
        row->go_on = field_reject_time(row->records, cell.text, (size_t)cell.length, row->number,
                                       place_of(row, COLUMN_TIME));
        return false;
    case ARROW_CELL_BROKEN: return reject_broken(row, COLUMN_TIME);
    default: return reject_time(row);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool reject_row(struct row *row) {
    return record_batch_reject(row->records, DPMF_ERR_INPUT_ID, row->number, 0,
                               "leave such rows out, or count and skip them with {on-error skip}",
                               "the row is null");
}

/* @return whether to continue */
static bool take_row(struct row *row) {
    struct record record = {.rating = 1, .time = STORE_NO_TIME};
    const struct arrow_batch *batch = row->batch;
    if (batch->validity && !arrow_bit(batch->validity, batch->validity_offset + row->at))
        return reject_row(row);
    if (!take_id(row, COLUMN_USER, &record.user, &record.user_length) ||
        !take_id(row, COLUMN_ITEM, &record.item, &record.item_length) ||
        (row->column[COLUMN_RATING] >= 0 && !take_rating(row, &record.rating)) ||
        (row->column[COLUMN_TIME] >= 0 && !take_time(row, &record.time))) {
        record_batch_look(row->records, &record, row->number);
        return row->go_on;
    }
    return record_batch_add(row->records, &record, row->number, place_of(row, COLUMN_USER),
                            place_of(row, COLUMN_ITEM), place_of(row, COLUMN_RATING));
}

/* The next n rows, one by one. @return whether to go on */
static bool take_rows(struct row *row, int n) {
    for (int i = 0; i < n; i++, row->at++) {
        row->number = row->at - row->chunk->begin + 1;
        row->go_on = true;
        if (!take_row(row)) return false;
    }
    return true;
}

/* ---- stretches of rows ----------------------------------------------------------------------- */

static bool stretch_ids(struct row_chunk *chunk, enum column_role role, int64_t at, int n,
                        struct record_ids *ids) {
    const struct arrow_column *column = &chunk->batch->column[role];
    const char **text = chunk->stretch.text[role];
    uint32_t *length = chunk->stretch.length[role];
    *ids = (struct record_ids){.whole = chunk->stretch.whole[role]};
    if (arrow_kind_is_whole(arrow_column_type(column)->kind))
        return arrow_values_whole(column, at, n, chunk->stretch.whole[role]);
    *ids = (struct record_ids){.text = text, .length = length};
    if (!arrow_values_text(column, at, n, STORE_ID_MAX, text, length)) return false;
    for (int i = 0; i < n; i++)
        if (memchr(text[i], '\0', length[i])) return false;
    return true;
}

/* A unit is one of few: a division by what is known here is a multiplication. */
static void to_seconds(int64_t *time, int n, int64_t per_second) {
    switch (per_second) {
    case 1: return;
    case 1000:
        for (int i = 0; i < n; i++) time[i] = floor_divide(time[i], 1000);
        return;
    case 1000000:
        for (int i = 0; i < n; i++) time[i] = floor_divide(time[i], 1000000);
        return;
    case 1000000000:
        for (int i = 0; i < n; i++) time[i] = floor_divide(time[i], 1000000000);
        return;
    default:
        for (int i = 0; i < n; i++) time[i] = floor_divide(time[i], per_second);
    }
}

static bool stretch_times(struct row_chunk *chunk, int64_t at, int n) {
    const struct arrow_column *column = &chunk->batch->column[COLUMN_TIME];
    int64_t *time = chunk->stretch.time;
    bool are_times = true;
    if (!arrow_values_whole(column, at, n, time)) return false;
    if (column->type.kind == ARROW_TIMESTAMP) to_seconds(time, n, column->type.per_second);
    for (int i = 0; i < n; i++) {
        if (column->type.kind == ARROW_DATE_DAYS) time[i] *= SECONDS_A_DAY;
        are_times &= time[i] != STORE_NO_TIME;
    }
    return are_times;
}

/* The n rows from `at` on as columns. @return false when they must be read one by one */
static bool read_stretch(const int32_t column[COLUMN_ROLES], struct row_chunk *chunk, int64_t at,
                         int n, struct record_stretch *stretch) {
    if (chunk->batch->validity) return false;
    *stretch = (struct record_stretch){.n = n, .rating = chunk->stretch.rating};
    if (!stretch_ids(chunk, COLUMN_USER, at, n, &stretch->user) ||
        !stretch_ids(chunk, COLUMN_ITEM, at, n, &stretch->item))
        return false;
    if (column[COLUMN_RATING] < 0)
        for (int i = 0; i < n; i++) stretch->rating[i] = 1;
    else if (!arrow_values_real(&chunk->batch->column[COLUMN_RATING], at, n, stretch->rating))
        return false;
    if (column[COLUMN_TIME] < 0) return true;
    stretch->time = chunk->stretch.time;
    return stretch_times(chunk, at, n);
}

/* ---- chunks of rows -------------------------------------------------------------------------- */

static void parse_rows(const struct source *source, void *pointer, struct record_batch *records) {
    struct row_chunk *chunk = pointer;
    struct row row = {.batch = chunk->batch,
                      .column = self_of(source)->table->chosen,
                      .records = records,
                      .chunk = chunk};
    if (chunk->batch->load) {
        struct dpmf_error error = {0};
        int code = chunk->batch->load(chunk->batch, &error);
        if (code < 0) {
            records->failure = error;
            records->failure.code = code;
            return;
        }
    }
    database_numbers_begin(&chunk->numbers);
    for (row.at = chunk->begin; row.at < chunk->end;) {
        const int64_t left = chunk->end - row.at;
        const int n = left < RECORD_BATCH ? (int)left : RECORD_BATCH;
        struct record_stretch stretch;
        if (records->take_stretch && read_stretch(row.column, chunk, row.at, n, &stretch) &&
            record_stretch_take(records, &stretch)) {
            if (!record_batch_add_stretch(records, &stretch)) return;
            row.at += n;
        } else if (!take_rows(&row, n)) {
            return;
        }
    }
}

/* ---- places and the end ---------------------------------------------------------------------- */

static void place(const struct arrow_source *self, struct dpmf_error *error) {
    if (error->code == 0 || error->line == 0) return;
    const int64_t number = error->line + (int64_t)self->rows_before;
    if (error->hint[0] == '\0')
        error_hint(error,
                   "that is row %lld of the table; {on-error skip} counts and skips such rows",
                   (long long)number);
    error_place(error, self->table->name, number, error->column);
}

static int settle_rows(struct source *source, void *pointer, struct record_batch *records,
                       struct dpmf_error *error) {
    struct arrow_source *self = (struct arrow_source *)source;
    struct row_chunk *chunk = pointer;
    place(self, &records->failure);
    place(self, &records->first_rejected);
    self->rows_before += (uint64_t)(chunk->end - chunk->begin);
    chunk_let_go(chunk);
    if (records->failure.code && error) *error = records->failure;
    return records->failure.code;
}

static int finish_rows(struct source *source, struct record_batch *records,
                       struct dpmf_error *error) {
    const struct arrow_source *self = self_of(source);
    (void)records;
    if (self->rows_before > 0) return 0;
    error_set(error, DPMF_ERR_INPUT_EMPTY, "the table has no rows");
    error_place(error, self->table->name, 0, 0);
    return DPMF_ERR_INPUT_EMPTY;
}

static void close_rows(struct source *source) {
    struct arrow_source *self = (struct arrow_source *)source;
    arrow_batch_release(self->batch);
    arrow_table_release(self->table);
    free(self);
}

static uint64_t bytes_read(const struct source *source) {
    const struct arrow_table *table = self_of(source)->table;
    return table->ops->bytes_read ? table->ops->bytes_read(table) : 0;
}

static uint64_t bytes_held(const struct source *source) {
    const struct arrow_table *table = self_of(source)->table;
    return atomic_load_explicit(&self_of(source)->held, memory_order_relaxed) +
           (table->ops->bytes_held ? table->ops->bytes_held(table) : 0);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* What the users' ids are, whatever the rows hold. */
static enum store_ids ids_of(const struct arrow_table *table) {
    const struct arrow_type *type = &table->fields[table->chosen[COLUMN_USER]].type;
    if (type->is_uuid) return STORE_IDS_UUID;
    return type->kind >= ARROW_INT8 && type->kind <= ARROW_DECIMAL ? STORE_IDS_WHOLE
                                                                   : STORE_IDS_TEXT;
}

int arrow_source_open(struct arrow_table *table, const struct dpmf_input_options *options,
                      struct source **source, struct dpmf_error *error) {
    static const struct source_ops ops = {
        .chunk_new = chunk_new,
        .chunk_free = chunk_free,
        .next = next_rows,
        .parse = parse_rows,
        .settle = settle_rows,
        .finish = finish_rows,
        .close = close_rows,
    };
    *source = NULL;
    struct arrow_source *self = memory_alloc_zero(1, sizeof *self);
    if (!self) {
        arrow_table_release(table);
        return error_no_memory(error);
    }
    self->table = table;
    self->source = (struct source){.ops = &ops,
                                   .format = table->format,
                                   .total_bytes = table->total_bytes,
                                   .bytes_read = bytes_read,
                                   .bytes_held = bytes_held};
    self->source.layout = store_layout_declared(); /* a schema's: no row decides it */
    int code =
        arrow_columns_find(table, options, table->chosen, &self->source.layout.holds_events, error);
    if (code == 0) {
        self->source.layout.formats = store_layout_format_of_ids(table->format, ids_of(table));
        self->source.layout.lacks_times = table->chosen[COLUMN_TIME] < 0;
        for (size_t i = 0; i < table->n_fields && !options->by_record; i++)
            source_note_unused(&self->source, table->fields[i].name, strlen(table->fields[i].name),
                               (uint32_t)i, table->chosen);
    }
    return source_hand_over(&self->source, code, source);
}

static int open_stream(struct ArrowArrayStream *stream, const struct dpmf_input_options *options,
                       struct source **source, struct dpmf_error *error) {
    struct arrow_table *table = NULL;
    int code = arrow_stream_open(stream, options->by_record, &table, error);
    return code < 0 ? code : arrow_source_open(table, options, source, error);
}

/* Whatever is wrong with the other arguments, the stream is released. */
static int take_arguments(struct ArrowArrayStream *stream, struct dpmf_input_options *own,
                          struct dpmf_run *own_run, int code, const struct dpmf_run *run,
                          const struct dpmf_input_options *options, struct dpmf_error *error) {
    *own = dpmf_input_options_default();
    if (code == 0) code = options_take(own, sizeof *own, options, "input_options", error);
    if (code == 0) code = run_take(own_run, run, error);
    if (code < 0 && stream && stream->release) stream->release(stream);
    return code;
}

int dpmf_import_arrow(struct ArrowArrayStream *stream, const char *output,
                      const struct dpmf_input_options *options, const struct dpmf_run *run,
                      struct dpmf_import_report *report, struct dpmf_error *error) {
    struct dpmf_input_options own;
    struct dpmf_run own_run;
    struct source *source = NULL;
    int code = arguments_check(error, "stream output", stream, output);
    code = take_arguments(stream, &own, &own_run, code, run, options, error);
    if (code == 0) code = open_stream(stream, &own, &source, error);
    return code < 0 ? code : import_source_to(source, output, &own, &own_run, report, error);
}

int dpmf_store_from_arrow(struct ArrowArrayStream *stream, const struct dpmf_input_options *options,
                          const struct dpmf_run *run, struct dpmf_store **store,
                          struct dpmf_error *error) {
    struct dpmf_input_options own;
    struct dpmf_run own_run;
    struct source *source = NULL;
    int code = arguments_check(error, "stream store", stream, store);
    if (store) *store = NULL;
    code = take_arguments(stream, &own, &own_run, code, run, options, error);
    if (code == 0) code = open_stream(stream, &own, &source, error);
    if (code < 0) return code;
    char *name = import_temporary_name("arrow");
    if (!name) {
        source_close(source);
        return error_no_memory(error);
    }
    code = import_source(source, name, &own, &own_run, store, error);
    free(name);
    return code;
}
