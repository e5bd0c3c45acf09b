/*
 * Which users belong to which rank: the blocks of a store, cut into one contiguous range for each
 * rank, with about the same number of ratings.
 */
#ifndef DPMF_CLUSTER_USER_SHARES_H
#define DPMF_CLUSTER_USER_SHARES_H

#include "cluster/cluster.h"
#include "store/store.h"

/* Blocks first[r] .. first[r + 1] - 1 are rank r's; first has n_ranks + 1 entries. The same on
 * every rank. */
void user_shares_cut(const struct dpmf_store *store, int n_ranks, uint64_t *first);

/* Refuses ratings that are not in a store where there are several ranks: each would import them by
 * itself. */
int user_shares_check_store(const struct dpmf_store *store, const struct dpmf_cluster *cluster,
                            struct dpmf_error *error);

/* Checks that all ranks see the same ratings: copies under one name, or answers of a database, may
 * differ. @return 0, or DPMF_ERR_STORE_CORRUPT on all of them */
int user_shares_check_same(const struct dpmf_store *store, const struct dpmf_cluster *cluster,
                           struct dpmf_error *error);

/* This rank's users as a store of their own, see store_share_make; *first_user is the number of the
 * first of them in the whole. The caller closes it, also where there is no cluster. All ranks check
 * that they see the same store. */
int user_shares_take(const struct dpmf_store *store, const struct dpmf_cluster *cluster,
                     struct dpmf_store **share, uint64_t *first_user, struct dpmf_error *error);

#endif
