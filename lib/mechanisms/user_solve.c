/*
 * The ridge regression of a user on the rows of the items they rated. What residual_user.c
 * contributes from, and what a person computes at home from the release.
 */
#include "mechanisms/user_solve.h"

#include <string.h>

#include "numerics/cholesky.h"

_Static_assert(RULE_WIDTH_MAX + 1 <= EXACT_WIDTH_MAX, "a row fits what the kernels have room for");
_Static_assert(EXACT_WIDTH_MAX % EXACT_LANES == 0, "rows end at whole lanes");

static double prior_precision(const struct public_model *model, size_t a) {
    return a < model->K ? model->s2 : model->s2 / model->var_a;
}

bool user_solve(const struct public_model *model, const struct private_user *user,
                struct user_solution *solution, double *e) {
    const size_t D = model->K + 1, width = model->stride;
    const struct exact_rows own = {model->rows, width, user->row, user->n};
    double A[USER_SOLVE_WIDTH * USER_SOLVE_WIDTH], L[USER_SOLVE_WIDTH * USER_SOLVE_WIDTH];
    double *x = solution->x, *inverse = solution->covariance;
    memset(A, 0, width * width * sizeof *A);
    memset(x, 0, sizeof solution->x);
    for (size_t i = 0; i < user->n; i++)
        e[i] = (double)user->y[i] - model->b0 - model->c[user->row[i]];
    model->exact->normal(&own, e, A, x);
    for (size_t a = 0; a < D; a++) {
        memcpy(L + a * D, A + a * width, D * sizeof *L);
        L[a * D + a] += prior_precision(model, a);
    }
    if (cholesky_factor(L, D) < 0) {
        memset(solution, 0, sizeof *solution);
        return false;
    }
    cholesky_solve(L, D, x);
    model->exact->inverse(L, D, inverse);
    solution->freedom = (double)D;
    for (size_t a = 0; a < D; a++)
        solution->freedom -= prior_precision(model, a) * inverse[a * D + a];
    for (size_t i = 0; i < D * D; i++) inverse[i] *= model->s2;
    model->exact->residuals(&own, e, x, e);
    return true;
}
