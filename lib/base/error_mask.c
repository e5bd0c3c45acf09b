/*
 * Takes what could be a password out of texts before they are shown. People give addresses of
 * databases where a file is expected, misspelled ones too, and an error quotes them; so this knows
 * the shapes that logins have anywhere, not those of one address. It reads the whole text, before
 * it is cut to size: half of a password has no @ after it. Fed by error.c with the names of files
 * and messages, and by the command line with its own.
 */
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text_sink.h"

static const char asterisks[] = "***";

/* A part of the text, from `begin` up to `end`; empty when there is none. */
struct span {
    const char *begin, *end;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *find(struct span text, char c) {
    if (text.begin >= text.end) return NULL;
    return memchr(text.begin, c, (size_t)(text.end - text.begin));
}

/* ---- password=SECRET ------------------------------------------------------------------------- */

enum { NAME_MAX_BYTES = 96 };

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
    return -1;
}

/* The name with its %XX replaced, as whoever reads the address would. */
static void decode(struct span name, char out[NAME_MAX_BYTES]) {
    size_t n = 0;
    for (const char *at = name.begin; at < name.end && n + 1 < NAME_MAX_BYTES; at++) {
        int high = *at == '%' && name.end - at > 2 ? hex_digit(at[1]) : -1;
        int low = high >= 0 ? hex_digit(at[2]) : -1;
        out[n] = *at;
        if (low >= 0) {
            out[n] = (char)(high << 4 | low);
            at += 2;
        }
        n++;
    }
    out[n] = '\0';
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

static bool is_name_byte(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '%';
}

/* What is before the = at `equals`. */
static struct span name_before(const char *begin, const char *equals) {
    const char *end = equals;
    while (end > begin && is_blank(end[-1])) end--;
    const char *at = end;
    while (at > begin && end - at < NAME_MAX_BYTES - 1 && is_name_byte(at[-1])) at--;
    return (struct span){at, end};
}

static const char *skip_quoted(const char *at, const char *end) {
    char quote = *at++;
    for (; at < end; at++) {
        if (*at == quote) return at + 1;
        if (*at == '\\' && at + 1 < end) at++;
    }
    return end;
}

/* In an address, blanks belong to the value; in host=a password=b they end it. `mark` is what is
 * before the name. */
static const char *value_end(char mark, const char *at, const char *end) {
    size_t n = (size_t)(end - at);
    bool hidden = n >= 3 && memcmp(at, asterisks, 3) == 0; /* already: what follows may be words */
    if (hidden && (n == 3 || strchr("&;: ,\t", at[3]))) return at + 3;
    if (at < end && (*at == '\'' || *at == '"')) return skip_quoted(at, end);
    bool in_address = mark == '?' || mark == '&' || mark == ';';
    for (; at < end; at++) {
        if (in_address ? *at == '&' || (mark == ';' && *at == ';') : is_blank(*at)) break;
        if (!in_address && *at == '\\' && at + 1 < end) at++;
    }
    return at;
}

static bool is_password(const char *name) {
    for (const char *at = name; *at; at++)
        if (strncasecmp(at, "passw", 5) == 0) return true;
    return ends_with(name, "pwd") || ends_with(name, "pass");
}

/* user=ann:SECRET, but not the colon after a name. No further than to the next =, where one looks
 * again. */
static bool begins_with_login(struct span rest, char mark) {
    const char *equals = find(rest, '=');
    struct span value = {rest.begin, value_end(mark, rest.begin, equals ? equals : rest.end)};
    const char *colon = find(value, ':');
    return colon && colon + 1 < value.end;
}

/* The next value at or after `from` that could be a password. */
static struct span next_value(struct span text, const char *from) {
    const char *equals;
    for (; (equals = find((struct span){from, text.end}, '=')); from = equals + 1) {
        char name[NAME_MAX_BYTES];
        struct span written = name_before(text.begin, equals), rest = {equals + 1, text.end};
        decode(written, name);
        char mark = written.begin > text.begin ? written.begin[-1] : ' ';
        while (rest.begin < text.end && is_blank(*rest.begin) && mark != '?' && mark != '&')
            rest.begin++;
        if (is_password(name) || (ends_with(name, "user") && begins_with_login(rest, mark)))
            return (struct span){rest.begin, value_end(mark, rest.begin, text.end)};
    }
    return (struct span){text.end, text.end};
}

/* ---- user:SECRET@host ------------------------------------------------------------------------ */

/* The last @ that is not in such a value. */
static const char *last_at(struct span text, struct span within) {
    struct span value = {text.begin, text.begin};
    const char *last = NULL;
    for (const char *at = within.begin; at < within.end; at++) {
        while (value.end <= at && value.begin < text.end) value = next_value(text, value.end);
        if (*at == '@' && !(at >= value.begin && at < value.end)) last = at;
    }
    return last;
}

/* What is after the name of a kind of database and its colon; NULL when the text begins with
 * none. */
static const char *after_scheme(struct span text) {
    static const char *const schemes[] = {
        "postgres", "postgresql", "jdbc",    "odbc",  "mysql",  "mariadb",   "sqlite",
        "mssql",    "sqlserver",  "mongodb", "redis", "oracle", "cockroach",
    };
    const char *colon = find(text, ':');
    if (!colon) return NULL;
    size_t n = 0;
    while (text.begin + n < colon && is_letter(text.begin[n])) n++;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strlen(schemes[i]) == n && strncasecmp(text.begin, schemes[i], n) == 0)
            return text.end - colon > 2 && memcmp(colon + 1, "//", 2) == 0 ? colon + 3 : colon + 1;
    return NULL;
}

