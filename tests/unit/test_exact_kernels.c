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
                assert_memory_equal(A[0] + a * widths[w] + a, A[1] + a * widths[w] + a,
                                    (widths[w] - a) * sizeof(double));
            assert_memory_equal(x[0], x[1], widths[w] * sizeof(double));
            free(bed);
        }
}

static void check_residuals(const struct exact_kernels *exact) {
    double e[2][RATED_MAX];
    for (size_t w = 0; w < WIDTHS; w++)
        for (size_t n = 0; n <= RATED_MAX; n += 7) {
            struct bed *bed = make_bed(widths[w], n, n);
            double plain = 0;
            const double squares[] = {
                reference->residuals(&bed->own, bed->targets, bed->x, e[0]),
                exact->residuals(&bed->own, bed->targets, bed->x, e[1]),
            };
            assert_memory_equal(e[0], e[1], n * sizeof **e);
            for (size_t i = 0; i < n; i++) plain += e[0][i] * e[0][i];
            assert_memory_equal(&squares[0], &plain, sizeof plain);
            assert_memory_equal(&squares[1], &plain, sizeof plain);
            exact->residuals(&bed->own, bed->targets, bed->x, bed->targets);
            assert_memory_equal(e[0], bed->targets, n * sizeof **e);
            free(bed);
        }
}

/* A matrix as the ridge regressions have it, in rows of `width`; what is not read is no number. */
static void make_matrix(double *A, size_t width, size_t n, uint64_t number) {
    struct random_stream random;
    double B[EXACT_WIDTH_MAX * EXACT_WIDTH_MAX];
    random_stream_init(&random, 32, 1, number);
    for (size_t i = 0; i < n * n; i++) B[i] = random_gaussian(&random);
    for (size_t i = 0; i < width * width; i++) A[i] = (double)NAN;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            A[i * width + j] = i == j;
            for (size_t k = 0; k < n; k++) A[i * width + j] += B[i * n + k] * B[j * n + k];
        }
}

enum { SQUARE = EXACT_WIDTH_MAX * EXACT_WIDTH_MAX };

static void check_solve(const struct exact_kernels *exact) {
    static double A[SQUARE], L[SQUARE], by_set[SQUARE], by_base[SQUARE];
    double x[2][EXACT_WIDTH_MAX];
    struct random_stream random;
    random_stream_init(&random, 35, 1, 0);
    for (size_t n = 1; n <= EXACT_WIDTH_MAX; n++) {
        size_t width = (n + EXACT_LANES - 1) / EXACT_LANES * EXACT_LANES;
        if (width < EXACT_WIDTH_MAX && n % 3 == 0) width += EXACT_LANES;
        make_matrix(A, width, n, n);
        fill(&random, x[0], n);
        memcpy(x[1], x[0], sizeof x[1]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) L[i * n + j] = A[j * width + i];
        assert_int_equal(cholesky_factor(L, n), 0);
        cholesky_solve(L, n, x[0]);
        cholesky_inverse(L, n, by_base);
        assert_true(exact->solve(A, width, n, x[1], by_set));
        assert_memory_equal(x[0], x[1], n * sizeof **x);
        assert_memory_equal(by_base, by_set, n * n * sizeof *by_set);
    }
}

/* What has no factor has no solution, wherever that shows. */
static void check_no_solve(const struct exact_kernels *exact) {
    enum { WIDTH = 24, N = 19 };
    static double A[SQUARE], out[SQUARE];
    const double wrong[] = {0, -1, -INFINITY, INFINITY, (double)NAN};
    double x[WIDTH] = {0};
    for (size_t i = 0; i < N; i++)
        for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
            make_matrix(A, WIDTH, N, i);
            assert_true(exact->solve(A, WIDTH, N, x, out));
            A[i * WIDTH + i] = wrong[w];
            assert_false(exact->solve(A, WIDTH, N, x, out));
        }
}

