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

struct id_fill {
    struct factor_ids *ids;
    size_t bytes_capacity;
    uint64_t n_bytes;
};

static int add_id(struct id_fill *fill, const char *id, size_t length, struct dpmf_error *error) {
    assert(id || length == 0);
    if (!memory_reserve(&fill->ids->bytes, &fill->bytes_capacity, (size_t)fill->n_bytes + length,
                        1))
        return error_no_memory(error);
    memcpy(fill->ids->bytes + fill->n_bytes, id, length);
    fill->n_bytes += length;
    fill->ids->start[++fill->ids->n] = fill->n_bytes;
    return 0;
}

static int ids_room(struct factor_ids *ids, uint64_t n, struct dpmf_error *error) {
    ids->start = memory_alloc_zero((size_t)n + 1, sizeof ids->start[0]);
    return ids->start ? 0 : error_no_memory(error);
}

/* A file has counts above 0 only. */
static float count_of(uint64_t n_ratings) { return n_ratings > 0 ? (float)n_ratings : 0.5f; }

int model_ids_fill_users(struct factor_ids *ids, const struct dpmf_store *store,
                         struct dpmf_error *error) {
    struct id_fill fill = {.ids = ids};
    struct store_scan scan = {.store = store, .want = STORE_WANT_IDS};
    struct store_block block;
    int code = ids_room(fill.ids, store_n_users(store), error);
    while (store_scan_next(&scan, &block, &code, error))
        for (uint32_t u = 0; code == 0 && u < block.n_users; u++)
            code = add_id(&fill, block.id_bytes + block.id_start[u],
                          (size_t)(block.id_start[u + 1] - block.id_start[u]), error);
    store_scan_free(&scan);
    return code;
}

int model_ids_count_users(struct factor_ids *ids, const struct dpmf_store *store,
                          struct dpmf_error *error) {
    struct store_scan scan = {.store = store};
    struct store_block block;
    assert(ids->n == store_n_users(store));
    ids->counts = memory_alloc_zero((size_t)ids->n, sizeof ids->counts[0]);
    int code = ids->counts ? 0 : error_no_memory(error);
    while (store_scan_next(&scan, &block, &code, error))
        for (uint32_t u = 0; u < block.n_users; u++)
            ids->counts[block.first_user + u] = count_of(block.start[u + 1] - block.start[u]);
    store_scan_free(&scan);
    return code;
}

int model_ids_fill_items(struct factor_ids *ids, const struct dpmf_store *store,
                         const struct tiling *tiling, struct dpmf_error *error) {
    assert(ids && store);
    struct id_fill fill = {.ids = ids};
    uint64_t n = store_n_items(store);
    int code = ids_room(fill.ids, n, error);
    ids->counts = memory_alloc_zero((size_t)n, sizeof ids->counts[0]);
    if (code == 0 && !ids->counts) code = error_no_memory(error);
    for (uint64_t row = 0; code == 0 && row < n; row++) {
        struct store_item item =
            store_item_at(store, tiling ? tiling_item_of_row(tiling, row) : row);
        ids->counts[row] = count_of(item.n_ratings);
        code = add_id(&fill, item.id, item.id_length, error);
    }
    return code;
}
