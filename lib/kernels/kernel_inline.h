/*
 * What the vector kernels ask of the compiler: bodies that are always inlined, so that their constant
 * arguments become constants, and loops over small arrays of vectors that are unrolled completely, for
 * only then do these live in registers.
 */
#ifndef DPMF_KERNELS_KERNEL_INLINE_H
#define DPMF_KERNELS_KERNEL_INLINE_H

#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
