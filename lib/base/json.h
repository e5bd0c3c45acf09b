/*
 * A JSON pull reader over bytes in memory: no allocation, bounded depth, strict RFC 8259. The
 * writer is public, see dpmf.h.
 */
#ifndef DPMF_BASE_JSON_H
#define DPMF_BASE_JSON_H

#include "dpmf.h"

enum { JSON_DEPTH_MAX = 64 };

enum json_kind {
    JSON_ERROR,
    JSON_END, /* the end of the text, after one whole value */
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END,
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

struct json_token {
    enum json_kind kind;
    const char *text; /* text of a key, a string (between its quotes, still escaped) or a number */
    size_t length;
    bool escaped;      /* the string holds backslashes: json_unescape() it */
    size_t offset;     /* place of the token in the text; for JSON_ERROR, that of the fault */
    const char *fault; /* for JSON_ERROR: what is wrong */
};

struct json_reader {
    const char *text;
    size_t length, at;
    int depth;
    uint64_t in_object; /* a bit per depth */
    int expect;         /* private */
};

void json_reader_init(struct json_reader *reader, const char *text, size_t length);
struct json_token json_next(struct json_reader *reader);

/* Having just read `token`, skips the whole value it begins. @return false on an error */
bool json_skip(struct json_reader *reader, struct json_token token);

/* The UTF-8 a string stands for, at most token.length bytes; lone surrogates become U+FFFD.
 * `out` may be the string's own place. @return the length */
size_t json_unescape(const struct json_token *token, char *out);

/* Whether the string names half of a character (a lone surrogate), which no UTF-8 can say. */
bool json_has_half(const struct json_token *token);

/* Whether the string or key equals `word` once unescaped (words longer than 255 bytes: false). */
bool json_equals(const struct json_token *token, const char *word);

#endif
