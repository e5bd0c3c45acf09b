/*
 * Eight words of 32 random bits, and what else kernels/noise_body.h asks of an `eight`, of NEON's
 * vectors.
 */
#ifndef DPMF_KERNELS_NEON_BITS_NEON_H
#define DPMF_KERNELS_NEON_BITS_NEON_H

#include "kernels/neon/vec_neon.h"

typedef uint32x4x2_t bits;

INLINE bits bits_of(uint32x4_t low, uint32x4_t high) {
    bits x = {{low, high}};
    return x;
}
INLINE bits bits_load(const uint32_t *p) { return bits_of(vld1q_u32(p), vld1q_u32(p + 4)); }
INLINE void bits_store(uint32_t *p, bits x) {
    vst1q_u32(p, x.val[0]);
    vst1q_u32(p + 4, x.val[1]);
}
INLINE bits bits_splat(uint32_t x) { return bits_of(vdupq_n_u32(x), vdupq_n_u32(x)); }

#define BITS_BY_HALVES(name, operation)                                                            \
    INLINE bits bits_##name(bits a, bits b) {                                                      \
        return bits_of(operation(a.val[0], b.val[0]), operation(a.val[1], b.val[1]));              \
    }
BITS_BY_HALVES(add, vaddq_u32)
BITS_BY_HALVES(sub, vsubq_u32)
BITS_BY_HALVES(xor, veorq_u32)
BITS_BY_HALVES(or, vorrq_u32)
BITS_BY_HALVES(and, vandq_u32)

INLINE bits bits_left(bits x, const int n) {
    const int32x4_t by = vdupq_n_s32(n);
    return bits_of(vshlq_u32(x.val[0], by), vshlq_u32(x.val[1], by));
}
INLINE bits bits_right(bits x, const int n) { return bits_left(x, -n); }
INLINE bits bits_rotate(bits x, const int n) {
    return bits_or(bits_left(x, n), bits_right(x, 32 - n));
}

INLINE vec half_to_float(uint32x4_t x) { return vcvtq_f32_s32(vreinterpretq_s32_u32(x)); }
INLINE eight bits_to_float(bits x) {
    return eight_of(half_to_float(x.val[0]), half_to_float(x.val[1]));
}
INLINE eight bits_as_float(bits x) {
    return eight_of(vreinterpretq_f32_u32(x.val[0]), vreinterpretq_f32_u32(x.val[1]));
}
INLINE bits float_as_bits(eight x) {
    return bits_of(vreinterpretq_u32_f32(x.val[0]), vreinterpretq_u32_f32(x.val[1]));
}

INLINE eight eight_sqrt(eight x) { return eight_of(vsqrtq_f32(x.val[0]), vsqrtq_f32(x.val[1])); }

#define EIGHT_BY_HALVES(name, operation)                                                           \
    INLINE eight eight_##name(eight a, eight b) {                                                  \
        return eight_of(operation(a.val[0], b.val[0]), operation(a.val[1], b.val[1]));             \
    }
EIGHT_BY_HALVES(div, vdivq_f32)
EIGHT_BY_HALVES(min, vminq_f32)
EIGHT_BY_HALVES(max, vmaxq_f32)

/* Where a < b: yes, else no. */
INLINE eight eight_if_less(eight a, eight b, eight yes, eight no) {
    return eight_of(vbslq_f32(vcltq_f32(a.val[0], b.val[0]), yes.val[0], no.val[0]),
                    vbslq_f32(vcltq_f32(a.val[1], b.val[1]), yes.val[1], no.val[1]));
}

#endif
