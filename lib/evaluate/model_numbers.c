/*
 * Looks the items of a store up in a model, once for all ratings of them. Feeds evaluation, ranking
 * and histories.
 */
#include "evaluate/model_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/factors.h"

int model_numbers_items(const struct dpmf_model *model, const struct dpmf_store *store,
                        uint32_t **numbers, struct dpmf_error *error) {
    uint64_t n = store_n_items(store);
    *numbers = memory_alloc((size_t)n, sizeof **numbers);
    if (!*numbers) return error_no_memory(error);
    for (uint64_t i = 0; i < n; i++) {
        struct store_item item = store_item_at(store, i);
        uint64_t number = dpmf_model_find_item(model, item.id, item.id_length);
        (*numbers)[i] = number == UINT64_MAX ? MODEL_NUMBERS_NONE : (uint32_t)number;
    }
    return 0;
}

/* The ids of a store's items, with an index. */
static int index_items(const struct dpmf_store *store, struct factor_ids *ids,
                       struct dpmf_error *error) {
    const uint64_t n = store_n_items(store);
    size_t n_bytes = 0;
    *ids = (struct factor_ids){0};
    for (uint64_t i = 0; i < n; i++) n_bytes += store_item_at(store, i).id_length;
    ids->start = memory_alloc_zero((size_t)n + 1, sizeof *ids->start);
    ids->bytes = memory_alloc(n_bytes + 1, 1);
    if (!ids->start || !ids->bytes) return error_no_memory(error);
    for (uint64_t i = 0; i < n; i++) {
        const struct store_item item = store_item_at(store, i);
        memcpy(ids->bytes + ids->start[i], item.id, item.id_length);
        ids->start[i + 1] = ids->start[i] + item.id_length;
    }
    ids->n = n;
    return factor_ids_index(ids, error);
}

int model_numbers_beyond(const struct dpmf_model *model, const struct dpmf_store *test,
                         const struct dpmf_store *history, uint32_t **numbers,
                         struct dpmf_error *error) {
    const uint64_t known = model->factors.items.n, n = history ? store_n_items(history) : 0;
    struct factor_ids ids = {0};
    *numbers = NULL;
    if (known + store_n_items(test) > MODEL_NUMBERS_NONE)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "%s",
                         dpmf_error_sentence(DPMF_ERR_INPUT_TOO_MANY));
    if (!history) return 0;
    *numbers = memory_alloc((size_t)n, sizeof **numbers);
    int code = *numbers ? index_items(test, &ids, error) : error_no_memory(error);
    for (uint64_t i = 0; code == 0 && i < n; i++) {
        const struct store_item item = store_item_at(history, i);
        (*numbers)[i] = MODEL_NUMBERS_NONE;
        if (dpmf_model_find_item(model, item.id, item.id_length) != UINT64_MAX) continue;
        const uint64_t found = factor_ids_find(&ids, item.id, item.id_length);
        if (found != UINT64_MAX) (*numbers)[i] = (uint32_t)(known + found);
    }
    factor_ids_free(&ids);
    return code;
}

int model_numbers_check(const struct dpmf_model *model, const struct dpmf_store *history,
                        struct dpmf_error *error) {
    if (!model_predicts_ratings(model) || !store_holds_events(history)) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "this holds events, and the model learns from ratings alone");
    error_hint(error, "give ratings, or a model that was trained with {goal ranking}");
    error_place(error, store_path(history), 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}
