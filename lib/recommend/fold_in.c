/*
 * A user whom the model was not trained on, fitted to ratings of their own (ridge.h) and then used
 * as any other: for predictions and for the best items. Fed by histories and by people's own
 * tables; user_rate.c changes one rating at a time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "recommend/ridge.h"
#include "recommend/user.h"

/* Up to so many columns the equations are kept from the start: that takes a few milliseconds at
 * most, and then explanations are quick too. Beyond, they wait for a first rating. */
enum { KEPT_WIDTH_MAX = 257 };

static int make_room(struct dpmf_user *user, struct dpmf_error *error) {
    const struct factors *factors = &user->model->factors;
    const size_t n = factors->items.stride;
    user->vector = memory_alloc_zero(factors->k, sizeof(double));
    user->x = memory_alloc_zero((size_t)factors->k + 1, sizeof(double));
    user->choice = memory_alloc_zero(factors->k, sizeof(double));
    if (!user->vector || !user->x || !user->choice) return error_no_memory(error);
    const size_t told = user->model->facts.width;
    if (told > 0) user->told = memory_alloc_zero(told, 2 * sizeof(double));
    if (told > 0 && !user->told) return error_no_memory(error);
    user->row = memory_alloc_aligned(n, sizeof(float), KERNEL_ALIGN);
    if (!user->row) return error_no_memory(error);
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
    user->is_known = false;
    user->bias = w[0];
    for (size_t c = 0; c < k; c++) {
        user->vector[c] = w[c + 1];
        user->row[c] = (float)w[c + 1];
    }
    return 0;
}

void user_choice_find(struct dpmf_user *user) {
    const struct dpmf_model *model = user->model;
    if (!model->state.ranks)
        taste_fit(&model->taste, &model->factors, user->known.at, user->known.n, user->choice);
    if (user->told)
        facts_fit(&model->facts, &model->taste, &model->factors, user->known.at, user->known.n,
                  user->told, user->told + model->facts.width);
}

/* The vector that the model has of a user, or what fits the ratings. */
static int find_vector(struct dpmf_user *user, uint64_t number, struct dpmf_error *error) {
    const struct factor_matrix *users = &user->model->factors.users;
    const float *row = model_user_row(user->model, number);
    if (!row) return fit(user, error);
    user->is_known = true;
    user->bias = (double)users->biases[number];
    for (size_t c = 0; c < user->model->factors.k; c++) {
        user->vector[c] = (double)row[c];
        user->row[c] = row[c];
    }
    return 0;
}

static int make_user(const struct dpmf_model *model, uint64_t number,
                     const struct dpmf_own_rating *ratings, size_t n, struct dpmf_user **out,
                     struct dpmf_error *error) {
    struct dpmf_user *user = memory_alloc_zero(1, sizeof *user);
    *out = NULL;
    if (!user) return error_no_memory(error);
    user->model = model;
    int code = make_room(user, error);
    if (code == 0) code = known_ratings_take(&user->known, model, ratings, n, error);
    if (code == 0) code = find_vector(user, number, error);
    if (code < 0) {
        dpmf_user_free(user);
        return code;
    }
    user_choice_find(user);
    free(user->known.origin);
    user->known.origin = NULL;
    *out = user;
    return 0;
}

int user_fold_in_light(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                       size_t n, struct dpmf_user **user, struct dpmf_error *error) {
    return make_user(model, UINT64_MAX, ratings, n, user, error);
}

int dpmf_user_known(const struct dpmf_model *model, uint64_t number,
                    const struct dpmf_own_rating *ratings, size_t n, struct dpmf_user **user,
                    struct dpmf_error *error) {
    int code =
        arguments_check(error, n > 0 ? "model user ratings" : "model user", model, user, ratings);
    if (user) *user = NULL;
    if (code < 0) return code;
    if (!model_user_row(model, number))
        return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this user");
    return make_user(model, number, ratings, n, user, error);
}

int dpmf_user_fold_in(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                      size_t n, struct dpmf_user **user, struct dpmf_error *error) {
    int code =
        arguments_check(error, n > 0 ? "model user ratings" : "model user", model, user, ratings);
    if (user) *user = NULL;
    if (code < 0) return code;
    code = user_fold_in_light(model, ratings, n, user, error);
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
    memory_free_aligned(user->row);
    free(user->choice);
    free(user->told);
    free(user->x);
    normal_equations_free(&user->equations);
    free(user);
}

/* ---- what they are used for ------------------------------------------------------------------ */

struct scoring user_scoring(const struct dpmf_user *user) {
    return scoring_by_rating(user->model, user->model->factors.offset + user->bias, user->row,
                             user->vector);
}

struct person user_person(const struct dpmf_user *user) {
    const bool is_anyone = user->known.n == 0 && !user->is_known;
    return (struct person){.bias = user->bias,
                           .row = is_anyone ? NULL : user->row,
                           .vector = is_anyone ? NULL : user->vector,
                           .choice = user->known.n > 0 || !user->is_known ? user->choice : NULL,
                           .told = user->known.n > 0 ? user->told : NULL};
}

/* For `only` one item, or, where that is NULL, for all. */
static int take_place(struct scorer *scorer, const struct dpmf_user *user,
                      const struct dpmf_order *asked, const uint64_t *only,
                      struct dpmf_error *error) {
    struct dpmf_order order;
    int code = score_order_find(user->model, asked, &order, error);
    if (code == 0) code = scorer_init(scorer, user->model, error);
    if (code < 0) return code;
    const struct person person = user_person(user);
    if (only) {
        scorer->first = *only < scorer->end ? *only : scorer->end;
        scorer->end = *only < scorer->end ? *only + 1 : scorer->end;
    }
    scorer_set(scorer, &person, &order);
    return 0;
}

int64_t dpmf_user_recommend(const struct dpmf_model *model, const struct dpmf_user *user,
                            const struct dpmf_order *order, const uint8_t *exclude,
                            const uint8_t *include, size_t n, struct dpmf_scored_item *out,
                            struct dpmf_error *error) {
    struct scorer scorer;
    int code = arguments_check(error, n > 0 ? "model user out" : "model user", model, user, out);
    if (code == 0) code = take_place(&scorer, user, order, NULL, error);
    if (code < 0) return code;
    const size_t found = recommend_scoring_top_n(&scorer.scoring, exclude, include, n, out);
    scorer_free(&scorer);
    return (int64_t)found;
}

int dpmf_user_score(const struct dpmf_model *model, const struct dpmf_user *user,
                    const struct dpmf_order *order, uint64_t item, struct dpmf_score *score,
                    struct dpmf_error *error) {
    struct scorer scorer;
    int code = arguments_check(error, "model user score", model, user, score);
    if (code == 0) code = take_place(&scorer, user, order, &item, error);
    if (code < 0) return code;
    *score = scorer_parts(&scorer, item);
    scorer_free(&scorer);
    return 0;
}

size_t dpmf_user_ratings(const struct dpmf_user *user, const struct dpmf_own_rating **ratings) {
    if (ratings) *ratings = user ? user->known.at : NULL;
    return user ? user->known.n : 0;
}

double dpmf_user_bias(const struct dpmf_user *user) { return user ? user->bias : NAN; }

const double *dpmf_user_vector(const struct dpmf_user *user) { return user ? user->vector : NULL; }
