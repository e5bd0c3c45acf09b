/*
 * The inner loops of private contributions: every instruction set gives the bits of the reference,
 * and the reference what exact.h defines, for all widths and numbers of ratings that can be.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/kernel_sets.h"
#include "numerics/cholesky.h"
#include "random/random.h"

/* Two doubles at a time, as NEON has them: any machine can compile that. */
#define EXACT_VEC 2
#include "kernels/exact_body.h"
extern const struct exact_kernels kernel_pairs_exact;
EXACT_KERNELS(pairs);

enum { ROWS = 300, RATED_MAX = 140, VALUES = 5000 };

static const struct exact_kernels *reference = &kernel_ref_exact;

/* Calls `check` for every set that this machine can run. */
static void for_each_set(void (*check)(const struct exact_kernels *exact)) {
    const struct kernel_set *set;
    check(&kernel_pairs_exact);
    for (size_t i = 0; (set = kernel_set_at(i)) != NULL; i++) {
        if (set->is_supported())
            check(set->exact);
        else
            print_message("no %s here: not tried\n", set->name);
    }
}

/* Numbers of many sizes: their sums round differently in every order. */
static void fill(struct random_stream *random, double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = random_gaussian(random) * exp(4 * random_gaussian(random));
}

struct bed {
    double rows[ROWS * EXACT_WIDTH_MAX], targets[RATED_MAX], x[EXACT_WIDTH_MAX];
    uint32_t at[RATED_MAX];
    struct exact_rows own;
};

static struct bed *make_bed(size_t width, size_t n, uint64_t number) {
    struct bed *bed = malloc(sizeof *bed);
    struct random_stream random;
    assert_non_null(bed);
    random_stream_init(&random, 31, 1, number);
    fill(&random, bed->rows, ROWS * width);
    fill(&random, bed->targets, n);
    fill(&random, bed->x, width);
    for (size_t i = 0; i < n; i++) bed->at[i] = (uint32_t)random_below(&random, ROWS);
    bed->own = (struct exact_rows){bed->rows, width, bed->at, n};
    return bed;
}

static const size_t widths[] = {8, 16, 24, 40, 48};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

static void check_normal(const struct exact_kernels *exact) {
    static double A[2][EXACT_WIDTH_MAX * EXACT_WIDTH_MAX], x[2][EXACT_WIDTH_MAX];
    for (size_t w = 0; w < WIDTHS; w++)
        for (size_t n = 0; n <= RATED_MAX; n += n < 40 ? 1 : 17) {
            struct bed *bed = make_bed(widths[w], n, n);
            memset(A, 0, sizeof A);
            memset(x, 0, sizeof x);
            reference->normal(&bed->own, bed->targets, A[0], x[0]);
            exact->normal(&bed->own, bed->targets, A[1], x[1]);
            for (size_t a = 0; a < widths[w]; a++)
                assert_memory_equal(A[0] + a * widths[w], A[1] + a * widths[w],
                                    (a / EXACT_LANES + 1) * EXACT_LANES * sizeof(double));
            assert_memory_equal(x[0], x[1], widths[w] * sizeof(double));
            free(bed);
        }
}

static void check_residuals(const struct exact_kernels *exact) {
    double e[2][RATED_MAX];
    for (size_t w = 0; w < WIDTHS; w++)
        for (size_t n = 0; n <= RATED_MAX; n += 7) {
            struct bed *bed = make_bed(widths[w], n, n);
            reference->residuals(&bed->own, bed->targets, bed->x, e[0]);
            exact->residuals(&bed->own, bed->targets, bed->x, e[1]);
            assert_memory_equal(e[0], e[1], n * sizeof **e);
            exact->residuals(&bed->own, bed->targets, bed->x, bed->targets);
            assert_memory_equal(e[0], bed->targets, n * sizeof **e);
            free(bed);
        }
}

/* A factor as the ridge regressions have it. */
static void make_factor(double *L, size_t n, uint64_t number) {
    struct random_stream random;
    double B[EXACT_WIDTH_MAX * EXACT_WIDTH_MAX];
    random_stream_init(&random, 32, 1, number);
    for (size_t i = 0; i < n * n; i++) B[i] = random_gaussian(&random);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            L[i * n + j] = i == j;
            for (size_t k = 0; k < n; k++) L[i * n + j] += B[i * n + k] * B[j * n + k];
        }
    assert_int_equal(cholesky_factor(L, n), 0);
}

static void check_inverse(const struct exact_kernels *exact) {
    static double L[EXACT_WIDTH_MAX * EXACT_WIDTH_MAX], by_set[EXACT_WIDTH_MAX * EXACT_WIDTH_MAX],
        by_base[EXACT_WIDTH_MAX * EXACT_WIDTH_MAX];
    for (size_t n = 1; n <= EXACT_WIDTH_MAX; n++) {
        make_factor(L, n, n);
        cholesky_inverse(L, n, by_base);
        exact->inverse(L, n, by_set);
        assert_memory_equal(by_base, by_set, n * n * sizeof *by_set);
    }
}

