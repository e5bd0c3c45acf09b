/*
 * The kernels of implicit least squares: instances of kernels/rows_body.h.
 */
#include "kernels/neon/vec_neon.h"

#include "kernels/kernel_sets.h"
#include "kernels/rows_body.h"

float kernel_neon_pull(const float *x, float target, const struct kernel_events *events, size_t k,
                       float *out) {
    return rows_pull(x, target, events, k, out);
}

void kernel_neon_times(const float *matrix, const float *vectors, size_t n, size_t k, float *out) {
    rows_times(matrix, vectors, n, k, out);
}
