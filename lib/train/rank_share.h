/*
 * What one rank of a cluster has of a run: its users, and the way of their rows to rank 0 and back.
 * A checkpoint is written and read by rank 0 alone, in the order of the store's users and of the
 * items' popularity, so that it does not tell how many ranks there were. Rows come and go in
 * pieces.
 */
#ifndef DPMF_TRAIN_RANK_SHARE_H
#define DPMF_TRAIN_RANK_SHARE_H

#include "cluster/cluster.h"
#include "model/checkpoint.h"
#include "schedule/tiling.h"
#include "train/row_store.h"

struct rank_share {
    const struct dpmf_cluster *cluster;
    const struct dpmf_store *whole; /* all ratings, which every rank has at hand ... */
    struct dpmf_store *own;         /* ... and those of its users */
    uint64_t *first_user; /* n_ranks + 1: rank r has users first_user[r] .. first_user[r + 1] - 1 */
    struct factors file;  /* on rank 0, what a checkpoint tells of the model beside its rows */
};

/* By all ranks, as is everything else here. */
int rank_share_open(struct rank_share *share, const struct dpmf_store *whole,
                    const struct dpmf_cluster *cluster, struct dpmf_error *error);
void rank_share_close(struct rank_share *share); /* of a zeroed one: fine */

uint64_t rank_share_first_user(const struct rank_share *share); /* of this rank */

/* Fills in share->file: the ids of all users and of the items by popularity, and the scale of
 * `factors`. Here and below, without a tiling (NULL) items are in the order that they have. */
int rank_share_describe(struct rank_share *share, const struct factors *factors,
                        const struct tiling *tiling, struct dpmf_error *error);

/* All users' rows to the draft, and from the file, that rank 0 has and the others do not (NULL). */
int rank_share_save_users(const struct rank_share *share, const struct row_store *rows,
                          float *biases, enum checkpoint_side side, struct checkpoint_draft *draft,
                          struct dpmf_error *error);
int rank_share_load_users(const struct rank_share *share, const struct row_store *rows,
                          float *biases, enum checkpoint_side side,
                          const struct checkpoint_file *file, struct dpmf_error *error);

/* The same of rows that are made when it is their turn: n of them from `first` on, counted from the
 * rank's first user. */
typedef void rank_rows_make(void *self, uint64_t first, uint64_t n, float *rows, float *biases);
int rank_share_save_made(const struct rank_share *share, size_t stride, rank_rows_make *make,
                         void *self, enum checkpoint_side side, struct checkpoint_draft *draft,
                         struct dpmf_error *error);

/* The same of items, all of which rank 0 has; loading gives them to everyone. */
int rank_share_save_items(const struct rank_share *share, const struct tiling *tiling,
                          const struct factor_matrix *items, enum checkpoint_side side,
                          struct checkpoint_draft *draft, struct dpmf_error *error);
int rank_share_load_items(const struct rank_share *share, const struct tiling *tiling,
                          struct factor_matrix *items, enum checkpoint_side side,
                          const struct checkpoint_file *file, struct dpmf_error *error);

/* Which row has which place among n items by popularity. To be freed; NULL: no memory. */
uint32_t *rank_share_rows_by_place(const struct tiling *tiling, uint64_t n);

/* A whole checkpoint of rows that are in memory, without a best epoch. */
int rank_share_write(const struct rank_share *share, const char *path,
                     const struct factors *factors, const struct row_store *users,
                     const struct tiling *tiling, const char *provenance,
                     const struct checkpoint_state *state, struct dpmf_error *error);

#endif
