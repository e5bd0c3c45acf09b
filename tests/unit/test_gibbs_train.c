/*
 * dpmf_train with --solver gibbs: the same bytes for any number of threads, a mean that predicts
 * better than its samples, every way to refuse and to fail, and an end when asked for. That it
 * draws from the right distribution is in test_gibbs.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample/rating_rows.h"
#include "store/store.h"
#include "train_files.h"

#define NOISE 0.6

static int make_stores(void **state) {
    (void)state;
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 800;
    synth.items = 200;
    synth.ratings = 30000;
    synth.rank = 4;
    synth.noise = NOISE;
    synth.scale_step = 0;
    return train_files_make(&synth);
}

static int remove_stores(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static struct dpmf_train_options small_options(void) {
    struct dpmf_train_options options = dpmf_train_options_default();
    assert_int_equal(dpmf_train_options_solver("gibbs", &options), 0);
    options.factors = 6;
    options.epochs = 8;
    return options;
}

struct watching {
    struct dpmf_run run;
    uint32_t stop_after; /* epochs; 0: never */
    uint32_t epochs, warnings, asked;
    uint32_t cancel_at; /* questions; 0: never */
    struct dpmf_epoch last;
};

static int on_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct watching *watching = self;
    watching->last = *epoch;
    return ++watching->epochs == watching->stop_after;
}

static void on_warning(void *self, const char *message) {
    struct watching *watching = self;
    watching->warnings++;
    assert_true(strstr(message, "converged") || strstr(message, "chains"));
}

static int on_progress(void *self, const struct dpmf_progress *progress) {
    struct watching *watching = self;
    (void)progress;
    return watching->cancel_at > 0 && ++watching->asked >= watching->cancel_at;
}

static int train(const struct dpmf_train_options *options, struct watching *watching, int threads,
                 uint64_t memory, bool validate, const char *output,
                 struct dpmf_train_report *report, struct dpmf_error *error) {
    struct dpmf_store *store = NULL, *valid = NULL;
    struct watching unwanted = {0};
    if (!watching) watching = &unwanted;
    watching->run = dpmf_run_default();
    watching->run.threads = threads;
    watching->run.memory = memory;
    watching->run.warn = on_warning;
    watching->run.progress = on_progress;
    watching->run.progress_self = watching->run.warn_self = watching;
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    if (validate) assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &valid, NULL), 0);
    int code = dpmf_train(store, valid, output, options, &watching->run, on_epoch, watching, report,
                          error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    return code;
}

/* ---- ratings in memory ----------------------------------------------------------------------- */

/* Both orders hold the same ratings: each by user is found once by item, and their sum is 0 after
 * the mean is taken out. */
static void test_rating_rows(void **state) {
    (void)state;
    struct dpmf_store *store;
    struct rating_rows rows;
    struct dpmf_run run = dpmf_run_default();
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    for (run.threads = 1; run.threads <= 3; run.threads += 2) {
        assert_int_equal(rating_rows_read(&rows, store, NULL, store_n_ratings(store), &run, NULL),
                         0);
        const struct rating_side *users = &rows.users, *items = &rows.items;
        double sum = 0;
        assert_int_equal(users->start[users->n], rows.n_ratings);
        assert_int_equal(items->start[items->n], rows.n_ratings);
        for (uint64_t u = 0; u < users->n; u++)
            for (uint64_t r = users->start[u]; r < users->start[u + 1]; r++) {
                const uint32_t j = users->other[r];
                uint64_t found = 0;
                for (uint64_t q = items->start[j]; q < items->start[j + 1]; q++)
                    found += items->other[q] == u && items->value[q] == users->value[r];
                assert_int_equal(found, 1);
                sum += (double)users->value[r];
            }
        assert_true(fabs(sum / (double)rows.n_ratings) < 1e-6);
        rating_rows_free(&rows);
    }
    dpmf_store_close(store);
}

/* A store whose items have other numbers of ratings than it says, which add up all the same, is
 * refused before anything is written where it should not be. */
