/*
 * The vectors of aarch64's NEON, as kernels/sgd_body.h and kernels/dot_body.h want them. Two of
 * them hold the eight lanes of a chunk.
 */
#ifndef DPMF_KERNELS_NEON_VEC_NEON_H
#define DPMF_KERNELS_NEON_VEC_NEON_H

#include <arm_neon.h>

#include "kernels/kernel_inline.h"

enum { VEC = 4 }; /* floats in a vec */
typedef float32x4_t vec;
typedef float32x4x2_t eight;

INLINE vec vec_load(const float *p) { return vld1q_f32(p); }
INLINE void vec_store(float *p, vec x) { vst1q_f32(p, x); }
INLINE vec vec_splat(float x) { return vdupq_n_f32(x); }
INLINE vec vec_mul(vec a, vec b) { return vmulq_f32(a, b); }
INLINE vec vec_add(vec a, vec b) { return vaddq_f32(a, b); }
INLINE vec vec_fma(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); } /* ab + c */
INLINE float vec_total(vec x) { return vaddvq_f32(x); }

INLINE eight eight_of(vec low, vec high) {
    eight x = {{low, high}};
    return x;
}
INLINE eight eight_load(const float *p) { return eight_of(vld1q_f32(p), vld1q_f32(p + 4)); }
INLINE void eight_store(float *p, eight x) {
    vst1q_f32(p, x.val[0]);
    vst1q_f32(p + 4, x.val[1]);
}
INLINE eight eight_splat(float x) { return eight_of(vdupq_n_f32(x), vdupq_n_f32(x)); }
INLINE eight eight_mul(eight a, eight b) {
    return eight_of(vmulq_f32(a.val[0], b.val[0]), vmulq_f32(a.val[1], b.val[1]));
}
INLINE eight eight_add(eight a, eight b) {
    return eight_of(vaddq_f32(a.val[0], b.val[0]), vaddq_f32(a.val[1], b.val[1]));
}
INLINE eight eight_sub(eight a, eight b) {
    return eight_of(vsubq_f32(a.val[0], b.val[0]), vsubq_f32(a.val[1], b.val[1]));
}
INLINE eight eight_fma(eight a, eight b, eight c) {
    return eight_of(vec_fma(a.val[0], b.val[0], c.val[0]), vec_fma(a.val[1], b.val[1], c.val[1]));
}

/* The first n lanes of x; 0 in the others. */
INLINE vec vec_kept(vec x, const uint32_t *mask) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), vld1q_u32(mask)));
}
INLINE eight eight_first(eight x, uint32_t n) {
    static const uint32_t mask[16] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
    const uint32_t *own = mask + 8 - n;
    return eight_of(vec_kept(x.val[0], own), vec_kept(x.val[1], own + 4));
}

/* from[at[0]] .. from[at[m - 1]], m constant. Lanes past m, in whole halves, are 0. */
INLINE vec four_gather(const float *from, const uint32_t *at) {
    vec x = vld1q_dup_f32(from + at[0]);
    x = vld1q_lane_f32(from + at[1], x, 1);
    x = vld1q_lane_f32(from + at[2], x, 2);
    return vld1q_lane_f32(from + at[3], x, 3);
}
INLINE eight eight_gather(const float *from, const uint32_t *at, const int m) {
    return eight_of(four_gather(from, at), m > 4 ? four_gather(from, at + 4) : vdupq_n_f32(0));
}

INLINE void four_scatter(float *to, const uint32_t *at, const int m, vec x) {
    vst1q_lane_f32(to + at[0], x, 0);
    if (m > 1) vst1q_lane_f32(to + at[1], x, 1);
    if (m > 2) vst1q_lane_f32(to + at[2], x, 2);
    if (m > 3) vst1q_lane_f32(to + at[3], x, 3);
}
INLINE void eight_scatter(float *to, const uint32_t *at, const int m, eight x) {
    four_scatter(to, at, m, x.val[0]);
    if (m > 4) four_scatter(to, at + 4, m - 4, x.val[1]);
}

INLINE float eight_total(eight x) { return vaddvq_f32(vaddq_f32(x.val[0], x.val[1])); }

/* Lane i is the sum of a[i]. */
INLINE vec four_sums(const vec *a) {
    return vpaddq_f32(vpaddq_f32(a[0], a[1]), vpaddq_f32(a[2], a[3]));
}
INLINE eight eight_sums(const vec *a) { return eight_of(four_sums(a), four_sums(a + 4)); }
/* The same for a[0] to a[3]; the upper lanes mean nothing. */
INLINE eight eight_sums_half(const vec *a) { return eight_of(four_sums(a), vdupq_n_f32(0)); }

/* Lane i of x in all columns. */
INLINE vec eight_pick(eight x, const int i) {
    switch (i) {
    case 0: return vdupq_laneq_f32(x.val[0], 0);
    case 1: return vdupq_laneq_f32(x.val[0], 1);
    case 2: return vdupq_laneq_f32(x.val[0], 2);
    case 3: return vdupq_laneq_f32(x.val[0], 3);
    case 4: return vdupq_laneq_f32(x.val[1], 0);
    case 5: return vdupq_laneq_f32(x.val[1], 1);
    case 6: return vdupq_laneq_f32(x.val[1], 2);
    default: return vdupq_laneq_f32(x.val[1], 3);
    }
}

#endif
