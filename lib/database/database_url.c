/*
 * Takes the text of a database's name apart; database_url.h says what it looks like. It is done
 * here and not by libpq, whose complaints quote what they complain of: that could be a password.
 * Fed by paths from the command line and the library's callers; feeds the sources and the exports.
 */
#define _GNU_SOURCE
#include "database/database_url.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"

static const char sqlite_scheme[] = "sqlite:";
static const char *const postgres_schemes[] = {"postgres://", "postgresql://"};

/* A text under construction, in room that was measured to be enough. */
struct parsing {
    struct database_url *url;
    char *at, *end;
    struct dpmf_error *error;
};

/* In capitals too: POSTGRES:// is no file, whose name an error would show. */
static bool begins_with(const char *text, const char *prefix) {
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static size_t postgres_scheme_length(const char *text) {
    for (size_t i = 0; i < sizeof postgres_schemes / sizeof postgres_schemes[0]; i++)
        if (begins_with(text, postgres_schemes[i])) return strlen(postgres_schemes[i]);
    return 0;
}

bool database_url_is(const char *text) {
    return begins_with(text, sqlite_scheme) || postgres_scheme_length(text) > 0;
}

static int refuse(struct parsing *parsing, const char *what, const char *hint) {
    error_set(parsing->error, DPMF_ERR_USAGE_VALUE, "%s", what);
    error_hint(parsing->error, "%s", hint);
    return DPMF_ERR_USAGE_VALUE;
}

static int refuse_password(struct parsing *parsing) {
    return refuse(
        parsing, "there is a password in the database's address, where others can see it",
        "leave it out, and change it; give it in PGPASSWORD, ~/.pgpass or a service file");
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static void put(struct parsing *parsing, char c) {
    if (parsing->at < parsing->end) *parsing->at++ = c;
}

static void put_text(struct parsing *parsing, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) put(parsing, text[i]);
}

/* Ends the text that was begun at `begin`, which is returned; NULL when it did not fit. */
static const char *put_end(struct parsing *parsing, const char *begin) {
    if (parsing->at == parsing->end) return NULL;
    *parsing->at++ = '\0';
    return begin;
}

/* Adds the n bytes with their %XX replaced. */
static int put_decoded(struct parsing *parsing, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '%') {
            put(parsing, text[i]);
            continue;
        }
        int high = n - i > 2 ? hex_digit(text[i + 1]) : -1;
        int low = n - i > 2 ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return refuse(parsing,
                          "a % in the database's address is not followed by two hexadecimal digits",
                          "write % as %25, e.g. LIKE 'a%25'");
        if (high == 0 && low == 0)
            return refuse(parsing, "there is a NUL byte in the database's address",
                          "leave out %00");
        put(parsing, (char)(high << 4 | low));
        i += 2;
    }
    return 0;
}

