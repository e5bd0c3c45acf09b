/*
 * Releases of any size for tests of the client, and a dense solve of the ridge system that shares
 * nothing with the library: Gauss's elimination in long double. Include after cmocka.
 */
#ifndef DPMF_TESTS_CLIENT_MAKE_H
#define DPMF_TESTS_CLIENT_MAKE_H

#include "checkpoint_make.h"
#include "model/release.h"
#include "recommend/model.h"
#include "temp_dir.h"

/* Rows shrink with the item's number, as those of rarely rated items do, and so do counts, where
 * there are any. */
static inline void client_write_release(const char *path, uint64_t items, uint32_t k,
                                        double factor_penalty, double bias_penalty, bool counted,
                                        uint64_t seed) {
    struct release release = {.factor_penalty = factor_penalty, .bias_penalty = bias_penalty};
    struct factors *factors = &release.factors;
    uint64_t state = seed;
    *factors = (struct factors){.k = k, .offset = 3.25, .min = 1, .max = 5};
    release.statement = strdup("{}");
    assert_non_null(release.statement);
    make_matrix(&factors->items, items, k, &state);
    for (uint64_t i = 0; i < items; i++)
        for (uint32_t c = 0; c < k; c++)
            factors->items.rows[i * factors->items.stride + c] *= 2 / sqrtf(1 + (float)i / 50);
    make_ids(&factors->item_ids, items, 'i');
    if (counted) {
        factors->item_ids.counts = calloc(items, sizeof(float));
        assert_non_null(factors->item_ids.counts);
        for (uint64_t i = 0; i < items; i++)
            factors->item_ids.counts[i] =
                (0.1f + (float)(make_random(&state) % 1000)) / (1 + (float)i / 20);
    }
    assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
    release_free(&release);
}

static inline void client_make_release(const char *path, uint64_t items, uint32_t k,
                                       double factor_penalty, double bias_penalty, uint64_t seed) {
    client_write_release(path, items, k, factor_penalty, bias_penalty, false, seed);
}

static inline struct dpmf_model *client_open_release(const struct temp_dir *dir, uint64_t items,
                                                     uint32_t k, double factor_penalty,
                                                     double bias_penalty, uint64_t seed) {
    char path[TEMP_PATH_MAX];
    struct dpmf_model *model;
    temp_dir_file(dir, "r.safetensors", path);
    client_make_release(path, items, k, factor_penalty, bias_penalty, seed);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    unlink(path);
    return model;
}

static inline struct dpmf_model *client_open_counted(const struct temp_dir *dir, uint64_t items,
                                                     uint32_t k, uint64_t seed) {
    char path[TEMP_PATH_MAX];
    struct dpmf_model *model;
    temp_dir_file(dir, "counted.safetensors", path);
    client_write_release(path, items, k, 0.6, 0.4, true, seed);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    unlink(path);
    return model;
}

/* c of the vector and of the bias, as docs/formats/release.md and ridge.h have them. */
static inline void client_penalties(const struct dpmf_model *model, size_t n,
                                    long double *of_vector, long double *of_bias) {
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    *of_vector = (long double)info.factor_penalty;
    *of_bias = (long double)info.bias_penalty;
    if (strcmp(info.kind, "release") == 0) return;
    long double unit = ((long double)info.max - (long double)info.min) / 4;
    *of_vector = (long double)info.regularization * unit * (long double)n;
    *of_bias = (long double)info.regularization * (long double)n;
}

/* w (k + 1): the bias, then the vector, that minimise the penalised squares. */
static inline void client_dense_fit(const struct dpmf_model *model,
                                    const struct dpmf_own_rating *ratings, size_t n,
                                    long double *w) {
    const size_t width = (size_t)model->factors.k + 1, row = width + 1;
    long double *A = calloc(width * row, sizeof *A), of_vector, of_bias;
    assert_non_null(A);
    client_penalties(model, n, &of_vector, &of_bias);
    for (size_t a = 0; a < width; a++) A[a * row + a] = a == 0 ? of_bias : of_vector;
    for (size_t j = 0; j < n; j++) {
        const float *v = model_item_row(model, ratings[j].item);
        long double y = (long double)ratings[j].rating - (long double)model->factors.offset -
                        (long double)model->factors.items.biases[ratings[j].item];
        for (size_t a = 0; a < width; a++) {
            long double x = a == 0 ? 1 : (long double)v[a - 1];
            for (size_t b = 0; b < width; b++)
                A[a * row + b] += x * (b == 0 ? 1 : (long double)v[b - 1]);
            A[a * row + width] += x * y;
        }
    }
    for (size_t c = 0; c < width; c++) /* definite: no pivots are needed */
        for (size_t r = 0; r < width; r++) {
            if (r == c || (n == 0 && of_vector == 0)) continue;
            long double by = A[r * row + c] / A[c * row + c];
            for (size_t b = c; b < row; b++) A[r * row + b] -= by * A[c * row + b];
        }
    for (size_t a = 0; a < width; a++) w[a] = n == 0 ? 0 : A[a * row + width] / A[a * row + a];
    free(A);
}

static inline long double client_dense_score(const struct dpmf_model *model, const long double *w,
                                             uint64_t item) {
    const float *v = model_item_row(model, item);
    long double sum =
        (long double)model->factors.offset + w[0] + (long double)model->factors.items.biases[item];
    for (size_t c = 0; c < model->factors.k; c++) sum += w[c + 1] * (long double)v[c];
    return sum;
}

#endif
