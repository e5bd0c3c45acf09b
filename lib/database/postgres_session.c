/*
 * Speaks to a PostgreSQL server by way of libpq, without ever being stuck in it. Fed by
 * database_url.c; used by postgres_source.c, which reads ratings, and by what exports to a server.
 */
#include "database/postgres_session.h"

#ifdef DPMF_WITH_POSTGRES
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

enum { ASK_MILLISECONDS = 200, CANCEL_SECONDS = 2 };

static int64_t milliseconds_now(void) { return (int64_t)(clock_now() * 1000); }

/* ---- what goes wrong ------------------------------------------------------------------------- */

enum { SAID_MAX = 400 };

/* A text of the server's, fit to be shown: one line, and without the password, should it be
 * there. */
static const char *make_showable(const struct postgres_session *session, const char *text,
                                 char out[SAID_MAX]) {
    const char *password = session->connection ? session->pq.pass(session->connection) : NULL;
    size_t secret = password ? strlen(password) : 0, n = 0;
    while (*text && n < SAID_MAX - 4) {
        if (secret > 0 && strncmp(text, password, secret) == 0) {
            memcpy(out + n, "***", 3);
            n += 3;
            text += secret;
        } else {
            unsigned char c = (unsigned char)*text++;
            bool blank = c < 0x20 || c == 0x7f;
            if (!blank || (n > 0 && out[n - 1] != ' ')) out[n++] = blank ? ' ' : (char)c;
        }
    }
    while (n > 0 && out[n - 1] == ' ') n--;
    out[n] = '\0';
    return out;
}

/* SQLSTATEs, or the classes that they begin with, in our terms; the first that fits. */
static const struct complaint {
    const char *state;
    int code;
    const char *hint;
} complaints[] = {
    {"08", DPMF_ERR_IO_CONNECTION, "check that the server is running, and try again"},
    {"22", DPMF_ERR_INPUT_QUERY, "a value in the data does not fit the query: fix either"},
    {"25", DPMF_ERR_INPUT_QUERY, "a query may only read: it runs in a read-only transaction"},
    {"28", DPMF_ERR_IO_CONNECTION, "check the user and the password: PGPASSWORD, ~/.pgpass"},
    {"3D", DPMF_ERR_IO_CONNECTION, "check the database's name: postgres://HOST/DATABASE"},
    {"42501", DPMF_ERR_IO_PERMISSION, "ask for the permission: GRANT SELECT ON ..."},
    {"42", DPMF_ERR_INPUT_QUERY, "check the query: psql would say the same"},
    {"3F", DPMF_ERR_INPUT_QUERY, "check the query: psql would say the same"},
    {"21", DPMF_ERR_INPUT_QUERY, "check the query: psql would say the same"},
    {"0A", DPMF_ERR_INPUT_QUERY, "check the query: psql would say the same"},
    {"53", DPMF_ERR_IO_CONNECTION, "the server lacks resources: try again later"},
    {"57014", DPMF_ERR_IO_READ, "someone, or a time limit of the server, cancelled the query"},
    {"57P", DPMF_ERR_IO_CONNECTION, "the server ended the connection: try again when it is back"},
    {"", DPMF_ERR_IO_READ, "the server's log may say more"},
};

static const struct complaint *complaint_of(const char *state) {
    const struct complaint *complaint = complaints;
    while (strncmp(state, complaint->state, strlen(complaint->state)) != 0) complaint++;
    return complaint;
}

static int describe(const struct postgres_session *session, const char *doing, const char *said,
                    const char *detail, int code, const char *hint, struct dpmf_error *error) {
    char shown[SAID_MAX], more[SAID_MAX];
    make_showable(session, said, shown);
    make_showable(session, detail ? detail : "", more);
    error_set(error, code, "cannot %s: %s%s%s", doing, shown, *more ? ": " : "", more);
    error_hint(error, "%s", make_showable(session, hint, shown));
    error_place(error, session->shown, 0, 0);
    return code;
}

/* A server that lets nobody in has only words for it: libpq keeps no SQLSTATE of a connection that
 * never was. In a language other than these the last hint, which names everything, is given. */
