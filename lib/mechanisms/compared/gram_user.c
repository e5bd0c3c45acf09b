/*
 * A user's part in `gram`. With residuals e_j = y_j - b0 - c_j - a about the public biases and
 * their own, x_j = om_j e_j over those of their items that are in the matrix (at most
 * GRAM_RATINGS_MAX, those with the highest public counts), they contribute
 *
 *     w sqrt(2) x_j x_k  for every pair j < k,    w = sqrt(1 - beta^2) / max(norm of that, floor)
 *     beta min(1, w sum om_j om_k / GRAM_RATINGS_MAX)   the pairs' weight, which the matrix is
 *                                                       scaled by
 *
 * The squares add up to at most (1 - beta^2) + beta^2 = 1. A second kind of release carries the
 * moments of their own vector, divided by their own norm in the same way. Both are pure functions
 * of own ratings and public state; noisy_sum.c does not rely on the bound.
 */
#include <math.h>

#include "mechanisms/compared/gram.h"

/* How many of the user's items have at most this rank. */
static size_t count_to(const struct gram_items *items, const struct private_user *user,
                       uint32_t rank) {
    size_t n = 0;
    for (size_t i = 0; i < user->n; i++) {
        size_t j = user->row[i];
        n += items->position[j] != UINT32_MAX && items->rank[j] <= rank;
    }
    return n;
}

/* The largest rank that leaves the user no more items than they may contribute. Ranks are all
 * different, so there is one. */
static uint32_t find_rank(const struct gram_items *items, const struct private_user *user) {
    uint32_t least = 0, most = UINT32_MAX - 1;
    if (user->n <= GRAM_RATINGS_MAX) return most;
    while (least < most) {
        uint32_t middle = least + (most - least + 1) / 2;
        if (count_to(items, user, middle) <= GRAM_RATINGS_MAX)
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

/* Positions and residuals of what is contributed, in the catalogue's order. @return how many */
static size_t select_ratings(const struct gram_user *self, const struct private_user *user,
                             struct gram_space *space) {
    const uint32_t rank = find_rank(self->items, user);
    struct user_solution solution;
    size_t n = 0;
    user_solve(self->model, user, &solution, space->residuals);
    for (size_t i = 0; i < user->n && n < GRAM_RATINGS_MAX; i++) {
        size_t j = user->row[i];
        if (self->items->position[j] == UINT32_MAX || self->items->rank[j] > rank) continue;
        space->at[n] = self->items->position[j];
        space->x[n] = space->residuals[i] * self->model->weight[j];
        space->weight[n++] = self->model->weight[j];
    }
    return n;
}

void gram_contribute(void *self, int worker, const struct private_user *user,
                     struct contribution *out) {
    const struct gram_user *gram = self;
    struct gram_space *space = &gram->spaces[worker];
    const size_t n = select_ratings(gram, user, space), n_pairs = gram_pairs(n);
    double norm2 = 0, before = 0, weights = 0, pairs_weight = 0;
    for (size_t i = 0; i < n; i++) {
        double square = space->x[i] * space->x[i];
        norm2 += 2 * square * before;
        before += square;
        pairs_weight += weights * space->weight[i];
        weights += space->weight[i];
    }
    const double w =
        sqrt(1 - gram_pairs_weight * gram_pairs_weight) / fmax(sqrt(norm2), gram->floor);
    double *values = out->values;
    uint32_t *pairs = space->pairs;
    for (size_t i = 0; i < n; i++) {
        const double wx = w * symmetric_root2 * space->x[i];
        for (size_t k = i + 1; k < n; k++) {
            *values++ = wx * space->x[k];
            *pairs++ = gram_pair(gram->items->n, space->at[i], space->at[k]);
        }
    }
    *values = gram_pairs_weight * fmin(w * pairs_weight / GRAM_RATINGS_MAX, 1);
    out->n_blocks = n_pairs;
    out->block = space->pairs;
}

void gram_contribute_moments(void *self, int worker, const struct private_user *user,
                             struct contribution *out) {
    const struct gram_calibration *calibration = self;
    const struct public_model *model = calibration->model;
    const size_t n = user_moments_n(model->K);
    double *e = calibration->residuals + (size_t)worker * calibration->longest;
    double M[USER_MOMENTS_MAX], squares = 0, norm2 = 0;
    struct user_solution solution;
    user_solve(model, user, &solution, e);
    for (size_t i = 0; i < user->n; i++) squares += e[i] * e[i];
    user_moments_make(&solution, model->K, M);
    symmetric_pack(M, model->K + 2, out->values);
    out->values[n - 1] = squares / ((double)user->n - solution.freedom);
    for (size_t i = 0; i < n; i++) norm2 += out->values[i] * out->values[i];
    const double w = 1 / fmax(sqrt(norm2), calibration->floor);
    for (size_t i = 0; i < n; i++) out->values[i] *= w;
    out->n_blocks = 0;
    out->block = NULL;
}
