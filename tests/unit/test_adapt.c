/*
 * Settings found before training: the same for any number of threads, what is given stays, a noisy
 * set of few factors gets more penalty than the defaults, averages win where there is nothing else,
 * small sets keep their defaults, snapshots tell theirs, and nothing is left behind whatever
 * happens.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dpmf.h"
#include "temp_dir.h"

enum {
    ALL = DPMF_ADAPT_EPOCHS | DPMF_ADAPT_LEARNING_RATE | DPMF_ADAPT_REGULARIZATION,
};

static struct temp_dir dir, temporary;
static struct dpmf_store *store;

struct watch {
    uint64_t calls, cancel_at;
};

static int on_progress(void *self, const struct dpmf_progress *progress) {
    struct watch *watch = self;
    assert_true(progress->done <= progress->total);
    return ++watch->calls == watch->cancel_at;
}

static void count_warning(void *self, const char *text) {
    struct watch *watch = self;
    assert_non_null(text);
    watch->calls++;
}

static struct dpmf_store *made(const char *name, uint64_t ratings, uint32_t rank, double noise) {
    char path[TEMP_PATH_MAX];
    struct dpmf_store *out = NULL;
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.users = 400;
    options.items = 80;
    options.ratings = ratings;
    options.rank = rank;
    options.noise = noise;
    temp_dir_file(&dir, name, path);
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &out, NULL), 0);
    return out;
}

static struct dpmf_train_options start(void) {
    struct dpmf_train_options options = dpmf_train_options_default();
    options.factors = 8;
    options.averages_first = true;
    return options;
}

static int adapt(struct dpmf_store *ratings, uint32_t what, int threads, uint64_t cancel_at,
                 struct dpmf_train_options *options, struct dpmf_adapt_report *report) {
    struct dpmf_run run = dpmf_run_default();
    struct watch watch = {.cancel_at = cancel_at};
    run.threads = threads;
    run.progress = on_progress;
    run.progress_self = &watch;
    int code = dpmf_train_adapt(ratings, what, options, &run, report, NULL);
    assert_int_equal(temp_dir_count(&temporary), 0);
    return code;
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    struct dpmf_train_options one = start(), three = start();
    struct dpmf_adapt_report first, second;
    assert_int_equal(adapt(store, ALL, 1, 0, &one, &first), 0);
    assert_int_equal(adapt(store, ALL, 3, 0, &three, &second), 0);
    assert_true(one.epochs == three.epochs && one.learning_rate == three.learning_rate &&
                one.regularization == three.regularization && one.adapted && three.adapted);
    assert_true(first.trials >= 3 && first.trials == second.trials);
    assert_true(first.valid_rmse == second.valid_rmse && first.valid_rmse < first.averages_rmse);
    assert_int_equal(first.train_ratings + first.valid_ratings, 12000);
    assert_true(first.valid_ratings > 900 && first.valid_ratings < 1500);
}

/* Four factors under much noise: the defaults fit the noise. */
static void test_more_penalty(void **state) {
    (void)state;
    struct dpmf_train_options options = start();
    struct dpmf_adapt_report report;
    options.factors = 64;
    assert_int_equal(adapt(store, DPMF_ADAPT_REGULARIZATION, 2, 0, &options, &report), 0);
    assert_true(options.regularization > dpmf_train_options_default().regularization);
    assert_true(options.learning_rate == dpmf_train_options_default().learning_rate);
    assert_int_equal(options.epochs, dpmf_train_options_default().epochs);
}

static void test_what_is_given_stays(void **state) {
    (void)state;
    struct dpmf_train_options options = start();
    struct dpmf_adapt_report report;
    options.regularization = 0.037;
    options.epochs = 7;
    assert_int_equal(adapt(store, DPMF_ADAPT_LEARNING_RATE, 2, 0, &options, &report), 0);
    assert_true(options.regularization == 0.037 && options.epochs == 7);
    options = start();
    assert_int_equal(adapt(store, 0, 2, 0, &options, &report), 0);
    assert_true(report.trials == 0 && !options.adapted && isnan(report.valid_rmse));
}

static void test_averages_win(void **state) {
    (void)state;
    struct dpmf_store *noise = made("noise.dpr", 3000, 1, 4);
    struct dpmf_train_options options = start();
    struct dpmf_adapt_report report;
    options.learning_rate = 0.2; /* large enough to fit noise */
    assert_int_equal(adapt(noise, DPMF_ADAPT_REGULARIZATION, 2, 0, &options, &report), 0);
    assert_true(report.is_averages ? options.regularization == 1
                                   : report.valid_rmse <= report.averages_rmse);
    dpmf_store_close(noise);
}

