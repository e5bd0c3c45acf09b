/*
 * The exact n best items of a user. All items are scored, some thousands at a time so that the scores
 * stay in the first cache; nearly all of them then cost one comparison with the worst that is kept, and
 * the bitmaps are asked only about the few that would be. Feeds recommend and the ranking metrics.
 */
#include <math.h>

#include "recommend/best_items.h"
#include "recommend/model.h"

enum { BLOCK_ITEMS = 2048 };

static void keep_best(struct best_items *best, uint64_t first, const float *scores, size_t n,
                      const uint8_t *exclude, const uint8_t *include) {
    for (size_t i = 0; i < n; i++) {
        /* Finite factors can still overflow: what is not a number ranks last. */
        float score = isnan(scores[i]) ? -INFINITY : scores[i];
        if (!best_items_wants(best, score)) continue;
        if (exclude && best_items_bit(exclude, first + i)) continue;
        if (include && !best_items_bit(include, first + i)) continue;
        best_items_add(best, first + i, score);
    }
}

size_t recommend_row_top_n(const struct dpmf_model *model, const float *u, double base,
                           const uint8_t *exclude, const uint8_t *include, size_t n,
                           struct dpmf_scored_item *out) {
    const struct factor_matrix *items = &model->factors.items;
    struct best_items best = {.heap = out, .capacity = n};
    float space[BLOCK_ITEMS];
    for (uint64_t first = 0; first < items->n; first += BLOCK_ITEMS) {
        size_t m = (size_t)(items->n - first < BLOCK_ITEMS ? items->n - first : BLOCK_ITEMS);
        const float *scores = items->biases + first;
        if (u) {
            model->kernels->scores(u, items->rows + first * items->stride, items->stride,
                                   items->biases + first, m, model->padded_k, space);
            scores = space;
        }
        keep_best(&best, first, scores, m, exclude, include);
    }
    best_items_sort(&best);
    for (size_t i = 0; i < best.n; i++) out[i].score = (float)(base + (double)out[i].score);
    return best.n;
}

size_t recommend_top_n(const struct dpmf_model *model, uint64_t user, const uint8_t *exclude,
                       const uint8_t *include, size_t n, struct dpmf_scored_item *out) {
    return recommend_row_top_n(model, model_user_row(model, user), model_user_base(model, user),
                               exclude, include, n, out);
}

int64_t dpmf_model_recommend(const struct dpmf_model *model, uint64_t user, const uint8_t *exclude,
                             const uint8_t *include, size_t n, struct dpmf_scored_item *out,
                             struct dpmf_error *error) {
    (void)error;
    return (int64_t)recommend_top_n(model, user, exclude, include, n, out);
}
