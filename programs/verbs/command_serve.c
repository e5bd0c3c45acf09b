/*
 * dpmf serve: the page of a release, and the release itself, for browsers and programs. Everything
 * is made before the first request; then a few threads of libmicrohttpd give it out until a signal
 * comes. Fed by a release and a catalogue; web_release.c and page_make.c make what http_answers.c
 * gives.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "http/http_answers.h"
#include "http/http_connections.h"
#include "http/http_library.h"
#include "page/page_look.h"
#include "page/page_offline.h"
#include "page/web_release.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

enum {
    PORT_DEFAULT = 8080,
    PORT_MAX = 65535,
    THREADS_DEFAULT_MAX = 4,
    CONNECTIONS_DEFAULT = 1000,
    CONNECTIONS_MAX = 100000,
    CONNECTION_MEMORY = 16 * 1024, /* for the head of a request */
    TIMEOUT_DEFAULT = 15,          /* seconds */
    TIMEOUT_MAX = 3600,
    SPARE_DESCRIPTORS = 64, /* for everything that is not a connection */
    BACKLOG = 1024,
    HOST_MAX = 256,
    OWN_HOSTS = 4, /* localhost, two addresses of loopback, and the one that is listened on */
    CONTENTS = 6,
};

static void port_default(FILE *out) { fprintf(out, "%d", PORT_DEFAULT); }

static void timeout_default(FILE *out) { fprintf(out, "%d", TIMEOUT_DEFAULT); }

static void connections_default(FILE *out) { fprintf(out, "%d", CONNECTIONS_DEFAULT); }

#define ADDRESS_DEFAULT "127.0.0.1"

static void address_default(FILE *out) { fputs(ADDRESS_DEFAULT, out); }

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_PORT, .name = "port", .value = {VALUE_COUNT, "N", "8080", NULL, NULL},
     .show_default = port_default,
     .help = "listen on this port (default {default}); 0 finds a free one"},
    {.id = OPTION_ADDRESS, .name = "address",
     .value = {VALUE_TEXT, "ADDRESS", "127.0.0.1", NULL, NULL}, .show_default = address_default,
     .help = "listen on this address of the machine (default {default}, which only the machine "
             "itself reaches; ::1 is the same for IPv6)"},
    {.id = OPTION_HOST, .name = "host",
     .value = {VALUE_TEXTS, "NAME", "films.example.org", NULL, NULL},
     .help = "answer requests for this host too, and not only for localhost and the address; may "
             "be given several times"},
    PAGE_OPTIONS,
    {.id = OPTION_EMBED, .name = "embed",
     .value = {VALUE_TEXT, "ORIGIN", "https://example.org", NULL, NULL},
     .help = "let pages of this origin show the page in a frame; without it, none may"},
    {.id = OPTION_TIMEOUT, .name = "timeout", .value = {VALUE_COUNT, "SECONDS", "15", NULL, NULL},
     .show_default = timeout_default,
     .help = "seconds that a client has to send its request, 1 to 3600 (default {default})"},
    {.id = OPTION_CONNECTIONS, .name = "connections",
     .value = {VALUE_COUNT, "N", "1000", NULL, NULL}, .show_default = connections_default,
     .help = "largest number of connections at once, 8 to 100000 (default {default})"},
    {0},
};
/* clang-format on */

