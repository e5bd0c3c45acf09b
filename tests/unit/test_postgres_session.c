/*
 * A conversation with a server that does what a script says: every call of libpq is one of this
 * file's. What goes wrong is told in words that fit, without a password, and nothing waits for
 * ever. A real server is asked in tests/database.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "database/client_library.h"
#include "database/postgres_session.h"

static void test_libraries(void **state) {
    (void)state;
    static const struct client_call calls[] = {{"no_such_call_anywhere", 0}};
    const struct client_library none = {"Nothing", "libnothing-of-dpmf.so.1", "libnothing1", NULL,
                                        0},
                                c = {"C", CLIENT_LIBRARY_FILE("libc", "6"), "libc6", calls, 1};
    struct dpmf_error error = {0};
    void *table[1];
    assert_int_equal(client_library_load(&none, table, &error), DPMF_ERR_IO_LIBRARY);
    assert_string_equal(error.hint, "apt-get install libnothing1");
    assert_int_equal(client_library_load(&c, table, &error), DPMF_ERR_IO_LIBRARY);
    assert_non_null(strstr(error.message, "C cannot be loaded: "));
    assert_int_equal(client_library_missing("Something", "libsomething-dev", &error),
                     DPMF_ERR_IO_LIBRARY);
    assert_string_equal(error.message, "this dpmf was built without Something");
}

#ifdef DPMF_WITH_POSTGRES

/* ---- the script ------------------------------------------------------------------------------ */

static struct {
    const char *password, *said, *state, *primary, *detail, *hint;
    int needs_password;
    int flush[4], n_flushed; /* what it returns, call by call; then 0 */
    int takes_copy, gives_input;
    int busy; /* times that it is */
    ExecStatusType results[4];
    int n_results, at_result, n_cleared;
    size_t copied, largest_piece;
    int socket;
    PGTransactionStatusType transaction;
    bool can_cancel, is_slow;
    int n_cancelled, n_finished;
} script;

static sem_t answered, freed; /* of a slow server's request */
static char result_objects[4];

static char *pass(const PGconn *connection) {
    (void)connection;
    return (char *)(uintptr_t)script.password;
}
static char *error_message(const PGconn *connection) {
    (void)connection;
    return (char *)(uintptr_t)script.said;
}
static int needs_password(const PGconn *connection) {
    (void)connection;
    return script.needs_password;
}
static char *error_field(const PGresult *result, int code) {
    assert_non_null(result);
    return (char *)(uintptr_t)(code == PG_DIAG_SQLSTATE          ? script.state
                               : code == PG_DIAG_MESSAGE_PRIMARY ? script.primary
                               : code == PG_DIAG_MESSAGE_DETAIL  ? script.detail
                                                                 : script.hint);
}
static int socket_of(const PGconn *connection) {
    (void)connection;
    return script.socket;
}
static int consume(PGconn *connection) {
    (void)connection;
    return script.gives_input;
}
static int flush(PGconn *connection) {
    (void)connection;
    return script.n_flushed < 4 ? script.flush[script.n_flushed++] : 0;
}
static int put_copy(PGconn *connection, const char *bytes, int n) {
    assert_true(connection && bytes && n > 0);
    script.copied += (size_t)n;
    if ((size_t)n > script.largest_piece) script.largest_piece = (size_t)n;
    return script.takes_copy;
}
static int is_busy(PGconn *connection) {
    (void)connection;
    return script.busy-- > 0;
}
static PGresult *get_result(PGconn *connection) {
    (void)connection;
    if (script.at_result == script.n_results) return NULL;
    return (PGresult *)(void *)&result_objects[script.at_result++];
}
static ExecStatusType status_of(const PGresult *result) {
    return script.results[(const char *)result - result_objects];
}
static void clear(PGresult *result) { script.n_cleared += result != NULL; }
static int send_query(PGconn *connection, const char *sql) { return connection && *sql; }
static PGTransactionStatusType transaction(const PGconn *connection) {
    (void)connection;
    return script.transaction;
}
static PGcancel *get_cancel(PGconn *connection) {
    (void)connection;
    return script.can_cancel ? (PGcancel *)(void *)result_objects : NULL;
}
static int cancel(PGcancel *request, char *said, int size) {
    assert_true(request && said && size > 0);
    if (script.is_slow) sem_wait(&answered);
    return 1;
}
static void free_cancel(PGcancel *request) {
    assert_non_null(request);
    script.n_cancelled++;
    if (script.is_slow) sem_post(&freed);
}
static void finish(PGconn *connection) {
    assert_non_null(connection);
    script.n_finished++;
}

