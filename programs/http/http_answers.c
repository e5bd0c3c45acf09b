/*
 * What `dpmf serve` answers. Everything is made once, as responses of libmicrohttpd that any thread
 * may send at any time; a request only chooses among them. Nothing that a request says is kept,
 * counted or written down, and no body is ever read: ratings cannot be sent here. Fed by
 * command_serve.c.
 */
#include "http/http_answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#include "http/http_library.h"

enum { TAG_MAX = 48, CONTENTS_MAX = 8, PORT_DIGITS_MAX = 5 };

/* ---- the refusals ---------------------------------------------------------------------------- */

enum refusal {
    REFUSAL_REQUEST,
    REFUSAL_PATH,
    REFUSAL_METHOD,
    REFUSAL_BODY,
    REFUSAL_HOST,
    REFUSALS,
};

static const struct {
    unsigned status;
    const char *sentence;
} refusals[REFUSALS] = {
    [REFUSAL_REQUEST] = {MHD_HTTP_BAD_REQUEST,
                         "A request names its host, names it once, and has no zero bytes.\n"},
    [REFUSAL_PATH] = {MHD_HTTP_NOT_FOUND,
                      "There is nothing here. There is /, /v1/release, /v1/items and "
                      "/v1/statement.\n"},
    [REFUSAL_METHOD] = {MHD_HTTP_METHOD_NOT_ALLOWED,
                        "Only GET and HEAD: nothing can be sent here.\n"},
    [REFUSAL_BODY] = {MHD_HTTP_CONTENT_TOO_LARGE,
                      "Nothing can be sent here: requests have no body.\n"},
    [REFUSAL_HOST] =
        {MHD_HTTP_MISDIRECTED_REQUEST,
         "This server does not go by that name. dpmf serve --host NAME gives it one.\n"},
};

struct answer {
    char path[32];
    char tag[TAG_MAX]; /* with its quotes */
    uint64_t n;
    struct MHD_Response *whole, *unchanged;
};

struct http_answers {
    struct answer answers[CONTENTS_MAX];
    size_t n;
    struct MHD_Response *refusals[REFUSALS];
    const char *const *hosts;
    size_t n_hosts;
};

/* ---- making them ----------------------------------------------------------------------------- */

static bool add_header(struct MHD_Response *response, const char *name, const char *value) {
    return http_library.add_response_header(response, name, value) == MHD_YES;
}

/* What every answer says: nothing of it is for other sites, frames or guesses. */
static bool add_security(struct MHD_Response *response, const char *policy, const char *frames) {
    static const char *const headers[][2] = {
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Permissions-Policy",
         "accelerometer=(), camera=(), display-capture=(), "
         "geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), "
         "payment=(), serial=(), usb=()"},
    };
    char value[2048];
    int n = snprintf(value, sizeof value, "%s; frame-ancestors %s",
                     policy != NULL ? policy : "default-src 'none'",
                     frames != NULL ? frames : "'none'");
    if (n < 0 || (size_t)n >= sizeof value) return false;
    if (!add_header(response, "Content-Security-Policy", value)) return false;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (!add_header(response, headers[i][0], headers[i][1])) return false;
    return true;
}

static struct MHD_Response *new_response(const char *bytes, size_t n) {
    /* The library does not write to a persistent buffer; its interface is older than const. */
    return http_library.create_response_from_buffer(n, (void *)bytes, MHD_RESPMEM_PERSISTENT);
}

/* Nobody has to trust it: it only tells an old copy from a new one. */
static void make_tag(const struct http_content *content, char tag[TAG_MAX]) {
    uint64_t sum = 0xcbf29ce484222325; /* FNV-1a */
    if (content->tag != NULL) {
        snprintf(tag, TAG_MAX, "\"%s\"", content->tag);
        return;
    }
    for (size_t i = 0; i < content->n; i++)
        sum = (sum ^ (unsigned char)content->bytes[i]) * 0x100000001b3;
    snprintf(tag, TAG_MAX, "\"%016" PRIx64 "\"", sum);
}

