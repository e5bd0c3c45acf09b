/*
 * The system of ridge.h: built and factored once, then solved for an item or for the ratings. Fed by a
 * model and someone's own ratings.
 */
#include "recommend/ridge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cholesky.h"
#include "base/error.h"
#include "base/memory.h"

/* A model trained without a penalty still needs one here: a user with few ratings has many fits. */
static const double smallest_penalty = 1e-3;

/* Column c of x_j: the first is the bias's. */
static double x_at(const struct ridge *ridge, const float *row, size_t c) {
    return c == 0 ? ridge->bias_column : (double)row[c - 1];
}

static double product(const struct ridge *ridge, const float *a, const float *b) {
    double sum = ridge->bias_column * ridge->bias_column;
    for (size_t c = 1; c < ridge->width; c++) sum += (double)a[c - 1] * (double)b[c - 1];
    return sum;
}

static const float *row_of(const struct ridge *ridge, size_t j) {
    return model_item_row(ridge->model, ridge->ratings[ridge->known[j]].item);
}

static int factor_by_ratings(struct ridge *ridge) {
    double *K = ridge->matrix; /* n x n */
    for (size_t i = 0; i < ridge->n; i++) {
        for (size_t j = 0; j <= i; j++)
            K[i * ridge->n + j] = product(ridge, row_of(ridge, i), row_of(ridge, j));
        K[i * ridge->n + i] += ridge->penalty;
    }
    return cholesky_factor(K, ridge->n);
}

static int factor_by_columns(struct ridge *ridge) {
    double *A = ridge->matrix; /* width x width */
    const size_t w = ridge->width;
    for (size_t j = 0; j < ridge->n; j++) {
        const float *v = row_of(ridge, j);
        for (size_t a = 0; a < w; a++)
            for (size_t b = 0; b <= a; b++) A[a * w + b] += x_at(ridge, v, a) * x_at(ridge, v, b);
    }
    for (size_t c = 0; c < w; c++) A[c * w + c] += ridge->penalty;
    return cholesky_factor(A, w);
}

static void set_penalties(struct ridge *ridge) {
    const struct dpmf_model *model = ridge->model;
    const double reg = model->state.regularization;
    ridge->bias_column = 1;
    if (model->kind == MODEL_CHECKPOINT) {
        double unit = factors_unit(model->factors.min, model->factors.max);
        ridge->penalty =
            (reg > smallest_penalty ? reg : smallest_penalty) * unit * (double)ridge->n;
        ridge->bias_column = sqrt(unit);
    } else if (model->factors.k == 0) {
        ridge->penalty = model->bias_penalty;
    } else {
        ridge->penalty = model->factor_penalty;
        ridge->bias_column = sqrt(model->factor_penalty / model->bias_penalty);
    }
}

int ridge_init(struct ridge *ridge, const struct dpmf_model *model,
               const struct dpmf_own_rating *ratings, size_t n, struct dpmf_error *error) {
    size_t cells;
    *ridge = (struct ridge){.model = model, .ratings = ratings};
    ridge->width = (size_t)model->factors.k + 1;
    ridge->known = memory_alloc(n, sizeof ridge->known[0]);
    if (!ridge->known) return error_no_memory(error);
    for (size_t j = 0; j < n; j++)
        if (model_item_row(model, ratings[j].item)) ridge->known[ridge->n++] = j;
    if (ridge->n == 0) return 0;

    ridge->by_ratings = ridge->n < ridge->width;
    size_t order = ridge->by_ratings ? ridge->n : ridge->width;
    set_penalties(ridge);
    if (__builtin_mul_overflow(order, order, &cells)) return error_no_memory(error);
    ridge->matrix = memory_alloc_zero(cells, sizeof(double));
    if (!ridge->matrix) return error_no_memory(error);
    int code = ridge->by_ratings ? factor_by_ratings(ridge) : factor_by_columns(ridge);
    if (code < 0)
        return error_set(error, code, "the ratings cannot be fitted: numbers are too large");
    return 0;
}

void ridge_free(struct ridge *ridge) {
    free(ridge->known);
    free(ridge->matrix);
    *ridge = (struct ridge){0};
}

double ridge_residual(const struct ridge *ridge, size_t j) {
    const struct factors *factors = &ridge->model->factors;
    const struct dpmf_own_rating *own = &ridge->ratings[ridge->known[j]];
    return (double)own->rating - factors->offset - (double)factors->items.biases[own->item];
}

void ridge_weigh(const struct ridge *ridge, const float *item, double *weights) {
    const size_t n = ridge->n, w = ridge->width;
    if (ridge->by_ratings) {
        for (size_t i = 0; i < n; i++) weights[i] = product(ridge, item, row_of(ridge, i));
        cholesky_solve(ridge->matrix, n, weights);
        return;
    }
    double *direction = weights + n; /* (X^T X + c I)^-1 x */
    for (size_t c = 0; c < w; c++) direction[c] = x_at(ridge, item, c);
    cholesky_solve(ridge->matrix, w, direction);
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t c = 0; c < w; c++) sum += direction[c] * x_at(ridge, row_of(ridge, j), c);
        weights[j] = sum;
    }
}

void ridge_solve(const struct ridge *ridge, double *w) {
    double *y = w + ridge->width; /* n */
    memset(w, 0, ridge->width * sizeof w[0]);
    if (ridge->n == 0) return;
    for (size_t j = 0; j < ridge->n; j++) y[j] = ridge_residual(ridge, j);
    if (ridge->by_ratings) cholesky_solve(ridge->matrix, ridge->n, y);
    for (size_t j = 0; j < ridge->n; j++) {
        const float *v = row_of(ridge, j);
        for (size_t c = 0; c < ridge->width; c++) w[c] += y[j] * x_at(ridge, v, c);
    }
    if (!ridge->by_ratings) cholesky_solve(ridge->matrix, ridge->width, w);
    w[0] *= ridge->bias_column;
}
