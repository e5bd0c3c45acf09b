/*
 * The vectors of WebAssembly, as kernels/dot_body.h wants them. There is no fused multiply and add
 * among them that is the same on every machine: it is two steps.
 */
#ifndef DPMF_KERNELS_WASM_VEC_WASM_H
#define DPMF_KERNELS_WASM_VEC_WASM_H

#include <wasm_simd128.h>

#include "kernels/kernel_inline.h"

enum { VEC = 4 }; /* floats in a vec */
typedef v128_t vec;
typedef struct {
    v128_t low, high;
} eight;

INLINE vec vec_load(const float *p) { return wasm_v128_load(p); }
INLINE vec vec_splat(float x) { return wasm_f32x4_splat(x); }
INLINE vec vec_add(vec a, vec b) { return wasm_f32x4_add(a, b); }
INLINE vec vec_fma(vec a, vec b, vec c) { return wasm_f32x4_add(wasm_f32x4_mul(a, b), c); }
INLINE float vec_total(vec x) {
    vec pairs = wasm_f32x4_add(x, wasm_i32x4_shuffle(x, x, 2, 3, 0, 1));
    return wasm_f32x4_extract_lane(pairs, 0) + wasm_f32x4_extract_lane(pairs, 1);
}

INLINE eight eight_load(const float *p) {
    return (eight){wasm_v128_load(p), wasm_v128_load(p + 4)};
}
INLINE void eight_store(float *p, eight x) {
    wasm_v128_store(p, x.low);
    wasm_v128_store(p + 4, x.high);
}
INLINE eight eight_add(eight a, eight b) {
    return (eight){wasm_f32x4_add(a.low, b.low), wasm_f32x4_add(a.high, b.high)};
}

/* Lane i is the sum of a[i]: a transposition of four by four, with additions on the way. */
INLINE vec four_sums(const vec *a) {
    vec x = wasm_f32x4_add(wasm_i32x4_shuffle(a[0], a[1], 0, 1, 4, 5),
                           wasm_i32x4_shuffle(a[0], a[1], 2, 3, 6, 7));
    vec y = wasm_f32x4_add(wasm_i32x4_shuffle(a[2], a[3], 0, 1, 4, 5),
                           wasm_i32x4_shuffle(a[2], a[3], 2, 3, 6, 7));
    return wasm_f32x4_add(wasm_i32x4_shuffle(x, y, 0, 2, 4, 6),
                          wasm_i32x4_shuffle(x, y, 1, 3, 5, 7));
}
INLINE eight eight_sums(const vec *a) { return (eight){four_sums(a), four_sums(a + 4)}; }

#endif
