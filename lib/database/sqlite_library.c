/*
 * Loads SQLite, and puts its complaints into our words. Used by sqlite_source.c, which reads ratings from it, and by
 * what exports to it.
 */
#include "database/sqlite_library.h"

#include "base/error.h"

#ifdef DPMF_WITH_SQLITE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t place;
} calls[] = {
#define SQLITE_LIBRARY_PLACE(call) {"sqlite3_" #call, offsetof(struct sqlite_library, call)},
    SQLITE_LIBRARY_CALLS(SQLITE_LIBRARY_PLACE)
#undef SQLITE_LIBRARY_PLACE
};

static int refuse(const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_LIBRARY, "SQLite cannot be loaded: %s", why);
    error_hint(error, "apt-get install libsqlite3-0");
    return DPMF_ERR_IO_LIBRARY;
}

int sqlite_library_load(struct sqlite_library *library, struct dpmf_error *error) {
    void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): it is, the text is the thread's own */
    if (!handle) return refuse(dlerror(), error);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *call = dlsym(handle, calls[i].name);
        if (!call) return refuse(calls[i].name, error);
        memcpy((char *)library + calls[i].place, &call, sizeof call);
    }
    return 0;
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
    {SQLITE_FULL, DPMF_ERR_IO_NO_SPACE, "free some room or write to another disk"},
    {SQLITE_CORRUPT, DPMF_ERR_INPUT_DATABASE, "the database is damaged: restore it from a backup"},
    {SQLITE_NOTADB, DPMF_ERR_INPUT_DATABASE, "the file is no SQLite database, or is damaged"},
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

/* Someone died while writing: what is half done must be undone first, which who only reads cannot. */
static const char hint_unfinished[] =
    "a program ended in the middle of writing to it: open it once with sqlite3, which mends it";

static bool is_unfinished(int extended) {
    return extended == SQLITE_READONLY_ROLLBACK || extended == SQLITE_READONLY_RECOVERY;
}

int sqlite_library_fail(const struct sqlite_library *library, struct sqlite3 *database,
                        const char *doing, const char *name, struct dpmf_error *error) {
    int extended = database ? library->extended_errcode(database) : SQLITE_NOMEM;
    const struct complaint *complaint = complaint_of(extended & 0xff);
    error_set(error, complaint->code, "cannot %s: %s", doing,
              database ? library->errmsg(database) : "out of memory");
    error_hint(error, "%s", is_unfinished(extended) ? hint_unfinished : complaint->hint);
    error_place(error, name, 0, 0);
    return complaint->code;
}

#else

int sqlite_library_load(struct sqlite_library *library, struct dpmf_error *error) {
    (void)library;
    error_set(error, DPMF_ERR_IO_LIBRARY, "this dpmf was built without SQLite");
    error_hint(error, "apt-get install libsqlite3-dev, then build it again");
    return DPMF_ERR_IO_LIBRARY;
}

#endif
