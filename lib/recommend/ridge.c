/*
 * The system of ridge.h: built and factored once, then solved for an item or for the ratings. Fed
 * by a model and someone's own ratings; feeds fold_in.c, explain.c and the evaluation of releases.
 */
#include "recommend/ridge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/event_weight.h"
#include "numerics/cholesky.h"

/* A model trained without a penalty still needs one here: a user with few ratings has many fits. */
static const double smallest_penalty = 1e-3;

/* ---- its parts ------------------------------------------------------------------------------- */

int ridge_refuse(struct dpmf_error *error) {
    return error_set(error, DPMF_ERR_INPUT_NOT_FINITE,
                     "the ratings cannot be fitted: numbers are too large");
}

int ridge_penalties(const struct dpmf_model *model, size_t n, double *penalty, double *bias_column,
                    struct dpmf_error *error) {
    const double reg = model->state.regularization;
    *bias_column = 1;
    if (model->state.ranks) {
        *bias_column = 0;
        *penalty = reg * pow((double)n + model->state.unobserved * (double)model->factors.items.n,
                             model->state.exponent);
    } else if (!(model->bias_penalty > 0)) {
        double unit = factors_unit(model->factors.min, model->factors.max);
        *penalty = (reg > smallest_penalty ? reg : smallest_penalty) * unit * (double)n;
        *bias_column = sqrt(unit);
    } else if (model->factors.k == 0) {
        *penalty = model->bias_penalty;
    } else {
        *penalty = model->factor_penalty;
        *bias_column = sqrt(model->factor_penalty / model->bias_penalty);
    }
    return isfinite(*penalty) && isfinite(*bias_column) ? 0 : ridge_refuse(error);
}

void ridge_row(const struct dpmf_model *model, uint64_t item, double bias_column, double *x) {
    const float *v = model_item_row(model, item);
    x[0] = bias_column;
    for (size_t c = 0; c < model->factors.k; c++) x[c + 1] = (double)v[c];
}

double ridge_prior(const struct dpmf_model *model, size_t a, size_t b) {
    if (!model->gramian || a == 0 || b == 0) return 0;
    return model->state.unobserved * model->gramian[(a - 1) * model->factors.k + b - 1];
}

double ridge_residual(const struct dpmf_model *model, const struct dpmf_own_rating *own) {
    const struct factors *factors = &model->factors;
    if (model->state.ranks) return 1;
    if (model->of_events) return 0; /* how much someone has of an item says nothing */
    return own->rating - factors->offset - (double)factors->items.biases[own->item];
}

double ridge_weight(const struct dpmf_model *model, const struct dpmf_own_rating *own) {
    return model->state.ranks ? event_weight(own->rating, model->state.count_weight) : 1;
}

/* ---- the system ------------------------------------------------------------------------------ */

/* Column c of x_j: the first is the bias's. */
static double x_at(const struct ridge *ridge, const float *row, size_t c) {
    return c == 0 ? ridge->bias_column : (double)row[c - 1];
}

static double product(const struct ridge *ridge, const float *a, const float *b) {
    return ridge->bias_column * ridge->bias_column + model_dot(a, b, ridge->width - 1);
}

static const float *row_of(const struct ridge *ridge, size_t j) {
    return model_item_row(ridge->model, ridge->ratings[j].item);
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
    for (size_t a = 1; ridge->model->gramian && a < w; a++)
        for (size_t b = 1; b <= a; b++) A[a * w + b] = ridge_prior(ridge->model, a, b);
    for (size_t j = 0; j < ridge->n; j++) {
        const float *v = row_of(ridge, j);
        const double weight = ridge_weight(ridge->model, &ridge->ratings[j]);
        for (size_t a = 0; a < w; a++)
            for (size_t b = 0; b <= a; b++)
                A[a * w + b] += weight * x_at(ridge, v, a) * x_at(ridge, v, b);
    }
    for (size_t c = 0; c < w; c++) A[c * w + c] += ridge->penalty;
    return cholesky_factor(A, w);
}

int ridge_init(struct ridge *ridge, const struct dpmf_model *model,
               const struct dpmf_own_rating *ratings, size_t n, struct dpmf_error *error) {
    size_t cells;
    *ridge = (struct ridge){.model = model, .ratings = ratings, .n = n};
    ridge->width = (size_t)model->factors.k + 1;
    if (n == 0) return 0;
    int code = ridge_penalties(model, n, &ridge->penalty, &ridge->bias_column, error);
    if (code < 0) return code;

    ridge->by_ratings = n < ridge->width && !model->gramian;
    size_t order = ridge->by_ratings ? n : ridge->width;
    if (__builtin_mul_overflow(order, order, &cells)) return error_no_memory(error);
    ridge->matrix = memory_alloc_zero(cells, sizeof(double));
    if (!ridge->matrix) return error_no_memory(error);
    code = ridge->by_ratings ? factor_by_ratings(ridge) : factor_by_columns(ridge);
    return code < 0 ? ridge_refuse(error) : 0;
}

void ridge_free(struct ridge *ridge) {
    free(ridge->matrix);
    *ridge = (struct ridge){0};
}

/* ---- what is solved with it ------------------------------------------------------------------ */

void ridge_weigh(const struct ridge *ridge, const double *x, double *weights) {
    const size_t n = ridge->n, w = ridge->width;
    if (ridge->by_ratings) {
        for (size_t i = 0; i < n; i++)
            weights[i] =
                x[0] * ridge->bias_column + model_dot_double(x + 1, row_of(ridge, i), w - 1);
        cholesky_solve(ridge->matrix, n, weights);
        return;
    }
    double *direction = weights + n; /* (X^T X + c I)^-1 x */
    memcpy(direction, x, w * sizeof direction[0]);
    cholesky_solve(ridge->matrix, w, direction);
    for (size_t j = 0; j < n; j++)
        weights[j] = direction[0] * ridge->bias_column +
                     model_dot_double(direction + 1, row_of(ridge, j), w - 1);
}

void ridge_solve(const struct ridge *ridge, double *w) {
    double *y = w + ridge->width; /* n */
    memset(w, 0, ridge->width * sizeof w[0]);
    if (ridge->n == 0) return;
    for (size_t j = 0; j < ridge->n; j++)
        y[j] = ridge_weight(ridge->model, &ridge->ratings[j]) *
               ridge_residual(ridge->model, &ridge->ratings[j]);
    if (ridge->by_ratings) cholesky_solve(ridge->matrix, ridge->n, y);
    for (size_t j = 0; j < ridge->n; j++) {
        const float *v = row_of(ridge, j);
        for (size_t c = 0; c < ridge->width; c++) w[c] += y[j] * x_at(ridge, v, c);
    }
    if (!ridge->by_ratings) cholesky_solve(ridge->matrix, ridge->width, w);
    w[0] *= ridge->bias_column;
}