static void test_miscounted_store(void **state) {
    (void)state;
    static const uint64_t start[] = {0, 2, 3}, id_start[] = {0, 1, 2};
    static const uint32_t item[] = {0, 1, 1};
    static const double value[] = {1, 2, 3};
    static const struct store_item items[] = {{"x", 1, 2}, {"y", 1, 1}}; /* 1 and 2 in truth */
    const struct store_block block = {.n_users = 2,
                                      .n_ratings = 3,
                                      .start = start,
                                      .item = item,
                                      .value = value,
                                      .id_bytes = "ab",
                                      .id_start = id_start};
    char file[TEMP_PATH_MAX];
    struct store_encoded encoded = {0};
    struct store_writer *writer;
    struct dpmf_store *store;
    struct dpmf_error error = {0};
    const struct dpmf_train_options options = small_options();
    temp_dir_file(&directory, "miscounted.dpr", file);
    assert_int_equal(store_writer_open(&writer, file, false, NULL, NULL), 0);
    assert_int_equal(store_block_encode(&block, false, &encoded, NULL), 0);
    assert_int_equal(store_writer_append(writer, &encoded, NULL), 0);
    assert_int_equal(store_writer_finish(writer, items, 2, NULL), 0);
    assert_int_equal(store_writer_commit(writer, NULL, NULL), 0);
    store_encoded_free(&encoded);
    assert_int_equal(dpmf_store_open(file, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_train(store, NULL, b_file, &options, NULL, NULL, NULL, NULL, &error),
                     DPMF_ERR_STORE_CORRUPT);
    assert_non_null(strstr(error.message, "more ratings than it should"));
    dpmf_store_close(store);
}

/* ---- what comes out -------------------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    for (int average = 0; average < 2; average++) {
        options.sampler.average = average;
        options.sampler.chains = 2;
        assert_int_equal(train(&options, NULL, 1, 0, true, a_file, NULL, NULL), 0);
        for (int threads = 2; threads <= 7; threads += 5) {
            assert_int_equal(train(&options, NULL, threads, 0, true, b_file, NULL, NULL), 0);
            temp_dir_expect_same(a_file, b_file);
        }
    }
    options.seed = 2;
    assert_int_equal(train(&options, NULL, 2, 0, true, b_file, NULL, NULL), 0);
    size_t n_a, n_b;
    char *a = temp_dir_read(a_file, &n_a), *b = temp_dir_read(b_file, &n_b);
    assert_true(n_a != n_b || memcmp(a, b, n_a) != 0);
    free(a);
    free(b);
}

static double rmse_of(const char *file) {
    struct dpmf_model *model;
    struct dpmf_store *test;
    struct dpmf_evaluation evaluation;
    assert_int_equal(dpmf_model_open(file, &model, NULL), 0);
    assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &test, NULL), 0);
    assert_int_equal(dpmf_model_evaluate(model, test, NULL, NULL, NULL, &evaluation, NULL), 0);
    dpmf_store_close(test);
    dpmf_model_close(model);
    return evaluation.rmse;
}

/* The mean is better than a sample, and nearly as good as can be: the noise is in the ratings. What
 * is told after the last epoch is what the file does, when it holds every sample. */
static void test_mean_is_better(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report report;
    struct watching watching = {0};
    options.epochs = 40;
    options.sampler.chains = 2;
    options.sampler.trace = trace_file;
    assert_int_equal(train(&options, NULL, 2, 0, true, a_file, &report, NULL), 0);
    const double sample = rmse_of(a_file);
    assert_int_equal(report.samples, 1);
    assert_true(fabs(report.valid_rmse - sample) < 1e-6);
    options.sampler.average = true;
    assert_int_equal(train(&options, &watching, 2, 0, true, b_file, &report, NULL), 0);
    const double mean = rmse_of(b_file);
    print_message("sample %.4f, mean %.4f, noise %.4f\n", sample, mean, NOISE);
    assert_int_equal(report.samples, 54);
    assert_int_equal(report.burn_in, 13);
    assert_int_equal(report.epochs, 40);
    assert_int_equal(watching.epochs, 80);
    assert_int_equal(watching.last.chain, 1);
    assert_false(watching.last.is_burn_in);
    assert_true(fabs(report.valid_rmse - mean) < 1e-6);
    assert_true(fabs(watching.last.valid_rmse - mean) < 1e-6);
    assert_true(mean < sample - 0.03);
    assert_true(mean < 1.15 * NOISE);
    assert_true(report.ess > 0 && report.rhat > 0.9);
    assert_true(report.worst[0] != '\0');
    assert_int_equal(watching.warnings, report.converged ? 0 : 1);
    size_t n;
    char *trace = temp_dir_read(trace_file, &n);
    assert_non_null(strstr(trace, "<svg"));
    free(trace);
}

/* A new user who rates as a user of the model did is predicted nearly the same: the penalties are
 * right. */
static void test_fold_in(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_model *model;
    struct dpmf_store *store;
    options.sampler.average = true;
    options.epochs = 30;
    options.sampler.chains = 2;
    assert_int_equal(train(&options, NULL, 2, 0, false, a_file, NULL, NULL), 0);
    assert_int_equal(dpmf_model_open(a_file, &model, NULL), 0);
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    double sum = 0, spread = 0;
    uint64_t n = 0;
    for (uint64_t user = 0; user < 100; user++) {
        struct dpmf_history history;
        struct dpmf_user *again;
        size_t length;
        const char *id = dpmf_model_user_id(model, user, &length);
        assert_int_equal(dpmf_model_history(model, store, id, length, NULL, &history, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, history.ratings, history.n, &again, NULL), 0);
        for (uint64_t item = 0; item < 200; item += 7, n++) {
            double known = dpmf_model_predict(model, user, item);
            double difference = dpmf_user_predict(model, again, item) - known;
            sum += difference * difference;
            spread += (known - 3) * (known - 3);
        }
        dpmf_user_free(again);
        dpmf_history_free(&history);
    }
    print_message("folded in: differs by %.3f where predictions spread by %.3f\n",
                  sqrt(sum / (double)n), sqrt(spread / (double)n));
    assert_true(sum < 0.05 * spread);
    dpmf_store_close(store);
    dpmf_model_close(model);
}

/* Nine tenths of the ratings held back are within their intervals, to four standard deviations of a
 * binomial and two hundredths that the scale's ends and the model's own faults may cost. */
static void test_coverage(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_model *model;
    struct dpmf_store *test;
    struct store_raw raw = {0};
    struct store_space space = {0};
    struct store_block block;
    uint64_t n = 0, inside[2] = {0};
    static const double levels[] = {0.5, 0.9};
    options.sampler.average = true;
    options.epochs = 30;
    options.sampler.chains = 2;
    assert_int_equal(train(&options, NULL, 2, 0, false, a_file, NULL, NULL), 0);
    assert_int_equal(dpmf_model_open(a_file, &model, NULL), 0);
    assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &test, NULL), 0);
    assert_int_equal(store_block_read(test, 0, &raw, NULL), 0);
    assert_int_equal(
        store_block_decode(test, &raw, STORE_WANT_VALUE | STORE_WANT_IDS, &space, &block, NULL), 0);
    for (uint32_t u = 0; u < block.n_users; u++)
        for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++) {
            struct store_item item = store_item_at(test, block.item[r]);
            uint64_t i = dpmf_model_find_user(model, block.id_bytes + block.id_start[u],
                                              (size_t)(block.id_start[u + 1] - block.id_start[u]));
            uint64_t j = dpmf_model_find_item(model, item.id, item.id_length);
            if (i == UINT64_MAX || j == UINT64_MAX) continue;
            n++;
            for (int l = 0; l < 2; l++) {
                double low, high;
                assert_int_equal(dpmf_model_interval(model, i, j, levels[l], &low, &high, NULL), 0);
                inside[l] += block.value[r] >= low && block.value[r] <= high;
            }
        }
    for (int l = 0; l < 2; l++) {
        double share = (double)inside[l] / (double)n;
        print_message("%.0f %% intervals hold %.1f %% of %llu ratings\n", 100 * levels[l],
                      100 * share, (unsigned long long)n);
        assert_true(fabs(share - levels[l]) <
                    4 * sqrt(levels[l] * (1 - levels[l]) / (double)n) + 0.02);
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(test);
    dpmf_model_close(model);
}

