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

/* Who made this processor, and which one it is (eax of leaf 1 of cpuid). */
struct set_processor {
    char vendor[12];
    unsigned signature;
};

/* False where the processor does not tell. */
static inline bool set_processor_read(struct set_processor *p) {
    unsigned most, b, c, d, words[3];
    if (!__get_cpuid(0, &most, &words[0], &words[2], &words[1])) return false;
    if (!__get_cpuid(1, &p->signature, &b, &c, &d)) return false;
    memcpy(p->vendor, words, sizeof p->vendor);
    return true;
}

static inline bool set_made_by_amd(const struct set_processor *p) {
    return memcmp(p->vendor, "AuthenticAMD", sizeof p->vendor) == 0;
}

/* Whether a processor computes vectors of 64 bytes in two halves, as AMD's family 19h (Zen 4)
 * does. */
static inline bool set_halves_vectors(const struct set_processor *p) {
    const unsigned base = (p->signature >> 8) & 0xf;
    const unsigned family = base == 0xf ? base + ((p->signature >> 20) & 0xff) : base;
    return set_made_by_amd(p) && family == 0x19;
}

static inline bool set_is_amd(void) {
    struct set_processor p;
    return set_processor_read(&p) && set_made_by_amd(&p);
}

/* Where vectors are halved, the kernels of AVX2 are as fast at large k, and faster at small. */
static inline bool set_prefers_avx512(void) {
    struct set_processor p;
    return !set_processor_read(&p) || !set_halves_vectors(&p);
}
#endif

#endif