static void check_values(const struct exact_kernels *exact) {
    static double z[VALUES], out[2][VALUES + 1], g[EXACT_WIDTH_MAX];
    struct random_stream random;
    random_stream_init(&random, 33, 1, 0);
    fill(&random, z, VALUES);
    fill(&random, g, EXACT_WIDTH_MAX);
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

/* One number among many that cannot be on the grid is found, whatever the others are. */
static void check_wild(const struct exact_kernels *exact) {
    const double wild[] = {(double)NAN, INFINITY, -INFINITY, 4, -4, 1e9, -1e300, 0x1p40};
    double values[100];
    int32_t q[100];
    for (size_t i = 0; i < 100; i++) values[i] = i % 2 ? 1.99 : -2;
    for (size_t n = 1; n < 100; n += n < 40 ? 1 : 13) {
        assert_true(exact->to_grid(values, n, 0x1p24, q) != EXACT_WILD);
        for (size_t at = 0; at < n; at++)
            for (size_t w = 0; w < sizeof wild / sizeof wild[0]; w++) {
                const double kept = values[at];
                values[at] = wild[w];
                assert_true(exact->to_grid(values, n, 0x1p24, q) == EXACT_WILD);
                values[at] = kept;
            }
    }
}

enum { SUM_ROWS = 60, SUMS = SUM_ROWS * EXACT_WIDTH_MAX };

/* Rows that are left out, and numbers beside those that are added to, stay what they are. */
static void check_add(const struct exact_kernels *exact) {
    static int64_t sums[SUMS], wanted[SUMS];
    static int32_t small[SUMS], q[SUMS];
    uint32_t at[SUM_ROWS];
    for (size_t width = 0; width <= EXACT_WIDTH_MAX; width++)
        for (size_t n = 0; n <= 40; n += 8) {
            for (size_t i = 0; i < SUMS; i++) {
                sums[i] = wanted[i] = (int64_t)1 << (i % 62);
                small[i] = (int32_t)i;
                q[i] = i % 2 ? INT32_MIN : INT32_MAX - (int32_t)i;
            }
            for (size_t b = 0; b < n; b++) {
                at[b] = (uint32_t)(b + b / 3);
                for (size_t i = 0; i < width; i++) wanted[at[b] * width + i] += q[b * width + i];
            }
            exact->add(sums, width, at, n, q);
            assert_memory_equal(sums, wanted, sizeof sums);

            for (size_t i = 0; i < SUMS; i++) {
                q[i] = (i % 2 ? -1000003 : 1000033) * (int32_t)(i % 100);
                wanted[i] = small[i];
            }
            for (size_t b = 0; b < n; b++)
                for (size_t i = 0; i < width; i++) wanted[at[b] * width + i] += q[b * width + i];
            exact->add_small(small, width, at, n, q);
            for (size_t i = 0; i < SUMS; i++) {
                assert_true(small[i] == wanted[i]);
                sums[i] = (int64_t)i << 40;
            }
            exact->move(sums, small, n * width);
            for (size_t i = 0; i < SUMS; i++) {
                assert_true(sums[i] == ((int64_t)i << 40) + (i < n * width ? wanted[i] : 0));
                assert_true(small[i] == (i < n * width ? 0 : wanted[i]));
            }
        }
}

static void check_peak(const struct exact_kernels *exact) {
    int32_t q[70] = {0};
    const int32_t large[] = {1, -1, 2, 255, -256, 257, 1 << 24, -(1 << 24), INT32_MAX, INT32_MIN};
    assert_true(exact->peak(q, 70) == 1);
    for (size_t n = 1; n <= 70; n++)
        for (size_t at = 0; at < n; at++)
            for (size_t l = 0; l < sizeof large / sizeof large[0]; l++) {
                const uint32_t size = (uint32_t)llabs((long long)large[l]);
                q[at] = large[l];
                assert_in_range(exact->peak(q, n), size, 2 * (uint64_t)size);
                q[at] = 0;
            }
}

static void test_normal(void **state) { (void)state, for_each_set(check_normal); }
static void test_residuals(void **state) { (void)state, for_each_set(check_residuals); }
static void test_solve(void **state) { (void)state, for_each_set(check_solve); }
static void test_no_solve(void **state) { (void)state, for_each_set(check_no_solve); }
static void test_values(void **state) { (void)state, for_each_set(check_values); }
static void test_grid(void **state) { (void)state, for_each_set(check_grid); }
static void test_wild(void **state) { (void)state, for_each_set(check_wild); }
static void test_add(void **state) { (void)state, for_each_set(check_add); }
static void test_peak(void **state) { (void)state, for_each_set(check_peak); }

/* The definitions of exact.h themselves, by another path: up to rounding, plain sums. */
static void test_reference(void **state) {
    (void)state;
    enum { WIDTH = 24, N = 101 };
    static double A[WIDTH * WIDTH], x[WIDTH], e[N];
    struct bed *bed = make_bed(WIDTH, N, 5);
    reference->normal(&bed->own, bed->targets, A, x);
    reference->residuals(&bed->own, bed->targets, bed->x, e);
    for (size_t a = 0; a < WIDTH; a++)
        for (size_t b = a; b < WIDTH; b++) {
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
        cmocka_unit_test(test_residuals), cmocka_unit_test(test_solve),
        cmocka_unit_test(test_no_solve),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_grid),      cmocka_unit_test(test_wild),
        cmocka_unit_test(test_add),       cmocka_unit_test(test_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
