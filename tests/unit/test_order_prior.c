/*
 * What neighbours in a catalogue have in common: the posterior mean against the same from a dense
 * covariance matrix, and its variance on made-up columns of which it is known.
 */
#define _GNU_SOURCE
#include "mechanisms/order_prior.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numerics/cholesky.h"
#include "random/random.h"

static const double decay[ORDER_PARTS] = {0.5, 0.95};

/* ---- the posterior mean ---------------------------------------------------------------------- */

enum { FEW = 60 };

static double covariance(const double variance[ORDER_PARTS], size_t j, size_t k) {
    const double distance = fabs((double)j - (double)k);
    return variance[0] * pow(decay[0], distance) + variance[1] * pow(decay[1], distance);
}

/* C (C + noise + rest)^-1 x, by Cholesky's factors. */
static void smooth_densely(const struct order_column *column, const double variance[ORDER_PARTS],
                           double *common) {
    const size_t n = column->n_items;
    static double A[FEW * FEW], x[FEW];
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++)
            A[j * n + k] =
                covariance(variance, j, k) +
                (j == k ? column->noise[j] + column->variance - variance[0] - variance[1] : 0);
    memcpy(x, column->left, n * sizeof *x);
    assert_int_equal(cholesky_factor(A, n), 0);
    cholesky_solve(A, n, x);
    for (size_t j = 0; j < n; j++) {
        common[j] = 0;
        for (size_t k = 0; k < n; k++) common[j] += covariance(variance, j, k) * x[k];
    }
}

static void check_smoothing(size_t n, const double variance[ORDER_PARTS]) {
    double left[FEW], noise[FEW], common[FEW], wanted[FEW], work[FEW * ORDER_WORK_WIDTH];
    struct random_stream random;
    random_stream_init(&random, 7, 1, n);
    for (size_t j = 0; j < n; j++) {
        left[j] = random_gaussian(&random);
        noise[j] = exp(3 * random_gaussian(&random)); /* from hardly any to nothing else */
    }
    const struct order_column column = {n, left, noise, 1};
    smooth_densely(&column, variance, wanted);
    order_prior_smooth(&column, variance, work, common);
    for (size_t j = 0; j < n; j++)
        if (fabs(common[j] - wanted[j]) > 1e-10)
            fail_msg("item %zu of %zu: %.17g, not %.17g", j, n, common[j], wanted[j]);
}

static void test_posterior_mean(void **state) {
    (void)state;
    static const double variances[][ORDER_PARTS] = {{.3, .4}, {.3, 0}, {0, .4}, {0, 0}, {.79, .01}};
    static const size_t sizes[] = {1, 2, 3, FEW};
    for (size_t v = 0; v < sizeof variances / sizeof variances[0]; v++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            check_smoothing(sizes[s], variances[v]);
}

/* ---- its variance ---------------------------------------------------------------------------- */

enum { MANY = 4000, COLUMNS = 40 };

static double left_of[MANY], noise_of[MANY];

/* A column with these variances, of 1 in all, and noise of variance 0 to 2. */
static struct order_column make_column(const double variance[ORDER_PARTS], uint64_t seed) {
    struct random_stream random;
    double part[ORDER_PARTS];
    random_stream_init(&random, seed, 2, 0);
    for (int i = 0; i < ORDER_PARTS; i++) part[i] = sqrt(variance[i]) * random_gaussian(&random);
    for (size_t j = 0; j < MANY; j++) {
        noise_of[j] = 2 * random_uniform(&random);
        left_of[j] = part[0] + part[1] + sqrt(noise_of[j]) * random_gaussian(&random) +
                     sqrt(1 - variance[0] - variance[1]) * random_gaussian(&random);
        for (int i = 0; i < ORDER_PARTS; i++)
            part[i] = decay[i] * part[i] +
                      sqrt(variance[i] * (1 - decay[i] * decay[i])) * random_gaussian(&random);
    }
    return (struct order_column){MANY, left_of, noise_of, 1};
}

static void test_variance_is_found(void **state) {
    (void)state;
    static const double made[][ORDER_PARTS] = {{.3, .3}, {.5, 0}, {0, .5}};
    for (size_t m = 0; m < sizeof made / sizeof made[0]; m++) {
        double sum[ORDER_PARTS] = {0}, found[ORDER_PARTS];
        for (uint64_t seed = 0; seed < COLUMNS; seed++) {
            const struct order_column column = make_column(made[m], 100 * m + seed);
            order_prior_fit(&column, found);
            for (int i = 0; i < ORDER_PARTS; i++) sum[i] += found[i] / COLUMNS;
            const double rest = order_prior_rest(&column, found);
            assert_true(fabs(rest - (1 - found[0] - found[1])) < 1e-15);
        }
        for (int i = 0; i < ORDER_PARTS; i++)
            if (fabs(sum[i] - made[m][i]) > 0.06)
                fail_msg("part %d of column %zu: %g, not %g", i, m, sum[i], made[m][i]);
    }
}

/* Where nothing is common, hardly anything is found, and mostly nothing at all. */
static void test_chance_is_not_taken_for_more(void **state) {
    (void)state;
    static const double none[ORDER_PARTS] = {0, 0};
    int n_found = 0;
    for (uint64_t seed = 0; seed < COLUMNS; seed++) {
        double found[ORDER_PARTS];
        const struct order_column column = make_column(none, 1000 + seed);
        order_prior_fit(&column, found);
        n_found += found[0] + found[1] > 0;
        assert_true(found[0] + found[1] < 0.1);
    }
    assert_in_range(n_found, 0, 6);
}

/* Items that are all but the same leave each a part of its own; single ones have no neighbours. */
static void test_limits(void **state) {
    (void)state;
    struct order_column column = make_column((double[]){0, .5}, 5);
    double found[ORDER_PARTS];
    for (size_t j = 0; j < MANY; j++) left_of[j] = 1, noise_of[j] = 1e-6;
    order_prior_fit(&column, found);
    assert_true(found[0] + found[1] <= 0.8 * (1 + 1e-12) && found[0] + found[1] > 0.79);
    for (column.n_items = 0; column.n_items < 3; column.n_items++) {
        order_prior_fit(&column, found);
        assert_true(found[0] == 0 && found[1] == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posterior_mean),
        cmocka_unit_test(test_variance_is_found),
        cmocka_unit_test(test_chance_is_not_taken_for_more),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
