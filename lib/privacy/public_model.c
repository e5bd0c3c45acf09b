/*
 * Memory of the public state of a private run. Filled by bias_release.c and residual_server.c; what
 * of it is published, residual.c says.
 */
#include "privacy/public_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"

int private_kernels_choose(const struct exact_kernels **exact, struct dpmf_error *error) {
    *exact = kernel_set_exact();
    if (*exact) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE,
                     "this machine has no kernels called \"$DPMF_KERNELS\"");
}

int public_model_init(struct public_model *model, size_t n_items, struct dpmf_error *error) {
    *model = (struct public_model){.n_items = n_items, .s2 = 0.9, .var_a = 0.3, .taste_weight = 1};
    model->c = memory_alloc_zero(n_items, sizeof *model->c);
    model->weight = memory_alloc(n_items, sizeof *model->weight);
    model->bias_weight = memory_alloc(n_items, sizeof *model->bias_weight);
    model->counts = memory_alloc_zero(n_items, sizeof *model->counts);
    if (!model->c || !model->weight || !model->bias_weight || !model->counts)
        return error_no_memory(error);
    for (size_t j = 0; j < n_items; j++) model->weight[j] = model->bias_weight[j] = 1;
    int code = private_kernels_choose(&model->exact, error);
    return code < 0 ? code : public_model_widen(model, 0, error);
}

static void free_rows(struct public_model *model) {
    memory_unmap(model->rows, model->n_items * model->stride * sizeof *model->rows);
}

int public_model_widen(struct public_model *model, size_t K, struct dpmf_error *error) {
    size_t stride = (K + 1 + EXACT_LANES - 1) / EXACT_LANES * EXACT_LANES;
    size_t bytes;
    if (__builtin_mul_overflow(model->n_items, stride * sizeof(double), &bytes))
        return error_no_memory(error);
    double *rows = memory_map(bytes); /* where cache lines begin, and large pages where possible */
    if (!rows) return error_no_memory(error);
    for (size_t j = 0; j < model->n_items; j++) rows[j * stride + K] = 1;
    free_rows(model);
    model->rows = rows;
    model->K = K;
    model->stride = stride;
    return 0;
}

void public_model_free(struct public_model *model) {
    free(model->c);
    free_rows(model);
    free(model->weight);
    free(model->bias_weight);
    free(model->counts);
    *model = (struct public_model){0};
}

int item_evidence_init(struct item_evidence *evidence, size_t n_items, struct dpmf_error *error) {
    *evidence = (struct item_evidence){0};
    evidence->N = memory_alloc_zero(n_items, sizeof(double));
    evidence->A = memory_alloc_zero(n_items, 2 * sizeof(double));
    evidence->sampling = memory_alloc_zero(n_items, sizeof(double));
    evidence->Z = memory_alloc_zero(n_items, sizeof(double));
    evidence->tau = memory_alloc_zero(1, sizeof(double));
    bool whole = evidence->N && evidence->A && evidence->sampling && evidence->Z && evidence->tau;
    return whole ? 0 : error_no_memory(error);
}

int item_evidence_widen(struct item_evidence *evidence, size_t n_items, size_t K,
                        struct dpmf_error *error) {
    size_t D = K + 1;
    double *Z = memory_alloc_zero(n_items, D * sizeof *Z), *tau = memory_alloc_zero(D, sizeof *tau);
    if (!Z || !tau) {
        free(Z);
        free(tau);
        return error_no_memory(error);
    }
    for (size_t j = 0; j < n_items; j++) Z[j * D + K] = evidence->Z[j];
    tau[K] = evidence->tau[0];
    free(evidence->Z);
    free(evidence->tau);
    evidence->Z = Z;
    evidence->tau = tau;
    return 0;
}

void item_evidence_free(struct item_evidence *evidence) {
    free(evidence->N);
    free(evidence->A);
    free(evidence->sampling);
    free(evidence->Z);
    free(evidence->tau);
    free(evidence->regressors);
    *evidence = (struct item_evidence){0};
}

double item_evidence_weight_unit(const struct item_evidence *evidence, double p) {
    return p * p / evidence->users / (p / evidence->typical * evidence->total);
}
