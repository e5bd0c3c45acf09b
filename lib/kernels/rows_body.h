/*
 * What implicit least squares does with rows, in terms of the `vec` and `eight` of an instruction
 * set: include its vec_*.h first. `pull` goes through the rows of one user's items, eight at a
 * time: their scalar products with x, then their weighted sum, while they are in the first cache.
 * `times` multiplies a matrix with eight vectors, so that each number of the matrix is loaded once
 * for all of them.
 */
#ifndef DPMF_KERNELS_ROWS_BODY_H
#define DPMF_KERNELS_ROWS_BODY_H

#include "kernels/dot_body.h"
#include "kernels/kernel_inline.h"
#include "kernels/kernels.h"

enum { ROWS_LINE = KERNEL_ALIGN / (int)sizeof(float) };

/* Groups of rows that are asked for ahead: short rows are gone through before memory could answer
 * for the next. */
enum { ROWS_SHORT = 128 };
INLINE size_t rows_ahead(size_t k) { return k <= ROWS_SHORT ? 2 * KERNEL_LANES : KERNEL_LANES; }

/* Half of the rows to come are asked for here, a line at a time, and half in the sum: all at once
 * they would have to wait. */
INLINE eight rows_dots(const float *u, const float *const *row, const float *const *later,
                       size_t k) {
    vec sum[KERNEL_LANES];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) sum[i] = vec_splat(0);
    for (size_t x = 0; x < k; x += VEC) {
        const vec ux = vec_load(u + x);
        UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
            sum[i] = vec_fma(ux, vec_load(row[i] + x), sum[i]);
            if (i < KERNEL_LANES / 2 && x % ROWS_LINE == 0) __builtin_prefetch(later[i] + x);
        }
    }
    return eight_sums(sum);
}

INLINE void rows_add(const float *const *row, const float *const *later, eight pulls, size_t k,
                     float *out) {
    vec pull[KERNEL_LANES];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) pull[i] = eight_pick(pulls, i);
    for (size_t x = 0; x < k; x += VEC) {
        vec sum[2] = {vec_load(out + x), vec_splat(0)};
        UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
            sum[i & 1] = vec_fma(pull[i], vec_load(row[i] + x), sum[i & 1]);
            if (i >= KERNEL_LANES / 2 && x % ROWS_LINE == 0) __builtin_prefetch(later[i] + x);
        }
        vec_store(out + x, vec_add(sum[0], sum[1]));
    }
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
        const eight miss = eight_sub(eight_splat(target), rows_dots(x, row, later, k));
        const eight pulls = eight_mul(eight_load(weight), miss);
        total = eight_fma(pulls, miss, total);
        if (out) rows_add(row, later, pulls, k, out);
    }
    return eight_total(total);
}

/* Eight vectors by one vector of columns stay in registers while all rows of the matrix move by,
 * which is symmetric. */
INLINE void rows_times(const float *matrix, const float *vectors, size_t k, float *out) {
    for (size_t x = 0; x < k; x += VEC) {
        vec sum[KERNEL_LANES];
        UNROLL for (int i = 0; i < KERNEL_LANES; i++) sum[i] = vec_splat(0);
        for (size_t c = 0; c < k; c++) {
            const vec column = vec_load(matrix + c * k + x);
            UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
                sum[i] = vec_fma(vec_splat(vectors[(size_t)i * k + c]), column, sum[i]);
            }
        }
        UNROLL for (int i = 0; i < KERNEL_LANES; i++) vec_store(out + (size_t)i * k + x, sum[i]);
    }
}

#endif