const struct verb verb_serve = {
    .name = "serve",
    .summary = "serve the web page of a release, and the release",
    .synopsis = "RELEASE [--port N] [--address ADDRESS] [--host NAME]... [--catalogue FILE] "
                "[options]",
    .paragraphs =
        {
            "Serves a page that recommends in the browser: it loads the release and computes "
            "there, so that nobody's ratings ever leave their machine, and none can be sent "
            "here. It prints the page's URL on standard output and then answers, from memory, "
            "until it is interrupted; answers under way are finished.",
            "Programs find the file at /v1/release, its items with their titles at /v1/items, "
            "and the privacy statement at /v1/statement, the last two as JSON.",
            "Requests must name localhost, the address, or a --host as their host, so that other "
            "sites cannot pose as this one. Requests are not logged. There is no encryption: "
            "docs/serve.md says how to put a web server in front for that.",
            "What may not be published is refused: a checkpoint, a release that is stamped NOT "
            "PRIVATE, and one that dpmf privacy verify does not accept.",
            "Browsers may install the page, and it then opens without a network: for that it asks "
            "for two more files, /manifest.webmanifest and /worker.js, and for nothing else.",
            "With --json it prints one object with url, port, items, titles, page_bytes and "
            "release_bytes instead of the URL.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "4 when the port is taken, 6 when the release may not be published, and when the "
                 "table of titles could be about people.",
    .examples =
        {
            {"For two seconds, on whatever port is free",
             "timeout 2 dpmf serve release.safetensors --port 0 --catalogue items.csv || true",
             SOME_RELEASE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static const double SWEEP_SECONDS = 0.25;
static const double GRACE_SECONDS = 5; /* for answers under way, once a signal has come */

struct server {
    struct invocation *invocation;
    struct web_release release;
    char *page, *policy, *manifest, *worker;
    size_t page_size, manifest_size, worker_size;
    uint64_t port, timeout, connection_limit;
    struct sockaddr_storage address;
    socklen_t address_size;
    int socket;
    char own_host[HOST_MAX]; /* the address as it stands in a URL */
    const char *hosts[OWN_HOSTS + INVOCATION_REPEATS_MAX];
    size_t n_hosts;
    struct http_answers *answers;
    struct http_connections *connections;
    struct MHD_Daemon *daemon;
};

static int no_memory(void) {
    return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
}

/* ---- what was asked for ---------------------------------------------------------------------- */

/* A count within bounds, or its default. */
static int take_count(const struct invocation *invocation, enum option_id id, uint64_t least,
                      uint64_t most, uint64_t *count) {
    if (!command_has(invocation, id)) return STATUS_DONE;
    const char *name = options_name(invocation, id);
    char hint[64];
    snprintf(hint, sizeof hint, "for example: --%s %ju", name, (uintmax_t)*count);
    *count = options_count(invocation, id);
    if (*count >= least && *count <= most) return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, hint, "--%s %s is not from %ju to %ju", name,
                                invocation->value[id], (uintmax_t)least, (uintmax_t)most);
}

static int take_numbers(struct server *server) {
    server->port = PORT_DEFAULT;
    server->timeout = TIMEOUT_DEFAULT;
    server->connection_limit = CONNECTIONS_DEFAULT;
    int status = take_count(server->invocation, OPTION_PORT, 0, PORT_MAX, &server->port);
    if (status == STATUS_DONE)
        status = take_count(server->invocation, OPTION_TIMEOUT, 1, TIMEOUT_MAX, &server->timeout);
    if (status == STATUS_DONE)
        status = take_count(server->invocation, OPTION_CONNECTIONS, 8, CONNECTIONS_MAX,
                            &server->connection_limit);
    return status;
}

static int find_address(struct server *server) {
    const char *text = command_has(server->invocation, OPTION_ADDRESS)
                           ? server->invocation->value[OPTION_ADDRESS]
                           : ADDRESS_DEFAULT;
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)server->port);
    if (strcmp(text, "localhost") == 0) text = "127.0.0.1";
    if (text[0] == '\0' || getaddrinfo(text, port, &hints, &found) != 0)
        return terminal_error_print(STATUS_USAGE, "for example: --address 127.0.0.1, or ::1",
                                    "--address \"%.200s\" is not an address of this machine", text);
    memcpy(&server->address, found->ai_addr, found->ai_addrlen);
    server->address_size = found->ai_addrlen;
    freeaddrinfo(found);
    return STATUS_DONE;
}

static bool is_loopback(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static bool is_any(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET)
        return ((const struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* The address as a URL has it: that of IPv6 in brackets, and without the name of an interface. */
static void name_address(struct server *server) {
    char text[INET6_ADDRSTRLEN] = "";
    if (server->address.ss_family == AF_INET) {
        inet_ntop(AF_INET, &((struct sockaddr_in *)&server->address)->sin_addr, text, sizeof text);
        snprintf(server->own_host, sizeof server->own_host, "%s", text);
    } else {
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&server->address)->sin6_addr, text,
                  sizeof text);
        snprintf(server->own_host, sizeof server->own_host, "[%s]", text);
    }
}

/* A name or an address as the header Host has it, without a port. */
static int check_host(const char *host) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    size_t n = strlen(host);
    bool is_bracketed = n > 2 && host[0] == '[' &&
                        strspn(host + 1, "0123456789abcdefABCDEF:.") == n - 2 && host[n - 1] == ']';
    if (is_bracketed || (n > 0 && n < HOST_MAX && strspn(host, letters) == n)) return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE,
                                "give the name alone, without a port: --host films.example.org",
                                "--host \"%.200s\" is not the name of a host", host);
}

