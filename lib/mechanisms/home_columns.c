/*
 * People differ in what they think of popular things and of good ones, and not along straight
 * lines: one likes whatever is neither unknown nor a blockbuster. With x an item's log count and
 * bias, both standardised over all ratings, a person's leaning is a random smooth function f(x), a
 * Gaussian process with covariance
 *
 *     s exp(-|x - x'|^2 / (2 l^2)) = s h(x) h(x') exp(x.x' / l^2),   h(x) = exp(-|x|^2 / (2 l^2)),
 *
 * whose power series gives the first columns, its curves: sqrt(s) h(x) x1^a x2^b / (l^(a+b)
 * sqrt(a! b!)) for a + b up to HOME_DEGREE. With u ~ N(0, I) their product with u has that
 * covariance but for the terms left out, so the solve at home needs nothing new.
 *
 * The other columns let a taste be stronger for popular or for good things than for others: of the
 * products of the vectors' columns with x1 and x2, the leading principal axes. All are centred: a
 * constant is the user's own bias.
 *
 * s follows from how much users differ along straight lines in x, which the moments of the rounds
 * have told the free columns (free_columns.c). Where that is hardly more than the free columns
 * begin with, there is nothing to be had. Without rounds nothing is known, and a release stays one
 * of averages.
 */
#include "mechanisms/home_columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/symmetric_eigen.h"

static const double length_scale = 2;
static const double farthest = 3; /* standard deviations; what is beyond counts as there */
static const double gain = 5, nothing = 0.012, most = 0.08; /* s = gain (straight - nothing) */
static const double product_gain = 0.8; /* variance of a product's coefficient, in terms of s */

enum { HOME_PRODUCTS_ALL = 2 * RULE_WIDTH_MAX };

struct home {
    const struct public_model *model;
    const struct item_evidence *evidence;
    double (*x)[2];    /* x of each item */
    double s, weights; /* sum of the items' weights, which are their counts */
    size_t n_products; /* number of all products: 2 K */
    double *mean;      /* means of the products over ratings */
    double *axes;      /* n_products x n_products, the leading ones first */
    double *columns;   /* n_items x n_columns */
    size_t n_columns;
};

/* ---- what is known of users ------------------------------------------------------------------ */

static void standardise(struct home *home) {
    const struct public_model *model = home->model;
    const double *N = home->evidence->N;
    home->weights = 0;
    for (size_t j = 0; j < model->n_items; j++) home->weights += N[j];
    for (int i = 0; i < 2; i++) {
        double sum = 0, squares = 0;
        for (size_t j = 0; j < model->n_items; j++) {
            const double y = i == 0 ? log(N[j]) : model->c[j];
            home->x[j][i] = y;
            sum += N[j] * y;
            squares += N[j] * y * y;
        }
        const double mean = sum / home->weights;
        const double spread = sqrt(fmax(squares / home->weights - mean * mean, 1e-9));
        for (size_t j = 0; j < model->n_items; j++) home->x[j][i] = (home->x[j][i] - mean) / spread;
    }
}

/* The variance, over users and ratings, of what the free columns give that is linear in x. */
static double straight_variance(const struct home *home) {
    const struct public_model *model = home->model;
    const double *N = home->evidence->N;
    double rho = 0, variance = 0;
    for (size_t j = 0; j < model->n_items; j++)
        rho += N[j] / home->weights * home->x[j][0] * home->x[j][1];
    for (size_t k = model->K - model->n_free; k < model->K; k++) {
        double with[2] = {0, 0}; /* x has mean 0, so the mean of the column does not matter */
        for (size_t j = 0; j < model->n_items; j++)
            for (int i = 0; i < 2; i++)
                with[i] +=
                    N[j] / home->weights * model->rows[j * model->stride + k] * home->x[j][i];
        variance += (with[0] * with[0] + with[1] * with[1] - 2 * rho * with[0] * with[1]) /
                    fmax(1 - rho * rho, 1e-3);
    }
    return variance;
}

/* ---- the columns ----------------------------------------------------------------------------- */

static double power(double x, int n) {
    double product = 1;
    while (n-- > 0) product *= x;
    return product;
}

static double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

static double within(double x) { return fmin(fmax(x, -farthest), farthest); }

