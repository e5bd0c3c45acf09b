/*
 * Ratings out of a PostgreSQL database behind the interface of source.h: COPY (query) TO STDOUT
 * (FORMAT binary), in a read-only transaction. The rows are gathered into chunks as they arrive,
 * and postgres_copy.c makes records of them, in all threads. Fed by database_source.c; feeds the
 * importer.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "database/postgres_session.h"
#include "ratings/database_source.h"
#include "ratings/postgres_copy.h"

#ifdef DPMF_WITH_POSTGRES

struct postgres_source {
    struct database_rows rows; /* first: its source is what others see */
    struct postgres_session session;
    struct copy_layout layout;
    bool as_text[COLUMN_ROLES]; /* the server makes text of it, with a cast */
    enum store_ids ids;         /* users' ids, by the type of their column */
    bool begun, ended;
};

struct copy_chunk {
    struct database_chunk chunk; /* first */
    struct byte_buffer rows;
    bool too_long; /* stands for one row that is too long to be read */
};

static const struct postgres_source *self_of(const struct source *source) {
    return (const struct postgres_source *)source;
}

static void *chunk_new(const struct source *source) {
    (void)source;
    return memory_alloc_zero(1, sizeof(struct copy_chunk));
}

static void chunk_free(void *pointer) {
    struct copy_chunk *chunk = pointer;
    if (!chunk) return;
    free(chunk->rows.bytes);
    free(chunk);
}

/* ---- rows into a chunk ----------------------------------------------------------------------- */

static const char reading[] = "read from the server";

/* The stream begins with a header, which no row does. */
static int pass_header(struct postgres_source *self, const uint8_t **bytes, size_t *n,
                       struct dpmf_error *error) {
    if (self->begun) return 0;
    size_t header = postgres_copy_header(*bytes, *n);
    if (header == 0) {
        error_set(error, DPMF_ERR_IO_READ, "what the server sends does not begin as a binary copy");
        error_hint(error, "check the network between here and the server, and try again");
        error_place(error, self->rows.url.shown, 0, 0);
        return DPMF_ERR_IO_READ;
    }
    self->begun = true;
    *bytes += header;
    *n -= header;
    return 0;
}

static int gather(struct postgres_source *self, const char *data, size_t n,
                  struct copy_chunk *chunk, struct dpmf_error *error) {
    const uint8_t *bytes = (const uint8_t *)data;
    atomic_fetch_add_explicit(&self->rows.bytes_read, n, memory_order_relaxed);
    int code = pass_header(self, &bytes, &n, error);
    if (code < 0 || n == 0) return code;
    chunk->too_long = n > DATABASE_ROW_MAX;
    if (chunk->too_long) return 0;
    uint8_t *room = byte_buffer_room(&chunk->rows, n);
    if (!room) return error_no_memory(error);
    memcpy(room, bytes, n);
    chunk->rows.n += n;
    return 0;
}

/* After the last row: whether the server is content with what it sent. */
static int end_copy(struct postgres_source *self, struct dpmf_error *error) {
    self->ended = true;
    return postgres_session_finish(&self->session, 1, reading, NULL, error);
}

/* A message of the server's is a row. @return 1 when there was one, 0 when there is none yet or no
 * more, or a negative code */
static int next_row(struct postgres_source *self, struct copy_chunk *chunk,
                    struct dpmf_error *error) {
    const struct postgres_library *pq = &self->session.pq;
    char *data = NULL;
    int n = pq->getCopyData(self->session.connection, &data, 1);
    if (n > 0) {
        int code = gather(self, data, (size_t)n, chunk, error);
        pq->freemem(data);
        return code < 0 ? code : 1;
    }
    if (n == -1) return end_copy(self, error);
    if (n < 0) return postgres_session_fail(&self->session, NULL, reading, error);
    return 0;
}

/* Chunks are cut when they are full, and also when the server has no more for the moment: what
 * there is gets done while it works. */
