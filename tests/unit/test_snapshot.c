/*
 * Snapshots and streams of whole runs: a run that goes on from a snapshot, wherever that was cut,
 * ends with the bits of one that was never interrupted, in memory and streamed, with a validation
 * set and without; a streamed run ends with those of one in memory; and what cannot be gone on with
 * is refused.
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
#include "synth_split.h"
#include "temp_dir.h"
#include "whole_checkpoint.h"

/* The thread sanitizer is slow, and sees in a few runs what it would see in many. */
#if defined(__SANITIZE_THREAD__)
enum { EPOCHS = 2, FASTER = 10, N_INTERVALS = 3 };
#else
enum { EPOCHS = 3, FASTER = 2, N_INTERVALS = 7 };
#endif

static struct temp_dir directory;
static char train_file[TEMP_PATH_MAX], test_file[TEMP_PATH_MAX], whole_file[TEMP_PATH_MAX],
    other_file[TEMP_PATH_MAX], snapshot_file[TEMP_PATH_MAX], copy_file[TEMP_PATH_MAX];

/* With which a run is streamed. */
struct memory_range {
    uint64_t least, most;
};

static struct dpmf_train_options small_options(void) {
    struct dpmf_train_options options = dpmf_train_options_default();
    options.factors = 20;
    options.epochs = EPOCHS;
    options.deterministic = true;
    return options;
}

/* What happens to a run: it is interrupted, or its snapshots are looked at. */
struct fate {
    int calls_left; /* calls of progress before it is interrupted; -1: never */
    bool copy;      /* keeps the snapshot that is there when the second epoch ends */
};

static int progress(void *self, const struct dpmf_progress *so_far) {
    struct fate *fate = self;
    if (strcmp(so_far->phase, "training") != 0 || fate->calls_left < 0) return 0;
    if (fate->calls_left == 0) return 1;
    fate->calls_left--;
    return 0;
}

static int after_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct fate *fate = self;
    if (fate && fate->copy && epoch->epoch == 2 && access(snapshot_file, F_OK) == 0) {
        size_t n;
        char *bytes = temp_dir_read(snapshot_file, &n);
        temp_dir_write(copy_file, bytes, n);
        free(bytes);
    }
    return 0;
}

static int train(const struct dpmf_train_options *options, int threads, uint64_t memory,
                 bool validate, const char *output, struct fate *fate,
                 struct dpmf_train_report *report, struct dpmf_error *error) {
    struct dpmf_store *store = NULL, *valid = NULL;
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    run.memory = memory;
    run.progress_self = fate;
    if (fate) run.progress = progress;
    run.replace = true; /* snapshots of runs that were cut off before */
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    if (validate) assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &valid, NULL), 0);
    int code = dpmf_train(store, valid, output, options, &run, after_epoch, fate, report, error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    return code;
}

static struct checkpoint_state state_of(const char *file) {
    struct checkpoint_file read;
    assert_int_equal(checkpoint_file_open(&read, file, NULL), 0);
    checkpoint_file_close(&read);
    return read.state;
}

/* Between which sizes of memory a run is streamed, for any number of threads up to two. */
static struct memory_range streamed_range(bool deterministic, bool validate) {
    static struct memory_range known[2][2];
    if (known[deterministic][validate].least > 0) return known[deterministic][validate];
    struct dpmf_train_options options = small_options();
    struct memory_range range = {0, 0};
    options.deterministic = deterministic;
    options.epochs = 1;
    for (uint64_t memory = 4 << 20; memory < 64 << 20; memory += 1 << 16) {
        struct dpmf_train_report report;
        struct dpmf_error error;
        int code = train(&options, 2, memory, validate, other_file, NULL, &report, &error);
        if (code == DPMF_ERR_USAGE_MEMORY) continue;
        assert_int_equal(code, 0);
        if (!report.tiles_on_disk) break;
        if (range.least == 0) range.least = memory;
        range.most = memory;
    }
    assert_true(range.least > 0);
    return known[deterministic][validate] = range;
}

