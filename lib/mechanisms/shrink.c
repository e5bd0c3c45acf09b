/*
 * Shrinks each column of the measurements. The prior of a column: its mean is a ridge regression on
 * public regressors, weighted by 1 / (noise variance + prior variance); its variance t is what the
 * squares of the residuals exceed the noise by (method of moments); both are found in turns. What
 * neighbours in the catalogue have in common beyond that joins the mean (order_prior.c). Then each
 * item's value is the precision-weighted mean of measurement and prior. Columns are independent of
 * each other and shared out to threads. Fed by bias_release.c and residual_server.c.
 */
#include "mechanisms/shrink.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/order_prior.h"
#include "numerics/cholesky.h"
#include "numerics/symmetric_eigen.h"

enum { TURNS = 3 };

/* ---- one column ------------------------------------------------------------------------------ */

struct column {
    const struct item_evidence *evidence;
    size_t n_items, D, k;
    bool is_bias;
    double ridge;
    double *H, *h; /* normal equations: q x q, q */
    double *mean;  /* prior mean, n_items */

    double *left, *noise; /* measurements less their prior mean, and their variances: n_items */
    double *common;       /* the part of these that neighbours have in common: n_items */
    double *work;         /* scratch space of order_prior_smooth */
};

static double noise_variance(const struct column *column, size_t j) {
    const struct item_evidence *evidence = column->evidence;
    return 1 / evidence->A[2 * j + column->is_bias] + evidence->sampling[j];
}

static double measured(const struct column *column, size_t j) {
    return column->evidence->Z[j * column->D + column->k];
}

static void fit_mean(struct column *column, double t) {
    size_t q = column->evidence->n_regressors;
    double *H = column->H, *h = column->h;
    memset(H, 0, q * q * sizeof *H);
    memset(h, 0, q * sizeof *h);
    for (size_t j = 0; j < column->n_items; j++) {
        const double *f = column->evidence->regressors + j * q;
        double w = 1 / (noise_variance(column, j) + t), wz = w * measured(column, j);
        for (size_t a = 0; a < q; a++) {
            double wf = w * f[a];
            h[a] += wz * f[a];
            for (size_t b = 0; b <= a; b++) H[a * q + b] += wf * f[b];
        }
    }
    /* A constant in a column of vectors is a user's bias in disguise: held at 0. In the biases it
     * is free. */
    for (size_t a = 0; a < q; a++) {
        double penalty = a > 0 ? column->ridge : column->is_bias ? 1e-3 : 1e3 * column->ridge;
        H[a * q + a] += penalty / t;
    }
    if (cholesky_factor(H, q) == 0)
        cholesky_solve(H, q, h);
    else
        memset(h, 0, q * sizeof *h);
    for (size_t j = 0; j < column->n_items; j++) {
        const double *f = column->evidence->regressors + j * q;
        double sum = 0;
        for (size_t a = 0; a < q; a++) sum += h[a] * f[a];
        column->mean[j] = sum;
    }
}

/* By how much the squares about the prior mean exceed the noise. */
static double fit_variance(const struct column *column, double t) {
    double excess = 0, weights = 0;
    for (size_t j = 0; j < column->n_items; j++) {
        double s = noise_variance(column, j), e = measured(column, j) - column->mean[j];
        double w = 1 / ((s + t) * (s + t));
        excess += w * (e * e - s);
        weights += w;
    }
    double found = excess / weights;
    return column->is_bias ? fmin(fmax(found, 0.01), 0.5) : fmin(fmax(found, 5e-4), 0.3);
}

/* @return the prior variance of what is each item's own */
static double fit_neighbours(struct column *column, double t) {
    for (size_t j = 0; j < column->n_items; j++) {
        column->left[j] = measured(column, j) - column->mean[j];
        column->noise[j] = noise_variance(column, j);
    }
    const struct order_column order = {column->n_items, column->left, column->noise, t};
    double variance[ORDER_PARTS];
    order_prior_fit(&order, variance);
    order_prior_smooth(&order, variance, column->work, column->common);
    return order_prior_rest(&order, variance);
}

static void shrink_column(struct column *column, double *t, double *out, size_t stride) {
    for (int turn = 0; turn < TURNS; turn++) {
        fit_mean(column, *t);
        *t = fit_variance(column, *t);
    }
    const double rest = fit_neighbours(column, *t);
    for (size_t j = 0; j < column->n_items; j++) {
        const double own = column->left[j] - column->common[j];
        out[j * stride] =
            column->mean[j] + column->common[j] + rest / (column->noise[j] + rest) * own;
    }
}

/* ---- columns in parallel --------------------------------------------------------------------- */

struct shrinking {
    struct public_model *model;
    struct item_evidence *evidence;
    double ridge;
    size_t first, end; /* columns */
    _Atomic size_t next;
    _Atomic bool no_memory;
};

