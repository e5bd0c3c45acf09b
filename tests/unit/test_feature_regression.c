/*
 * The regression on features: a line is found, what is left out is predicted by the others, and
 * where nothing is described, or nothing has a weight, the average stands for everything.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numerics/feature_regression.h"

enum { N = 12, KNOWN = 9, FEATURES = 2 };

struct bed {
    double features[N * FEATURES], values[N], weights[KNOWN], means[1], left_out[KNOWN];
    bool described[N];
    struct feature_regression regression;
};

/* Values are 3 + 2 x, x the first feature. Those of the items that are not known yet are to be
 * found. */
static void make(struct bed *bed) {
    *bed = (struct bed){.means = {NAN}};
    for (size_t j = 0; j < N; j++) {
        bed->features[FEATURES * j] = (double)j / N;
        bed->features[FEATURES * j + 1] = j % 2 ? 1 : 0;
        bed->values[j] = 3 + 2 * bed->features[FEATURES * j];
        bed->described[j] = true;
        if (j < KNOWN) bed->weights[j] = 1;
    }
    bed->regression = (struct feature_regression){.n = N,
                                                  .n_known = KNOWN,
                                                  .n_features = FEATURES,
                                                  .features = bed->features,
                                                  .described = bed->described,
                                                  .n_values = 1,
                                                  .values = bed->values,
                                                  .weights = bed->weights,
                                                  .means = bed->means,
                                                  .left_out = bed->left_out};
}

static void test_a_line(void **state) {
    (void)state;
    static struct bed bed;
    make(&bed);
    bed.described[N - 1] = false;
    assert_int_equal(feature_regression_run(&bed.regression, NULL), 0);
    for (size_t j = 0; j < KNOWN; j++)
        assert_true(fabs(bed.left_out[j] - (3 + 2 * bed.features[FEATURES * j])) < 0.05);
    /* Beyond what was known nothing is predicted. */
    for (size_t j = KNOWN; j + 1 < N; j++) assert_true(bed.values[j] == bed.values[KNOWN - 1]);
    assert_true(bed.values[N - 1] == bed.means[0]); /* it is not described */
}

static void test_nothing_to_learn_from(void **state) {
    (void)state;
    static struct bed bed;
    for (int without = 0; without < 2; without++) {
        make(&bed);
        double mean = 0;
        for (size_t j = 0; j < KNOWN; j++) {
            mean += bed.values[j] / KNOWN;
            if (without == 0) bed.described[j] = false;
            if (without == 1) bed.weights[j] = 0;
        }
        assert_int_equal(feature_regression_run(&bed.regression, NULL), 0);
        assert_true(fabs(bed.means[0] - mean) < 1e-12);
        for (size_t j = 0; j < KNOWN; j++) assert_true(fabs(bed.left_out[j] - mean) < 1e-12);
        for (size_t j = KNOWN; j < N; j++) assert_true(fabs(bed.values[j] - mean) < 1e-12);
    }
}

/* The sum of the squares of the errors of items left out, for a value that is the first of four
 * contrasts of eight items and another contrast, which no feature has. */
static double squares_left_out(double other) {
    enum { ITEMS = 8, CONTRASTS = 4 };
    double features[ITEMS * CONTRASTS], values[ITEMS], left_out[ITEMS], sum = 0;
    double weights[ITEMS];
    bool described[ITEMS];
    const struct feature_regression regression = {.n = ITEMS,
                                                  .n_known = ITEMS,
                                                  .n_features = CONTRASTS,
                                                  .features = features,
                                                  .described = described,
                                                  .n_values = 1,
                                                  .values = values,
                                                  .weights = weights,
                                                  .left_out = left_out};
    for (unsigned j = 0; j < ITEMS; j++) {
        for (unsigned a = 0; a < CONTRASTS; a++)
            features[CONTRASTS * j + a] = __builtin_parity(j & (a + 1)) ? -1 : 1;
        values[j] = features[CONTRASTS * j] + (__builtin_parity(j & 7) ? -other : other);
        weights[j] = 1;
        described[j] = true;
    }
    assert_int_equal(feature_regression_run(&regression, NULL), 0);
    for (size_t j = 0; j < ITEMS; j++) sum += (values[j] - left_out[j]) * (values[j] - left_out[j]);
    return sum;
}

/* Each penalty is chosen where it is the best. With t = penalty / (1 + penalty), the squares are
 * 8 (t^2 + B) / (3/8 + t/2)^2 where the other contrast has the square B: least at t = 4/3 B. */
static void test_penalties(void **state) {
    static const double penalties[] = {1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 100};
    (void)state;
    for (size_t i = 0; i < sizeof penalties / sizeof penalties[0]; i++) {
        const double t = penalties[i] / (1 + penalties[i]), B = 0.75 * t, kept = 0.375 + t / 2;
        const double least = 8 * (t * t + B) / (kept * kept);
        assert_true(fabs(squares_left_out(sqrt(B)) / least - 1) < 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_line),
                                       cmocka_unit_test(test_penalties),
                                       cmocka_unit_test(test_nothing_to_learn_from)};
    return cmocka_run_group_tests_name("feature regression", tests, NULL, NULL);
}
