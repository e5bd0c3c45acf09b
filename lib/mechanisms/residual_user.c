/*
 * A user's part in a round. With x = [u, a] and its posterior covariance from user_solve.c,
 * residuals e_j, l the part of u on learned columns, b_j the weight of an item's bias and D the
 * number of learned columns + 1:
 *
 *     Q = gamma / sqrt(D) sqrt(m) (sym([u, a, 1] [u, a, 1]^T), sym(Cov), mean squared residual)
 *     w = 1 / max(|(Q, om_j e_j [l, b_j] for all j)|, floor sqrt(D))
 *
 * contributes w om_j e_j [l, b_j] to each item rated, and w Q. The norm is at most 1 by
 * construction; noisy_sum.c does not rely on that.
 */
#include "mechanisms/residual_user.h"

#include <math.h>

#include "mechanisms/symmetric_pack.h"

/* Writes h times the second moments of g = [u, a, 1]; `mean_square` is corrected for what the fit
 * took up. */
static void write_moments(const double *g, size_t K, const struct user_solution *solution,
                          double mean_square, double h, double *out) {
    const size_t n = K + 2;
    double *moment = out;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < a; b++) moment[b] = g[a] * g[b] * symmetric_root2 * h;
        moment[a] = g[a] * g[a] * h;
        moment += a + 1;
    }
    symmetric_pack(solution->covariance, n - 1, moment);
    moment[symmetric_packed_n(n - 1)] = mean_square;
    for (size_t i = 0; i <= symmetric_packed_n(n - 1); i++) moment[i] *= h;
}

/* In the first round the learned columns are no model. So the residual is that without them, and of
 * the user's coordinates on them the direction alone counts, at the length that the prior gives. */
static void adapt_to_first(const struct residual_round *round, const struct private_user *user,
                           double *g, double *e) {
    const struct public_model *model = round->model;
    const size_t n_learned = round->rule->factors;
    double length2 = 1e-9;
    for (size_t i = 0; i < user->n; i++) {
        const double *row = model->rows + (size_t)user->row[i] * model->stride;
        for (size_t a = 0; a < n_learned; a++) e[i] += g[a] * row[a];
    }
    for (size_t a = 0; a < n_learned; a++) length2 += g[a] * g[a];
    for (size_t a = 0; a < n_learned; a++) g[a] *= sqrt((double)n_learned / length2);
}

void residual_user_contribute(void *self, int worker, const struct private_user *user,
                              struct contribution *out) {
    const struct residual_round *round = self;
    const struct public_model *model = round->model;
    const struct residual_rule *rule = round->rule;
    const size_t K = model->K, n_learned = rule->factors, D = n_learned + 1;
    const size_t n_moments = residual_moments_n(K);
    double *e = round->residuals + (size_t)worker * round->longest;
    struct user_solution solution;
    double g[USER_SOLVE_WIDTH + 1];

    user_solve(model, user, &solution, e);
    const double mean_square = solution.squares / ((double)user->n - solution.freedom);
    for (size_t a = 0; a <= K; a++) g[a] = solution.x[a];
    g[K + 1] = 1;
    if (round->is_first) adapt_to_first(round, user, g, e);

    double *moments = out->values + user->n * D, length2 = 0, norm2 = 0;
    const double h = rule->moment_weight / sqrt((double)D) * sqrt((double)user->n);
    write_moments(g, K, &solution, mean_square, h, moments);
    for (size_t i = 0; i < n_moments; i++) norm2 += moments[i] * moments[i];
    for (size_t a = 0; a < n_learned; a++) length2 += g[a] * g[a];
    for (size_t i = 0; i < user->n; i++) {
        const double bias = model->bias_weight[user->row[i]];
        e[i] *= model->weight[user->row[i]];
        norm2 += e[i] * e[i] * (length2 + bias * bias);
    }
    const double w = 1 / fmax(sqrt(norm2), rule->round_floor * sqrt((double)D));
    for (size_t i = 0; i < user->n; i++) e[i] *= w;
    model->exact->outer(e, user->n, g, D, out->values);
    for (size_t i = 0; i < user->n; i++)
        out->values[i * D + n_learned] = e[i] * model->bias_weight[user->row[i]];
    for (size_t i = 0; i < n_moments; i++) moments[i] *= w;
    out->n_blocks = user->n;
    out->block = user->row;
}
