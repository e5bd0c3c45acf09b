/*
 * dpmf_train with the solvers sgld, sghmc and sgnht: the same bytes for any number of threads,
 * means that predict better than samples, steps that are safe, streams, every way to refuse and to
 * fail, and an end when asked for. That they draw from the right distribution is in
 * test_langevin.c, and that they agree with gibbs on real ratings in test_samplers_agree.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "store/store.h"
#include "train_files.h"

static const char *const solvers[] = {"sgld", "sghmc", "sgnht"};
enum { SOLVERS = sizeof solvers / sizeof solvers[0] };

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

static struct dpmf_train_options small_options(const char *solver) {
    struct dpmf_train_options options = dpmf_train_options_default();
    assert_int_equal(dpmf_train_options_solver(solver, &options), 0);
    options.factors = 6;
    options.epochs = 12;
    return options;
}

struct watching {
    struct dpmf_run run;
    uint32_t stop_after; /* epochs; 0: never */
    uint32_t epochs, burn_in, warnings, asked;
    uint32_t cancel_at; /* questions; 0: never */
    struct dpmf_epoch last;
};

static int on_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct watching *watching = self;
    watching->last = *epoch;
    watching->burn_in += epoch->is_burn_in;
    return ++watching->epochs == watching->stop_after;
}

static void on_warning(void *self, const char *message) {
    struct watching *watching = self;
    watching->warnings++;
    if (!strstr(message, "chains")) fail_msg("%s", message);
}

static int on_progress(void *self, const struct dpmf_progress *progress) {
    struct watching *watching = self;
    (void)progress;
    return watching->cancel_at > 0 && ++watching->asked >= watching->cancel_at;
}

static int train_on(const char *file, const char *valid_file,
                    const struct dpmf_train_options *options, struct watching *watching,
                    int threads, uint64_t memory, const char *output,
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
    assert_int_equal(dpmf_store_open(file, NULL, NULL, &store, NULL), 0);
    if (valid_file) assert_int_equal(dpmf_store_open(valid_file, NULL, NULL, &valid, NULL), 0);
    int code = dpmf_train(store, valid, output, options, &watching->run, on_epoch, watching, report,
                          error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    return code;
}

static int train(const struct dpmf_train_options *options, struct watching *watching, int threads,
                 uint64_t memory, bool validate, const char *output,
                 struct dpmf_train_report *report, struct dpmf_error *error) {
    return train_on(train_file, validate ? test_file : NULL, options, watching, threads, memory,
                    output, report, error);
}

static bool is_same_file(const char *a, const char *b) {
    size_t n_a, n_b;
    char *x = temp_dir_read(a, &n_a), *y = temp_dir_read(b, &n_b);
    bool same = n_a == n_b && memcmp(x, y, n_a) == 0;
    free(x);
    free(y);
    return same;
}

/* ---- what comes out -------------------------------------------------------------------------- */

/* In order, bit for bit; another seed and another chain are another model. */
static void test_threads(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        struct dpmf_train_options options = small_options(solvers[s]);
        options.deterministic = true;
        options.factors = s == 0 ? 6 : 40; /* short rows, and long ones */
        options.sampler.average = s == 1;
        options.sampler.chains = 2;
        assert_int_equal(train(&options, NULL, 1, 0, true, a_file, NULL, NULL), 0);
        for (int threads = 2; threads <= 7; threads += 5) {
            assert_int_equal(train(&options, NULL, threads, 0, true, b_file, NULL, NULL), 0);
            if (!is_same_file(a_file, b_file)) fail_msg("%s, %d threads", solvers[s], threads);
        }
        options.seed = 2;
        assert_int_equal(train(&options, NULL, 2, 0, true, b_file, NULL, NULL), 0);
        assert_false(is_same_file(a_file, b_file));
    }
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

/* The mean is better than a sample, and what is told after the last epoch is what the file does. In
 * the free order and with two threads, which the results may depend on but not much. */
static void test_mean_is_better(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        struct dpmf_train_options options = small_options(solvers[s]);
        struct dpmf_train_report report;
        struct watching watching = {0};
        options.epochs = 150;
        options.sampler.burn_in = 100;
        options.sampler.chains = 2;
        assert_int_equal(train(&options, NULL, 2, 0, true, a_file, &report, NULL), 0);
        const double sample = rmse_of(a_file);
        assert_int_equal(report.samples, 1);
        assert_true(fabs(report.valid_rmse - sample) < 1e-5);
        options.sampler.average = true;
        options.sampler.samples = 100;
        options.sampler.trace = trace_file;
        assert_int_equal(train(&options, &watching, 2, 0, true, b_file, &report, NULL), 0);
        const double mean = rmse_of(b_file);
        print_message("%s: sample %.4f, mean %.4f, noise %.4f; step %.3g, x %.3g\n", solvers[s],
                      sample, mean, NOISE, report.step, report.stiffness);
        assert_int_equal(report.samples, 100);
        assert_int_equal(report.burn_in, 100);
        assert_int_equal(report.epochs, 150);
        assert_int_equal(watching.epochs, 300);
        assert_int_equal(watching.burn_in, 200);
        assert_int_equal(watching.last.chain, 1);
        assert_false(watching.last.is_burn_in);
        assert_true(fabs(report.valid_rmse - mean) < 1e-4);
        assert_true(mean < sample - 0.01);
        assert_true(mean < 1.25 * NOISE);
        assert_true(report.step > 0 && report.stiffness > 0);
        assert_true(report.stiffness < (s == 0 ? 0.0201 : 0.1));
        assert_int_equal(watching.warnings, report.converged ? 0 : 1);
        size_t n;
        char *trace = temp_dir_read(trace_file, &n);
        assert_non_null(strstr(trace, "<svg"));
        free(trace);
        unlink(trace_file);
    }
}

