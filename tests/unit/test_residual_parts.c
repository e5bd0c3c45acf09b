/*
 * The parts of `residual` and `biases` on numbers that runs hardly ever meet: moments that noise
 * has made indefinite, users whom no solution exists for, counts far below what noise explains,
 * sizes beyond memory.
 */
#define _GNU_SOURCE
/* NOLINTNEXTLINE(bugprone-suspicious-include): for what is static in it */
#include "mechanisms/residual_moments.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/kernels.h"
#include "mechanisms/bias_release.h"
#include "mechanisms/free_columns.h"
#include "mechanisms/home_columns.h"
#include "mechanisms/shrink.h"
#include "mechanisms/user_solve.h"

static bool is_near(double a, double b) { return fabs(a - b) < 1e-9 * fmax(1, fabs(b)); }

/* ---- moments --------------------------------------------------------------------------------- */

static void test_calm_blocks(void **state) {
    (void)state;
    double A[] = {3, 1, 1, 5};
    calm_block(A, 2, 2, 0); /* no noise: nothing changes */
    assert_true(is_near(A[0], 3) && is_near(A[1], 1) && is_near(A[3], 5));
    calm_block(A, 2, 2, 1e9); /* nothing but noise: a multiple of the unit matrix */
    assert_true(is_near(A[0], 4) && A[1] == 0 && A[2] == 0 && is_near(A[3], 4));
    calm_block(A, 2, 2, 1); /* which is what it stays */
    assert_true(is_near(A[0], 4) && A[1] == 0 && is_near(A[3], 4));
    double C[] = {1, 0.5, 0.5, 1};
    calm_cross(C, 1, 2, 0);
    assert_true(C[1] == 0.5 && C[2] == 0.5);
    calm_cross(C, 1, 2, 1e9);
    assert_true(C[1] == 0 && C[2] == 0 && C[0] == 1 && C[3] == 1);
    calm_cross(C, 1, 2, 1);
    assert_true(C[1] == 0 && C[2] == 0);
}

static void test_inverses(void **state) {
    (void)state;
    double inverse[4];
    const double sound[] = {2, 0, 0, 4}, indefinite[] = {1, 2, 2, 1}, nothing[] = {0, 0, 0, -1};
    invert(sound, 2, 2, inverse);
    assert_true(is_near(inverse[0], 1 / 2.004) && inverse[1] == 0 &&
                is_near(inverse[3], 1 / 4.004));
    invert(indefinite, 2, 2, inverse); /* its diagonal alone */
    assert_true(inverse[0] == 1 && inverse[1] == 0 && inverse[2] == 0 && inverse[3] == 1);
    invert(nothing, 2, 2, inverse); /* and never more than a number of some size */
    assert_true(is_near(inverse[0], 1e9) && is_near(inverse[3], 1e9));
}

/* Without free columns there is nothing to foretell. */
static void test_whitening(void **state) {
    (void)state;
    static struct residual_moments moments;
    static struct residual_whitening map;
    moments.C[0] = 9, moments.C[3] = 4;
    residual_moments_whiten(&moments, 2, 0, 1, false, &map);
    for (size_t a = 0; a < 2; a++) /* B^T B is C */
        for (size_t b = 0; b < 2; b++) {
            const double at = map.B[a] * map.B[b] + map.B[2 + a] * map.B[2 + b];
            assert_true(is_near(at, a == b ? moments.C[3 * a] : 0));
        }
    /* Users who do not vary along a column at all: it keeps a little, and nothing is infinite. */
    moments.C[3] = 0;
    residual_moments_whiten(&moments, 2, 0, 1, false, &map);
    for (size_t i = 0; i < 4; i++) assert_true(isfinite(map.B[i]));
}

/* Without free columns the learned ones are all there is to calm. */
static void test_spread_of_learned_columns(void **state) {
    (void)state;
    static struct residual_moments moments;
    /* E[uu], E[u] and weights of users of 2 columns, a bias and a 1: of variances 4 and 9 */
    double products[16] = {5, 2, 0, 1, 2, 13, 0, 2, 0, 0, 1, 0, 1, 2, 0, 1};
    moments = (struct residual_moments){.mean = {1, 2}};
    find_spread(products, 2, 2, true, 0, &moments);
    assert_true(is_near(moments.C[0], 4) && is_near(moments.C[3], 9));
    assert_true(moments.C[1] == 0 && moments.C[2] == 0);
    assert_true(is_near(moments.inverse[0], 1 / 4.009) && is_near(moments.inverse[3], 1 / 9.009));
    assert_true(is_near(moments.noise, (1 / 4.009 + 1 / 9.009) / 2));
}

