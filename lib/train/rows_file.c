/*
 * All rows of a side to a checkpoint that is being written, or from one: a few at a time, so that a
 * model larger than memory can be kept and gone on with. Used by sgd_train.c, resume.c and
 * best_epoch.c.
 */
#include "train/rows_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static float *make_piece(const struct row_store *rows, uint64_t *n) {
    *n = row_store_piece(rows->stride);
    return memory_alloc_zero((size_t)*n, rows->stride * sizeof(float));
}

int rows_file_save(const struct row_store *rows, const float *biases, enum checkpoint_side side,
                   struct checkpoint_draft *draft, struct dpmf_error *error) {
    assert(rows && biases && draft);
    uint64_t piece;
    struct dpmf_error own = {0};
    float *buffer = make_piece(rows, &piece);
    int code = buffer ? 0 : error_no_memory(&own);
    for (uint64_t first = 0; first < rows->n && code == 0; first += piece) {
        uint64_t n = rows->n - first < piece ? rows->n - first : piece;
        const float *from = row_store_look(rows, first, n, buffer, &own);
        code = from ? checkpoint_draft_put_rows(draft, side, first, n, from, rows->stride,
                                                biases + first, &own)
                    : own.code;
    }
    free(buffer);
    if (code < 0 && error) *error = own;
    return code;
}

int rows_file_load(const struct row_store *rows, float *biases, enum checkpoint_side side,
                   const struct checkpoint_file *file, struct dpmf_error *error) {
    assert(rows && biases && file);
    uint64_t piece;
    float *buffer = make_piece(rows, &piece);
    int code = buffer ? 0 : error_no_memory(error);
    for (uint64_t first = 0; first < rows->n && code == 0; first += piece) {
        uint64_t n = rows->n - first < piece ? rows->n - first : piece;
        float *to = rows->rows ? rows->rows + first * rows->stride : buffer;
        code = checkpoint_file_read_rows(file, side, first, n, to, rows->stride, biases + first,
                                         error);
        if (code == 0) code = row_store_put(rows, first, n, to, error);
    }
    free(buffer);
    return code;
}