static bool make_answer(const struct http_content *content, struct answer *answer) {
    char disposition[128];
    snprintf(answer->path, sizeof answer->path, "%s", content->path);
    make_tag(content, answer->tag);
    answer->n = content->n;
    answer->whole = new_response(content->bytes, content->n);
    answer->unchanged = new_response(content->bytes, content->n); /* its body is not sent */
    if (answer->whole == NULL || answer->unchanged == NULL) return false;
    snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"",
             content->file != NULL ? content->file : "");
    struct MHD_Response *both[] = {answer->whole, answer->unchanged};
    for (size_t i = 0; i < 2; i++)
        if (!add_security(both[i], content->policy, content->frames) ||
            !add_header(both[i], MHD_HTTP_HEADER_ETAG, answer->tag) ||
            !add_header(both[i], MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache"))
            return false;
    return add_header(answer->whole, MHD_HTTP_HEADER_CONTENT_TYPE, content->type) &&
           (content->file == NULL ||
            add_header(answer->whole, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition));
}

static bool make_refusal(enum refusal which, struct http_answers *answers) {
    const char *sentence = refusals[which].sentence;
    struct MHD_Response *response = new_response(sentence, strlen(sentence));
    answers->refusals[which] = response;
    return response != NULL && add_security(response, NULL, NULL) &&
           add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8") &&
           add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") &&
           (which != REFUSAL_METHOD || add_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD")) &&
           /* what follows a head that is refused may be a body */
           (which == REFUSAL_PATH || add_header(response, MHD_HTTP_HEADER_CONNECTION, "close"));
}

struct http_answers *http_answers_new(const struct http_content *contents, size_t n,
                                      const char *const *hosts, size_t n_hosts) {
    struct http_answers *answers = n <= CONTENTS_MAX ? calloc(1, sizeof *answers) : NULL;
    if (answers == NULL) return NULL;
    answers->hosts = hosts;
    answers->n_hosts = n_hosts;
    bool is_made = true;
    while (is_made && answers->n < n) {
        is_made = make_answer(&contents[answers->n], &answers->answers[answers->n]);
        answers->n++;
    }
    for (size_t i = 0; is_made && i < REFUSALS; i++)
        is_made = make_refusal((enum refusal)i, answers);
    if (is_made) return answers;
    http_answers_free(answers);
    return NULL;
}

static void free_response(struct MHD_Response *response) {
    if (response != NULL) http_library.destroy_response(response);
}

void http_answers_free(struct http_answers *answers) {
    if (answers == NULL) return;
    for (size_t i = 0; i < answers->n; i++) {
        free_response(answers->answers[i].whole);
        free_response(answers->answers[i].unchanged);
    }
    for (size_t i = 0; i < REFUSALS; i++) free_response(answers->refusals[i]);
    free(answers);
}

/* ---- what headers say ------------------------------------------------------------------------ */

/* The port is none of our business: a tunnel or a proxy may have another. */
static bool is_port(const char *text) {
    size_t n = strspn(text, "0123456789");
    return n <= PORT_DIGITS_MAX && text[n] == '\0';
}

bool http_host_is_known(const char *header, const char *const *hosts, size_t n_hosts) {
    for (size_t i = 0; i < n_hosts; i++) {
        size_t n = strlen(hosts[i]);
        if (strncasecmp(header, hosts[i], n) != 0) continue;
        if (header[n] == '\0' || (header[n] == ':' && is_port(header + n + 1))) return true;
    }
    return false;
}

/* A tag in a list, in which W/ marks those that stand for much the same, and * stands for any. */
bool http_tag_is_listed(const char *header, const char *tag) {
    size_t n = strlen(tag);
    const char *at = header + strspn(header, " \t");
    if (at[0] == '*' && at[1 + strspn(at + 1, " \t")] == '\0') return true;
    while (*at != '\0') {
        at += strspn(at, " \t,");
        if (strncmp(at, "W/", 2) == 0) at += 2;
        if (*at != '"') return false;
        if (strncmp(at, tag, n) == 0) return true;
        const char *end = strchr(at + 1, '"');
        if (end == NULL) return false;
        at = end + 1;
    }
    return false;
}

struct heads {
    const char *host;
    unsigned n_hosts;
    bool has_body, has_more;
    const char *begin, *end; /* the head as it came */
    const char *seen;        /* the end of what was seen of it; NULL when that is elsewhere */
};

static bool is_within(const struct heads *heads, const char *at) {
    return (uintptr_t)at >= (uintptr_t)heads->begin && (uintptr_t)at < (uintptr_t)heads->end;
}

/* Between two headers there are ends of lines, and what the library puts in their place. Anything
 * else is the rest of a value with a zero byte in it, which the library takes for its end. */
static void look_between(struct heads *heads, const char *next) {
    for (const char *at = heads->seen; at != NULL && at < next; at++)
        heads->has_more |= *at != '\0' && strchr("\r\n \t", *at) == NULL;
}

static enum MHD_Result look_at_header(void *self, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
    struct heads *heads = self;
    (void)kind;
    if (is_within(heads, name)) look_between(heads, name);
    heads->seen = value != NULL && is_within(heads, value) ? value + strlen(value) : NULL;
    if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) {
        heads->host = value;
        heads->n_hosts++;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        heads->has_body = true;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        heads->has_body |= value == NULL || value[0] == '\0' || value[strspn(value, "0")] != '\0';
    }
    return MHD_YES;
}

/* ---- answering ------------------------------------------------------------------------------- */

/* @return the refusal, or REFUSALS when there is none */
static enum refusal find_fault(const struct http_answers *answers,
                               struct MHD_Connection *connection, const char *method,
                               const char *version, bool is_whole) {
    struct heads heads = {0};
    const union MHD_ConnectionInfo *info =
        http_library.get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    heads.begin = method;
    heads.end = method + (info != NULL ? info->header_size : 0);
    http_library.get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &heads);
    look_between(&heads, heads.end);
    bool is_old = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
    if (!is_whole || heads.has_more) return REFUSAL_REQUEST;
    if (heads.n_hosts > 1 || (heads.n_hosts == 0 && !is_old)) return REFUSAL_REQUEST;
    if (heads.n_hosts == 1 &&
        (heads.host == NULL || !http_host_is_known(heads.host, answers->hosts, answers->n_hosts)))
        return REFUSAL_HOST;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return REFUSAL_METHOD;
    return heads.has_body ? REFUSAL_BODY : REFUSALS;
}

