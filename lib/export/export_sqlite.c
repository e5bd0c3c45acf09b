/*
 * A model as an SQLite database: items with their titles, vectors as the bytes of their floats, the
 * facts, and the privacy statement or the provenance as a table. Fed by an open model. SQLite
 * writes it under a temporary name, without a journal: what is not whole is never seen under the
 * real one.
 *
 *     model         field, value
 *     statement     field, value             or provenance, with the same columns
 *     items         number, id, title
 *     item_vectors  number, bias, vector
 *     users         number, id               with `users`
 *     user_vectors  number, bias, vector     with `users`
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "database/sqlite_library.h"
#include "export/export_task.h"

#ifdef DPMF_WITH_SQLITE

static const char beginning[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA encoding = 'UTF-8'; BEGIN;";

enum { TABLES_WITHOUT_USERS = 5, TABLES = 7 };

/* SQLite keeps these texts as they are: by them a database is known again as one of ours, and is
 * replaced on demand. One that is changed must stay known in its old form too. */
static const char *const tables[TABLES] = {
    "CREATE TABLE model (field TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE statement (field TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE provenance (field TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE items (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT)",
    "CREATE TABLE item_vectors (number INTEGER PRIMARY KEY REFERENCES items,"
    " bias REAL NOT NULL, vector BLOB NOT NULL)",
    "CREATE TABLE users (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)",
    "CREATE TABLE user_vectors (number INTEGER PRIMARY KEY REFERENCES users,"
    " bias REAL NOT NULL, vector BLOB NOT NULL)",
};

/* Ids and titles; vectors. */
static const char *const inserts[2][2] = {
    {"INSERT INTO items VALUES (?1, ?2, ?3)", "INSERT INTO item_vectors VALUES (?1, ?2, ?3)"},
    {"INSERT INTO users VALUES (?1, ?2)", "INSERT INTO user_vectors VALUES (?1, ?2, ?3)"},
};

struct writing {
    struct sqlite_library sqlite;
    sqlite3 *database;
    sqlite3_stmt *statement; /* at work */
    const char *output;
};

static int fail(const struct writing *writing, struct dpmf_error *error) {
    int code = sqlite_library_fail(&writing->sqlite, writing->database, false, "write the database",
                                   writing->output, error);
    if (code != DPMF_ERR_IO_READ && code != DPMF_ERR_INPUT_QUERY && code != DPMF_ERR_INPUT_DATABASE)
        return code;
    if (error) error->code = DPMF_ERR_IO_WRITE; /* the file is ours alone: nothing was read */
    error_hint(error, "write to another disk");
    return DPMF_ERR_IO_WRITE;
}

static int execute(const struct writing *writing, const char *sql, struct dpmf_error *error) {
    int result = writing->sqlite.exec(writing->database, sql, NULL, NULL, NULL);
    return result == SQLITE_OK ? 0 : fail(writing, error);
}

static int prepare(struct writing *writing, const char *sql, struct dpmf_error *error) {
    writing->sqlite.finalize(writing->statement);
    writing->statement = NULL;
    int result = writing->sqlite.prepare_v2(writing->database, sql, -1, &writing->statement, NULL);
    return result == SQLITE_OK ? 0 : fail(writing, error);
}

/* The row that is bound goes in. `bound` is what the binding said: 0, or something that went wrong.
 * */
