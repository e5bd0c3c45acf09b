/*
 * The share of a run that one rank of a cluster has: its users, and how their rows get to rank 0
 * and back. A checkpoint is written and read by rank 0 alone, in the order of the store's users and
 * of the items' popularity, so that it does not show how many ranks there were. Rows come and go in
 * pieces. On one machine the share is everything, and checkpoints are written by the same
 * functions.
 */
#ifndef DPMF_TRAIN_RANK_SHARE_H
#define DPMF_TRAIN_RANK_SHARE_H

#include "cluster/cluster.h"
#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "schedule/tiling.h"
#include "train/row_store.h"

struct rank_share {
    const struct dpmf_cluster *cluster; /* NULL: one machine */
    const struct dpmf_store *whole;     /* all ratings, which every rank has at hand */
    struct dpmf_store *own;             /* ratings of its users; NULL on one machine */
    uint64_t *first_user; /* n_ranks + 1: rank r has users first_user[r] .. first_user[r + 1] - 1 */
    struct factors file;  /* on rank 0 of a cluster, what a checkpoint holds beside its rows */
    bool may_replace;     /* whether checkpoints may replace files that are none */
};

/* Called by all ranks, as is everything else here. */
int rank_share_open(struct rank_share *share, const struct dpmf_store *whole,
                    const struct dpmf_cluster *cluster, struct dpmf_error *error);
void rank_share_close(struct rank_share *share); /* may be called for a zeroed one */

/* Has all ranks use rank 0's kernels: rows are laid out, and rounded, as they do it. */
int rank_share_kernels(const struct dpmf_cluster *cluster, const struct kernel_set **kernels,
                       struct dpmf_error *error);

/* Reports what all ranks sent since this one had sent `before` bytes. How long they waited for each
 * other is not measured. */
int rank_share_report(const struct dpmf_cluster *cluster, uint64_t before,
                      struct dpmf_train_report *report, struct dpmf_error *error);

const struct dpmf_store *rank_share_store(const struct rank_share *share); /* what is here */
uint64_t rank_share_first_user(const struct rank_share *share); /* first user of this rank */

/* Where a sample of what is learned belongs, where one process has all of it; else NULL. */
struct learned_pairs *rank_share_learned(const struct rank_share *share, struct factors *factors);

/* Counts the ratings of each user for the checkpoint, where one process has all of them. */
int rank_share_count_users(const struct rank_share *share, struct factor_ids *ids,
                           struct dpmf_error *error);

/* In a cluster, fills in share->file: the ids of all users and of the items by popularity, and the
 * scale of `factors`. Here and below, without a tiling (NULL) items are in the order that they
 * have. */
int rank_share_describe(struct rank_share *share, const struct factors *factors,
                        const struct tiling *tiling, struct dpmf_error *error);

/* All users' rows to the draft, and from the file, that rank 0 has and the others do not (NULL). */
int rank_share_save_users(const struct rank_share *share, const struct row_store *rows,
                          float *biases, enum checkpoint_side side, struct checkpoint_draft *draft,
                          struct dpmf_error *error);
int rank_share_load_users(const struct rank_share *share, const struct row_store *rows,
                          float *biases, enum checkpoint_side side,
                          const struct checkpoint_file *file, struct dpmf_error *error);

/* The same of items, all of which rank 0 has; loading gives them to everyone. */
int rank_share_save_items(const struct rank_share *share, const struct tiling *tiling,
                          const struct factor_matrix *items, enum checkpoint_side side,
                          struct checkpoint_draft *draft, struct dpmf_error *error);
int rank_share_load_items(const struct rank_share *share, const struct tiling *tiling,
                          struct factor_matrix *items, enum checkpoint_side side,
                          const struct checkpoint_file *file, struct dpmf_error *error);

/* The ids, scale and sizes of rank 0's checkpoint; on one machine, those of `factors`. Valid while
 * there is a draft of it, and never freed. */
struct factors rank_share_shape(const struct rank_share *share, const struct factors *factors);

/* The first begins a checkpoint on rank 0, with its ids; `*draft` is NULL on other ranks. The
 * second completes it or, with a negative `code`, discards it. */
int rank_share_open_draft(const struct rank_share *share, const char *path,
                          const struct factors *shape, bool with_best, const char *provenance,
                          struct checkpoint_draft **draft, struct dpmf_error *error);
int rank_share_end_draft(const struct rank_share *share, int code, struct checkpoint_draft *draft,
                         const struct checkpoint_state *state, struct dpmf_error *error);

/* A whole checkpoint of the rows as they are, without a best epoch. */
int rank_share_write(const struct rank_share *share, const char *path,
                     const struct factors *factors, const struct row_store *users,
                     const struct tiling *tiling, const char *provenance,
                     const struct checkpoint_state *state, struct dpmf_error *error);

/* The same for rows of k numbers that are made when they are needed; a rank makes those of its own
 * users, which it counts from 0, and rank 0 makes the items'. */
typedef void rank_row_make(void *self, enum checkpoint_side side, uint64_t row, float *to,
                           float *bias);
int rank_share_write_made(const struct rank_share *share, const char *path,
                          const struct factors *factors, uint32_t k, rank_row_make *make,
                          void *self, const struct tiling *tiling, const char *provenance,
                          const struct checkpoint_state *state, struct dpmf_error *error);

#endif
