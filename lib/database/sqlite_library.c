/*
 * Loads SQLite, and puts its complaints into our words. Used by sqlite_source.c, which reads
 * ratings from it, and by what exports to it.
 */
#include "database/sqlite_library.h"

#include <string.h>

#include "base/error.h"
#include "database/client_library.h"

#ifdef DPMF_WITH_SQLITE

int sqlite_library_load(struct sqlite_library *library, struct dpmf_error *error) {
    static const struct client_call calls[] = {
#define SQLITE_LIBRARY_PLACE(call) {"sqlite3_" #call, offsetof(struct sqlite_library, call)},
        SQLITE_LIBRARY_CALLS(SQLITE_LIBRARY_PLACE)
#undef SQLITE_LIBRARY_PLACE
    };
    static const struct client_library sqlite = {
        "SQLite", CLIENT_LIBRARY_FILE("libsqlite3", "0"), "libsqlite3-0",
        calls,    sizeof calls / sizeof calls[0],
    };
    return client_library_load(&sqlite, library, error);
}

/* SQLite's primary result codes, in our terms. */
static const struct complaint {
    int result;
    int code;
    const char *hint;
} complaints[] = {
    {SQLITE_BUSY, DPMF_ERR_IO_READ, "another program has it locked: try again when that is done"},
    {SQLITE_LOCKED, DPMF_ERR_IO_READ, "another program has it locked: try again when that is done"},
    {SQLITE_NOMEM, DPMF_ERR_BASE_NO_MEMORY, "allow the run less memory, or free some"},
    {SQLITE_READONLY, DPMF_ERR_IO_PERMISSION, "check the permissions of the file"},
    {SQLITE_PERM, DPMF_ERR_IO_PERMISSION, "check the permissions of the file"},
    {SQLITE_IOERR, DPMF_ERR_IO_READ, "try again, or copy the file to another disk first"},
    {SQLITE_FULL, DPMF_ERR_IO_NO_SPACE, "free some space or write to another disk"},
    {SQLITE_CORRUPT, DPMF_ERR_INPUT_DATABASE, "the database is damaged: restore it from a backup"},
    {SQLITE_NOTADB, DPMF_ERR_INPUT_DATABASE, "the file is not an SQLite database, or is damaged"},
    {SQLITE_CANTOPEN, DPMF_ERR_IO_PERMISSION,
     "check the path and the permissions of the file and of its directory"},
    {SQLITE_TOOBIG, DPMF_ERR_INPUT_QUERY, "a value is too large"},
};

static const struct complaint *complaint_of(int result) {
    static const struct complaint other = {SQLITE_ERROR, DPMF_ERR_INPUT_QUERY, "check the SQL"};
    for (size_t i = 0; i < sizeof complaints / sizeof complaints[0]; i++)
        if (complaints[i].result == result) return &complaints[i];
    return &other;
}

/* Someone died while writing: what is half done must be undone first, which who only reads
 * cannot. */
static const char hint_unfinished[] =
    "a program ended in the middle of writing to it: open it once with sqlite3, which repairs it";

static bool is_unfinished(int extended) {
    return extended == SQLITE_READONLY_ROLLBACK || extended == SQLITE_READONLY_RECOVERY;
}

/* A schema that calls functions is not trusted: SQLite calls it malformed, though nothing is. */
static const char hint_untrusted[] =
    "the database is not damaged, but its schema calls a function, which is refused: copy the "
    "table into a database of its own (sqlite3 FILE '.dump TABLE' | sqlite3 NEW)";

static bool is_untrusted(const char *message) { return strstr(message, "unsafe use of") != NULL; }

int sqlite_library_fail(const struct sqlite_library *library, struct sqlite3 *database,
                        bool is_private, const char *doing, const char *name,
                        struct dpmf_error *error) {
    int extended = database ? library->extended_errcode(database) : SQLITE_NOMEM;
    const struct complaint *complaint = complaint_of(extended & 0xff);
    const char *message = database ? library->errmsg(database) : "out of memory";
    if (is_private)
        error_set(error, complaint->code,
                  "cannot %s: SQLite reports error %d, %s; its message may quote someone's data "
                  "and is not shown in a private run",
                  doing, extended, library->errstr(extended));
    else
        error_set(error, complaint->code, "cannot %s: %s", doing, message);
    error_hint(error, "%s",
               is_unfinished(extended) ? hint_unfinished
               : is_untrusted(message) ? hint_untrusted
                                       : complaint->hint);
    error_place(error, name, 0, 0);
    return complaint->code;
}

#else

int sqlite_library_load(struct sqlite_library *library, struct dpmf_error *error) {
    (void)library;
    return client_library_missing("SQLite", "libsqlite3-dev", error);
}

#endif
