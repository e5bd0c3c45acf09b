/*
 * Ratings out of an SQLite database behind the interface of source.h. The database is opened to be
 * read only; one thread at a time steps through the query and puts the values, each with its type,
 * into a chunk; all threads make records of them. Fed by database_source.c; feeds the importer.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "database/sqlite_library.h"
#include "dpmf_text.h"
#include "ratings/database_source.h"
#include "ratings/field_text.h"

#ifdef DPMF_WITH_SQLITE

enum {
    LOCKED_TRIES = 40,                 /* waits for a lock of another program */
    LOCKED_MILLISECONDS = 50,          /* length of such a wait */
    STEPS_BETWEEN_QUESTIONS = 1 << 17, /* steps of SQLite's machine: some milliseconds */
    ASK_MILLISECONDS = 200,            /* least time between two questions */
};

/* What precedes a value in a chunk. An integer or a real number is 8 bytes; a text is 4 bytes of
 * length and itself. */
enum value_kind { VALUE_NULL, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BLOB, VALUE_TOO_LONG };

enum { ROW_ROOM = COLUMN_ROLES * 9 }; /* bytes of a row, without its texts */

struct sqlite_source {
    struct database_rows rows; /* first: its source is what others see */
    struct sqlite_library sqlite;
    struct input_wait wait;
    sqlite3 *database;
    sqlite3_stmt *statement;
    int32_t column[COLUMN_ROLES];
    bool has_whole_users; /* the users' column was declared as whole numbers */
    bool ended, interrupted;
    bool is_private; /* errors do not quote rows */
    double asked;    /* when, by clock_now() */
};

struct row_chunk {
    struct database_chunk chunk; /* first */
    struct byte_buffer values;
};

static const struct sqlite_source *self_of(const struct source *source) {
    return (const struct sqlite_source *)source;
}

static void *chunk_new(const struct source *source) {
    (void)source;
    return memory_alloc_zero(1, sizeof(struct row_chunk));
}

static void chunk_free(void *pointer) {
    struct row_chunk *chunk = pointer;
    if (!chunk) return;
    free(chunk->values.bytes);
    free(chunk);
}

/* ---- rows into a chunk ----------------------------------------------------------------------- */

static uint8_t *put_kind(uint8_t *at, enum value_kind kind) {
    *at = (uint8_t)kind;
    return at + 1;
}

static uint8_t *put_64(uint8_t *at, enum value_kind kind, const void *value) {
    at = put_kind(at, kind);
    memcpy(at, value, 8);
    return at + 8;
}

/* Text, cut to what it may be: longer ones are known by their length. @return false without
 * memory */
static bool put_text(struct sqlite_source *self, sqlite3_value *given, struct byte_buffer *values) {
    const unsigned char *text = self->sqlite.value_text(given);
    int length = self->sqlite.value_bytes(given);
    if (!text) return false;
    bool fits = length <= STORE_ID_MAX;
    uint32_t n = (uint32_t)length;
    uint8_t *at = byte_buffer_room(values, 2 * ROW_ROOM + (fits ? n : 0));
    if (!at) return false;
    uint8_t *begin = at;
    at = put_kind(at, fits ? VALUE_TEXT : VALUE_TOO_LONG);
    memcpy(at, &n, sizeof n);
    at += sizeof n;
    if (fits) memcpy(at, text, n);
    values->n += (size_t)(at - begin) + (fits ? n : 0);
    return true;
}

/* A row of numbers fits the room that is made first; a text makes its own, and for what may follow
 * it. A value is asked for its type without the lock that SQLite would have around it, were the
 * connection shared: one thread at a time has it, and this is the innermost loop. */