/* Everyone's table of numbers does as well as exact noise, by its error. */
static void test_table(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options("sgld");
    options.epochs = 60;
    options.sampler.average = true;
    options.sampler.chains = 1;
    assert_int_equal(train(&options, NULL, 1, 0, true, a_file, NULL, NULL), 0);
    options.sampler.noise = "table:10000";
    assert_int_equal(train(&options, NULL, 1, 0, true, b_file, NULL, NULL), 0);
    assert_true(fabs(rmse_of(a_file) - rmse_of(b_file)) < 0.02);
    assert_false(is_same_file(a_file, b_file));
}

/* A scale of other numbers changes nothing but the numbers. Rounding does, and so the last samples
 * of two chains differ by some percent, up or down: the means of several must not. */
static void test_scale(void **state) {
    (void)state;
    enum { SEEDS = 24 };
    for (int s = 0; s < SOLVERS; s++) {
        struct dpmf_input_options input = dpmf_input_options_default();
        struct dpmf_train_options options = small_options(solvers[s]);
        struct dpmf_store *store;
        struct dpmf_train_report report;
        double one = 0, twenty = 0;
        options.epochs = 30;
        options.deterministic = true;
        input.rescale = true;
        input.from_min = 1;
        input.from_max = 5;
        input.to_min = -40;
        input.to_max = 40;
        assert_int_equal(dpmf_store_open(train_file, &input, NULL, &store, NULL), 0);
        for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
            assert_int_equal(train(&options, NULL, 2, 0, false, a_file, &report, NULL), 0);
            one += report.train_rmse / SEEDS;
            assert_int_equal(
                dpmf_train(store, NULL, b_file, &options, NULL, NULL, NULL, &report, NULL), 0);
            twenty += report.train_rmse / 20 / SEEDS;
        }
        dpmf_store_close(store);
        print_message("%s: %.4f, and %.4f on a scale of 20 times the width\n", solvers[s], one,
                      twenty);
        assert_true(fabs(twenty - one) < 0.01 * one);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { MEBIBYTE = 1 << 20 };

static void make_larger(const char *file) {
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 6000;
    synth.items = 400;
    synth.ratings = 400000;
    synth.rank = 4;
    assert_int_equal(dpmf_synth(file, &synth, NULL, NULL, NULL), 0);
}

/* What is larger than memory is streamed, and learns the same. */
static void test_stream(void **state) {
    (void)state;
    char file[TEMP_PATH_MAX];
    struct dpmf_train_options options = small_options("sgld");
    struct dpmf_train_report whole, streamed;
    temp_dir_file(&directory, "larger.dpr", file);
    make_larger(file);
    options.factors = 32;
    options.epochs = 6;
    options.deterministic = true;
    assert_int_equal(train_on(file, NULL, &options, NULL, 2, 0, a_file, &whole, NULL), 0);
    assert_int_equal(
        train_on(file, NULL, &options, NULL, 1, 12 * MEBIBYTE, a_file, &streamed, NULL), 0);
    assert_false(whole.tiles_on_disk);
    assert_true(streamed.tiles_on_disk);
    print_message("in memory %.4f, streamed %.4f\n", whole.train_rmse, streamed.train_rmse);
    assert_true(fabs(whole.train_rmse - streamed.train_rmse) < 0.01);
    assert_int_equal(
        train_on(file, NULL, &options, NULL, 3, 12 * MEBIBYTE, b_file, &streamed, NULL), 0);
    assert_true(is_same_file(a_file, b_file));
    unlink(file);
}

/* What must be in memory says how much would do, and it does. */
static void test_too_little(void **state) {
    (void)state;
    char file[TEMP_PATH_MAX];
    temp_dir_file(&directory, "larger.dpr", file);
    make_larger(file);
    for (int i = 0; i < 3; i++) {
        struct dpmf_train_options options = small_options(i == 0 ? "sghmc" : "sgld");
        struct dpmf_error error = {0};
        unsigned long long enough;
        options.factors = 32;
        options.epochs = 2;
        options.sampler.average = i > 0;
        options.sampler.samples = i == 2 ? 4 : 0;
        options.sampler.chains = 4;
        assert_int_equal(
            train_on(file, NULL, &options, NULL, 2, 9 * MEBIBYTE, a_file, NULL, &error),
            DPMF_ERR_USAGE_MEMORY);
        assert_non_null(strstr(error.message, "in memory as a whole"));
        const char *hint = strstr(error.hint, "{memory ");
        assert_non_null(hint);
        enough = strtoull(hint + strlen("{memory "), NULL, 10);
        print_message("%llu MiB are said to do\n", enough);
        assert_true(enough > 9 && enough < 200);
        int code = train_on(file, NULL, &options, NULL, 2, enough * MEBIBYTE, a_file, NULL, &error);
        if (code != 0) fail_msg("%llu MiB do not do: %s", enough, error.message);
    }
    unlink(file);
}

/* The table is part of what memory is for. */
static void test_large_table(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options("sgld");
    options.sampler.noise = "table:67108864";
    assert_int_equal(train(&options, NULL, 1, 64 * MEBIBYTE, false, a_file, NULL, NULL),
                     DPMF_ERR_USAGE_MEMORY);
    options.sampler.noise = "table:65536";
    assert_int_equal(train(&options, NULL, 1, 64 * MEBIBYTE, false, a_file, NULL, NULL), 0);
}

/* ---- refusals and ends ----------------------------------------------------------------------- */

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *solver, *noise, *snapshot;
        double step;
        uint32_t burn_in, samples;
        bool hogwild, average;
        int code;
        const char *says;
    } cases[] = {
        {.solver = "sgld", .hogwild = true, .code = DPMF_ERR_USAGE_CONFLICT, .says = "Hogwild"},
        {.solver = "sghmc", .hogwild = true, .code = DPMF_ERR_USAGE_CONFLICT, .says = "Hogwild"},
        {.solver = "sgld", .noise = "loud", .code = DPMF_ERR_USAGE_VALUE, .says = "loud"},
        {.solver = "sgld", .noise = "table:", .code = DPMF_ERR_USAGE_VALUE, .says = "table:"},
        {.solver = "sgld", .noise = "table:9", .code = DPMF_ERR_USAGE_VALUE, .says = "8192"},
        {.solver = "sgnht", .noise = "table", .code = DPMF_ERR_USAGE_CONFLICT, .says = "only sgld"},
        {.solver = "sgld", .step = -1, .code = DPMF_ERR_USAGE_VALUE, .says = "step"},
        {.solver = "sgld", .step = NAN, .code = DPMF_ERR_USAGE_VALUE, .says = "step"},
        {.solver = "sgld", .step = INFINITY, .code = DPMF_ERR_USAGE_VALUE, .says = "step"},
        {.solver = "sgld", .step = 9e-13, .code = DPMF_ERR_USAGE_VALUE, .says = "rounding"},
        {.solver = "sghmc", .step = 9e-5, .code = DPMF_ERR_USAGE_VALUE, .says = "rounding"},
        {.solver = "sgnht", .step = 9e-5, .code = DPMF_ERR_USAGE_VALUE, .says = "rounding"},
        {.solver = "sgld", .burn_in = 12, .code = DPMF_ERR_USAGE_CONFLICT, .says = "burn-in"},
        {.solver = "sgld", .samples = 3, .code = DPMF_ERR_USAGE_CONFLICT, .says = "average"},
        {.solver = "sgld",
         .samples = 3000,
         .average = true,
         .code = DPMF_ERR_USAGE_VALUE,
         .says = "3000 samples"},
        {.solver = "sghmc",
         .snapshot = "s.safetensors",
         .code = DPMF_ERR_USAGE_CONFLICT,
         .says = "snapshots"},
        {.solver = "adam", .code = DPMF_ERR_USAGE_VALUE, .says = "adam"},
        {.solver = "sgd", .average = true, .code = DPMF_ERR_USAGE_CONFLICT, .says = "samples"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpmf_train_options options = dpmf_train_options_default();
        struct dpmf_error error = {0};
        options.solver = cases[i].solver;
        options.epochs = 12;
        options.factors = 2;
        options.sampler.noise = cases[i].noise;
        options.snapshot = cases[i].snapshot;
        options.sampler.step = cases[i].step;
        if (cases[i].burn_in > 0) options.sampler.burn_in = cases[i].burn_in;
        options.sampler.samples = cases[i].samples;
        options.hogwild = cases[i].hogwild;
        options.sampler.average = cases[i].average;
        assert_int_equal(train(&options, NULL, 1, 0, false, a_file, NULL, &error), cases[i].code);
        if (!strstr(error.message, cases[i].says)) fail_msg("case %zu: %s", i, error.message);
    }
}

