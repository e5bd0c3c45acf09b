/*
 * A user whom the model was not trained on, fitted to ratings of their own (ridge.h) and then used as any
 * other: for predictions and for the best items. Fed by histories and by people's own tables.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "recommend/ridge.h"

struct dpmf_user {
    float *row; /* laid out as the model's, for its kernels */
    double bias;
};

static int make_row(const struct dpmf_model *model, struct dpmf_user *user,
                    struct dpmf_error *error) {
    size_t n = model->factors.items.stride;
    void *row = NULL;
    if (posix_memalign(&row, KERNEL_ALIGN, n * sizeof(float)) != 0) return error_no_memory(error);
    user->row = row;
    for (size_t c = 0; c < n; c++) user->row[c] = 0;
    return 0;
}

static int fit(const struct dpmf_model *model, const struct dpmf_own_rating *ratings, size_t n,
               struct dpmf_user *user, struct dpmf_error *error) {
    struct ridge ridge;
    double *w = NULL;
    int code = ridge_init(&ridge, model, ratings, n, error);
    if (code < 0) goto out;
    w = memory_alloc(ridge.n + ridge.width, sizeof(double));
    if (!w) {
        code = error_no_memory(error);
        goto out;
    }
    ridge_solve(&ridge, w);
    user->bias = w[0];
    for (size_t c = 1; c < ridge.width; c++) user->row[c - 1] = (float)w[c];
out:
    free(w);
    ridge_free(&ridge);
    return code;
}

int dpmf_user_fold_in(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                      size_t n, struct dpmf_user **out, struct dpmf_error *error) {
    struct dpmf_user *user = memory_alloc_zero(1, sizeof *user);
    *out = NULL;
    if (!user) return error_no_memory(error);
    int code = make_row(model, user, error);
    if (code == 0) code = fit(model, ratings, n, user, error);
    if (code < 0) {
        dpmf_user_free(user);
        return code;
    }
    *out = user;
    return 0;
}

void dpmf_user_free(struct dpmf_user *user) {
    if (!user) return;
    free(user->row);
    free(user);
}

double dpmf_user_predict(const struct dpmf_model *model, const struct dpmf_user *user,
                         uint64_t item) {
    const float *v = model_item_row(model, item);
    double prediction = model->factors.offset + user->bias;
    if (!v) return prediction;
    return prediction + (double)model->factors.items.biases[item] +
           (double)model->kernels->dot(user->row, v, model->padded_k);
}

int64_t dpmf_user_recommend(const struct dpmf_model *model, const struct dpmf_user *user,
                            const uint8_t *exclude, const uint8_t *include, size_t n,
                            struct dpmf_scored_item *out, struct dpmf_error *error) {
    (void)error;
    double base = model->factors.offset + user->bias;
    return (int64_t)recommend_row_top_n(model, user->row, base, exclude, include, n, out);
}
