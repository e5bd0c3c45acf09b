/*
 * Who is connected, and until when: libmicrohttpd ends a connection that is silent, but not one
 * that says a byte now and then. Here every request must be whole, and every answer taken, within a
 * time.
 */
#ifndef DPMF_PROGRAMS_HTTP_CONNECTIONS_H
#define DPMF_PROGRAMS_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_connections;
struct http_connection;

/* For at most `limit` connections, whose requests must be whole after `timeout` seconds. @return
 * NULL when there is no memory */
struct http_connections *http_connections_new(size_t limit, double timeout);
void http_connections_free(struct http_connections *connections);

/* One that was accepted, by its socket; one that is about to be closed, while its socket is still
 * its own. An entry that is NULL, for want of memory, is not watched. */
struct http_connection *http_connection_add(struct http_connections *connections, int fd);
void http_connection_remove(struct http_connections *connections,
                            struct http_connection *connection);

/* A request is whole, and is answered with about so many bytes; the answer was taken or given
 * up. */
void http_connection_answer(struct http_connections *connections,
                            struct http_connection *connection, uint64_t bytes);
void http_connection_wait(struct http_connections *connections, struct http_connection *connection);

/* Ends those that are late; when there are nearly as many as there may be, also those that wait,
 * the oldest first; and with `all_waiting`, all of these. To be called a few times a second.
 * @return how many are being answered */
size_t http_connections_sweep(struct http_connections *connections, bool all_waiting);

#endif
