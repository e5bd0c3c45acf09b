/*
 * The SGD kernel as its contract states it, in plain C: what the other instruction sets are tested
 * against, and what runs where there is none of them.
 */
#include "kernels/kernel_sets.h"

#include <assert.h>

/* What a chunk's errors are before it changes anything. */
static void find_errors(const struct kernel_step *step, const struct kernel_chunk *chunk,
                        float *e) {
    const float *a = step->resident.rows + chunk->resident * step->resident.stride;
    for (uint32_t i = 0; i < chunk->n; i++) {
        const float *b = step->moving.rows + chunk->moving[i] * step->moving.stride;
        float dot = 0;
        for (size_t x = 0; x < step->k; x++) dot += a[x] * b[x];
        e[i] = chunk->rating[i] - (step->offset + step->resident.biases[chunk->resident] +
                                   step->moving.biases[chunk->moving[i]] + dot);
    }
}

static void update_rows(const struct kernel_step *step, const struct kernel_chunk *chunk,
                        const float *e) {
    float *a = step->resident.rows + chunk->resident * step->resident.stride;
    for (size_t x = 0; x < step->k; x++) {
        const float old = a[x];
        float sum = step->decay[chunk->n] * old;
        for (uint32_t i = 0; i < chunk->n; i++) {
            float *b = step->moving.rows + chunk->moving[i] * step->moving.stride;
            sum += step->rate * e[i] * b[x];
            b[x] = step->decay[1] * b[x] + step->rate * e[i] * old;
        }
        a[x] = sum;
    }
}

static void update_biases(const struct kernel_step *step, const struct kernel_chunk *chunk,
                          const float *e) {
    float sum = 0;
    for (uint32_t i = 0; i < chunk->n; i++) {
        float *bias = &step->moving.biases[chunk->moving[i]];
        *bias = step->bias_decay[1] * *bias + step->bias_rate * e[i];
        sum += e[i];
    }
    float *own = &step->resident.biases[chunk->resident];
    *own = step->bias_decay[chunk->n] * *own + step->bias_rate * sum;
}

static double sgd_tile(const struct kernel_step *step, const struct kernel_chunk *chunks,
                       size_t n) {
    assert(step && (chunks || n == 0));
    double squares = 0;
    for (size_t j = 0; j < n; j++) {
        float e[KERNEL_LANES];
        find_errors(step, &chunks[j], e);
        update_rows(step, &chunks[j], e);
        update_biases(step, &chunks[j], e);
        for (uint32_t i = 0; i < chunks[j].n; i++) squares += (double)e[i] * (double)e[i];
    }
    return squares;
}

kernel_sgd_tile *kernel_ref_sgd_tile(size_t k) {
    assert(k > 0);
    (void)k;
    return sgd_tile;
}
