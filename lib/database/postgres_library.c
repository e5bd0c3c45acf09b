/*
 * Loads libpq for postgres_session.c.
 */
#include "database/postgres_library.h"

#include "database/client_library.h"

#ifdef DPMF_WITH_POSTGRES

int postgres_library_load(struct postgres_library *library, struct dpmf_error *error) {
    static const struct client_call calls[] = {
#define POSTGRES_LIBRARY_PLACE(call) {"PQ" #call, offsetof(struct postgres_library, call)},
        POSTGRES_LIBRARY_CALLS(POSTGRES_LIBRARY_PLACE)
#undef POSTGRES_LIBRARY_PLACE
    };
    static const struct client_library libpq = {
        "PostgreSQL's libpq",           CLIENT_LIBRARY_FILE("libpq", "5"), "libpq5", calls,
        sizeof calls / sizeof calls[0],
    };
    return client_library_load(&libpq, library, error);
}

#else

int postgres_library_load(struct postgres_library *library, struct dpmf_error *error) {
    (void)library;
    return client_library_missing("PostgreSQL", "libpq-dev", error);
}

#endif