static int next_rows(struct source *source, void *pointer, struct dpmf_error *error) {
    enum { WORTH_WHILE = DATABASE_CHUNK_BYTES / 4 };
    struct postgres_source *self = (struct postgres_source *)source;
    struct copy_chunk *chunk = pointer;
    chunk->rows.n = 0;
    chunk->chunk.n_rows = 0;
    chunk->too_long = false;
    int code = 0;
    while (!self->ended && !chunk->too_long && chunk->rows.n < DATABASE_CHUNK_BYTES) {
        code = next_row(self, chunk, error);
        if (code < 0) return code;
        if (code == 1 || self->ended) continue;
        if (chunk->rows.n >= WORTH_WHILE) break;
        if ((code = postgres_session_wait(&self->session, error)) < 0) return code;
    }
    return chunk->rows.n > 0 || chunk->too_long;
}

static void parse_rows(const struct source *source, void *pointer, struct record_batch *batch) {
    struct copy_chunk *chunk = pointer;
    chunk->chunk.n_rows = postgres_copy_parse(&self_of(source)->layout, chunk->rows.bytes,
                                              chunk->rows.n, &chunk->chunk.numbers, batch);
    if (!chunk->too_long || batch->failure.code) return;
    record_batch_reject(batch, DPMF_ERR_INPUT_LINE_TOO_LONG, (int64_t)++chunk->chunk.n_rows, 0,
                        NULL, "the row is longer than %d bytes", (int)DATABASE_ROW_MAX);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The length of a query without the semicolons and blanks at its end, which do not fit into COPY
 * (...). */
static size_t query_length(const char *query) {
    size_t n = strlen(query);
    while (n > 0 && strchr("; \t\r\n", query[n - 1])) n--;
    return n;
}

static bool put_query(struct byte_buffer *sql, const struct database_url *url) {
    if (url->table)
        return database_sql_text(sql, "SELECT * FROM ") && database_sql_table(sql, url->table);
    size_t end = sql->n + query_length(url->query);
    if (!database_sql_text(sql, url->query)) return false;
    sql->bytes[end] = '\0';
    sql->n = end;
    return true;
}

/* Prepared, it must be one statement; described, its columns are known before it runs. */
static int describe_query(struct postgres_source *self, PGresult **described,
                          struct dpmf_error *error) {
    struct postgres_session *session = &self->session;
    const char *doing = self->rows.url.table ? "read the table" : "run the query";
    struct byte_buffer sql = {0};
    int code = put_query(&sql, &self->rows.url) ? 0 : error_no_memory(error);
    if (code == 0) {
        int sent =
            session->pq.sendPrepare(session->connection, "", (const char *)sql.bytes, 0, NULL);
        code = postgres_session_finish(session, sent, doing, NULL, error);
    }
    if (code == 0) {
        int sent = session->pq.sendDescribePrepared(session->connection, "");
        code = postgres_session_finish(session, sent, doing, described, error);
    }
    free(sql.bytes);
    return code;
}

static int refuse_type(const struct postgres_source *self, enum column_role role, const char *what,
                       struct dpmf_error *error) {
    const bool is_count = role == COLUMN_RATING && self->rows.source.layout.holds_events;
    error_set(error, DPMF_ERR_INPUT_QUERY, "the %s%s is %s",
              is_count ? "count" : column_role_name(role), role <= COLUMN_ITEM ? " id" : "", what);
    if (role <= COLUMN_ITEM)
        error_hint(error, "make it a text or a whole number, e.g. with ::text or ::bigint");
    else if (role == COLUMN_RATING)
        error_hint(error, "make it a number, e.g. with ::real");
    else
        error_hint(error, "make it a timestamp, or seconds since 1970");
    error_place(error, self->rows.url.shown, 0, self->layout.column[role]);
    return DPMF_ERR_INPUT_QUERY;
}

/* What COPY sends: the query as it is, or columns of it in our order, some made text by the
 * server. */
static bool put_copy(struct byte_buffer *sql, const struct database_url *url, size_t n,
                     const int32_t column[COLUMN_ROLES], const bool as_text[COLUMN_ROLES]) {
    char name[48];
    bool plain = true;
    size_t used = 0;
    for (int role = 0; role < COLUMN_ROLES; role++) {
        used += column[role] >= 0;
        plain = plain && !as_text[role];
    }
    bool done = database_sql_text(sql, "COPY (");
    if (plain && used == n)
        return done && put_query(sql, url) &&
               database_sql_text(sql, "\n) TO STDOUT (FORMAT binary)");
    done = done && database_sql_text(sql, "SELECT ");
    for (int role = 0; role < COLUMN_ROLES && done; role++) {
        if (column[role] < 0) continue;
        snprintf(name, sizeof name, "%sq.c%d%s", role ? ", " : "", (int)column[role],
                 as_text[role] ? "::pg_catalog.text" : "");
        done = database_sql_text(sql, name);
    }
    done = done && database_sql_text(sql, " FROM (") && put_query(sql, url) &&
           database_sql_text(sql, "\n) AS q (");
    for (size_t i = 0; i < n && done; i++) {
        snprintf(name, sizeof name, "%sc%zu", i ? ", " : "", i);
        done = database_sql_text(sql, name);
    }
    return done && database_sql_text(sql, ")) TO STDOUT (FORMAT binary)");
}

/* What the users' ids are, by their type. Of blank-padded texts, the server takes the blanks off as
 * it makes texts of them. Of others than texts and whole numbers, such as addresses
 * and numbers with digits after the point, the server makes a spelling of its own. */
static enum store_ids ids_of(const struct postgres_source *self, uint32_t type) {
    enum { UUID = 2950, PADDED_TEXT = 1042 }; /* OIDs in pg_type */
    if (type == UUID) return STORE_IDS_UUID;
    if (type == PADDED_TEXT) return STORE_IDS_PADDED;
    if (self->as_text[COLUMN_USER]) return STORE_IDS_EITHER;
    return self->layout.type[COLUMN_USER] == COPY_TEXT ? STORE_IDS_TEXT : STORE_IDS_WHOLE;
}

/* Sets the layout, and the command that sends it. */
static int plan_copy(struct postgres_source *self, const PGresult *described,
                     const struct dpmf_input_options *options, struct byte_buffer *sql,
                     struct dpmf_error *error) {
    const struct postgres_library *pq = &self->session.pq;
    struct copy_layout *layout = &self->layout;
    size_t n = (size_t)pq->nfields(described), used = 0;
    int32_t column[COLUMN_ROLES];
    bool plain = true;
    const char **names = memory_alloc(n ? n : 1, sizeof names[0]);
    if (!names) return error_no_memory(error);
    for (size_t i = 0; i < n; i++) names[i] = pq->fname(described, (int)i);
    int code = database_columns_find(&self->rows.url, options, names, n, column,
                                     &self->rows.source.layout.holds_events, error);
    for (size_t i = 0; code == 0 && i < n; i++)
        source_note_unused(&self->rows.source, names[i], strlen(names[i]), (uint32_t)i, column);
    free(names);
    for (int role = 0; role < COLUMN_ROLES && code == 0; role++) {
        layout->column[role] = column[role] + 1;
        if (column[role] < 0) continue;
        const char *wrong =
            postgres_copy_type(pq->ftype(described, column[role]), (enum column_role)role,
                               &layout->type[role], &self->as_text[role]);
        if (wrong) code = refuse_type(self, (enum column_role)role, wrong, error);
        plain = plain && !self->as_text[role];
        used++;
    }
    if (code < 0) return code;
    self->ids = ids_of(self, pq->ftype(described, column[COLUMN_USER]));
    self->rows.source.layout.formats =
        store_layout_format_of_ids(self->rows.source.format, self->ids);
    self->rows.source.layout.lacks_times = column[COLUMN_TIME] < 0;
    /* A new row is put where another person's was deleted. */
    self->rows.source.layout.is_unordered = self->rows.url.table != NULL;
    int32_t next = 0;
    for (int role = 0; role < COLUMN_ROLES; role++)
        layout->field[role] = column[role] < 0 ? -1 : plain && used == n ? column[role] : next++;
    layout->n_fields = (uint32_t)used;
    return put_copy(sql, &self->rows.url, n, column, self->as_text) ? 0 : error_no_memory(error);
}

/* The server took it on its own, as it would of psql's. */
static void explain_syntax(const struct postgres_session *session, int code,
                           struct dpmf_error *error) {
    if (code != DPMF_ERR_INPUT_QUERY || strcmp(session->state, "42601") != 0) return;
    error_hint(error,
               "it is run as COPY (query), which takes SELECT, VALUES, TABLE and WITH: leave "
               "out a semicolon that a comment follows");
}

/* What is asked about a table, as the server takes it: its name, the types of the columns that are
 * read, those of which it makes text, and the columns' names, NULL of a role without one. */
struct table_look {
    struct byte_buffer name;
    char types[COLUMN_ROLES * 12 + 3], text_types[COLUMN_ROLES * 12 + 3]; /* {20,25} */
    const char *column[COLUMN_ROLES];
};

static void add_type(char *types, size_t room, uint32_t type) {
    size_t n = strlen(types);
    if (n == 0)
        snprintf(types, room, "{%u}", (unsigned)type);
    else
        snprintf(types + n - 1, room - n + 1, ",%u}", (unsigned)type);
}

static void look_for(const struct postgres_source *self, const PGresult *described,
                     struct table_look *look) {
    const struct postgres_library *pq = &self->session.pq;
    for (int role = 0; role < COLUMN_ROLES; role++) {
        const int column = (int)self->layout.column[role] - 1;
        if (column < 0) continue;
        /* The server describes a domain by the type that it is over. */
        uint32_t type = pq->ftype(described, column);
        look->column[role] = pq->fname(described, column);
        add_type(look->types, sizeof look->types, type);
        if (self->as_text[role]) add_type(look->text_types, sizeof look->text_types, type);
    }
    if (!look->text_types[0]) snprintf(look->text_types, sizeof look->text_types, "{}");
}

/* A plain table, and the same of every partition and heir of it, of which what is read is stored as
 * it is sent. A view, a foreign table and the policies of a table are queries, which may let rows
 * decide about others. So may functions that someone wrote for this database: what generates a
 * column, what a type of its own is sent or made text with, and a cast for a type of the server's.
 * What the server came with has a number below 16384. A table of a server before 12, which has
 * another catalogue, stays a query. So does one whose users the server takes for equal though it
 * sends them in several spellings: 7, 7.0 and 7.00 of a numeric, Ann and ann by a collation. */
static int look_at_table(struct postgres_source *self, const PGresult *described,
                         struct dpmf_error *error) {
    static const char sql[] =
        "WITH RECURSIVE t (oid) AS (SELECT $1::pg_catalog.regclass::pg_catalog.oid"
        " UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN t ON i.inhparent = t.oid)"
        " SELECT 1 FROM t JOIN pg_catalog.pg_class AS c ON c.oid = t.oid"
        " HAVING pg_catalog.bool_and(c.relkind IN ('r', 'p') AND NOT c.relrowsecurity"
        " AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute AS a"
        " LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation"
        " WHERE a.attrelid = t.oid AND (a.attgenerated <> '' OR NOT l.collisdeterministic)"
        " AND a.attname IN ($4::pg_catalog.name, $5::pg_catalog.name,"
        " $6::pg_catalog.name, $7::pg_catalog.name)))"
        " AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_type AS y"
        " WHERE y.oid = ANY ($2::pg_catalog.oid[]) AND (y.oid >= 16384"
        " OR y.typsend::pg_catalog.oid >= 16384 OR y.typoutput::pg_catalog.oid >= 16384))"
        " AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_cast AS k WHERE k.oid >= 16384"
        " AND k.castsource = ANY ($3::pg_catalog.oid[])"
        " AND k.casttarget = 'pg_catalog.text'::pg_catalog.regtype)";
    struct postgres_session *session = &self->session;
    struct table_look look = {.types = "", .text_types = ""};
    PGresult *found = NULL;
    if (!self->rows.url.table || session->pq.serverVersion(session->connection) < 120000) return 0;
    look_for(self, described, &look);
    int code = database_sql_table(&look.name, self->rows.url.table) ? 0 : error_no_memory(error);
    if (code == 0) {
        const char *const values[] = {(const char *)look.name.bytes,
                                      look.types,
                                      look.text_types,
                                      look.column[COLUMN_USER],
                                      look.column[COLUMN_ITEM],
                                      look.column[COLUMN_RATING],
                                      look.column[COLUMN_TIME]};
        int sent =
            session->pq.sendQueryParams(session->connection, sql, sizeof values / sizeof values[0],
                                        NULL, values, NULL, NULL, 0);
        code = postgres_session_finish(session, sent, "read the table", &found, error);
    }
    if (code == 0)
        self->rows.source.layout.is_queried =
            session->pq.ntuples(found) != 1 || self->ids == STORE_IDS_EITHER;
    if (found) session->pq.clear(found);
    free(look.name.bytes);
    return code;
}

static int begin_copy(struct postgres_source *self, const struct dpmf_input_options *options,
                      struct dpmf_error *error) {
    struct postgres_session *session = &self->session;
    PGresult *described = NULL;
    struct byte_buffer sql = {0};
    /* Tables are read from their beginning, so that the same table gives the same store. */
    const char *begin = "BEGIN TRANSACTION READ ONLY; SET LOCAL synchronize_seqscans = off";
    int code = postgres_session_command(session, begin, "begin to read", NULL, error);
    if (code == 0) code = describe_query(self, &described, error);
    if (code == 0) code = plan_copy(self, described, options, &sql, error);
    if (code == 0) code = look_at_table(self, described, error);
    if (code == 0) {
        int sent = session->pq.sendQueryParams(session->connection, (const char *)sql.bytes, 0,
                                               NULL, NULL, NULL, NULL, 1);
        code = postgres_session_finish(session, sent, "run the query", NULL, error);
        explain_syntax(session, code, error);
    }
    if (described) session->pq.clear(described);
    free(sql.bytes);
    return code;
}

static void close_rows(struct source *source) {
    struct postgres_source *self = (struct postgres_source *)source;
    postgres_session_close(&self->session);
    database_url_free(&self->rows.url);
    free(self);
}

/* The server makes UTF-8 of what is stored. Where it may meet a row of which it cannot, that row
 * ends the reading of all, so one person could decide whether there is a release: private runs
 * refuse the database, whatever its rows are. */
static int check_encoding(struct postgres_source *self, bool by_record, struct dpmf_error *error) {
    const struct postgres_session *session = &self->session;
    const char *encoding = session->pq.parameterStatus(session->connection, "server_encoding");
    if (encoding && (strcmp(encoding, "UTF8") == 0 || strcmp(encoding, "LATIN1") == 0)) return 0;
    self->rows.source.layout.drops_bad = false;
    if (!by_record) return 0;
    int code = error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                         "the database is encoded in %.40s, which the server cannot convert to "
                         "UTF-8 row by row: one person's row could end the run",
                         encoding ? encoding : "something unknown");
    error_hint(error, "copy the ratings to a file, or to a database encoded in UTF8");
    error_place(error, self->rows.url.shown, 0, 0);
    return code;
}

int postgres_source_open(struct database_url *url, const struct dpmf_input_options *options,
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
    struct postgres_source *self = database_rows_new(sizeof *self, url, "postgres", &ops);
    if (!self) return error_no_memory(error);
    struct database_wait asked = {NULL, NULL};
    if (wait) asked = (struct database_wait){wait->go_on, wait->self};
    int code = postgres_session_open(&self->session, &self->rows.url, &asked, error);
    self->session.is_private = options->by_record; /* there were no rows before */
    if (code == 0) code = check_encoding(self, options->by_record, error);
    if (code == 0) code = begin_copy(self, options, error);
    return source_hand_over(&self->rows.source, code, source);
}

#else

int postgres_source_open(struct database_url *url, const struct dpmf_input_options *options,
                         const struct input_wait *wait, struct source **source,
                         struct dpmf_error *error) {
    (void)options;
    (void)wait;
    *source = NULL;
    database_url_free(url);
    return postgres_library_load(NULL, error);
}

#endif
