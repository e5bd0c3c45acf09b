/*
 * Several stores as one, and a part of one as a store: what lets shards be trained on together, and
 * each process of a cluster see its own users alone. No byte is copied but the index: blocks are
 * read from the files they are in. Fed by store_reader.c; feeds split/shard.c and
 * cluster/user_shares.c.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "files/file_read.h"
#include "store/store_reader.h"

/* ---- several as one -------------------------------------------------------------------------- */

static bool same_items(const struct dpmf_store *a, const struct dpmf_store *b) {
    assert(a && b);
    const size_t n = (size_t)a->n_items;
    return a->n_items == b->n_items && a->has_times == b->has_times &&
           a->layout.holds_events == b->layout.holds_events &&
           memcmp(a->item_start, b->item_start, (n + 1) * sizeof *a->item_start) == 0 &&
           memcmp(a->item_bytes, b->item_bytes, (size_t)a->item_start[n]) == 0;
}

static int refuse_part(const struct dpmf_store *part, struct dpmf_error *error) {
    int code =
        error_set(error, DPMF_ERR_STORE_CORRUPT,
                  "its items are not those of the other parts, or it alone has times or events");
    error_hint(error, "make the parts again with {:shard}");
    error_place(error, part->path, 0, 0);
    return code;
}

static void add_part(struct dpmf_store *set, const struct dpmf_store *part) {
    assert(set != part);
    for (uint64_t b = 0; b < part->n_blocks; b++) {
        struct store_index_entry *entry = &set->index[set->n_blocks + b];
        *entry = part->index[b];
        entry->first_user += set->n_users;
    }
    for (uint64_t i = 0; i < set->n_items; i++) set->item_ratings[i] += part->item_ratings[i];
    if (part->n_blocks > 0 && (set->n_blocks == 0 || part->min < set->min)) set->min = part->min;
    if (part->n_blocks > 0 && (set->n_blocks == 0 || part->max > set->max)) set->max = part->max;
    store_layout_join(&set->layout, &part->layout);
    set->n_blocks += part->n_blocks;
    set->n_users += part->n_users;
    set->n_ratings += part->n_ratings;
    set->file_bytes += part->file_bytes;
}

static int join_parts(struct dpmf_store *set, struct dpmf_error *error) {
    const struct dpmf_store *first = set->parts[0];
    uint64_t blocks = 0, users = 0;
    for (size_t i = 0; i < set->n_parts; i++) {
        blocks += set->parts[i]->n_blocks;
        users += set->parts[i]->n_users;
        if (!same_items(first, set->parts[i])) return refuse_part(set->parts[i], error);
    }
    if (users > STORE_MAX_USERS)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "more than %llu users",
                         (unsigned long long)STORE_MAX_USERS);
    set->has_times = first->has_times;
    set->layout = store_layout_declared();
    set->n_items = first->n_items;
    set->item_bytes = first->item_bytes;
    set->item_start = first->item_start;
    set->min = first->min;
    set->max = first->max;
    set->index = memory_alloc((size_t)blocks + 1, sizeof set->index[0]);
    set->item_ratings = memory_alloc_zero((size_t)set->n_items + 1, sizeof set->item_ratings[0]);
    if (!set->index || !set->item_ratings) return error_no_memory(error);
    for (size_t i = 0; i < set->n_parts; i++) add_part(set, set->parts[i]);
    set->layout.is_shard = false; /* everyone is there */
    return 0;
}

int store_set_make(struct dpmf_store **stores, size_t n, const char *name, struct dpmf_store **out,
                   struct dpmf_error *error) {
    assert(stores && n > 0 && out);
    *out = NULL;
    struct dpmf_store *set = memory_alloc_zero(1, sizeof *set);
    struct dpmf_store **parts = memory_alloc_zero(n + 1, sizeof(struct dpmf_store *));
    if (!set || !parts) {
        for (size_t i = 0; i < n; i++) dpmf_store_close(stores[i]);
        free(set);
        free(parts);
        return error_no_memory(error);
    }
    for (size_t i = 0; i < n; i++) parts[i] = stores[i];
    *set = (struct dpmf_store){.fd = -1, .parts = parts, .n_parts = n, .path = strdup(name)};
    int code = set->path ? 0 : error_no_memory(error);
    if (code == 0) code = join_parts(set, error);
    if (code < 0) {
        dpmf_store_close(set);
        return code;
    }
    *out = set;
    return 0;
}

/* ---- a part of one --------------------------------------------------------------------------- */

int store_share_make(const struct dpmf_store *whole, uint64_t first, uint64_t n,
                     struct dpmf_store **out, struct dpmf_error *error) {
    assert(whole && out);
    assert(first <= whole->n_blocks && n <= whole->n_blocks - first);
    *out = NULL;
    struct dpmf_store *share = memory_alloc(1, sizeof *share);
    if (!share) return error_no_memory(error);
    *share = *whole;
    share->fd = -1;
    share->items = NULL;
    share->parts = NULL;
    share->n_parts = 0;
    share->is_share = true;
    share->n_users = share->n_ratings = 0;
    share->n_blocks = n;
    share->path = strdup(whole->path);
    share->index = memory_alloc((size_t)n + 1, sizeof share->index[0]);
    if (!share->path || !share->index) {
        dpmf_store_close(share);
        return error_no_memory(error);
    }
    for (uint64_t b = 0; b < n; b++) {
        share->index[b] = whole->index[first + b];
        share->index[b].first_user = share->n_users;
        share->n_users += share->index[b].n_users;
        share->n_ratings += share->index[b].n_ratings;
    }
    *out = share;
    return 0;
}

/* ---- what they hold -------------------------------------------------------------------------- */

int store_digest(const struct dpmf_store *store, uint64_t *digest, struct dpmf_error *error) {
    uint8_t both[2 * STORE_CHECKSUM];
    uint64_t all = store->n_blocks;
    for (uint64_t b = 0; b < store->n_blocks; b++) {
        const struct store_index_entry *entry = &store->index[b];
        bytes_put_u64(both, all);
        int code = file_read_at(entry->fd, both + STORE_CHECKSUM, STORE_CHECKSUM,
                                entry->offset + entry->length - STORE_CHECKSUM, entry->path, error);
        if (code < 0) return code;
        all = checksum64(both, sizeof both);
    }
    *digest = all;
    return 0;
}
