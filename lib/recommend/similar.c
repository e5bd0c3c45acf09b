/*
 * Items whose vectors point the same way: the cosine of the angle between them, biases left aside. A
 * vector of nothing but zeros points nowhere and is like no other.
 */
#include <math.h>

#include "base/error.h"
#include "recommend/best_items.h"
#include "recommend/model.h"

enum { BLOCK_ITEMS = 2048 };

static const float no_biases[BLOCK_ITEMS];

static float norm(const struct dpmf_model *model, const float *v) {
    return sqrtf(model->kernels->dot(v, v, model->padded_k));
}

int64_t dpmf_model_similar(const struct dpmf_model *model, uint64_t item, size_t n,
                           struct dpmf_scored_item *out, struct dpmf_error *error) {
    const struct factor_matrix *items = &model->factors.items;
    const float *v = model_item_row(model, item);
    if (!v) return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this item");
    struct best_items best = {.heap = out, .capacity = n};
    float products[BLOCK_ITEMS], own_norm = norm(model, v);
    for (uint64_t first = 0; first < items->n; first += BLOCK_ITEMS) {
        size_t m = (size_t)(items->n - first < BLOCK_ITEMS ? items->n - first : BLOCK_ITEMS);
        const float *rows = items->rows + first * items->stride;
        model->kernels->scores(v, rows, items->stride, no_biases, m, model->padded_k, products);
        for (size_t i = 0; i < m; i++) {
            float cosine = products[i] / (own_norm * norm(model, rows + i * items->stride));
            if (!isfinite(cosine)) cosine = 0;
            if (first + i != item && best_items_wants(&best, cosine))
                best_items_add(&best, first + i, cosine);
        }
    }
    best_items_sort(&best);
    return (int64_t)best.n;
}
