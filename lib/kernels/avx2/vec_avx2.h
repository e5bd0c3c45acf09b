/*
 * The vectors of AVX2 with FMA, as kernels/sgd_body.h and kernels/dot_body.h want them.
 */
#ifndef DPMF_KERNELS_AVX2_VEC_AVX2_H
#define DPMF_KERNELS_AVX2_VEC_AVX2_H

#include <immintrin.h>

#include "kernels/eight_avx.h"

enum { VEC = 8 }; /* floats in a vec */
typedef __m256 vec;

INLINE vec vec_load(const float *p) { return _mm256_load_ps(p); }
INLINE void vec_store(float *p, vec x) { _mm256_store_ps(p, x); }
INLINE vec vec_splat(float x) { return _mm256_set1_ps(x); }
INLINE vec vec_mul(vec a, vec b) { return _mm256_mul_ps(a, b); }
INLINE vec vec_add(vec a, vec b) { return _mm256_add_ps(a, b); }
INLINE vec vec_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); } /* ab + c */
INLINE float vec_total(vec x) { return eight_total(x); }

/* Lane i is the sum of a[i]. */
INLINE eight eight_sums(const vec *a) { return eight_sums_of(a); }
/* The same for a[0] to a[3]; the upper lanes mean nothing. */
INLINE eight eight_sums_half(const vec *a) { return eight_sums_of_four(a); }

/* Lane i of x in all columns. */
INLINE vec eight_pick(eight x, const int i) {
    __m256 half = i < 4 ? _mm256_permute2f128_ps(x, x, 0x00) : _mm256_permute2f128_ps(x, x, 0x11);
    switch (i & 3) {
    case 0: return _mm256_permute_ps(half, 0x00);
    case 1: return _mm256_permute_ps(half, 0x55);
    case 2: return _mm256_permute_ps(half, 0xaa);
    default: return _mm256_permute_ps(half, 0xff);
    }
}

#endif
