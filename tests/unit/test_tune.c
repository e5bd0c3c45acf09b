/*
 * Tuning: the first trial has the defaults, trials are the same for any number of threads, the best
 * is the best of those that came to their end, what is held stays, those far behind are stopped,
 * time and the caller end the search, and nothing is left in the temporary directory whatever
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

enum { TRIALS_KEPT = 64 };

static struct temp_dir dir, temporary;
static struct dpmf_store *store;

struct watch {
    struct dpmf_trial trials[TRIALS_KEPT];
    size_t n;
    size_t stop_after; /* trials; 0: never */
    uint64_t calls, cancel_at, most, last;
};

static int on_trial(void *self, const struct dpmf_trial *trial) {
    struct watch *watch = self;
    assert_true(watch->n < TRIALS_KEPT);
    watch->trials[watch->n++] = *trial;
    return watch->stop_after == watch->n;
}

static int on_progress(void *self, const struct dpmf_progress *progress) {
    struct watch *watch = self;
    if (strcmp(progress->phase, "tuning") == 0) {
        assert_true(progress->done >= watch->last && progress->done <= progress->total);
        watch->last = progress->done;
    }
    return ++watch->calls == watch->cancel_at;
}

/* What a search is given. */
struct search {
    struct dpmf_train_options train;
    struct dpmf_tune_options tune;
};

static int tune(struct search options, int threads, struct watch *watch,
                struct dpmf_tune_report *report, struct dpmf_error *error) {
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    run.progress = on_progress;
    run.progress_self = watch;
    watch->n = 0;
    watch->last = watch->calls = 0;
    int code =
        dpmf_tune(store, NULL, &options.train, &options.tune, &run, on_trial, watch, report, error);
    assert_int_equal(temp_dir_count(&temporary), 0);
    return code;
}

/* Small and quick. */
static struct search quick(uint32_t trials) {
    struct search options = {dpmf_train_options_default(), dpmf_tune_options_default()};
    options.train.factors = 8;
    options.train.epochs = 6;
    options.tune.trials = trials;
    return options;
}

static void test_trials(void **state) {
    (void)state;
    struct watch watch = {.n = 0};
    struct dpmf_tune_report report;
    const struct search options = quick(12);
    assert_int_equal(tune(options, 2, &watch, &report, NULL), 0);
    assert_int_equal(watch.n, 12);
    assert_int_equal(report.trials, 12);
    assert_int_equal(report.train_ratings + report.valid_ratings, 6000);
    assert_true(report.valid_ratings > 400 && report.valid_ratings < 800);
    const struct dpmf_trial *first = &watch.trials[0], *best = NULL;
    assert_true(first->factors == 8 && first->epochs == 6 && first->is_best &&
                first->learning_rate == options.train.learning_rate &&
                first->regularization == options.train.regularization);
    for (size_t i = 0; i < watch.n; i++) {
        const struct dpmf_trial *trial = &watch.trials[i];
        assert_int_equal(trial->trial, i + 1);
        assert_true(trial->epochs_run <= trial->epochs);
        assert_true((trial->end == DPMF_TRIAL_DONE) == (trial->epochs_run == trial->epochs));
        if (trial->is_best) assert_int_equal(trial->end, DPMF_TRIAL_DONE);
        if (trial->end == DPMF_TRIAL_DONE && (!best || trial->valid_rmse < best->valid_rmse))
            best = trial;
    }
    assert_int_equal(report.best.trial, best->trial);
    assert_true(report.best.valid_rmse == best->valid_rmse);
    assert_false(report.out_of_time || report.all_tried);
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    struct watch one = {.n = 0}, three = {.n = 0}, other = {.n = 0};
    struct dpmf_tune_report report;
    struct search options = quick(8);
    assert_int_equal(tune(options, 1, &one, &report, NULL), 0);
    assert_int_equal(tune(options, 3, &three, &report, NULL), 0);
    options.train.seed = 2;
    assert_int_equal(tune(options, 1, &other, &report, NULL), 0);
    bool differs = false;
    for (size_t i = 0; i < one.n; i++) {
        const struct dpmf_trial *a = &one.trials[i], *b = &three.trials[i];
        assert_true(a->factors == b->factors && a->epochs == b->epochs &&
                    a->learning_rate == b->learning_rate && a->end == b->end &&
                    a->regularization == b->regularization && a->valid_rmse == b->valid_rmse);
        differs |= a->learning_rate != other.trials[i].learning_rate;
    }
    assert_true(differs);
}

