/*
 * A user's part in a round. With x = [u, a] and its posterior covariance from user_solve.c and residuals e_j:
 *
 *     Q = gamma / sqrt(D) sqrt(m) (sym([u, a, 1] [u, a, 1]^T), sym(Cov), mean squared residual)
 *     w = 1 / max(|(Q, om_j e_j [u, 1] for all j)|, floor sqrt(D))
 *
 * contributes w om_j e_j [u, 1] to each item rated, and w Q. The norm is at most 1 by construction; noisy_sum.c does
 * not rely on that.
 */
#include "privacy/residual_user.h"

#include <math.h>

/* A symmetric matrix as a vector of the same Euclidean norm. @return where it ends */
static double *pack_symmetric(const double *A, size_t n, double *out) {
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < a; b++) *out++ = A[a * n + b] * 1.4142135623730951;
        *out++ = A[a * n + a];
    }
    return out;
}

size_t residual_moments_n(size_t K) { return (K + 2) * (K + 3) / 2 + (K + 1) * (K + 2) / 2 + 1; }

/* Of g = [u, a, 1]; `mean_square` is corrected for what the fit took up. */
static void write_moments(const double *g, size_t D, const struct user_solution *solution,
                          double mean_square, double *out) {
    double products[(USER_SOLVE_WIDTH + 1) * (USER_SOLVE_WIDTH + 1)];
    for (size_t a = 0; a <= D; a++)
        for (size_t b = 0; b <= D; b++) products[a * (D + 1) + b] = g[a] * g[b];
    out = pack_symmetric(products, D + 1, out);
    out = pack_symmetric(solution->covariance, D, out);
    *out = mean_square;
}

/* The direction alone counts in the first round, at the length that a vector of the prior has; and the residual is
 * that without vectors. */
static void adapt_to_first(const struct residual_round *round, const struct private_user *user,
                           const struct user_solution *solution, double *g, double *e) {
    const struct public_model *model = round->model;
    const size_t K = model->K;
    double length2 = 1e-9;
    for (size_t a = 0; a < K; a++) length2 += g[a] * g[a];
    for (size_t a = 0; a < K; a++) g[a] *= sqrt((double)K / length2);
    for (size_t i = 0; i < user->n; i++)
        e[i] = (double)user->y[i] - model->b0 - model->c[user->row[i]] - solution->x[K];
}

static double mean_square_of(const double *e, size_t n, double freedom) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += e[i] * e[i];
    return sum / ((double)n - freedom);
}

void residual_user_contribute(void *self, int worker, const struct private_user *user,
                              struct contribution *out) {
    const struct residual_round *round = self;
    const struct public_model *model = round->model;
    const struct residual_rule *rule = round->rule;
    const size_t K = model->K, D = K + 1, n_moments = residual_moments_n(K);
    double *e = round->residuals + (size_t)worker * round->longest;
    struct user_solution solution;
    double g[USER_SOLVE_WIDTH + 1];

    user_solve(model, user, &solution);
    user_solve_residuals(model, user, &solution, e);
    double mean_square = mean_square_of(e, user->n, solution.freedom);
    for (size_t a = 0; a < D; a++) g[a] = solution.x[a];
    g[D] = 1;
    if (round->is_first) adapt_to_first(round, user, &solution, g, e);

    double *moments = out->values + user->n * D, length2 = 1, norm2 = 0;
    const double h = rule->moment_weight / sqrt((double)D) * sqrt((double)user->n);
    write_moments(g, D, &solution, mean_square, moments);
    for (size_t i = 0; i < n_moments; i++) {
        moments[i] *= h;
        norm2 += moments[i] * moments[i];
    }
    for (size_t a = 0; a < K; a++) length2 += g[a] * g[a];
    for (size_t i = 0; i < user->n; i++) {
        e[i] *= model->weight[user->row[i]];
        norm2 += e[i] * e[i] * length2;
    }
    const double w = 1 / fmax(sqrt(norm2), rule->round_floor * sqrt((double)D));
    double *values = out->values;
    for (size_t i = 0; i < user->n; i++, values += D) {
        const double z = w * e[i];
        for (size_t a = 0; a < K; a++) values[a] = z * g[a];
        values[K] = z;
    }
    for (size_t i = 0; i < n_moments; i++) moments[i] *= w;
    out->n_blocks = user->n;
    out->block = user->row;
}
