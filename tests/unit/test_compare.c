/*
 * What two stores have in common, whichever of them is the smaller; which validation sets training
 * refuses; and which ratings are on another scale.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rating_scale.h"
#include "compare/compare_scale.h"
#include "compare/compare_stores.h"
#include "dpmf.h"
#include "own_directory.h"

static int n_warnings;

static void count_warning(void *self, const char *message) {
    (void)self;
    assert_non_null(message);
    n_warnings++;
}

static struct dpmf_run run_of(void) {
    struct dpmf_run run = dpmf_run_default();
    run.warn = count_warning;
    n_warnings = 0;
    return run;
}

static struct dpmf_store *store_of(const char *name, const char *text) {
    struct dpmf_store *store = NULL;
    struct dpmf_error error = {0};
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(dpmf_store_open(name, NULL, NULL, &store, &error), 0);
    return store;
}

static void test_common(void **state) {
    (void)state;
    struct dpmf_store *a = store_of("a.csv", "user,item,rating\nann,x,1\nann,y,2\nbob,x,3\n"
                                             "bob,z,4\ncid,z,5\n");
    struct dpmf_store *b = store_of("b.csv", "user,item,rating\nbob,z,4\nann,y,5\nzoe,x,1\n"
                                             "bob,w,2\n");
    struct compare_common common;
    assert_int_equal(compare_stores(a, b, &common, NULL), 0); /* the second is held */
    assert_int_equal(common.users, 2);
    assert_int_equal(common.items, 3);
    assert_int_equal(common.pairs, 2);
    assert_int_equal(common.same, 1);
    assert_int_equal(common.unknown_users, 1);
    assert_int_equal(common.unknown_items, 1);
    assert_int_equal(compare_stores(b, a, &common, NULL), 0); /* the first is */
    assert_int_equal(common.users, 2);
    assert_int_equal(common.items, 3);
    assert_int_equal(common.pairs, 2);
    assert_int_equal(common.same, 1);
    assert_int_equal(common.unknown_users, 1); /* cid's */
    assert_int_equal(common.unknown_items, 0);
    dpmf_store_close(a);
    dpmf_store_close(b);
}

static int held_out(const char *training, const char *valid, bool ranks) {
    struct dpmf_store *a = store_of("a.csv", training), *b = store_of("b.csv", valid);
    const struct dpmf_run run = run_of();
    struct dpmf_error error = {0};
    const int code = compare_held_out(a, b, ranks, &run, &error);
    assert_int_equal(code, error.code);
    dpmf_store_close(a);
    dpmf_store_close(b);
    return code;
}

static void test_held_out(void **state) {
    (void)state;
    const char *training = "user,item,rating\nann,x,1\nann,y,2\nbob,x,3\nbob,y,5\n";
    assert_int_equal(held_out(training, "user,item,rating\nann,z,2\nbob,z,1\n", false), 0);
    assert_int_equal(n_warnings, 1); /* the items */
    assert_int_equal(held_out(training, "user,item,rating\nann,z,2\nbob,z,1\n", true),
                     DPMF_ERR_INPUT_ID);
    assert_int_equal(held_out(training, "user,item,rating\nzoe,x,2\n", false), 0);
    assert_int_equal(n_warnings, 1); /* the users */
    assert_int_equal(held_out(training, "user,item,rating\nzoe,z,2\n", false), DPMF_ERR_INPUT_ID);
    assert_int_equal(held_out(training, "user,item,rating\nann,x,1\n", false),
                     DPMF_ERR_USAGE_CONFLICT);
    assert_int_equal(held_out(training, "user,item,rating\nann,x,2\n", false), 0);
    assert_int_equal(n_warnings, 1); /* rated again */
    assert_int_equal(held_out(training, "user,item,rating\nann,z,40\nbob,x,20\nbob,z,60\n", false),
                     DPMF_ERR_INPUT_OUT_OF_RANGE);
    /* events happen again */
    assert_int_equal(held_out("user,item\na,x\na,y\nb,x\n", "user,item\na,x\nb,y\n", true), 0);
    assert_int_equal(n_warnings, 0);
    assert_int_equal(held_out("user,item\na,x\na,y\nb,x\n", "user,item\na,x\nb,x\n", true),
                     DPMF_ERR_USAGE_CONFLICT);
}

static struct rating_scale scale_of(double min, double max, double rating, int n, double other,
                                    int m) {
    struct rating_scale scale = {.min = min, .max = max};
    for (int i = 0; i < n; i++) rating_scale_add(&scale, rating);
    for (int i = 0; i < m; i++) rating_scale_add(&scale, other);
    return scale;
}

static void test_scale(void **state) {
    (void)state;
    struct rating_scale scale = scale_of(1, 5, 0.5, 8, 3, 1); /* few, and near */
    assert_false(rating_scale_is_other(&scale));
    scale = scale_of(1, 5, 7, 3, 9, 0); /* few, but all of them */
    assert_true(rating_scale_is_other(&scale));
    scale = scale_of(1, 5, 7, 2, 9, 0);
    assert_false(rating_scale_is_other(&scale));
    scale = scale_of(1, 5, 0.5, 10, 3, 9); /* many, and most of them */
    assert_true(rating_scale_is_other(&scale));
    scale = scale_of(1, 5, 0.5, 10, 3, 10);
    assert_false(rating_scale_is_other(&scale));
    scale = scale_of(1, 5, 100, 2, 3, 1); /* a few, and far */
    assert_true(rating_scale_is_other(&scale));
    scale = scale_of(1, 5, 100, 2, 3, 0);
    assert_false(rating_scale_is_other(&scale));
    scale = scale_of(1, 5, 100, 1, 3, 1000); /* a slip */
    assert_false(rating_scale_is_other(&scale));
    scale = scale_of(4, 4, 100, 100, 3, 0); /* no scale at all */
    assert_false(rating_scale_is_other(&scale));
}

static void test_narrow(void **state) {
    (void)state;
    char text[4000] = "user,item,rating\n";
    for (int i = 0; i < 120; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "u%d,x,%s\n", i,
                 i % 2 ? "0.5" : "1");
    struct dpmf_store *store = store_of("a.csv", text);
    const struct dpmf_run run = run_of();
    assert_int_equal(compare_scale(store, 0, 100, "the model", &run, NULL), 0);
    assert_int_equal(n_warnings, 1);
    assert_int_equal(compare_scale(store, 0, 5, "the model", &run, NULL), 0);
    assert_int_equal(n_warnings, 1);
    assert_int_equal(compare_scale(store, 0, 100, "the model", NULL, NULL), 0);
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_narrow),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
