/*
 * What two stores have in common: users, items and ratings, by their ids.
 */
#ifndef DPMF_COMPARE_COMPARE_STORES_H
#define DPMF_COMPARE_COMPARE_STORES_H

#include "model/factors.h"
#include "store/store.h"

struct compare_common {
    uint64_t users, items;
    uint64_t pairs; /* ratings of one user of one item that both have */
    uint64_t same;  /* those of them with the same value */
    /* Ratings of the second store whose user, or whose item, the first does not have. */
    uint64_t unknown_users, unknown_items;
};

/* The ids of a store's items, with an index; the caller frees them in any case. */
int compare_index_items(const struct dpmf_store *store, struct factor_ids *ids,
                        struct dpmf_error *error);

/* One pass over each of them; memory for the smaller one. */
int compare_stores(const struct dpmf_store *first, const struct dpmf_store *second,
                   struct compare_common *common, struct dpmf_error *error);

/* What a model makes of ratings. */
enum compare_use {
    COMPARE_PREDICTED, /* it predicts them */
    COMPARE_RANKED,    /* it ranks: only users and items of both count, and no value does */
    COMPARE_LIKED      /* it ranks what has at least a certain value */
};

/* Before training: refuses a validation set that training cannot be judged by, because it is known
 * to hold ratings of the training set, is on another scale or has nobody and nothing in common with
 * it; warns where that is so of a part. Nothing is warned of without run->warn. In a cluster rank 0
 * looks, and all must call it.
 * @return 0 or a negative code: DPMF_ERR_USAGE_CONFLICT, DPMF_ERR_INPUT_OUT_OF_RANGE,
 * DPMF_ERR_INPUT_ID */
int compare_held_out(const struct dpmf_store *training, const struct dpmf_store *valid,
                     enum compare_use use, const struct dpmf_run *run, struct dpmf_error *error);

/* The part of it that is about ratings in both: for ratings that are added to a model, which knows
 * more users and items than they have. In one process. */
int compare_apart(const struct dpmf_store *training, const struct dpmf_store *valid,
                  const struct dpmf_run *run, struct dpmf_error *error);

#endif
