/*
 * Scalar products and scores in plain C.
 */
#include "kernels/kernel_sets.h"

#include <assert.h>

float kernel_ref_dot(const float *a, const float *b, size_t k) {
    assert(a && b && k > 0);
    float sum = 0;
    for (size_t x = 0; x < k; x++) sum += a[x] * b[x];
    return sum;
}

void kernel_ref_scores(const float *u, const float *rows, size_t stride, const float *biases,
                       size_t n, size_t k, float *out) {
    assert(stride >= k && (n == 0 || (rows && biases && out)));
    for (size_t i = 0; i < n; i++) out[i] = biases[i] + kernel_ref_dot(u, rows + i * stride, k);
}
