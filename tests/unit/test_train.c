/*
 * Training: as good per epoch as one rating at a time in random order, the same bits for any number of
 * threads when asked, a resumed run equal to one that was never interrupted, and every way to fail.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random/random.h"
#include "store/store.h"
#include "temp_dir.h"
#include "train/rates.h"

static struct temp_dir directory;
static char store_file[TEMP_PATH_MAX], train_file[TEMP_PATH_MAX], test_file[TEMP_PATH_MAX],
    a_file[TEMP_PATH_MAX], b_file[TEMP_PATH_MAX], snapshot_file[TEMP_PATH_MAX];

static int make_stores(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", store_file);
    temp_dir_file(&directory, "train.dpr", train_file);
    temp_dir_file(&directory, "test.dpr", test_file);
    temp_dir_file(&directory, "a.safetensors", a_file);
    temp_dir_file(&directory, "b.safetensors", b_file);
    temp_dir_file(&directory, "s.safetensors", snapshot_file);
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 2000;
    synth.items = 500;
    synth.ratings = 120000;
    synth.rank = 4;
    struct dpmf_split_options split = dpmf_split_options_default();
    struct dpmf_store *store;
    if (dpmf_synth(store_file, &synth, NULL, NULL, NULL) != 0) return -1;
    if (dpmf_store_open(store_file, NULL, NULL, &store, NULL) != 0) return -1;
    int code = dpmf_store_split(store, train_file, test_file, &split, NULL, NULL, NULL);
    dpmf_store_close(store);
    return code;
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
    int code = dpmf_train(store, valid, output, options, &run, NULL, report, error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    return code;
}

static void expect_same_file(const char *a, const char *b) {
    size_t n_a, n_b;
    char *x = temp_dir_read(a, &n_a), *y = temp_dir_read(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(x, y, n_a);
    free(x);
    free(y);
}

/* ---- the textbook, to compare with ------------------------------------------------------------ */

struct triple {
    uint32_t user, item;
    float value;
};

static uint32_t number_of(const char *id, uint64_t length) {
    uint32_t number = 0;
    for (uint64_t i = 0; i < length; i++) number = number * 10 + (uint32_t)(id[i] - '0');
    return number;
}

/* A store's ratings; ids are small numbers, which serve as rows here. */
static struct triple *read_triples(const char *file, size_t *n) {
    struct dpmf_store *store;
    assert_int_equal(store_open_file(file, &store, NULL), 0);
    struct triple *triples = malloc((size_t)store_n_ratings(store) * sizeof *triples);
    struct store_raw raw = {0};
    struct store_space space = {0};
    assert_non_null(triples);
    *n = 0;
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw, STORE_WANT_VALUE32 | STORE_WANT_IDS,
                                            &space, &block, NULL),
                         0);
        for (uint32_t u = 0; u < block.n_users; u++)
            for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++) {
                struct store_item item = store_item_at(store, block.item[r]);
                triples[(*n)++] =
                    (struct triple){number_of(block.id_bytes + block.id_start[u],
                                              block.id_start[u + 1] - block.id_start[u]),
                                    number_of(item.id, item.id_length), block.value32[r]};
            }
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(store);
    return triples;
}

enum { ROWS = 4096, K = 16 };

struct textbook {
    double u[ROWS][K], v[ROWS][K], bu[ROWS], bv[ROWS], offset;
};

static double textbook_predict(const struct textbook *m, const struct triple *t) {
    double p = m->offset + m->bu[t->user] + m->bv[t->item];
    for (int x = 0; x < K; x++) p += m->u[t->user][x] * m->v[t->item][x];
    return p;
}