static bool put_row(struct sqlite_source *self, struct byte_buffer *values) {
    const struct sqlite_library *sqlite = &self->sqlite;
    uint8_t *at = byte_buffer_room(values, ROW_ROOM);
    if (!at) return false;
    for (int role = 0; role < COLUMN_ROLES; role++) {
        if (self->column[role] < 0) continue;
        sqlite3_value *given = sqlite->column_value(self->statement, self->column[role]);
        switch (sqlite->value_type(given)) {
        case SQLITE_INTEGER: {
            sqlite3_int64 integer = sqlite->value_int64(given);
            at = put_64(at, VALUE_INTEGER, &integer);
            break;
        }
        case SQLITE_FLOAT: {
            double real = sqlite->value_double(given);
            at = put_64(at, VALUE_REAL, &real);
            break;
        }
        case SQLITE_TEXT:
            values->n = (size_t)(at - values->bytes);
            if (!put_text(self, given, values)) return false;
            at = values->bytes + values->n;
            break;
        case SQLITE_BLOB: at = put_kind(at, VALUE_BLOB); break;
        default: at = put_kind(at, VALUE_NULL);
        }
    }
    values->n = (size_t)(at - values->bytes);
    return true;
}

/* What fails before there are rows is the file's, the schema's or the query's doing. */
static int fail(struct sqlite_source *self, const char *doing, struct dpmf_error *error) {
    if (self->interrupted) return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return sqlite_library_fail(&self->sqlite, self->database, false, doing, self->rows.url.shown,
                               error);
}

static int fail_at_row(struct sqlite_source *self, struct dpmf_error *error) {
    if (!self->is_private || self->interrupted) return fail(self, "read from the database", error);
    return sqlite_library_fail(&self->sqlite, self->database, true, "read from the database",
                               self->rows.url.shown, error);
}

static int next_rows(struct source *source, void *pointer, struct dpmf_error *error) {
    struct sqlite_source *self = (struct sqlite_source *)source;
    struct row_chunk *chunk = pointer;
    chunk->values.n = 0;
    chunk->chunk.n_rows = 0;
    while (!self->ended && chunk->values.n < DATABASE_CHUNK_BYTES) {
        int result = self->sqlite.step(self->statement);
        self->ended = result != SQLITE_ROW;
        if (result == SQLITE_DONE) break;
        if (result != SQLITE_ROW) return fail_at_row(self, error);
        if (!put_row(self, &chunk->values)) return error_no_memory(error);
        chunk->chunk.n_rows++;
    }
    atomic_fetch_add_explicit(&self->rows.bytes_read, chunk->values.n, memory_order_relaxed);
    return chunk->chunk.n_rows > 0;
}

/* ---- records out of a chunk ------------------------------------------------------------------ */

struct value {
    enum value_kind kind;
    int64_t integer;
    double real;
    const char *text;
    uint32_t length;
};

static const uint8_t *get_value(const uint8_t *at, struct value *value) {
    value->kind = (enum value_kind) * at++;
    value->text = (const char *)at + 4;
    switch (value->kind) {
    case VALUE_INTEGER: memcpy(&value->integer, at, 8); return at + 8;
    case VALUE_REAL: memcpy(&value->real, at, 8); return at + 8;
    case VALUE_TEXT: memcpy(&value->length, at, 4); return at + 4 + value->length;
    case VALUE_TOO_LONG: memcpy(&value->length, at, 4); return at + 4;
    default: return at;
    }
}

/* Where a value stands, for what is said of it. */
struct place {
    int64_t row;
    int64_t column[COLUMN_ROLES];
    bool has_whole_users; /* as in struct sqlite_source */
};

/* SQLite makes numbers of the texts that stand for one as they are stored, and keeps the others,
 * whatever the column was declared as: in one of whole numbers, no wish could name them. */
static bool reject_text(const struct place *place, struct record_batch *batch) {
    return record_batch_reject(batch, DPMF_ERR_INPUT_ID, place->row, place->column[COLUMN_USER],
                               "select the users as texts: ?query=SELECT CAST(... AS TEXT) AS "
                               "user, ...",
                               "the user id is a text in a column of whole numbers");
}

