/*
 * What one user has rated, out of a store: for leaving it out of recommendations, and for
 * explaining them. Fed by a store of any origin; its items are given the model's numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "evaluate/model_numbers.h"

struct search {
    const struct dpmf_model *model;
    const struct dpmf_store *store;
    const char *user;
    size_t length;
    uint32_t *item_numbers;
    struct dpmf_history *history;
};

static bool is_user(const struct search *search, const struct store_block *block, uint32_t i) {
    uint64_t from = block->id_start[i];
    return block->id_start[i + 1] - from == search->length &&
           memcmp(block->id_bytes + from, search->user, search->length) == 0;
}

static int copy_ratings(const struct search *search, const struct store_block *block, uint32_t i,
                        struct dpmf_history *found, struct dpmf_error *error) {
    uint64_t from = block->start[i], end = block->start[i + 1];
    found->ratings = memory_alloc((size_t)(end - from), sizeof *found->ratings);
    if (!found->ratings) return error_no_memory(error);
    found->found = true;
    for (uint64_t r = from; r < end; r++) {
        uint32_t item = search->item_numbers[block->item[r]];
        if (item == MODEL_NUMBERS_NONE)
            found->unknown_items++;
        else
            found->ratings[found->n++] = (struct dpmf_own_rating){
                item, model_numbers_rating(search->model, search->store, block->value[r])};
    }
    return 0;
}

static int search_block(void *self, int worker, const struct store_block *block, void *product,
                        struct dpmf_error *error) {
    const struct search *search = self;
    (void)worker;
    for (uint32_t i = 0; i < block->n_users; i++)
        if (is_user(search, block, i)) return copy_ratings(search, block, i, product, error);
    return 0;
}

/* Moves what was found, if anything, to where it was asked for. */
static int keep_found(void *self, void *product, struct dpmf_error *error) {
    const struct search *search = self;
    struct dpmf_history *found = product;
    (void)error;
    if (!found->found) return 0;
    dpmf_history_free(search->history);
    *search->history = *found;
    *found = (struct dpmf_history){0};
    return 0;
}

int dpmf_model_history(const struct dpmf_model *model, struct dpmf_store *store, const char *user,
                       size_t length, const struct dpmf_run *run, struct dpmf_history *history,
                       struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "model store user history", model, store, user, history);
    if (history) *history = (struct dpmf_history){0};
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    code = model_numbers_check(model, store, run, error);
    if (code < 0) return code;
    struct search search = {
        .model = model, .store = store, .user = user, .length = length, .history = history};
    size_t n_products = store_visit_products(store, run);
    struct dpmf_history *products = memory_alloc_zero(n_products, sizeof *products);
    void **pointers = memory_alloc(n_products, sizeof *pointers);
    code = products && pointers ? model_numbers_items(model, store, &search.item_numbers, error)
                                : error_no_memory(error);
    if (code < 0) goto out;
    for (size_t i = 0; i < n_products; i++) pointers[i] = &products[i];
    const struct store_visitor visitor = {"looking up", STORE_WANT_VALUE | STORE_WANT_IDS,
                                          search_block, keep_found,
                                          &search,      pointers,
                                          n_products};
    code = store_visit(store, &visitor, run, error);
out:
    for (size_t i = 0; products && i < n_products; i++) dpmf_history_free(&products[i]);
    if (code < 0) dpmf_history_free(history);
    free(search.item_numbers);
    free(products);
    free(pointers);
    return code;
}

void dpmf_history_free(struct dpmf_history *history) {
    if (!history) return;
    free(history->ratings);
    *history = (struct dpmf_history){0};
}