static double textbook_rmse(const struct dpmf_train_options *options) {
    size_t n, n_test;
    struct triple *ratings = read_triples(train_file, &n);
    struct triple *test = read_triples(test_file, &n_test);
    struct textbook *m = calloc(1, sizeof *m);
    assert_non_null(m);
    struct random_stream random;
    random_stream_init(&random, 5, 5, 5);
    double scale = sqrt(RATES_FIRST_PRODUCT / sqrt((double)K));
    for (int row = 0; row < ROWS; row++)
        for (int x = 0; x < K; x++) {
            m->u[row][x] = scale * random_gaussian(&random);
            m->v[row][x] = scale * random_gaussian(&random);
        }
    for (size_t i = 0; i < n; i++) m->offset += (double)ratings[i].value / (double)n;
    for (uint32_t e = 0; e < options->epochs; e++) {
        struct sgd_rates rates = rates_of_epoch(options, e);
        double rate = (double)rates.rate, reg = (double)rates.reg;
        double bias_rate = (double)rates.bias_rate, bias_reg = (double)rates.bias_reg;
        for (size_t i = n - 1; i > 0; i--) {
            size_t j = (size_t)random_below(&random, i + 1);
            struct triple swap = ratings[i];
            ratings[i] = ratings[j];
            ratings[j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            const struct triple *t = &ratings[i];
            double error = (double)t->value - textbook_predict(m, t);
            m->bu[t->user] += bias_rate * (error - bias_reg * m->bu[t->user]);
            m->bv[t->item] += bias_rate * (error - bias_reg * m->bv[t->item]);
            for (int x = 0; x < K; x++) {
                double u = m->u[t->user][x], v = m->v[t->item][x];
                m->u[t->user][x] += rate * (error * v - reg * u);
                m->v[t->item][x] += rate * (error * u - reg * v);
            }
        }
    }
    double sum = 0;
    for (size_t i = 0; i < n_test; i++) {
        double error = (double)test[i].value - fmin(fmax(textbook_predict(m, &test[i]), 1), 5);
        sum += error * error;
    }
    free(m);
    free(ratings);
    free(test);
    return sqrt(sum / (double)n_test);
}

/* ---- the tests -------------------------------------------------------------------------------- */

/* Hogwild races, and means to; the thread sanitizer would say so. */
#if defined(__SANITIZE_THREAD__)
enum { N_ORDERS = 2 };
#else
enum { N_ORDERS = 3 };
#endif

/* All kernels, both orders and Hogwild learn as well as the textbook does, within a percent. */
static void test_as_good_as_random_order(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    options.epochs = 10;
    options.patience = 0;
    double expected = textbook_rmse(&options);
    const struct kernel_set *set;
    for (size_t i = 0; (set = kernel_set_at(i)) != NULL; i++) {
        if (!set->is_supported()) continue;
        options.kernels = set->name;
        for (int order = 0; order < N_ORDERS; order++) {
            options.deterministic = order == 1;
            options.hogwild = order == 2;
            struct dpmf_train_report report;
            struct dpmf_error error;
            assert_int_equal(train(&options, 2, 0, true, a_file, &report, &error), 0);
            if (fabs(report.valid_rmse / expected - 1) > 0.01)
                fail_msg("%s, order %d: %.4f instead of %.4f", set->name, order, report.valid_rmse,
                         expected);
        }
    }
}

static void test_deterministic(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    options.deterministic = true;
    struct dpmf_train_report report;
    assert_int_equal(train(&options, 1, 0, false, a_file, &report, NULL), 0);
    assert_false(report.tiles_on_disk);
    for (int threads = 2; threads < 10; threads += 3) {
        assert_int_equal(train(&options, threads, 0, false, b_file, &report, NULL), 0);
        expect_same_file(a_file, b_file);
    }
}

/* With no memory for tiles they are on disk, and what is learned is as good. */
static void test_tiles_on_disk(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report in_memory, on_disk;
    assert_int_equal(train(&options, 2, 0, true, a_file, &in_memory, NULL), 0);
    assert_int_equal(train(&options, 2, 1, true, b_file, &on_disk, NULL), 0);
    assert_true(on_disk.tiles_on_disk);
    assert_true(fabs(on_disk.valid_rmse / in_memory.valid_rmse - 1) < 0.01);
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
    assert_int_equal(dpmf_train(store, NULL, b_file, &options, NULL, stop_after_three, NULL, NULL),
                     0);
    dpmf_store_close(store);

    options.snapshot = NULL;
    options.resume = snapshot_file;
    struct dpmf_train_report report;
    assert_int_equal(train(&options, 3, 0, false, b_file, &report, NULL), 0);
    assert_int_equal(report.epochs, options.epochs);
    expect_same_file(a_file, b_file);

    /* another run's snapshot is refused */
    struct dpmf_error error;
    options.factors = 17;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_TRAIN_MISMATCH);
    options.factors = 16;
    options.learning_rate *= 2;
    assert_int_equal(train(&options, 1, 0, false, b_file, NULL, &error), DPMF_ERR_TRAIN_MISMATCH);
    assert_true(error.hint[0] != 0);
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
    assert_int_equal(dpmf_train(store, NULL, b_file, &options, &run, NULL, NULL, &error),
                     DPMF_ERR_BASE_CANCELLED);
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_good_as_random_order),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_tiles_on_disk),
        cmocka_unit_test(test_resume_is_exact),
        cmocka_unit_test(test_divergence_is_noticed),
        cmocka_unit_test(test_stops_early),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
