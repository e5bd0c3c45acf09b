/*
 * Scalar products and scores in a browser: instances of kernels/dot_body.h. Elsewhere, and where
 * the module is built without vectors, there is nothing here.
 */
#include "kernels/score_kernels.h"

#ifdef __wasm_simd128__

#include "kernels/wasm/vec_wasm.h"

#include "kernels/dot_body.h"

float kernel_wasm_dot(const float *a, const float *b, size_t k) { return dot_of(a, b, k); }

void kernel_wasm_scores(const float *u, const float *rows, size_t stride, const float *biases,
                        size_t n, size_t k, float *out) {
    scores_of(u, rows, stride, biases, n, k, out);
}

#endif
