/*
 * A user whom the model was not trained on, fitted to ratings of their own (ridge.h) and then used as any
 * other: for predictions and for the best items. Fed by histories and by people's own tables; user_rate.c
 * changes one rating at a time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "recommend/ridge.h"
#include "recommend/user.h"

/* Up to so many columns the equations are kept from the start: that takes a few milliseconds at most, and then
 * explanations are quick too. Beyond, they wait for a first rating. */
enum { KEPT_WIDTH_MAX = 257 };

static int make_room(struct dpmf_user *user, struct dpmf_error *error) {
    const struct factors *factors = &user->model->factors;
    const size_t n = factors->items.stride;
    void *row = NULL;
    user->vector = memory_alloc_zero(factors->k, sizeof(double));
    user->x = memory_alloc_zero((size_t)factors->k + 1, sizeof(double));
    if (!user->vector || !user->x) return error_no_memory(error);
    if (posix_memalign(&row, KERNEL_ALIGN, n * sizeof(float)) != 0) return error_no_memory(error);
    user->row = row;
    for (size_t c = 0; c < n; c++) user->row[c] = 0;
    return 0;
}

static int fit(struct dpmf_user *user, struct dpmf_error *error) {
    struct ridge ridge;
    double *w = NULL;
    int code = ridge_init(&ridge, user->model, user->known.at, user->known.n, error);
    if (code < 0) goto out;
    w = memory_alloc(ridge.n + ridge.width, sizeof(double));
    if (!w) {
        code = error_no_memory(error);
        goto out;
    }
    ridge_solve(&ridge, w);
    code = user_solution_take(user, w, error);
out:
    free(w);
    ridge_free(&ridge);
    return code;
}

int user_solution_take(struct dpmf_user *user, const double *w, struct dpmf_error *error) {
    const size_t k = user->model->factors.k;
    for (size_t c = 0; c <= k; c++)
        if (!isfinite(w[c])) return ridge_refuse(error);
    user->bias = w[0];
    for (size_t c = 0; c < k; c++) {
        user->vector[c] = w[c + 1];
        user->row[c] = (float)w[c + 1];
    }
    return 0;
}

int user_fold_in_light(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                       size_t n, struct dpmf_user **out, struct dpmf_error *error) {
    struct dpmf_user *user = memory_alloc_zero(1, sizeof *user);
    *out = NULL;
    if (!user) return error_no_memory(error);
    user->model = model;
    int code = make_room(user, error);
    if (code == 0) code = known_ratings_take(&user->known, model, ratings, n, error);
    if (code == 0) code = fit(user, error);
    if (code < 0) {
        dpmf_user_free(user);
        return code;
    }
    free(user->known.origin);
    user->known.origin = NULL;
    *out = user;
    return 0;
}

int dpmf_user_fold_in(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                      size_t n, struct dpmf_user **user, struct dpmf_error *error) {
    int code = user_fold_in_light(model, ratings, n, user, error);
    if (code == 0 && model->factors.k < KEPT_WIDTH_MAX) code = user_equations_keep(*user, error);
    if (code < 0) {
        dpmf_user_free(*user);
        *user = NULL;
    }
    return code;
}

void dpmf_user_free(struct dpmf_user *user) {
    if (!user) return;
    known_ratings_free(&user->known);
    free(user->vector);
    free(user->row);
    free(user->x);
    normal_equations_free(&user->equations);
    free(user);
}

/* ---- what they are used for ------------------------------------------------------------------- */

struct scoring user_scoring(const struct dpmf_user *user) {
    return (struct scoring){.model = user->model,
                            .base = user->model->factors.offset + user->bias,
                            .row = user->row,
                            .vector = user->vector};
}

int64_t dpmf_user_recommend(const struct dpmf_model *model, const struct dpmf_user *user,
                            const uint8_t *exclude, const uint8_t *include, size_t n,
                            struct dpmf_scored_item *out, struct dpmf_error *error) {
    const struct scoring scoring = user_scoring(user);
    (void)model;
    (void)error;
    return (int64_t)recommend_scoring_top_n(&scoring, exclude, include, n, out);
}

size_t dpmf_user_ratings(const struct dpmf_user *user, const struct dpmf_own_rating **ratings) {
    *ratings = user->known.at;
    return user->known.n;
}

double dpmf_user_bias(const struct dpmf_user *user) { return user->bias; }

const double *dpmf_user_vector(const struct dpmf_user *user) { return user->vector; }