static void test_divergence(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        struct dpmf_train_options options = small_options(solvers[s]);
        struct dpmf_error error = {0};
        options.sampler.step = 30;
        unlink(a_file);
        assert_int_equal(train(&options, NULL, 2, 0, false, a_file, NULL, &error),
                         DPMF_ERR_TRAIN_DIVERGED);
        assert_non_null(strstr(error.hint, "{step}"));
        assert_int_not_equal(access(a_file, F_OK), 0);
    }
}

/* Cancelled there is nothing; ended by the one who watches there is what there was. */
static void test_ends(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options("sghmc");
    struct dpmf_train_report report;
    struct watching watching = {.cancel_at = 40};
    options.epochs = 5000;
    unlink(a_file);
    assert_int_equal(train(&options, &watching, 2, 0, false, a_file, NULL, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_not_equal(access(a_file, F_OK), 0);
    for (int average = 0; average < 2; average++) {
        watching = (struct watching){.stop_after = 4};
        options.sampler.burn_in = average ? 2 : 10;
        options.sampler.average = average;
        assert_int_equal(train(&options, &watching, 2, 0, true, a_file, &report, NULL), 0);
        assert_int_equal(report.epochs, 4);
        assert_int_equal(report.samples, 1);
        assert_true(isfinite(rmse_of(a_file)));
        unlink(a_file);
    }
}

/* ---- hardly any ratings ---------------------------------------------------------------------- */

/* A store of n ratings, user by user, of users who rate the first few of the items each. */
static struct dpmf_store *few_ratings(uint64_t n_users, uint64_t n_items, bool alike) {
    enum { MOST = 8 };
    int64_t users[MOST], items[MOST];
    double values[MOST];
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n_users = n_users,
                                 .n_items = n_items,
                                 .users = users,
                                 .items = items,
                                 .ratings = values};
    struct dpmf_store *store;
    for (uint64_t i = 0; i < n_users; i++)
        for (uint64_t j = 0; j < n_items && arrays.n < MOST; j++, arrays.n++) {
            users[arrays.n] = (int64_t)i;
            items[arrays.n] = (int64_t)j;
            values[arrays.n] = alike ? 3 : (double)(1 + (2 * i + 3 * j) % 5);
        }
    assert_int_equal(dpmf_store_from_arrays(&arrays, NULL, NULL, &store, NULL), 0);
    return store;
}

/* Precisions of a few numbers change by orders of magnitude from round to round, and steps must
 * follow them: a step that was safe when it was measured is not safe for ever. */
static void test_few_ratings(void **state) {
    (void)state;
    static const struct {
        uint64_t users, items;
        bool alike;
    } shapes[] = {{1, 1, false}, {1, 4, false}, {4, 1, false}, {2, 2, false}, {2, 4, true}};
    static const uint32_t factors[] = {1, 3, 32};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct dpmf_store *store = few_ratings(shapes[i].users, shapes[i].items, shapes[i].alike);
        for (size_t run = 0; run < SOLVERS * sizeof factors / sizeof factors[0]; run++) {
            struct dpmf_train_options options = small_options(solvers[run % SOLVERS]);
            struct dpmf_error error = {0};
            options.factors = factors[run / SOLVERS];
            options.epochs = 200;
            options.sampler.chains = 4;
            if (dpmf_train(store, NULL, a_file, &options, NULL, NULL, NULL, NULL, &error) < 0)
                fail_msg("%d x %d, %s, k = %u: %s", (int)shapes[i].users, (int)shapes[i].items,
                         options.solver, options.factors, error.message);
        }
        dpmf_store_close(store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_mean_is_better),
        cmocka_unit_test(test_table),       cmocka_unit_test(test_scale),
        cmocka_unit_test(test_stream),      cmocka_unit_test(test_too_little),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_ends),        cmocka_unit_test(test_few_ratings),
        cmocka_unit_test(test_large_table),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
