/*
 * What implicit least squares does with rows, in terms of the `vec` and `eight` of an instruction
 * set: include its vec_*.h first. `pull` goes through the rows of one user's items, eight at a
 * time: their scalar products with x, then their weighted sum, while they are in the first cache.
 * `times` multiplies a matrix with vectors, several at a time, so that each number of the matrix is
 * loaded once for all of them.
 */
#ifndef DPMF_KERNELS_ROWS_BODY_H
#define DPMF_KERNELS_ROWS_BODY_H

#include "kernels/dot_body.h"
#include "kernels/kernel_inline.h"
#include "kernels/kernels.h"

enum { ROWS_LINE = KERNEL_ALIGN / (int)sizeof(float) };

/* Groups of rows that are asked for ahead: short rows are finished before memory could deliver the
 * next. */
enum { ROWS_SHORT = 128 };
INLINE size_t rows_ahead(size_t k) { return k <= ROWS_SHORT ? 2 * KERNEL_LANES : KERNEL_LANES; }

/* `n_later` of the rows to come are asked for here, a line at a time: half of them where a sum
 * follows, which asks for the other half, since all at once they would have to wait. */
INLINE eight rows_dots(const float *u, const float *const *row, const float *const *later,
                       const int n_later, size_t k) {
    vec sum[KERNEL_LANES];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) sum[i] = vec_splat(0);
    size_t x = 0;
    for (; x + ROWS_LINE <= k; x += ROWS_LINE) {
        UNROLL for (size_t at = x; at < x + ROWS_LINE; at += VEC) {
            const vec ux = vec_load(u + at);
            UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
                sum[i] = vec_fma(ux, vec_load(row[i] + at), sum[i]);
            }
        }
        UNROLL for (int i = 0; i < n_later; i++) __builtin_prefetch(later[i] + x);
    }
    for (; x < k; x += VEC) {
        const vec ux = vec_load(u + x);
        UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
            sum[i] = vec_fma(ux, vec_load(row[i] + x), sum[i]);
        }
    }
    return eight_sums(sum);
}

INLINE void rows_add_at(const float *const *row, const vec *pull, size_t x, float *out) {
    vec sum[2] = {vec_load(out + x), vec_splat(0)};
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
        sum[i & 1] = vec_fma(pull[i], vec_load(row[i] + x), sum[i & 1]);
    }
    vec_store(out + x, vec_add(sum[0], sum[1]));
}

INLINE void rows_add(const float *const *row, const float *const *later, eight pulls, size_t k,
                     float *out) {
    vec pull[KERNEL_LANES];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) pull[i] = eight_pick(pulls, i);
    size_t x = 0;
    for (; x + ROWS_LINE <= k; x += ROWS_LINE) {
        UNROLL for (size_t at = x; at < x + ROWS_LINE; at += VEC) rows_add_at(row, pull, at, out);
        UNROLL for (int i = KERNEL_LANES / 2; i < KERNEL_LANES; i++) {
            __builtin_prefetch(later[i] + x);
        }
    }
    for (; x < k; x += VEC) rows_add_at(row, pull, x, out);
}

/* Where fewer than eight are left, the last is taken again in place of those missing, with weight
 * 0. */
INLINE float rows_pull(const float *x, float target, const float *rows, size_t stride,
                       const uint32_t *at, const float *weights, size_t n, size_t k, float *out) {
    const float *row[KERNEL_LANES], *later[KERNEL_LANES];
    const size_t ahead = rows_ahead(k);
    eight total = eight_splat(0);
    for (size_t j = 0; j < n; j += KERNEL_LANES) {
        const size_t left = n - j < KERNEL_LANES ? n - j : KERNEL_LANES;
        float weight[KERNEL_LANES] = {0};
        for (size_t i = 0; i < KERNEL_LANES; i++) {
            row[i] = rows + at[j + (i < left ? i : left - 1)] * stride;
            later[i] = j + i + ahead < n ? rows + at[j + i + ahead] * stride : row[i];
        }
        for (size_t i = 0; i < left; i++) weight[i] = weights ? weights[j + i] : 1;
        const eight dots = out ? rows_dots(x, row, later, KERNEL_LANES / 2, k)
                               : rows_dots(x, row, later, KERNEL_LANES, k);
        const eight miss = eight_sub(eight_splat(target), dots);
        const eight pulls = eight_mul(eight_load(weight), miss);
        total = eight_fma(pulls, miss, total);
        if (out) rows_add(row, later, pulls, k, out);
    }
    return eight_total(total);
}

/* How many vectors go abreast: their sums for a panel stay in registers while its rows move by. */
enum {
    ROWS_PANEL = KERNEL_PANEL / VEC, /* vectors to a row of a panel */
    ROWS_ABREAST = ROWS_PANEL > 1 ? 6 : 8,
};

/* `abreast` vectors by `columns` vectors of columns, both constants. */
INLINE void times_block(const float *panel, size_t row, const float *vectors, size_t k,
                        const int abreast, const int columns, float *out) {
    vec sum[ROWS_ABREAST][ROWS_PANEL];
    UNROLL for (int i = 0; i < abreast; i++) {
        UNROLL for (int j = 0; j < columns; j++) sum[i][j] = vec_splat(0);
    }
    for (size_t c = 0; c < k; c++) {
        vec column[ROWS_PANEL];
        UNROLL for (int j = 0; j < columns; j++) {
            column[j] = vec_load(panel + c * row + (size_t)(VEC * j));
        }
        UNROLL for (int i = 0; i < abreast; i++) {
            const vec number = vec_splat(vectors[(size_t)i * k + c]);
            UNROLL for (int j = 0; j < columns; j++) {
                sum[i][j] = vec_fma(number, column[j], sum[i][j]);
            }
        }
    }
    UNROLL for (int i = 0; i < abreast; i++) {
        UNROLL for (int j = 0; j < columns; j++) {
            vec_store(out + (size_t)i * k + (size_t)(VEC * j), sum[i][j]);
        }
    }
}

INLINE void times_panel(const float *panel, size_t row, const float *vectors, size_t n, size_t k,
                        const int columns, float *out) {
    size_t i = 0;
    for (; i + ROWS_ABREAST <= n; i += ROWS_ABREAST)
        times_block(panel, row, vectors + i * k, k, ROWS_ABREAST, columns, out + i * k);
    for (; i + 3 <= n; i += 3) times_block(panel, row, vectors + i * k, k, 3, columns, out + i * k);
    if (i + 2 == n) times_block(panel, row, vectors + i * k, k, 2, columns, out + i * k);
    if (i + 1 == n) times_block(panel, row, vectors + i * k, k, 1, columns, out + i * k);
}

INLINE void rows_times(const float *matrix, const float *vectors, size_t n, size_t k, float *out) {
    size_t x = 0;
    for (; x + KERNEL_PANEL <= k; x += KERNEL_PANEL)
        times_panel(matrix + x * k, KERNEL_PANEL, vectors, n, k, ROWS_PANEL, out + x);
    const size_t left = k - x;
    for (size_t at = 0; at < left; at += VEC)
        times_panel(matrix + x * k + at, left, vectors, n, k, 1, out + x + at);
}

#endif