static const char *hint_of_connection(const struct postgres_session *session, const char *said) {
    static const struct {
        const char *words, *also, *hint;
    } known[] = {
        {"password authentication failed", "",
         "the password is not this user's: put the right one into PGPASSWORD, ~/.pgpass or a "
         "service file"},
        {"no pg_hba.conf entry", "",
         "the server does not accept this kind of connection: add a line to its pg_hba.conf, or "
         "try "
         "?sslmode=require"},
        {"role \"", "does not exist",
         "name a user that the server has: postgres://USER@HOST/DATABASE"},
        {"database \"", "does not exist",
         "name a database that the server has: postgres://HOST/DATABASE"},
    };
    if (session->connection && session->pq.connectionNeedsPassword(session->connection))
        return "give the password in PGPASSWORD, ~/.pgpass or a service file";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(said, known[i].words) && strstr(said, known[i].also)) return known[i].hint;
    return "check that the server is running, and the host, port, user and database";
}

/* libpq's own words end where its advice begins: at the first line's end. */
static int fail_of_connection(const struct postgres_session *session, const char *doing,
                              struct dpmf_error *error) {
    char first[SAID_MAX];
    const char *said =
        session->connection ? session->pq.errorMessage(session->connection) : "out of memory";
    if (!said || !*said) said = "the server closed the connection";
    snprintf(first, sizeof first, "%.*s", (int)strcspn(said, "\n"), said);
    return describe(session, doing, first, NULL, DPMF_ERR_IO_CONNECTION,
                    hint_of_connection(session, first), error);
}

/* What went wrong, without a word that came from the server, or by way of libpq, which keeps some:
 * they quote values. A SQLSTATE is a number in a list. */
static int fail_without_words(const struct postgres_session *session, const char *doing,
                              struct dpmf_error *error) {
    const struct complaint *complaint = complaint_of(*session->state ? session->state : "08");
    if (*session->state)
        error_set(error, complaint->code,
                  "cannot %s: the server reports SQLSTATE %s; its message may quote someone's data "
                  "and is not shown in a private run",
                  doing, session->state);
    else
        error_set(error, complaint->code, "cannot %s: the connection failed", doing);
    error_hint(error, "%s", complaint->hint);
    error_place(error, session->shown, 0, 0);
    return complaint->code;
}

