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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_line),
                                       cmocka_unit_test(test_nothing_to_learn_from)};
    return cmocka_run_group_tests_name("feature regression", tests, NULL, NULL);
}
