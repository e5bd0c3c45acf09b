/*
 * Why an item is in someone's list: the parts of its score, and which ratings the part of taste is
 * due to. That part is linear in what someone rated (score.h): with x = v_item - m and A the matrix
 * of ridge.h,
 *
 *     dial (p + g u).x  =  sum_j share_j,
 *     share_j = dial (w_j (v_j - m)^T (W C + penalty I)^-1 x  +  g y_j (0, x)^T A^-1 x_j),
 *
 * and what years and kinds of items add is shared in the same way (facts.h).
 * Of a model that ranks, and of lists by rating, the first term is not there. In a model that ranks
 * events explain the whole product u.v, in which is what the average user has of the item, too:
 * that is taken from each in proportion to its weight, so that an event speaks for an item only as
 * far as it does so beyond everyone's, and the shares add up to taste. Ratings at hand are fitted
 * for the purpose; a user who rates on has the factor of A already.
 */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "recommend/ridge.h"
#include "recommend/user.h"

static int refuse_item(struct dpmf_error *error) {
    return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this item");
}

/* ---- the vector's part ----------------------------------------------------------------------- */

/* weights[j] := x^T A^-1 x_j, with the factor that is kept: O(k^2) for the direction, O(k) for each
 * rating. */
static int weigh_kept(const struct dpmf_user *user, const double *x, double *weights,
                      struct dpmf_error *error) {
    const struct dpmf_model *model = user->model;
    const size_t w = user->equations.width;
    double penalty, bias_column, *direction = memory_alloc(w, 2 * sizeof(double));
    if (!direction) return error_no_memory(error);
    int code = ridge_penalties(model, user->known.n, &penalty, &bias_column, error);
    if (code == 0) {
        normal_equations_refine(&user->equations, x, direction, direction + w);
        for (size_t j = 0; j < user->known.n; j++)
            weights[j] = direction[0] * bias_column +
                         model_dot_double(direction + 1,
                                          model_item_row(model, user->known.at[j].item), w - 1);
    }
    free(direction);
    return code;
}

/* The same from the ratings; `weights` has room for k + 1 more. */
static int weigh_fresh(const struct dpmf_user *user, const double *x, double *weights,
                       struct dpmf_error *error) {
    struct ridge ridge;
    int code = ridge_init(&ridge, user->model, user->known.at, user->known.n, error);
    if (code == 0) ridge_weigh(&ridge, x, weights);
    ridge_free(&ridge);
    return code;
}

static int share_vector(const struct dpmf_user *user, double weight, const double *x,
                        double *weights, double *shares, struct dpmf_error *error) {
    int code = user->equations.width > 0 ? weigh_kept(user, x, weights, error)
                                         : weigh_fresh(user, x, weights, error);
    for (size_t j = 0; code == 0 && j < user->known.n; j++)
        shares[j] += weight * weights[j] * ridge_weight(user->model, &user->known.at[j]) *
                     ridge_residual(user->model, &user->known.at[j]);
    return code;
}

/* Takes what the average user has of an item from the shares of the product. */
static void take_crowd(const struct dpmf_user *user, uint64_t item, double *shares) {
    const struct dpmf_model *model = user->model;
    const size_t n = user->known.n;
    double total = 0;
    for (size_t j = 0; j < n; j++) total += ridge_weight(model, &user->known.at[j]);
    const double each = total > 0 ? (double)model->crowd[item] / total : 0;
    for (size_t j = 0; j < n; j++) shares[j] -= each * ridge_weight(model, &user->known.at[j]);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* `space` has room for k + 1 numbers, then for n + k + 1, or twice the columns of facts. */
static int share_taste(const struct dpmf_user *user, const struct dpmf_order *order, uint64_t item,
                       double *space, double *shares, struct dpmf_error *error) {
    const struct dpmf_model *model = user->model;
    const size_t k = model->factors.k, n = user->known.n;
    const bool has_choice = !order->by_rating && !model->state.ranks;
    const float *v = model_item_row(model, item);
    double *x = space, *more = space + k + 1;
    const double dial = order->by_rating ? 1 : 2 * order->taste * model->taste_weight;
    x[0] = 0;
    for (size_t c = 0; c < k; c++)
        x[c + 1] = (double)v[c] - (model->taste.mean ? model->taste.mean[c] : 0);
    for (size_t j = 0; j < n; j++) shares[j] = 0;
    if (has_choice) {
        for (size_t c = 0; c < k; c++) more[c] = x[c + 1];
        taste_share(&model->taste, &model->factors, user->known.at, n, more, shares);
        if (user->told)
            facts_share(&model->facts, &model->taste, &model->factors, user->known.at, n, item,
                        more, more + model->facts.width, shares);
    }
    int code = user->is_known ? 0
                              : share_vector(user, has_choice ? score_quality(model) : 1, x, more,
                                             shares, error);
    if (code == 0 && model->state.ranks && !user->is_known) take_crowd(user, item, shares);
    for (size_t j = 0; j < n; j++) shares[j] = dial * shares[j] + 0.0; /* never -0 */
    return code;
}

int dpmf_user_explain(const struct dpmf_model *model, const struct dpmf_user *user,
                      const struct dpmf_order *asked, uint64_t item, struct dpmf_score *score,
                      double *shares, struct dpmf_error *error) {
    struct dpmf_order order;
    double *space = NULL;
    int code = arguments_check(error, "model user score", model, user, score);
    if (code == 0 && user->known.n > 0) code = arguments_check(error, "shares", shares);
    if (code < 0) return code;
    if (!model_item_row(user->model, item)) return refuse_item(error);
    code = score_order_find(user->model, asked, &order, error);
    if (code == 0) code = dpmf_user_score(user->model, user, &order, item, score, error);
    if (code < 0 || user->known.n == 0) return code;
    const size_t columns = (size_t)user->model->factors.k + 1 + user->model->facts.width;
    space = memory_alloc(user->known.n + 2 * columns, sizeof(double));
    code = space ? share_taste(user, &order, item, space, shares, error) : error_no_memory(error);
    free(space);
    return code;
}

int dpmf_model_explain(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                       size_t n, const struct dpmf_order *order, uint64_t item,
                       struct dpmf_score *score, double *shares, struct dpmf_error *error) {
    struct dpmf_user *user = NULL;
    struct known_ratings own = {0};
    double *own_shares = NULL;
    int code = arguments_check(error, n > 0 ? "model score ratings shares" : "model score", model,
                               score, ratings, shares);
    if (code < 0) return code;
    if (!model_item_row(model, item)) return refuse_item(error);
    code = known_ratings_take(&own, model, ratings, n, error);
    if (code == 0) code = user_fold_in_light(model, own.at, own.n, &user, error);
    if (code < 0) goto out;
    own_shares = memory_alloc(own.n, sizeof(double));
    code = own_shares ? dpmf_user_explain(model, user, order, item, score, own_shares, error)
                      : error_no_memory(error);
    if (code < 0) goto out;
    for (size_t j = 0; j < n; j++) shares[j] = 0;
    for (size_t j = 0; j < own.n; j++) shares[own.origin[j]] = own_shares[j];
out:
    known_ratings_free(&own);
    dpmf_user_free(user);
    free(own_shares);
    return code;
}
