/*
 * The rows of row_store.h. Holds the users' vectors of a run that is larger than memory, and the
 * best epoch's; fed and read by the superblock stream, validation, snapshots and the model's end.
 */
#include "train/row_store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "files/output_file.h"

enum { PIECE_BYTES = 1 << 17 };

static const char what[] = "vectors";

struct row_store row_store_of(float *rows, uint64_t n, size_t stride) {
    assert(rows && stride > 0);
    return (struct row_store){.n = n, .stride = stride, .rows = rows, .file = -1};
}

int row_store_open(struct row_store *store, const char *beside, uint64_t n, size_t stride,
                   struct dpmf_error *error) {
    assert(stride > 0);
    uint64_t bytes;
    *store = (struct row_store){.n = n, .stride = stride, .file = -1};
    if (__builtin_mul_overflow(n, stride * sizeof(float), &bytes) || bytes > INT64_MAX)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "there are too many rows for a file");
    int code = output_file_nameless(beside, &store->file, error);
    if (code == 0 && ftruncate(store->file, (off_t)bytes) != 0)
        code = error_system(error, errno, "write", what);
    return code;
}

void row_store_close(struct row_store *store) {
    if (!store->rows && store->n > 0 && store->file >= 0) close(store->file);
    *store = (struct row_store){.file = -1};
}

uint64_t row_store_piece(size_t stride) {
    assert(stride > 0);
    uint64_t n = PIECE_BYTES / (stride * sizeof(float));
    return n > 0 ? n : 1;
}

const float *row_store_look(const struct row_store *store, uint64_t first, uint64_t n,
                            float *buffer, struct dpmf_error *error) {
    assert(first <= store->n && n <= store->n - first);
    size_t row = store->stride * sizeof(float);
    if (store->rows) return store->rows + first * store->stride;
    int code = file_read_at(store->file, buffer, (size_t)n * row, first * row, what, error);
    return code < 0 ? NULL : buffer;
}

int row_store_put(const struct row_store *store, uint64_t first, uint64_t n, const float *rows,
                  struct dpmf_error *error) {
    assert(first <= store->n && n <= store->n - first);
    assert(rows);
    size_t row = store->stride * sizeof(float);
    if (!store->rows)
        return file_write_at(store->file, rows, (size_t)n * row, first * row, what, error);
    float *place = store->rows + first * store->stride;
    if (place != rows) memcpy(place, rows, (size_t)n * row);
    return 0;
}

int row_store_copy(const struct row_store *to, const struct row_store *from,
                   struct dpmf_error *error) {
    assert(to->n == from->n && to->stride == from->stride);
    uint64_t piece = row_store_piece(from->stride);
    struct dpmf_error own = {0};
    float *buffer = memory_alloc((size_t)piece, from->stride * sizeof buffer[0]);
    int code = buffer ? 0 : error_no_memory(&own);
    for (uint64_t first = 0; first < from->n && code == 0; first += piece) {
        uint64_t n = from->n - first < piece ? from->n - first : piece;
        const float *rows = row_store_look(from, first, n, buffer, &own);
        code = rows ? row_store_put(to, first, n, rows, &own) : own.code;
    }
    free(buffer);
    if (code < 0 && error) *error = own;
    return code;
}
