/*
 * The SGD kernels for AVX-512: instances of kernels/sgd_body.h, for the usual k and for any.
 */
#include "kernels/avx512/vec_avx512.h"

#include "kernels/kernel_sets.h"
#include "kernels/sgd_body.h"

SMALL_KERNEL(16)
SMALL_KERNEL(32)
LARGE_KERNEL(64)
LARGE_KERNEL(128)
LARGE_KERNEL(256)
LARGE_KERNEL(512)
LARGE_KERNEL(1024)

kernel_sgd_tile *kernel_avx512_sgd_tile(size_t k) {
    switch (row_padded(k, VEC)) {
    case 16: return small_16;
    case 32: return small_32;
    case 64: return large_64;
    case 128: return large_128;
    case 256: return large_256;
    case 512: return large_512;
    case 1024: return large_1024;
    default: return large_any;
    }
}
