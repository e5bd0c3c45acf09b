/*
 * Scalar products and scores: instances of kernels/dot_body.h.
 */
#include "kernels/neon/vec_neon.h"

#include "kernels/dot_body.h"
#include "kernels/kernel_sets.h"

float kernel_neon_dot(const float *a, const float *b, size_t k) { return dot_of(a, b, k); }

void kernel_neon_scores(const float *u, const float *rows, size_t stride, const float *biases,
                        size_t n, size_t k, float *out) {
    scores_of(u, rows, stride, biases, n, k, out);
}