/* @return whether there is an id; else it was rejected, and *go_on says whether to go on */
static bool take_id(const struct value *value, enum column_role role, const struct place *place,
                    struct database_numbers *numbers, const char **id, uint32_t *length,
                    struct record_batch *batch, bool *go_on) {
    int64_t column = place->column[role];
    switch (value->kind) {
    case VALUE_INTEGER:
        *id = database_number_id(numbers, batch->n, role, value->integer, length);
        return true;
    case VALUE_TEXT:
        if (role == COLUMN_USER && place->has_whole_users) {
            *go_on = reject_text(place, batch);
            return false;
        }
        if (memchr(value->text, '\0', value->length)) {
            *go_on = field_reject_nul(batch, column_role_name(role), place->row, column);
            return false;
        }
        *id = value->text;
        *length = value->length;
        return true;
    case VALUE_TOO_LONG: /* its length alone is looked at, and rejected */
        *id = value->text;
        *length = value->length;
        return true;
    case VALUE_NULL: *go_on = database_reject_null(batch, role, place->row, column); return false;
    default:
        *go_on = record_batch_reject(batch, DPMF_ERR_INPUT_ID, place->row, column,
                                     "make it a text or a whole number: CAST(... AS TEXT)",
                                     "the %s id is a %s, not a text or a whole number",
                                     column_role_name(role),
                                     value->kind == VALUE_REAL ? "real number" : "blob");
        return false;
    }
}

static bool take_rating(const struct value *value, const struct place *place, double *rating,
                        struct record_batch *batch, bool *go_on) {
    int64_t column = place->column[COLUMN_RATING];
    switch (value->kind) {
    case VALUE_INTEGER: *rating = (double)value->integer; return true;
    case VALUE_REAL: *rating = value->real; return true;
    case VALUE_TEXT:
        if (field_rating(value->text, value->length, rating) == NUMBER_OK) return true;
        *go_on = field_reject_rating(batch, value->text, value->length, place->row, column);
        return false;
    case VALUE_NULL:
        *go_on = database_reject_null(batch, COLUMN_RATING, place->row, column);
        return false;
    default:
        *go_on = record_batch_reject(batch, DPMF_ERR_INPUT_NUMBER, place->row, column, NULL,
                                     "the %s is a %s, not a number", record_value_name(batch),
                                     value->kind == VALUE_BLOB ? "blob" : "long text");
        return false;
    }
}

static bool take_time(const struct value *value, const struct place *place, int64_t *time,
                      struct record_batch *batch, bool *go_on) {
    int64_t column = place->column[COLUMN_TIME];
    char text[DPMF_DOUBLE_TEXT_MAX];
    const char *shown = value->text;
    size_t n = value->length;
    *time = STORE_NO_TIME;
    if (value->kind == VALUE_NULL) return true;
    if (value->kind == VALUE_INTEGER) {
        *time = value->integer;
        if (*time != STORE_NO_TIME) return true;
    }
    if (value->kind == VALUE_TEXT && field_time(value->text, value->length, time)) return true;
    if (value->kind == VALUE_REAL && fabs(value->real) < 9e18) {
        *time = (int64_t)floor(value->real);
        return true;
    }
    if (value->kind != VALUE_TEXT) {
        shown = text;
        n = value->kind == VALUE_REAL      ? number_format_double(value->real, text)
            : value->kind == VALUE_INTEGER ? number_format_int64(value->integer, text)
                                           : (size_t)snprintf(text, sizeof text, "(a blob)");
    }
    *go_on = field_reject_time(batch, shown, n, place->row, column);
    return false;
}

