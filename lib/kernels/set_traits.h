/*
 * What is true of an instruction set whatever its kernels do: whether this machine has it, and how
 * rows are padded for it. Shared by the two tables, kernel_sets.c and score_kernels.c, which must
 * agree: models are laid out by one and trained by the other.
 */
#ifndef DPMF_KERNELS_SET_TRAITS_H
#define DPMF_KERNELS_SET_TRAITS_H

#include <string.h>

#include "kernels/row_layout.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

/* Whether a processor computes vectors of 64 bytes in two halves, as AMD's family 19h (Zen 4) does.
 * `signature` is the eax of leaf 1 of cpuid. */
static inline bool set_halves_vectors(const char vendor[12], unsigned signature) {
    const unsigned base = (signature >> 8) & 0xf;
    const unsigned family = base == 0xf ? base + ((signature >> 20) & 0xff) : base;
    return memcmp(vendor, "AuthenticAMD", 12) == 0 && family == 0x19;
}

/* Where vectors are halved, the kernels of AVX2 are as fast at large k, and faster at small. */
static inline bool set_prefers_avx512(void) {
    unsigned most, vendor[3], signature, b, c, d;
    if (!__get_cpuid(0, &most, &vendor[0], &vendor[2], &vendor[1])) return true;
    if (!__get_cpuid(1, &signature, &b, &c, &d)) return true;
    return !set_halves_vectors((const char *)vendor, signature);
}
#endif

#endif
