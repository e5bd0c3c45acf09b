/*
 * What is true of an instruction set whatever its kernels do: whether this machine has it, and how rows are padded for
 * it. Shared by the two tables, kernel_sets.c and score_kernels.c, which must agree: models are laid out by one and
 * trained by the other.
 */
#ifndef DPMF_KERNELS_SET_TRAITS_H
#define DPMF_KERNELS_SET_TRAITS_H

#include "kernels/row_layout.h"

static inline bool set_always(void) { return true; }
static inline size_t set_padded_by_1(size_t k) { return k; }
static inline size_t set_padded_by_8(size_t k) { return row_padded(k, 8); }
static inline size_t set_padded_by_16(size_t k) { return row_padded(k, 16); }

#if defined(__x86_64__)
static inline bool set_has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static inline bool set_has_avx512(void) {
    return set_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

#endif
