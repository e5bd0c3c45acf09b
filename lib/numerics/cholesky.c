/*
 * Cholesky's factor, and what is solved with it. Systems here are as small as the rank of
 * a model; fold-in and the samplers live on it, and a client must get the bits the curator got, so
 * each sum is taken in one fixed order.
 */
#include "numerics/cholesky.h"

#include <assert.h>
#include <math.h>

/* start - sum over k < n of a[k] b[k], from the first to the last */
static double minus_dot(double start, const double *a, const double *b, size_t n) {
    for (size_t k = 0; k < n; k++) start -= a[k] * b[k];
    return start;
}

/* The same for row[j], A's rows `rows` on, four at a time: four sums at once wait for each other
 * less. */
static void minus_four_dots(double *rows, size_t n, const double *pivot, size_t j) {
    assert(j < n);
    double *a = rows, *b = rows + n, *c = rows + 2 * n, *d = rows + 3 * n;
    double sum_a = a[j], sum_b = b[j], sum_c = c[j], sum_d = d[j];
    for (size_t k = 0; k < j; k++) {
        sum_a -= a[k] * pivot[k];
        sum_b -= b[k] * pivot[k];
        sum_c -= c[k] * pivot[k];
        sum_d -= d[k] * pivot[k];
    }
    a[j] = sum_a;
    b[j] = sum_b;
    c[j] = sum_c;
    d[j] = sum_d;
}

/* Column by column: what is left of it on and below the diagonal, then its root and quotients. */
int cholesky_factor_columns(double *A, size_t n, size_t first, size_t end) {
    assert(A);
    assert(first <= end && end <= n);
    for (size_t j = first; j < end; j++) {
        const double *pivot = A + j * n;
        size_t i = j;
        for (; i + 4 <= n; i += 4) minus_four_dots(A + i * n, n, pivot, j);
        for (; i < n; i++) A[i * n + j] = minus_dot(A[i * n + j], A + i * n, pivot, j);
        const double square = A[j * n + j];
        if (!(square > 0) || !isfinite(square)) return DPMF_ERR_BASE_NOT_DEFINITE;
        const double root = sqrt(square);
        A[j * n + j] = root;
        for (i = j + 1; i < n; i++) A[i * n + j] /= root;
    }
    return 0;
}

int cholesky_factor(double *A, size_t n) { return cholesky_factor_columns(A, n, 0, n); }

void cholesky_solve_lower(const double *L, size_t n, double *x) {
    assert(L && x && L != x);
    for (size_t i = 0; i < n; i++) x[i] = minus_dot(x[i], L + i * n, x, i) / L[i * n + i];
}

/* Taking each solved unknown out of the rows above: L is then read along its rows. */
void cholesky_solve_transposed(const double *L, size_t n, double *x) {
    assert(L && x && L != x);
    for (size_t i = n; i-- > 0;) {
        const double *row = L + i * n;
        x[i] /= row[i];
        for (size_t k = 0; k < i; k++) x[k] -= row[k] * x[i];
    }
}

void cholesky_solve(const double *L, size_t n, double *x) {
    cholesky_solve_lower(L, n, x);
    cholesky_solve_transposed(L, n, x);
}

double cholesky_log_det(const double *L, size_t n) {
    assert(L);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += log(L[i * n + i]);
    return 2 * sum;
}

void cholesky_inverse(const double *L, size_t n, double *out) {
    assert(L && out && L != out);
    for (size_t i = 0; i < n; i++) {
        double *row = out + i * n;
        for (size_t j = 0; j < n; j++) row[j] = i == j;
        cholesky_solve(L, n, row);
    }
    /* The two halves differ by rounding: one of them is taken for both. */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
}