static int take_hosts(struct server *server) {
    const struct invocation *invocation = server->invocation;
    const char *own[OWN_HOSTS] = {"localhost", "127.0.0.1", "[::1]", server->own_host};
    for (size_t i = 0; i < OWN_HOSTS; i++) server->hosts[server->n_hosts++] = own[i];
    for (size_t i = 0; i < invocation->n_repeats; i++) {
        int status = check_host(invocation->repeats[i]);
        if (status != STATUS_DONE) return status;
        server->hosts[server->n_hosts++] = invocation->repeats[i];
    }
    return STATUS_DONE;
}

static int check_embed(const struct invocation *invocation);

static int take_options(struct server *server) {
    int status = take_numbers(server);
    if (status == STATUS_DONE) status = check_embed(server->invocation);
    if (status == STATUS_DONE) status = find_address(server);
    if (status != STATUS_DONE) return status;
    name_address(server);
    status = take_hosts(server);
    if (status == STATUS_DONE && !is_loopback(&server->address))
        terminal_warning_print(&server->invocation->terminal,
                               "whoever can reach this address may load the page, and sees it "
                               "unencrypted; without --address only this machine can");
    if (status == STATUS_DONE && is_any(&server->address) && server->invocation->n_repeats == 0)
        terminal_warning_print(&server->invocation->terminal,
                               "only requests to localhost are answered: requests by another name "
                               "or address of this machine are refused unless --host NAME gives "
                               "it");
    return status;
}

/* ---- listening ------------------------------------------------------------------------------- */

static int refuse_socket(const struct server *server, int number) {
    const char *hint = "choose another with --address";
    if (number == EADDRINUSE) hint = "choose another with --port, or let --port 0 find a free one";
    if (number == EACCES) hint = "ports below 1024 need special rights: choose another with --port";
    return terminal_error_print(STATUS_IO, hint, "cannot listen on %s port %u: %s",
                                server->own_host, (unsigned)server->port,
                                text_system_error(number).text);
}

/* One that waits for nothing, and that no other program inherits. */
static int make_socket(int family) {
#ifdef SOCK_CLOEXEC
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    const int made = socket(family, SOCK_STREAM, 0);
    if (made < 0) return -1;
    if (fcntl(made, F_SETFD, FD_CLOEXEC) == 0 && fcntl(made, F_SETFL, O_NONBLOCK) == 0) return made;
    close(made);
    return -1;
#endif
}

static int open_socket(struct server *server) {
    const struct sockaddr *address = (const struct sockaddr *)&server->address;
    int yes = 1;
    server->socket = make_socket(address->sa_family);
    if (server->socket < 0) return refuse_socket(server, errno);
    setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server->socket, address, server->address_size) != 0 ||
        listen(server->socket, BACKLOG) != 0)
        return refuse_socket(server, errno);
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = {.v6 = {0}};
    socklen_t size = sizeof bound;
    if (getsockname(server->socket, &bound.any, &size) != 0) return refuse_socket(server, errno);
    server->port = ntohs(bound.any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
    return STATUS_DONE;
}

/* Each connection is a descriptor: we ask for as many as we may have, and do with what we get. */
static void fit_descriptors(struct server *server) {
    struct rlimit limit;
    rlim_t wanted = server->connection_limit + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    }
    if (limit.rlim_cur >= wanted) return;
    uint64_t most = limit.rlim_cur > 2 * SPARE_DESCRIPTORS ? limit.rlim_cur - SPARE_DESCRIPTORS
                                                           : SPARE_DESCRIPTORS;
    if (server->connection_limit > most) server->connection_limit = most;
}

/* ---- what libmicrohttpd calls, in its threads ------------------------------------------------ */

static struct http_connection *entry_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        http_library.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void on_connection(void *self, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    struct server *server = self;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            http_library.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info != NULL ? http_connection_add(server->connections, info->connect_fd) : NULL;
    } else {
        http_connection_remove(server->connections, *context);
        *context = NULL;
    }
}

/* Remembers where the target of a request ends for C. In the line it is followed by a space and the
 * version: when that is not there, the target goes on behind a zero byte. */
static void *on_target(void *self, const char *target, struct MHD_Connection *connection) {
    (void)self;
    (void)connection;
    return (void *)(target + strlen(target));
}

/* The first call has the head of a request, the second its end; in between would come a body, were
 * requests with one not refused at once. Whoever is answered at the first call must connect
 * again. */
static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_size, void **context) {
    struct server *server = self;
    int64_t bytes;
    (void)body;
    if (*context != server) {
        bool is_whole = *context == NULL || (const char *)*context + 1 == version;
        *context = server;
        bytes = http_answers_refuse(server->answers, connection, method, version, is_whole);
        if (bytes == 0) return MHD_YES;
    } else if (*body_size > 0) {
        return MHD_NO;
    } else {
        bytes = http_answers_give(server->answers, connection, path);
    }
    if (bytes < 0) return MHD_NO;
    http_connection_answer(server->connections, entry_of(connection), (uint64_t)bytes);
    return MHD_YES;
}