/* ---- a user ---------------------------------------------------------------------------------- */

/* Where there is no solution, what they rated is what is left. */
static void test_users_without_solution(void **state) {
    (void)state;
    struct public_model model;
    struct user_solution solution;
    const uint32_t row[] = {0, 2};
    const float y[] = {1, -2};
    const struct private_user user = {2, row, y, 1, 0};
    double e[2];
    assert_int_equal(public_model_init(&model, 3, NULL), 0);
    model.b0 = 0.5;
    assert_true(user_solve(&model, &user, &solution, e));
    assert_true(solution.freedom > 0);
    model.s2 = -100; /* no precision is negative; noise cannot make it so, since it is clamped */
    assert_false(user_solve(&model, &user, &solution, e));
    assert_true(is_near(solution.squares, 0.5 * 0.5 + 2.5 * 2.5));
    assert_true(solution.x[0] == 0 && solution.freedom == 0);
    public_model_free(&model);
}

/* ---- items ----------------------------------------------------------------------------------- */

enum { ITEMS = 12 };

struct items {
    struct catalogue catalogue;
    struct public_model model;
    struct item_evidence evidence;
    struct bias_sums sums;
    struct residual_rule rule;
    struct thread_pool *pool;
};

static void make(struct items *items) {
    *items = (struct items){.rule = residual_rule_make(1, false)};
    items->catalogue.ids.n = ITEMS;
    assert_int_equal(public_model_init(&items->model, ITEMS, NULL), 0);
    assert_int_equal(item_evidence_init(&items->evidence, ITEMS, NULL), 0);
    assert_int_equal(bias_sums_init(&items->sums, ITEMS, NULL), 0);
    assert_int_equal(thread_pool_init(&items->pool, 1, NULL), 0);
    items->sums.precision = 1;
    for (size_t j = 0; j < ITEMS; j++) items->sums.sums[2 * j] = 100;
    for (size_t i = 0; i < BIAS_RELEASE_TAIL; i++)
        items->sums.sums[ITEMS * BIAS_RELEASE_WIDTH + i] = 100;
}

static void end(struct items *items) {
    thread_pool_free(items->pool);
    bias_sums_free(&items->sums);
    item_evidence_free(&items->evidence);
    public_model_free(&items->model);
}

static int read_biases(struct items *items) {
    return bias_release_read(&items->sums, &items->rule, &items->catalogue, items->pool,
                             &items->model, &items->evidence, NULL);
}

/* A count of a hundred deviations below 0 stands for the least that there is, and the numbers of
 * the other items do not change. */
static void test_counts_far_below_zero(void **state) {
    (void)state;
    struct items items;
    double c[2];
    for (int turn = 0; turn < 2; turn++) {
        make(&items);
        items.sums.sums[0] = turn == 0 ? -30 : -100;
        items.sums.sums[2 * 3 + 1] = 40;
        assert_int_equal(read_biases(&items), 0);
        for (size_t j = 0; j < ITEMS; j++)
            assert_true(items.evidence.N[j] > 0 && isfinite(items.model.c[j]));
        assert_true(items.evidence.N[0] < items.evidence.N[1] / 10);
        assert_true(items.model.c[3] > items.model.c[1]);
        c[turn] = items.model.c[3];
        end(&items);
    }
    assert_true(fabs(c[0] - c[1]) < 0.05);
}

/* Equations that have no solution leave the prior mean at 0: values are drawn towards that. */
static void test_regression_without_solution(void **state) {
    (void)state;
    struct items items;
    make(&items);
    for (size_t j = 0; j < ITEMS; j++) items.sums.sums[2 * j + 1] = j % 2 ? 60 : -60;
    items.rule.ridge = -1e12; /* never so */
    assert_int_equal(read_biases(&items), 0);
    for (size_t j = 0; j < ITEMS; j++) {
        assert_true(isfinite(items.model.c[j]));
        assert_true(j % 2 ? items.model.c[j] > 0 : items.model.c[j] < 0);
    }
    end(&items);
}

