/*
 * What each instruction set's folder hands to kernel_sets.c, which puts them in one table. The
 * folders are compiled with flags of their own and called only where the machine has what these
 * allow.
 */
#ifndef DPMF_KERNELS_KERNEL_SETS_H
#define DPMF_KERNELS_KERNEL_SETS_H

#include "kernels/kernels.h"

#define KERNEL_SET_PARTS(set)                                                                      \
    kernel_sgd_tile *kernel_##set##_sgd_tile(size_t k);                                            \
    float kernel_##set##_dot(const float *a, const float *b, size_t k);                            \
    void kernel_##set##_scores(const float *u, const float *rows, size_t stride,                   \
                               const float *biases, size_t n, size_t k, float *out);               \
    void kernel_##set##_gram(const float *rows, size_t n, size_t k, float *gram);                  \
    kernel_pull kernel_##set##_pull;                                                               \
    void kernel_##set##_times(const float *matrix, const float *vectors, size_t n, size_t k,       \
                              float *out);                                                         \
    noise_fill kernel_##set##_fill;                                                                \
    noise_diffuse kernel_##set##_diffuse;                                                          \
    noise_push_rows kernel_##set##_push;                                                           \
    extern const struct exact_kernels kernel_##set##_exact

KERNEL_SET_PARTS(ref);
KERNEL_SET_PARTS(avx2);
KERNEL_SET_PARTS(avx512);
KERNEL_SET_PARTS(neon);

#endif
