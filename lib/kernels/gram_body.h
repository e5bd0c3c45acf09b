/*
 * Sums of products of columns, for the samplers, in terms of the `vec` of an instruction set:
 * include its vec_*.h first. Eight rows of the result by one vector of columns stay in registers
 * while all rows move by.
 */
#ifndef DPMF_KERNELS_GRAM_BODY_H
#define DPMF_KERNELS_GRAM_BODY_H

#include "kernels/kernel_inline.h"
#include "kernels/kernels.h"

enum { GRAM_ROWS = 8 /* rows of the result at once; divides every padded k */ };

INLINE void gram_block(const float *rows, size_t n, size_t k, size_t a, size_t b, float *gram) {
    vec sum[GRAM_ROWS];
    UNROLL for (int i = 0; i < GRAM_ROWS; i++) sum[i] = vec_splat(0);
    for (size_t t = 0; t < n; t++) {
        const float *row = rows + t * k;
        vec right = vec_load(row + b);
        UNROLL for (int i = 0; i < GRAM_ROWS; i++) {
            sum[i] = vec_fma(vec_splat(row[a + (size_t)i]), right, sum[i]);
        }
    }
    UNROLL for (int i = 0; i < GRAM_ROWS; i++) vec_store(gram + (a + (size_t)i) * k + b, sum[i]);
}

INLINE void gram_of(const float *rows, size_t n, size_t k, float *gram) {
    for (size_t a = 0; a < k; a += GRAM_ROWS)
        for (size_t b = 0; b < a + GRAM_ROWS; b += VEC) gram_block(rows, n, k, a, b, gram);
}

#endif
