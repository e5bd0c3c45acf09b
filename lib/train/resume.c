/*
 * Reads a snapshot back into a run, in pieces, and refuses what is not a snapshot of this very run. Fed by
 * checkpoints that snapshot.c wrote; feeds train.c.
 */
#include "train/resume.h"

#include <string.h>

#include "base/error.h"
#include "train/rows_file.h"

static int mismatch(const struct checkpoint_file *file, const char *what, const char *hint,
                    struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_TRAIN_MISMATCH, "the snapshot was made with %s", what);
    error_place(error, safetensors_path(file->file), 0, 0);
    error_hint(error, "%s",
               hint ? hint : "resume with the ratings and options of the first run, or start anew");
    return code;
}

int resume_open(struct checkpoint_file *file, const char *path, uint32_t k,
                const struct checkpoint_state *state, struct dpmf_error *error) {
    int code = checkpoint_file_open(file, path, error);
    if (code < 0) return code;
    const struct checkpoint_state *was = &file->state;
    const char *what = NULL;
    if (file->k != k)
        what = "another number of factors";
    else if (was->n_ratings != state->n_ratings || was->fingerprint != state->fingerprint)
        what = "other ratings";
    else if (was->learning_rate != state->learning_rate || was->decay != state->decay ||
             was->regularization != state->regularization || was->seed != state->seed)
        what = "other rates or another seed";
    if (!what) return 0;
    code = mismatch(file, what, NULL, error);
    checkpoint_file_close(file);
    return code;
}

int resume_find_place(const struct checkpoint_file *file, const struct tiling *tiling, bool exact,
                      const char *order, size_t *superblock, struct dpmf_error *error) {
    const struct checkpoint_state *was = &file->state;
    uint64_t n = tiling_n_superblocks(tiling), users = tiling_users_a_superblock(tiling);
    bool told = was->tiles != 0;
    if (exact && told && was->tiles != tiling_checksum(tiling))
        return mismatch(file, "tiles of another size",
                        "--deterministic goes on only with the --memory and the processor of the "
                        "first run; go on without it, or start anew",
                        error);
    if (exact && told && strcmp(was->order, order) != 0)
        return mismatch(file, "another order",
                        "go on without --deterministic, or start anew with it", error);
    if (was->superblock_users == 0 || was->superblocks_done == 0)
        *superblock = 0;
    else if (was->superblock_users == users)
        *superblock = (size_t)(was->superblocks_done < n ? was->superblocks_done : n);
    else { /* the superblock that holds the first user who is not done */
        uint64_t done = was->superblocks_done < file->n_users / was->superblock_users + 1
                            ? was->superblocks_done * was->superblock_users
                            : file->n_users;
        *superblock = (size_t)(done >= file->n_users ? n : done / users);
    }
    return 0;
}

static int compare_ids(const struct checkpoint_file *file, const struct factors *factors,
                       struct dpmf_error *error) {
    int same = file->n_users == factors->users.n && file->n_items == factors->items.n;
    if (same == 1)
        same = checkpoint_file_has_ids(file, CHECKPOINT_USERS, &factors->user_ids, error);
    if (same == 1)
        same = checkpoint_file_has_ids(file, CHECKPOINT_ITEMS, &factors->item_ids, error);
    return same == 0 ? mismatch(file, "other ratings", NULL, error) : same < 0 ? same : 0;
}

int resume_read(const struct checkpoint_file *file, struct factors *factors,
                const struct row_store *users, struct best_epoch *best, struct dpmf_error *error) {
    struct factor_matrix *items = &factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    int code = compare_ids(file, factors, error);
    if (code == 0)
        code = rows_file_load(users, factors->users.biases, CHECKPOINT_USERS, file, error);
    if (code == 0) code = rows_file_load(&item_rows, items->biases, CHECKPOINT_ITEMS, file, error);
    factors->offset = file->offset;
    if (code < 0 || !best) return code;
    if (file->has_best) return best_epoch_load(best, file, error);
    bool is_best = file->state.best_epoch == file->state.epoch && file->state.epoch > 0 &&
                   file->state.superblocks_done == 0;
    return is_best ? best_epoch_keep(best, factors, users, error) : 0;
}
