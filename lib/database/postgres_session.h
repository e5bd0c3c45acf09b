/*
 * A conversation with a PostgreSQL server: connecting, commands one at a time, and what goes wrong
 * in our words. Nothing blocks for long without asking whether to continue, and a command that is
 * not waited for is cancelled at the server.
 */
#ifndef DPMF_DATABASE_POSTGRES_SESSION_H
#define DPMF_DATABASE_POSTGRES_SESSION_H

#include "database/database_url.h"
#include "database/postgres_library.h"

/* A callback that is asked a few times a second, while the server is silent, whether to keep
 * waiting. When it returns false, the wait ends with DPMF_ERR_BASE_CANCELLED. */
struct database_wait {
    bool (*go_on)(void *self); /* NULL: waits for ever */
    void *self;
};

#ifdef DPMF_WITH_POSTGRES

struct postgres_session {
    struct postgres_library pq;
    PGconn *connection;
    const char *shown; /* name of the database for messages: the URL's */
    struct database_wait wait;
    int64_t asked;   /* time of the last question, in milliseconds */
    char state[6];   /* SQLSTATE of what went wrong last, or "": it was not the server's doing */
    bool is_private; /* what the server says of rows may quote them: errors have no words of its */
};

/* Connects. `url` must outlive the session; close it in any case. */
int postgres_session_open(struct postgres_session *session, const struct database_url *url,
                          const struct database_wait *wait, struct dpmf_error *error);

/* Cancels what the server is still doing, and disconnects. */
void postgres_session_close(struct postgres_session *session);

/* Waits until the server has sent something, or for a moment, and takes it in. */
int postgres_session_wait(struct postgres_session *session, struct dpmf_error *error);

/* Sends a piece of a COPY that has begun, and waits until the server has taken it. */
int postgres_session_send(struct postgres_session *session, const void *bytes, size_t n,
                          const char *doing, struct dpmf_error *error);

/* Waits for the last result of a command that was sent and was `sent` without complaint (what
 * libpq's send functions return); a COPY begins with its first. `result` (may be NULL) is the
 * caller's to clear. What is not a good result is an error: `doing` completes "cannot ...". */
int postgres_session_finish(struct postgres_session *session, int sent, const char *doing,
                            PGresult **result, struct dpmf_error *error);

/* Sends SQL of one or more commands, without parameters, and waits as above. */
int postgres_session_command(struct postgres_session *session, const char *sql, const char *doing,
                             PGresult **result, struct dpmf_error *error);

/* Describes what the server or, with `result` NULL, libpq said. No password is ever in it.
 * @return the code */
int postgres_session_fail(struct postgres_session *session, const PGresult *result,
                          const char *doing, struct dpmf_error *error);

#endif
#endif
