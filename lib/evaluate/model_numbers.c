/*
 * Looks the items of a store up in a model, once for all ratings of them. Feeds evaluation, ranking
 * and histories.
 */
#include "evaluate/model_numbers.h"

#include "base/error.h"
#include "base/memory.h"

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

int model_numbers_check(const struct dpmf_model *model, const struct dpmf_store *history,
                        struct dpmf_error *error) {
    if (!model_predicts_ratings(model) || !store_holds_events(history)) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "this holds events, and the model learns from ratings alone");
    error_hint(error, "give ratings, or a model that was trained with {goal ranking}");
    error_place(error, store_path(history), 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}
