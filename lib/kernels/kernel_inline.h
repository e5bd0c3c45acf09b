/*
 * What the vector kernels ask of the compiler: bodies that are always inlined, so that their
 * constant arguments become constants, and loops over small arrays of vectors that are unrolled
 * completely, for only then do these live in registers.
 */
#ifndef DPMF_KERNELS_KERNEL_INLINE_H
#define DPMF_KERNELS_KERNEL_INLINE_H

#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

/* Builds that look for faults get the same bodies without the unrolling and without an instance for
 * each k and number of lanes, which instrumented would take the compiler minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define KERNELS_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(undefined_behavior_sanitizer)
#define KERNELS_PLAIN 1
#endif
#endif

#ifdef KERNELS_PLAIN
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