static void test_small_sets(void **state) {
    (void)state;
    struct dpmf_store *few = made("few.dpr", 1900, 2, 1);
    struct dpmf_train_options options = start();
    struct dpmf_adapt_report report;
    assert_int_equal(adapt(few, ALL, 2, 0, &options, &report), 0);
    assert_true(report.trials == 0 && !options.adapted);
    assert_true(options.regularization == dpmf_train_options_default().regularization);
    dpmf_store_close(few);
}

/* What all ratings leave of the memory is for the trials; where that is too little, there are
 * none. */
static void test_memory(void **state) {
    (void)state;
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_adapt_report report;
    struct watch watch = {0};
    run.threads = 2;
    run.warn = count_warning;
    run.warn_self = &watch;
    for (uint64_t memory = (uint64_t)1 << 20; memory <= (uint64_t)64 << 20; memory *= 4) {
        struct dpmf_train_options options = start();
        watch.calls = 0;
        run.memory = memory;
        assert_int_equal(dpmf_train_adapt(store, ALL, &options, &run, &report, NULL), 0);
        assert_int_equal(temp_dir_count(&temporary), 0);
        assert_int_equal(watch.calls, memory < (uint64_t)16 << 20 ? 1 : 0);
        assert_true((report.trials > 0) == (watch.calls == 0) && options.adapted == !watch.calls);
    }
}

/* Of a given penalty the steps are looked for by themselves. */
static void test_steps_alone(void **state) {
    (void)state;
    struct dpmf_train_options options = start();
    struct dpmf_adapt_report report;
    options.learning_rate = 0.01; /* too slow for twenty epochs */
    assert_int_equal(adapt(store, DPMF_ADAPT_LEARNING_RATE, 2, 0, &options, &report), 0);
    assert_true(options.learning_rate > 0.01 && report.trials > 1 && options.adapted);
    assert_true(options.regularization == dpmf_train_options_default().regularization);
}

static void test_ranking(void **state) {
    (void)state;
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_adapt_report report;
    assert_int_equal(dpmf_train_options_solver("ials", &options), 0);
    options.factors = 8;
    options.epochs = 4;
    assert_int_equal(adapt(store, ALL, 2, 0, &options, &report), 0);
    assert_true(report.trials >= 2 && report.valid_ndcg > 0 && isnan(report.valid_rmse));
    assert_int_equal(options.epochs, 4);
}

/* A run that goes on has the settings of the one that was interrupted. */
static void test_snapshots(void **state) {
    (void)state;
    char model[TEMP_PATH_MAX], snapshot[TEMP_PATH_MAX];
    struct dpmf_train_options options = start(), resumed = start();
    struct dpmf_adapt_report report;
    temp_dir_file(&dir, "model", model);
    temp_dir_file(&dir, "snapshot", snapshot);
    options.epochs = 3;
    options.learning_rate = 0.041;
    options.regularization = 0.061;
    options.adapted = true;
    options.snapshot = snapshot;
    assert_int_equal(dpmf_train(store, NULL, model, &options, NULL, NULL, NULL, NULL, NULL), 0);
    resumed.resume = snapshot;
    resumed.averages_first = false;
    assert_int_equal(adapt(store, ALL, 2, 0, &resumed, &report), 0);
    assert_true(report.is_resumed && report.trials == 0);
    assert_true(resumed.epochs == 3 && resumed.learning_rate == 0.041 &&
                resumed.regularization == 0.061 && resumed.adapted && resumed.averages_first);
    resumed.resume = model;
    temp_dir_file(&dir, "none", model);
    resumed.resume = model;
    assert_true(adapt(store, ALL, 2, 0, &resumed, &report) < 0);
}

static void test_is_stopped(void **state) {
    (void)state;
    for (uint64_t at = 1; at <= 40; at += 13) {
        struct dpmf_train_options options = start();
        struct dpmf_adapt_report report;
        assert_int_equal(adapt(store, ALL, 2, at, &options, &report), DPMF_ERR_BASE_CANCELLED);
        assert_true(options.regularization == dpmf_train_options_default().regularization);
    }
}

static int set_up(void **state) {
    (void)state;
    temp_dir_make(&dir);
    temp_dir_make(&temporary);
    assert_int_equal(setenv("TMPDIR", temporary.path, 1), 0);
    store = made("ratings.dpr", 12000, 4, 1.2);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dpmf_store_close(store);
    temp_dir_remove(&temporary);
    temp_dir_remove(&dir);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_more_penalty),
        cmocka_unit_test(test_what_is_given_stays),
        cmocka_unit_test(test_averages_win),
        cmocka_unit_test(test_small_sets),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_steps_alone),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_is_stopped),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
