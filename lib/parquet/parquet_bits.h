/*
 * Numbers in bits, as Parquet packs them: runs and groups of bits for levels and the indices of
 * dictionaries, and differences in blocks. Each function takes no byte beyond the end that it is
 * given, and says whether what it needed was there.
 */
#ifndef DPMF_PARQUET_PARQUET_BITS_H
#define DPMF_PARQUET_PARQUET_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parquet_span {
    const uint8_t *at, *end;
};

static inline size_t parquet_span_left(const struct parquet_span *span) {
    return (size_t)(span->end - span->at);
}

/* n numbers of `width` bits, at most 32, in runs and groups. */
bool parquet_runs_read(struct parquet_span *span, int width, size_t n, uint32_t *out);

/* n levels of one bit: sets the bits of those that are 1, in zeroed memory of n / 8 + 1 bytes, and
 * counts them. */
bool parquet_levels_read(struct parquet_span *span, size_t n, uint8_t *bits, size_t *n_set);

/* Exactly n numbers, each by its difference from the one before (DELTA_BINARY_PACKED); the span
 * begins after them then. Sums wrap around. */
bool parquet_deltas_read(struct parquet_span *span, size_t n, int64_t *out);

#endif
