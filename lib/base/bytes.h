/*
 * Little-endian numbers, varints and a growing buffer of bytes: what file formats are written with.
 */
#ifndef DPMF_BASE_BYTES_H
#define DPMF_BASE_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

static inline void bytes_put_u32(uint8_t *at, uint32_t v) {
    assert(at);
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(v >> (8 * i));
}

static inline void bytes_put_u64(uint8_t *at, uint64_t v) {
    assert(at);
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint32_t bytes_get_u32(const uint8_t *at) {
    assert(at);
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) v |= (uint32_t)at[i] << (8 * i);
    return v;
}

static inline uint64_t bytes_get_u64(const uint8_t *at) {
    assert(at);
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static inline uint64_t bytes_of_double(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double bytes_to_double(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

enum { VARINT_MAX = 10 };

/* Seven bits a byte, the lowest first, the top bit set on all but the last. @return past the end */
static inline uint8_t *varint_put(uint8_t *at, uint64_t v) {
    while (v >= 0x80) {
        *at++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *at++ = (uint8_t)v;
    return at;
}

/* @return past the varint, or NULL when it runs past `end` or past 64 bits */
static inline const uint8_t *varint_get(const uint8_t *at, const uint8_t *end, uint64_t *v) {
    assert(at <= end);
    uint64_t x = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (at == end) return NULL;
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1) return NULL;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = x;
            return at;
        }
    }
    return NULL;
}

/* Small numbers of either sign to small numbers: 0, -1, 1, -2, ... -> 0, 1, 2, 3, ... */
static inline uint64_t zigzag(int64_t v) { return ((uint64_t)v << 1) ^ (uint64_t)(v < 0 ? -1 : 0); }
static inline int64_t unzigzag(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

struct byte_buffer {
    uint8_t *bytes;
    size_t n, capacity;
};

/* @return where `n` more bytes may be written, or NULL; the caller advances buffer->n */
static inline uint8_t *byte_buffer_room(struct byte_buffer *buffer, size_t n) {
    assert(buffer->n <= buffer->capacity);
    assert(buffer->bytes || buffer->capacity == 0);
    if (buffer->bytes && n <= buffer->capacity - buffer->n) return buffer->bytes + buffer->n;
    if (n > SIZE_MAX - buffer->n) return NULL;
    if (!memory_reserve(&buffer->bytes, &buffer->capacity, buffer->n + n, 1)) return NULL;
    return buffer->bytes + buffer->n;
}

#endif
