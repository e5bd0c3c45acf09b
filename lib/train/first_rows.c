/*
 * Both sides of a model start as small random numbers: products of the same standard deviation, whatever k
 * is. Keyed by the row, so that who draws what depends on nothing else. Feeds train.c and bench.c.
 */
#include "train/first_rows.h"

#include <math.h>

#include "random/random.h"
#include "train/rates.h"

void first_rows_fill(struct factor_matrix *matrix, uint32_t k, uint64_t seed,
                     enum first_rows_side side) {
    double scale = sqrt(RATES_FIRST_PRODUCT / sqrt((double)k));
    for (uint64_t row = 0; row < matrix->n; row++) {
        struct random_stream random;
        random_stream_init(&random, seed, (uint32_t)side, row);
        float *at = matrix->rows + row * matrix->stride;
        for (uint32_t x = 0; x < k; x++)
            at[x] = (float)(scale * sqrt(3.0) * (2 * random_uniform(&random) - 1));
    }
}
