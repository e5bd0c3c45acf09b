/*
 * A database's client library, loaded into a table of its calls when it is needed: what
 * sqlite_library.c and postgres_library.c share.
 */
#ifndef DPMF_DATABASE_CLIENT_LIBRARY_H
#define DPMF_DATABASE_CLIENT_LIBRARY_H

#include <stddef.h>

#include "dpmf.h"

/* The file of a version of a library, as the loader of this system looks for it. */
#ifdef __APPLE__
#define CLIENT_LIBRARY_FILE(name, version) name "." version ".dylib"
#else
#define CLIENT_LIBRARY_FILE(name, version) name ".so." version
#endif

struct client_call {
    const char *symbol;
    size_t place; /* place of its pointer in the table */
};

struct client_library {
    const char *name;    /* name that people use */
    const char *file;    /* file name that the loader looks for */
    const char *package; /* name of the Debian package that has it */
    const struct client_call *calls;
    size_t n_calls;
};

/* Fills in the table; the library stays loaded. @return 0 or DPMF_ERR_IO_LIBRARY, which names the
 * package */
int client_library_load(const struct client_library *library, void *table,
                        struct dpmf_error *error);

/* For builds without this library. @return DPMF_ERR_IO_LIBRARY, which names the package to build
 * with */
int client_library_missing(const char *name, const char *package, struct dpmf_error *error);

#endif