static int64_t send_response(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response, uint64_t n) {
    return http_library.queue_response(connection, status, response) == MHD_YES ? (int64_t)n : -1;
}

static int64_t refuse(struct http_answers *answers, struct MHD_Connection *connection,
                      enum refusal which) {
    return send_response(connection, refusals[which].status, answers->refusals[which],
                         strlen(refusals[which].sentence));
}

int64_t http_answers_refuse(struct http_answers *answers, struct MHD_Connection *connection,
                            const char *method, const char *version, bool is_whole) {
    enum refusal fault = find_fault(answers, connection, method, version, is_whole);
    return fault == REFUSALS ? 0 : refuse(answers, connection, fault);
}

int64_t http_answers_give(struct http_answers *answers, struct MHD_Connection *connection,
                          const char *path) {
    for (size_t i = 0; i < answers->n; i++) {
        const struct answer *answer = &answers->answers[i];
        if (strcmp(path, answer->path) != 0) continue;
        const char *known = http_library.lookup_connection_value(connection, MHD_HEADER_KIND,
                                                                 MHD_HTTP_HEADER_IF_NONE_MATCH);
        if (known != NULL && http_tag_is_listed(known, answer->tag))
            return send_response(connection, MHD_HTTP_NOT_MODIFIED, answer->unchanged, 0);
        return send_response(connection, MHD_HTTP_OK, answer->whole, answer->n);
    }
    return refuse(answers, connection, REFUSAL_PATH);
}
