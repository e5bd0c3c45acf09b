/*
 * What each user of a store has rated, one user after the other in the store's order: for those who
 * do the same thing for everyone. Fed by a store of any origin, a block at a time; its items are
 * given the model's numbers. Feeds recommendations from a release for all users of a history.
 */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "evaluate/model_numbers.h"

typedef int take_history(void *self, const char *user, size_t length,
                         const struct dpmf_history *history);

struct histories {
    const struct dpmf_store *store;
    const struct dpmf_run *run;
    take_history *take;
    void *self;
    const struct dpmf_model *model;
    uint32_t *item_numbers;
    struct store_raw raw;
    struct store_space space;
    struct dpmf_own_rating *ratings; /* ratings of the current user */
    size_t capacity;
    uint64_t n_ratings; /* given so far */
};

static int give_user(struct histories *histories, const struct store_block *block, uint32_t i,
                     struct dpmf_error *error) {
    uint64_t from = block->start[i], end = block->start[i + 1], id = block->id_start[i];
    if (!memory_reserve(&histories->ratings, &histories->capacity, (size_t)(end - from) + 1,
                        sizeof histories->ratings[0]))
        return error_no_memory(error);
    struct dpmf_history history = {.ratings = histories->ratings, .found = true};
    for (uint64_t r = from; r < end; r++) {
        uint32_t item = histories->item_numbers[block->item[r]];
        if (item == MODEL_NUMBERS_NONE)
            history.unknown_items++;
        else
            history.ratings[history.n++] = (struct dpmf_own_rating){
                item, model_numbers_rating(histories->model, histories->store, block->value[r])};
    }
    histories->n_ratings += end - from;
    if (histories->take(histories->self, block->id_bytes + id,
                        (size_t)(block->id_start[i + 1] - id), &history) != 0)
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

static int ask_to_go_on(const struct histories *histories, struct dpmf_error *error) {
    const struct dpmf_run *run = histories->run;
    const struct dpmf_progress progress = {.phase = "looking up",
                                           .unit = "ratings",
                                           .done = histories->n_ratings,
                                           .total = store_n_ratings(histories->store),
                                           .ratings = histories->n_ratings};
    if (!run || !run->progress || run->progress(run->progress_self, &progress) == 0) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

static int give_block(struct histories *histories, uint64_t b, struct dpmf_error *error) {
    struct store_block block;
    int code = store_block_read(histories->store, b, &histories->raw, error);
    if (code == 0)
        code =
            store_block_decode(histories->store, &histories->raw, STORE_WANT_VALUE | STORE_WANT_IDS,
                               &histories->space, &block, error);
    for (uint32_t i = 0; code == 0 && i < block.n_users; i++)
        code = give_user(histories, &block, i, error);
    return code == 0 ? ask_to_go_on(histories, error) : code;
}

int dpmf_model_histories(const struct dpmf_model *model, struct dpmf_store *store,
                         const struct dpmf_run *run, take_history *take, void *self,
                         struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "model store", model, store);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    if (!take) return arguments_check(error, "take", NULL);
    struct histories histories = {
        .store = store, .run = run, .take = take, .self = self, .model = model};
    code = model_numbers_check(model, store, run, error);
    if (code == 0) code = model_numbers_items(model, store, &histories.item_numbers, error);
    for (uint64_t b = 0; code == 0 && b < store_n_blocks(store); b++)
        code = give_block(&histories, b, error);
    free(histories.item_numbers);
    free(histories.raw.buffer.bytes);
    store_space_free(&histories.space);
    free(histories.ratings);
    return code;
}
