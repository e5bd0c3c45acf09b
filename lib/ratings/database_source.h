/*
 * Ratings out of a database: what sources of SQLite and of PostgreSQL share. Which columns of a
 * result are the user, the item, the rating and the time; the count of rows, by which errors name
 * their place; and the SQL for a whole table.
 */
#ifndef DPMF_RATINGS_DATABASE_SOURCE_H
#define DPMF_RATINGS_DATABASE_SOURCE_H

#include <assert.h>

#include "base/bytes.h"
#include "database/database_url.h"
#include "ratings/source.h"
#include "tables/column_names.h"

enum {
    DATABASE_CHUNK_BYTES = 2 << 20,
    DATABASE_ROW_MAX =
        1 << 20, /* as for a line of text: no two ids of 64 KiB and a rating are more */
    DATABASE_NUMBER_MAX = 24, /* room for an int64 as text */
};

/* An id that is a number, as text, which grows from the end of its room: no digit is moved. */
static inline const char *database_number_text(int64_t number, char room[DATABASE_NUMBER_MAX],
                                               uint32_t *length) {
    uint32_t at = DATABASE_NUMBER_MAX;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    for (; left > UINT32_MAX; left /= 10) room[--at] = (char)('0' + left % 10);
    uint32_t small = (uint32_t)left;
    do room[--at] = (char)('0' + small % 10);
    while ((small /= 10) > 0);
    if (number < 0) room[--at] = '-';
    *length = DATABASE_NUMBER_MAX - at;
    return room + at;
}

enum { DATABASE_IDS = 2 }; /* COLUMN_USER and COLUMN_ITEM, the first of the roles */

/* Ids that are numbers, as text, until a batch of records is taken: each record of it has its room.
 * Most tables are sorted by user or by item, so the last number of either is remembered and the
 * same one not written again. */
struct database_numbers {
    char text[RECORD_BATCH][DATABASE_IDS][DATABASE_NUMBER_MAX];
    struct {
        int64_t number;
        const char *text;
        uint32_t length;
        int record; /* record whose room holds the text; RECORD_BATCH: none */
    } last[DATABASE_IDS];
};

/* Before the first record of a chunk. */
static inline void database_numbers_begin(struct database_numbers *numbers) {
    for (int i = 0; i < DATABASE_IDS; i++) numbers->last[i].record = RECORD_BATCH;
}

/* The text of record n's id; valid until the batch is taken. A remembered text is good as long as
 * its room is not ahead: then no later record of this batch will write there. */
static inline const char *database_number_id(struct database_numbers *numbers, int n,
                                             enum column_role role, int64_t number,
                                             uint32_t *length) {
    assert(n >= 0 && n < RECORD_BATCH && (int)role < DATABASE_IDS);
    if (numbers->last[role].number != number || numbers->last[role].record > n) {
        numbers->last[role].text =
            database_number_text(number, numbers->text[n][role], &numbers->last[role].length);
        numbers->last[role].number = number;
        numbers->last[role].record = n;
    }
    *length = numbers->last[role].length;
    return numbers->last[role].text;
}

/* What both kinds of source begin with. */
struct database_rows {
    struct source source; /* first: this is what others see */
    struct database_url url;
    uint64_t n_settled; /* number of rows in settled chunks */
    _Atomic uint64_t bytes_read;
};

/* What their chunks begin with. */
struct database_chunk {
    uint64_t n_rows;
    struct database_numbers numbers;
};

/* Opens a path for which database_url_is() is true; as source_open. */
int database_source_open(const char *text, const struct dpmf_input_options *options,
                         const struct input_wait *wait, struct source **source,
                         struct dpmf_error *error);

/* Checks that the URL is well formed and its file exists, before hours are spent on other
 * inputs. */
int database_source_check(const char *text, struct dpmf_error *error);

/* The two kinds. `url` is taken, also when this fails. */
int sqlite_source_open(struct database_url *url, const struct dpmf_input_options *options,
                       const struct input_wait *wait, struct source **source,
                       struct dpmf_error *error);
int postgres_source_open(struct database_url *url, const struct dpmf_input_options *options,
                         const struct input_wait *wait, struct source **source,
                         struct dpmf_error *error);

/* Finds each role's column, or -1 (of the time, and of a count), among the names of a result's
 * columns. A table's columns must have the usual names, others are ignored; a query gives user,
 * item, rating or count, and perhaps a time: by their names in any order, or in this order, where
 * names of users and items that are not known will do; or the user and the item alone, of events.
 * Of the options it uses `columns` and `events`. */
int database_columns_find(const struct database_url *url, const struct dpmf_input_options *options,
                          const char *const *names, size_t n, int32_t column[COLUMN_ROLES],
                          bool *holds_events, struct dpmf_error *error);

/* Adds a name in double quotes to SQL; a table's name may be SCHEMA.TABLE. @return whether there
 * was memory */
bool database_sql_name(struct byte_buffer *sql, const char *name);
bool database_sql_name_part(struct byte_buffer *sql, const char *name, size_t n);
bool database_sql_table(struct byte_buffer *sql, const char *name);
bool database_sql_text(struct byte_buffer *sql, const char *text);

/* The same for a text in single quotes, as SQLite takes it. */
bool database_sql_literal(struct byte_buffer *sql, const char *text);

/* Rejects a NULL. @return as record_batch_reject */
bool database_reject_null(struct record_batch *batch, enum column_role role, int64_t row,
                          int64_t column);

/* The beginning of both: a source of `size` bytes, 0 but for the rows it begins with. `url` is
 * taken, also when there is no memory. @return NULL then */
void *database_rows_new(size_t size, struct database_url *url, const char *format,
                        const struct source_ops *ops);

/* The `settle` of both: rows are counted from the beginning of the result, no longer from that of
 * the chunk. @return the batch's failure */
int database_rows_settle(struct source *source, void *chunk, struct record_batch *batch,
                         struct dpmf_error *error);

/* The `finish` of both: DPMF_ERR_INPUT_EMPTY without any row. */
int database_rows_finish(struct source *source, struct record_batch *batch,
                         struct dpmf_error *error);

#endif
