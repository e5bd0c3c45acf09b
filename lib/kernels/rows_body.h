/*
 * What implicit least squares does with rows, in terms of the `vec` and `eight` of an instruction set: include its vec_*.h
 * first. `pull` goes through the rows of one user's items, eight at a time: their scalar products with x, then their
 * weighted sum, while they are in the first cache. `times` multiplies a matrix with eight vectors, so that each number of
 * the matrix is loaded once for all of them.
 */
#ifndef DPMF_KERNELS_ROWS_BODY_H
#define DPMF_KERNELS_ROWS_BODY_H

#include "kernels/dot_body.h"
#include "kernels/kernel_inline.h"
#include "kernels/kernels.h"

enum { ROWS_LINE = KERNEL_ALIGN / (int)sizeof(float) };

/* The rows that come next are asked for while these are worked on. */
INLINE void rows_prefetch(const float *rows, size_t stride, const uint32_t *at, size_t n,
                          size_t k) {
    for (size_t i = 0; i < n; i++)
        for (size_t x = 0; x < k; x += ROWS_LINE) __builtin_prefetch(rows + at[i] * stride + x);
}

INLINE void rows_add_eight(const float *const *row, eight pulls, size_t k, float *out) {
    vec pull[KERNEL_LANES];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) pull[i] = eight_pick(pulls, i);
    for (size_t x = 0; x < k; x += VEC) {
        vec sum[2] = {vec_load(out + x), vec_splat(0)};
        UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
            sum[i & 1] = vec_fma(pull[i], vec_load(row[i] + x), sum[i & 1]);
        }
        vec_store(out + x, vec_add(sum[0], sum[1]));
    }
}

/* Where fewer than eight are left, the last is taken again in place of those missing, with weight 0. */
INLINE float rows_pull(const float *x, float target, const float *rows, size_t stride,
                       const uint32_t *at, const float *weights, size_t n, size_t k, float *out) {
    const float *row[KERNEL_LANES];
    eight total = eight_splat(0);
    for (size_t j = 0; j < n; j += KERNEL_LANES) {
        const size_t left = n - j < KERNEL_LANES ? n - j : KERNEL_LANES;
        float weight[KERNEL_LANES] = {0};
        for (size_t i = 0; i < KERNEL_LANES; i++)
            row[i] = rows + at[j + (i < left ? i : left - 1)] * stride;
        for (size_t i = 0; i < left; i++) weight[i] = weights ? weights[j + i] : 1;
        if (j + 2 * KERNEL_LANES <= n)
            rows_prefetch(rows, stride, at + j + KERNEL_LANES, KERNEL_LANES, k);
        const eight miss = eight_sub(eight_splat(target), dots_of_eight(x, row, k));
        const eight pulls = eight_mul(eight_load(weight), miss);
        total = eight_fma(pulls, miss, total);
        if (out) rows_add_eight(row, pulls, k, out);
    }
    return eight_total(total);
}

/* Eight vectors by one vector of columns stay in registers while all rows of the matrix move by, which is symmetric. */
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
