/*
 * Training: the same bits for any number of threads when asked, a resumed run equal to one that was
 * never interrupted, and every way to fail. How well it learns is in test_convergence.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"
#include "store_triples.h"
#include "train_files.h"

static int make_stores(void **state) {
    (void)state;
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 2000;
    synth.items = 500;
    synth.ratings = 120000;
    synth.rank = 4;
    return train_files_make(&synth);
}

static int remove_stores(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static struct dpmf_train_options small_options(void) {
    struct dpmf_train_options options = dpmf_train_options_default();
    options.factors = 16;
    options.epochs = 6;
    return options;
}

static int train(const struct dpmf_train_options *options, int threads, uint64_t memory,
                 bool validate, const char *output, struct dpmf_train_report *report,
                 struct dpmf_error *error) {
    struct dpmf_store *store = NULL, *valid = NULL;
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    run.memory = memory;
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    if (validate) assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &valid, NULL), 0);
    int code = dpmf_train(store, valid, output, options, &run, NULL, NULL, report, error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    return code;
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void test_deterministic(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    options.deterministic = true;
    struct dpmf_train_report report;
    assert_int_equal(train(&options, 1, 0, false, a_file, &report, NULL), 0);
    assert_false(report.tiles_on_disk);
    for (int threads = 2; threads < 10; threads += 3) {
        assert_int_equal(train(&options, threads, 0, false, b_file, &report, NULL), 0);
        temp_dir_expect_same(a_file, b_file);
    }
}

static int stop_after_three(void *self, const struct dpmf_epoch *epoch) {
    (void)self;
    return epoch->epoch >= 3;
}

static void test_resume_is_exact(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    options.deterministic = true;
    assert_int_equal(train(&options, 2, 0, false, a_file, NULL, NULL), 0);

    options.snapshot = snapshot_file;
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    assert_int_equal(
        dpmf_train(store, NULL, b_file, &options, NULL, stop_after_three, NULL, NULL, NULL), 0);
    dpmf_store_close(store);

    options.snapshot = NULL;
    options.resume = snapshot_file;
    struct dpmf_train_report report;
    assert_int_equal(train(&options, 3, 0, false, b_file, &report, NULL), 0);
    assert_int_equal(report.epochs, options.epochs);
    temp_dir_expect_same(a_file, b_file);

    /* another run's snapshot is refused */
    struct dpmf_error error;
    options.factors = 17;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_TRAIN_MISMATCH);
    options.factors = 16;
    options.learning_rate *= 2;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_TRAIN_MISMATCH);
    assert_true(error.hint[0] != 0);
}

static int write_to(void *self, const struct dpmf_epoch *epoch) {
    (void)epoch;
    temp_dir_write(self, "theirs", 6);
    return 0;
}

/* What another program writes to the output while a run learns is kept, whichever solver it is,
 * unless anything may be replaced. */
static void test_keeps_what_came_meanwhile(void **state) {
    (void)state;
    static const char *const solvers[] = {"sgd", "gibbs", "sgld"};
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_error error;
    struct dpmf_store *store;
    char path[TEMP_PATH_MAX];
    temp_dir_file(&directory, "meanwhile", path);
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++) {
        struct dpmf_train_options options = small_options();
        options.solver = solvers[i];
        options.epochs = 2;
        run.replace = false;
        int code = dpmf_train(store, NULL, path, &options, &run, write_to, path, NULL, &error);
        assert_int_equal(code, DPMF_ERR_IO_WRITE);
        assert_int_equal(unlink(path), 0);
        run.replace = true;
        code = dpmf_train(store, NULL, path, &options, &run, write_to, path, NULL, &error);
        assert_int_equal(code, 0);
        assert_int_equal(unlink(path), 0);
    }
    dpmf_store_close(store);
}

static int fail_if_called(void *self, const struct dpmf_epoch *epoch) {
    (void)self;
    (void)epoch;
    fail();
    return 1;
}

static void test_snapshots_need_a_place(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_error error = {0};
    struct dpmf_store *store;
    char path[TEMP_PATH_MAX];
    temp_dir_file(&directory, "nonexist/s.safetensors", path);
    options.snapshot = path;
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    assert_int_equal(
        dpmf_train(store, NULL, b_file, &options, NULL, fail_if_called, NULL, NULL, &error),
        DPMF_ERR_IO_MISSING);
    assert_string_equal(error.file, path);
    dpmf_store_close(store);
}

static void test_divergence_is_noticed(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    options.learning_rate = 50;
    struct dpmf_error error;
    unlink(b_file);
    assert_int_equal(train(&options, 2, 0, false, b_file, NULL, &error), DPMF_ERR_TRAIN_DIVERGED);
    assert_int_equal(access(b_file, F_OK), -1);
}

static void test_stops_early(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    options.epochs = 200;
    options.regularization = 0; /* overfits */
    options.patience = 2;
    struct dpmf_train_report report;
    assert_int_equal(train(&options, 2, 0, true, a_file, &report, NULL), 0);
    assert_true(report.stopped_early);
    assert_true(report.epochs < 200);
}

static int cancel(void *self, const struct dpmf_progress *progress) {
    (void)self;
    return strcmp(progress->phase, "training") == 0;
}

static void test_refusals(void **state) {
    (void)state;
    struct dpmf_error error;
    struct dpmf_train_options options = small_options();
    options.factors = 0;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options.factors = 4097;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.epochs = 0;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.learning_rate = NAN;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.regularization = -1;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.deterministic = options.hogwild = true;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_CONFLICT);
    options = small_options();
    options.kernels = "mmx";
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.tiers = "500,x";
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.resume = "/nonexistent";
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_IO_MISSING);

    struct dpmf_store *store;
    struct dpmf_run run = dpmf_run_default();
    run.progress = cancel;
    options = small_options();
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_train(store, NULL, b_file, &options, &run, NULL, NULL, NULL, &error),
                     DPMF_ERR_BASE_CANCELLED);
    dpmf_store_close(store);
}

/* A store with sound checksums that has a user twice, which no import writes: its model would be
 * damaged. */
static void test_user_twice(void **state) {
    (void)state;
    static const char *const solvers[] = {"sgd", "gibbs", "sgld"};
    struct triples triples = {0};
    struct dpmf_store *store;
    struct dpmf_error error;
    char path[TEMP_PATH_MAX];
    for (int i = 0; i < 40; i++)
        triples_add(&triples, triple_make(i / 10 % 2    ? "ann"
                                          : i / 10 == 0 ? "bob"
                                                        : "cleo",
                                          &"0123456789"[i % 10], 1 + i % 5, STORE_NO_TIME));
    temp_dir_file(&directory, "twice.dpr", path);
    triples_write(&triples, false, false, path);
    free(triples.at);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    for (int i = 0; i < 3; i++) {
        struct dpmf_train_options options = small_options();
        options.solver = solvers[i];
        unlink(b_file);
        assert_int_equal(dpmf_train(store, NULL, b_file, &options, NULL, NULL, NULL, NULL, &error),
                         DPMF_ERR_STORE_CORRUPT);
        assert_string_equal(error.message, "the store holds the id of a user twice");
        assert_string_equal(error.file, path);
        assert_int_equal(access(b_file, F_OK), -1);
    }
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_resume_is_exact),
        cmocka_unit_test(test_keeps_what_came_meanwhile),
        cmocka_unit_test(test_snapshots_need_a_place),
        cmocka_unit_test(test_divergence_is_noticed),
        cmocka_unit_test(test_stops_early),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_user_twice),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
