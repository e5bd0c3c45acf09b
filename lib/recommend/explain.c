/*
 * Which of a user's ratings speak for an item. The user is fitted anew to those ratings, the item side
 * held still: with x_j = (1, v_j), the 1 standing for the user's bias, and y_j = r_j - offset - b_j,
 *
 *     w = (X^T X + c I)^-1 X^T y,      c = regularization * number of ratings,
 *
 * which is what training drives the user's row towards. The prediction is then linear in the ratings:
 *
 *     prediction = offset + b_item + sum_j share_j,    share_j = (x^T (X^T X + c I)^-1 x_j) y_j.
 *
 * With fewer ratings than columns the same shares come from the smaller system
 * x^T (X^T X + c I)^-1 X^T = x^T X^T (X X^T + c I)^-1. All of it in double and in one order.
 */
#include <stdlib.h>

#include "base/cholesky.h"
#include "base/error.h"
#include "base/memory.h"
#include "recommend/model.h"

/* A model trained without a penalty still needs one here: a user with few ratings has many fits. */
static const double smallest_penalty = 1e-3;

struct fit {
    const struct dpmf_model *model;
    const struct dpmf_own_rating *ratings;
    size_t n;        /* ratings of items that the model knows ... */
    size_t *known;   /* ... and which they are */
    size_t width;    /* k + 1 */
    double penalty;  /* c */
    double *matrix;  /* min(n, width) squared */
    double *weights; /* n, and room for `width` more */
};

/* Column c of x_j: the first is the bias's. */
static double x_at(const float *row, size_t c) { return c == 0 ? 1.0 : (double)row[c - 1]; }

static double product(const float *a, const float *b, size_t width) {
    double sum = 1.0;
    for (size_t c = 1; c < width; c++) sum += (double)a[c - 1] * (double)b[c - 1];
    return sum;
}

static const float *row_of(const struct fit *fit, size_t j) {
    return model_item_row(fit->model, fit->ratings[fit->known[j]].item);
}

/* weights[j] := x^T (X^T X + c I)^-1 x_j, by the system of the ratings. */
static int weigh_by_ratings(struct fit *fit, const float *item) {
    double *K = fit->matrix; /* n x n */
    for (size_t i = 0; i < fit->n; i++) {
        for (size_t j = 0; j <= i; j++)
            K[i * fit->n + j] = product(row_of(fit, i), row_of(fit, j), fit->width);
        K[i * fit->n + i] += fit->penalty;
        fit->weights[i] = product(item, row_of(fit, i), fit->width);
    }
    int code = cholesky_factor(K, fit->n);
    if (code == 0) cholesky_solve(K, fit->n, fit->weights);
    return code;
}

/* The same by the system of the columns. */
static int weigh_by_columns(struct fit *fit, const float *item) {
    double *A = fit->matrix; /* width x width */
    size_t w = fit->width;
    double *direction = fit->weights + fit->n; /* (X^T X + c I)^-1 x */
    for (size_t j = 0; j < fit->n; j++) {
        const float *v = row_of(fit, j);
        for (size_t a = 0; a < w; a++)
            for (size_t b = 0; b <= a; b++) A[a * w + b] += x_at(v, a) * x_at(v, b);
    }
    for (size_t c = 0; c < w; c++) {
        A[c * w + c] += fit->penalty;
        direction[c] = x_at(item, c);
    }
    int code = cholesky_factor(A, w);
    if (code < 0) return code;
    cholesky_solve(A, w, direction);
    for (size_t j = 0; j < fit->n; j++) {
        double sum = 0;
        for (size_t c = 0; c < w; c++) sum += direction[c] * x_at(row_of(fit, j), c);
        fit->weights[j] = sum;
    }
    return 0;
}

static int find_known(struct fit *fit, size_t n, struct dpmf_error *error) {
    fit->known = memory_alloc(n, sizeof fit->known[0]);
    if (!fit->known) return error_no_memory(error);
    for (size_t j = 0; j < n; j++)
        if (model_item_row(fit->model, fit->ratings[j].item)) fit->known[fit->n++] = j;
    return 0;
}

static int weigh(struct fit *fit, const float *item, struct dpmf_error *error) {
    const double reg = fit->model->state.regularization;
    bool by_ratings = fit->n < fit->width;
    size_t order = by_ratings ? fit->n : fit->width, cells;
    fit->penalty = (reg > smallest_penalty ? reg : smallest_penalty) * (double)fit->n;
    if (__builtin_mul_overflow(order, order, &cells)) return error_no_memory(error);
    fit->matrix = memory_alloc_zero(cells, sizeof(double));
    fit->weights = memory_alloc(fit->n + fit->width, sizeof(double));
    if (!fit->matrix || !fit->weights) return error_no_memory(error);
    int code = by_ratings ? weigh_by_ratings(fit, item) : weigh_by_columns(fit, item);
    if (code < 0)
        return error_set(error, code, "the ratings cannot be fitted: numbers are too large");
    return 0;
}

int dpmf_model_explain(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                       size_t n, uint64_t item, double *prediction, double *shares,
                       struct dpmf_error *error) {
    struct fit fit = {.model = model, .ratings = ratings, .width = (size_t)model->factors.k + 1};
    const float *biases = model->factors.items.biases, *v = model_item_row(model, item);
    if (!v) return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this item");
    *prediction = dpmf_model_predict(model, UINT64_MAX, item);
    for (size_t j = 0; j < n; j++) shares[j] = 0;
    int code = find_known(&fit, n, error);
    if (code == 0 && fit.n > 0) code = weigh(&fit, v, error);
    for (size_t j = 0; j < fit.n && code == 0; j++) {
        const struct dpmf_own_rating *own = &ratings[fit.known[j]];
        double y = (double)own->rating - model->factors.offset - (double)biases[own->item];
        double share = fit.weights[j] * y + 0.0; /* never -0 */
        shares[fit.known[j]] = share;
        *prediction += share;
    }
    free(fit.known);
    free(fit.matrix);
    free(fit.weights);
    return code;
}
