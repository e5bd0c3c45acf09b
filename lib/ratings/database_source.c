/*
 * What ratings out of any database need: see database_source.h. Called by source_open.c, and by the
 * sources of SQLite and PostgreSQL that it leads to.
 */
#include "ratings/database_source.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "ratings/formats.h"

/* ---- opening --------------------------------------------------------------------------------- */

/* @return 0 or a negative code, with nothing left in *url */
static int parse_source(const char *text, struct database_url *url, struct dpmf_error *error) {
    int code = database_url_parse(text, url, error);
    if (code < 0 || url->query || url->table) return code;
    error_set(error, DPMF_ERR_USAGE_VALUE,
              "the address does not say what to read from the database");
    error_hint(error, "add ?table=NAME, or ?query=SELECT user, item, rating FROM ...");
    error_place(error, url->shown, 0, 0);
    database_url_free(url);
    return DPMF_ERR_USAGE_VALUE;
}

/* SQLite would wait for the other end of a pipe, and not be interrupted. */
static int refuse_device(const char *file, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_READ, "cannot open: it is a pipe or a device");
    error_hint(error, "a database is a file: copy it into one first");
    error_place(error, file, 0, 0);
    return DPMF_ERR_IO_READ;
}

int database_source_check(const char *text, struct dpmf_error *error) {
    struct database_url url;
    struct stat status;
    int code = parse_source(text, &url, error);
    if (code < 0) return code;
    if (url.kind == DATABASE_SQLITE && (stat(url.file, &status) < 0 || access(url.file, R_OK) < 0))
        code = error_system(error, errno, "open", url.file);
    else if (url.kind == DATABASE_SQLITE && S_ISDIR(status.st_mode))
        code = error_system(error, EISDIR, "open", url.file);
    else if (url.kind == DATABASE_SQLITE && !S_ISREG(status.st_mode))
        code = refuse_device(url.file, error);
    database_url_free(&url);
    return code;
}

int database_source_open(const char *text, const struct dpmf_input_options *options,
                         const struct input_wait *wait, struct source **source,
                         struct dpmf_error *error) {
    struct database_url url;
    *source = NULL;
    if (!format_is_auto(options)) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "a database has no format");
        error_hint(error, "leave {format} out");
        return DPMF_ERR_USAGE_CONFLICT;
    }
    if (options->separator != 0) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "a database has no separator");
        error_hint(error, "leave {separator} out");
        return DPMF_ERR_USAGE_CONFLICT;
    }
    int code = database_source_check(text, error);
    if (code == 0) code = parse_source(text, &url, error);
    if (code < 0) return code;
    if (url.kind == DATABASE_SQLITE) return sqlite_source_open(&url, options, wait, source, error);
    return postgres_source_open(&url, options, wait, source, error);
}

/* ---- columns --------------------------------------------------------------------------------- */

static const char hint_names[] = "SELECT user, item, rating FROM ...: these three (or user, item "
                                 "and perhaps a count, of events), or one more that is "
                                 "named timestamp; others are named with AS";

static int refuse_columns(const struct database_url *url, size_t n, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_QUERY,
              "the query returns %zu column%s, not user, item and rating", n, n == 1 ? "" : "s");
    error_hint(error, "%s", hint_names);
    error_place(error, url->shown, 0, 0);
    return DPMF_ERR_INPUT_QUERY;
}

static int refuse_ratings(const struct database_url *url, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "these are declared as events, but there is a rating and no count");
    error_hint(error, "turn ratings into events with {like any}, or name the column as count");
    error_place(error, url->shown, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int take_list(const struct database_url *url, const struct dpmf_input_options *options,
                     size_t n, int32_t column[COLUMN_ROLES], bool *holds_events,
                     struct dpmf_error *error) {
    uint32_t wanted;
    if (url->table) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "{columns} goes with a query, not with a table");
        error_hint(error, "a table's columns are found by their names: leave {columns} out");
        return DPMF_ERR_USAGE_CONFLICT;
    }
    int code = column_list_parse(options->columns, column, &wanted, holds_events, error);
    if (code == 0 && options->events && !*holds_events) return refuse_ratings(url, error);
    if (code < 0 || wanted == n) return code;
    error_set(error, DPMF_ERR_INPUT_QUERY, "the query returns %zu columns, but {columns} lists %u",
              n, (unsigned)wanted);
    error_hint(error, "list all of them, with _ for those to skip");
    error_place(error, url->shown, 0, 0);
    return DPMF_ERR_INPUT_QUERY;
}

static void find_by_name(const char *const *names, size_t n, struct columns_found *found) {
    columns_found_begin(found);
    for (size_t i = 0; i < n; i++)
        columns_found_add(found, names[i], strlen(names[i]), (uint32_t)i);
}

