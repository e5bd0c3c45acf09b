/*
 * What `dpmf serve` answers: the page, the release, its items and its statement, each made once and
 * kept; and which requests get which of them, or a refusal.
 */
#ifndef DPMF_PROGRAMS_HTTP_ANSWERS_H
#define DPMF_PROGRAMS_HTTP_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct MHD_Connection;
struct http_answers;

/* What can be asked for. The bytes are not copied, and must outlive the answers. */
struct http_content {
    const char *path;   /* "/v1/release" */
    const char *type;   /* "application/json" */
    const char *policy; /* content security policy; NULL: one that allows nothing */
    const char *frames; /* origins that may show it in a frame; NULL: none */
    const char *file;   /* name to save it under; NULL: it is shown */
    const char *tag;    /* tag that changes with the bytes; NULL: made from the bytes */
    const char *bytes;
    size_t n;
};

/* Hosts are names and addresses, those of IPv6 in brackets, that a request may be for.
 * @return NULL when there is no memory */
struct http_answers *http_answers_new(const struct http_content *contents, size_t n,
                                      const char *const *hosts, size_t n_hosts);
void http_answers_free(struct http_answers *answers);

/* Refuses a request by its head, if it cannot be answered; its body, if it has one, is not read. It
 * is not whole when its target has a zero byte in it.
 * @return how many bytes that took, 0 when the request is in order, -1 when the connection must be
 * given up */
int64_t http_answers_refuse(struct http_answers *answers, struct MHD_Connection *connection,
                            const char *method, const char *version, bool is_whole);

/* Answers a request that is in order and whole.
 * @return how many bytes the answer has, or -1 when the connection must be given up */
int64_t http_answers_give(struct http_answers *answers, struct MHD_Connection *connection,
                          const char *path);

/* Whether a Host header, with or without a port, names one of the hosts. */
bool http_host_is_known(const char *header, const char *const *hosts, size_t n_hosts);

/* Whether an If-None-Match header lists a tag, which comes with its quotes. */
bool http_tag_is_listed(const char *header, const char *tag);

#endif
