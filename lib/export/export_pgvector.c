/*
 * A model as tables of a PostgreSQL database, in one transaction: whoever looks sees the old ones,
 * or none, until the new ones are whole. Fed by an open model. Where the extension pgvector is
 * there a vector is its `vector`, whose operators find neighbours; elsewhere it is an array,
 * real[].
 *
 *     NAME        number bigint, id text, title text, bias real, vector vector(k) or real[]
 *     NAME_users  number bigint, id text, bias real, vector ...                            (with
 *     `users`)
 *     NAME_model  field text, value text: the facts, and the statement or the provenance as JSON
 *
 * NAME is the URL's table, or dpmf_items. Rows travel as COPY in its binary form.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "database/postgres_session.h"
#include "dpmf_text.h"
#include "export/export_task.h"

#ifdef DPMF_WITH_POSTGRES

enum {
    FLOAT4_OID = 700, /* OID of real, the same in every database */
    PIECE_BYTES = 1 << 18,
    TYPE_MAX = 300, /* a quoted schema and vector(4096) */
    INDEXED_MAX =
        2000, /* bytes of an id: a B-tree takes 2704 with what it adds, a hash any number */
};

static const char default_table[] = "dpmf_items";
static const char comment_begin[] = "dpmf ";

enum { TABLE_ITEMS, TABLE_USERS, TABLE_MODEL, TABLES };
static const char *const suffixes[TABLES] = {"", "_users", "_model"};

struct writing {
    struct export_task *task;
    struct database_url url;
    struct postgres_session session;
    char *table[TABLES]; /* quoted, with the schema */
    char type[TYPE_MAX]; /* SQL type of a vector */
    bool is_array;
    bool has_long_ids[2];    /* items, users: some are too long for a B-tree */
    struct byte_buffer rows; /* to be sent */
};

/* What would fix it, by SQLSTATE; the first that matches. */
static const char *hint_of(const char *state) {
    static const struct {
        const char *state, *hint;
    } known[] = {
        {"2BP01",
         "drop what depends on it first, e.g. DROP VIEW, and create it again afterwards; or name "
         "another table: ?table=NAME"},
        {"25006", "this server is read-only: name the one that it follows, or another role"},
        {"22", "a database made with ENCODING 'UTF8' has all characters"},
        {"3F", "create the schema first: CREATE SCHEMA; or name another: ?table=SCHEMA.NAME"},
        {"40", "it conflicted with another transaction: try again"},
        {"55P03", "another session holds the tables: try again later"},
        {"", "the server's log may say more"},
    };
    size_t i = 0;
    while (strncmp(state, known[i].state, strlen(known[i].state)) != 0) i++;
    return known[i].hint;
}

/* What the server refused to do. Readers see their own query in errors; exports have none. */
static int refuse(const struct writing *writing, int code, struct dpmf_error *error) {
    if (code == DPMF_ERR_IO_PERMISSION) {
        error_hint(error, "the role must be allowed to make tables there: GRANT CREATE ON SCHEMA");
    } else if (code == DPMF_ERR_INPUT_QUERY || code == DPMF_ERR_IO_READ) {
        if (error) error->code = DPMF_ERR_IO_WRITE;
        error_hint(error, "%s", hint_of(writing->session.state));
        code = DPMF_ERR_IO_WRITE;
    }
    return code;
}

/* ---- commands -------------------------------------------------------------------------------- */

DPMF_PRINTF(3, 4)
static int command(struct writing *writing, struct dpmf_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *sql = n >= 0 ? memory_alloc((size_t)n + 1, 1) : NULL;
    if (!sql) return error_no_memory(error);
    va_start(arguments, format);
    vsnprintf(sql, (size_t)n + 1, format, arguments);
    va_end(arguments);
    int code = postgres_session_command(&writing->session, sql, "write the tables", NULL, error);
    free(sql);
    return refuse(writing, code, error);
}

