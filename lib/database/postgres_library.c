/*
 * Loads libpq for postgres_session.c.
 */
#include "database/postgres_library.h"

#include "base/error.h"

#ifdef DPMF_WITH_POSTGRES
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t place;
} calls[] = {
#define POSTGRES_LIBRARY_PLACE(call) {"PQ" #call, offsetof(struct postgres_library, call)},
    POSTGRES_LIBRARY_CALLS(POSTGRES_LIBRARY_PLACE)
#undef POSTGRES_LIBRARY_PLACE
};

static int refuse(const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_LIBRARY, "PostgreSQL's libpq cannot be loaded: %s", why);
    error_hint(error, "apt-get install libpq5");
    return DPMF_ERR_IO_LIBRARY;
}

int postgres_library_load(struct postgres_library *library, struct dpmf_error *error) {
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): it is, the text is the thread's own */
    if (!handle) return refuse(dlerror(), error);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *call = dlsym(handle, calls[i].name);
        if (!call) return refuse(calls[i].name, error);
        memcpy((char *)library + calls[i].place, &call, sizeof call);
    }
    return 0;
}

#else

int postgres_library_load(struct postgres_library *library, struct dpmf_error *error) {
    (void)library;
    error_set(error, DPMF_ERR_IO_LIBRARY, "this dpmf was built without PostgreSQL");
    error_hint(error, "apt-get install libpq-dev, then build it again");
    return DPMF_ERR_IO_LIBRARY;
}

#endif
