/*
 * SQLite, loaded by what reads or writes a database and by nothing else: no other verb loads it,
 * and dpmf runs where it is not installed. The functions that are used are listed here, once; the
 * types are those of its header. A build without that header has no DPMF_WITH_SQLITE, and only says
 * so.
 */
#ifndef DPMF_DATABASE_SQLITE_LIBRARY_H
#define DPMF_DATABASE_SQLITE_LIBRARY_H

#include "dpmf.h"

#ifdef DPMF_WITH_SQLITE
#include <sqlite3.h>

#define SQLITE_LIBRARY_CALLS(CALL)                                                                 \
    CALL(bind_blob)                                                                                \
    CALL(bind_double)                                                                              \
    CALL(bind_int64)                                                                               \
    CALL(bind_null)                                                                                \
    CALL(bind_text)                                                                                \
    CALL(busy_handler)                                                                             \
    CALL(clear_bindings)                                                                           \
    CALL(close_v2)                                                                                 \
    CALL(column_blob)                                                                              \
    CALL(column_bytes)                                                                             \
    CALL(column_count)                                                                             \
    CALL(column_decltype)                                                                          \
    CALL(column_double)                                                                            \
    CALL(column_int64)                                                                             \
    CALL(column_name)                                                                              \
    CALL(column_text)                                                                              \
    CALL(column_type)                                                                              \
    CALL(column_value)                                                                             \
    CALL(errmsg)                                                                                   \
    CALL(errstr)                                                                                   \
    CALL(exec)                                                                                     \
    CALL(extended_errcode)                                                                         \
    CALL(finalize)                                                                                 \
    CALL(libversion)                                                                               \
    CALL(open_v2)                                                                                  \
    CALL(prepare_v2)                                                                               \
    CALL(progress_handler)                                                                         \
    CALL(reset)                                                                                    \
    CALL(step)                                                                                     \
    CALL(stmt_readonly)                                                                            \
    CALL(table_column_metadata)                                                                    \
    CALL(value_bytes)                                                                              \
    CALL(value_double)                                                                             \
    CALL(value_int64)                                                                              \
    CALL(value_text)                                                                               \
    CALL(value_type)

/* Each as a member of its name without the sqlite3_ that it begins with. */
struct sqlite_library {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration cannot have them */
#define SQLITE_LIBRARY_MEMBER(name) __typeof__(&sqlite3_##name) name;
    SQLITE_LIBRARY_CALLS(SQLITE_LIBRARY_MEMBER)
#undef SQLITE_LIBRARY_MEMBER
};

/* Describes SQLite's last error: `doing` completes "cannot ...", `name` is the file. With
 * `is_private` it does so without the words of that one error, which may quote a value, by those
 * that SQLite has for all of its kind.
 * @return the code: DPMF_ERR_INPUT_DATABASE for a damaged file, _INPUT_QUERY for bad SQL, else one
 * about reading or writing */
int sqlite_library_fail(const struct sqlite_library *library, struct sqlite3 *database,
                        bool is_private, const char *doing, const char *name,
                        struct dpmf_error *error);
#endif

struct sqlite_library;

/* Fills in the table; the library stays loaded. In a build without SQLite the table may be NULL.
 * @return 0 or DPMF_ERR_IO_LIBRARY, which names the package that provides it */
int sqlite_library_load(struct sqlite_library *library, struct dpmf_error *error);

#endif
