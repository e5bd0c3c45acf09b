/*
 * Structs of options that are older or newer than the library, and pointers that are NULL: what
 * dpmf.h promises about both, at a function that takes each.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arguments.h"
#include "dpmf_text.h"

/* A struct of options as it was, as the library has it, and as it will be. */
struct old_options {
    size_t size;
    uint64_t users;
};
struct own_options {
    size_t size;
    uint64_t users;
    double noise;
};
struct new_options {
    size_t size;
    uint64_t users;
    double noise;
    uint64_t later;
    const char *latest;
};

static const struct own_options defaults = {sizeof defaults, 7, 0.5};

static void test_gives_as_much_as_there_is_room_for(void **state) {
    (void)state;
    struct {
        struct old_options options;
        uint64_t behind;
    } old;
    struct own_options own;
    struct new_options later;
    memset(&old, 0x55, sizeof old);
    memset(&own, 0x55, sizeof own);
    memset(&later, 0x55, sizeof later);
    options_give(&old.options, sizeof old.options, &defaults, sizeof defaults);
    options_give(&own, sizeof own, &defaults, sizeof defaults);
    options_give(&later, sizeof later, &defaults, sizeof defaults);
    assert_true(old.options.size == sizeof old.options && old.options.users == 7);
    assert_int_equal(old.behind, 0x5555555555555555);
    assert_true(own.size == sizeof own && own.users == 7 && own.noise == 0.5);
    assert_true(later.size == sizeof later && later.users == 7 && later.noise == 0.5);
    assert_true(later.later == 0 && later.latest == NULL);
    options_give(NULL, sizeof own, &defaults, sizeof defaults);
    options_give(&own, 1, &defaults, sizeof defaults); /* no room for a size: left alone */
    assert_int_equal(own.size, sizeof own);
}

static void test_takes_what_is_older(void **state) {
    (void)state;
    const struct old_options old = {sizeof old, 3};
    struct own_options own = defaults;
    assert_int_equal(options_take(&own, sizeof own, &old, "own", NULL), 0);
    assert_true(own.size == sizeof own && own.users == 3 && own.noise == 0.5);
    own = defaults;
    assert_int_equal(options_take(&own, sizeof own, NULL, "own", NULL), 0);
    assert_true(own.users == 7 && own.noise == 0.5);
}

static void test_takes_what_is_newer_if_it_says_nothing_new(void **state) {
    (void)state;
    struct new_options later = {.size = sizeof later, .users = 3, .noise = 2};
    struct own_options own = defaults;
    struct dpmf_error error = {0};
    assert_int_equal(options_take(&own, sizeof own, &later, "own", &error), 0);
    assert_true(own.size == sizeof own && own.users == 3 && own.noise == 2);
    for (size_t i = sizeof own; i < sizeof later; i++) {
        ((unsigned char *)&later)[i] = 1;
        own = defaults;
        assert_int_equal(options_take(&own, sizeof own, &later, "own", &error),
                         DPMF_ERR_USAGE_STRUCT);
        assert_non_null(strstr(error.message, "struct dpmf_own has fields that"));
        assert_true(own.users == 7);
        ((unsigned char *)&later)[i] = 0;
    }
}

static void test_refuses_what_nobody_set_up(void **state) {
    (void)state;
    struct own_options own = defaults, none = {.users = 3};
    struct dpmf_error error = {0};
    assert_int_equal(options_take(&own, sizeof own, &none, "own", &error), DPMF_ERR_USAGE_STRUCT);
    assert_string_equal(error.message, "struct dpmf_own has no size");
    assert_string_equal(error.hint, "begin with its _default() function");
    none.size = sizeof none.size - 1;
    assert_int_equal(options_take(&own, sizeof own, &none, "own", NULL), DPMF_ERR_USAGE_STRUCT);
    assert_int_equal(own.users, 7);
}

static void test_spare_words_are_zero(void **state) {
    (void)state;
    struct dpmf_error error = {0};
    uint64_t spare[3] = {0};
    assert_int_equal(options_check_spare(spare, sizeof spare, "own", &error), 0);
    spare[2] = 1;
    assert_int_equal(options_check_spare(spare, sizeof spare, "own", &error),
                     DPMF_ERR_USAGE_STRUCT);
}

/* At the doors of the library: an old struct, one that nobody set up, one with something unknown,
 * and spare words. */
static void test_at_the_door(void **state) {
    (void)state;
    struct dpmf_error error = {0};
    struct dpmf_plan plan;
    struct dpmf_plan_options options = dpmf_plan_options_default();
    options.users = options.items = 1000;
    options.ratings_per_user = 10;
    options.has_features = true;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, &error), 0);
    const double with_features = plan.rmse_biases;
    options.size = offsetof(struct dpmf_plan_options, has_features); /* older than this field */
    assert_int_equal(dpmf_privacy_plan(&options, &plan, &error), 0);
    assert_true(plan.rmse_biases > with_features);
    options.size = 0;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, &error), DPMF_ERR_USAGE_STRUCT);

    struct {
        struct dpmf_run run;
        uint64_t unknown;
    } later = {.run = dpmf_run_default()};
    later.run.size = sizeof later;
    assert_int_equal(dpmf_ledger_return("/there/is/none", "x", &later.run, &error),
                     DPMF_ERR_IO_MISSING);
    later.unknown = 1;
    assert_int_equal(dpmf_ledger_return("/there/is/none", "x", &later.run, &error),
                     DPMF_ERR_USAGE_STRUCT);
}

/* Structs that programs hold have these sizes from here on, where pointers have 64 bits. One of
 * options may grow, at its end and beyond what is padding now; the others never change. A number is
 * changed here only with the SONAME. */
static void test_sizes(void **state) {
    (void)state;
    if (sizeof(void *) != 8) skip();
#define AT_LEAST(name, bytes) assert_true(sizeof(struct name) >= (bytes))
#define EXACTLY(name, bytes) assert_int_equal(sizeof(struct name), (bytes))
#include "struct_sizes.h"
}

static void test_null_is_named(void **state) {
    (void)state;
    struct dpmf_error error = {0};
    int a = 0;
    assert_int_equal(arguments_check(&error, "a b", &a, &a), 0);
    assert_int_equal(arguments_check(&error, "a bee", &a, NULL), DPMF_ERR_USAGE_NULL);
    assert_string_equal(error.message, "the argument `bee` is NULL");
    assert_int_equal(arguments_check(NULL, "a", NULL), DPMF_ERR_USAGE_NULL);
    struct dpmf_store *store = (void *)&a;
    assert_int_equal(dpmf_store_open(NULL, NULL, NULL, &store, &error), DPMF_ERR_USAGE_NULL);
    assert_null(store);
    assert_int_equal(dpmf_store_open("x", NULL, NULL, NULL, &error), DPMF_ERR_USAGE_NULL);
    assert_string_equal(error.message, "the argument `store` is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gives_as_much_as_there_is_room_for),
        cmocka_unit_test(test_takes_what_is_older),
        cmocka_unit_test(test_takes_what_is_newer_if_it_says_nothing_new),
        cmocka_unit_test(test_refuses_what_nobody_set_up),
        cmocka_unit_test(test_spare_words_are_zero),
        cmocka_unit_test(test_at_the_door),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_null_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