static void on_end(void *self, struct MHD_Connection *connection, void **context,
                   enum MHD_RequestTerminationCode code) {
    struct server *server = self;
    (void)context;
    (void)code;
    http_connection_wait(server->connections, entry_of(connection));
}

/* Paths are compared as they come: %2e and %00 stay what they are. */
static size_t keep_escapes(void *self, struct MHD_Connection *connection, char *text) {
    (void)self;
    (void)connection;
    return strlen(text);
}

/* ---- a life ---------------------------------------------------------------------------------- */

/* An origin as it may stand in a policy: a scheme, a host, perhaps a port, and nothing that could
 * end the rule. */
static int check_embed(const struct invocation *invocation) {
    if (!command_has(invocation, OPTION_EMBED)) return STATUS_DONE;
    const char *origin = invocation->value[OPTION_EMBED];
    const char *host = strncmp(origin, "https://", 8) == 0  ? origin + 8
                       : strncmp(origin, "http://", 7) == 0 ? origin + 7
                                                            : "";
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]";
    if (host[0] != '\0' && strlen(origin) < HOST_MAX && strspn(host, letters) == strlen(host))
        return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "for example: --embed https://example.org",
                                "--embed \"%.200s\" is not the origin of a site", origin);
}

/* The two files of an installed page. */
static int make_offline(struct server *server) {
    const struct invocation *invocation = server->invocation;
    const char *frames = invocation->value[OPTION_EMBED];
    int status = STATUS_DONE;
    char *whole = NULL, *logo = page_look_logo(server->invocation, &status);
    if (status != STATUS_DONE) return status;
    if (asprintf(&whole, "%s; frame-ancestors %s", server->policy, frames ? frames : "'none'") < 0)
        whole = NULL;
    server->manifest = page_manifest(
        command_has(invocation, OPTION_NAME) ? invocation->value[OPTION_NAME] : PAGE_NAME_DEFAULT,
        logo, &server->manifest_size);
    if (whole)
        server->worker = page_worker(server->page, server->page_size, whole, &server->worker_size);
    free(logo);
    free(whole);
    return server->manifest && server->worker ? STATUS_DONE : no_memory();
}

static int make_answers(struct server *server) {
    struct invocation *invocation = server->invocation;
    struct page page = {0};
    struct dpmf_error error = {0};
    int status = web_release_page(invocation, &server->release, &page);
    if (status != STATUS_DONE) return status;
    int rc = page_to_memory(&page, &server->page, &server->page_size, &error);
    page_free(&page);
    if (rc != 0) return report_error_print(invocation, &error);
    server->policy = page_policy(server->page, server->page_size);
    if (server->policy == NULL)
        return terminal_error_print(STATUS_BUG, "please report this, with what dpmf doctor prints",
                                    "the page has no policy");
    const bool is_offline = server->release.size < PAGE_OFFLINE_MAX;
    if (is_offline) status = make_offline(server);
    if (status != STATUS_DONE) return status;
    const char *statement = server->release.statement.json;
    struct http_content contents[CONTENTS] = {
        {.path = "/",
         .type = "text/html; charset=utf-8",
         .policy = server->policy,
         .frames = invocation->value[OPTION_EMBED],
         .bytes = server->page,
         .n = server->page_size},
        {.path = "/v1/release",
         .type = "application/octet-stream",
         .file = "release.safetensors",
         .tag = server->release.digest,
         .bytes = server->release.bytes,
         .n = server->release.size},
        {.path = "/v1/items", .type = "application/json"},
        {.path = "/v1/statement",
         .type = "application/json",
         .bytes = statement,
         .n = strlen(statement)},
        {.path = "/manifest.webmanifest",
         .type = "application/manifest+json",
         .bytes = server->manifest,
         .n = server->manifest_size},
        {.path = "/worker.js",
         .type = "text/javascript; charset=utf-8",
         .bytes = server->worker,
         .n = server->worker_size},
    };
    contents[2].bytes = dpmf_json_text(server->release.item_list, &contents[2].n);
    server->answers = http_answers_new(contents, is_offline ? CONTENTS : CONTENTS - 2,
                                       server->hosts, server->n_hosts);
    return server->answers != NULL ? STATUS_DONE : no_memory();
}

