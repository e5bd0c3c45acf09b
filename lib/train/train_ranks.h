/*
 * What a run of dpmf_train does otherwise when it is one of several processes: train_prepare.c and
 * sgd_train.c call in here where train->cluster is not NULL. By all ranks, in the same order.
 */
#ifndef DPMF_TRAIN_TRAIN_RANKS_H
#define DPMF_TRAIN_TRAIN_RANKS_H

#include "train/train_run.h"

/* Has all ranks use rank 0's kernels. */
int train_ranks_choose_kernels(const struct dpmf_cluster *cluster,
                               const struct kernel_set **kernels, struct dpmf_error *error);

/* Refuses what ranks cannot do, agrees on the kernels, and takes this rank's users. `code` and
 * `error` are how the options fared here. */
int train_ranks_open(struct train_run *train, int code, struct dpmf_error *error);

/* Opens the snapshot to go on from, on rank 0, and tells all what state it is in. */
int train_ranks_open_resumed(struct train_run *train, struct dpmf_error *error);

/* What the tilings of all ranks have in common; `whole->item_ratings` has to be freed in any case.
 */
int train_ranks_agree_on_items(struct train_run *train, const struct tiling_options *options,
                               struct tiling_whole *whole, struct dpmf_error *error);

/* `code` and `error` are how tiling fared here. */
int train_ranks_end_tiling(struct train_run *train, int code, struct dpmf_error *error);
int train_ranks_mean_rating(struct train_run *train, double *mean, struct dpmf_error *error);

/* The first values of all rows, or those of the snapshot. */
int train_ranks_fill(struct train_run *train, struct dpmf_error *error);
int train_ranks_read(struct train_run *train, struct dpmf_error *error);

/* What runs epochs, when all else is there. `more` travels with the items' rows and biases: what a
 * sampler has of each item besides; SGD has nothing. */
int train_ranks_make_ring(struct train_run *train, const struct ring_array *more, size_t n_more,
                          struct dpmf_error *error);

/* An epoch, and its error: what sgd_epoch_run and the sums of its superblocks are on one machine.
 * In between, of a sampler, everyone gets all items, which counts as sent in the epoch. */
int train_ranks_epoch(struct train_run *train, const struct sgd_rates *rates,
                      const struct sgd_watch *watch, struct dpmf_error *error);
int train_ranks_gather(struct train_run *train, struct dpmf_error *error);
int train_ranks_squared_error(struct train_run *train, double *sum, struct dpmf_error *error);

/* Rank 0's answer to everyone. */
int train_ranks_tell(const struct train_run *train, bool *answer, struct dpmf_error *error);

/* Writes the model as it stands, with the best epoch so far beside it or without. */
int train_ranks_write(struct train_run *train, const char *path, bool with_best,
                      struct dpmf_error *error);

/* What all ranks sent, and waited, in the epochs. */
int train_ranks_report(struct train_run *train, struct dpmf_error *error);

#endif
