/*
 * Thrift's compact protocol, as far as the metadata of Parquet files needs it: structs field by
 * field, lists, numbers and bytes. Nothing is trusted: every count is compared with the bytes that
 * could hold it, and whatever does not fit marks the reader as broken, after which it gives zeros
 * and the end of everything. Used by the footer and by the headers of pages.
 */
#ifndef DPMF_PARQUET_THRIFT_H
#define DPMF_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thrift {
    const uint8_t *at, *end;
    bool broken;
    bool is_short; /* broken because the bytes ended: with more of them it may be whole */
};

enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE,
    THRIFT_FALSE,
    THRIFT_I8,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT,
    THRIFT_UUID,
};

/* A field of a struct: begin with all 0. */
struct thrift_field {
    int id;
    enum thrift_type type;
};

/* The next field of a struct. @return false after the last, or when broken */
bool thrift_next(struct thrift *t, struct thrift_field *field);

/* The value of a field, which marks the reader as broken when it is of another type. */
int64_t thrift_whole(struct thrift *t, const struct thrift_field *field);
bool thrift_truth(struct thrift *t, const struct thrift_field *field);
const uint8_t *thrift_bytes(struct thrift *t, const struct thrift_field *field, size_t *n);
bool thrift_begin_struct(struct thrift *t, const struct thrift_field *field);

/* A list of values of `type`: how many there are. */
size_t thrift_begin_list(struct thrift *t, const struct thrift_field *field, enum thrift_type type);

/* Skips the value of a field. */
void thrift_skip(struct thrift *t, const struct thrift_field *field);

#endif