static struct postgres_session begin(void) {
    memset(&script, 0, sizeof script);
    script.socket = -1;
    script.takes_copy = script.gives_input = 1;
    struct postgres_session session = {.connection = (PGconn *)(void *)result_objects,
                                       .shown = "postgres://server/db"};
    session.pq.pass = pass;
    session.pq.errorMessage = error_message;
    session.pq.connectionNeedsPassword = needs_password;
    session.pq.resultErrorField = error_field;
    session.pq.socket = socket_of;
    session.pq.consumeInput = consume;
    session.pq.flush = flush;
    session.pq.putCopyData = put_copy;
    session.pq.isBusy = is_busy;
    session.pq.getResult = get_result;
    session.pq.resultStatus = status_of;
    session.pq.clear = clear;
    session.pq.sendQuery = send_query;
    session.pq.transactionStatus = transaction;
    session.pq.getCancel = get_cancel;
    session.pq.cancel = cancel;
    session.pq.freeCancel = free_cancel;
    session.pq.finish = finish;
    return session;
}

static const PGresult *a_result(void) { return (const PGresult *)(void *)result_objects; }

/* ---- words ----------------------------------------------------------------------------------- */

static void test_words_of_connections(void **state) {
    (void)state;
    static const struct {
        const char *said, *message, *hint;
    } cases[] = {
        {NULL, "cannot talk: the server closed the connection", "check that the server is running"},
        {"", "cannot talk: the server closed the connection", "check that the server is running"},
        {"FATAL: password authentication failed\nadvice", "cannot talk: FATAL: password auth",
         "the password is not this user's"},
        {"no pg_hba.conf entry for x", "cannot talk: no pg_hba", "the server does not accept"},
        {"role \"ann\" does not exist", "cannot talk: role \"ann\" does", "name a user"},
        {"role \"ann\" is odd", "cannot talk: role \"ann\" is odd", "check that the server"},
        {"database \"x\" does not exist", "cannot talk: database", "name a database"},
        {"\1a\t\tsecretb\x7f  ", "cannot talk: a ***b", "check that the server"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct postgres_session session = begin();
        struct dpmf_error error = {0};
        script.said = cases[i].said;
        script.password = i > 0 ? "secret" : NULL;
        assert_int_equal(postgres_session_fail(&session, NULL, "talk", &error),
                         DPMF_ERR_IO_CONNECTION);
        assert_memory_equal(error.message, cases[i].message, strlen(cases[i].message));
        assert_memory_equal(error.hint, cases[i].hint, strlen(cases[i].hint));
        assert_string_equal(error.file, "postgres://server/db");
    }
    struct postgres_session session = begin();
    struct dpmf_error error = {0};
    script.said = "no password";
    script.needs_password = 1;
    postgres_session_fail(&session, NULL, "talk", &error);
    assert_non_null(strstr(error.hint, "give the password in PGPASSWORD"));
    session.connection = NULL;
    postgres_session_fail(&session, NULL, "talk", &error);
    assert_string_equal(error.message, "cannot talk: out of memory");
}

/* A message of any length is cut, and so is one that is passwords and nothing else. */
static void test_long_words(void **state) {
    (void)state;
    struct postgres_session session = begin();
    struct dpmf_error error = {0};
    char said[3001];
    memset(said, 'x', 3000);
    said[3000] = '\0';
    script.state = "42601";
    script.primary = said;
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error),
                     DPMF_ERR_INPUT_QUERY);
    assert_true(strlen(error.message) < 450);
    script.password = "xx";
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error),
                     DPMF_ERR_INPUT_QUERY);
    assert_null(strchr(error.message, 'x'));
}

