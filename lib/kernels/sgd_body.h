/*
 * The SGD kernels of every vector instruction set, in terms of the `vec` and `eight` that
 * avx2/vec_avx2.h and its like define: include one of those first. A `vec` holds VEC columns of a
 * row, an `eight` one number for each lane of a chunk. avx2/sgd_avx2.c and its like make the
 * instances, in which k and the number of lanes are constants.
 *
 * Small rows (k <= ROW_SMALL): a chunk is always taken as eight lanes, whose spare ones multiply by
 * 0, so that it runs without a branch and is short enough for the processor to overlap it with the
 * next one.
 *
 * Large rows: the dots of all lanes first, while the rows come into the first-level cache; then one
 * pass that changes all of them there, and prefetches the next chunk's, a line at a time.
 *
 * Loads and stores of the first-level cache are the limit, not arithmetic: per vector about half a
 * cycle a load and one a store.
 */
#ifndef DPMF_KERNELS_SGD_BODY_H
#define DPMF_KERNELS_SGD_BODY_H

#include "kernels/kernel_inline.h"
#include "kernels/row_layout.h"

INLINE float *row_of(const struct kernel_side *side, uint32_t row) {
    return side->rows + (size_t)row * side->stride;
}

/* The errors of a chunk whose dots these are, 0 in lanes not in use, and the step of the biases.
 * Only the first m lanes, a constant, are looked at; n of them are in use. */
INLINE eight chunk_errors(const struct kernel_step *s, const struct kernel_chunk *c, eight dot,
                          const int m, uint32_t n) {
    float *const biases = s->moving.biases;
    float *const own = &s->resident.biases[c->resident];
    eight old = eight_gather(biases, c->moving, m);
    eight prediction = eight_add(eight_add(dot, eight_splat(s->offset + *own)), old);
    eight e = eight_first(eight_sub(eight_load(c->rating), prediction), n);
    eight step = eight_mul(eight_splat(s->bias_rate), e);
    eight_scatter(biases, c->moving, m, eight_fma(old, eight_splat(s->bias_decay[1]), step));
    *own = *own * s->bias_decay[n] + eight_total(step);
    return e;
}

/* ---- small rows ------------------------------------------------------------------------------ */

INLINE eight small_dots(const struct kernel_step *s, const struct kernel_chunk *c, const int k) {
    enum { AHEAD = 3 }; /* chunks: rows this short need a long way to arrive in time */
    const float *a = row_of(&s->resident, c->resident);
    vec ax[ROW_SMALL / VEC], dot[KERNEL_LANES];
    UNROLL for (int x = 0; x < k / VEC; x++) ax[x] = vec_load(a + VEC * x);
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
        const float *b = row_of(&s->moving, c->moving[i]);
        const float *ahead = row_of(&s->moving, c[AHEAD].moving[i]);
        UNROLL for (int x = 0; x < k; x += ROW_LINE) __builtin_prefetch(ahead + x, 1);
        dot[i] = vec_mul(ax[0], vec_load(b));
        UNROLL for (int x = 1; x < k / VEC; x++) {
            dot[i] = vec_fma(ax[x], vec_load(b + VEC * x), dot[i]);
        }
    }
    return eight_sums(dot);
}

INLINE void small_update(const struct kernel_step *s, const struct kernel_chunk *c, const int k,
                         eight rate_e) {
    float *a = row_of(&s->resident, c->resident);
    const vec decay = vec_splat(s->decay[1]), decay_n = vec_splat(s->decay[c->n]);
    vec ax[ROW_SMALL / VEC], sum[ROW_SMALL / VEC];
    UNROLL for (int x = 0; x < k / VEC; x++) {
        ax[x] = vec_load(a + VEC * x);
        sum[x] = vec_mul(ax[x], decay_n);
    }
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
        float *b = row_of(&s->moving, c->moving[i]);
        vec step = eight_pick(rate_e, i);
        UNROLL for (int x = 0; x < k / VEC; x++) {
            vec bx = vec_load(b + VEC * x);
            sum[x] = vec_fma(step, bx, sum[x]);
            vec_store(b + VEC * x, vec_fma(step, ax[x], vec_mul(bx, decay)));
        }
    }
    UNROLL for (int x = 0; x < k / VEC; x++) vec_store(a + VEC * x, sum[x]);
}

INLINE double tile_small(const struct kernel_step *s, const struct kernel_chunk *c, size_t n,
                         const int k) {
    enum { BLOCK = 64 }; /* chunks whose squares are added in single precision */
    double total = 0;
    while (n > 0) {
        size_t block = n < BLOCK ? n : BLOCK;
        eight squares = eight_splat(0);
        for (size_t j = 0; j < block; j++, c++) {
            eight e = chunk_errors(s, c, small_dots(s, c, k), KERNEL_LANES, c->n);
            squares = eight_fma(e, e, squares);
            small_update(s, c, k, eight_mul(eight_splat(s->rate), e));
        }
        total += (double)eight_total(squares);
        n -= block;
    }
    return total;
}

/* ---- large rows ------------------------------------------------------------------------------ */

/* One vector of every row, multiplied and added to the chain of its number. */
INLINE void dots_step(const float *a, float *const *b, const int m, size_t at, const int chain,
                      vec dot[KERNEL_LANES][2]) {
    vec ax = vec_load(a + at);
    UNROLL for (int i = 0; i < m; i++) {
        dot[i][chain] = vec_fma(ax, vec_load(b[i] + at), dot[i][chain]);
    }
}