/* Asks for one text. *text is for free(), and NULL when there is no row or a NULL in it. */
static int ask(struct writing *writing, const char *sql, const char *parameter, char **text,
               struct dpmf_error *error) {
    const struct postgres_library *pq = &writing->session.pq;
    PGresult *result = NULL;
    *text = NULL;
    int sent = pq->sendQueryParams(writing->session.connection, sql, parameter ? 1 : 0, NULL,
                                   &parameter, NULL, NULL, 0);
    int code = postgres_session_finish(&writing->session, sent, "look for tables", &result, error);
    if (code < 0) return refuse(writing, code, error);
    if (pq->ntuples(result) == 1 && !pq->getisnull(result, 0, 0)) {
        const char *found = pq->getvalue(result, 0, 0);
        size_t size = strlen(found) + 1;
        *text = memory_alloc(size, 1);
        if (*text)
            memcpy(*text, found, size);
        else
            code = error_no_memory(error);
    }
    pq->clear(result);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* SCHEMA.NAME or NAME, each part quoted. */
static int quote_table(struct writing *writing, size_t t, struct dpmf_error *error) {
    const struct postgres_library *pq = &writing->session.pq;
    const char *name = writing->url.table ? writing->url.table : default_table;
    const char *dot = strchr(name, '.');
    PGconn *connection = writing->session.connection;
    char *schema = dot ? pq->escapeIdentifier(connection, name, (size_t)(dot - name)) : NULL;
    const char *last = dot ? dot + 1 : name;
    size_t size = strlen(last) + strlen(suffixes[t]) + 1;
    char *whole = memory_alloc(size, 1), *quoted = NULL;
    int code = 0;
    if (whole) {
        snprintf(whole, size, "%s%s", last, suffixes[t]);
        quoted = pq->escapeIdentifier(connection, whole, size - 1);
    }
    if (!quoted || (dot && !schema)) {
        code = error_no_memory(error);
        goto out;
    }
    size = (schema ? strlen(schema) + 1 : 0) + strlen(quoted) + 1;
    writing->table[t] = memory_alloc(size, 1);
    if (writing->table[t])
        snprintf(writing->table[t], size, "%s%s%s", schema ? schema : "", schema ? "." : "",
                 quoted);
    else
        code = error_no_memory(error);
out:
    if (schema) pq->freemem(schema);
    if (quoted) pq->freemem(quoted);
    free(whole);
    return code;
}

/* Without factors there is nothing that could be a vector: pgvector's have a dimension at least. */
static int choose_type(struct writing *writing, struct dpmf_error *error) {
    uint32_t k = writing->task->info.factors;
    char *schema = NULL;
    int code = ask(writing,
                   "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN "
                   "pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
                   NULL, &schema, error);
    if (code < 0) return code;
    writing->is_array = !schema || k == 0;
    if (writing->is_array)
        snprintf(writing->type, sizeof writing->type, "real[]");
    else
        snprintf(writing->type, sizeof writing->type, "%s.vector(%u)", schema, k);
    snprintf(writing->task->report->vector_type, sizeof writing->task->report->vector_type,
             writing->is_array ? "real[]" : "vector(%u)", k);
    free(schema);
    return 0;
}

/* One that is there is replaced when that was asked for and the comment says that dpmf made it, so
 * that a slip of the pen does not cost someone their ratings; else all is refused. */
static int make_room(struct writing *writing, size_t t, struct dpmf_error *error) {
    char *there = NULL, *comment = NULL;
    bool replace = writing->task->options->replace;
    int code =
        ask(writing, "SELECT pg_catalog.to_regclass($1)::text", writing->table[t], &there, error);
    if (code == 0 && there && replace)
        code = ask(writing,
                   "SELECT pg_catalog.obj_description(pg_catalog.to_regclass($1), 'pg_class')",
                   writing->table[t], &comment, error);
    bool is_ours = comment && strncmp(comment, comment_begin, sizeof comment_begin - 1) == 0;
    if (code == 0 && there && is_ours) {
        code = command(writing, error, "DROP TABLE %s", writing->table[t]);
    } else if (code == 0 && there) {
        error_set(error, DPMF_ERR_IO_WRITE,
                  replace ? "the table %s is not one that dpmf made"
                          : "the table %s is there already",
                  there);
        error_hint(error, replace ? "name another: ?table=NAME; only dpmf's own are replaced"
                                  : "{replace} replaces it; or name another: ?table=NAME");
        error_place(error, writing->url.shown, 0, 0);
        code = DPMF_ERR_IO_WRITE;
    }
    free(there);
    free(comment);
    return code;
}

static int make_tables(struct writing *writing, struct dpmf_error *error) {
    bool has_users = writing->task->has_users;
    int code = 0;
    for (size_t t = 0; code == 0 && t < TABLES; t++) code = quote_table(writing, t, error);
    if (code == 0) code = choose_type(writing, error);
    for (size_t t = 0; code == 0 && t < TABLES; t++) code = make_room(writing, t, error);
    if (code == 0)
        code = command(writing, error,
                       "CREATE TABLE %s (number bigint NOT NULL, id text NOT NULL, title text, "
                       "bias real NOT NULL, vector %s NOT NULL)",
                       writing->table[TABLE_ITEMS], writing->type);
    if (code == 0 && has_users)
        code = command(writing, error,
                       "CREATE TABLE %s (number bigint NOT NULL, id text NOT NULL, "
                       "bias real NOT NULL, vector %s NOT NULL)",
                       writing->table[TABLE_USERS], writing->type);
    if (code == 0)
        code = command(writing, error, "CREATE TABLE %s (field text PRIMARY KEY, value text)",
                       writing->table[TABLE_MODEL]);
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_16(uint8_t **at, uint32_t v) {
    *(*at)++ = (uint8_t)(v >> 8);
    *(*at)++ = (uint8_t)v;
}

static void put_32(uint8_t **at, uint32_t v) {
    put_16(at, v >> 16);
    put_16(at, v);
}

static void put_float(uint8_t **at, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_32(at, bits);
}

/* A field: its length and its bytes; NULL: no value. */
static void put_field(uint8_t **at, const void *bytes, size_t n) {
    put_32(at, bytes ? (uint32_t)n : UINT32_MAX);
    if (bytes && n > 0) memcpy(*at, bytes, n);
    if (bytes) *at += n;
}

static void put_number(uint8_t **at, uint64_t number) {
    put_32(at, 8);
    put_32(at, (uint32_t)(number >> 32));
    put_32(at, (uint32_t)number);
}

/* pgvector's: the dimension, two bytes that mean nothing, the numbers. */
static void put_vector(uint8_t **at, const float *vector, uint32_t k) {
    put_32(at, 4 + 4 * k);
    put_16(at, k);
    put_16(at, 0);
    for (uint32_t c = 0; c < k; c++) put_float(at, vector[c]);
}

/* An array's: dimensions, no NULLs, the type of its elements, their number and the first one's, and
 * each as a field. */
static void put_array(uint8_t **at, const float *vector, uint32_t k) {
    put_32(at, k > 0 ? 20 + 8 * k : 12);
    put_32(at, k > 0);
    put_32(at, 0);
    put_32(at, FLOAT4_OID);
    if (k == 0) return;
    put_32(at, k);
    put_32(at, 1);
    for (uint32_t c = 0; c < k; c++) {
        put_32(at, 4);
        put_float(at, vector[c]);
    }
}

static int send_rows(struct writing *writing, struct dpmf_error *error) {
    int code = postgres_session_send(&writing->session, writing->rows.bytes, writing->rows.n,
                                     "send rows", error);
    writing->rows.n = 0;
    return refuse(writing, code, error);
}

/* Room for n more bytes, after what is long enough was sent. */
static int room_for(struct writing *writing, size_t n, uint8_t **at, struct dpmf_error *error) {
    int code = writing->rows.n >= PIECE_BYTES ? send_rows(writing, error) : 0;
    if (code < 0) return code;
    *at = byte_buffer_room(&writing->rows, n);
    return *at ? 0 : error_no_memory(error);
}

static int put_row(struct writing *writing, size_t s, uint64_t i, struct dpmf_error *error) {
    const struct export_task *task = writing->task;
    const struct export_side *side = &task->side[s];
    const float *vector = side->rows + i * side->stride;
    const char *title = s == 0 ? export_title(task, i) : NULL;
    uint32_t k = task->info.factors;
    size_t length, title_length = title ? strlen(title) : 0;
    uint8_t *at = NULL;
    const char *id = side->id(task->model, i, &length);
    int code = room_for(writing, 64 + length + title_length + 32 + 8 * (size_t)k, &at, error);
    if (code < 0) return code;
    put_16(&at, s == 0 ? 5 : 4);
    put_number(&at, i);
    put_field(&at, id, length);
    if (s == 0) put_field(&at, title, title_length);
    put_32(&at, 4);
    put_float(&at, side->biases[i]);
    if (writing->is_array)
        put_array(&at, vector, k);
    else
        put_vector(&at, vector, k);
    writing->rows.n = (size_t)(at - writing->rows.bytes);
    return export_rows_count(writing->task, 1, error);
}

static int begin_copy(struct writing *writing, size_t t, struct dpmf_error *error) {
    static const char head[19] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0";
    uint8_t *at = NULL;
    int code = command(writing, error, "COPY %s FROM STDIN (FORMAT binary)", writing->table[t]);
    if (code == 0) code = room_for(writing, sizeof head, &at, error);
    if (code < 0 || !at) return code;
    memcpy(at, head, sizeof head);
    writing->rows.n += sizeof head;
    return 0;
}

static int end_copy(struct writing *writing, struct dpmf_error *error) {
    const struct postgres_library *pq = &writing->session.pq;
    uint8_t *at = NULL;
    int code = room_for(writing, 2, &at, error);
    if (code < 0) return code;
    put_16(&at, 0xffff);
    writing->rows.n += 2;
    code = send_rows(writing, error);
    if (code < 0) return code;
    int sent = pq->putCopyEnd(writing->session.connection, NULL) == 1;
    code = postgres_session_finish(&writing->session, sent, "write rows", NULL, error);
    return refuse(writing, code, error);
}

static int copy_side(struct writing *writing, size_t s, struct dpmf_error *error) {
    int code = begin_copy(writing, s, error);
    for (uint64_t i = 0; code == 0 && i < writing->task->side[s].n; i++)
        code = put_row(writing, s, i, error);
    if (code == 0) code = end_copy(writing, error);
    if (code == 0)
        code = command(writing, error, "ALTER TABLE %s ADD PRIMARY KEY (number), ADD %s",
                       writing->table[s],
                       writing->has_long_ids[s] ? "EXCLUDE USING hash (id WITH =)" : "UNIQUE (id)");
    return code;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int put_fact_text(struct writing *writing, const char *field, const char *text,
                         struct dpmf_error *error) {
    size_t length = text ? strlen(text) : 0;
    uint8_t *at = NULL;
    int code = room_for(writing, strlen(field) + length + 16, &at, error);
    if (code < 0) return code;
    put_16(&at, 2);
    put_field(&at, field, strlen(field));
    put_field(&at, text, length);
    writing->rows.n = (size_t)(at - writing->rows.bytes);
    return 0;
}

static int put_fact(void *self, const struct export_fact *fact, struct dpmf_error *error) {
    struct writing *writing = self;
    char text[DPMF_DOUBLE_TEXT_MAX];
    switch (fact->kind) {
    case EXPORT_TEXT: return put_fact_text(writing, fact->field, fact->text, error);
    case EXPORT_FLAG:
        return put_fact_text(writing, fact->field, fact->whole ? "true" : "false", error);
    case EXPORT_NULL: return put_fact_text(writing, fact->field, NULL, error);
    case EXPORT_NUMBER: text[number_format_double(fact->number, text)] = '\0'; break;
    case EXPORT_WHOLE: text[number_format_int64(fact->whole, text)] = '\0'; break;
    }
    return put_fact_text(writing, fact->field, text, error);
}

static int copy_facts(struct writing *writing, struct dpmf_error *error) {
    const struct dpmf_model_info *info = &writing->task->info;
    int code = begin_copy(writing, TABLE_MODEL, error);
    if (code == 0) code = export_facts_visit(writing->task, put_fact, writing, error);
    if (code == 0 && info->statement)
        code = put_fact_text(writing, "statement", info->statement, error);
    if (code == 0 && info->provenance)
        code = put_fact_text(writing, "provenance", info->provenance, error);
    return code == 0 ? end_copy(writing, error) : code;
}

/* So that whoever finds the table knows what it is. */
static int comment(struct writing *writing, size_t t, const char *of, struct dpmf_error *error) {
    bool is_private = writing->task->mode == OUTPUT_PUBLIC;
    return command(writing, error, "COMMENT ON TABLE %s IS '%s%s: %s of a %s%s'", writing->table[t],
                   comment_begin, dpmf_version(), of, writing->task->info.kind,
                   is_private ? "" : ", NOT PRIVATE: it says much about people");
}

/* ---- before anything is sent ----------------------------------------------------------------- */

static int refuse_text(const char *what, const struct export_side *side, uint64_t i,
                       struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_ID,
              "the %s of %s %llu is not UTF-8 without NUL, which is what PostgreSQL calls text",
              what, side->name, (unsigned long long)i);
    error_hint(error, "{sqlite} can hold it");
    return DPMF_ERR_INPUT_ID;
}

static int check_texts(struct writing *writing, size_t s, struct dpmf_error *error) {
    const struct export_task *task = writing->task;
    const struct export_side *side = &task->side[s];
    for (uint64_t i = 0; i < side->n; i++) {
        size_t length;
        const char *id = side->id(task->model, i, &length);
        const char *title = s == 0 ? export_title(task, i) : NULL;
        if (!export_is_text(id, length)) return refuse_text("id", side, i, error);
        if (title && !export_is_text(title, strlen(title)))
            return refuse_text("title", side, i, error);
        if (length > INDEXED_MAX) writing->has_long_ids[s] = true;
    }
    return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool go_on(void *self) {
    const struct export_task *task = self;
    struct dpmf_progress progress = {
        .phase = "writing", .unit = "rows", .done = task->rows_done, .total = task->rows_total};
    if (!task->run || !task->run->progress) return true;
    return task->run->progress(task->run->progress_self, &progress) == 0;
}

/* A server cuts longer names, all three to the same one. */
static int check_name(const struct writing *writing, struct dpmf_error *error) {
    enum { NAME_MAX_BYTES = 63 - 6 }; /* what a server takes, without _users */
    const char *name = writing->url.table ? writing->url.table : default_table;
    const char *dot = strchr(name, '.');
    if (strlen(dot ? dot + 1 : name) <= NAME_MAX_BYTES) return 0;
    error_set(error, DPMF_ERR_USAGE_VALUE, "the name of the table is longer than %d bytes",
              (int)NAME_MAX_BYTES);
    error_hint(error, "a shorter one leaves room for the endings _model and _users");
    return DPMF_ERR_USAGE_VALUE;
}

static int open_url(struct writing *writing, struct dpmf_error *error) {
    const char *hint = "for example: {pgvector postgres://localhost/films?table=items}";
    bool is_address = database_url_is(writing->task->output);
    int code = is_address ? database_url_parse(writing->task->output, &writing->url, error) : 0;
    if (!is_address || (code == 0 && writing->url.kind != DATABASE_POSTGRES)) {
        error_set(error, DPMF_ERR_USAGE_VALUE, "{pgvector} needs the address of a server");
        code = DPMF_ERR_USAGE_VALUE;
    }
    if (code == 0) code = check_name(writing, error);
    if (code == 0 && writing->url.query) {
        error_set(error, DPMF_ERR_USAGE_VALUE, "rows cannot be written to a query");
        code = DPMF_ERR_USAGE_VALUE;
    }
    if (code == DPMF_ERR_USAGE_VALUE && (!error || !error->hint[0])) error_hint_text(error, hint);
    return code;
}

int export_pgvector_write(struct export_task *task, struct dpmf_error *error) {
    struct writing writing = {.task = task};
    const struct database_wait wait = {.go_on = go_on, .self = task};
    int code = open_url(&writing, error);
    for (size_t s = 0; code == 0 && s <= (size_t)task->has_users; s++)
        code = check_texts(&writing, s, error);
    if (code == 0) code = postgres_session_open(&writing.session, &writing.url, &wait, error);
    if (code == 0) code = command(&writing, error, "BEGIN");
    if (code == 0) code = make_tables(&writing, error);
    for (size_t s = 0; code == 0 && s <= (size_t)task->has_users; s++) {
        code = copy_side(&writing, s, error);
        if (code == 0) code = comment(&writing, s, s == 0 ? "item vectors" : "user vectors", error);
    }
    if (code == 0) code = copy_facts(&writing, error);
    if (code == 0) code = comment(&writing, TABLE_MODEL, "facts", error);
    if (code == 0) code = command(&writing, error, "COMMIT");
    postgres_session_close(&writing.session);
    database_url_free(&writing.url);
    for (size_t t = 0; t < TABLES; t++) free(writing.table[t]);
    free(writing.rows.bytes);
    return code;
}

#else

int export_pgvector_write(struct export_task *task, struct dpmf_error *error) {
    (void)task;
    return postgres_library_load(NULL, error);
}
#endif
