/*
 * Both sides of a model start as small random numbers: products of the same standard deviation,
 * whatever k is. Keyed by the row, so that who draws what depends on nothing else. Feeds
 * sgd_train.c and bench.c.
 */
#include "train/first_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/random.h"
#include "train/rates.h"

int first_rows_make_users(struct factor_matrix *users, struct row_store *rows, uint64_t n,
                          size_t stride, uint64_t spare, const char *beside,
                          struct dpmf_error *error) {
    assert(stride > 0);
    *rows = (struct row_store){.file = -1};
    if (!beside) {
        int code = factor_matrix_init(users, n, stride, spare, error);
        if (code == 0) *rows = row_store_of(users->rows, n, stride);
        return code;
    }
    *users = (struct factor_matrix){.n = n, .stride = stride};
    users->biases = memory_map((size_t)n * sizeof(float));
    if (!users->biases) return error_no_memory(error);
    return row_store_open(rows, beside, n, stride, error);
}

void first_rows_fill_one(float *row, uint64_t number, uint32_t k, double unit, uint64_t seed,
                         enum first_rows_side side) {
    assert(row && k > 0 && unit > 0);
    double scale = sqrt(unit * RATES_FIRST_PRODUCT / sqrt((double)k));
    struct random_stream random;
    random_stream_init(&random, seed, (uint32_t)side, number);
    for (uint32_t x = 0; x < k; x++)
        row[x] = (float)(scale * sqrt(3.0) * (2 * random_uniform(&random) - 1));
}

static void fill(float *rows, size_t stride, uint64_t first, uint64_t n, uint32_t k, double unit,
                 uint64_t seed, enum first_rows_side side) {
    assert(stride >= k);
    for (uint64_t i = 0; i < n; i++)
        first_rows_fill_one(rows + i * stride, first + i, k, unit, seed, side);
}

void first_rows_fill(struct factor_matrix *matrix, uint32_t k, double unit, uint64_t seed,
                     enum first_rows_side side) {
    fill(matrix->rows, matrix->stride, 0, matrix->n, k, unit, seed, side);
}

int first_rows_fill_store(const struct row_store *rows, uint64_t first, uint32_t k, double unit,
                          uint64_t seed, enum first_rows_side side, struct dpmf_error *error) {
    if (rows->rows) {
        fill(rows->rows, rows->stride, first, rows->n, k, unit, seed, side);
        return 0;
    }
    uint64_t piece = row_store_piece(rows->stride);
    float *buffer = memory_alloc_zero((size_t)piece, rows->stride * sizeof buffer[0]);
    if (!buffer) return error_no_memory(error);
    int code = 0;
    for (uint64_t row = 0; row < rows->n && code == 0; row += piece) {
        uint64_t n = rows->n - row < piece ? rows->n - row : piece;
        fill(buffer, rows->stride, first + row, n, k, unit, seed, side);
        code = row_store_put(rows, row, n, buffer, error);
    }
    free(buffer);
    return code;
}