static bool take_row(const struct value value[COLUMN_ROLES], const struct place *place,
                     struct database_numbers *numbers, struct record_batch *batch) {
    struct record record = {.rating = 1, .time = STORE_NO_TIME};
    bool go_on = true;
    if (!take_id(&value[COLUMN_USER], COLUMN_USER, place, numbers, &record.user,
                 &record.user_length, batch, &go_on) ||
        !take_id(&value[COLUMN_ITEM], COLUMN_ITEM, place, numbers, &record.item,
                 &record.item_length, batch, &go_on) ||
        (place->column[COLUMN_RATING] > 0 &&
         !take_rating(&value[COLUMN_RATING], place, &record.rating, batch, &go_on))) {
        record_batch_look(batch, &record, place->row);
        return go_on;
    }
    if (place->column[COLUMN_TIME] > 0 &&
        !take_time(&value[COLUMN_TIME], place, &record.time, batch, &go_on))
        return go_on;
    return record_batch_add(batch, &record, place->row, place->column[COLUMN_USER],
                            place->column[COLUMN_ITEM], place->column[COLUMN_RATING]);
}

static void parse_rows(const struct source *source, void *pointer, struct record_batch *batch) {
    const struct sqlite_source *self = self_of(source);
    struct row_chunk *chunk = pointer;
    const uint8_t *at = chunk->values.bytes;
    struct value value[COLUMN_ROLES] = {{.kind = VALUE_NULL}};
    struct place place;
    database_numbers_begin(&chunk->chunk.numbers);
    for (int role = 0; role < COLUMN_ROLES; role++) place.column[role] = self->column[role] + 1;
    place.has_whole_users = self->has_whole_users;
    for (uint64_t r = 0; r < chunk->chunk.n_rows; r++) {
        for (int role = 0; role < COLUMN_ROLES; role++)
            if (self->column[role] >= 0) at = get_value(at, &value[role]);
        place.row = (int64_t)r + 1;
        if (!take_row(value, &place, &chunk->chunk.numbers, batch)) return;
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool may_go_on(struct sqlite_source *self) {
    if (self->wait.go_on && !self->wait.go_on(self->wait.self)) self->interrupted = true;
    return !self->interrupted;
}

/* SQLite calls this while someone else has the database locked. @return not 0 to try again */
static int wait_for_lock(void *pointer, int tries) {
    const struct timespec moment = {.tv_nsec = LOCKED_MILLISECONDS * 1000000L};
    if (tries >= LOCKED_TRIES || !may_go_on(pointer)) return 0;
    nanosleep(&moment, NULL);
    return 1;
}

/* And this while a query takes long, with a row or without. @return not 0 to end it */
static int look_up(void *pointer) {
    struct sqlite_source *self = pointer;
    const double now = clock_now();
    if (now - self->asked < 1e-3 * ASK_MILLISECONDS) return 0;
    self->asked = now;
    return !may_go_on(self);
}

static int open_database(struct sqlite_source *self, struct dpmf_error *error) {
    const struct sqlite_library *sqlite = &self->sqlite;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX; /* one thread at a time */
    if (sqlite->open_v2(self->rows.url.file, &self->database, flags, NULL) != SQLITE_OK)
        return fail(self, "open the database", error);
    sqlite->busy_handler(self->database, wait_for_lock, self);
    sqlite->progress_handler(self->database, STEPS_BETWEEN_QUESTIONS, look_up, self);
    /* Nothing that the file says about functions and sizes is trusted. */
    const char *settings = "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;"
                           "PRAGMA cell_size_check = ON";
    if (sqlite->exec(self->database, settings, NULL, NULL, NULL) != SQLITE_OK)
        return fail(self, "open the database", error);
    return 0;
}

static int refuse_query(const struct sqlite_source *self, const char *what, const char *hint,
                        struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_QUERY, "%s", what);
    error_hint(error, "%s", hint);
    error_place(error, self->rows.url.shown, 0, 0);
    return DPMF_ERR_INPUT_QUERY;
}

/* One statement, which reads; blanks, semicolons and comments may follow. */
static int prepare(struct sqlite_source *self, const char *sql, struct dpmf_error *error) {
    const struct sqlite_library *sqlite = &self->sqlite;
    sqlite3_stmt *more = NULL;
    const char *rest = sql;
    sqlite->finalize(self->statement);
    self->statement = NULL;
    if (sqlite->prepare_v2(self->database, sql, -1, &self->statement, &rest) != SQLITE_OK)
        return fail(self, self->rows.url.table ? "read the table" : "run the query", error);
    if (!self->statement)
        return refuse_query(self, "the query is empty", "give ?query=SELECT ...", error);
    if (!sqlite->stmt_readonly(self->statement))
        return refuse_query(self, "the query would change the database",
                            "a query may only read: give a SELECT", error);
    while (rest && *rest) {
        const char *begin = rest;
        if (sqlite->prepare_v2(self->database, begin, -1, &more, &rest) != SQLITE_OK || more) {
            sqlite->finalize(more);
            return refuse_query(self, "there is more than one statement in the query",
                                "give one SELECT", error);
        }
        if (rest == begin) break;
    }
    return 0;
}

/* What the users' ids are, by the type that their column was declared with, in the order of
 * SQLite's rules of affinity: a text that is stored in a column of numbers becomes one if it can, a
 * number in a column of texts becomes a text, and in a column of blobs or without a type everything
 * stays as it is. */
static enum store_ids ids_of(const char *declared) {
    static const char *const texts[] = {"CHAR", "CLOB", "TEXT"};
    if (!declared || declared[0] == '\0') return STORE_IDS_EITHER;
    if (strcasestr(declared, "INT")) return STORE_IDS_WHOLE;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcasestr(declared, texts[i])) return STORE_IDS_TEXT;
    return strcasestr(declared, "BLOB") ? STORE_IDS_EITHER : STORE_IDS_NUMERIC;
}