/* With public features the columns that nobody measures are their main directions, centred over
 * ratings, the first of the variance wanted. */
static void test_free_columns(void **state) {
    (void)state;
    enum { FEATURES = 2, FREE = 4 };
    struct items items;
    double features[ITEMS * FEATURES];
    make(&items);
    assert_int_equal(free_columns_n(FEATURES), FREE);
    assert_int_equal(free_columns_n(1000), RULE_FREE_MAX);
    for (size_t j = 0; j < ITEMS; j++) {
        features[FEATURES * j] = j % 2 ? 1 : -1;
        features[FEATURES * j + 1] = j % 3 ? 0.1 : -0.2;
        items.evidence.N[j] = 1 + (double)j;
        items.model.c[j] = sin((double)j);
    }
    items.catalogue.features = features;
    items.catalogue.n_features = FEATURES;
    assert_int_equal(public_model_widen(&items.model, FREE, NULL), 0);
    items.model.n_free = FREE;
    assert_int_equal(free_columns_fill(&items.model, &items.evidence, &items.catalogue, 0.25, NULL),
                     0);
    double before = INFINITY;
    for (size_t k = 0; k < FREE; k++) {
        double sum = 0, squares = 0, weights = 0, cross = 0;
        for (size_t j = 0; j < ITEMS; j++) {
            const double *row = items.model.rows + j * items.model.stride;
            const double N = items.evidence.N[j];
            sum += N * row[k], squares += N * row[k] * row[k], weights += N;
            cross += N * row[k] * row[(k + 1) % FREE];
        }
        assert_true(fabs(sum / weights) < 1e-9 && fabs(cross / weights) < 1e-9);
        if (k == 0) assert_true(is_near(squares / weights, 0.25));
        assert_true(squares / weights <= before * (1 + 1e-9) && squares > 0);
        before = squares / weights;
    }
    end(&items);
}

/* Of two items the squares of the columns' differences are what the covariance of home_columns.c
 * says, up to the terms of its series that are left out; columns have mean 0 over ratings; what was
 * there stays. */
