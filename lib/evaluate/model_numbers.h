/*
 * From the users and items of a store to those of a model, which need not be the same ones: by
 * their ids.
 */
#ifndef DPMF_EVALUATE_MODEL_NUMBERS_H
#define DPMF_EVALUATE_MODEL_NUMBERS_H

#include "recommend/model.h"
#include "store/store.h"

#define MODEL_NUMBERS_NONE UINT32_MAX

/* For each item of the store its number in the model, or MODEL_NUMBERS_NONE; the caller frees
 * it. */
int model_numbers_items(const struct dpmf_model *model, const struct dpmf_store *store,
                        uint32_t **numbers, struct dpmf_error *error);

/* For items that the model does not know, numbers from its own items on: an item of the test set
 * has the model's number of items plus its own. For each item of the history: the number of the
 * test item with its id if the model does not know it, else MODEL_NUMBERS_NONE; the caller frees
 * it.
 * @return 0 or a negative code: DPMF_ERR_INPUT_TOO_MANY where numbers do not suffice */
int model_numbers_beyond(const struct dpmf_model *model, const struct dpmf_store *test,
                         const struct dpmf_store *history, uint32_t **numbers,
                         struct dpmf_error *error);

/* Whether a model can use a history: refuses events where the model predicts ratings, items of
 * which it knows none, and ratings on another scale. Where it does not know some of the items,
 * `run`, which may be NULL, is warned: they are left out.
 * @return 0 or a negative code: DPMF_ERR_USAGE_CONFLICT, DPMF_ERR_INPUT_ID,
 * DPMF_ERR_INPUT_OUT_OF_RANGE */
int model_numbers_check(const struct dpmf_model *model, const struct dpmf_store *history,
                        const struct dpmf_run *run, struct dpmf_error *error);

/* The last of these alone: for ratings to compare predictions with. */
int model_numbers_scale(const struct dpmf_model *model, const struct dpmf_store *store,
                        const struct dpmf_run *run, struct dpmf_error *error);

/* A value of the history as one of the user's own ratings. An event is a like, however often it
 * happened; and to a model of events a rating is one event, however high it is. */
static inline double model_numbers_rating(const struct dpmf_model *model,
                                          const struct dpmf_store *history, double value) {
    if (!store_holds_events(history)) return model->state.is_of_events ? 1 : value;
    return model_is_event(model, value) ? value : model->state.like;
}

/* The number of a block's i-th user, or UINT64_MAX; the block's ids must be there. */
static inline uint64_t model_numbers_user(const struct dpmf_model *model,
                                          const struct store_block *block, uint32_t i) {
    uint64_t from = block->id_start[i];
    return dpmf_model_find_user(model, block->id_bytes + from,
                                (size_t)(block->id_start[i + 1] - from));
}

#endif
