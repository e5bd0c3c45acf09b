/*
 * The yardsticks of training: floats rewritten in place, or read, as fast as the machine can. One
 * body each in the compiler's own vectors, which are as wide as the function's target allows and
 * are cut in two where it does not.
 */
#include "kernels/rewrite.h"

#include <assert.h>

#include "kernels/kernel_inline.h"

typedef float wide __attribute__((vector_size(32), may_alias));

/* Several vectors abreast hide the latency of the arithmetic. */
INLINE void rewrite_of(float *x, size_t n) {
    enum { WIDTH = 8, ABREAST = 4 };
    const wide half = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
    size_t at = 0;
    for (; at + ABREAST * WIDTH <= n; at += ABREAST * WIDTH) {
        wide *p = (wide *)(void *)(x + at);
        UNROLL for (int i = 0; i < ABREAST; i++) p[i] = p[i] * half + half;
    }
    for (; at < n; at++) x[at] = x[at] * 0.5f + 0.5f;
}

INLINE float reread_of(const float *x, size_t n) {
    enum { WIDTH = 8, ABREAST = 8 };
    wide sum[ABREAST] = {{0}};
    size_t at = 0;
    float total = 0;
    for (; at + ABREAST * WIDTH <= n; at += ABREAST * WIDTH) {
        const wide *p = (const wide *)(const void *)(x + at);
        UNROLL for (int i = 0; i < ABREAST; i++) sum[i] += p[i];
    }
    for (; at < n; at++) total += x[at];
    for (int i = 1; i < ABREAST; i++) sum[0] += sum[i];
    for (int i = 0; i < WIDTH; i++) total += sum[0][i];
    return total;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void rewrite_avx2(float *x, size_t n) { rewrite_of(x, n); }

__attribute__((target("avx2"))) static float reread_avx2(const float *x, size_t n) {
    return reread_of(x, n);
}
#endif

void rewrite_floats(float *x, size_t n) {
    assert(x || n == 0);
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) {
        rewrite_avx2(x, n);
        return;
    }
#endif
    rewrite_of(x, n);
}

float reread_floats(const float *x, size_t n) {
    assert(x || n == 0);
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) return reread_avx2(x, n);
#endif
    return reread_of(x, n);
}
