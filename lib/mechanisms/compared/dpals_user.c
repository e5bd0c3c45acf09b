/*
 * A user's part in a round of `dpals`. With x = [u, a] and its posterior covariance Cov from
 * user_solve.c, residuals e_j and S = u u^T + Cov_u:
 *
 *     per item rated:  rho S as a triangle,   g_j = e_j u - Cov v_j - cov(u, a),   e_j
 *     Q = gamma / sqrt(D) sqrt(m) (moments of [u, a, 1] with Cov, mean squared residual)
 *     w = 1 / max(norm of all these, floor)
 *
 * contributes w times all of it: norm at most 1 by construction, from own ratings and the public
 * model alone. noisy_sum.c does not rely on that.
 */
#include <math.h>
#include <string.h>

#include "mechanisms/compared/dpals.h"

size_t dpals_width(size_t K) { return symmetric_packed_n(K) + K + 1; }
size_t dpals_tail(size_t K) { return user_moments_n(K); }

/* The start's vectors are no model: of u only the direction counts, there is no posterior, and the
 * residual is that without vectors. */
static void adapt_to_first(const struct public_model *model, const struct private_user *user,
                           struct user_solution *solution, double *e) {
    const size_t K = model->K, D = K + 1;
    double *u = solution->x, length2 = 1e-9;
    for (size_t a = 0; a < K; a++) length2 += u[a] * u[a];
    for (size_t a = 0; a < K; a++) u[a] *= sqrt((double)K / length2);
    memset(solution->covariance, 0, D * D * sizeof *solution->covariance);
    for (size_t i = 0; i < user->n; i++)
        e[i] = (double)user->y[i] - model->b0 - model->c[user->row[i]] - u[K];
}

static double sum_squares(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

/* rho S, packed. */
static void make_curvature(const double *M, size_t K, double rho, double *packed) {
    double S[RULE_FACTORS_MAX * RULE_FACTORS_MAX];
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b < K; b++) S[a * K + b] = rho * M[a * (K + 2) + b];
    symmetric_pack(S, K, packed);
}

static void write_gradient(const struct public_model *model, const struct user_solution *solution,
                           uint32_t row, double e, double *out) {
    const size_t K = model->K, D = K + 1;
    const double *v = model->rows + (size_t)row * model->stride;
    for (size_t a = 0; a < K; a++) {
        const double *covariance = solution->covariance + a * D;
        double sum = covariance[K];
        for (size_t b = 0; b < K; b++) sum += covariance[b] * v[b];
        out[a] = e * solution->x[a] - sum;
    }
    out[K] = e;
}

void dpals_contribute(void *self, int worker, const struct private_user *user,
                      struct contribution *out) {
    const struct dpals_round *round = self;
    const struct public_model *model = round->model;
    const size_t K = model->K, D = K + 1, width = dpals_width(K), tail = dpals_tail(K);
    const size_t triangle = symmetric_packed_n(K), n = user->n * width + tail;
    double *e = round->residuals + (size_t)worker * round->longest;
    double M[USER_MOMENTS_MAX];
    double curvature[RULE_FACTORS_MAX * (RULE_FACTORS_MAX + 1) / 2];
    struct user_solution solution;
    user_solve(model, user, &solution, e);
    const double mean_square = solution.squares / ((double)user->n - solution.freedom);
    if (round->is_first) adapt_to_first(model, user, &solution, e);
    user_moments_make(&solution, K, M);
    make_curvature(M, K, round->curvature_weight, curvature);

    double *values = out->values, *moments = out->values + user->n * width;
    for (size_t i = 0; i < user->n; i++, values += width) {
        memcpy(values, curvature, triangle * sizeof *values);
        write_gradient(model, &solution, user->row[i], e[i], values + triangle);
    }
    const double h = round->moment_weight / sqrt((double)D) * sqrt((double)user->n);
    symmetric_pack(M, D + 1, moments);
    moments[tail - 1] = mean_square;
    for (size_t i = 0; i < tail; i++) moments[i] *= h;
    const double w = 1 / fmax(sqrt(sum_squares(out->values, n)), round->floor);
    for (size_t i = 0; i < n; i++) out->values[i] *= w;
    out->n_blocks = user->n;
    out->block = user->row;
}
