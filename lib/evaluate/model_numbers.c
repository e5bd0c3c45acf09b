/*
 * Looks the items of a store up in a model, once for all ratings of them. Feeds evaluation, ranking
 * and histories.
 */
#include "evaluate/model_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/compare_scale.h"
#include "compare/compare_stores.h"
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
    int code = *numbers ? compare_index_items(test, &ids, error) : error_no_memory(error);
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

enum { FEW_ITEMS = 3 /* that someone can have rated without another spelling of ids */ };

/* Another spelling of the ids is the usual reason. */
static int check_items(const struct dpmf_model *model, const struct dpmf_store *history,
                       struct dpmf_error *error) {
    const uint64_t n = store_n_items(history);
    if (n < FEW_ITEMS || model->factors.items.n == 0) return 0;
    for (uint64_t i = 0; i < n; i++) {
        const struct store_item item = store_item_at(history, i);
        if (dpmf_model_find_item(model, item.id, item.id_length) != UINT64_MAX) return 0;
    }
    const struct store_item item = store_item_at(history, 0);
    size_t length;
    const char *id = dpmf_model_item_id(model, 0, &length);
    error_set(error, DPMF_ERR_INPUT_ID, "the model knows none of the items in this");
    error_hint(error,
               "ids are compared byte by byte: an item here is \"%.*s\", and one of the model "
               "\"%.*s\"",
               (int)(item.id_length < 40 ? item.id_length : 40), item.id,
               (int)(length < 40 ? length : 40), id);
    error_place(error, store_path(history), 0, 0);
    return DPMF_ERR_INPUT_ID;
}

int model_numbers_scale(const struct dpmf_model *model, const struct dpmf_store *store,
                        const struct dpmf_run *run, struct dpmf_error *error) {
    const struct checkpoint_state *state = &model->state;
    if (model_predicts_ratings(model))
        return compare_scale(store, model->factors.min, model->factors.max, "the model", run,
                             error);
    if (!state->has_like || !state->has_scale) return 0; /* how high they are says nothing to it */
    return compare_scale(store, state->rated_min, state->rated_max, "the model", run, error);
}

/* What is left out for nobody to see would make the model look worse than it is. */
static void warn_of_items(const struct dpmf_model *model, const struct dpmf_store *history,
                          const struct dpmf_run *run) {
    const char *what = store_holds_events(history) ? "events" : "ratings";
    char text[400];
    uint64_t unknown = 0;
    if (!run || !run->warn) return;
    for (uint64_t i = 0; i < store_n_items(history); i++) {
        const struct store_item item = store_item_at(history, i);
        if (dpmf_model_find_item(model, item.id, item.id_length) == UINT64_MAX)
            unknown += item.n_ratings;
    }
    if (unknown == 0) return;
    snprintf(text, sizeof text,
             "%.200s: %llu of %llu %s are of items that the model does not know: left out",
             store_path(history), (unsigned long long)unknown,
             (unsigned long long)store_n_ratings(history), what);
    run->warn(run->warn_self, text);
}

int model_numbers_check(const struct dpmf_model *model, const struct dpmf_store *history,
                        const struct dpmf_run *run, struct dpmf_error *error) {
    if (!model_predicts_ratings(model) || !store_holds_events(history)) {
        int code = check_items(model, history, error);
        if (code == 0) code = model_numbers_scale(model, history, NULL, error);
        if (code == 0) warn_of_items(model, history, run);
        return code;
    }
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "this holds events, and the model learns from ratings alone");
    error_hint(error, "give ratings, or a model that was trained with {goal ranking}");
    error_place(error, store_path(history), 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}
