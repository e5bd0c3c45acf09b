/*
 * The users of a store dealt out to the ranks of a cluster: contiguous blocks, balanced by ratings.
 * Each rank cuts for itself, from the index alone; that all of them look at the same store is
 * checked, because two different copies could give a user to two ranks, which would double what
 * that user contributes. Feeds the private mechanisms and training.
 */
#define _GNU_SOURCE
#include "cluster/user_shares.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

/* The r-th cut is where the ratings so far are nearest to r shares of them, counting half of the
 * block at hand. */
void user_shares_cut(const struct dpmf_store *store, int n_ranks, uint64_t *first) {
    assert(n_ranks > 0 && first);
    const uint64_t n_blocks = store_n_blocks(store);
    const double each = (double)store_n_ratings(store) / n_ranks;
    uint64_t block = 0;
    double before = 0;
    first[0] = 0;
    for (int r = 1; r < n_ranks; r++) {
        for (; block < n_blocks; block++) {
            uint32_t users;
            uint64_t ratings;
            store_block_size(store, block, &users, &ratings);
            if (before + (double)ratings / 2 > each * r) break;
            before += (double)ratings;
        }
        first[r] = block;
    }
    first[n_ranks] = n_blocks;
}

int user_shares_check_store(const struct dpmf_store *store, const struct dpmf_cluster *cluster,
                            struct dpmf_error *error) {
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    if (!info.is_temporary) return 0;
    return cluster_check_alone(cluster,
                               "several processes can only read ratings from a store or its shards",
                               "make one first, with {:import}, and train on that", error);
}

int user_shares_check_same(const struct dpmf_store *store, const struct dpmf_cluster *cluster,
                           struct dpmf_error *error) {
    uint64_t digest = 0;
    bool same = false;
    if (cluster_size(cluster) == 1) return 0;
    int code = store_digest(store, &digest, error);
    code = cluster_agree(cluster, code, error);
    if (code == 0) code = cluster_compare(cluster, digest, &same, error);
    if (code < 0 || same) return code;
    code = error_set(error, DPMF_ERR_STORE_CORRUPT,
                     "the processes of the cluster see different ratings under this name");
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    if (info.is_temporary) {
        error_hint(error,
                   "each process reads it for itself, and it has changed since: import it once, "
                   "and give all of them the store");
    } else {
        error_hint(error, "put one copy where all machines can read it, or the same copy on each");
        error_place(error, store_path(store), 0, 0);
    }
    return cluster_agree(cluster, code, error);
}

int user_shares_take(const struct dpmf_store *store, const struct dpmf_cluster *cluster,
                     struct dpmf_store **share, uint64_t *first_user, struct dpmf_error *error) {
    assert(store && share && first_user);
    const int n = cluster_size(cluster), rank = cluster_rank(cluster);
    uint64_t *first = memory_alloc((size_t)n + 1, sizeof *first);
    *share = NULL;
    *first_user = 0;
    int code = cluster_agree(cluster, first ? 0 : error_no_memory(error), error);
    if (code == 0) code = user_shares_check_same(store, cluster, error);
    if (code == 0) {
        user_shares_cut(store, n, first);
        for (uint64_t b = 0; b < first[rank]; b++) {
            uint32_t users;
            uint64_t ratings;
            store_block_size(store, b, &users, &ratings);
            *first_user += users;
        }
        code = store_share_make(store, first[rank], first[rank + 1] - first[rank], share, error);
        code = cluster_agree(cluster, code, error);
    }
    if (code < 0) {
        dpmf_store_close(*share);
        *share = NULL;
    }
    free(first);
    return code;
}
