/*
 * Who is connected, and until when. libmicrohttpd ends a connection that is silent, but not one
 * that says a byte now and then: a few hundred such would keep everyone else out for days. Fed by
 * the server's callbacks, in any thread; swept by command_serve.c. A late connection is shut down,
 * which its own thread notices as its end.
 */
#include "http/http_connections.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "cli/terminal.h"

/* An answer may take ANSWER_SECONDS and longer, if it is taken at this speed at least. */
static const double ANSWER_SECONDS = 60;
static const double ANSWER_BYTES_PER_SECOND = 8192;

/* When three of four places are taken, whoever waits longer than this makes room. */
static const double CROWDED_SECONDS = 1;

struct http_connection {
    struct http_connection *before, *after;
    int fd;
    bool is_answered;      /* its request is whole */
    bool is_shut;          /* it has been asked to end */
    double since, expires; /* the state that it is in */
};

struct http_connections {
    pthread_mutex_t lock;        /* guards everything below, and keeps the sockets open */
    struct http_connection ends; /* before the first and after the last */
    size_t n, answered, limit;
    double timeout;
};

struct http_connections *http_connections_new(size_t limit, double timeout) {
    struct http_connections *connections = calloc(1, sizeof *connections);
    if (connections == NULL) return NULL;
    if (pthread_mutex_init(&connections->lock, NULL) != 0) {
        free(connections);
        return NULL;
    }
    connections->ends.before = connections->ends.after = &connections->ends;
    connections->limit = limit;
    connections->timeout = timeout;
    return connections;
}

void http_connections_free(struct http_connections *connections) {
    if (connections == NULL) return;
    while (connections->ends.after != &connections->ends)
        http_connection_remove(connections, connections->ends.after);
    pthread_mutex_destroy(&connections->lock);
    free(connections);
}

static void begin_state(struct http_connections *connections, struct http_connection *connection,
                        bool is_answered, double seconds) {
    if (connection->is_answered) connections->answered--;
    if (is_answered) connections->answered++;
    connection->is_answered = is_answered;
    connection->since = terminal_clock();
    connection->expires = connection->since + seconds;
}

struct http_connection *http_connection_add(struct http_connections *connections, int fd) {
    struct http_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) return NULL;
    connection->fd = fd;
    pthread_mutex_lock(&connections->lock);
    connection->after = &connections->ends;
    connection->before = connections->ends.before;
    connection->before->after = connections->ends.before = connection;
    connections->n++;
    begin_state(connections, connection, false, connections->timeout);
    pthread_mutex_unlock(&connections->lock);
    return connection;
}

void http_connection_remove(struct http_connections *connections,
                            struct http_connection *connection) {
    if (connection == NULL) return;
    pthread_mutex_lock(&connections->lock);
    connection->before->after = connection->after;
    connection->after->before = connection->before;
    connections->n--;
    if (connection->is_answered) connections->answered--;
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}

void http_connection_answer(struct http_connections *connections,
                            struct http_connection *connection, uint64_t bytes) {
    if (connection == NULL) return;
    pthread_mutex_lock(&connections->lock);
    begin_state(connections, connection, true,
                ANSWER_SECONDS + (double)bytes / ANSWER_BYTES_PER_SECOND);
    pthread_mutex_unlock(&connections->lock);
}

void http_connection_wait(struct http_connections *connections,
                          struct http_connection *connection) {
    if (connection == NULL) return;
    pthread_mutex_lock(&connections->lock);
    begin_state(connections, connection, false, connections->timeout);
    pthread_mutex_unlock(&connections->lock);
}

size_t http_connections_sweep(struct http_connections *connections, bool all_waiting) {
    double now = terminal_clock();
    pthread_mutex_lock(&connections->lock);
    size_t room = connections->limit - connections->limit / 4, left = connections->n;
    for (struct http_connection *at = connections->ends.after; at != &connections->ends;
         at = at->after) {
        bool makes_room = left >= room && now - at->since > CROWDED_SECONDS;
        bool is_late = now > at->expires || (!at->is_answered && (all_waiting || makes_room));
        if (is_late && !at->is_shut) {
            shutdown(at->fd, SHUT_RDWR);
            at->is_shut = true;
        }
        if (at->is_shut) left--;
    }
    size_t answered = connections->answered;
    pthread_mutex_unlock(&connections->lock);
    return answered;
}
