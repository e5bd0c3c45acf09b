/*
 * A validation set in memory, its ids looked up once, for an RMSE after every epoch.
 */
#ifndef DPMF_TRAIN_VALID_SET_H
#define DPMF_TRAIN_VALID_SET_H

#include "base/threads.h"
#include "cluster/cluster.h"
#include "kernels/kernels.h"
#include "model/factors.h"
#include "train/row_store.h"

struct valid_set;

/* Ids must be indexed (factor_ids_index). In a cluster (else NULL) each rank looks after the
 * ratings of the users that it has, and rank 0 after those of users whom none has; every function
 * here is then called by all ranks, and returns the same to all of them. */
int valid_set_init(struct valid_set **set, const struct dpmf_store *store,
                   const struct factors *factors, const struct dpmf_cluster *cluster,
                   struct dpmf_error *error);
void valid_set_free(struct valid_set *set);

/* Unknown users and items count with what is known of them; predictions are clamped to the scale.
 * The same bits for any number of threads (not of ranks), and wherever the users' rows are, which
 * `users` has: `factors` need not. */
int valid_set_rmse(struct valid_set *set, const struct factors *factors,
                   const struct row_store *users, const struct kernel_set *kernels,
                   struct thread_pool *pool, double *rmse, struct dpmf_error *error);

/* The same of the mean of this model's predictions and those of every model that it was called with
 * before. */
int valid_set_mean_rmse(struct valid_set *set, const struct factors *factors,
                        const struct row_store *users, const struct kernel_set *kernels,
                        struct thread_pool *pool, double *rmse, struct dpmf_error *error);

/* Bytes it takes: to make it, and then to keep it, for so many ratings. */
uint64_t valid_set_bytes(uint64_t n_ratings, bool making);

#endif
