/*
 * Jacobi's method: plane rotations that each make one pair of off-diagonal entries zero, swept over
 * all pairs until nothing is left off the diagonal. Cubic in n, with a small constant: matrices
 * here are as large as a model's rank. Used by lib/privacy.
 */
#include "numerics/symmetric_eigen.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum { SWEEPS_MAX = 60 };

static const double smallest_entry = 1e-300, converged = 1e-20;

/* Rotates columns (step n) or rows (step 1) p and q. */
static void rotate(double *at_p, double *at_q, size_t n, size_t step, double c, double s) {
    assert(step == 1 || step == n);
    for (size_t k = 0; k < n; k++) {
        double x = at_p[k * step], y = at_q[k * step];
        at_p[k * step] = c * x - s * y;
        at_q[k * step] = s * x + c * y;
    }
}

static void annihilate(double *A, size_t n, size_t p, size_t q, double *vectors) {
    assert(p < q && q < n);
    double entry = A[p * n + q];
    if (!(fabs(entry) >= smallest_entry)) return;
    double theta = (A[q * n + q] - A[p * n + p]) / (2 * entry);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    rotate(A + p, A + q, n, n, c, s);
    rotate(A + p * n, A + q * n, n, 1, c, s);
    rotate(vectors + p * n, vectors + q * n, n, 1, c, s);
}

static bool is_diagonal(const double *A, size_t n) {
    double off = 0, on = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) *(i == j ? &on : &off) += A[i * n + j] * A[i * n + j];
    return !(off > converged * on);
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

static void sort_falling(double *values, double *vectors, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[best]) best = j;
        if (best == i) continue;
        swap(&values[i], &values[best]);
        for (size_t k = 0; k < n; k++) swap(&vectors[i * n + k], &vectors[best * n + k]);
    }
}

void symmetric_eigen(double *A, size_t n, double *values, double *vectors) {
    assert(A && values && vectors);
    assert(A != vectors);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) vectors[i * n + j] = i == j;
    for (int sweep = 0; sweep < SWEEPS_MAX && !is_diagonal(A, n); sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) annihilate(A, n, p, q, vectors);
    for (size_t i = 0; i < n; i++) values[i] = A[i * n + i];
    sort_falling(values, vectors, n);
}
