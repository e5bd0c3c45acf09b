/*
 * The decoders of parquet_bits.h. Fed by parquet_values.c and parquet_pages.c.
 */
#include "parquet/parquet_bits.h"

#include <string.h>

#include "base/bytes.h"

/* ---- bits ------------------------------------------------------------------------------------ */

static uint64_t load(const uint8_t *at, const uint8_t *end) {
    uint64_t word = 0;
    if (end - at >= 8)
        memcpy(&word, at, 8); /* this machine is little-endian, as Arrow's buffers are */
    else
        for (int i = 0; at + i < end; i++) word |= (uint64_t)at[i] << (8 * i);
    return word;
}

/* Number i of those that are packed from `at` on, the lowest bits first. The bytes are there. */
static inline uint64_t packed(const uint8_t *at, const uint8_t *end, int width, size_t i) {
    const uint64_t bit = (uint64_t)i * (uint64_t)width;
    const int shift = (int)(bit % 8);
    at += bit / 8;
    uint64_t word = load(at, end) >> shift;
    if (width + shift > 64) word |= (uint64_t)at[8] << (64 - shift);
    return width < 64 ? word & ((UINT64_C(1) << width) - 1) : word;
}

static uint64_t bytes_of(uint64_t n, int width) { return (n * (uint64_t)width + 7) / 8; }

/* ---- runs and groups ------------------------------------------------------------------------- */

/* A run of one number, or groups of eight. */
struct run {
    bool is_packed;
    size_t n;       /* values that are still wanted, at most */
    uint32_t value; /* where it is a run */
    const uint8_t *at, *end;
};

static bool next_run(struct parquet_span *span, int width, size_t wanted, struct run *run) {
    uint64_t head;
    *run = (struct run){0};
    const uint8_t *at = varint_get(span->at, span->end, &head);
    if (!at) return false;
    span->at = at;
    run->is_packed = head & 1;
    head >>= 1;
    if (run->is_packed) {
        /* The last group may lack what nobody wants. */
        run->n = head > wanted / 8 ? wanted : (size_t)(8 * head);
        const uint64_t needed = bytes_of(run->n, width), left = parquet_span_left(span);
        if (needed > left) return false;
        const uint64_t all = width == 0 ? 0 : head > left ? left : head * (uint64_t)width;
        run->at = span->at;
        run->end = span->end;
        span->at += all < left ? all : left;
        return true;
    }
    const int bytes = (width + 7) / 8;
    if ((size_t)bytes > parquet_span_left(span)) return false;
    run->n = head > wanted ? wanted : (size_t)head;
    for (int i = 0; i < bytes; i++) run->value |= (uint32_t)*span->at++ << (8 * i);
    return true;
}

bool parquet_runs_read(struct parquet_span *span, int width, size_t n, uint32_t *out) {
    struct run run;
    assert(width >= 0 && width <= 32);
    for (size_t done = 0; done < n; done += run.n) {
        if (!next_run(span, width, n - done, &run)) return false;
        uint32_t *to = out + done;
        if (run.is_packed)
            for (size_t i = 0; i < run.n; i++) to[i] = (uint32_t)packed(run.at, run.end, width, i);
        else
            for (size_t i = 0; i < run.n; i++) to[i] = run.value;
    }
    return true;
}

static void set_bits(uint8_t *bits, size_t from, size_t n) {
    for (; n > 0 && from % 8 != 0; from++, n--) bits[from / 8] |= (uint8_t)(1 << from % 8);
    if (n >= 8) memset(bits + from / 8, 255, n / 8);
    from += n / 8 * 8;
    for (n %= 8; n > 0; from++, n--) bits[from / 8] |= (uint8_t)(1 << from % 8);
}

bool parquet_levels_read(struct parquet_span *span, size_t n, uint8_t *bits, size_t *n_set) {
    struct run run;
    *n_set = 0;
    for (size_t done = 0; done < n; done += run.n) {
        if (!next_run(span, 1, n - done, &run)) return false;
        if (!run.is_packed) {
            if (run.value > 1) return false;
            if (run.value == 1) set_bits(bits, done, run.n);
            *n_set += run.value ? run.n : 0;
            continue;
        }
        for (size_t i = 0; i < run.n; i++) {
            const unsigned bit = (unsigned)run.at[i / 8] >> (i % 8) & 1u;
            bits[(done + i) / 8] |= (uint8_t)(bit << (done + i) % 8);
            *n_set += bit;
        }
    }
    return true;
}

/* ---- differences ----------------------------------------------------------------------------- */

bool parquet_deltas_read(struct parquet_span *span, size_t n, int64_t *out) {
    enum { BLOCK_MAX = 1 << 20, PARTS_MAX = 512 };
    uint64_t block, parts, total, first, least;
    const uint8_t *at = span->at, *end = span->end, *widths;
    if (!(at = varint_get(at, end, &block)) || !(at = varint_get(at, end, &parts)) ||
        !(at = varint_get(at, end, &total)) || !(at = varint_get(at, end, &first)))
        return false;
    if (total != n || block == 0 || block > BLOCK_MAX || parts == 0 || parts > PARTS_MAX ||
        block % parts != 0 || block / parts % 8 != 0)
        return false;
    const size_t part = (size_t)(block / parts);
    uint64_t value = (uint64_t)unzigzag(first);
    size_t done = 0;
    if (n > 0) out[done++] = (int64_t)value;
    while (done < n) {
        if (!(at = varint_get(at, end, &least)) || parts > (uint64_t)(end - at)) return false;
        least = (uint64_t)unzigzag(least);
        widths = at;
        at += parts;
        for (size_t p = 0; p < parts && done < n; p++) {
            const int width = widths[p];
            const uint64_t bytes = bytes_of(part, width);
            if (width > 64 || bytes > (uint64_t)(end - at)) return false;
            for (size_t i = 0; i < part && done < n; i++)
                out[done++] = (int64_t)(value += least + packed(at, end, width, i));
            at += bytes;
        }
    }
    span->at = at;
    return true;
}
