/*
 * The loader of client_library.h. Fed by sqlite_library.c and postgres_library.c.
 */
#include "database/client_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

static int refuse(const struct client_library *library, const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_LIBRARY, "%s cannot be loaded: %s", library->name, why);
    error_hint(error, "apt-get install %s", library->package);
    return DPMF_ERR_IO_LIBRARY;
}

int client_library_load(const struct client_library *library, void *table,
                        struct dpmf_error *error) {
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): it is, the text is the thread's own */
    if (!handle) return refuse(library, dlerror(), error);
    for (size_t i = 0; i < library->n_calls; i++) {
        void *call = dlsym(handle, library->calls[i].symbol);
        if (!call) return refuse(library, library->calls[i].symbol, error);
        memcpy((char *)table + library->calls[i].place, &call, sizeof call);
    }
    return 0;
}

int client_library_missing(const char *name, const char *package, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_LIBRARY, "this dpmf was built without %s", name);
    error_hint(error, "apt-get install %s, then build it again", package);
    return DPMF_ERR_IO_LIBRARY;
}
