/*
 * The surface of surface.h. Values are brought to mean 0 and variance 1; the kernel's lengths and
 * the noise are the best of a few, tried one after the other, by the likelihood of the values times
 * a mild belief that a length is about half the width of the box. Fed by search.c.
 */
#include "tune/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/cholesky.h"

enum { N_LENGTHS = 6, N_NOISES = 3, SWEEPS = 2 };

static const double LENGTHS[N_LENGTHS] = {0.15, 0.3, 0.6, 1.2, 2.5, 5};
static const double NOISES[N_NOISES] = {1e-5, 1e-3, 3e-2}; /* variances, of values of variance 1 */
static const double USUAL_LENGTH = 0.6;

struct surface {
    size_t n, n_axes;
    double *points; /* n x n_axes */
    double mean, scale;
    double *values;  /* n, mean 0 and variance 1 */
    double *factor;  /* n x n: of the kernel's matrix */
    double *weights; /* n: its inverse times the values */
    double *against; /* n: a point's kernel with each of ours */
    double length[SURFACE_AXES_MAX];
    double noise;
};

static double kernel(const struct surface *surface, const double *a, const double *b) {
    double square = 0;
    for (size_t i = 0; i < surface->n_axes; i++) {
        double distance = (a[i] - b[i]) / surface->length[i];
        square += distance * distance;
    }
    double r = sqrt(5 * square);
    return (1 + r + r * r / 3) * exp(-r);
}

/* Factors the kernel's matrix for the lengths and the noise at hand.
 * @return the logarithm of how well they explain the values; -INFINITY when they cannot */
static double explain_values(struct surface *surface) {
    const size_t n = surface->n;
    double *K = surface->factor, fit = 0, belief = 0;
    for (size_t i = 0; i < n; i++) {
        const double *point = surface->points + i * surface->n_axes;
        for (size_t j = 0; j <= i; j++)
            K[i * n + j] = kernel(surface, point, surface->points + j * surface->n_axes);
        K[i * n + i] += surface->noise;
    }
    if (cholesky_factor(K, n) < 0) return -INFINITY;
    memcpy(surface->weights, surface->values, n * sizeof surface->values[0]);
    cholesky_solve(K, n, surface->weights);
    for (size_t i = 0; i < n; i++) fit += surface->values[i] * surface->weights[i];
    for (size_t i = 0; i < surface->n_axes; i++) {
        double off = log(surface->length[i] / USUAL_LENGTH);
        belief += off * off;
    }
    return -0.5 * (fit + cholesky_log_det(K, n) + belief);
}

/* Sets *setting to the best of the choices, the others being what they are. */
static void choose(struct surface *surface, double *setting, const double *choices, size_t n) {
    double best = -INFINITY, chosen = *setting;
    for (size_t i = 0; i < n; i++) {
        *setting = choices[i];
        double score = explain_values(surface);
        if (score > best) {
            best = score;
            chosen = choices[i];
        }
    }
    *setting = chosen;
}

static void standardise(struct surface *surface, const double *values) {
    const double n = (double)surface->n;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < surface->n; i++) sum += values[i];
    surface->mean = sum / n;
    for (size_t i = 0; i < surface->n; i++) {
        double off = values[i] - surface->mean;
        squares += off * off;
    }
    surface->scale = sqrt(squares / n);
    if (!(surface->scale > 0)) surface->scale = 1;
    for (size_t i = 0; i < surface->n; i++)
        surface->values[i] = (values[i] - surface->mean) / surface->scale;
}

int surface_fit(struct surface **out, const double *points, const double *values, size_t n,
                size_t n_axes, struct dpmf_error *error) {
    struct surface *surface = memory_alloc_zero(1, sizeof *surface);
    *out = NULL;
    if (!surface) return error_no_memory(error);
    surface->n = n;
    surface->n_axes = n_axes;
    surface->points = memory_alloc(n * n_axes, sizeof(double));
    surface->values = memory_alloc(n, sizeof(double));
    surface->factor = memory_alloc(n * n, sizeof(double));
    surface->weights = memory_alloc(n, sizeof(double));
    surface->against = memory_alloc(n, sizeof(double));
    if (!surface->points || !surface->values || !surface->factor || !surface->weights ||
        !surface->against) {
        surface_free(surface);
        return error_no_memory(error);
    }
    memcpy(surface->points, points, n * n_axes * sizeof(double));
    standardise(surface, values);
    surface->noise = NOISES[1];
    for (size_t i = 0; i < n_axes; i++) surface->length[i] = USUAL_LENGTH;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (size_t i = 0; i < n_axes; i++)
            choose(surface, &surface->length[i], LENGTHS, N_LENGTHS);
        choose(surface, &surface->noise, NOISES, N_NOISES);
    }
    if (!isfinite(explain_values(surface))) {
        surface_free(surface);
        return error_set(error, DPMF_ERR_BASE_NOT_DEFINITE, "no surface fits these values");
    }
    *out = surface;
    return 0;
}

void surface_free(struct surface *surface) {
    if (!surface) return;
    free(surface->points);
    free(surface->values);
    free(surface->factor);
    free(surface->weights);
    free(surface->against);
    free(surface);
}

/* The expected value, of mean 0 and variance 1; `against` is then the point's kernel. */
static double expect(struct surface *surface, const double *point) {
    double sum = 0;
    for (size_t i = 0; i < surface->n; i++) {
        surface->against[i] = kernel(surface, point, surface->points + i * surface->n_axes);
        sum += surface->against[i] * surface->weights[i];
    }
    return sum;
}

double surface_improvement(struct surface *surface, const double *point, double best) {
    const double half_root = 0.70710678118654752440, root_tau = 2.50662827463100050242;
    double mean = expect(surface, point), variance = 1;
    cholesky_solve_lower(surface->factor, surface->n, surface->against);
    for (size_t i = 0; i < surface->n; i++) variance -= surface->against[i] * surface->against[i];
    double gain = (best - surface->mean) / surface->scale - mean;
    if (!(variance > 1e-12)) return gain > 0 ? surface->scale * gain : 0;
    double deviation = sqrt(variance), z = gain / deviation;
    double below = 0.5 * erfc(-z * half_root), density = exp(-0.5 * z * z) / root_tau;
    return surface->scale * (gain * below + deviation * density);
}
