/*
 * One float for each of a chunk's eight lanes, on x86-64: shared by the AVX2 and the AVX-512
 * kernels, included only where AVX2 and FMA may be used.
 */
#ifndef DPMF_KERNELS_EIGHT_AVX_H
#define DPMF_KERNELS_EIGHT_AVX_H

#include <immintrin.h>

#include "kernels/kernel_inline.h"

typedef __m256 eight;

INLINE eight eight_load(const float *p) { return _mm256_loadu_ps(p); }
INLINE void eight_store(float *p, eight x) { _mm256_storeu_ps(p, x); }
INLINE eight eight_splat(float x) { return _mm256_set1_ps(x); }
INLINE eight eight_mul(eight a, eight b) { return _mm256_mul_ps(a, b); }
INLINE eight eight_add(eight a, eight b) { return _mm256_add_ps(a, b); }
INLINE eight eight_sub(eight a, eight b) { return _mm256_sub_ps(a, b); }
INLINE eight eight_fma(eight a, eight b, eight c) { return _mm256_fmadd_ps(a, b, c); }

/* The first n lanes of x; 0 in the others. */
INLINE eight eight_first(eight x, uint32_t n) {
    static const int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    __m256i kept = _mm256_loadu_si256((const __m256i *)(const void *)(mask + 8 - n));
    return _mm256_and_ps(x, _mm256_castsi256_ps(kept));
}

/* from[at[0]] .. from[at[m - 1]], m constant: by single loads, which a gather does not beat here.
 * Lanes past m, in whole halves, are 0. */
INLINE eight eight_gather(const float *from, const uint32_t *at, const int m) {
    __m128 low = _mm_setr_ps(from[at[0]], from[at[1]], from[at[2]], from[at[3]]);
    if (m <= 4) return _mm256_zextps128_ps256(low);
    return _mm256_setr_m128(low, _mm_setr_ps(from[at[4]], from[at[5]], from[at[6]], from[at[7]]));
}

INLINE void four_scatter(float *to, const uint32_t *at, const int m, __m128 x) {
    _mm_store_ss(to + at[0], x);
    if (m > 1) _mm_store_ss(to + at[1], _mm_movehdup_ps(x));
    if (m > 2) _mm_store_ss(to + at[2], _mm_unpackhi_ps(x, x));
    if (m > 3) _mm_store_ss(to + at[3], _mm_permute_ps(x, 0xff));
}
INLINE void eight_scatter(float *to, const uint32_t *at, const int m, eight x) {
    four_scatter(to, at, m, _mm256_castps256_ps128(x));
    if (m > 4) four_scatter(to, at + 4, m - 4, _mm256_extractf128_ps(x, 1));
}

INLINE float eight_total(eight x) {
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(sum) + _mm_cvtss_f32(_mm_movehdup_ps(sum));
}

/* Sums of vectors, one a lane, in three steps that each halve what is to be added. Blends and
 * shuffles have a shorter latency than horizontal additions, and a chunk waits for it. */
INLINE __m256 fold_128(__m256 a, __m256 b) { /* a in the lower half, b in the upper */
    return _mm256_add_ps(_mm256_blend_ps(a, b, 0xf0), _mm256_permute2f128_ps(a, b, 0x21));
}
INLINE __m256 fold_64(__m256 a, __m256 b) { /* in each half, a below b */
    return _mm256_add_ps(_mm256_blend_ps(a, b, 0xcc), _mm256_shuffle_ps(a, b, 0x4e));
}
INLINE __m256 fold_32(__m256 a, __m256 b) { /* in each half, a's two sums below b's */
    return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}
INLINE eight eight_sums_of(const __m256 *a) {
    __m256 low = fold_64(fold_128(a[0], a[4]), fold_128(a[1], a[5]));
    __m256 high = fold_64(fold_128(a[2], a[6]), fold_128(a[3], a[7]));
    return fold_32(low, high);
}
INLINE eight eight_sums_of_four(const __m256 *a) {
    __m256 sums = fold_32(fold_64(a[0], a[1]), fold_64(a[2], a[3]));
    return _mm256_add_ps(sums, _mm256_permute2f128_ps(sums, sums, 0x11));
}

#endif