static unsigned count_threads(const struct server *server) {
    struct dpmf_machine machine;
    unsigned threads = 1;
    if (dpmf_machine_describe(&machine, NULL) == 0)
        threads =
            machine.cores > THREADS_DEFAULT_MAX ? THREADS_DEFAULT_MAX : (unsigned)machine.cores;
    if (server->invocation->run.threads > 0) threads = (unsigned)server->invocation->run.threads;
    return threads < server->connection_limit ? threads : (unsigned)server->connection_limit;
}

static int start(struct server *server) {
    unsigned threads = count_threads(server);
    fit_descriptors(server);
    server->connections =
        http_connections_new((size_t)server->connection_limit, (double)server->timeout);
    if (server->connections == NULL) return no_memory();
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, server->socket, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)server->connection_limit, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)server->timeout, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, server},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_end, server},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_escapes, server},
        /* from 1.0 on the library itself refuses zero bytes */
        {MHD_OPTION_URI_LOG_CALLBACK,
         strncmp(http_library.get_version(), "0.", 2) == 0 ? (intptr_t)on_target : 0, server},
        /* one thread is no pool */
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    server->daemon =
        http_library.start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL,
                                  on_request, server, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (server->daemon != NULL) return STATUS_DONE;
    return terminal_error_print(STATUS_IO, "ask for fewer --threads or --connections",
                                "cannot start serving: %s", text_system_error(errno).text);
}

static int announce(const struct server *server) {
    const struct invocation *invocation = server->invocation;
    char url[HOST_MAX + 32];
    const char *host = server->own_host;
    if (is_any(&server->address))
        host = server->address.ss_family == AF_INET ? "127.0.0.1" : "[::1]";
    snprintf(url, sizeof url, "http://%s:%u/", host, (unsigned)server->port);
    if (command_has(invocation, OPTION_JSON)) {
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        dpmf_json_string(json, "url", url);
        dpmf_json_uint(json, "port", server->port);
        dpmf_json_uint(json, "items", server->release.items);
        dpmf_json_uint(json, "titles", server->release.titles);
        dpmf_json_uint(json, "page_bytes", server->page_size);
        dpmf_json_uint(json, "release_bytes", server->release.size);
        dpmf_json_end_object(json);
        int status = report_json_print(json);
        return report_stdout_check(status);
    }
    puts(url);
    return report_stdout_check(STATUS_DONE);
}

static void sleep_until(double seconds, const sigset_t *signals) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    ppoll(NULL, 0, &time, signals);
}

/* Signals come while we sleep, and at no other time: none is missed between a look and a sleep. */
static void wait_for_signal(struct server *server, const sigset_t *signals) {
    while (signals_pending() == 0) {
        sleep_until(SWEEP_SECONDS, signals);
        http_connections_sweep(server->connections, false);
    }
}

/* Nobody new; whoever is being answered gets the rest. */
static void finish(struct server *server, const sigset_t *signals) {
    double begun = terminal_clock();
    signals_heed();
    http_library.quiesce_daemon(server->daemon);
    while (http_connections_sweep(server->connections, true) > 0 &&
           terminal_clock() - begun < GRACE_SECONDS)
        sleep_until(0.02, signals);
}

static int serve(struct server *server) {
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ours, &before); /* in the threads of the daemon, which inherit it */
    int status = start(server);
    if (status == STATUS_DONE) status = announce(server);
    if (status == STATUS_DONE) {
        terminal_note_print(
            &server->invocation->terminal, "serving %s of %s with a page of %s, until interrupted",
            text_bytes(server->release.size).text, text_count(server->release.items, "item").text,
            text_bytes(server->page_size).text);
        wait_for_signal(server, &before);
        finish(server, &before);
        status = 128 + signals_pending();
    }
    if (server->daemon != NULL) http_library.stop_daemon(server->daemon);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static int load_library(void) {
    const char *fault = http_library_load();
    if (!fault) return STATUS_DONE;
    return terminal_error_print(STATUS_IO, "install it: apt-get install libmicrohttpd12",
                                "serve needs the library libmicrohttpd: %s", fault);
}

static int run(struct invocation *invocation) {
    struct server server = {.invocation = invocation, .socket = -1};
    int status = take_options(&server);
    if (status == STATUS_DONE) status = load_library();
    if (status == STATUS_DONE) status = web_release_open(invocation, true, &server.release);
    if (status == STATUS_DONE) status = make_answers(&server);
    if (status == STATUS_DONE) status = open_socket(&server);
    if (status == STATUS_DONE) status = serve(&server);
    if (server.socket >= 0) close(server.socket);
    http_answers_free(server.answers);
    http_connections_free(server.connections);
    free(server.page);
    free(server.policy);
    free(server.manifest);
    free(server.worker);
    web_release_close(&server.release);
    return status;
}
