/*
 * The vectors of AVX-512, as kernels/sgd_body.h and kernels/dot_body.h want them.
 */
#ifndef DPMF_KERNELS_AVX512_VEC_AVX512_H
#define DPMF_KERNELS_AVX512_VEC_AVX512_H

#include <immintrin.h>

#include "kernels/eight_avx.h"

enum { VEC = 16 }; /* floats in a vec */
typedef __m512 vec;

INLINE vec vec_load(const float *p) { return _mm512_load_ps(p); }
INLINE void vec_store(float *p, vec x) { _mm512_store_ps(p, x); }
INLINE vec vec_splat(float x) { return _mm512_set1_ps(x); }
INLINE vec vec_mul(vec a, vec b) { return _mm512_mul_ps(a, b); }
INLINE vec vec_add(vec a, vec b) { return _mm512_add_ps(a, b); }
INLINE vec vec_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); } /* ab + c */

/* The two halves of x, added. */
INLINE __m256 vec_fold(vec x) {
    __m256d high = _mm512_extractf64x4_pd(_mm512_castps_pd(x), 1);
    return _mm256_add_ps(_mm512_castps512_ps256(x), _mm256_castpd_ps(high));
}
INLINE float vec_total(vec x) { return eight_total(vec_fold(x)); }

/* Lane i is the sum of a[i]. */
INLINE eight eight_sums(const vec *a) {
    __m256 half[8];
    UNROLL for (int i = 0; i < 8; i++) half[i] = vec_fold(a[i]);
    return eight_sums_of(half);
}
/* The same for a[0] to a[3]; the upper lanes mean nothing. */
INLINE eight eight_sums_half(const vec *a) {
    __m256 half[4];
    UNROLL for (int i = 0; i < 4; i++) half[i] = vec_fold(a[i]);
    return eight_sums_of_four(half);
}

/* Lane i of x in all columns. */
INLINE vec eight_pick(eight x, const int i) {
    return _mm512_permutexvar_ps(_mm512_set1_epi32(i), _mm512_castps256_ps512(x));
}

#endif
