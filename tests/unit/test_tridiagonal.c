/*
 * Q T Q^T is the matrix and Q orthogonal, of random matrices, of those with rows and columns that
 * are 0, and of those that are diagonal; only the lower triangle is read.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numerics/tridiagonal.h"
#include "random/random.h"

enum { N_MAX = 40 };

static double A[N_MAX * N_MAX], work[N_MAX * N_MAX], Q[N_MAX * N_MAX];
static double diagonal[N_MAX], beside[N_MAX], spare[3 * N_MAX];

static double tridiagonal_at(size_t a, size_t b) {
    return a == b ? diagonal[a] : a + 1 == b ? beside[a] : b + 1 == a ? beside[b] : 0;
}

static void check_near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-12 * N_MAX)) fail_msg("%.17g, not %.17g", found, expected);
}

/* `used` rows and columns are not 0. */
static void check_matrix(size_t n, size_t used, bool is_diagonal) {
    struct random_stream stream;
    random_stream_init(&stream, n, 4, used);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++)
            A[a * n + b] = A[b * n + a] =
                a < used && (a == b || !is_diagonal) ? random_gaussian(&stream) : 0;
    memcpy(work, A, n * n * sizeof *A);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) work[a * n + b] = NAN;
    tridiagonal_reduce(work, n, diagonal, beside, Q, spare);
    assert_true(beside[n - 1] == 0);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double product = 0, whole = 0;
            for (size_t c = 0; c < n; c++) {
                product += Q[a * n + c] * Q[b * n + c];
                for (size_t d = c > 0 ? c - 1 : 0; d < n && d <= c + 1; d++)
                    whole += Q[a * n + c] * tridiagonal_at(c, d) * Q[b * n + d];
            }
            check_near(product, a == b);
            check_near(whole, A[a * n + b]);
            if (a >= used) assert_true(Q[a * n + b] == (a == b) && Q[b * n + a] == (a == b));
        }
}

static void test_matrices(void **state) {
    (void)state;
    for (size_t n = 1; n <= N_MAX; n++) {
        check_matrix(n, n, false);
        check_matrix(n, n / 2, false);
        check_matrix(n, n, true);
    }
}

static void test_nothing(void **state) {
    (void)state;
    diagonal[0] = beside[0] = Q[0] = 7;
    tridiagonal_reduce(work, 0, diagonal, beside, Q, spare);
    assert_true(diagonal[0] == 7 && beside[0] == 7 && Q[0] == 7);
}

/* What is not finite does not become finite, and ends. */
static void test_not_finite(void **state) {
    (void)state;
    const size_t n = 6;
    for (size_t i = 0; i < n * n; i++) work[i] = i == 3 * n + 1 ? INFINITY : 1;
    tridiagonal_reduce(work, n, diagonal, beside, Q, spare);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += diagonal[i];
    if (isfinite(sum)) fail_msg("finite: %g", sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