static void shrink_columns(void *self, int worker) {
    struct shrinking *shrinking = self;
    struct public_model *model = shrinking->model;
    struct item_evidence *evidence = shrinking->evidence;
    size_t q = evidence->n_regressors, K = model->K - model->n_free, k;
    (void)worker;
    struct column column = {.evidence = evidence,
                            .n_items = model->n_items,
                            .D = K + 1,
                            .ridge = shrinking->ridge,
                            .H = memory_alloc(q, q * sizeof(double)),
                            .h = memory_alloc(q, sizeof(double)),
                            .mean = memory_alloc(model->n_items, sizeof(double)),
                            .left = memory_alloc(model->n_items, sizeof(double)),
                            .noise = memory_alloc(model->n_items, sizeof(double)),
                            .common = memory_alloc(model->n_items, sizeof(double)),
                            .work =
                                memory_alloc(model->n_items, ORDER_WORK_WIDTH * sizeof(double))};
    if (!column.H || !column.h || !column.mean || !column.left || !column.noise || !column.common ||
        !column.work)
        atomic_store(&shrinking->no_memory, true);
    while (!atomic_load(&shrinking->no_memory) &&
           (k = atomic_fetch_add(&shrinking->next, 1)) < shrinking->end) {
        column.k = k;
        column.is_bias = k == K;
        shrink_column(&column, &evidence->tau[k], k == K ? model->c : model->rows + k,
                      k == K ? 1 : model->stride);
    }
    free(column.H);
    free(column.h);
    free(column.mean);
    free(column.left);
    free(column.noise);
    free(column.common);
    free(column.work);
}

static int shrink_range(struct public_model *model, struct item_evidence *evidence, double ridge,
                        size_t first, size_t end, struct thread_pool *pool,
                        struct dpmf_error *error) {
    struct shrinking shrinking = {.model = model,
                                  .evidence = evidence,
                                  .ridge = ridge,
                                  .first = first,
                                  .end = end,
                                  .next = first};
    thread_pool_run(pool, shrink_columns, &shrinking);
    return atomic_load(&shrinking.no_memory) ? error_no_memory(error) : 0;
}

int shrink_biases(struct public_model *model, struct item_evidence *evidence, double ridge,
                  struct thread_pool *pool, struct dpmf_error *error) {
    size_t K = model->K - model->n_free;
    return shrink_range(model, evidence, ridge, K, K + 1, pool, error);
}

/* ---- principal axes -------------------------------------------------------------------------- */

void shrink_map_rows(double *rows, size_t n, size_t stride, size_t K, const double *B) {
    double y[RULE_FACTORS_MAX];
    for (size_t j = 0; j < n; j++) {
        double *x = rows + j * stride;
        for (size_t a = 0; a < K; a++) {
            y[a] = 0;
            for (size_t b = 0; b < K; b++) y[a] += B[a * K + b] * x[b];
        }
        memcpy(x, y, K * sizeof *x);
    }
}

/* The axes of the vectors, weighted by counts, and the variance along each. */
static void find_axes(const struct public_model *model, const double *N, double *axes,
                      double *variance) {
    size_t K = model->K - model->n_free;
    double X[RULE_FACTORS_MAX * RULE_FACTORS_MAX] = {0}, total = 0;
    for (size_t j = 0; j < model->n_items; j++) {
        const double *v = model->rows + j * model->stride;
        total += N[j];
        for (size_t a = 0; a < K; a++)
            for (size_t b = 0; b < K; b++) X[a * K + b] += N[j] * v[a] * v[b];
    }
    for (size_t i = 0; i < K * K; i++) X[i] /= total;
    symmetric_eigen(X, K, variance, axes);
}

int shrink_all(struct public_model *model, struct item_evidence *evidence, double ridge,
               struct thread_pool *pool, struct dpmf_error *error) {
    size_t K = model->K - model->n_free;
    double axes[RULE_FACTORS_MAX * RULE_FACTORS_MAX], variance[RULE_FACTORS_MAX];
    int code = shrink_range(model, evidence, ridge, 0, K, pool, error);
    if (code < 0) return code;
    find_axes(model, evidence->N, axes, variance);
    shrink_map_rows(evidence->Z, model->n_items, K + 1, K, axes);
    for (size_t k = 0; k < K; k++) evidence->tau[k] = fmax(1.2 * variance[k], 2e-3);
    return shrink_range(model, evidence, ridge, 0, K + 1, pool, error);
}

/* ---- regressors ------------------------------------------------------------------------------ */

int shrink_regressors_make(struct item_evidence *evidence, const struct catalogue *catalogue,
                           struct dpmf_error *error) {
    size_t n = (size_t)catalogue->ids.n, n_features = catalogue->n_features, q = 2 + n_features;
    free(evidence->regressors);
    evidence->n_regressors = q;
    evidence->regressors = memory_alloc(n, q * sizeof(double));
    if (!evidence->regressors) return error_no_memory(error);
    double mean = 0;
    for (size_t j = 0; j < n; j++) mean += log(evidence->N[j]) / (double)n;
    for (size_t j = 0; j < n; j++) {
        double *f = evidence->regressors + j * q;
        f[0] = 1;
        f[1] = log(evidence->N[j]) - mean;
        for (size_t i = 0; i < n_features; i++) f[2 + i] = catalogue->features[j * n_features + i];
    }
    return 0;
}
