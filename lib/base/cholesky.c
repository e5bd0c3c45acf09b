/*
 * Cholesky's factor, row by row, and what is solved with it. Systems here are as small as the rank of
 * a model; fold-in and the samplers live on it, and a client must get the bits the curator got, so
 * each sum is taken in one fixed order.
 */
#include "base/cholesky.h"

#include <math.h>

/* start - sum over k < n of a[k] b[k], from the first to the last */
static double minus_dot(double start, const double *a, const double *b, size_t n) {
    for (size_t k = 0; k < n; k++) start -= a[k] * b[k];
    return start;
}

int cholesky_factor(double *A, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double *row = A + i * n;
        for (size_t j = 0; j < i; j++) row[j] = minus_dot(row[j], row, A + j * n, j) / A[j * n + j];
        double square = minus_dot(row[i], row, row, i);
        if (!(square > 0) || !isfinite(square)) return DPMF_ERR_BASE_NOT_DEFINITE;
        row[i] = sqrt(square);
    }
    return 0;
}

void cholesky_solve_lower(const double *L, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) x[i] = minus_dot(x[i], L + i * n, x, i) / L[i * n + i];
}

/* x := L^-T x, taking each solved unknown out of the rows above: L is then read along its rows. */
static void solve_transposed(const double *L, size_t n, double *x) {
    for (size_t i = n; i-- > 0;) {
        const double *row = L + i * n;
        x[i] /= row[i];
        for (size_t k = 0; k < i; k++) x[k] -= row[k] * x[i];
    }
}

void cholesky_solve(const double *L, size_t n, double *x) {
    cholesky_solve_lower(L, n, x);
    solve_transposed(L, n, x);
}

double cholesky_log_det(const double *L, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += log(L[i * n + i]);
    return 2 * sum;
}

void cholesky_inverse(const double *L, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) {
        double *row = out + i * n;
        for (size_t j = 0; j < n; j++) row[j] = i == j;
        cholesky_solve(L, n, row);
    }
    /* The two halves differ by rounding: one of them is taken for both. */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
}