static int find_in_table(const struct database_url *url, const char *const *names, size_t n,
                         bool events, int32_t column[COLUMN_ROLES], bool *holds_events,
                         struct dpmf_error *error) {
    struct columns_found found;
    find_by_name(names, n, &found);
    enum column_role wrong = columns_found_twice(&found, events);
    const char *how = "more than one column that could be";
    enum columns_kind kind = columns_found_settle(&found, events, column);
    if (wrong == COLUMN_OTHER && kind == COLUMNS_CONFLICT) return refuse_ratings(url, error);
    *holds_events = kind == COLUMNS_EVENTS;
    if (wrong == COLUMN_OTHER && kind != COLUMNS_LACKING) return 0;
    if (wrong == COLUMN_OTHER) {
        how = "no column that is named like";
        wrong = column[COLUMN_USER] < 0   ? COLUMN_USER
                : column[COLUMN_ITEM] < 0 ? COLUMN_ITEM
                                          : COLUMN_RATING;
    }
    error_set(error, DPMF_ERR_INPUT_QUERY, "the table \"%.100s\" has %s the %s", url->table, how,
              column_role_name(wrong));
    error_hint(error, wrong == COLUMN_RATING
                          ? "say which it is: ?query=SELECT ... AS user, ... AS item, ... AS "
                            "rating FROM ...; or, if it holds events, {events}"
                          : "say which it is: ?query=SELECT ... AS user, ... AS item, ... AS "
                            "rating FROM ...");
    error_place(error, url->shown, 0, 0);
    return DPMF_ERR_INPUT_QUERY;
}

/* A value with an unknown name may be a rating, a count or a time. */
static int refuse_value(const struct database_url *url, const char *name,
                        struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_QUERY,
              "the query's third column, \"%.80s\", is named like no rating, count or time", name);
    error_hint(error, "say what it is: ... AS rating, ... AS count (how often, of events) or ... "
                      "AS timestamp");
    error_place(error, url->shown, 0, 0);
    return DPMF_ERR_INPUT_QUERY;
}

/* By their places, as long as no name says that a column is something else: user, item, then
 * perhaps a rating or a count and then perhaps a time, which must be named as what they are.
 * `unknown` becomes the name of a value that is not. */
static bool take_places(const char *const *names, size_t n, bool events,
                        int32_t column[COLUMN_ROLES], bool *holds_events, const char **unknown) {
    enum column_role role[COLUMN_ROLES];
    *unknown = NULL;
    if (n < 2 || n > COLUMN_ROLES) return false;
    for (int i = 0; i < COLUMN_ROLES; i++) column[i] = -1;
    for (size_t i = 0; i < n; i++) role[i] = column_role_of(names[i], strlen(names[i]));
    for (size_t i = 0; i < 2; i++) {
        if (role[i] != (enum column_role)i && role[i] != COLUMN_OTHER) return false;
        column[i] = (int32_t)i;
    }
    if (role[n - 1] == COLUMN_TIME ||
        (n > 2 && column_may_be_time(names[n - 1], strlen(names[n - 1]))))
        column[COLUMN_TIME] = (int32_t)--n;
    *holds_events = events || n == 2 || role[2] == COLUMN_COUNT;
    if (n == 2) return true;
    if (n > 3 || role[2] <= COLUMN_ITEM || role[2] == COLUMN_TIME) return false;
    if (role[2] == COLUMN_OTHER) *unknown = names[2];
    column[COLUMN_RATING] = 2;
    return true;
}

int database_columns_find(const struct database_url *url, const struct dpmf_input_options *options,
                          const char *const *names, size_t n, int32_t column[COLUMN_ROLES],
                          bool *holds_events, struct dpmf_error *error) {
    struct columns_found found;
    *holds_events = false;
    if (n == 0) return refuse_columns(url, n, error);
    if (options->columns) return take_list(url, options, n, column, holds_events, error);
    if (url->table)
        return find_in_table(url, names, n, options->events, column, holds_events, error);
    find_by_name(names, n, &found);
    enum columns_kind kind = columns_found_settle(&found, options->events, column);
    bool named = columns_found_twice(&found, options->events) == COLUMN_OTHER && !found.has_other &&
                 kind != COLUMNS_LACKING;
    if (named && kind == COLUMNS_CONFLICT) return refuse_ratings(url, error);
    size_t used = 0;
    for (int role = 0; role < COLUMN_ROLES; role++) used += column[role] >= 0;
    *holds_events = kind == COLUMNS_EVENTS;
    if (named && used == n) return 0;
    const char *unknown;
    if (take_places(names, n, options->events, column, holds_events, &unknown)) {
        if (unknown) return refuse_value(url, unknown, error);
        if (!options->events || column[COLUMN_RATING] < 0 ||
            column_role_of(names[2], strlen(names[2])) != COLUMN_RATING)
            return 0;
        return refuse_ratings(url, error);
    }
    if (n != 3) return refuse_columns(url, n, error);
    error_set(error, DPMF_ERR_INPUT_QUERY,
              "the names of the query's columns, \"%.60s\", \"%.60s\" and "
              "\"%.60s\", are not those of a user, an item and a rating in this order",
              names[0], names[1], names[2]);
    error_hint(error, "%s", hint_names);
    error_place(error, url->shown, 0, 0);
    return DPMF_ERR_INPUT_QUERY;
}