/* In a STRICT table a column of the type ANY keeps everything as it is. A library that does not
 * know such tables cannot open one. */
static int ask_strict(struct sqlite_source *self, bool *is_strict, struct dpmf_error *error) {
    const struct sqlite_library *sqlite = &self->sqlite;
    const char *name = self->rows.url.table, *dot = name ? strchr(name, '.') : NULL;
    struct byte_buffer sql = {0};
    sqlite3_stmt *ask = NULL;
    *is_strict = false;
    if (!name) return 0;
    bool done = database_sql_text(&sql, "SELECT 1 FROM pragma_table_list WHERE strict AND "
                                        "name COLLATE NOCASE = ") &&
                database_sql_literal(&sql, dot ? dot + 1 : name);
    if (done && dot)
        done = database_sql_text(&sql, " AND schema || '.' || name COLLATE NOCASE = ") &&
               database_sql_literal(&sql, name);
    if (done &&
        sqlite->prepare_v2(self->database, (const char *)sql.bytes, -1, &ask, NULL) == SQLITE_OK)
        *is_strict = sqlite->step(ask) == SQLITE_ROW;
    sqlite->finalize(ask);
    free(sql.bytes);
    return done ? 0 : error_no_memory(error);
}

static int find_columns(struct sqlite_source *self, const struct dpmf_input_options *options,
                        struct dpmf_error *error) {
    size_t n = (size_t)self->sqlite.column_count(self->statement);
    const char **names = memory_alloc(n ? n : 1, sizeof names[0]);
    if (!names) return error_no_memory(error);
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++) {
        names[i] = self->sqlite.column_name(self->statement, (int)i);
        if (!names[i]) code = error_no_memory(error);
    }
    if (code == 0)
        code = database_columns_find(&self->rows.url, options, names, n, self->column,
                                     &self->rows.source.layout.holds_events, error);
    for (size_t i = 0; code == 0 && i < n; i++)
        source_note_unused(&self->rows.source, names[i], strlen(names[i]), (uint32_t)i,
                           self->column);
    free(names);
    if (code == 0) {
        const int user = (int)self->column[COLUMN_USER];
        const char *declared = self->sqlite.column_decltype(self->statement, user);
        enum store_ids ids = ids_of(declared);
        bool is_strict = false;
        if (declared && strcasecmp(declared, "ANY") == 0)
            code = ask_strict(self, &is_strict, error);
        if (is_strict) ids = STORE_IDS_EITHER;
        self->has_whole_users = ids == STORE_IDS_WHOLE;
        self->rows.source.layout.formats =
            store_layout_format_of_ids(self->rows.source.format, ids);
        self->rows.source.layout.lacks_times = (int)self->column[COLUMN_TIME] < 0;
        /* Row numbers may be drawn at random after someone's, and an index may be read instead. */
        self->rows.source.layout.is_unordered = self->rows.url.table != NULL;
    }
    return code;
}

