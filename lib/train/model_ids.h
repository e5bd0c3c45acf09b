/*
 * The ids of a model's rows, from the store it is trained on.
 */
#ifndef DPMF_TRAIN_MODEL_IDS_H
#define DPMF_TRAIN_MODEL_IDS_H

#include "model/factors.h"
#include "schedule/tiling.h"
#include "store/store.h"

/* Users are in the order of the store, items in that of the tiling or, where it is NULL, of the
 * store too. A store with the same id twice is refused as damaged. `learned` receives a sample of
 * the store's pairs; NULL where these are not all that the model learns from. */
int model_ids_fill_users(struct factor_ids *ids, const struct dpmf_store *store,
                         struct learned_pairs *learned, struct dpmf_error *error);

/* How many ratings each user has: for runs on one machine whose model is in memory, which can be
 * continued there. */
int model_ids_count_users(struct factor_ids *ids, const struct dpmf_store *store,
                          struct dpmf_error *error);

/* Both of these by whoever goes through the blocks already: the room, then each block in order,
 * with its ids. */
struct model_ids_filling {
    struct factor_ids *ids;
    size_t bytes_capacity;
};
int model_ids_begin(struct model_ids_filling *filling, struct factor_ids *ids,
                    const struct dpmf_store *store, struct dpmf_error *error);
int model_ids_take(struct model_ids_filling *filling, const struct store_block *block,
                   struct dpmf_error *error);

int model_ids_fill_items(struct factor_ids *ids, const struct dpmf_store *store,
                         const struct tiling *tiling, struct dpmf_error *error);

#endif