static void check_values(const struct exact_kernels *exact) {
    static double values[VALUES], z[VALUES], out[2][VALUES + 1], g[EXACT_WIDTH_MAX];
    struct random_stream random;
    random_stream_init(&random, 33, 1, 0);
    fill(&random, z, VALUES);
    fill(&random, g, EXACT_WIDTH_MAX);
    fill(&random, values, VALUES);
    for (size_t n = 0; n < 100; n++) {
        double sums[] = {reference->square_sum(values, n), exact->square_sum(values, n)};
        assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
    }
    for (size_t width = 1; width < EXACT_WIDTH_MAX; width++) {
        const size_t n = VALUES / width;
        out[0][n * width] = out[1][n * width] = 7;
        reference->outer(z, n, g, width, out[0]);
        exact->outer(z, n, g, width, out[1]);
        assert_memory_equal(out[0], out[1], (n * width + 1) * sizeof(double));
    }
}

/* Up to 2^25, halves included: they go to the even number. */
static void check_grid(const struct exact_kernels *exact) {
    static double values[EXACT_SQUARES_MAX];
    static int32_t q[EXACT_SQUARES_MAX];
    struct random_stream random;
    random_stream_init(&random, 34, 1, 0);
    for (size_t i = 0; i < EXACT_SQUARES_MAX; i++) {
        const double any = 4 * random_uniform(&random) - 2;
        values[i] = i % 3 == 0   ? (i % 2 ? 2.0 : -2.0)
                    : i % 3 == 1 ? ldexp(nearbyint(any * 1e6) + .5, -24)
                                 : any;
    }
    for (size_t n = 0; n <= EXACT_SQUARES_MAX; n = n < 50 ? n + 1 : 2 * n + 1) {
        if (n > EXACT_SQUARES_MAX / 2) n = EXACT_SQUARES_MAX;
        uint64_t sum = 0;
        const uint64_t found = exact->to_grid(values, n, 0x1p24, q);
        for (size_t i = 0; i < n; i++) {
            const double whole = nearbyint(values[i] * 0x1p24);
            assert_true((double)q[i] == whole);
            sum += (uint64_t)((int64_t)q[i] * q[i]);
        }
        assert_true(found == sum);
    }
}

static void check_add(const struct exact_kernels *exact) {
    int64_t sums[70];
    int32_t q[70];
    for (size_t n = 0; n < 70; n++) {
        for (size_t i = 0; i < 70; i++) {
            sums[i] = (int64_t)1 << (i % 62);
            q[i] = i % 2 ? INT32_MIN : INT32_MAX - (int32_t)i;
        }
        exact->add(sums, q, n);
        for (size_t i = 0; i < 70; i++)
            assert_true(sums[i] == ((int64_t)1 << (i % 62)) + (i < n ? q[i] : 0));
    }
}

static void test_normal(void **state) { (void)state, for_each_set(check_normal); }
static void test_residuals(void **state) { (void)state, for_each_set(check_residuals); }
static void test_inverse(void **state) { (void)state, for_each_set(check_inverse); }
static void test_values(void **state) { (void)state, for_each_set(check_values); }
static void test_grid(void **state) { (void)state, for_each_set(check_grid); }
static void test_add(void **state) { (void)state, for_each_set(check_add); }

/* The definitions of exact.h themselves, by another path: up to rounding, plain sums. */
static void test_reference(void **state) {
    (void)state;
    enum { WIDTH = 24, N = 101 };
    static double A[WIDTH * WIDTH], x[WIDTH], e[N];
    struct bed *bed = make_bed(WIDTH, N, 5);
    reference->normal(&bed->own, bed->targets, A, x);
    reference->residuals(&bed->own, bed->targets, bed->x, e);
    for (size_t a = 0; a < WIDTH; a++)
        for (size_t b = 0; b <= a; b++) {
            long double sum = 0, size = 0;
            for (size_t i = 0; i < N; i++) {
                const double *row = bed->rows + bed->at[i] * WIDTH;
                sum += (long double)row[a] * row[b];
                size += fabsl((long double)row[a] * row[b]);
            }
            assert_true(fabsl(sum - A[a * WIDTH + b]) <= 1e-14L * size);
        }
    for (size_t i = 0; i < N; i++) {
        long double sum = bed->targets[i], size = fabs(bed->targets[i]);
        for (size_t a = 0; a < WIDTH; a++) {
            long double term = (long double)bed->x[a] * bed->rows[bed->at[i] * WIDTH + a];
            sum -= term;
            size += fabsl(term);
        }
        assert_true(fabsl(sum - e[i]) <= 1e-14L * size);
    }
    free(bed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference), cmocka_unit_test(test_normal),
        cmocka_unit_test(test_residuals), cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_values),    cmocka_unit_test(test_grid),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
