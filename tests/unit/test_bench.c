/*
 * The yardstick rewrites what it should and nothing else; a measurement is made of numbers that fit
 * each other, can be stopped, and refuses what cannot be; the machine is described.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dpmf.h"
#include "kernels/kernels.h"
#include "kernels/rewrite.h"
#include "temp_dir.h"

static void test_rewrite(void **state) {
    enum { MOST = 256 };
    (void)state;
    for (size_t n = 0; n < MOST; n++) {
        _Alignas(KERNEL_ALIGN) float x[MOST];
        for (size_t i = 0; i < MOST; i++) x[i] = (float)i;
        rewrite_floats(x, n);
        for (size_t i = 0; i < MOST; i++)
            assert_true(x[i] == (i < n ? (float)i / 2 + 0.5f : (float)i));
        for (size_t i = 0; i < MOST; i++) x[i] = (float)i;
        assert_true(reread_floats(x, n) == (float)(n * (n > 0 ? n - 1 : 0) / 2));
    }
}

static struct temp_dir directory;
static char path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "ratings.dpr", path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static struct dpmf_store *open_store(void) {
    struct dpmf_synth_options shape = dpmf_synth_options_default();
    struct dpmf_store *store = NULL;
    shape.users = 200;
    shape.items = 100;
    shape.ratings = 4000;
    assert_int_equal(dpmf_synth(path, &shape, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    return store;
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

static void test_numbers(void **state) {
    (void)state;
    struct dpmf_store *store = open_store();
    struct dpmf_bench_options options = dpmf_bench_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_bench_result result;
    options.seconds = 0;
    for (int threads = 1; threads <= 3; threads++) {
        options.factors = threads == 1 ? 1 : 40;
        run.threads = threads;
        assert_int_equal(dpmf_bench_run(store, &options, &run, &result, NULL), 0);
        double k = (double)options.factors;
        assert_int_equal(result.factors, options.factors);
        assert_int_equal(result.threads, threads);
        assert_int_equal(result.epochs, 3);
        assert_true(result.epoch_seconds > 0 && result.roofline_bytes_per_second > 0);
        assert_true(is_near(result.updates_per_second, 4000 / result.epoch_seconds));
        assert_true(is_near(result.flops_per_second, 6 * k * result.updates_per_second));
        assert_true(is_near(result.bytes_per_second, 5 * k * result.updates_per_second));
        assert_true(is_near(result.fraction_of_roofline * result.roofline_bytes_per_second,
                            result.bytes_per_second));
        assert_true(result.kernels[0] != '\0');
    }
    dpmf_store_close(store);
}

static int stop_measuring(void *self, const struct dpmf_progress *progress) {
    (void)self;
    return strcmp(progress->phase, "measuring") == 0;
}

/* An event on both sides, three steps; a row four times with the Gramian, and half of it. */
static void test_ials(void **state) {
    (void)state;
    struct dpmf_store *store = open_store();
    struct dpmf_bench_options options = dpmf_bench_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_bench_result result;
    options.seconds = 0;
    options.solver = "ials";
    for (int threads = 1; threads <= 3; threads++) {
        options.factors = threads == 1 ? 1 : 40;
        run.threads = threads;
        assert_int_equal(dpmf_bench_run(store, &options, &run, &result, NULL), 0);
        const double k = (double)options.factors;
        assert_int_equal(result.threads, threads);
        assert_int_equal(result.epochs, 3);
        assert_string_equal(result.solver, "ials");
        assert_true(is_near(result.updates_per_second, 4000 / result.epoch_seconds));
        assert_true(is_near(result.flops_per_second * result.epoch_seconds,
                            28 * k * 4000 + 9 * k * k * 300));
        assert_true(is_near(result.bytes_per_second, 2 * result.flops_per_second));
        assert_true(is_near(result.fraction_of_roofline * result.roofline_bytes_per_second,
                            result.bytes_per_second));
        assert_true(isnan(result.of_sgd));
    }
    run.memory = 1 << 20;
    assert_int_equal(dpmf_bench_run(store, &options, &run, &result, NULL), DPMF_ERR_USAGE_MEMORY);
    run.memory = 0;
    run.progress = stop_measuring;
    assert_int_equal(dpmf_bench_run(store, &options, &run, &result, NULL), DPMF_ERR_BASE_CANCELLED);
    dpmf_store_close(store);
}

static void test_refusals(void **state) {
    (void)state;
    struct dpmf_store *store = open_store();
    struct dpmf_bench_result result;
    struct dpmf_error error = {0};
    struct dpmf_bench_options bad[5];
    for (size_t i = 0; i < 5; i++) bad[i] = dpmf_bench_options_default();
    bad[0].factors = 0;
    bad[1].factors = 4097;
    bad[2].seconds = -1;
    bad[3].seconds = NAN;
    bad[4].kernels = "none such";
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(dpmf_bench_run(store, &bad[i], NULL, &result, &error),
                         DPMF_ERR_USAGE_VALUE);
    dpmf_store_close(store);
}

static void test_stopping(void **state) {
    (void)state;
    struct dpmf_store *store = open_store();
    struct dpmf_bench_options options = dpmf_bench_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_bench_result result;
    options.factors = 8;
    run.progress = stop_measuring;
    run.threads = 2;
    assert_int_equal(dpmf_bench_run(store, &options, &run, &result, NULL), DPMF_ERR_BASE_CANCELLED);
    dpmf_store_close(store);
}

static void test_machine(void **state) {
    (void)state;
    struct dpmf_machine machine;
    size_t chosen = 0;
    assert_int_equal(dpmf_machine_describe(&machine, NULL), 0);
    assert_true(machine.n_kernels > 0);
    for (size_t i = 0; i < machine.n_kernels; i++) {
        assert_non_null(machine.kernels[i].description);
        assert_true(machine.kernels[i].is_supported || !machine.kernels[i].is_chosen);
        chosen += machine.kernels[i].is_chosen;
    }
    assert_int_equal(chosen, 1);
    assert_string_equal(machine.kernels[machine.n_kernels - 1].name, "ref");
    assert_true(machine.l1 > 0 && machine.l1 <= machine.l2 && machine.l2 <= machine.l3);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rewrite),
        TEST(test_numbers),
        TEST(test_ials),
        TEST(test_refusals),
        TEST(test_stopping),
        cmocka_unit_test(test_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