static void test_words_of_results(void **state) {
    (void)state;
    struct postgres_session session = begin();
    struct dpmf_error error = {0};
    script.state = "42501";
    script.primary = "permission denied";
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error),
                     DPMF_ERR_IO_PERMISSION);
    assert_string_equal(error.message, "cannot ask: permission denied");
    script.detail = "for table ratings";
    script.hint = "ask ann";
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error),
                     DPMF_ERR_IO_PERMISSION);
    assert_string_equal(error.message, "cannot ask: permission denied: for table ratings");
    assert_string_equal(error.hint, "ask ann");

    /* a private run repeats nothing of it */
    session.is_private = true;
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error),
                     DPMF_ERR_IO_PERMISSION);
    assert_non_null(strstr(error.message, "SQLSTATE 42501"));
    assert_null(strstr(error.message, "ratings"));
    script.primary = NULL; /* libpq's own result: no state counts without words */
    script.said = "row of ann";
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error),
                     DPMF_ERR_IO_CONNECTION);
    assert_string_equal(error.message, "cannot ask: the connection failed");
    assert_int_equal(session.state[0], 0);
    session.is_private = false;
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error),
                     DPMF_ERR_IO_CONNECTION);
    assert_string_equal(error.message, "cannot ask: row of ann");
    script.primary = "of a state that nobody knows";
    script.state = "ZZ000";
    assert_int_equal(postgres_session_fail(&session, a_result(), "ask", &error), DPMF_ERR_IO_READ);
}

/* ---- sending and waiting --------------------------------------------------------------------- */

static bool stop(void *self) {
    ++*(int *)self;
    return false;
}

static bool go_on(void *self) {
    ++*(int *)self;
    return true;
}

