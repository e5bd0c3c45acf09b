/*
 * Householder's reduction. Column j's reflection I - tau v v^T, v_j+1 = 1, makes what is below the
 * subdiagonal 0; the rest of v stays where these numbers were, until Q is multiplied together from
 * the last reflection to the first, each of which touches only what is below and to the right of
 * it. Fed by rank/ials_basis.c.
 */
#include "numerics/tridiagonal.h"

#include <math.h>
#include <string.h>

/* The reflection of what is below the diagonal in column j onto its first number, which becomes
 * *first. @return tau; 0: nothing is to be done */
static double reflect(double *A, size_t n, size_t j, double *first) {
    const double x = A[(j + 1) * n + j];
    double tail = 0;
    for (size_t i = j + 2; i < n; i++) tail += A[i * n + j] * A[i * n + j];
    *first = x;
    if (tail == 0) return 0;
    const double length = sqrt(x * x + tail), turned = x > 0 ? -length : length;
    for (size_t i = j + 2; i < n; i++) A[i * n + j] /= x - turned;
    *first = turned;
    return (turned - x) / turned;
}

static void take_v(const double *A, size_t n, size_t j, double *v) {
    v[j + 1] = 1;
    for (size_t i = j + 2; i < n; i++) v[i] = A[i * n + j];
}

/* w such that A - v w^T - w v^T is A reflected from both sides, from row `from` on. */
static void find_w(const double *A, size_t n, size_t from, const double *v, double tau, double *w) {
    double dot = 0;
    memset(w + from, 0, (n - from) * sizeof *w);
    for (size_t i = from; i < n; i++) {
        const double *row = A + i * n, vi = v[i];
        double sums[4] = {0};
        size_t c = from;
        for (; c + 4 <= i; c += 4)
            for (size_t s = 0; s < 4; s++) {
                sums[s] += row[c + s] * v[c + s];
                w[c + s] += row[c + s] * vi;
            }
        for (; c < i; c++) {
            sums[0] += row[c] * v[c];
            w[c] += row[c] * vi;
        }
        w[i] += (sums[0] + sums[1]) + (sums[2] + sums[3]) + row[i] * vi;
    }
    for (size_t i = from; i < n; i++) dot += w[i] * v[i];
    for (size_t i = from; i < n; i++) w[i] = tau * (w[i] - tau * dot / 2 * v[i]);
}

static void reflect_rest(double *A, size_t n, size_t from, const double *v, const double *w) {
    for (size_t i = from; i < n; i++) {
        const double vi = v[i], wi = w[i];
        double *row = A + i * n;
        for (size_t c = from; c <= i; c++) row[c] -= vi * w[c] + wi * v[c];
    }
}

/* Q := (I - tau v v^T) Q, from row and column `from` on. */
static void multiply(double *Q, size_t n, size_t from, const double *v, double tau, double *w) {
    memset(w + from, 0, (n - from) * sizeof *w);
    for (size_t i = from; i < n; i++)
        for (size_t c = from; c < n; c++) w[c] += v[i] * Q[i * n + c];
    for (size_t i = from; i < n; i++) {
        const double pull = tau * v[i];
        for (size_t c = from; c < n; c++) Q[i * n + c] -= pull * w[c];
    }
}

void tridiagonal_reduce(double *A, size_t n, double *diagonal, double *beside, double *Q,
                        double *spare) {
    double *taus = spare, *v = spare + n, *w = spare + 2 * n;
    for (size_t j = 0; j + 1 < n; j++) {
        taus[j] = reflect(A, n, j, &beside[j]);
        if (taus[j] == 0) continue;
        take_v(A, n, j, v);
        find_w(A, n, j + 1, v, taus[j], w);
        reflect_rest(A, n, j + 1, v, w);
    }
    if (n > 0) beside[n - 1] = 0;
    memset(Q, 0, n * n * sizeof *Q);
    for (size_t i = 0; i < n; i++) {
        Q[i * n + i] = 1;
        diagonal[i] = A[i * n + i];
    }
    for (size_t j = n > 0 ? n - 1 : 0; j-- > 0;) {
        if (taus[j] == 0) continue;
        take_v(A, n, j, v);
        multiply(Q, n, j + 1, v, taus[j], w);
    }
}