static void train_on_scale(const char *file, double min, double max, const char *output) {
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    struct dpmf_train_options options = small_options();
    struct dpmf_store *store;
    synth.users = 300;
    synth.items = 60;
    synth.ratings = 6000;
    synth.scale_min = min;
    synth.scale_max = max;
    synth.scale_step = 0;
    options.sampler.average = true;
    options.epochs = 12;
    options.sampler.chains = 1;
    assert_int_equal(dpmf_synth(file, &synth, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open(file, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_train(store, NULL, output, &options, NULL, NULL, NULL, NULL, NULL), 0);
    dpmf_store_close(store);
}

/* The same ratings on another scale give the same model on that scale. */
static void test_scales(void **state) {
    (void)state;
    char scaled_file[TEMP_PATH_MAX];
    struct dpmf_model *a, *b;
    temp_dir_file(&directory, "scaled.dpr", scaled_file);
    train_on_scale(scaled_file, 1, 5, a_file);
    train_on_scale(scaled_file, 0, 1000, b_file);
    assert_int_equal(dpmf_model_open(a_file, &a, NULL), 0);
    assert_int_equal(dpmf_model_open(b_file, &b, NULL), 0);
    for (uint64_t user = 0; user < 50; user++)
        for (uint64_t item = 0; item < 20; item++) {
            double wanted = 250 * (dpmf_model_predict(a, user, item) - 1);
            assert_true(fabs(dpmf_model_predict(b, user, item) - wanted) < 0.5);
        }
    dpmf_model_close(a);
    dpmf_model_close(b);
}

/* ---- an end before the end ------------------------------------------------------------------- */

static void test_stopped(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report report;
    struct dpmf_error error = {0};
    struct watching watching = {.stop_after = 6};
    options.sampler.average = true;
    options.sampler.chains = 4;
    assert_int_equal(train(&options, &watching, 2, 0, false, a_file, &report, NULL), 0);
    assert_int_equal(watching.epochs, 6);
    assert_int_equal(report.samples, 4); /* samples of epochs 3 to 6 */
    watching = (struct watching){.stop_after = 1};
    assert_int_equal(train(&options, &watching, 2, 0, false, a_file, &report, NULL), 0);
    assert_int_equal(report.samples, 1); /* nothing to average over yet: the sample itself */
    rmse_of(a_file);

    unlink(b_file);
    watching = (struct watching){.cancel_at = 60};
    assert_int_equal(train(&options, &watching, 2, 0, false, b_file, &report, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(access(b_file, F_OK), -1);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect_refused(const struct dpmf_train_options *options, int code, const char *said) {
    struct dpmf_error error = {0};
    unlink(b_file);
    assert_int_equal(train(options, NULL, 2, 0, false, b_file, NULL, &error), code);
    assert_int_equal(error.code, code);
    if (!strstr(error.message, said)) fail_msg("\"%s\" lacks \"%s\"", error.message, said);
    assert_int_equal(access(b_file, F_OK), -1);
}

static void test_refusals(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    options.factors = 0;
    expect_refused(&options, DPMF_ERR_USAGE_VALUE, "factors");
    options.factors = 4097;
    expect_refused(&options, DPMF_ERR_USAGE_VALUE, "factors");
    options = small_options();
    options.epochs = 0;
    expect_refused(&options, DPMF_ERR_USAGE_VALUE, "epoch");
    options = small_options();
    options.snapshot = a_file; /* of a run that was stopped: no reason to offer to resume it */
    expect_refused(&options, DPMF_ERR_USAGE_CONFLICT, "snapshots");
    options = small_options();
    options.resume = a_file;
    expect_refused(&options, DPMF_ERR_USAGE_CONFLICT, "snapshots");
    options = small_options();
    options.tiers = "10,20";
    expect_refused(&options, DPMF_ERR_USAGE_CONFLICT, "tiers");
    options = small_options();
    options.hogwild = true;
    expect_refused(&options, DPMF_ERR_USAGE_CONFLICT, "Hogwild");
    options = small_options();
    options.kernels = "cray";
    expect_refused(&options, DPMF_ERR_USAGE_VALUE, "cray");
    options = small_options();
    options.sampler.burn_in = options.epochs;
    expect_refused(&options, DPMF_ERR_USAGE_CONFLICT, "burn-in");
    options = small_options();
    options.sampler.samples = 5;
    expect_refused(&options, DPMF_ERR_USAGE_CONFLICT, "average");
    options.sampler.average = true;
    options.sampler.samples = 513;
    expect_refused(&options, DPMF_ERR_USAGE_VALUE, "513 samples of 6 factors");
    options = small_options();
    options.sampler.average = true;
    options.factors = 2047;
    expect_refused(&options, DPMF_ERR_USAGE_VALUE, "too many for an average");
    assert_int_equal(dpmf_train_options_solver("simplex", &options), DPMF_ERR_USAGE_VALUE);
}

/* Every solver has a name and a line about it; what is left to a sampler is filled in, and nothing
 * else is touched. */
static void test_solvers(void **state) {
    (void)state;
    const char *name, *line = NULL;
    size_t n = 0;
    for (; (name = dpmf_solver_name(n, &line)); n++) {
        struct dpmf_train_options options = dpmf_train_options_default();
        assert_non_null(line);
        assert_int_equal(dpmf_train_options_solver(name, &options), 0);
        options.sampler.average = dpmf_solver_is_sampler(name);
        dpmf_train_options_complete(&options);
        if (!dpmf_solver_is_sampler(name)) {
            assert_int_equal(options.sampler.burn_in, UINT32_MAX);
            assert_int_equal(options.sampler.chains, 0);
            continue;
        }
        assert_in_range(options.sampler.burn_in, 1, options.epochs - 1);
        assert_int_equal(options.sampler.samples, 100);
        assert_in_range(options.sampler.chains, 2, 64);
        struct dpmf_train_options own = options;
        own.sampler.burn_in = 3, own.sampler.chains = 5, own.sampler.samples = 7;
        dpmf_train_options_complete(&own);
        assert_int_equal(own.sampler.burn_in, 3);
        assert_int_equal(own.sampler.chains, 5);
        assert_int_equal(own.sampler.samples, 7);
    }
    assert_int_equal(n, 6);
    assert_null(dpmf_solver_name(n, NULL));
}

/* Too little memory is refused with what would do; with that, it does, with fewer samples. */
static void test_memory(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report report;
    struct dpmf_error error = {0};
    unsigned enough = 0;
    options.sampler.average = true;
    assert_int_equal(train(&options, NULL, 2, 1 << 20, false, b_file, NULL, &error),
                     DPMF_ERR_USAGE_MEMORY);
    const char *number = strstr(error.hint, "{memory ");
    assert_non_null(number);
    assert_int_equal(sscanf(number, "{memory %uMiB}", &enough), 1);
    assert_true(enough > 1);
    assert_int_equal(train(&options, NULL, 2, (uint64_t)enough << 20, false, b_file, &report, NULL),
                     0);
    assert_true(report.samples >= 2 && report.samples < 96);
    options.sampler.samples = 80;
    assert_int_equal(
        train(&options, NULL, 2, (uint64_t)enough << 20, false, b_file, &report, &error),
        DPMF_ERR_USAGE_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rating_rows),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_mean_is_better),   cmocka_unit_test(test_fold_in),
        cmocka_unit_test(test_coverage),         cmocka_unit_test(test_scales),
        cmocka_unit_test(test_stopped),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_solvers),          cmocka_unit_test(test_memory),
        cmocka_unit_test(test_miscounted_store),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
