/*
 * A user who rates on: each rating that comes, changes or goes is a row more or less of the normal
 * equations that are kept (normal_equations.h), and the bias and the vector are solved again from
 * them. Of a release that is O(k^2). A trained checkpoint's penalty grows with the number of
 * ratings, so there the factor is computed again, in O(k^3), but no rating is read twice.
 */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "recommend/ridge.h"
#include "recommend/user.h"

/* c and s. Of no ratings every penalty gives the same, nothing; 0, a checkpoint's, would be no
 * system. */
static int penalties(const struct dpmf_user *user, size_t n, double *penalty, double *bias_column,
                     struct dpmf_error *error) {
    return ridge_penalties(user->model, n > 0 ? n : 1, penalty, bias_column, error);
}

/* The sums of no ratings. */
static void clear(struct dpmf_user *user) {
    struct normal_equations *equations = &user->equations;
    normal_equations_clear(equations);
    for (size_t a = 0, i = 0; user->model->gramian && a < equations->width; a++)
        for (size_t b = 0; b <= a; b++) equations->sum[i++] = ridge_prior(user->model, a, b);
}

/* x of a rating, as it stands in the sums: times the root of its weight. @return that root, which
 * its y is to be multiplied by as well */
static double weighed_row(struct dpmf_user *user, const struct dpmf_own_rating *own,
                          double bias_column) {
    const double root = sqrt(ridge_weight(user->model, own));
    ridge_row(user->model, own->item, bias_column, user->x);
    for (size_t c = 0; root != 1 && c < user->equations.width; c++) user->x[c] *= root;
    return root;
}

/* Adds a rating to the sums (sign 1), or takes it away (sign -1). */
static void add(struct dpmf_user *user, const struct dpmf_own_rating *own, double bias_column,
                int sign) {
    const double root = weighed_row(user, own, bias_column);
    normal_equations_add(&user->equations, user->x, root * ridge_residual(user->model, own), sign);
}

/* Sums and factor of all ratings. */
static int build(struct dpmf_user *user, struct dpmf_error *error) {
    double penalty, bias_column;
    int code = penalties(user, user->known.n, &penalty, &bias_column, error);
    if (code < 0) return code;
    clear(user);
    for (size_t j = 0; j < user->known.n; j++) add(user, &user->known.at[j], bias_column, 1);
    return normal_equations_factor(&user->equations, penalty) < 0 ? ridge_refuse(error) : 0;
}

int user_equations_keep(struct dpmf_user *user, struct dpmf_error *error) {
    if (user->equations.width > 0) return 0;
    int code = normal_equations_init(&user->equations, (size_t)user->model->factors.k + 1, error);
    if (code == 0) code = build(user, error);
    if (code < 0) normal_equations_free(&user->equations);
    return code;
}

/* ---- one rating ------------------------------------------------------------------------------ */

/* What a rating does to the user: it comes, goes (its value is then NaN, or no event to a model
 * that ranks), or has another value. */
struct change {
    struct dpmf_own_rating now;
    size_t at; /* its place; past the last for a new one */
    bool comes, goes;
};

/* Another value of a rating that is there. */
static int revalue(struct dpmf_user *user, const struct dpmf_own_rating *before,
                   const struct dpmf_own_rating *now, double penalty, double bias_column) {
    const struct dpmf_model *model = user->model;
    if (ridge_weight(model, before) != ridge_weight(model, now)) {
        add(user, before, bias_column, -1);
        add(user, now, bias_column, 1);
        return normal_equations_factor(&user->equations, penalty);
    }
    const double root = weighed_row(user, now, bias_column);
    normal_equations_revalue(&user->equations, user->x, root * ridge_residual(model, before),
                             root * ridge_residual(model, now));
    return 0;
}

/* The sums, and what the factor must follow. */
static int apply(struct dpmf_user *user, const struct change *change, double penalty,
                 double bias_column) {
    struct normal_equations *equations = &user->equations;
    const struct dpmf_own_rating *before = change->comes ? NULL : &user->known.at[change->at];
    if (before && !change->goes) return revalue(user, before, &change->now, penalty, bias_column);
    if (change->goes && user->known.n == 1) {
        clear(user); /* nothing is exactly nothing */
        return normal_equations_factor(equations, penalty);
    }
    const int sign = change->comes ? 1 : -1;
    add(user, change->comes ? &change->now : before, bias_column, sign);
    return penalty == equations->penalty ? normal_equations_follow(equations, user->x, sign)
                                         : normal_equations_factor(equations, penalty);
}

static int solve(struct dpmf_user *user, const struct change *change, struct dpmf_error *error) {
    double penalty, bias_column;
    size_t n = user->known.n + (size_t)change->comes - (size_t)change->goes;
    int code = penalties(user, n, &penalty, &bias_column, error);
    if (code < 0) return code;
    if (apply(user, change, penalty, bias_column) < 0) return ridge_refuse(error);
    if (normal_equations_solve(&user->equations, user->x) < 0) return ridge_refuse(error);
    user->x[0] *= bias_column;
    return user_solution_take(user, user->x, error);
}

static void note(struct known_ratings *own, const struct change *change) {
    if (change->goes) {
        own->n--;
        memmove(own->at + change->at, own->at + change->at + 1,
                (own->n - change->at) * sizeof own->at[0]);
        return;
    }
    own->at[change->at] = change->now;
    own->n += change->comes;
}

int dpmf_user_rate(const struct dpmf_model *model, struct dpmf_user *user, uint64_t item,
                   double rating, struct dpmf_error *error) {
    int code = arguments_check(error, "model user", model, user);
    if (code < 0) return code;
    if (!model_item_row(user->model, item))
        return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this item");
    if (!isnan(rating)) code = known_ratings_check(user->model, rating, error);
    if (code < 0) return code;
    const bool counts = !isnan(rating) && model_is_event(user->model, rating);
    struct change change = {.now = {item, rating}, .goes = !counts};
    change.at = known_ratings_find(&user->known, item);
    change.comes = change.at == user->known.n;
    if (change.comes && change.goes) return 0;

    code = known_ratings_reserve(&user->known, error);
    if (code == 0) code = user_equations_keep(user, error);
    if (code < 0) return code;
    code = solve(user, &change, error);
    if (code < 0)
        (void)build(user, NULL); /* as before, from the ratings, which are as before */
    else
        note(&user->known, &change);
    if (code == 0) user_choice_find(user);
    return code;
}
