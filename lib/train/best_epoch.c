/*
 * The copy of best_epoch.h. Fed by sgd_train.c after an epoch that did better than all before; read
 * by snapshots, which keep it beside a later state, and by the end of the run.
 */
#include "train/best_epoch.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/rows_file.h"

static const enum checkpoint_side sides[2] = {CHECKPOINT_BEST_USERS, CHECKPOINT_BEST_ITEMS};

static int make_side(struct best_epoch *best, int side, const struct factor_matrix *like,
                     const char *beside, struct dpmf_error *error) {
    assert(side == 0 || side == 1);
    struct factor_matrix *matrix = &best->matrix[side];
    if (!beside) {
        int code = factor_matrix_init(matrix, like->n, like->stride, 0, error);
        if (code == 0) best->rows[side] = row_store_of(matrix->rows, like->n, like->stride);
        return code;
    }
    *matrix = (struct factor_matrix){.n = like->n, .stride = like->stride};
    matrix->biases = memory_map((size_t)like->n * sizeof(float));
    if (!matrix->biases) return error_no_memory(error);
    return row_store_open(&best->rows[side], beside, like->n, like->stride, error);
}

int best_epoch_init(struct best_epoch *best, const struct factors *factors, const char *beside,
                    struct dpmf_error *error) {
    *best = (struct best_epoch){.rows = {{.file = -1}, {.file = -1}}};
    int code = make_side(best, 0, &factors->users, beside, error);
    if (code == 0) code = make_side(best, 1, &factors->items, beside, error);
    return code;
}

void best_epoch_free(struct best_epoch *best) {
    for (int side = 0; side < 2; side++) {
        row_store_close(&best->rows[side]);
        factor_matrix_free(&best->matrix[side]);
    }
}

static void copy_biases(float *to, const float *from, uint64_t n) {
    assert(to && from && to != from);
    memcpy(to, from, (size_t)n * sizeof to[0]);
}

int best_epoch_keep(struct best_epoch *best, const struct factors *factors,
                    const struct row_store *users, struct dpmf_error *error) {
    const struct factor_matrix *items = &factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    copy_biases(best->matrix[0].biases, factors->users.biases, users->n);
    copy_biases(best->matrix[1].biases, items->biases, items->n);
    int code = row_store_copy(&best->rows[0], users, error);
    if (code == 0) code = row_store_copy(&best->rows[1], &item_rows, error);
    best->kept = code == 0;
    return code;
}

int best_epoch_restore(const struct best_epoch *best, struct factors *factors,
                       const struct row_store *users, struct dpmf_error *error) {
    struct factor_matrix *items = &factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    copy_biases(factors->users.biases, best->matrix[0].biases, users->n);
    copy_biases(items->biases, best->matrix[1].biases, items->n);
    int code = row_store_copy(users, &best->rows[0], error);
    return code < 0 ? code : row_store_copy(&item_rows, &best->rows[1], error);
}

int best_epoch_save(const struct best_epoch *best, struct checkpoint_draft *draft,
                    struct dpmf_error *error) {
    assert(draft);
    int code = 0;
    for (int i = 0; i < 2 && code == 0; i++)
        code = rows_file_save(&best->rows[i], best->matrix[i].biases, sides[i], draft, error);
    return code;
}

int best_epoch_load(struct best_epoch *best, const struct checkpoint_file *file,
                    struct dpmf_error *error) {
    assert(file);
    int code = 0;
    for (int i = 0; i < 2 && code == 0; i++)
        code = rows_file_load(&best->rows[i], best->matrix[i].biases, sides[i], file, error);
    best->kept = code == 0;
    return code;
}
