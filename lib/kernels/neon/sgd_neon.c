/*
 * The SGD kernels for NEON on aarch64: instances of kernels/sgd_body.h, for the usual k and for
 * any.
 */
#include "kernels/neon/vec_neon.h"

#include "kernels/kernel_sets.h"
#include "kernels/sgd_body.h"

SMALL_KERNEL(8)
SMALL_KERNEL(16)
SMALL_KERNEL(24)
SMALL_KERNEL(32)
LARGE_KERNEL(64)
LARGE_KERNEL(128)
LARGE_KERNEL(256)
LARGE_KERNEL(512)
LARGE_KERNEL(1024)

kernel_sgd_tile *kernel_neon_sgd_tile(size_t k) {
    switch (row_padded(k, 8)) { /* two vectors: the rows of AVX2 */
    case 8: return small_8;
    case 16: return small_16;
    case 24: return small_24;
    case 32: return small_32;
    case 64: return large_64;
    case 128: return large_128;
    case 256: return large_256;
    case 512: return large_512;
    case 1024: return large_1024;
    default: return large_any;
    }
}
