/*
 * Continuing from a snapshot.
 */
#ifndef DPMF_TRAIN_RESUME_H
#define DPMF_TRAIN_RESUME_H

#include "model/checkpoint.h"
#include "schedule/tiling.h"
#include "train/best_epoch.h"
#include "train/row_store.h"
#include "train/train_run.h"

/* Whether a new run may write its snapshots to `path`: not over the snapshot of a run that has not
 * come to its end, unless this run continues from one (`resume`) or `replace` is set. A run has
 * ended where its epochs are done or its `output` was written after the snapshot. `path` and
 * `resume` may be NULL.
 * @return 0 or DPMF_ERR_IO_WRITE */
int resume_check_unfinished(const char *path, const char *resume, const char *output, bool replace,
                            struct dpmf_error *error);

/* Opens a snapshot and compares it with the state of a new run: `k`, the ratings, the rates and the
 * seed must be the same. */
int resume_open(struct checkpoint_file *file, const char *path, uint32_t k,
                const struct checkpoint_state *state, struct dpmf_error *error);

/* Compares the settings of the snapshot's run with those of this one: differences that would break
 * a promise are refused, those that change the result are reported to run->warn. Without a
 * validation set, or with another one, its best epoch is forgotten; `valid_digest` is that of this
 * run's state. */
int resume_compare(struct checkpoint_file *file, const struct dpmf_train_options *options,
                   const char *kernels, uint64_t valid_digest, const struct dpmf_run *run,
                   struct dpmf_error *error);

/* Refuses a snapshot whose run had other features of items or users than this one, as far as its
 * provenance tells. */
int resume_compare_features(const struct checkpoint_file *file,
                            const struct feature_digests *digests, struct dpmf_error *error);

/* Where the run continues: a superblock of this tiling. With `exact` it must be cut as it was. */
int resume_find_place(const struct checkpoint_file *file, const struct tiling *tiling, bool exact,
                      const char *order, size_t *superblock, struct dpmf_error *error);

/* The same where a run continues from whole epochs only: `tiles` is the checksum of how this run
 * cuts its ratings. What was done of the next epoch is done again, as run->warn reports. */
int resume_find_epoch(const struct checkpoint_file *file, uint64_t tiles, bool exact,
                      const char *order, const struct dpmf_run *run, struct dpmf_error *error);

/* Whether a snapshot is of these users and items, in this order. */
int resume_compare_ids(const struct checkpoint_file *file, const struct factors *factors,
                       struct dpmf_error *error);

/* Reads rows and biases, after comparing the ids; the best epoch as well, where it is recorded and
 * `best` is not NULL. */
int resume_read(const struct checkpoint_file *file, struct factors *factors,
                const struct row_store *users, struct best_epoch *best, struct dpmf_error *error);

/* The settings of the run that made a snapshot: those of enum dpmf_adapt_what that `what` has, and
 * whether its biases began as averages. @return DPMF_ERR_TRAIN_MISMATCH where the file does not
 * record them */
int resume_settings(const char *path, uint32_t what, struct dpmf_train_options *options,
                    struct dpmf_error *error);

#endif
