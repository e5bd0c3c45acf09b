/*
 * Scalar products of rows, for prediction and ranking, in terms of the `vec` and `eight` of an
 * instruction set: include its vec_*.h first. Rows are whole vectors.
 */
#ifndef DPMF_KERNELS_DOT_BODY_H
#define DPMF_KERNELS_DOT_BODY_H

#include <string.h>

#include "kernels/kernel_inline.h"
#include "kernels/kernels.h"

INLINE float dot_of(const float *a, const float *b, size_t k) {
    vec sum[4] = {vec_splat(0), vec_splat(0), vec_splat(0), vec_splat(0)};
    size_t x = 0;
    for (; x + 4 * VEC <= k; x += 4 * VEC) {
        UNROLL for (int i = 0; i < 4; i++) {
            const size_t at = x + (size_t)(VEC * i);
            sum[i] = vec_fma(vec_load(a + at), vec_load(b + at), sum[i]);
        }
    }
    for (; x < k; x += VEC) sum[0] = vec_fma(vec_load(a + x), vec_load(b + x), sum[0]);
    return vec_total(vec_add(vec_add(sum[0], sum[2]), vec_add(sum[1], sum[3])));
}

INLINE eight dots_of_eight(const float *u, const float *const *row, size_t k) {
    vec sum[KERNEL_LANES];
    UNROLL for (int i = 0; i < KERNEL_LANES; i++) sum[i] = vec_splat(0);
    for (size_t x = 0; x < k; x += VEC) {
        vec ux = vec_load(u + x);
        UNROLL for (int i = 0; i < KERNEL_LANES; i++) {
            sum[i] = vec_fma(ux, vec_load(row[i] + x), sum[i]);
        }
    }
    return eight_sums(sum);
}

/* Eight rows at a time; where fewer are left, the last is taken again in place of those missing. */
INLINE void scores_of(const float *u, const float *rows, size_t stride, const float *biases,
                      size_t n, size_t k, float *out) {
    const float *row[KERNEL_LANES];
    size_t i = 0;
    for (; i + KERNEL_LANES <= n; i += KERNEL_LANES) {
        UNROLL for (size_t j = 0; j < KERNEL_LANES; j++) row[j] = rows + (i + j) * stride;
        eight_store(out + i, eight_add(eight_load(biases + i), dots_of_eight(u, row, k)));
    }
    if (i == n) return;
    float last[KERNEL_LANES];
    for (size_t j = 0; j < KERNEL_LANES; j++) row[j] = rows + (i + j < n ? i + j : n - 1) * stride;
    eight_store(last, dots_of_eight(u, row, k));
    for (size_t j = 0; i + j < n; j++) out[i + j] = biases[i + j] + last[j];
}

#endif