/* ---- SQL ------------------------------------------------------------------------------------- */

static bool put_bytes(struct byte_buffer *sql, const char *text, size_t n) {
    uint8_t *room = byte_buffer_room(sql, n + 1);
    if (!room) return false;
    memcpy(room, text, n);
    room[n] = '\0'; /* so that it is a text at any time */
    sql->n += n;
    return true;
}

bool database_sql_text(struct byte_buffer *sql, const char *text) {
    return put_bytes(sql, text, strlen(text));
}

static bool put_name(struct byte_buffer *sql, const char *name, size_t n) {
    bool done = put_bytes(sql, "\"", 1);
    for (size_t i = 0; i < n && done; i++)
        done = put_bytes(sql, name[i] == '"' ? "\"\"" : name + i, name[i] == '"' ? 2 : 1);
    return done && put_bytes(sql, "\"", 1);
}

bool database_sql_name_part(struct byte_buffer *sql, const char *name, size_t n) {
    return put_name(sql, name, n);
}

bool database_sql_literal(struct byte_buffer *sql, const char *text) {
    bool done = put_bytes(sql, "'", 1);
    for (; *text && done; text++)
        done = put_bytes(sql, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    return done && put_bytes(sql, "'", 1);
}

bool database_sql_name(struct byte_buffer *sql, const char *name) {
    return put_name(sql, name, strlen(name));
}

bool database_sql_table(struct byte_buffer *sql, const char *name) {
    for (;;) {
        size_t n = strcspn(name, ".");
        if (!put_name(sql, name, n)) return false;
        if (name[n] == '\0') return true;
        if (!put_bytes(sql, ".", 1)) return false;
        name += n + 1;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

bool database_reject_null(struct record_batch *batch, enum column_role role, int64_t row,
                          int64_t column) {
    int code = role == COLUMN_RATING ? DPMF_ERR_INPUT_NUMBER : DPMF_ERR_INPUT_ID;
    return record_batch_reject(batch, code, row, column,
                               "leave such rows out with WHERE ... IS NOT NULL, or count and skip "
                               "them with {on-error skip}",
                               "the %s%s is NULL",
                               role == COLUMN_RATING ? record_value_name(batch)
                                                     : column_role_name(role),
                               role <= COLUMN_ITEM ? " id" : "");
}

static void place(struct dpmf_error *error, const struct database_url *url, uint64_t rows_before) {
    if (error->code == 0) return;
    int64_t row = error->line > 0 ? error->line + (int64_t)rows_before : 0;
    if (error->hint[0] == '\0' && row > 0 && error->column == 0)
        error_hint(error,
                   "that is row %lld of what the query returns; {on-error skip} counts and skips "
                   "such rows",
                   (long long)row);
    else if (error->hint[0] == '\0' && row > 0)
        error_hint(error,
                   "that is row %lld and column %lld of what the query returns; {on-error skip} "
                   "counts and skips such rows",
                   (long long)row, (long long)error->column);
    error_place(error, url->shown, row, error->column);
}

/* A database's layout is its schema's and the query's: no row decides it. Until the source knows
 * that it reads a plain table, what it reads is a query's, which may let rows decide about
 * others. */
static void set_layout(struct source *source) {
    source->layout = store_layout_declared();
    source->layout.formats = store_layout_format(source->format);
    source->layout.is_queried = true;
}

static uint64_t bytes_read(const struct source *source) {
    return atomic_load_explicit(&((const struct database_rows *)source)->bytes_read,
                                memory_order_relaxed);
}

void *database_rows_new(size_t size, struct database_url *url, const char *format,
                        const struct source_ops *ops) {
    struct database_rows *rows = memory_alloc_zero(1, size);
    if (!rows) {
        database_url_free(url);
        return NULL;
    }
    rows->url = *url;
    rows->source = (struct source){.ops = ops, .format = format, .bytes_read = bytes_read};
    set_layout(&rows->source);
    return rows;
}

int database_rows_settle(struct source *source, void *chunk, struct record_batch *batch,
                         struct dpmf_error *error) {
    struct database_rows *rows = (struct database_rows *)source;
    place(&batch->failure, &rows->url, rows->n_settled);
    place(&batch->first_rejected, &rows->url, rows->n_settled);
    rows->n_settled += ((const struct database_chunk *)chunk)->n_rows;
    if (batch->failure.code && error) *error = batch->failure;
    return batch->failure.code;
}

int database_rows_finish(struct source *source, struct record_batch *batch,
                         struct dpmf_error *error) {
    const struct database_rows *rows = (const struct database_rows *)source;
    const struct database_url *url = &rows->url;
    (void)batch;
    if (rows->n_settled > 0) return 0;
    error_set(error, DPMF_ERR_INPUT_EMPTY,
              url->table ? "the table has no rows" : "the query returns no rows");
    error_hint(error, "check what it selects");
    error_place(error, url->shown, 0, 0);
    return DPMF_ERR_INPUT_EMPTY;
}