/* SELECT of a table's columns that count, or, before they are known, of all. @return false without
 * memory */
static bool write_select(struct sqlite_source *self, bool known, struct byte_buffer *sql) {
    bool first = true, done = database_sql_text(sql, "SELECT ");
    for (int role = 0; known && role < COLUMN_ROLES && done; role++) {
        if (self->column[role] < 0) continue;
        if (!first) done = database_sql_text(sql, ", ");
        const char *name = self->sqlite.column_name(self->statement, self->column[role]);
        done = done && name && database_sql_name(sql, name);
        first = false;
    }
    if (!known && done) done = database_sql_text(sql, "*");
    return done && database_sql_text(sql, " FROM ") &&
           database_sql_table(sql, self->rows.url.table);
}

/* NOT EXISTS (...) of a column that is read and generated: its rows are computed as they are read,
 * by an expression that may fail on any of them. @return false without memory */
static bool write_not_generated(const struct sqlite_source *self, const char *schema, size_t n,
                                const char *table, struct byte_buffer *sql) {
    bool first = true, done = database_sql_text(sql, "NOT EXISTS (SELECT 1 FROM "
                                                     "pragma_table_xinfo(") &&
                              database_sql_literal(sql, table);
    if (schema) {
        char *name = strndup(schema, n);
        done = done && name && database_sql_text(sql, ", ") && database_sql_literal(sql, name);
        free(name);
    }
    done = done && database_sql_text(sql, ") WHERE hidden IN (2, 3) AND name COLLATE NOCASE IN (");
    for (int role = 0; role < COLUMN_ROLES && done; role++) {
        if (self->column[role] < 0) continue;
        if (!first) done = database_sql_text(sql, ", ");
        const char *name = self->sqlite.column_name(self->statement, self->column[role]);
        done = done && name && database_sql_literal(sql, name);
        first = false;
    }
    return done && database_sql_text(sql, "))");
}

/* SELECT of a row if there is a plain table of that name, and not a view or a virtual table, whose
 * rows are what a program or a query makes them; nor a table that generates what is read. @return
 * false without memory */
static bool write_look(const struct sqlite_source *self, struct byte_buffer *sql) {
    const char *name = self->rows.url.table, *dot = strchr(name, '.'), *schema = dot ? name : NULL;
    const size_t n = dot ? (size_t)(dot - name) : 0;
    bool done = database_sql_text(sql, "SELECT 1 FROM ");
    if (dot) {
        done = done && database_sql_name_part(sql, name, n) && database_sql_text(sql, ".");
        name = dot + 1;
    }
    return done &&
           database_sql_text(sql, "sqlite_master WHERE type = 'table' AND "
                                  "sql LIKE 'CREATE TABLE%' AND name COLLATE NOCASE = ") &&
           database_sql_literal(sql, name) && database_sql_text(sql, " AND ") &&
           write_not_generated(self, schema, n, name, sql);
}

/* @return whether users whose names are spelled in several ways may be equal to SQLite, Ann and ann
 * with NOCASE, which are two users here; true where that cannot be found out */
