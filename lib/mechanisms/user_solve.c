/*
 * The ridge regression of a user on the rows of the items they rated. What residual_user.c contributes from, and what
 * a person computes at home from the release.
 */
#include "mechanisms/user_solve.h"

#include <string.h>

#include "base/cholesky.h"

enum { AT_ONCE = 4 };

/* A += sum of f f^T and x += sum of t f over up to four rows f, lower triangle up to whole fours: loads and stores of A
 * are what this costs, and four rows share them. */
static void add_rows(double *A, double *x, size_t D, size_t stride, const double *f[AT_ONCE],
                     const double t[AT_ONCE]) {
    for (size_t a = 0; a < D; a++) {
        const double f0 = f[0][a], f1 = f[1][a], f2 = f[2][a], f3 = f[3][a];
        size_t end = (a / AT_ONCE + 1) * AT_ONCE;
        double *row = A + a * stride;
        for (size_t b = 0; b < end; b++)
            row[b] += (f0 * f[0][b] + f1 * f[1][b]) + (f2 * f[2][b] + f3 * f[3][b]);
        x[a] += (t[0] * f0 + t[1] * f1) + (t[2] * f2 + t[3] * f3);
    }
}

static void add_ratings(const struct public_model *model, const struct private_user *user,
                        double *A, double *x) {
    static const double zeros[USER_SOLVE_WIDTH];
    for (size_t i = 0; i < user->n; i += AT_ONCE) {
        const double *f[AT_ONCE];
        double t[AT_ONCE];
        for (size_t l = 0; l < AT_ONCE; l++) {
            bool is_there = i + l < user->n;
            size_t j = is_there ? user->row[i + l] : 0;
            f[l] = is_there ? model->rows + j * model->stride : zeros;
            t[l] = is_there ? (double)user->y[i + l] - model->b0 - model->c[j] : 0;
        }
        add_rows(A, x, model->K + 1, model->stride, f, t);
    }
}

bool user_solve(const struct public_model *model, const struct private_user *user,
                struct user_solution *solution) {
    const size_t K = model->K, D = K + 1, stride = model->stride;
    double A[USER_SOLVE_WIDTH * USER_SOLVE_WIDTH] = {0}, L[USER_SOLVE_WIDTH * USER_SOLVE_WIDTH];
    double *x = solution->x, *inverse = solution->covariance;
    memset(x, 0, sizeof solution->x);
    add_ratings(model, user, A, x);
    for (size_t a = 0; a < D; a++) {
        memcpy(L + a * D, A + a * stride, D * sizeof *L);
        L[a * D + a] += a < K ? model->s2 : model->s2 / model->var_a;
    }
    if (cholesky_factor(L, D) < 0) {
        memset(solution, 0, sizeof *solution);
        return false;
    }
    cholesky_solve(L, D, x);
    cholesky_inverse(L, D, inverse);
    solution->freedom = (double)D;
    for (size_t a = 0; a < D; a++)
        solution->freedom -= (a < K ? model->s2 : model->s2 / model->var_a) * inverse[a * D + a];
    for (size_t i = 0; i < D * D; i++) inverse[i] *= model->s2;
    return true;
}

void user_solve_residuals(const struct public_model *model, const struct private_user *user,
                          const struct user_solution *solution, double *e) {
    const size_t D = model->K + 1;
    for (size_t i = 0; i < user->n; i++) {
        const double *row = model->rows + (size_t)user->row[i] * model->stride;
        double sum = model->b0 + model->c[user->row[i]];
        for (size_t a = 0; a < D; a++) sum += solution->x[a] * row[a];
        e[i] = (double)user->y[i] - sum;
    }
}
