/*
 * The types of Arrow's columns, as far as ratings need them: what can be an id, a rating or a time,
 * and of all others a name to refuse them by. Used by the readers of this folder, and by
 * arrow_source.c.
 */
#ifndef DPMF_ARROW_ARROW_TYPE_H
#define DPMF_ARROW_ARROW_TYPE_H

#include "dpmf.h"

enum arrow_kind {
    ARROW_NULL, /* a column without values */
    ARROW_INT8,
    ARROW_UINT8,
    ARROW_INT16,
    ARROW_UINT16,
    ARROW_INT32,
    ARROW_UINT32,
    ARROW_INT64,
    ARROW_UINT64,
    ARROW_FLOAT16,
    ARROW_FLOAT32,
    ARROW_FLOAT64,
    ARROW_DECIMAL,
    ARROW_TEXT,      /* texts or bytes behind offsets of 32 bits */
    ARROW_TEXT_LONG, /* texts or bytes behind offsets of 64 bits */
    ARROW_TEXT_VIEW, /* views of 16 bytes into further buffers */
    ARROW_TEXT_HELD, /* views of 16 bytes that hold a pointer: DuckDB's, not Arrow's */
    ARROW_DATE_DAYS, /* 32 bits */
    ARROW_TIMESTAMP, /* 64 bits, of any unit; dates in milliseconds are such too */
    ARROW_BOOL,
    ARROW_OTHER, /* a type that ratings cannot be made from */
};

struct arrow_type {
    enum arrow_kind kind;
    int bytes;             /* bytes of a value; 4, 8, 16 or 32 for decimals */
    int scale;             /* digits after the point, for decimals */
    int64_t per_second;    /* units in a second, for timestamps */
    const char *described; /* "a list", "text"; static */
    bool is_uuid;          /* each text is a UUID, in small letters */
};

/* Reads the format string of the C data interface. @return false when it is no such string */
bool arrow_type_parse(const char *format, struct arrow_type *type);

/* The types by their parts, as the schema of a file has them. */
struct arrow_type arrow_type_of(enum arrow_kind kind);
struct arrow_type arrow_type_other(const char *described);
struct arrow_type arrow_type_decimal(int bytes, int scale);
struct arrow_type arrow_type_timestamp(int64_t per_second);

static inline bool arrow_kind_is_whole(enum arrow_kind kind) {
    return kind >= ARROW_INT8 && kind <= ARROW_UINT64;
}

static inline bool arrow_kind_is_text(enum arrow_kind kind) {
    return kind >= ARROW_TEXT && kind <= ARROW_TEXT_HELD;
}

#endif
