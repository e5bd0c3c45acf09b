/*
 * Gathers the ids of model_ids.h: one after the other in one piece of memory, as a checkpoint keeps
 * them. Feeds sgd_train.c.
 */
#include "train/model_ids.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

static int add_id(struct model_ids_filling *filling, const char *id, size_t length,
                  struct dpmf_error *error) {
    struct factor_ids *ids = filling->ids;
    const uint64_t n_bytes = ids->start[ids->n];
    assert(id || length == 0);
    if (!memory_reserve(&ids->bytes, &filling->bytes_capacity, (size_t)n_bytes + length, 1))
        return error_no_memory(error);
    memcpy(ids->bytes + n_bytes, id, length);
    ids->start[++ids->n] = n_bytes + length;
    return 0;
}

static int ids_room(struct factor_ids *ids, uint64_t n, struct dpmf_error *error) {
    ids->start = memory_alloc_zero((size_t)n + 1, sizeof ids->start[0]);
    return ids->start ? 0 : error_no_memory(error);
}

/* A file has counts above 0 only. */
static float count_of(uint64_t n_ratings) { return n_ratings > 0 ? (float)n_ratings : 0.5f; }

static int add_block(struct model_ids_filling *filling, const struct store_block *block,
                     struct dpmf_error *error) {
    int code = 0;
    for (uint32_t u = 0; code == 0 && u < block->n_users; u++)
        code = add_id(filling, block->id_bytes + block->id_start[u],
                      (size_t)(block->id_start[u + 1] - block->id_start[u]), error);
    return code;
}

static void count_block(struct factor_ids *ids, const struct store_block *block) {
    for (uint32_t u = 0; u < block->n_users; u++)
        ids->counts[block->first_user + u] = count_of(block->start[u + 1] - block->start[u]);
}

static void learn_block(struct learned_pairs *learned, const uint64_t *items,
                        const struct store_block *block) {
    for (uint32_t u = 0; u < block->n_users; u++) {
        const uint64_t from = block->id_start[u];
        const uint64_t user =
            learned_pairs_hash(block->id_bytes + from, (size_t)(block->id_start[u + 1] - from));
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++)
            learned_pairs_add(learned, learned_pairs_join(user, items[block->item[r]]));
    }
}

/* Hashes of a store's items, for free(). @return NULL where there is no memory */
static uint64_t *hash_items(const struct dpmf_store *store) {
    const uint64_t n = store_n_items(store);
    uint64_t *hashes = memory_alloc((size_t)n + 1, sizeof hashes[0]);
    for (uint64_t i = 0; hashes && i < n; i++) {
        const struct store_item item = store_item_at(store, i);
        hashes[i] = learned_pairs_hash(item.id, item.id_length);
    }
    return hashes;
}

/* Stores that dpmf wrote have each id once. Of one that has not, sound as its checksums may be, a
 * model could be written and never opened. The index is not kept: few runs need one, and memory is
 * counted without it. */
static int check_distinct(struct factor_ids *ids, const struct dpmf_store *store, const char *whose,
                          struct dpmf_error *error) {
    int code = factor_ids_index(ids, error);
    free(ids->slots);
    ids->slots = NULL;
    ids->n_slots = 0;
    if (code != DPMF_ERR_MODEL_CORRUPT) return code;
    error_set(error, DPMF_ERR_STORE_CORRUPT, "the store holds the id of %s twice", whose);
    error_hint(error, "import its ratings again");
    error_place(error, store_path(store), 0, 0);
    return DPMF_ERR_STORE_CORRUPT;
}

int model_ids_fill_users(struct factor_ids *ids, const struct dpmf_store *store,
                         struct learned_pairs *learned, struct dpmf_error *error) {
    struct model_ids_filling filling = {.ids = ids};
    struct store_scan scan = {.store = store, .want = STORE_WANT_IDS};
    struct store_block block;
    uint64_t *items = learned ? hash_items(store) : NULL;
    int code = ids_room(ids, store_n_users(store), error);
    if (code == 0 && learned)
        code = items ? learned_pairs_begin(learned, error) : error_no_memory(error);
    while (store_scan_next(&scan, &block, &code, error)) {
        code = add_block(&filling, &block, error);
        if (learned) learn_block(learned, items, &block);
    }
    if (learned && code == 0) learned_pairs_finish(learned);
    store_scan_free(&scan);
    free(items);
    return code == 0 ? check_distinct(ids, store, "a user", error) : code;
}

int model_ids_begin(struct model_ids_filling *filling, struct factor_ids *ids,
                    const struct dpmf_store *store, struct dpmf_error *error) {
    *filling = (struct model_ids_filling){.ids = ids};
    int code = ids_room(ids, store_n_users(store), error);
    ids->counts = memory_alloc_zero((size_t)store_n_users(store), sizeof ids->counts[0]);
    return code == 0 && !ids->counts ? error_no_memory(error) : code;
}

int model_ids_take(struct model_ids_filling *filling, const struct store_block *block,
                   struct dpmf_error *error) {
    count_block(filling->ids, block);
    return add_block(filling, block, error);
}

int model_ids_count_users(struct factor_ids *ids, const struct dpmf_store *store,
                          struct dpmf_error *error) {
    struct store_scan scan = {.store = store};
    struct store_block block;
    assert(ids->n == store_n_users(store));
    ids->counts = memory_alloc_zero((size_t)ids->n, sizeof ids->counts[0]);
    int code = ids->counts ? 0 : error_no_memory(error);
    while (store_scan_next(&scan, &block, &code, error)) count_block(ids, &block);
    store_scan_free(&scan);
    return code;
}

int model_ids_fill_items(struct factor_ids *ids, const struct dpmf_store *store,
                         const struct tiling *tiling, struct dpmf_error *error) {
    assert(ids && store);
    struct model_ids_filling filling = {.ids = ids};
    uint64_t n = store_n_items(store);
    int code = ids_room(ids, n, error);
    ids->counts = memory_alloc_zero((size_t)n, sizeof ids->counts[0]);
    if (code == 0 && !ids->counts) code = error_no_memory(error);
    for (uint64_t row = 0; code == 0 && row < n; row++) {
        struct store_item item =
            store_item_at(store, tiling ? tiling_item_of_row(tiling, row) : row);
        ids->counts[row] = count_of(item.n_ratings);
        code = add_id(&filling, item.id, item.id_length, error);
    }
    return code == 0 ? check_distinct(ids, store, "an item", error) : code;
}