/* The n bytes, decoded, as a text of their own. */
static int decode(struct parsing *parsing, const char *text, size_t n, const char **out) {
    assert(out && (text || n == 0));
    const char *begin = parsing->at;
    int code = put_decoded(parsing, text, n);
    if (code < 0) return code;
    *out = put_end(parsing, begin);
    if (!*out) return error_set(parsing->error, DPMF_ERR_BASE_BUG, "an address has no room");
    size_t length = strlen(begin);
    for (size_t i = 0, step; i < length; i += step)
        if ((step = utf8_sequence(begin + i, length - i)) == 0)
            return refuse(parsing, "the database's address is not UTF-8", "write it in UTF-8");
    return 0;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Other places where people put passwords, which the server's complaints would quote. */
static bool hides_password(const char *name, const char *value) {
    if (strcmp(name, "user") == 0) return strchr(value, ':') != NULL;
    return strcmp(name, "dbname") == 0 && strchr(value, '=') && strcasestr(value, "password");
}

static int add_setting(struct parsing *parsing, const char *name, const char *value) {
    struct database_url *url = parsing->url;
    if (hides_password(name, value)) return refuse_password(parsing);
    for (size_t i = 0; i < url->n_settings; i++)
        if (strcmp(url->setting[i].name, name) == 0)
            return refuse(parsing, "the database's address has a parameter twice",
                          "give every parameter once");
    if (url->n_settings == DATABASE_SETTINGS_MAX)
        return refuse(parsing, "the database's address has too many parameters",
                      "leave out those that are at their defaults");
    url->setting[url->n_settings++] = (struct database_setting){name, value};
    return 0;
}

static int set_once(struct parsing *parsing, const char **place, const char *value) {
    assert(place && value);
    if (parsing->url->query || parsing->url->table)
        return refuse(parsing, "the database's address has more than one query or table",
                      "give one ?query=SELECT ... or one ?table=NAME");
    if (value[strspn(value, " \t\r\n;")] == '\0')
        return refuse(parsing, "the query or table in the database's address is empty",
                      "give ?query=SELECT ... or ?table=NAME");
    *place = value;
    return 0;
}

/* What must not be in an address, and why it is not left to libpq. */
static int check_keyword(struct parsing *parsing, const char *name) {
    if (strcasestr(name, "passw")) return refuse_password(parsing); /* PASSWORD, passwd, ... */
    if (strcmp(name, "replication") == 0)
        return refuse(parsing, "a replication connection cannot run queries", "leave it out");
    return 0;
}

static int take_parameter(struct parsing *parsing, const char *text, size_t n) {
    static const char hint[] =
        "after the ? comes query=SELECT ... or table=NAME and, for postgres://, parameters of "
        "libpq, separated by &; in a query, write & as %26";
    const char *equals = memchr(text, '=', n), *name, *value;
    if (!equals) return refuse(parsing, "the database's address has a parameter without =", hint);
    int code = decode(parsing, text, (size_t)(equals - text), &name);
    if (code == 0 && parsing->url->kind == DATABASE_POSTGRES) code = check_keyword(parsing, name);
    if (code < 0) return code;
    size_t length = n - (size_t)(equals + 1 - text);
    code = decode(parsing, equals + 1, length, &value);
    if (code < 0) return code;
    if (strcmp(name, "query") == 0) return set_once(parsing, &parsing->url->query, value);
    if (strcmp(name, "table") == 0) return set_once(parsing, &parsing->url->table, value);
    if (parsing->url->kind == DATABASE_SQLITE)
        return refuse(parsing, "the database's address has a parameter that SQLite does not know",
                      hint);
    if (memchr(text, '@', n)) /* perhaps the end of a password with a ? in it */
        return refuse(parsing, "there is an @ in a parameter of the database's address",
                      "write @ as %40");
    return add_setting(parsing, name, value);
}

static int take_parameters(struct parsing *parsing, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "&");
        int code = n > 0 ? take_parameter(parsing, text, n) : 0;
        if (code < 0) return code;
        text += n;
        if (*text == '&') text++;
    }
    return 0;
}

/* ---- PostgreSQL: user, hosts and ports, database --------------------------------------------- */

static int take_user(struct parsing *parsing, const char *text, size_t n) {
    const char *user;
    if (memchr(text, ':', n)) return refuse_password(parsing);
    int code = decode(parsing, text, n, &user);
    if (code < 0 || n == 0) return code;
    return add_setting(parsing, "user", user);
}

/* The length of the host that begins the n bytes: a name, or an address in brackets. */
static size_t host_length(const char *text, size_t n) {
    assert(text || n == 0);
    const char *bracket = n > 0 && text[0] == '[' ? memchr(text, ']', n) : NULL;
    if (bracket) return (size_t)(bracket + 1 - text);
    for (size_t i = 0; i < n; i++)
        if (text[i] == ':') return i;
    return n;
}

static bool is_port(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return n <= 5;
}

/* The hosts of HOST:PORT,HOST:PORT,..., or its ports, with the commas between them. */
static int put_hosts(struct parsing *parsing, const char *text, size_t n, bool ports,
                     const char **out) {
    const char *begin = parsing->at;
    for (size_t at = 0; at <= n;) {
        const char *comma = memchr(text + at, ',', n - at);
        size_t length = comma ? (size_t)(comma - (text + at)) : n - at;
        size_t host = host_length(text + at, length);
        if (length > 0 && text[at] == '[' && text[at + host - 1] != ']')
            return refuse(parsing, "the bracket in the database's address is not closed",
                          "write postgres://USER@[ADDRESS]:PORT/DATABASE");
        const char *port = text + at + host + 1;
        size_t port_length = host < length ? length - host - 1 : 0;
        if (host < length && (text[at + host] != ':' || !is_port(port, port_length)))
            return refuse(parsing, "the port in the database's address is not a number",
                          "write postgres://USER@HOST:PORT/DATABASE, without a password");
        bool bracketed = host >= 2 && text[at] == '[';
        int code = 0;
        if (ports)
            put_text(parsing, port, port_length);
        else if (bracketed)
            put_text(parsing, text + at + 1, host - 2);
        else
            code = put_decoded(parsing, text + at, host);
        if (code < 0) return code;
        at += length + 1;
        if (comma) put(parsing, ',');
    }
    *out = put_end(parsing, begin);
    return *out ? 0 : error_set(parsing->error, DPMF_ERR_BASE_BUG, "an address has no room");
}