static void test_home_columns(void **state) {
    (void)state;
    enum { FREE = 2 };
    struct items items;
    make(&items);
    assert_int_equal(home_columns_add(&items.model, &items.evidence, NULL), 0);
    assert_true(items.model.K == 0); /* a release of averages stays one */
    assert_int_equal(public_model_widen(&items.model, FREE, NULL), 0);
    items.model.n_free = FREE;
    double x[ITEMS][2], weights = 0, squares[2] = {0, 0}, variance = 0;
    for (size_t j = 0; j < ITEMS; j++) {
        /* Of equal weight, and so on a circle that x1 and x2 have mean 0 and are uncorrelated. */
        x[j][0] = cos(2 * 3.14159265358979 * (double)j / ITEMS);
        x[j][1] = sin(2 * 3.14159265358979 * (double)j / ITEMS);
    }
    for (int turn = 0; turn < 2; turn++) {
        const double wanted = turn == 0 ? 0.011 : 0.025; /* below and above what is needed */
        for (size_t j = 0; j < ITEMS; j++) {
            items.evidence.N[j] = exp(1e-4 * x[j][0]); /* nearly equal weights */
            items.model.c[j] = 0.3 * x[j][1];
            for (size_t k = 0; k < FREE; k++)
                items.model.rows[j * items.model.stride + k] = sqrt(wanted) * x[j][k];
        }
        assert_int_equal(home_columns_add(&items.model, &items.evidence, NULL), 0);
        if (turn == 0) assert_true(items.model.K == FREE);
    }
    const size_t K = FREE + HOME_CURVES + 2 * FREE; /* all products, as they are so few */
    assert_true(items.model.K == K && residual_rule_home(FREE) == K - FREE);
    for (size_t j = 0; j < ITEMS; j++) {
        const double *row = items.model.rows + j * items.model.stride;
        weights += items.evidence.N[j];
        for (size_t k = 0; k < FREE; k++) {
            squares[k] += row[k] * row[k] / ITEMS;
            assert_true(is_near(row[k], sqrt(0.025) * x[j][k]));
        }
        assert_true(row[K] == 1); /* the column of the user's own bias */
    }
    variance = squares[0] + squares[1];
    assert_true(fabs(variance - 0.025) < 1e-6);
    for (size_t k = 0; k + FREE < K; k++) {
        double sum = 0;
        for (size_t j = 0; j < ITEMS; j++)
            sum += items.evidence.N[j] * items.model.rows[j * items.model.stride + FREE + k];
        assert_true(fabs(sum / weights) < 1e-12);
    }
    const double s = 5 * (variance - 0.012), spread2 = 0.5; /* of x before it is standardised */
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t j = 0; j < ITEMS; j++) {
            const double *a = items.model.rows + i * items.model.stride + FREE;
            const double *b = items.model.rows + j * items.model.stride + FREE;
            double found = 0, away = 0;
            for (size_t k = 0; k < HOME_CURVES; k++) found += (a[k] - b[k]) * (a[k] - b[k]);
            for (int d = 0; d < 2; d++) away += pow(x[i][d] - x[j][d], 2) / spread2;
            assert_true(fabs(found / s - 2 * (1 - exp(-away / 8))) < 0.01);
            /* Of products all axes are there: as far from each other as the products themselves. */
            double products = 0, wanted = 0;
            for (size_t k = HOME_CURVES; k + FREE < K; k++)
                products += (a[k] - b[k]) * (a[k] - b[k]);
            for (size_t k = 0; k < FREE; k++)
                for (int d = 0; d < 2; d++) wanted += pow(x[i][k] * x[i][d] - x[j][k] * x[j][d], 2);
            assert_true(fabs(products - 0.8 * s * 0.025 / spread2 * wanted) < 1e-4 * s);
        }
    end(&items);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void test_sizes_beyond_memory(void **state) {
    (void)state;
    struct bias_sums sums;
    assert_int_equal(bias_sums_init(&sums, SIZE_MAX, NULL), DPMF_ERR_BASE_NO_MEMORY);
    assert_int_equal(bias_sums_init(&sums, SIZE_MAX / 2, NULL), DPMF_ERR_BASE_NO_MEMORY);
    assert_null(sums.sums);

    struct public_model model;
    assert_int_equal(public_model_init(&model, 2, NULL), 0);
    model.n_items = SIZE_MAX / 8; /* a product beyond 64 bits, then one beyond any memory */
    assert_int_equal(public_model_widen(&model, 3, NULL), DPMF_ERR_BASE_NO_MEMORY);
    model.n_items = SIZE_MAX / 1024;
    assert_int_equal(public_model_widen(&model, 3, NULL), DPMF_ERR_BASE_NO_MEMORY);
    model.n_items = 2; /* what was there is still there */
    assert_true(model.K == 0 && model.rows[0] == 1);
    public_model_free(&model);

    struct item_evidence evidence;
    assert_int_equal(item_evidence_init(&evidence, 2, NULL), 0);
    evidence.Z[1] = 7;
    assert_int_equal(item_evidence_widen(&evidence, SIZE_MAX / 16, 1, NULL),
                     DPMF_ERR_BASE_NO_MEMORY);
    assert_true(evidence.Z[1] == 7);
    item_evidence_free(&evidence);
}

/* How many pages of addresses this process has; 0: the system does not say. */
static unsigned long pages_mapped(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%lu", &pages) != 1) pages = 0;
    fclose(file);
    return pages;
}

/* A public model that has grown, or is not needed any more, gives its memory back: 32 times 3 MB
 * would be seen. */
static void test_sizes_are_given_back(void **state) {
    (void)state;
    struct public_model model;
    assert_int_equal(public_model_init(&model, 2000, NULL), 0);
    assert_int_equal(public_model_widen(&model, 199, NULL), 0);
    const unsigned long before = pages_mapped();
    for (int i = 0; i < 32; i++) assert_int_equal(public_model_widen(&model, 199, NULL), 0);
    assert_true(pages_mapped() <= before + (16 << 20) / 4096);
    public_model_free(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calm_blocks),
        cmocka_unit_test(test_inverses),
        cmocka_unit_test(test_whitening),
        cmocka_unit_test(test_spread_of_learned_columns),
        cmocka_unit_test(test_users_without_solution),
        cmocka_unit_test(test_counts_far_below_zero),
        cmocka_unit_test(test_regression_without_solution),
        cmocka_unit_test(test_free_columns),
        cmocka_unit_test(test_home_columns),
        cmocka_unit_test(test_sizes_beyond_memory),
        cmocka_unit_test(test_sizes_are_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
