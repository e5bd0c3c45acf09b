/*
 * Gathers the ids of all users, byte by byte as they are: neither a hash nor an order that a file
 * claims is relied on. Called by private_ratings.c before anything is packed.
 */
#include "privacy/distinct_users.h"

#include "privacy/id_gather.h"

static int refuse(const struct dpmf_store *store, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_STORE_CORRUPT, "the store holds the id of a user twice");
    error_hint(error, "import its ratings again");
    error_place(error, store_path(store), 0, 0);
    return DPMF_ERR_STORE_CORRUPT;
}

static int add_block(struct id_gather *gather, const struct dpmf_store *store,
                     const struct store_block *block, struct dpmf_error *error) {
    for (uint32_t u = 0; u < block->n_users; u++) {
        const uint64_t n_before = gather->ids.n, from = block->id_start[u];
        const int64_t number = id_gather_add(gather, block->id_bytes + from,
                                             (size_t)(block->id_start[u + 1] - from), error);
        if (number < 0) return (int)number;
        if (gather->ids.n == n_before) return refuse(store, error);
    }
    return 0;
}

int distinct_users_check(const struct dpmf_store *store, struct dpmf_error *error) {
    struct store_scan scan = {.store = store, .want = STORE_WANT_IDS};
    struct store_block block;
    struct id_gather gather = {0};
    int code = 0;
    while (store_scan_next(&scan, &block, &code, error))
        code = add_block(&gather, store, &block, error);
    store_scan_free(&scan);
    id_gather_free(&gather);
    return code;
}
