/*
 * Lanczos' method with full reorthogonalisation: the matrix is met only in products with a vector,
 * which are shared out to threads by rows; each row's sum has one order, so that threads leave no
 * trace in the result. A fixed number of steps: enough for eigenvalues that stand out of a bulk,
 * which is what lib/privacy asks for.
 */
#include "numerics/lanczos.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/symmetric_eigen.h"

enum { STEPS_MAX = 120, RANGE = 64 /* rows at once */, LANES = 4 };

static double dot(const double *x, const double *y, size_t n) {
    double sum[LANES] = {0}, rest = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) sum[l] += x[i + l] * y[i + l];
    for (; i < n; i++) rest += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

/* ---- y = A x
 * ---------------------------------------------------------------------------------- */

struct product {
    const double *A, *x;
    double *y;
    size_t n;
    _Atomic size_t next;
};

static void multiply_rows(void *self, int worker) {
    struct product *product = self;
    size_t n = product->n, first;
    (void)worker;
    while ((first = atomic_fetch_add(&product->next, RANGE)) < n)
        for (size_t i = first; i < n && i < first + RANGE; i++)
            product->y[i] = dot(product->A + i * n, product->x, n);
}

/* ---- the basis
 * -------------------------------------------------------------------------------- */

/* Takes from y what lies along the first m rows of Q; twice, for the rounding of the first time. */
static void orthogonalise(double *y, const double *Q, size_t m, size_t n) {
    for (int turn = 0; turn < 2; turn++)
        for (size_t k = 0; k < m; k++) {
            const double *q = Q + k * n;
            double along = dot(q, y, n);
            for (size_t i = 0; i < n; i++) y[i] -= along * q[i];
        }
}

/* Fills in rows of Q and the tridiagonal matrix T (steps x steps). @return how many steps were
 * made */
static size_t build_basis(const double *A, size_t n, size_t steps, double *y,
                          struct thread_pool *pool, double *Q, double *T) {
    assert(steps > 0 && steps <= n);
    double length = sqrt(dot(y, y, n)), scale = 0;
    size_t m = 0;
    while (m < steps && isfinite(length) && length > 1e-12 * scale) {
        double *q = Q + m * n;
        for (size_t i = 0; i < n; i++) q[i] = y[i] / length;
        if (m > 0) T[m * steps + m - 1] = T[(m - 1) * steps + m] = length;
        struct product product = {.A = A, .x = q, .y = y, .n = n};
        thread_pool_run(pool, multiply_rows, &product);
        T[m * steps + m] = dot(q, y, n);
        scale = fmax(scale, fmax(fabs(T[m * steps + m]), m > 0 ? length : 0));
        m++;
        orthogonalise(y, Q, m, n);
        length = sqrt(dot(y, y, n));
    }
    return m;
}

/* ---- eigenvectors
 * ----------------------------------------------------------------------------- */

static void combine(const double *Q, size_t m, size_t n, const double *weights, double *out) {
    assert(m > 0);
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < n; i++) out[i] += weights[k] * Q[k * n + i];
    double length = sqrt(dot(out, out, n));
    /* Rows of Q have length 1, and weights are a product of rotations, whatever is rotated. */
    assert(length > 0);
    for (size_t i = 0; i < n; i++) out[i] /= length;
}

int lanczos_top(const double *A, size_t n, size_t n_wanted, double *start, struct thread_pool *pool,
                double *values, double *vectors, struct dpmf_error *error) {
    assert(A && start && values && vectors);
    size_t steps = n < STEPS_MAX ? n : STEPS_MAX;
    double *Q = memory_alloc(n, steps * sizeof *Q),
           *T = memory_alloc_zero(steps, steps * sizeof *T);
    double *small = memory_alloc(steps, steps * sizeof *small);
    double *axes = memory_alloc(steps, (steps + 1) * sizeof *axes);
    const bool whole = Q && T && small && axes;
    memset(values, 0, n_wanted * sizeof *values);
    memset(vectors, 0, n_wanted * n * sizeof *vectors);
    if (whole) {
        size_t m = build_basis(A, n, steps, start, pool, Q, T);
        for (size_t a = 0; a < m; a++) memcpy(small + a * m, T + a * steps, m * sizeof *small);
        double *found = axes + steps * steps;
        if (m > 0) symmetric_eigen(small, m, found, axes);
        for (size_t k = 0; k < n_wanted && k < m; k++) {
            values[k] = found[k];
            combine(Q, m, n, axes + k * m, vectors + k * n);
        }
    }
    free(Q);
    free(T);
    free(small);
    free(axes);
    return whole ? 0 : error_no_memory(error);
}