static bool is_user_collated(const struct sqlite_source *self) {
    const char *table = self->rows.url.table, *dot = strchr(table, '.'), *collation = NULL;
    const char *user = self->sqlite.column_name(self->statement, self->column[COLUMN_USER]);
    char *schema = dot ? strndup(table, (size_t)(dot - table)) : NULL;
    if (!user || (dot && !schema)) return true;
    const int rc = self->sqlite.table_column_metadata(self->database, schema, dot ? dot + 1 : table,
                                                      user, NULL, &collation, NULL, NULL, NULL);
    free(schema);
    return rc != SQLITE_OK || !collation || strcasecmp(collation, "BINARY") != 0;
}

/* What is not found to be a table, or generates what is read, counts as a query. */
static int look_at_table(struct sqlite_source *self, struct dpmf_error *error) {
    const struct sqlite_library *sqlite = &self->sqlite;
    struct byte_buffer sql = {0};
    sqlite3_stmt *look = NULL;
    if (!write_look(self, &sql)) {
        free(sql.bytes);
        return error_no_memory(error);
    }
    int rc = sqlite->prepare_v2(self->database, (const char *)sql.bytes, -1, &look, NULL);
    if (rc == SQLITE_OK) rc = sqlite->step(look);
    if (rc == SQLITE_ROW) self->rows.source.layout.is_queried = is_user_collated(self);
    int code = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : fail(self, "read the table", error);
    sqlite->finalize(look);
    free(sql.bytes);
    return code;
}

static int prepare_table(struct sqlite_source *self, const struct dpmf_input_options *options,
                         struct dpmf_error *error) {
    struct byte_buffer sql = {0};
    int code = write_select(self, false, &sql) ? 0 : error_no_memory(error);
    if (code == 0) code = prepare(self, (const char *)sql.bytes, error);
    if (code == 0) code = find_columns(self, options, error);
    if (code == 0) code = look_at_table(self, error);
    sql.n = 0;
    if (code == 0 && !write_select(self, true, &sql)) code = error_no_memory(error);
    if (code == 0) code = prepare(self, (const char *)sql.bytes, error);
    free(sql.bytes);
    int32_t place = 0;
    for (int role = 0; role < COLUMN_ROLES; role++)
        if (self->column[role] >= 0) self->column[role] = place++;
    return code;
}

static void close_rows(struct source *source) {
    struct sqlite_source *self = (struct sqlite_source *)source;
    if (self->database) {
        self->sqlite.finalize(self->statement);
        self->sqlite.close_v2(self->database);
    }
    database_url_free(&self->rows.url);
    free(self);
}

static int open_source(struct sqlite_source *self, const struct dpmf_input_options *options,
                       struct dpmf_error *error) {
    int code = sqlite_library_load(&self->sqlite, error);
    if (code == 0) code = open_database(self, error);
    if (code < 0) return code;
    if (self->rows.url.table) return prepare_table(self, options, error);
    code = prepare(self, self->rows.url.query, error);
    return code == 0 ? find_columns(self, options, error) : code;
}

int sqlite_source_open(struct database_url *url, const struct dpmf_input_options *options,
                       const struct input_wait *wait, struct source **source,
                       struct dpmf_error *error) {
    static const struct source_ops ops = {
        .chunk_new = chunk_new,
        .chunk_free = chunk_free,
        .next = next_rows,
        .parse = parse_rows,
        .settle = database_rows_settle,
        .finish = database_rows_finish,
        .close = close_rows,
    };
    *source = NULL;
    struct sqlite_source *self = database_rows_new(sizeof *self, url, "sqlite", &ops);
    if (!self) return error_no_memory(error);
    if (wait) self->wait = *wait;
    self->is_private = options->by_record;
    int code = open_source(self, options, error);
    return source_hand_over(&self->rows.source, code, source);
}

#else

int sqlite_source_open(struct database_url *url, const struct dpmf_input_options *options,
                       const struct input_wait *wait, struct source **source,
                       struct dpmf_error *error) {
    (void)options;
    (void)wait;
    *source = NULL;
    database_url_free(url);
    return sqlite_library_load(NULL, error);
}

#endif