static int make_stores(void **state) {
    (void)state;
    temp_dir_make(&directory);
    char store_file[TEMP_PATH_MAX];
    temp_dir_file(&directory, "x.dpr", store_file);
    temp_dir_file(&directory, "train.dpr", train_file);
    temp_dir_file(&directory, "test.dpr", test_file);
    temp_dir_file(&directory, "whole.safetensors", whole_file);
    temp_dir_file(&directory, "other.safetensors", other_file);
    temp_dir_file(&directory, "snapshot.safetensors", snapshot_file);
    temp_dir_file(&directory, "copy.safetensors", copy_file);
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 1200;
    synth.items = 200;
    synth.ratings = 24000;
    synth.rank = 4;
    return synth_split(&synth, store_file, train_file, test_file);
}

static int remove_stores(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* ---- streamed -------------------------------------------------------------------------------- */

static size_t stride_of(size_t k) { return (k + 15) / 16 * 16; }

/* Writes a model anew without the counts of users' ratings. @return whether it had them */
static bool write_without_counts(const char *from, const char *to) {
    struct factors factors;
    struct checkpoint_state state;
    assert_int_equal(whole_checkpoint_read(from, stride_of, 0, &factors, &state, NULL), 0);
    const bool had = factors.user_ids.counts != NULL;
    free(factors.user_ids.counts);
    factors.user_ids.counts = NULL;
    assert_int_equal(whole_checkpoint_write(to, &factors, &state, "{}", NULL), 0);
    factors_free(&factors);
    return had;
}

/* Only runs in memory, which can be continued, have the room to count the ratings of each user: all
 * else in a streamed model is the same, bit for bit. */
static void expect_same_but_counts(const char *in_memory, const char *streamed) {
    assert_true(write_without_counts(in_memory, copy_file));
    assert_false(write_without_counts(streamed, snapshot_file));
    temp_dir_expect_same(copy_file, snapshot_file);
}

static void test_streamed_is_the_same(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report report;
    for (int validate = 0; validate < 2; validate++) {
        assert_int_equal(train(&options, 2, 0, validate, whole_file, NULL, &report, NULL), 0);
        assert_false(report.tiles_on_disk);
        uint64_t most_memory = streamed_range(true, validate).most;
        uint64_t users = state_of(whole_file).superblock_users;
        for (int threads = 1; threads < 10; threads += 4) {
            options.prefetch = (uint32_t)(threads % 3);
            assert_int_equal(
                train(&options, threads, most_memory, validate, other_file, NULL, &report, NULL),
                0);
            options.prefetch = 2;
            assert_true(report.tiles_on_disk);
            assert_int_equal(state_of(other_file).superblock_users, users);
            expect_same_but_counts(whole_file, other_file);
        }
    }
}

/* Superblocks get smaller with the memory; for any number of threads they are the same. */
static void test_streamed_in_little_memory(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report in_memory, report;
    assert_int_equal(train(&options, 2, 0, true, whole_file, NULL, &in_memory, NULL), 0);
    options.snapshot = snapshot_file;
    uint64_t least_memory = streamed_range(true, true).least;
    for (int threads = 1; threads < 10; threads += 4) {
        const char *output = threads == 1 ? whole_file : other_file;
        assert_int_equal(train(&options, threads, least_memory, true, output, NULL, &report, NULL),
                         0);
        assert_true(report.tiles_on_disk);
        assert_true(fabs(report.valid_rmse / in_memory.valid_rmse - 1) < 0.01);
        if (threads > 1) temp_dir_expect_same(whole_file, other_file);
    }
    options.deterministic = false;
    for (int hogwild = 0; hogwild < 2; hogwild++) {
#if defined(__SANITIZE_THREAD__)
        if (hogwild) break; /* it races, and means to */
#endif
        options.hogwild = hogwild;
        least_memory = streamed_range(false, true).least;
        assert_int_equal(train(&options, 2, least_memory, true, other_file, NULL, &report, NULL),
                         0);
        assert_true(report.tiles_on_disk);
        assert_true(fabs(report.valid_rmse / in_memory.valid_rmse - 1) < 0.01);
    }
}

static void test_too_little_memory(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_error error;
    assert_int_equal(train(&options, 2, 1, false, other_file, NULL, NULL, &error),
                     DPMF_ERR_USAGE_MEMORY);
    unsigned mebibytes = 0;
    assert_int_equal(sscanf(error.hint, "give it {memory %uMiB}", &mebibytes), 1);
    assert_int_equal(
        train(&options, 2, (uint64_t)mebibytes << 20, false, other_file, NULL, NULL, &error), 0);
}

/* ---- interrupted and resumed ----------------------------------------------------------------- */

/* At many places, with other threads: the same model in the end. @return how many cuts were within
 * an epoch */
static int check_interrupted(bool streamed, bool validate) {
    struct dpmf_train_options options = small_options();
    int within = 0;
    options.patience = 0;
    uint64_t memory = streamed ? streamed_range(true, validate).most : 0;
    assert_int_equal(train(&options, 2, memory, validate, whole_file, NULL, NULL, NULL), 0);
    for (int calls = 0; calls < 4000; calls += 1 + calls * FASTER) {
        struct fate fate = {.calls_left = calls};
        options.snapshot = snapshot_file;
        options.resume = NULL;
        unlink(other_file);
        int code = train(&options, 1 + calls % 3, memory, validate, other_file, &fate, NULL, NULL);
        if (code == 0) break; /* it was over before */
        assert_int_equal(code, DPMF_ERR_BASE_CANCELLED);
        assert_int_equal(access(other_file, F_OK), -1);
        within += state_of(snapshot_file).superblocks_done > 0;
        options.resume = snapshot_file;
        options.snapshot = calls % 2 ? NULL : snapshot_file;
        assert_int_equal(train(&options, 2, memory, validate, other_file, NULL, NULL, NULL), 0);
        temp_dir_expect_same(whole_file, other_file);
    }
    return within;
}

static void test_interrupted(void **state) {
    (void)state;
    int within = 0;
    for (int validate = 0; validate < 2; validate++) {
        within += check_interrupted(false, validate);
        within += check_interrupted(true, validate);
    }
    assert_true(within > 2);
}

/* Whatever snapshot is there in the middle of a run that goes on, it can be gone on with. */
static void test_snapshots_on_the_way(void **state) {
    (void)state;
    static const struct {
        uint64_t blocks;
        double seconds;
        uint32_t epochs;
    } every[7] = {{1, 0, 0},    {3, 0, 0}, {11, 0, 0}, {64, 0, 0},
                  {0, 1e-9, 0}, {0, 0, 1}, {70, 0, 1}};
    int copied = 0;
    for (size_t i = 0; i < N_INTERVALS; i++)
        for (int streamed = 0; streamed < 2; streamed++) {
            struct dpmf_train_options options = small_options();
            struct fate fate = {.calls_left = -1, .copy = true};
            bool validate = i % 2 == 0;
            uint64_t memory = streamed ? streamed_range(true, validate).most : 0;
            assert_int_equal(train(&options, 2, memory, validate, whole_file, NULL, NULL, NULL), 0);
            options.snapshot = snapshot_file;
            options.snapshot_blocks = every[i].blocks;
            options.snapshot_seconds = every[i].seconds;
            options.snapshot_every = every[i].epochs;
            unlink(snapshot_file);
            unlink(copy_file);
            assert_int_equal(train(&options, 2, memory, validate, other_file, &fate, NULL, NULL),
                             0);
            temp_dir_expect_same(whole_file, other_file);
            assert_int_equal(state_of(snapshot_file).epoch, EPOCHS);
            const char *const from[] = {copy_file, snapshot_file};
            options.snapshot = NULL;
            for (int f = 0; f < 2; f++) {
                options.resume = from[f];
                if (access(from[f], F_OK) != 0) continue;
                assert_int_equal(train(&options, 3, memory, validate, other_file, NULL, NULL, NULL),
                                 0);
                temp_dir_expect_same(whole_file, other_file);
                copied += f == 0;
            }
        }
    assert_true(copied > 0);
}

/* A run that was going to stop early does so when it is resumed, with the same model. */
static void test_early_stop_resumed(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report whole, resumed;
    options.epochs = 200;
    options.regularization = 0; /* overfits */
    options.patience = 3;
    options.snapshot = snapshot_file;
    assert_int_equal(train(&options, 2, 0, true, whole_file, NULL, &whole, NULL), 0);
    assert_true(whole.stopped_early && whole.epochs < 200);
    struct checkpoint_state state_at_end = state_of(snapshot_file);
    assert_true(state_at_end.best_epoch < state_at_end.epoch);
    options.resume = snapshot_file;
    assert_int_equal(train(&options, 2, 0, true, other_file, NULL, &resumed, NULL), 0);
    assert_true(resumed.stopped_early && resumed.epochs == whole.epochs);
    assert_true(resumed.valid_rmse == whole.valid_rmse);
    temp_dir_expect_same(whole_file, other_file);

    /* from two epochs before the end: the best one is in the snapshot, beside a later state */
    struct fate fate = {.calls_left = -1};
    options.resume = NULL;
    options.epochs = 200;
    options.snapshot_every = whole.epochs - 1;
    assert_int_equal(train(&options, 2, 0, true, other_file, &fate, NULL, NULL), 0);
    temp_dir_expect_same(whole_file, other_file);
}

/* The free order goes on with superblocks of any size; the deterministic one says what it needs. */
static void test_other_superblocks(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_error error;
    struct fate fate = {.calls_left = 60};
    options.snapshot = snapshot_file;
    assert_int_equal(train(&options, 2, 0, false, other_file, &fate, NULL, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    options.snapshot = NULL;
    options.resume = snapshot_file;
    uint64_t users = state_of(snapshot_file).superblock_users;
    assert_true(state_of(snapshot_file).superblocks_done > 0);
    uint64_t memory = streamed_range(true, false).least;
    int code = train(&options, 2, memory, false, other_file, NULL, NULL, &error);
    if (code == 0) { /* so little memory does after all: then with the same superblocks */
        assert_int_equal(state_of(other_file).superblock_users, users);
    } else {
        assert_int_equal(code, DPMF_ERR_TRAIN_MISMATCH);
        assert_non_null(strstr(error.hint, "{memory}"));
    }

    options.deterministic = false;
    assert_int_equal(train(&options, 2, memory, false, other_file, NULL, NULL, &error), 0);
    assert_int_equal(state_of(other_file).epoch, EPOCHS);
    assert_string_equal(state_of(other_file).order, "free");

    /* and not the other way round */
    fate.calls_left = 60;
    options.resume = NULL;
    options.snapshot = snapshot_file;
    assert_int_equal(train(&options, 2, 0, false, other_file, &fate, NULL, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    options.deterministic = true;
    options.resume = snapshot_file;
    assert_int_equal(train(&options, 2, 0, false, other_file, NULL, NULL, &error),
                     DPMF_ERR_TRAIN_MISMATCH);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void test_divergence_keeps_the_last(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_error error;
    options.snapshot = snapshot_file;
    options.epochs = 1;
    assert_int_equal(train(&options, 2, 0, false, whole_file, NULL, NULL, NULL), 0);
    size_t n, n_after;
    char *before = temp_dir_read(snapshot_file, &n);
    const struct memory_range range = streamed_range(true, false);
    options.epochs = EPOCHS;
    options.learning_rate = 1e6;
    options.snapshot_blocks = 1;
    for (int streamed = 0; streamed < 2; streamed++) {
        uint64_t memory = streamed ? range.most : 0;
        unlink(other_file);
        assert_int_equal(train(&options, 2, memory, false, other_file, NULL, NULL, &error),
                         DPMF_ERR_TRAIN_DIVERGED);
        assert_non_null(strstr(error.hint, "{learning-rate}"));
        assert_int_equal(access(other_file, F_OK), -1);
    }
    char *after = temp_dir_read(snapshot_file, &n_after);
    assert_int_equal(n, n_after);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
}

static void test_snapshot_cannot_be_written(void **state) {
    (void)state;
    struct dpmf_train_options options = small_options();
    struct dpmf_error error;
    options.snapshot = "/nonexistent/s.safetensors";
    options.snapshot_blocks = 1;
    assert_int_equal(train(&options, 2, 0, false, other_file, NULL, NULL, &error),
                     DPMF_ERR_IO_MISSING);
    options.snapshot_blocks = 0;
    assert_int_equal(train(&options, 2, 0, false, other_file, NULL, NULL, &error),
                     DPMF_ERR_IO_MISSING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streamed_is_the_same),
        cmocka_unit_test(test_streamed_in_little_memory),
        cmocka_unit_test(test_too_little_memory),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_snapshots_on_the_way),
        cmocka_unit_test(test_early_stop_resumed),
        cmocka_unit_test(test_other_superblocks),
        cmocka_unit_test(test_divergence_keeps_the_last),
        cmocka_unit_test(test_snapshot_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
