/*
 * Eight words of 32 random bits, and what else noise_body.h asks of an `eight`, on x86-64: shared
 * by the AVX2 and the AVX-512 kernels. Include kernels/eight_avx.h's user first.
 */
#ifndef DPMF_KERNELS_BITS_AVX_H
#define DPMF_KERNELS_BITS_AVX_H

#include "kernels/eight_avx.h"

typedef __m256i bits;

INLINE bits bits_load(const uint32_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
INLINE void bits_store(uint32_t *p, bits x) { _mm256_storeu_si256((__m256i *)(void *)p, x); }
INLINE bits bits_splat(uint32_t x) { return _mm256_set1_epi32((int)x); }
INLINE bits bits_add(bits a, bits b) { return _mm256_add_epi32(a, b); }
INLINE bits bits_sub(bits a, bits b) { return _mm256_sub_epi32(a, b); }
INLINE bits bits_xor(bits a, bits b) { return _mm256_xor_si256(a, b); }
INLINE bits bits_or(bits a, bits b) { return _mm256_or_si256(a, b); }
INLINE bits bits_and(bits a, bits b) { return _mm256_and_si256(a, b); }
INLINE bits bits_left(bits x, const int n) { return _mm256_slli_epi32(x, n); }
INLINE bits bits_right(bits x, const int n) { return _mm256_srli_epi32(x, n); }
#ifdef __AVX512VL__
INLINE bits bits_rotate(bits x, const int n) {
    return _mm256_rolv_epi32(x, bits_splat((uint32_t)n));
}
#else
INLINE bits bits_rotate(bits x, const int n) {
    return bits_or(bits_left(x, n), bits_right(x, 32 - n));
}
#endif

INLINE eight bits_to_float(bits x) { return _mm256_cvtepi32_ps(x); } /* signed, rounded */
INLINE eight bits_as_float(bits x) { return _mm256_castsi256_ps(x); }
INLINE bits float_as_bits(eight x) { return _mm256_castps_si256(x); }

INLINE eight eight_sqrt(eight x) { return _mm256_sqrt_ps(x); }
INLINE eight eight_div(eight a, eight b) { return _mm256_div_ps(a, b); }
INLINE eight eight_min(eight a, eight b) { return _mm256_min_ps(a, b); }
INLINE eight eight_max(eight a, eight b) { return _mm256_max_ps(a, b); }

/* Where a < b: yes, else no. */
INLINE eight eight_if_less(eight a, eight b, eight yes, eight no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}

#endif