static int take_hosts(struct parsing *parsing, const char *text, size_t n) {
    const char *hosts, *ports;
    int code = put_hosts(parsing, text, n, false, &hosts);
    if (code == 0) code = put_hosts(parsing, text, n, true, &ports);
    if (code == 0 && hosts[strspn(hosts, ",")]) code = add_setting(parsing, "host", hosts);
    if (code == 0 && ports[strspn(ports, ",")]) code = add_setting(parsing, "port", ports);
    return code;
}

/* What it is called in errors: nothing but host and database, and only once both were
 * understood. */
static int name_server(struct parsing *parsing, const char *host, size_t host_n,
                       const char *database, size_t database_n) {
    const char *begin = parsing->at;
    put_text(parsing, postgres_schemes[0], strlen(postgres_schemes[0]));
    put_text(parsing, host, host_n);
    put(parsing, '/');
    put_text(parsing, database, database_n);
    parsing->url->shown = put_end(parsing, begin);
    if (parsing->url->shown) return 0;
    return error_set(parsing->error, DPMF_ERR_BASE_BUG, "an address has no room");
}

static int parse_postgres(struct parsing *parsing, const char *text) {
    size_t server = strcspn(text, "/?"), user = 0;
    for (size_t i = 0; i < server; i++)
        if (text[i] == '@') user = i + 1;
    int code = user > 0 ? take_user(parsing, text, user - 1) : 0;
    if (code < 0) return code;
    const char *database = text + server + (text[server] == '/');
    size_t length = strcspn(database, "?");
    if (memchr(database, '@', length)) /* perhaps a password with a / in it */
        return refuse(parsing, "there is an @ in the database's name",
                      "write postgres://USER@HOST/DATABASE, and @ in a name as %40");
    code = take_hosts(parsing, text + user, server - user);
    const char *name;
    if (code == 0) code = decode(parsing, database, length, &name);
    if (code == 0 && length > 0) code = add_setting(parsing, "dbname", name);
    if (code == 0 && database[length] == '?')
        code = take_parameters(parsing, database + length + 1);
    if (code < 0) return code;
    return name_server(parsing, text + user, server - user, database, length);
}

static int parse_sqlite(struct parsing *parsing, const char *text) {
    size_t n = strcspn(text, "?");
    if (n == 0)
        return refuse(parsing, "the address of the SQLite database names no file",
                      "write sqlite:FILE?query=SELECT ... or sqlite:FILE?table=NAME");
    int code = decode(parsing, text, n, &parsing->url->file);
    parsing->url->shown = parsing->url->file;
    if (code < 0 || text[n] == '\0') return code;
    return take_parameters(parsing, text + n + 1);
}

int database_url_parse(const char *text, struct database_url *url, struct dpmf_error *error) {
    assert(text && url);
    size_t scheme = postgres_scheme_length(text), n = strlen(text);
    *url = (struct database_url){.kind = scheme > 0 ? DATABASE_POSTGRES : DATABASE_SQLITE};
    /* Every byte is in at most one decoded text, and of a server's name also in the ports and in
     * `shown`. */
    url->space = n < SIZE_MAX / 8 ? memory_alloc(4 * n + 64, 1) : NULL;
    if (!url->space) return error_no_memory(error);
    struct parsing parsing = {url, url->space, url->space + 4 * n + 64, error};
    int code = scheme > 0 ? parse_postgres(&parsing, text + scheme)
                          : parse_sqlite(&parsing, text + strlen(sqlite_scheme));
    if (code < 0) database_url_free(url);
    return code;
}

void database_url_free(struct database_url *url) {
    free(url->space);
    *url = (struct database_url){.space = NULL};
}

char *dpmf_input_file(const char *path) {
    struct database_url url;
    char *file = NULL;
    if (!path) return NULL;
    if (!database_url_is(path)) return strdup(path);
    if (database_url_parse(path, &url, NULL) < 0) return NULL;
    if (url.kind == DATABASE_SQLITE) file = strdup(url.file);
    database_url_free(&url);
    return file;
}
