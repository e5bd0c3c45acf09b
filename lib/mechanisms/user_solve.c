/*
 * The ridge regression of a user on the rows of the items they rated. What residual_user.c
 * contributes from, and what a person computes at home from the release.
 */
#include "mechanisms/user_solve.h"

#include <string.h>

_Static_assert(RULE_WIDTH_MAX + 1 <= EXACT_WIDTH_MAX, "a row fits what the kernels have room for");
_Static_assert(EXACT_WIDTH_MAX % EXACT_LANES == 0, "rows end at whole lanes");

static double prior_precision(const struct public_model *model, size_t a) {
    return a < model->K ? model->s2 : model->s2 / model->var_a;
}

/* Asks for the first rows, which lie anywhere; the kernels ask for the others in time. */
static void expect_rows(const struct exact_rows *own) {
    const size_t some = 32, line = 64 / sizeof(double);
    for (size_t i = 0; i < own->n && i < some; i++)
        for (size_t c = 0; c < own->width; c += line)
            __builtin_prefetch(own->rows + own->at[i] * own->width + c, 0, 2);
}

bool user_solve(const struct public_model *model, const struct private_user *user,
                struct user_solution *solution, double *e) {
    const size_t D = model->K + 1, width = model->stride;
    const struct exact_rows own = {model->rows, width, user->row, user->n};
    _Alignas(64) double A[USER_SOLVE_WIDTH * USER_SOLVE_WIDTH];
    double *x = solution->x, *inverse = solution->covariance;
    memset(A, 0, width * width * sizeof *A);
    memset(x, 0, sizeof solution->x);
    expect_rows(&own);
    for (size_t i = 0; i < user->n; i++)
        e[i] = (double)user->y[i] - model->b0 - model->c[user->row[i]];
    model->exact->normal(&own, e, A, x);
    for (size_t a = 0; a < D; a++) A[a * width + a] += prior_precision(model, a);
    if (!model->exact->solve(A, width, D, x, inverse)) {
        memset(solution, 0, sizeof *solution);
        for (size_t i = 0; i < user->n; i++) solution->squares += e[i] * e[i];
        return false;
    }
    solution->freedom = (double)D;
    for (size_t a = 0; a < D; a++)
        solution->freedom -= prior_precision(model, a) * inverse[a * D + a];
    for (size_t i = 0; i < D * D; i++) inverse[i] *= model->s2;
    solution->squares = model->exact->residuals(&own, e, x, e);
    return true;
}
