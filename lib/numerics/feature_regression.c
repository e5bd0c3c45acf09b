/*
 * Ridge regression on features, its penalty chosen by leaving out one item at a time. With the
 * eigenvectors of the features' second moments as coordinates, the fit and every item's leverage at
 * any penalty are sums over coordinates, so that all penalties of a grid are tried for little more
 * than one. Fed by release_extend.c and feature_rows.c.
 *
 *     min over b0, b of  sum_j w_j (z_j - b0 - b.x_j)^2 + penalty W |b|^2,  W = sum_j w_j
 *
 * The constant is free: x and z are taken about their weighted means. Left out, item j is predicted
 * with the error
 *
 *     (z_j - prediction) / (1 - h_j),  h_j = w_j / W + w_j x_j' (X'WX + penalty W)^-1 x_j
 */
#include "numerics/feature_regression.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/symmetric_eigen.h"

static const double penalties[] = {1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 100};
enum { PENALTIES = sizeof penalties / sizeof penalties[0] };

struct fitting {
    const struct feature_regression *in;
    size_t q;       /* features */
    double total;   /* W; 0 when there is nothing to learn from */
    double *mean;   /* q: of the features */
    double *X;      /* n x q: the features about their mean, in coordinates of the axes */
    double *axes;   /* q x q: a row each */
    double *spread; /* q: X'WX / W along each axis */
    double *H;      /* q x q, scratch */
    double *h, *b;  /* q: X'Wz / W; coefficients */
};

static double weight(const struct fitting *self, size_t j) {
    return self->in->described[j] ? self->in->weights[j] : 0;
}

/* ---- coordinates ----------------------------------------------------------------------------- */

static void find_mean(struct fitting *self) {
    const struct feature_regression *in = self->in;
    for (size_t j = 0; j < in->n_known; j++) self->total += weight(self, j);
    for (size_t j = 0; self->total > 0 && j < in->n_known; j++)
        for (size_t a = 0; a < self->q; a++)
            self->mean[a] += weight(self, j) / self->total * in->features[j * self->q + a];
}

static void find_axes(struct fitting *self) {
    const struct feature_regression *in = self->in;
    const size_t q = self->q;
    for (size_t j = 0; j < in->n_known; j++) {
        const double *f = in->features + j * q;
        const double w = weight(self, j) / self->total;
        if (w == 0) continue;
        for (size_t a = 0; a < q; a++) {
            const double wf = w * (f[a] - self->mean[a]);
            for (size_t b = 0; b < q; b++) self->H[a * q + b] += wf * (f[b] - self->mean[b]);
        }
    }
    symmetric_eigen(self->H, q, self->spread, self->axes);
    for (size_t a = 0; a < q; a++) self->spread[a] = fmax(self->spread[a], 0);
}

static void turn_features(struct fitting *self) {
    const struct feature_regression *in = self->in;
    const size_t q = self->q;
    for (size_t j = 0; j < in->n; j++)
        for (size_t a = 0; a < q; a++) {
            double sum = 0;
            for (size_t b = 0; b < q; b++)
                sum += self->axes[a * q + b] * (in->features[j * q + b] - self->mean[b]);
            self->X[j * q + a] = sum;
        }
}

/* ---- one value ------------------------------------------------------------------------------- */

static double predict(const struct fitting *self, size_t j) {
    double sum = 0;
    for (size_t a = 0; a < self->q; a++) sum += self->b[a] * self->X[j * self->q + a];
    return sum;
}

static double leverage(const struct fitting *self, size_t j, double penalty) {
    double sum = 1;
    for (size_t a = 0; a < self->q; a++) {
        const double x = self->X[j * self->q + a];
        sum += x * x / (self->spread[a] + penalty);
    }
    return weight(self, j) / self->total * sum;
}

static void solve(struct fitting *self, double penalty) {
    for (size_t a = 0; a < self->q; a++) self->b[a] = self->h[a] / (self->spread[a] + penalty);
}

/* The weighted squares of the errors of items that were left out. */
static double error_left_out(struct fitting *self, size_t value, double mean, double penalty) {
    const struct feature_regression *in = self->in;
    double sum = 0;
    solve(self, penalty);
    for (size_t j = 0; j < in->n_known; j++) {
        const double w = weight(self, j);
        if (w == 0) continue;
        const double e = in->values[j * in->n_values + value] - mean - predict(self, j);
        const double kept = fmax(1 - leverage(self, j, penalty), 1e-6);
        sum += w * (e / kept) * (e / kept);
    }
    return sum;
}

static double best_penalty(struct fitting *self, size_t value, double mean) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < PENALTIES; i++) {
        const double error = error_left_out(self, value, mean, penalties[i]);
        if (error < least) least = error, best = i;
    }
    return penalties[best];
}

static void place(struct fitting *self, size_t value) {
    const struct feature_regression *in = self->in;
    const size_t n_values = in->n_values;
    double mean = 0, low = INFINITY, high = -INFINITY;
    for (size_t j = 0; j < in->n_known; j++) {
        const double z = in->values[j * n_values + value];
        mean += self->total > 0 ? weight(self, j) / self->total * z : z / (double)in->n_known;
        low = fmin(low, z);
        high = fmax(high, z);
    }
    memset(self->h, 0, self->q * sizeof *self->h);
    for (size_t j = 0; self->total > 0 && j < in->n_known; j++) {
        const double wz = weight(self, j) / self->total * (in->values[j * n_values + value] - mean);
        for (size_t a = 0; a < self->q; a++) self->h[a] += wz * self->X[j * self->q + a];
    }
    const double penalty = self->total > 0 ? best_penalty(self, value, mean) : 1;
    solve(self, penalty);
    if (in->means) in->means[value] = mean;
    for (size_t j = 0; in->left_out && j < in->n_known; j++) {
        const double z = in->values[j * n_values + value] - mean, fit = predict(self, j);
        const double kept = self->total > 0 ? fmax(1 - leverage(self, j, penalty), 1e-6) : 1;
        in->left_out[j * n_values + value] = mean + (in->described[j] ? z - (z - fit) / kept : 0);
    }
    for (size_t j = in->n_known; j < in->n; j++) {
        const double z = mean + (in->described[j] ? predict(self, j) : 0);
        in->values[j * n_values + value] = fmin(fmax(z, low), high);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

int feature_regression_run(const struct feature_regression *regression, struct dpmf_error *error) {
    assert(regression->n_known >= 1 && regression->n_features >= 1);
    const size_t q = regression->n_features;
    struct fitting self = {.in = regression, .q = q};
    double *memory = memory_alloc_zero(2 * q + 4, q * sizeof *memory);
    self.X = memory_alloc(regression->n, q * sizeof *self.X);
    const bool whole = memory && self.X;
    if (whole) {
        self.H = memory;
        self.axes = memory + q * q;
        self.mean = self.axes + q * q;
        self.spread = self.mean + q;
        self.h = self.spread + q;
        self.b = self.h + q;
        find_mean(&self);
        find_axes(&self);
        turn_features(&self);
        for (size_t value = 0; value < regression->n_values; value++) place(&self, value);
    }
    free(memory);
    free(self.X);
    return whole ? 0 : error_no_memory(error);
}
