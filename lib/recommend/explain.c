/*
 * Which of a user's ratings speak for an item. The user is fitted anew to those ratings, as ridge.h says,
 * and the prediction is then linear in the ratings:
 *
 *     prediction = offset + b_item + sum_j share_j,    share_j = (x^T (X^T X + c I)^-1 x_j) y_j.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "recommend/ridge.h"

static int share_out(const struct ridge *ridge, const float *item, double *prediction,
                     double *shares, struct dpmf_error *error) {
    double *weights = memory_alloc(ridge->n + ridge->width, sizeof(double));
    if (!weights) return error_no_memory(error);
    ridge_weigh(ridge, item, weights);
    for (size_t j = 0; j < ridge->n; j++) {
        double share = weights[j] * ridge_residual(ridge, j) + 0.0; /* never -0 */
        shares[ridge->known[j]] = share;
        *prediction += share;
    }
    free(weights);
    return 0;
}

int dpmf_model_explain(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                       size_t n, uint64_t item, double *prediction, double *shares,
                       struct dpmf_error *error) {
    struct ridge ridge;
    const float *v = model_item_row(model, item);
    if (!v) return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this item");
    *prediction = dpmf_model_predict(model, UINT64_MAX, item);
    for (size_t j = 0; j < n; j++) shares[j] = 0;
    int code = ridge_init(&ridge, model, ratings, n, error);
    if (code == 0 && ridge.n > 0) code = share_out(&ridge, v, prediction, shares, error);
    ridge_free(&ridge);
    return code;
}