static void test_sending(void **state) {
    (void)state;
    const size_t n = ((size_t)1 << 20) + 5;
    char *bytes = calloc(n, 1);
    struct dpmf_error error = {0};
    int asked = 0;
    assert_non_null(bytes);
    struct postgres_session session = begin();
    script.flush[0] = script.flush[1] = 1;
    assert_int_equal(postgres_session_send(&session, bytes, n, "write", &error), 0);
    assert_int_equal(script.copied, n);
    assert_int_equal(script.largest_piece, 1 << 20);

    session = begin();
    script.takes_copy = 0;
    script.said = "no";
    assert_int_equal(postgres_session_send(&session, bytes, n, "write", &error),
                     DPMF_ERR_IO_CONNECTION);
    session = begin();
    script.flush[0] = -1;
    assert_int_equal(postgres_session_send(&session, bytes, n, "write", &error),
                     DPMF_ERR_IO_CONNECTION);
    assert_int_equal(script.copied, 1 << 20);
    session = begin();
    script.flush[0] = 1;
    script.gives_input = 0;
    assert_int_equal(postgres_session_send(&session, bytes, n, "write", &error),
                     DPMF_ERR_IO_CONNECTION);

    session = begin();
    session.wait = (struct database_wait){stop, &asked};
    script.flush[0] = 1;
    assert_int_equal(postgres_session_send(&session, bytes, n, "write", &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(asked, 1);
    free(bytes);
}

/* A server that says nothing for a moment is looked at again, without a word to libpq. */
static void test_waiting(void **state) {
    (void)state;
    int ends[2], asked = 0;
    struct dpmf_error error = {0};
    assert_int_equal(pipe(ends), 0);
    struct postgres_session session = begin();
    session.wait = (struct database_wait){go_on, &asked};
    script.socket = ends[0];
    script.flush[0] = 1;
    assert_int_equal(postgres_session_send(&session, "x", 1, "write", &error), 0);
    assert_true(asked > 0);
    close(ends[0]);
    close(ends[1]);
}

static void test_finishing(void **state) {
    (void)state;
    struct dpmf_error error = {0};
    PGresult *result = NULL;
    int asked = 0;
    struct postgres_session session = begin();
    assert_int_equal(postgres_session_finish(&session, 0, "ask", &result, &error),
                     DPMF_ERR_IO_CONNECTION);
    assert_null(result);

    session = begin(); /* no result at all */
    assert_int_equal(postgres_session_finish(&session, 1, "ask", &result, &error),
                     DPMF_ERR_IO_CONNECTION);
    assert_null(result);

    session = begin();
    script.n_results = 2;
    script.results[0] = PGRES_COMMAND_OK;
    script.results[1] = PGRES_TUPLES_OK;
    script.busy = 2;
    assert_int_equal(postgres_session_command(&session, "SELECT", "ask", &result, &error), 0);
    assert_ptr_equal(result, &result_objects[1]);
    assert_int_equal(script.n_cleared, 1);

    session = begin(); /* nobody wants the result */
    script.n_results = 1;
    script.results[0] = PGRES_COMMAND_OK;
    assert_int_equal(postgres_session_command(&session, "SELECT", "ask", NULL, &error), 0);
    assert_int_equal(script.n_cleared, 1);

    session = begin(); /* the first that is not good ends it */
    script.n_results = 3;
    script.results[0] = PGRES_COMMAND_OK;
    script.results[1] = PGRES_FATAL_ERROR;
    script.state = "57014";
    script.primary = "cancelled";
    assert_int_equal(postgres_session_command(&session, "SELECT", "ask", &result, &error),
                     DPMF_ERR_IO_READ);
    assert_null(result);
    assert_int_equal(script.n_cleared, 2);

    for (int out = 0; out < 2; out++) { /* a COPY begins with its first result */
        session = begin();
        script.n_results = 2;
        script.results[0] = out ? PGRES_COPY_OUT : PGRES_COPY_IN;
        assert_int_equal(postgres_session_command(&session, "COPY", "copy", &result, &error), 0);
        assert_int_equal(script.at_result, 1);
    }

    session = begin(); /* the line breaks while the server is at work */
    script.busy = 1;
    script.gives_input = 0;
    script.said = "gone";
    assert_int_equal(postgres_session_command(&session, "SELECT", "ask", &result, &error),
                     DPMF_ERR_IO_CONNECTION);
    assert_string_equal(error.message, "cannot read from the server: gone");
    session = begin(); /* someone does not want to wait */
    session.wait = (struct database_wait){stop, &asked};
    script.busy = 1;
    assert_int_equal(postgres_session_command(&session, "SELECT", "ask", &result, &error),
                     DPMF_ERR_BASE_CANCELLED);
    session = begin();
    script.flush[0] = -1;
    assert_int_equal(postgres_session_command(&session, "SELECT", "ask", &result, &error),
                     DPMF_ERR_IO_CONNECTION);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* What the server still does is cancelled; one that never answers that is left alone with it. */
static void test_closing(void **state) {
    (void)state;
    struct postgres_session session = begin();
    postgres_session_close(&session);
    postgres_session_close(&session); /* once is enough */
    assert_true(script.n_finished == 1 && script.n_cancelled == 0);

    session = begin();
    script.transaction = PQTRANS_ACTIVE;
    postgres_session_close(&session); /* libpq cannot make a request */
    assert_true(script.n_finished == 1 && script.n_cancelled == 0);

    session = begin();
    script.transaction = PQTRANS_ACTIVE;
    script.can_cancel = true;
    postgres_session_close(&session);
    assert_true(script.n_finished == 1 && script.n_cancelled == 1);

    session = begin();
    assert_true(sem_init(&answered, 0, 0) == 0 && sem_init(&freed, 0, 0) == 0);
    script.transaction = PQTRANS_ACTIVE;
    script.can_cancel = script.is_slow = true;
    postgres_session_close(&session);
    assert_true(script.n_finished == 1 && script.n_cancelled == 0);
    sem_post(&answered); /* now it does, and whoever asked frees what it asked with */
    sem_wait(&freed);
    assert_int_equal(script.n_cancelled, 1);
}

/* A server that lets in and then says nothing: the real libpq, where there is one. */
static void test_server_without_a_word(void **state) {
    (void)state;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof place;
    struct postgres_library library;
    if (postgres_library_load(&library, NULL) < 0) skip();
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&place, size), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&place, &size), 0);
    for (int is_patient = 0; is_patient < 2; is_patient++) {
        struct postgres_session session;
        struct dpmf_error error = {0};
        struct database_url url;
        int asked = 0;
        char address[200];
        const struct database_wait wait = {is_patient ? go_on : stop, &asked};
        snprintf(address, sizeof address,
                 "postgres://ann@127.0.0.1:%d/db?connect_timeout=1&client_encoding=LATIN1",
                 ntohs(place.sin_port));
        assert_int_equal(database_url_parse(address, &url, &error), 0);
        const int code = postgres_session_open(&session, &url, &wait, &error);
        assert_int_equal(code, is_patient ? DPMF_ERR_IO_CONNECTION : DPMF_ERR_BASE_CANCELLED);
        if (is_patient)
            assert_string_equal(error.message,
                                "cannot connect: the server does not answer in time");
        assert_true(asked > 0);
        postgres_session_close(&session);
        database_url_free(&url);
    }
    close(listener);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libraries),
#ifdef DPMF_WITH_POSTGRES
        cmocka_unit_test(test_words_of_connections),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_words_of_results),
        cmocka_unit_test(test_sending),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_finishing),
        cmocka_unit_test(test_closing),
        cmocka_unit_test(test_server_without_a_word),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
