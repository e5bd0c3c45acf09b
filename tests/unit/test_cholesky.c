/*
 * The factor times its transpose is the matrix, solutions solve, and what is not positive definite
 * is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numerics/cholesky.h"
#include "random/random.h"

enum { N_MAX = 40 };

static double A[N_MAX * N_MAX], L[N_MAX * N_MAX], inverse[N_MAX * N_MAX];

/* B B^T + I, for random B: positive definite and well-behaved. */
static void make_matrix(size_t n, uint64_t seed) {
    static double B[N_MAX * N_MAX];
    struct random_stream stream;
    random_stream_init(&stream, seed, 3, n);
    for (size_t i = 0; i < n * n; i++) B[i] = random_gaussian(&stream);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            A[i * n + j] = i == j;
            for (size_t k = 0; k < n; k++) A[i * n + j] += B[i * n + k] * B[j * n + k];
        }
}

/* The upper triangle is not to be read or written: it is filled with what would show. */
static void factor(size_t n) {
    memcpy(L, A, n * n * sizeof *L);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) L[i * n + j] = NAN;
    assert_int_equal(cholesky_factor(L, n), 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) assert_true(isnan(L[i * n + j]));
}

static void check_near(double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance)) fail_msg("%.17g, not %.17g", found, expected);
}

static void test_random_matrices(void **state) {
    (void)state;
    for (size_t n = 1; n <= N_MAX; n++) {
        make_matrix(n, 5);
        factor(n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t k = 0; k <= j; k++) sum += L[i * n + k] * L[j * n + k];
                check_near(sum, A[i * n + j], 1e-11);
            }

        double x[N_MAX], b[N_MAX], y[N_MAX];
        for (size_t i = 0; i < n; i++) x[i] = b[i] = y[i] = (double)i - 3.25;
        cholesky_solve(L, n, x);
        cholesky_solve_lower(L, n, y);
        for (size_t i = 0; i < n; i++) {
            double sum = 0, lower = 0;
            for (size_t j = 0; j < n; j++) sum += A[i * n + j] * x[j];
            for (size_t j = 0; j <= i; j++) lower += L[i * n + j] * y[j];
            check_near(sum, b[i], 1e-8);
            check_near(lower, b[i], 1e-9);
        }

        cholesky_inverse(L, n, inverse);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t k = 0; k < n; k++) sum += A[i * n + k] * inverse[k * n + j];
                check_near(sum, i == j, 1e-8);
                assert_true(inverse[i * n + j] == inverse[j * n + i]);
            }
    }
}

/* Piece by piece it is the same, to the last bit, and refused in the piece that has the bad column.
 */
static void test_pieces(void **state) {
    static double pieces[N_MAX * N_MAX];
    (void)state;
    make_matrix(N_MAX, 6);
    factor(N_MAX);
    memcpy(pieces, A, sizeof pieces);
    for (size_t first = 0, end; first < N_MAX; first = end) {
        end = first + 7 < N_MAX ? first + 7 : N_MAX;
        assert_int_equal(cholesky_factor_columns(pieces, N_MAX, first, end), 0);
    }
    for (size_t i = 0; i < N_MAX; i++)
        assert_memory_equal(pieces + i * N_MAX, L + i * N_MAX, (i + 1) * sizeof(double));

    memcpy(pieces, A, sizeof pieces);
    pieces[20 * N_MAX + 20] = -1;
    assert_int_equal(cholesky_factor_columns(pieces, N_MAX, 0, 20), 0);
    assert_int_equal(cholesky_factor_columns(pieces, N_MAX, 20, 21), DPMF_ERR_BASE_NOT_DEFINITE);
}

static void test_known(void **state) {
    (void)state;
    double known[9] = {4, 0, 0, 12, 37, 0, -16, -43, 98};
    static const double expected[9] = {2, 0, 0, 6, 1, 0, -8, 5, 3};
    assert_int_equal(cholesky_factor(known, 3), 0);
    for (int i = 0; i < 9; i++) assert_true(known[i] == expected[i]);
    check_near(cholesky_log_det(known, 3), log(36), 1e-14);
    assert_int_equal(cholesky_factor(known, 0), 0);
    assert_true(cholesky_log_det(known, 0) == 0);
}

static void test_refused(void **state) {
    (void)state;
    static const double bad[][4] = {
        {0, 0, 0, 1},        {-1, 0, 0, 1},       {1, 0, 2, 1},          {1, 0, 1, 1},
        {NAN, 0, 0, 1},      {1, 0, NAN, 1},      {1, 0, INFINITY, 1},   {1, 0, 0, NAN},
        {INFINITY, 0, 0, 1}, {1, 0, 0, INFINITY}, {1e-320, 0, 1e300, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double matrix[4];
        memcpy(matrix, bad[i], sizeof matrix);
        assert_int_equal(cholesky_factor(matrix, 2), DPMF_ERR_BASE_NOT_DEFINITE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_matrices),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("cholesky", tests, NULL, NULL);
}
