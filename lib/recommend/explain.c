/*
 * Which of a user's ratings speak for an item. The user is fitted to those ratings, as ridge.h says,
 * and the prediction is then linear in the ratings:
 *
 *     prediction = offset + b_item + sum_j share_j,    share_j = (x^T (X^T X + c I)^-1 x_j) y_j.
 *
 * Of ratings at hand the system is made for the purpose; a user who rates on has it already.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "recommend/ridge.h"
#include "recommend/user.h"

static int refuse_item(struct dpmf_error *error) {
    return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this item");
}

/* Weights to shares, in their place; the prediction is theirs and what is known without them. */
static void share_out(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                      size_t n, uint64_t item, double *shares, double *prediction) {
    *prediction = dpmf_model_predict(model, UINT64_MAX, item);
    for (size_t j = 0; j < n; j++) {
        shares[j] = shares[j] * ridge_residual(model, &ratings[j]) + 0.0; /* never -0 */
        *prediction += shares[j];
    }
}

/* ---- ratings at hand -------------------------------------------------------------------------- */

/* `shares` has room for n + k + 1. */
static int explain(const struct dpmf_model *model, const struct dpmf_own_rating *ratings, size_t n,
                   uint64_t item, double *prediction, double *shares, struct dpmf_error *error) {
    struct ridge ridge;
    int code = ridge_init(&ridge, model, ratings, n, error);
    if (code == 0) {
        if (n > 0) ridge_weigh(&ridge, item, shares);
        share_out(model, ratings, n, item, shares, prediction);
    }
    ridge_free(&ridge);
    return code;
}

int dpmf_model_explain(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                       size_t n, uint64_t item, double *prediction, double *shares,
                       struct dpmf_error *error) {
    struct known_ratings own = {0};
    double *own_shares = NULL;
    if (!model_item_row(model, item)) return refuse_item(error);
    int code = known_ratings_take(&own, model, ratings, n, error);
    if (code < 0) return code;
    own_shares = memory_alloc(own.n + model->factors.k + 1, sizeof(double));
    code = own_shares ? explain(model, own.at, own.n, item, prediction, own_shares, error)
                      : error_no_memory(error);
    if (code < 0) goto out;
    for (size_t j = 0; j < n; j++) shares[j] = 0;
    for (size_t j = 0; j < own.n; j++) shares[own.origin[j]] = own_shares[j];
out:
    known_ratings_free(&own);
    free(own_shares);
    return code;
}

/* ---- a user ----------------------------------------------------------------------------------- */

/* With the factor that is kept: O(k^2) for the direction, O(k) for each rating. */
static int explain_kept(const struct dpmf_user *user, uint64_t item, double *prediction,
                        double *shares, struct dpmf_error *error) {
    const struct dpmf_model *model = user->model;
    const size_t w = user->equations.width;
    double penalty, bias_column, *space = memory_alloc(w, 3 * sizeof(double));
    if (!space) return error_no_memory(error);
    double *x = space, *direction = space + w;
    int code = ridge_penalties(model, user->known.n, &penalty, &bias_column, error);
    if (code < 0) goto out;
    ridge_row(model, item, bias_column, x);
    normal_equations_refine(&user->equations, x, direction, space + 2 * w);
    for (size_t j = 0; j < user->known.n; j++)
        shares[j] =
            direction[0] * bias_column +
            model_dot_double(direction + 1, model_item_row(model, user->known.at[j].item), w - 1);
    share_out(model, user->known.at, user->known.n, item, shares, prediction);
out:
    free(space);
    return code;
}

int dpmf_user_explain(const struct dpmf_model *model, const struct dpmf_user *user, uint64_t item,
                      double *prediction, double *shares, struct dpmf_error *error) {
    (void)model;
    if (!model_item_row(user->model, item)) return refuse_item(error);
    if (user->equations.width > 0) return explain_kept(user, item, prediction, shares, error);
    return dpmf_model_explain(user->model, user->known.at, user->known.n, item, prediction, shares,
                              error);
}