static void fill_curves(const struct home *home) {
    for (size_t j = 0; j < home->model->n_items; j++) {
        const double x1 = within(home->x[j][0]) / length_scale;
        const double x2 = within(home->x[j][1]) / length_scale;
        const double h = sqrt(home->s) * exp(-(x1 * x1 + x2 * x2) / 2);
        double *out = home->columns + j * home->n_columns;
        for (int a = 0; a <= HOME_DEGREE; a++)
            for (int b = 0; a + b <= HOME_DEGREE; b++)
                *out++ = h * power(x1, a) * power(x2, b) / sqrt(factorial(a) * factorial(b));
    }
    for (size_t k = 0; k < HOME_CURVES; k++) {
        double sum = 0;
        for (size_t j = 0; j < home->model->n_items; j++)
            sum += home->evidence->N[j] * home->columns[j * home->n_columns + k];
        for (size_t j = 0; j < home->model->n_items; j++)
            home->columns[j * home->n_columns + k] -= sum / home->weights;
    }
}

/* Those of an item, less their mean. */
static void multiply(const struct home *home, size_t j, double y[HOME_PRODUCTS_ALL]) {
    const double *row = home->model->rows + j * home->model->stride;
    const double scale = sqrt(product_gain * home->s);
    for (size_t k = 0; k < home->n_products; k++)
        y[k] = scale * row[k / 2] * within(home->x[j][k % 2]) - home->mean[k];
}

static void find_mean(const struct home *home) {
    double y[HOME_PRODUCTS_ALL], sum[HOME_PRODUCTS_ALL] = {0};
    memset(home->mean, 0, home->n_products * sizeof *home->mean);
    for (size_t j = 0; j < home->model->n_items; j++) {
        multiply(home, j, y);
        for (size_t k = 0; k < home->n_products; k++) sum[k] += home->evidence->N[j] * y[k];
    }
    for (size_t k = 0; k < home->n_products; k++) home->mean[k] = sum[k] / home->weights;
}

/* X is q x q zeros. */
static void find_axes(const struct home *home, double *X) {
    const size_t q = home->n_products;
    double y[HOME_PRODUCTS_ALL], values[HOME_PRODUCTS_ALL];
    for (size_t j = 0; j < home->model->n_items; j++) {
        multiply(home, j, y);
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b <= a; b++)
                X[a * q + b] += home->evidence->N[j] / home->weights * y[a] * y[b];
    }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < a; b++) X[b * q + a] = X[a * q + b];
    symmetric_eigen(X, q, values, home->axes);
}

static int fill_products(const struct home *home, struct dpmf_error *error) {
    const size_t q = home->n_products;
    double y[HOME_PRODUCTS_ALL], *X = memory_alloc_zero(q, q * sizeof *X);
    if (!X) return error_no_memory(error);
    find_mean(home);
    find_axes(home, X);
    free(X);
    for (size_t j = 0; j < home->model->n_items; j++) {
        multiply(home, j, y);
        for (size_t k = HOME_CURVES; k < home->n_columns; k++) {
            const double *axis = home->axes + (k - HOME_CURVES) * q;
            double sum = 0;
            for (size_t a = 0; a < q; a++) sum += axis[a] * y[a];
            home->columns[j * home->n_columns + k] = sum;
        }
    }
    return 0;
}

/* Behind the columns that are there. */
static int append(struct public_model *model, const struct home *home, struct dpmf_error *error) {
    const size_t n = model->n_items, K = model->K, stride = model->stride, more = home->n_columns;
    double *rows = memory_alloc(n, stride * sizeof *rows);
    if (!rows) return error_no_memory(error);
    memcpy(rows, model->rows, n * stride * sizeof *rows);
    int code = public_model_widen(model, K + more, error);
    for (size_t j = 0; j < n && code == 0; j++) {
        double *row = model->rows + j * model->stride;
        memcpy(row, rows + j * stride, K * sizeof *row);
        memcpy(row + K, home->columns + j * more, more * sizeof *row);
    }
    free(rows);
    return code;
}

int home_columns_add(struct public_model *model, const struct item_evidence *evidence,
                     struct dpmf_error *error) {
    const size_t n = model->n_items, K = model->K;
    if (K == 0) return 0;
    assert(K <= RULE_WIDTH_MAX && model->n_free <= K);
    struct home home = {.model = model,
                        .evidence = evidence,
                        .n_products = 2 * K,
                        .n_columns = residual_rule_home(K)};
    home.x = memory_alloc(n, sizeof *home.x);
    home.mean = memory_alloc(home.n_products, sizeof(double));
    home.axes = memory_alloc(home.n_products, home.n_products * sizeof(double));
    home.columns = memory_alloc(n, home.n_columns * sizeof(double));
    int code = 0;
    if (!home.x || !home.mean || !home.axes || !home.columns) {
        code = error_no_memory(error);
    } else {
        standardise(&home);
        home.s = fmin(gain * (straight_variance(&home) - nothing), most);
    }
    if (home.s > 0) {
        fill_curves(&home);
        code = fill_products(&home, error);
        if (code == 0) code = append(model, &home, error);
    }
    free(home.x);
    free(home.mean);
    free(home.axes);
    free(home.columns);
    return code;
}
