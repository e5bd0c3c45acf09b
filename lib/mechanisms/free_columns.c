/*
 * A user's taste for popular things, for good things, for a genre or an age can be found at home,
 * from their own ratings and public columns: noisy counts and biases, which the first release gave,
 * and public features. No item has to be measured for it. These columns are the leading principal
 * axes of all of those, weighted by counts. How much users differ in them is learned from the
 * moments of each round (residual_moments.c). Fed by residual_server.c.
 */
#include "mechanisms/free_columns.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/symmetric_eigen.h"

enum { RELEASED = 2 }; /* log count and bias */

size_t free_columns_n(size_t n_features) {
    return n_features < RULE_FREE_MAX - RELEASED ? n_features + RELEASED : RULE_FREE_MAX;
}

struct table {
    size_t n, q;
    double *at; /* n x q, mean 0 over ratings */
};

/* To mean 0 over ratings, and variance 1 where `is_scaled`. */
static void centre(const struct table *table, const double *N, size_t k, bool is_scaled) {
    double sum = 0, squares = 0, weights = 0;
    for (size_t j = 0; j < table->n; j++) {
        double x = table->at[j * table->q + k];
        sum += N[j] * x;
        squares += N[j] * x * x;
        weights += N[j];
    }
    const double mean = sum / weights, variance = squares / weights - mean * mean;
    const double spread = is_scaled ? sqrt(fmax(variance, 1e-9)) : 1;
    for (size_t j = 0; j < table->n; j++) {
        double *x = &table->at[j * table->q + k];
        *x = (*x - mean) / spread;
    }
}

/* Public features keep the scale that the catalogue gives them: of those that hardly any rated item
 * has, little is to be expected. */
static void fill_table(const struct table *table, const struct public_model *model,
                       const struct item_evidence *evidence, const struct catalogue *catalogue) {
    const size_t n_features = catalogue->n_features;
    for (size_t j = 0; j < table->n; j++) {
        double *x = table->at + j * table->q;
        x[0] = log(evidence->N[j]);
        x[1] = model->c[j];
        for (size_t f = 0; f < n_features; f++)
            x[RELEASED + f] = catalogue->features[j * n_features + f];
    }
    for (size_t k = 0; k < table->q; k++) centre(table, evidence->N, k, k < RELEASED);
}

static void find_covariance(const struct table *table, const double *N, double *X) {
    const size_t q = table->q;
    double weights = 0;
    for (size_t i = 0; i < q * q; i++) X[i] = 0;
    for (size_t j = 0; j < table->n; j++) {
        const double *x = table->at + j * q;
        weights += N[j];
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b <= a; b++) X[a * q + b] += N[j] * x[a] * x[b];
    }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b <= a; b++) X[b * q + a] = X[a * q + b] /= weights;
}

/* On the leading axes, all scaled alike: so that the first has the variance wanted. */
static void project(const struct table *table, const double *axes, double scale,
                    struct public_model *model) {
    const size_t q = table->q, n_free = model->n_free;
    for (size_t j = 0; j < table->n; j++) {
        double *out = model->rows + j * model->stride + model->K - n_free;
        for (size_t k = 0; k < n_free; k++) {
            double sum = 0;
            for (size_t a = 0; a < q; a++) sum += axes[k * q + a] * table->at[j * q + a];
            out[k] = scale * sum;
        }
    }
}

int free_columns_fill(struct public_model *model, const struct item_evidence *evidence,
                      const struct catalogue *catalogue, double variance,
                      struct dpmf_error *error) {
    const size_t q = RELEASED + catalogue->n_features;
    struct table table = {model->n_items, q, memory_alloc(model->n_items, q * sizeof(double))};
    double *X = memory_alloc(q, q * sizeof *X), *axes = memory_alloc(q, q * sizeof *axes);
    double *values = memory_alloc(q, sizeof *values);
    const bool whole = table.at && X && axes && values;
    if (whole) {
        fill_table(&table, model, evidence, catalogue);
        find_covariance(&table, evidence->N, X);
        symmetric_eigen(X, q, values, axes);
        project(&table, axes, sqrt(variance / fmax(values[0], 1e-9)), model);
    }
    free(table.at);
    free(X);
    free(axes);
    free(values);
    return whole ? 0 : error_no_memory(error);
}
