/*
 * The kernels of implicit least squares in plain C.
 */
#include "kernels/kernel_sets.h"

#include <assert.h>

float kernel_ref_pull(const float *x, float target, const struct kernel_events *events, size_t k,
                      float *out) {
    const float *weights = events->weights;
    float total = 0;
    for (size_t j = 0; j < events->n; j++) {
        const float *row = events->rows + events->at[j] * events->stride;
        const float miss = target - kernel_ref_dot(x, row, k);
        const float pull = (weights ? weights[j] : 1) * miss;
        for (size_t c = 0; out && c < k; c++) out[c] += pull * row[c];
        total += pull * miss;
    }
    return total;
}

void kernel_ref_times(const float *matrix, const float *vectors, size_t n, size_t k, float *out) {
    assert(matrix && vectors && out && k > 0);
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < k; b++) {
            float sum = 0;
            for (size_t a = 0; a < k; a++)
                sum += matrix[kernel_panel_at(k, a, b)] * vectors[i * k + a];
            out[i * k + b] = sum;
        }
}