/* With few rows each dot is added up in two chains, to hide the latency of the additions. */
INLINE eight large_dots(const float *a, float *const *b, const int m, const size_t k) {
    enum { STEPS = 2 * ROW_LINE / VEC }; /* vectors in two lines */
    const int chains = m > 4 ? 1 : 2;
    vec dot[KERNEL_LANES][2];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) dot[i][0] = dot[i][1] = vec_splat(0);
    size_t x = 0;
    for (; x + 2 * ROW_LINE <= k; x += 2 * ROW_LINE) {
        UNROLL for (int h = 0; h < STEPS; h++) {
            dots_step(a, b, m, x + (size_t)(VEC * h), h % chains, dot);
        }
    }
    if (x < k) {
        UNROLL for (int h = 0; h < STEPS / 2; h++) {
            dots_step(a, b, m, x + (size_t)(VEC * h), h % chains, dot);
        }
    }
    vec one[KERNEL_LANES];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
        one[i] = chains > 1 ? vec_add(dot[i][0], dot[i][1]) : dot[i][0];
    }
    return m > 4 ? eight_sums(one) : eight_sums_half(one);
}

/* All m moving rows and the resident one in one pass. On the way, the first `ahead` columns of a
 * chunk to come are prefetched: the next, or one further on where rows come from afar. */
INLINE void large_update(const struct kernel_step *s, const struct kernel_chunk *c, float *a,
                         float *const *b, const int m, const size_t k, const size_t ahead,
                         eight rate_e) {
    const struct kernel_chunk *next = c + s->lead;
    const float *next_a = row_of(&s->resident, next->resident), *next_b[KERNEL_LANES];
    const vec decay = vec_splat(s->decay[1]), decay_m = vec_splat(s->decay[m]);
    vec step[KERNEL_LANES];
    UNROLL for (int i = 0; i < m; i++) {
        next_b[i] = row_of(&s->moving, next->moving[i]);
        step[i] = eight_pick(rate_e, i);
    }
    for (size_t x = 0; x < k; x += ROW_LINE) {
        if (x < ahead) {
            __builtin_prefetch(next_a + x, 1);
            UNROLL for (int i = 0; i < m; i++) __builtin_prefetch(next_b[i] + x, 1);
        }
        UNROLL for (int h = 0; h < ROW_LINE / VEC; h++) {
            const size_t at = x + (size_t)(VEC * h);
            vec ax = vec_load(a + at), sum = vec_mul(ax, decay_m);
            UNROLL for (int i = 0; i < m; i++) {
                vec bx = vec_load(b[i] + at);
                sum = vec_fma(step[i], bx, sum);
                vec_store(b[i] + at, vec_fma(step[i], ax, vec_mul(bx, decay)));
            }
            vec_store(a + at, sum);
        }
    }
}

INLINE eight large_chunk(const struct kernel_step *s, const struct kernel_chunk *c, const int m,
                         const size_t k, const size_t ahead) {
    float *a = row_of(&s->resident, c->resident), *b[KERNEL_LANES];
    UNROLL for (int i = 0; i < m; i++) b[i] = row_of(&s->moving, c->moving[i]);
    eight e = chunk_errors(s, c, large_dots(a, b, m, k), m, (uint32_t)m);
    large_update(s, c, a, b, m, k, ahead, eight_mul(eight_splat(s->rate), e));
    return eight_mul(e, e);
}

/* Each number of lanes has code of its own, fully unrolled. */
INLINE double tile_large(const struct kernel_step *s, const struct kernel_chunk *c, size_t n,
                         const size_t k, const size_t ahead) {
    double total = 0;
    for (const struct kernel_chunk *end = c + n; c < end; c++) {
        eight squares;
#ifdef KERNELS_PLAIN
        squares = large_chunk(s, c, (int)c->n, k, ahead);
#else
        switch (c->n) {
        case 1: squares = large_chunk(s, c, 1, k, ahead); break;
        case 2: squares = large_chunk(s, c, 2, k, ahead); break;
        case 3: squares = large_chunk(s, c, 3, k, ahead); break;
        case 4: squares = large_chunk(s, c, 4, k, ahead); break;
        case 5: squares = large_chunk(s, c, 5, k, ahead); break;
        case 6: squares = large_chunk(s, c, 6, k, ahead); break;
        case 7: squares = large_chunk(s, c, 7, k, ahead); break;
        default: squares = large_chunk(s, c, 8, k, ahead); break;
        }
#endif
        total += (double)eight_total(squares);
    }
    return total;
}

/* ---- instances ------------------------------------------------------------------------------- */

/* Any number of whole lines. Rows of 8 KiB and more leave little room in the first-level cache for
 * those of the next chunk: only their beginnings are prefetched, and the processor's own prefetcher
 * continues. */
static double large_any(const struct kernel_step *s, const struct kernel_chunk *c, size_t n) {
    return tile_large(s, c, n, s->k, s->k < 2048 ? s->k : s->k / 4);
}

#ifdef KERNELS_PLAIN
#define TILE_LARGE(s, c, n, K) large_any(s, c, n)
#else
#define TILE_LARGE(s, c, n, K) tile_large(s, c, n, K, K)
#endif

#define SMALL_KERNEL(K)                                                                            \
    static double small_##K(const struct kernel_step *s, const struct kernel_chunk *c, size_t n) { \
        return tile_small(s, c, n, K);                                                             \
    }
#define LARGE_KERNEL(K)                                                                            \
    static double large_##K(const struct kernel_step *s, const struct kernel_chunk *c, size_t n) { \
        return TILE_LARGE(s, c, n, K);                                                             \
    }

#endif
