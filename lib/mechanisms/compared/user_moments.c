/*
 * Moments of users' vectors, at home and, summed and noisy, at the curator's. Fed by user_solve.c
 * and by releases; feeds `dpals` and `gram`.
 */
#include "mechanisms/compared/user_moments.h"

#include <math.h>
#include <string.h>

#include "numerics/symmetric_eigen.h"

void user_moments_make(const struct user_solution *solution, size_t K, double *M) {
    const size_t D = K + 1, E = K + 2;
    double g[USER_SOLVE_WIDTH + 1];
    memcpy(g, solution->x, D * sizeof *g);
    g[D] = 1;
    for (size_t a = 0; a < E; a++)
        for (size_t b = 0; b < E; b++) {
            double covariance = a < D && b < D ? solution->covariance[a * D + b] : 0;
            M[a * E + b] = g[a] * g[b] + covariance;
        }
}

static double clamp(double x, double least, double most) { return fmin(fmax(x, least), most); }

void user_moments_read(const double *sums, double sigma, struct public_model *model,
                       struct moments_read *out) {
    const size_t K = model->K, D = K + 1, E = K + 2;
    double M[USER_MOMENTS_MAX] = {0};
    symmetric_unpack(sums, E, M);
    const double p = fmax(M[D * E + D], 3 * sigma);
    memset(out, 0, sizeof *out);
    out->weights = p;
    for (size_t a = 0; a < D; a++) out->mean[a] = M[a * E + D] / p;
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b < K; b++) {
            out->second[a * K + b] = M[a * E + b] / p;
            out->covariance[a * K + b] = out->second[a * K + b] - out->mean[a] * out->mean[b];
        }
    model->s2 = clamp(sums[user_moments_n(K) - 1] / p, 0.05, 2);
    model->var_a = clamp(M[K * E + K] / p - out->mean[K] * out->mean[K], 0.03, 1);
    model->b0 = clamp(model->b0 + out->mean[K], -2, 2);
}

void user_moments_whiten(const double *C, size_t K, double over, double *B) {
    double X[RULE_FACTORS_MAX * RULE_FACTORS_MAX], values[RULE_FACTORS_MAX];
    memcpy(X, C, K * K * sizeof *X);
    symmetric_eigen(X, K, values, B);
    for (size_t a = 0; a < K; a++) {
        double x = fmax(values[a], fmax(1e-3 * values[0], 1e-9));
        double scale = pow(x, x > 1 ? over / 2 : 0.5);
        for (size_t b = 0; b < K; b++) B[a * K + b] *= scale;
    }
}
