/*
 * A reader of flatbuffers, the form of Arrow's metadata: tables whose fields are found through
 * offsets. Every offset and count is checked against the bytes that there are; what is missing or
 * points outside reads as its default, and sets `broken` where it cannot be intended.
 */
#ifndef DPMF_ARROW_FLAT_TABLE_H
#define DPMF_ARROW_FLAT_TABLE_H

#include "base/bytes.h"

struct flat {
    const uint8_t *bytes;
    size_t n;
    bool broken; /* something pointed outside */
};

/* A place is an offset from the beginning; 0 is nowhere. */
static inline bool flat_holds(struct flat *flat, size_t at, size_t n) {
    if (at <= flat->n && n <= flat->n - at) return true;
    flat->broken = true;
    return false;
}

static inline uint16_t flat_u16(struct flat *flat, size_t at) {
    if (!flat_holds(flat, at, 2)) return 0;
    return (uint16_t)(flat->bytes[at] | flat->bytes[at + 1] << 8);
}

static inline uint32_t flat_u32(struct flat *flat, size_t at) {
    return flat_holds(flat, at, 4) ? bytes_get_u32(flat->bytes + at) : 0;
}

static inline int64_t flat_i64(struct flat *flat, size_t at) {
    return flat_holds(flat, at, 8) ? (int64_t)bytes_get_u64(flat->bytes + at) : 0;
}

/* Follows the offset at a place. */
static inline size_t flat_follow(struct flat *flat, size_t at) {
    const uint32_t offset = flat_u32(flat, at);
    if (offset == 0 || !flat_holds(flat, at, (size_t)offset + 4)) return 0;
    return at + offset;
}

/* The place of field i of a table, of so many bytes; 0 when the table does not have it. */
static inline size_t flat_field(struct flat *flat, size_t table, int i, size_t bytes) {
    if (table == 0) return 0;
    const int64_t vtable = (int64_t)table - (int32_t)flat_u32(flat, table);
    if (vtable < 0 || (uint64_t)vtable > flat->n) {
        flat->broken = true;
        return 0;
    }
    const size_t entry = 4 + 2 * (size_t)i;
    if (entry + 2 > flat_u16(flat, (size_t)vtable)) return 0;
    const uint16_t offset = flat_u16(flat, (size_t)vtable + entry);
    return offset > 0 && flat_holds(flat, table + offset, bytes) ? table + offset : 0;
}

static inline int64_t flat_get_i64(struct flat *flat, size_t table, int i, int64_t missing) {
    const size_t at = flat_field(flat, table, i, 8);
    return at > 0 ? flat_i64(flat, at) : missing;
}

static inline int32_t flat_get_i32(struct flat *flat, size_t table, int i, int32_t missing) {
    const size_t at = flat_field(flat, table, i, 4);
    return at > 0 ? (int32_t)flat_u32(flat, at) : missing;
}

static inline int flat_get_i16(struct flat *flat, size_t table, int i, int missing) {
    const size_t at = flat_field(flat, table, i, 2);
    return at > 0 ? (int16_t)flat_u16(flat, at) : missing;
}

static inline int flat_get_u8(struct flat *flat, size_t table, int i, int missing) {
    const size_t at = flat_field(flat, table, i, 1);
    return at > 0 ? flat->bytes[at] : missing;
}

static inline size_t flat_get_table(struct flat *flat, size_t table, int i) {
    const size_t at = flat_field(flat, table, i, 4);
    return at > 0 ? flat_follow(flat, at) : 0;
}

/* The first element of a vector, and the number of its elements, each of `bytes` bytes. */
static inline size_t flat_get_vector(struct flat *flat, size_t table, int i, size_t bytes,
                                     size_t *n) {
    const size_t at = flat_get_table(flat, table, i);
    *n = at > 0 ? flat_u32(flat, at) : 0;
    if (*n > 0 && (*n > flat->n / bytes || !flat_holds(flat, at + 4, *n * bytes))) {
        flat->broken = true;
        *n = 0;
    }
    return *n > 0 ? at + 4 : 0;
}

#endif
