/*
 * Sums of products of columns: an instance of kernels/gram_body.h.
 */
#include "kernels/avx512/vec_avx512.h"

#include "kernels/gram_body.h"
#include "kernels/kernel_sets.h"

void kernel_avx512_gram(const float *rows, size_t n, size_t k, float *gram) {
    gram_of(rows, n, k, gram);
}