int postgres_session_fail(struct postgres_session *session, const PGresult *result,
                          const char *doing, struct dpmf_error *error) {
    const struct postgres_library *pq = &session->pq;
    const char *state = result ? pq->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *said = result ? pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    snprintf(session->state, sizeof session->state, "%s", state && said ? state : "");
    if (session->is_private) return fail_without_words(session, doing, error);
    if (!state || !said) return fail_of_connection(session, doing, error);
    const struct complaint *complaint = complaint_of(state);
    const char *hint = pq->resultErrorField(result, PG_DIAG_MESSAGE_HINT);
    return describe(session, doing, said, pq->resultErrorField(result, PG_DIAG_MESSAGE_DETAIL),
                    complaint->code, hint ? hint : complaint->hint, error);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static int check_go_on(struct postgres_session *session, struct dpmf_error *error) {
    int64_t time = milliseconds_now();
    if (!session->wait.go_on || time - session->asked < ASK_MILLISECONDS) return 0;
    session->asked = time;
    if (session->wait.go_on(session->wait.self)) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

/* Until there is something to read (or to write), or for a moment. @return 1 when libpq should
 * look, 0 when there was nothing, or a negative code */
static int wait_for_socket(struct postgres_session *session, short events,
                           struct dpmf_error *error) {
    struct pollfd socket = {.fd = session->pq.socket(session->connection), .events = events};
    int n = socket.fd >= 0 ? poll(&socket, 1, ASK_MILLISECONDS) : 1;
    if (n < 0 && errno != EINTR)
        return error_system(error, errno, "wait for the server", session->shown);
    int code = check_go_on(session, error);
    return code < 0 ? code : n > 0;
}

int postgres_session_wait(struct postgres_session *session, struct dpmf_error *error) {
    int code = wait_for_socket(session, POLLIN, error);
    if (code < 0) return code;
    if (session->pq.consumeInput(session->connection)) return 0;
    return postgres_session_fail(session, NULL, "read from the server", error);
}

/* What libpq holds goes out; a server that takes nothing is waited for as one that says nothing is.
 * It is read from meanwhile: both sides could else wait for each other. */
static int flush_all(struct postgres_session *session, const char *doing,
                     struct dpmf_error *error) {
    int left;
    while ((left = session->pq.flush(session->connection)) > 0) {
        int code = wait_for_socket(session, POLLIN | POLLOUT, error);
        if (code < 0) return code;
        if (code == 1 && !session->pq.consumeInput(session->connection))
            return postgres_session_fail(session, NULL, doing, error);
    }
    return left == 0 ? 0 : postgres_session_fail(session, NULL, doing, error);
}

int postgres_session_send(struct postgres_session *session, const void *bytes, size_t n,
                          const char *doing, struct dpmf_error *error) {
    enum { PIECE_MAX = 1 << 20 }; /* bytes in one call: libpq keeps a copy of them */
    const char *at = bytes;
    int code = 0;
    while (code == 0 && n > 0) {
        size_t piece = n < PIECE_MAX ? n : PIECE_MAX;
        if (session->pq.putCopyData(session->connection, at, (int)piece) != 1)
            return postgres_session_fail(session, NULL, doing, error);
        at += piece;
        n -= piece;
        code = flush_all(session, doing, error);
    }
    return code;
}

static int next_result(struct postgres_session *session, PGresult **result,
                       struct dpmf_error *error) {
    while (session->pq.isBusy(session->connection)) {
        int code = postgres_session_wait(session, error);
        if (code < 0) return code;
    }
    *result = session->pq.getResult(session->connection);
    return 0;
}

static bool is_good(ExecStatusType status) {
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN ||
           status == PGRES_COPY_OUT;
}

int postgres_session_finish(struct postgres_session *session, int sent, const char *doing,
                            PGresult **result, struct dpmf_error *error) {
    const struct postgres_library *pq = &session->pq;
    PGresult *last = NULL, *next = NULL;
    bool copies = false;
    if (result) *result = NULL;
    if (!sent) return postgres_session_fail(session, NULL, doing, error);
    int code = flush_all(session, doing, error);
    while (code == 0 && !copies && (code = next_result(session, &next, error)) == 0 && next) {
        ExecStatusType status = pq->resultStatus(next);
        pq->clear(last);
        last = next;
        if (!is_good(status)) break;
        copies = status == PGRES_COPY_IN || status == PGRES_COPY_OUT;
    }
    if (code == 0 && !last) code = postgres_session_fail(session, NULL, doing, error);
    if (code == 0 && !is_good(pq->resultStatus(last)))
        code = postgres_session_fail(session, last, doing, error);
    if (code == 0 && result)
        *result = last;
    else
        pq->clear(last);
    return code;
}

int postgres_session_command(struct postgres_session *session, const char *sql, const char *doing,
                             PGresult **result, struct dpmf_error *error) {
    return postgres_session_finish(session, session->pq.sendQuery(session->connection, sql), doing,
                                   result, error);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* A library prints nothing: notices are dropped. */
static void drop_notice(void *self, const PGresult *result) {
    (void)self;
    (void)result;
}

/* What libpq itself would heed, were it not us who wait. @return milliseconds, or 0 for ever */
static int64_t connect_timeout(const struct postgres_session *session) {
    PQconninfoOption *options = session->pq.conninfo(session->connection);
    long seconds = 0;
    for (PQconninfoOption *option = options; option && option->keyword; option++)
        if (strcmp(option->keyword, "connect_timeout") == 0 && option->val)
            seconds = strtol(option->val, NULL, 10);
    session->pq.conninfoFree(options);
    return seconds > 0 && seconds < 100000 ? (int64_t)seconds * 1000 : 0;
}

static int connect_to_server(struct postgres_session *session, struct dpmf_error *error) {
    const struct postgres_library *pq = &session->pq;
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    int64_t limit = connect_timeout(session), begun = milliseconds_now();
    while (status != PGRES_POLLING_OK) {
        if (status == PGRES_POLLING_FAILED) return fail_of_connection(session, "connect", error);
        short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        int code = wait_for_socket(session, events, error);
        if (code < 0) return code;
        if (limit > 0 && milliseconds_now() - begun > limit)
            return describe(session, "connect", "the server does not answer in time", NULL,
                            DPMF_ERR_IO_CONNECTION, "check the host and the port", error);
        if (code == 1) status = pq->connectPoll(session->connection);
    }
    return 0;
}

int postgres_session_open(struct postgres_session *session, const struct database_url *url,
                          const struct database_wait *wait, struct dpmf_error *error) {
    const char *names[DATABASE_SETTINGS_MAX + 3], *values[DATABASE_SETTINGS_MAX + 3];
    size_t n = 0;
    *session = (struct postgres_session){.shown = url->shown};
    if (wait) session->wait = *wait;
    int code = postgres_library_load(&session->pq, error);
    if (code < 0) return code;
    for (size_t i = 0; i < url->n_settings; i++) {
        if (strcmp(url->setting[i].name, "client_encoding") == 0) continue; /* ids are UTF-8 */
        names[n] = url->setting[i].name;
        values[n++] = url->setting[i].value;
    }
    names[n] = "client_encoding";
    values[n++] = "UTF8";
    names[n] = "fallback_application_name";
    values[n++] = "dpmf";
    names[n] = values[n] = NULL;
    session->connection = session->pq.connectStartParams(names, values, 0);
    if (!session->connection) return error_no_memory(error);
    session->pq.setNoticeReceiver(session->connection, drop_notice, NULL);
    if (session->pq.status(session->connection) == CONNECTION_BAD)
        return fail_of_connection(session, "connect", error);
    code = connect_to_server(session, error);
    /* libpq would else wait by itself until the server has taken what is sent to it */
    if (code == 0 && session->pq.setnonblocking(session->connection, 1) != 0)
        code = fail_of_connection(session, "send without waiting", error);
    return code;
}

/* A request to end a query. libpq waits for the server's answer, which one that hangs never gives;
 * so another thread does, and is left alone with it after a while. Whoever is last frees it. */
struct cancelling {
    struct postgres_library pq;
    PGcancel *cancel;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done, left;
};

static void cancelling_free(struct cancelling *self) {
    self->pq.freeCancel(self->cancel);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static void *ask_to_cancel(void *pointer) {
    struct cancelling *self = pointer;
    char ignored[256];
    self->pq.cancel(self->cancel, ignored, sizeof ignored);
    pthread_mutex_lock(&self->lock);
    self->done = true;
    bool is_last = self->left;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (is_last) cancelling_free(self);
    return NULL;
}

/* @return whether it runs; signals are for the threads that were there before */
static bool start_alone(void *(*run)(void *), void *self) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = pthread_create(&thread, NULL, run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs) pthread_detach(thread);
    return runs;
}

/* Without memory or a thread the server notices by itself, when it next sends something. */
static void cancel_query(const struct postgres_session *session) {
    struct cancelling *self = memory_alloc_zero(1, sizeof *self);
    PGcancel *cancel = self ? session->pq.getCancel(session->connection) : NULL;
    if (!cancel) {
        free(self);
        return;
    }
    self->pq = session->pq;
    self->cancel = cancel;
    pthread_mutex_init(&self->lock, NULL);
    if (!clock_cond_init(&self->changed)) {
        pthread_mutex_destroy(&self->lock);
        session->pq.freeCancel(cancel);
        free(self);
        return;
    }
    if (!start_alone(ask_to_cancel, self)) {
        cancelling_free(self);
        return;
    }
    const double end = clock_now() + CANCEL_SECONDS;
    pthread_mutex_lock(&self->lock);
    while (!self->done && clock_wait(&self->changed, &self->lock, end)) continue;
    bool is_last = self->done;
    self->left = true;
    pthread_mutex_unlock(&self->lock);
    if (is_last) cancelling_free(self);
}

void postgres_session_close(struct postgres_session *session) {
    const struct postgres_library *pq = &session->pq;
    if (!session->connection) return;
    if (pq->transactionStatus(session->connection) == PQTRANS_ACTIVE) cancel_query(session);
    pq->finish(session->connection);
    session->connection = NULL;
}

#else
/* A build without libpq: postgres_library.c says so. */
typedef int postgres_session_is_empty;
#endif