static int insert(const struct writing *writing, int bound, struct dpmf_error *error) {
    int result = bound == SQLITE_OK ? writing->sqlite.step(writing->statement) : bound;
    if (result != SQLITE_DONE) return fail(writing, error);
    return writing->sqlite.reset(writing->statement) == SQLITE_OK ? 0 : fail(writing, error);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int bind_text(const struct writing *writing, int column, const char *text, size_t n) {
    const struct sqlite_library *sqlite = &writing->sqlite;
    if (n > INT32_MAX) return SQLITE_TOOBIG;
    return export_is_text(text, n)
               ? sqlite->bind_text(writing->statement, column, text, (int)n, SQLITE_STATIC)
               : sqlite->bind_blob(writing->statement, column, text, (int)n, SQLITE_STATIC);
}

static int bind_value(const struct writing *writing, const struct export_fact *fact) {
    const struct sqlite_library *sqlite = &writing->sqlite;
    sqlite3_stmt *statement = writing->statement;
    switch (fact->kind) {
    case EXPORT_TEXT: return bind_text(writing, 2, fact->text, strlen(fact->text));
    case EXPORT_NUMBER: return sqlite->bind_double(statement, 2, fact->number);
    case EXPORT_WHOLE:
    case EXPORT_FLAG: return sqlite->bind_int64(statement, 2, fact->whole);
    case EXPORT_NULL: break;
    }
    return sqlite->bind_null(statement, 2);
}

static int insert_fact(void *self, const struct export_fact *fact, struct dpmf_error *error) {
    const struct writing *writing = self;
    int bound = bind_text(writing, 1, fact->field, strlen(fact->field));
    if (bound == SQLITE_OK) bound = bind_value(writing, fact);
    return insert(writing, bound, error);
}

static int insert_document(struct writing *writing, const char *field, const char *sql,
                           const char *json, struct dpmf_error *error) {
    struct export_fact whole = {.field = field, .kind = EXPORT_TEXT, .text = json};
    if (!json) return 0;
    int code = prepare(writing, "INSERT INTO model VALUES (?1, ?2)", error);
    if (code == 0) code = insert_fact(writing, &whole, error);
    if (code == 0) code = prepare(writing, sql, error);
    return code == 0 ? export_json_visit(json, insert_fact, writing, error) : code;
}

static int insert_facts(struct writing *writing, const struct export_task *task,
                        struct dpmf_error *error) {
    int code = prepare(writing, "INSERT INTO model VALUES (?1, ?2)", error);
    if (code == 0) code = export_facts_visit(task, insert_fact, writing, error);
    if (code == 0)
        code = insert_document(writing, "statement",
                               "INSERT OR REPLACE INTO statement VALUES (?1, ?2)",
                               task->info.statement, error);
    if (code == 0)
        code = insert_document(writing, "provenance",
                               "INSERT OR REPLACE INTO provenance VALUES (?1, ?2)",
                               task->info.provenance, error);
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int insert_ids(struct writing *writing, const struct export_task *task, size_t s,
                      struct dpmf_error *error) {
    const struct export_side *side = &task->side[s];
    int code = prepare(writing, inserts[s][0], error);
    for (uint64_t i = 0; code == 0 && i < side->n; i++) {
        size_t length;
        const char *id = side->id(task->model, i, &length);
        const char *title = s == 0 ? export_title(task, i) : NULL;
        int bound = writing->sqlite.bind_int64(writing->statement, 1, (int64_t)i);
        if (bound == SQLITE_OK) bound = bind_text(writing, 2, id, length);
        if (bound == SQLITE_OK && s == 0)
            bound = title ? bind_text(writing, 3, title, strlen(title))
                          : writing->sqlite.bind_null(writing->statement, 3);
        code = insert(writing, bound, error);
    }
    return code;
}

static int insert_vectors(struct writing *writing, struct export_task *task, size_t s,
                          struct dpmf_error *error) {
    const struct export_side *side = &task->side[s];
    int bytes = (int)(task->info.factors * sizeof(float));
    int code = prepare(writing, inserts[s][1], error);
    for (uint64_t i = 0; code == 0 && i < side->n; i++) {
        const struct sqlite_library *sqlite = &writing->sqlite;
        int bound = sqlite->bind_int64(writing->statement, 1, (int64_t)i);
        if (bound == SQLITE_OK)
            bound = sqlite->bind_double(writing->statement, 2, (double)side->biases[i]);
        if (bound == SQLITE_OK) /* no bytes are an empty blob, not NULL */
            bound =
                sqlite->bind_blob(writing->statement, 3,
                                  bytes > 0 ? (const void *)(side->rows + i * side->stride) : "",
                                  bytes, SQLITE_STATIC);
        code = insert(writing, bound, error);
        if (code == 0) code = export_rows_count(task, 1, error);
    }
    return code;
}

static int write_database(struct writing *writing, struct export_task *task,
                          struct dpmf_error *error) {
    int n_tables = task->has_users ? TABLES : TABLES_WITHOUT_USERS;
    int code = execute(writing, beginning, error);
    for (int t = 0; code == 0 && t < n_tables; t++) code = execute(writing, tables[t], error);
    if (code == 0) code = insert_facts(writing, task, error);
    for (size_t s = 0; code == 0 && s <= (size_t)task->has_users; s++) {
        code = insert_ids(writing, task, s, error);
        if (code == 0) code = insert_vectors(writing, task, s, error);
    }
    writing->sqlite.finalize(writing->statement);
    writing->statement = NULL;
    return code == 0 ? execute(writing, "COMMIT", error) : code;
}

/* ---- the seal --------------------------------------------------------------------------------
 * A checksum of the whole file, in two numbers of its header that SQLite leaves to programs,
 * user_version and application_id; while it is taken they are 0. So a database that anyone has
 * written to since is known, and is not replaced. */

enum { HEADER_BYTES = 100, AT_USER_VERSION = 60, AT_APPLICATION_ID = 68, SEAL_PIECE = 1 << 20 };

/* @return 0, or -1 with errno */
static int seal_of(FILE *file, uint64_t *seal) {
    unsigned char *piece = memory_alloc(SEAL_PIECE, 1);
    size_t n;
    bool is_first = true;
    if (!piece) {
        errno = ENOMEM;
        return -1;
    }
    *seal = 0;
    rewind(file);
    while ((n = fread(piece, 1, SEAL_PIECE, file)) > 0) {
        if (is_first && n >= HEADER_BYTES) {
            memset(piece + AT_USER_VERSION, 0, 4);
            memset(piece + AT_APPLICATION_ID, 0, 4);
        }
        is_first = false;
        *seal = checksum64_seeded(piece, n, *seal);
    }
    free(piece);
    return ferror(file) ? -1 : 0;
}

/* It is flushed with the rest of the file, when that is committed. */
static int write_seal(const char *path, const char *output, struct dpmf_error *error) {
    uint64_t seal;
    uint8_t bytes[8];
    FILE *file = fopen(path, "rb");
    if (!file) return error_system(error, errno, "read", output);
    errno = 0;
    const int unread = seal_of(file, &seal) == 0 ? 0 : errno ? errno : EIO;
    fclose(file);
    if (unread != 0) return error_system(error, unread, "read", output);
    bytes_put_u64(bytes, seal);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return error_system(error, errno, "write", output);
    int code = file_write_at(fd, bytes, 4, AT_USER_VERSION, output, error);
    if (code == 0) code = file_write_at(fd, bytes + 4, 4, AT_APPLICATION_ID, output, error);
    if (close(fd) != 0 && code == 0) return error_system(error, errno, "write", output);
    return code;
}

/* @return whether nothing was written to it since it was sealed */
static bool is_sealed(const char *path) {
    uint64_t seal;
    uint8_t head[HEADER_BYTES], bytes[8];
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    bool good = fread(head, sizeof head, 1, file) == 1 && seal_of(file, &seal) == 0;
    fclose(file);
    if (!good) return false;
    bytes_put_u64(bytes, seal);
    return memcmp(head + AT_USER_VERSION, bytes, 4) == 0 &&
           memcmp(head + AT_APPLICATION_ID, bytes + 4, 4) == 0;
}

/* ---- what is there already ------------------------------------------------------------------- */

/* Everything in it has the text of one of our tables, and there are as many as we write. */
static bool has_our_tables(const struct sqlite_library *sqlite, sqlite3 *database) {
    static const char list[] = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL";
    sqlite3_stmt *statement = NULL;
    int n = 0, result = sqlite->prepare_v2(database, list, -1, &statement, NULL);
    bool ours = result == SQLITE_OK;
    while (ours && (result = sqlite->step(statement)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite->column_text(statement, 0);
        int t = 0;
        while (t < TABLES && sql && strcmp(tables[t], sql) != 0) t++;
        ours = sql && t < TABLES;
        n++;
    }
    sqlite->finalize(statement);
    return ours && result == SQLITE_DONE && (n == TABLES_WITHOUT_USERS || n == TABLES);
}

/* Nobody writes to it, or check_journals would have said so; and one that is in WAL mode would get
 * two files beside it when it is merely looked at. Someone made it that way, so it is theirs. */
static int check_head(const char *path, struct dpmf_error *error) {
    static const char magic[] = "SQLite format 3";
    char head[20];
    FILE *file = fopen(path, "rb");
    if (!file) return error_system(error, errno, "open", path);
    bool plain = fread(head, 1, sizeof head, file) == sizeof head &&
                 memcmp(head, magic, sizeof magic) == 0 && head[18] == 1 && head[19] == 1;
    fclose(file);
    return plain ? 0 : export_file_refuse(path, error);
}

static int check_database(const struct sqlite_library *sqlite, const char *path,
                          struct dpmf_error *error) {
    sqlite3 *database = NULL;
    int code = check_head(path, error);
    if (code < 0) return code;
    int opened = sqlite->open_v2(path, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    bool ours = opened == SQLITE_OK && has_our_tables(sqlite, database);
    sqlite->close_v2(database);
    if (!ours) return export_file_refuse(path, error);
    if (is_sealed(path)) return 0;
    error_set(error, DPMF_ERR_IO_WRITE, "it has been changed since it was exported");
    error_hint(error, "{replace} replaces a database as an export left it; name another file, or "
                      "move this one away");
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

/* What another database of this name did not finish, SQLite would finish in ours. */
static int check_journals(const char *output, struct dpmf_error *error) {
    static const char *const suffixes[] = {"-journal", "-wal"};
    struct stat status;
    int code = 0;
    size_t size = strlen(output) + sizeof "-journal";
    char *path = memory_alloc(size, 1);
    if (!path) return error_no_memory(error);
    for (size_t i = 0; code == 0 && i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(path, size, "%s%s", output, suffixes[i]);
        if (lstat(path, &status) != 0 || status.st_size == 0) continue;
        error_set(error, DPMF_ERR_IO_WRITE,
                  "a database of that name is in use, or was not closed: this is its journal");
        error_hint(error, "close it (open and close it once with sqlite3), or name another file");
        error_place(error, path, 0, 0);
        code = DPMF_ERR_IO_WRITE;
    }
    free(path);
    return code;
}

int export_sqlite_write(struct export_task *task, struct dpmf_error *error) {
    struct writing writing = {.output = task->output};
    struct output_file *file = NULL;
    char *temporary = NULL;
    struct stat status;
    int code = sqlite_library_load(&writing.sqlite, error);
    int found = code == 0 ? export_file_check(task, task->output, error) : code;
    if (found >= 0) code = check_journals(task->output, error);
    if (code == 0 && found > 0) code = check_database(&writing.sqlite, task->output, error);
    if (found < 0 || code < 0) return found < 0 ? found : code;
    code = output_file_open_named(&file, task->output, task->mode, error);
    if (code == 0 && !(temporary = output_file_temporary(file))) code = error_no_memory(error);
    if (code < 0) goto out;
    if (writing.sqlite.open_v2(temporary, &writing.database,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        code = fail(&writing, error);
    if (code == 0) code = write_database(&writing, task, error);
    writing.sqlite.close_v2(writing.database);
    if (code == 0) code = write_seal(temporary, task->output, error);
    if (code == 0 && stat(temporary, &status) == 0)
        task->report->bytes_written = (uint64_t)status.st_size;
    if (code == 0) {
        code = output_file_commit(file, error);
        file = NULL;
    }
out:
    output_file_abandon(file);
    free(temporary);
    return code;
}

#else

int export_sqlite_write(struct export_task *task, struct dpmf_error *error) {
    (void)task;
    return sqlite_library_load(NULL, error);
}
#endif
