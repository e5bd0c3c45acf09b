/*
 * A copy of the epoch that did best on the validation set, kept until the end of the run: in
 * memory, or in nameless files when the run is streamed.
 */
#ifndef DPMF_TRAIN_BEST_EPOCH_H
#define DPMF_TRAIN_BEST_EPOCH_H

#include "model/checkpoint.h"
#include "train/row_store.h"

struct best_epoch {
    bool kept;                      /* whether there is a copy */
    struct factor_matrix matrix[2]; /* users and items; with `rows` in files, only biases */
    struct row_store rows[2];
};

/* Makes room beside `beside`, or in memory when that is NULL. */
int best_epoch_init(struct best_epoch *best, const struct factors *factors, const char *beside,
                    struct dpmf_error *error);
void best_epoch_free(struct best_epoch *best); /* may be called for a zeroed one */

/* Copy the model into it, and back; `users` has the rows of users. */
int best_epoch_keep(struct best_epoch *best, const struct factors *factors,
                    const struct row_store *users, struct dpmf_error *error);
int best_epoch_restore(const struct best_epoch *best, struct factors *factors,
                       const struct row_store *users, struct dpmf_error *error);

/* To and from the tensors of a snapshot. */
int best_epoch_save(const struct best_epoch *best, struct checkpoint_draft *draft,
                    struct dpmf_error *error);
int best_epoch_load(struct best_epoch *best, const struct checkpoint_file *file,
                    struct dpmf_error *error);

#endif