/* From `begin` to the last @, should a colon be between. Of a text that was cut the @ may be beyond
 * its end. */
static struct span login_from(struct span text, const char *begin, bool is_cut) {
    struct span rest = {begin, text.end};
    const char *at = last_at(text, rest);
    if (!at && is_cut) at = text.end;
    if (at && find((struct span){begin, at}, ':')) return (struct span){begin, at};
    return (struct span){text.end, text.end};
}

/* Without // or a scheme it may as well be a file's name: only what is before the first / and ?
 * counts. */
static struct span login_plain(struct span text, bool is_cut) {
    struct span head = {text.begin, text.begin};
    while (head.end < text.end && *head.end != '/' && *head.end != '?') head.end++;
    const char *colon = find(head, ':'), *at = last_at(text, head);
    if (!at && is_cut && head.end == text.end) at = text.end;
    if (!colon || !at || colon > at) return (struct span){text.end, text.end};
    return (struct span){colon + 1, at};
}

static const char *find_slashes(struct span text) {
    for (const char *at = text.begin; at + 1 < text.end; at++)
        if (at[0] == '/' && at[1] == '/') return at;
    return NULL;
}

static struct span login_of(struct span text, bool is_cut) {
    struct span login = {text.end, text.end};
    const char *scheme = after_scheme(text);
    if (scheme) login = login_from(text, scheme, is_cut);
    const char *slashes = find_slashes(text);
    if (login.begin == text.end && slashes) login = login_from(text, slashes + 2, is_cut);
    if (login.begin == text.end) login = login_plain(text, is_cut);
    return login;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void put_masked(struct text_sink *sink, struct span text, bool is_cut) {
    struct span login = login_of(text, is_cut);
    for (const char *at = text.begin; at < text.end;) {
        struct span hidden = next_value(text, at);
        const char *begin = login.begin > at ? login.begin : at;
        if (begin < login.end && begin <= hidden.begin) hidden = (struct span){begin, login.end};
        text_sink_put_bytes(sink, at, (size_t)(hidden.begin - at));
        if (hidden.begin < hidden.end) text_sink_put_bytes(sink, asterisks, 3);
        at = hidden.end; /* past an = or into the login's end: it always goes on */
    }
}

int error_mask_name(const char *name, char *masked, size_t size) {
    struct text_sink sink = {masked, size, 0};
    put_masked(&sink, (struct span){name, name + strlen(name)}, false);
    return text_sink_end(&sink);
}

/* The command line's formats show no more than so much of what may be long. */
static bool has_cut_length(struct span part) {
    size_t n = (size_t)(part.end - part.begin);
    return n == 100 || n == 200;
}

/* What is in quotes is one text, and every other word another. */
int error_mask_message(const char *message, bool is_cut, char *masked, size_t size) {
    struct text_sink sink = {masked, size, 0};
    const char *at = message, *end = message + strlen(message);
    while (at < end) {
        bool is_quoted = *at == '"';
        if (is_quoted || is_blank(*at)) text_sink_put(&sink, *at++);
        struct span part = {at, at};
        while (part.end < end && *part.end != '"' && (is_quoted || !is_blank(*part.end)))
            part.end++;
        bool is_place = !is_quoted && part.end - at > 1 && part.end < end && part.end[-1] == ':';
        if (is_place) part.end--; /* FILE: what is wrong with it */
        bool ends_here = is_cut && part.end == end;
        put_masked(&sink, part, ends_here || has_cut_length(part));
        at = part.end;
        if (is_quoted && at < end) text_sink_put(&sink, *at++);
    }
    return text_sink_end(&sink);
}

int dpmf_error_mask(const char *text, char *masked, size_t size) {
    return error_mask_message(text ? text : "", false, masked, masked ? size : 0);
}