/* What is said of the best is what training with it gives. */
static void test_best_can_be_had_again(void **state) {
    (void)state;
    char train_path[TEMP_PATH_MAX], test_path[TEMP_PATH_MAX], model[TEMP_PATH_MAX];
    struct dpmf_store *train, *valid;
    struct watch watch = {.n = 0};
    struct dpmf_tune_report report;
    struct dpmf_train_report trained;
    struct search options = quick(5);
    const struct dpmf_split_options split = dpmf_split_options_default();
    temp_dir_file(&dir, "train.dpr", train_path);
    temp_dir_file(&dir, "test.dpr", test_path);
    temp_dir_file(&dir, "model", model);
    assert_int_equal(dpmf_store_split(store, train_path, test_path, &split, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open(train_path, NULL, NULL, &train, NULL), 0);
    assert_int_equal(dpmf_store_open(test_path, NULL, NULL, &valid, NULL), 0);
    assert_int_equal(dpmf_tune(train, valid, &options.train, &options.tune, NULL, on_trial, &watch,
                               &report, NULL),
                     0);
    options.train.factors = report.best.factors;
    options.train.epochs = report.best.epochs;
    options.train.learning_rate = report.best.learning_rate;
    options.train.regularization = report.best.regularization;
    options.train.deterministic = true;
    options.train.patience = 0;
    assert_int_equal(
        dpmf_train(train, valid, model, &options.train, NULL, NULL, NULL, &trained, NULL), 0);
    assert_true(trained.valid_rmse <= report.best.valid_rmse); /* the error of the best epoch */
    assert_true(trained.valid_rmse > 0.99 * report.best.valid_rmse);
    dpmf_store_close(train);
    dpmf_store_close(valid);
}

/* Models that rank: a larger NDCG is better, and the weight of unobserved pairs is looked for. */
static void test_ranking(void **state) {
    (void)state;
    struct watch watch = {.n = 0};
    struct dpmf_tune_report report;
    struct dpmf_error error = {0};
    struct search options = quick(8);
    assert_int_equal(dpmf_train_options_solver("ials", &options.train), 0);
    options.train.factors = 8;
    options.train.epochs = 4;
    assert_int_equal(tune(options, 1, &watch, &report, NULL), 0);
    assert_int_equal(watch.n, 8);
    double best = 0;
    bool differs = false;
    for (size_t i = 0; i < watch.n; i++) {
        const struct dpmf_trial *trial = &watch.trials[i];
        assert_true(isnan(trial->valid_rmse));
        assert_true(trial->valid_ndcg > 0 && trial->valid_ndcg < 1 && trial->unobserved > 0);
        assert_true(trial->learning_rate == options.train.learning_rate);
        differs |= trial->unobserved != watch.trials[0].unobserved;
        if (trial->end == DPMF_TRIAL_DONE) best = fmax(best, trial->valid_ndcg);
    }
    assert_true(differs);
    assert_true(report.best.valid_ndcg == best);

    options.tune.hold_unobserved = true;
    options.train.ials.unobserved = 0.25;
    options.train.ials.has_like = true;
    options.train.ials.like = 4;
    assert_int_equal(tune(options, 1, &watch, &report, NULL), 0);
    for (size_t i = 0; i < watch.n; i++) assert_true(watch.trials[i].unobserved == 0.25);
    options.train.ials.unobserved = -1;
    assert_int_equal(tune(options, 1, &watch, &report, &error), DPMF_ERR_USAGE_VALUE);
    options.train.ials.unobserved = 0;
    options.train.ials.like = 100; /* nothing is */
    assert_int_equal(tune(options, 1, &watch, &report, &error), DPMF_ERR_INPUT_EMPTY);
}

static void test_what_is_held_stays(void **state) {
    (void)state;
    struct watch watch = {.n = 0};
    struct dpmf_tune_report report;
    struct search options = quick(6);
    options.tune.hold_factors = options.tune.hold_epochs = options.tune.hold_learning_rate = true;
    assert_int_equal(tune(options, 1, &watch, &report, NULL), 0);
    for (size_t i = 0; i < watch.n; i++)
        assert_true(watch.trials[i].factors == 8 && watch.trials[i].epochs == 6 &&
                    watch.trials[i].learning_rate == options.train.learning_rate &&
                    (i == 0 || watch.trials[i].regularization != options.train.regularization));
    options.tune.hold_regularization = true;
    assert_int_equal(tune(options, 1, &watch, &report, NULL), 0);
    assert_int_equal(watch.n, 1);
    assert_true(report.all_tried);
}

static void test_ends_early(void **state) {
    (void)state;
    struct watch watch = {.stop_after = 3};
    struct dpmf_tune_report report;
    struct dpmf_error error = {0};
    assert_int_equal(tune(quick(50), 1, &watch, &report, &error), 0);
    assert_int_equal(report.trials, 3);
    for (uint64_t at = 1; at <= 400; at = at * 3 + 1) {
        watch = (struct watch){.cancel_at = at};
        assert_int_equal(tune(quick(60), 2, &watch, &report, &error), DPMF_ERR_BASE_CANCELLED);
    }
}

static void test_time(void **state) {
    (void)state;
    struct watch watch = {.n = 0};
    struct dpmf_tune_report report;
    struct search options = quick(60);
    options.tune.seconds = 1e-6;
    assert_int_equal(tune(options, 1, &watch, &report, NULL), 0);
    assert_true(report.out_of_time && report.trials == 1);
    assert_int_equal(watch.trials[0].end, DPMF_TRIAL_TIME);
    assert_int_equal(watch.trials[0].epochs_run, 1);
    assert_int_equal(report.best.trial, 1);

    options.tune.seconds = 0.2;
    options.train.factors = 512;
    options.train.epochs = 60;
    assert_int_equal(tune(options, 1, &watch, &report, NULL), 0);
    assert_true(report.out_of_time && report.trials >= 1);
    assert_true(report.seconds < 10);
}

static void test_diverges(void **state) {
    (void)state;
    struct watch watch = {.n = 0};
    struct dpmf_tune_report report;
    struct dpmf_error error = {0};
    struct search options = quick(4);
    options.train.learning_rate = 900;
    options.tune.hold_learning_rate = true;
    assert_int_equal(tune(options, 1, &watch, &report, &error), DPMF_ERR_TRAIN_DIVERGED);
    assert_int_equal(watch.n, 4);
    for (size_t i = 0; i < 4; i++) assert_int_equal(watch.trials[i].end, DPMF_TRIAL_DIVERGED);
    assert_true(error.hint[0] != '\0');

    /* From where training diverges, to where it does not. */
    options = quick(25);
    options.train.learning_rate = 3;
    assert_int_equal(tune(options, 1, &watch, &report, &error), 0);
    assert_int_equal(watch.trials[0].end, DPMF_TRIAL_DIVERGED);
    assert_true(report.best.learning_rate < 3);
}

static void test_refuses(void **state) {
    (void)state;
    struct watch watch = {.n = 0};
    struct dpmf_tune_report report;
    struct dpmf_error error = {0};
    struct search bad[9];
    for (size_t i = 0; i < 9; i++) bad[i] = quick(2);
    bad[0].tune.trials = 0;
    bad[1].tune.trials = 10001;
    bad[2].tune.seconds = -1;
    bad[3].tune.valid_fraction = 0;
    bad[4].train.factors = 0;
    bad[5].train.epochs = 0;
    bad[6].train.learning_rate = NAN;
    bad[7].train.regularization = -1;
    bad[8].train.kernels = "none such";
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(tune(bad[i], 1, &watch, &report, &error), DPMF_ERR_USAGE_VALUE);
        assert_int_equal(watch.n, 0);
    }
    bad[0] = quick(2);
    bad[0].tune.valid_fraction = 1e-12;
    assert_int_equal(tune(bad[0], 1, &watch, &report, &error), DPMF_ERR_RATINGS_NONE_LEFT);
    assert_int_equal(setenv("TMPDIR", "/nowhere", 1), 0);
    assert_int_equal(tune(quick(2), 1, &watch, &report, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(setenv("TMPDIR", temporary.path, 1), 0);
}

static int set_up(void **state) {
    (void)state;
    char path[TEMP_PATH_MAX];
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.users = 300;
    options.items = 80;
    options.ratings = 6000;
    temp_dir_make(&dir);
    temp_dir_make(&temporary);
    temp_dir_file(&dir, "ratings.dpr", path);
    assert_int_equal(setenv("TMPDIR", temporary.path, 1), 0);
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, NULL), 0);
    return dpmf_store_open(path, NULL, NULL, &store, NULL);
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
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_best_can_be_had_again),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_what_is_held_stays),
        cmocka_unit_test(test_ends_early),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_diverges),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
