/*
 * The kernels for using a model: scalar products and scores, without those for training. A client
 * has these alone; the sets of kernels.h have the same functions.
 */
#ifndef DPMF_KERNELS_SCORE_KERNELS_H
#define DPMF_KERNELS_SCORE_KERNELS_H

#include "kernels/kernels.h"

/* As in struct kernel_set. */
struct score_kernels {
    const char *name;
    bool (*is_preferred)(void);
    bool (*is_supported)(void);
    size_t (*padded_k)(size_t k);
    size_t (*stride)(size_t k);
    float (*dot)(const float *a, const float *b, size_t k);
    void (*scores)(const float *u, const float *rows, size_t stride, const float *biases, size_t n,
                   size_t k, float *out);
};

/* As kernel_set_choose. */
const struct score_kernels *score_kernels_choose(const char *name);

/* What lib/kernels/wasm has. */
float kernel_wasm_dot(const float *a, const float *b, size_t k);
void kernel_wasm_scores(const float *u, const float *rows, size_t stride, const float *biases,
                        size_t n, size_t k, float *out);

#endif
