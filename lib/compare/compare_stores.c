/*
 * The comparison of compare_stores.h. The smaller store is held: its users' ids, and each user's
 * items and values in the order of the items; the other one is read past it. Fed by stores of any
 * origin; asked by compare_held_out.c and by evaluation.
 */
#include "compare/compare_stores.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/factors.h"

#define NO_ITEM UINT32_MAX

/* A rating of a user at hand. */
struct held_rating {
    uint32_t item;
    float value;
};

struct held {
    const struct dpmf_store *store;
    struct factor_ids users, items;
    uint64_t *start; /* by user, n + 1 */
    struct held_rating *ratings;
    uint8_t *is_met; /* by user: the other store has them */
    size_t bytes_capacity;
};

static void free_held(struct held *held) {
    factor_ids_free(&held->users);
    factor_ids_free(&held->items);
    free(held->start);
    free(held->ratings);
    free(held->is_met);
}

static int compare_items(const void *a, const void *b) {
    const struct held_rating *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

/* ---- the store that is held ------------------------------------------------------------------ */

int compare_index_items(const struct dpmf_store *store, struct factor_ids *ids,
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

static int hold_block(struct held *held, const struct store_block *block,
                      struct dpmf_error *error) {
    struct factor_ids *ids = &held->users;
    const uint64_t n_bytes = block->id_start[block->n_users] - block->id_start[0];
    const uint64_t before = ids->start[ids->n];
    if (!memory_reserve(&ids->bytes, &held->bytes_capacity, (size_t)(before + n_bytes) + 1, 1))
        return error_no_memory(error);
    memcpy(ids->bytes + before, block->id_bytes + block->id_start[0], (size_t)n_bytes);
    for (uint32_t u = 0; u < block->n_users; u++) {
        struct held_rating *first = held->ratings + held->start[ids->n], *to = first;
        bool is_sorted = true;
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++, to++) {
            *to = (struct held_rating){block->item[r], (float)block->value[r]};
            is_sorted = is_sorted && (to == first || to[-1].item <= to->item);
        }
        if (!is_sorted) qsort(first, (size_t)(to - first), sizeof *first, compare_items);
        held->start[ids->n + 1] = held->start[ids->n] + (uint64_t)(to - first);
        ids->start[ids->n + 1] = ids->start[ids->n] + block->id_start[u + 1] - block->id_start[u];
        ids->n++;
    }
    return 0;
}

static int hold(struct held *held, struct dpmf_error *error) {
    const size_t n_users = (size_t)store_n_users(held->store);
    struct store_scan scan = {.store = held->store, .want = STORE_WANT_VALUE | STORE_WANT_IDS};
    struct store_block block;
    held->users.start = memory_alloc_zero(n_users + 1, sizeof(uint64_t));
    held->start = memory_alloc_zero(n_users + 1, sizeof(uint64_t));
    held->ratings = memory_alloc((size_t)store_n_ratings(held->store) + 1, sizeof *held->ratings);
    held->is_met = memory_alloc_zero(n_users + 1, 1);
    int code = held->users.start && held->start && held->ratings && held->is_met
                   ? compare_index_items(held->store, &held->items, error)
                   : error_no_memory(error);
    while (code == 0 && store_scan_next(&scan, &block, &code, error))
        code = hold_block(held, &block, error);
    store_scan_free(&scan);
    return code == 0 ? factor_ids_index(&held->users, error) : code;
}

/* ---- the one that is read past it ------------------------------------------------------------ */

struct passing {
    struct held *held;
    const struct dpmf_store *store;
    uint32_t *held_item; /* by item of the store: its number in the one that is held, or NO_ITEM */
    struct compare_common *common;
    uint64_t of_unknown; /* ratings of users whom the one that is held does not have */
};

static void pass_user(struct passing *passing, const struct store_block *block, uint32_t u) {
    struct held *held = passing->held;
    const uint64_t from = block->id_start[u];
    const uint64_t user = factor_ids_find(&held->users, block->id_bytes + from,
                                          (size_t)(block->id_start[u + 1] - from));
    if (user == UINT64_MAX) {
        passing->of_unknown += block->start[u + 1] - block->start[u];
        return;
    }
    const struct held_rating *ratings = held->ratings + held->start[user];
    const size_t n = (size_t)(held->start[user + 1] - held->start[user]);
    held->is_met[user] = 1;
    passing->common->users++;
    for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
        const struct held_rating wanted = {passing->held_item[block->item[r]], 0};
        if (wanted.item == NO_ITEM) continue;
        const struct held_rating *found =
            bsearch(&wanted, ratings, n, sizeof wanted, compare_items);
        if (!found) continue;
        passing->common->pairs++;
        passing->common->same += found->value == (float)block->value[r];
    }
}

static int pass(struct passing *passing, bool is_first, struct dpmf_error *error) {
    const uint64_t n_items = store_n_items(passing->store);
    struct store_scan scan = {.store = passing->store, .want = STORE_WANT_VALUE | STORE_WANT_IDS};
    struct store_block block;
    uint64_t n_common = 0;
    int code = 0;
    passing->held_item = memory_alloc((size_t)n_items + 1, sizeof(uint32_t));
    if (!passing->held_item) return error_no_memory(error);
    for (uint64_t i = 0; i < n_items; i++) {
        const struct store_item item = store_item_at(passing->store, i);
        const uint64_t at = factor_ids_find(&passing->held->items, item.id, item.id_length);
        passing->held_item[i] = at == UINT64_MAX ? NO_ITEM : (uint32_t)at;
        passing->common->items += at != UINT64_MAX;
        const struct store_item in_second =
            is_first && at != UINT64_MAX ? store_item_at(passing->held->store, at) : item;
        if (at != UINT64_MAX) n_common += in_second.n_ratings;
    }
    const struct dpmf_store *second = is_first ? passing->held->store : passing->store;
    passing->common->unknown_items = store_n_ratings(second) - n_common;
    while (store_scan_next(&scan, &block, &code, error))
        for (uint32_t u = 0; u < block.n_users; u++) pass_user(passing, &block, u);
    store_scan_free(&scan);
    free(passing->held_item);
    return code;
}

int compare_stores(const struct dpmf_store *first, const struct dpmf_store *second,
                   struct compare_common *common, struct dpmf_error *error) {
    const bool is_second_held = store_n_ratings(second) <= store_n_ratings(first);
    struct held held = {.store = is_second_held ? second : first};
    struct passing passing = {
        .held = &held, .store = is_second_held ? first : second, .common = common};
    *common = (struct compare_common){0};
    int code = hold(&held, error);
    if (code == 0) code = pass(&passing, is_second_held, error);
    if (code == 0) {
        common->unknown_users = is_second_held ? 0 : passing.of_unknown;
        for (uint64_t u = 0; is_second_held && u < held.users.n; u++)
            if (!held.is_met[u]) common->unknown_users += held.start[u + 1] - held.start[u];
    }
    free_held(&held);
    return code;
}
