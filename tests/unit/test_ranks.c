/*
 * Training by several ranks, which are threads here, by SGD and by samplers: parts visit every rank
 * once a round and nobody else's rows are touched; models as good as those of one machine; the same
 * bits for any number of threads; snapshots that any number of ranks goes on from; one rank's
 * failure is everyone's; and what ranks cannot do is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_shapes.h"
#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "schedule/tile_build.h"
#include "schedule/tiling.h"
#include "store/store.h"
#include "thread_cluster.h"
#include "train/rank_share.h"
#include "train/ring.h"
#include "train_files.h"

enum { RANKS_MAX = 8, TIMEOUT = 60, USERS = 6000, ITEMS = 700, FACTORS = 16 };

static int make_stores(void **state) {
    (void)state;
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = USERS;
    synth.items = ITEMS;
    synth.ratings = 250000;
    synth.rank = 4;
    return train_files_make(&synth);
}

static int remove_stores(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* ---- a run by ranks ---------------------------------------------------------------------------
 */

struct job {
    struct dpmf_train_options options;
    int threads;
    uint64_t memory;
    bool validate;
    const char *ratings, *output;
    const char *valid_of_last; /* another set for the last rank to validate on; NULL: the same */
    int stop_rank;             /* whose progress says stop, at its stop_at-th call; -1: nobody's */
    int stop_at;
    uint32_t last_epoch; /* after which on_epoch says stop; 0: never */

    int code[RANKS_MAX];
    struct dpmf_error error[RANKS_MAX];
    struct dpmf_train_report report[RANKS_MAX];
    _Atomic int n_epochs_told;
};

struct rank_watch {
    struct job *job;
    int rank;
    _Atomic int calls;
};

static struct job job_of(const char *output) {
    struct job job = {.options = dpmf_train_options_default(),
                      .threads = 1,
                      .ratings = train_file,
                      .output = output,
                      .stop_rank = -1};
    job.options.factors = FACTORS;
    job.options.epochs = 6;
    return job;
}

static int tell_progress(void *self, const struct dpmf_progress *progress) {
    struct rank_watch *watch = self;
    if (strcmp(progress->phase, "training") != 0 && strcmp(progress->phase, "sampling") != 0)
        return 0;
    return watch->rank == watch->job->stop_rank &&
           atomic_fetch_add(&watch->calls, 1) >= watch->job->stop_at;
}

static int tell_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct rank_watch *watch = self;
    watch->job->n_epochs_told++;
    return watch->job->last_epoch > 0 && epoch->epoch >= watch->job->last_epoch;
}

static void run_rank(void *self, const struct dpmf_cluster *cluster) {
    struct job *job = self;
    const int rank = cluster_rank(cluster);
    struct dpmf_store *store = NULL, *valid = NULL;
    struct dpmf_run run = dpmf_run_default();
    struct rank_watch watch = {.job = job, .rank = rank};
    struct dpmf_error *error = &job->error[rank];
    run.threads = job->threads;
    run.memory = job->memory;
    run.cluster = cluster;
    run.progress = tell_progress;
    run.progress_self = &watch;
    int code = dpmf_store_open(job->ratings, NULL, NULL, &store, error);
    const char *set = job->valid_of_last && rank > 0 && rank == cluster_size(cluster) - 1
                          ? job->valid_of_last
                          : test_file;
    if (code == 0 && job->validate) code = dpmf_store_open(set, NULL, NULL, &valid, error);
    if (code == 0)
        code = dpmf_train(store, valid, job->output, &job->options, &run, tell_epoch, &watch,
                          &job->report[rank], error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    job->code[rank] = code;
}

/* All ranks end alike. */
static int run_job(struct job *job, int n_ranks) {
    if (n_ranks == 1) {
        run_rank(job, NULL);
        return job->code[0];
    }
    assert_int_equal(thread_cluster_run(n_ranks, TIMEOUT, run_rank, job), 0);
    for (int r = 1; r < n_ranks; r++) {
        assert_int_equal(job->code[r], job->code[0]);
        assert_int_equal(job->report[r].epochs, job->report[0].epochs);
        assert_true(job->code[0] < 0 || job->report[r].train_rmse == job->report[0].train_rmse);
    }
    return job->code[0];
}

static double rmse_on(const char *ratings, const char *path) {
    struct dpmf_evaluation evaluation;
    const struct dpmf_evaluate_options options = dpmf_evaluate_options_default();
    struct dpmf_store *test;
    struct dpmf_model *model;
    assert_int_equal(dpmf_store_open(ratings, NULL, NULL, &test, NULL), 0);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    assert_int_equal(dpmf_model_evaluate(model, test, NULL, &options, NULL, &evaluation, NULL), 0);
    dpmf_model_close(model);
    dpmf_store_close(test);
    return evaluation.rmse;
}

static double test_rmse(const char *path) { return rmse_on(test_file, path); }

/* ---- parts ------------------------------------------------------------------------------------
 */

/* Rows that count visits: by everyone, and by how many of each rank. */
struct round_job {
    size_t n_parts;
    uint64_t rounds;
    _Atomic int at_work[2 * RANKS_MAX]; /* by part: how many ranks work on it */
};

struct rank_rows {
    struct round_job *job;
    uint64_t *visits; /* by row, ten decimal digits: one digit for each rank */
    uint64_t add;
    uint64_t n_parts;
    uint64_t rows;
    bool last_seen;
};

static struct tiling *tile_share(const struct dpmf_store *whole, const struct dpmf_store *own,
                                 size_t n_parts) {
    const size_t n_items = (size_t)store_n_items(whole);
    uint64_t *ratings = malloc(sizeof *ratings * n_items);
    for (size_t i = 0; i < n_items; i++) ratings[i] = store_item_at(whole, i).n_ratings;
    struct tiling_whole all = {
        .n_ratings = store_n_ratings(whole), .item_ratings = ratings, .n_parts = n_parts};
    struct tiling_options options = {
        .kernels = kernel_set_choose(NULL),
        .caches = test_caches(),
        .k = FACTORS,
        .threads = 1,
        .lanes = 1,
        .memory_whole = UINT64_MAX / 4,
        .memory_streamed = UINT64_MAX / 4,
        .slots = 3,
        .memory_build = UINT64_MAX / 4,
    };
    struct tiling *tiling;
    tiling_group_bounds(&options, &all);
    options.whole = &all;
    assert_int_equal(tiling_build(own, &options, NULL, &tiling, NULL), 0);
    free(ratings);
    return tiling;
}

static int visit_part(void *self, const struct tiling_part *part, bool last,
                      struct dpmf_error *error) {
    struct rank_rows *rows = self;
    (void)error;
    _Atomic int *at_work = &rows->job->at_work[part->first_row * rows->n_parts / ITEMS];
    if (atomic_fetch_add(at_work, 1) != 0) return DPMF_ERR_BASE_BUG; /* two ranks have one part */
    for (uint64_t row = part->first_row; row < part->first_row + part->n_rows; row++)
        rows->visits[row] += rows->add;
    rows->rows += part->n_rows;
    rows->last_seen = last;
    atomic_fetch_sub(at_work, 1);
    return 0;
}

static void go_round(void *self, const struct dpmf_cluster *cluster) {
    struct round_job *job = self;
    const int n = cluster_size(cluster);
    struct dpmf_store *whole;
    struct rank_share share;
    struct ring *ring;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_store_open(store_file, NULL, NULL, &whole, NULL), 0);
    assert_int_equal(rank_share_open(&share, whole, cluster, &error), 0);
    struct tiling *tiling = tile_share(whole, share.own, 2 * (size_t)n);
    struct rank_rows rows = {.job = job, .add = 1, .n_parts = 2 * (uint64_t)n};
    for (int r = 0; r < cluster_rank(cluster); r++) rows.add *= 10;
    rows.visits = calloc(ITEMS, sizeof *rows.visits);
    const struct ring_array array = {rows.visits, sizeof *rows.visits, false};
    assert_int_equal(ring_init(&ring, cluster, tiling, 3, &array, 1, &error), 0);
    const uint64_t before = cluster->state->bytes_sent;
    for (uint64_t round = 0; round < job->rounds; round++) {
        rows.rows = 0;
        assert_int_equal(ring_round(ring, visit_part, &rows, &error), 0);
        assert_int_equal(rows.rows, ITEMS);
        assert_true(rows.last_seen);
    }
    /* every row went n - 1 steps a round: with its note, and with what agreeing takes */
    uint64_t sent = cluster->state->bytes_sent - before;
    assert_int_equal(cluster_all_sum(cluster, &sent, 1, &error), 0);
    const uint64_t rows_bytes = ITEMS * array.row_bytes * (uint64_t)(n - 1);
    assert_true(sent >= job->rounds * rows_bytes);
    assert_true(sent <= job->rounds * (rows_bytes + (uint64_t)n * 64 * (uint64_t)n));
    assert_int_equal(ring_gather_all(ring, &error), 0);
    uint64_t expected = 0, digit = job->rounds;
    for (int r = 0; r < n; r++, digit *= 10) expected += digit;
    for (size_t row = 0; row < ITEMS; row++) assert_int_equal(rows.visits[row], expected);
    ring_free(ring);
    tiling_free(tiling);
    free(rows.visits);
    rank_share_close(&share);
    dpmf_store_close(whole);
}

static void test_parts_visit_everyone(void **state) {
    (void)state;
    for (int n = 2; n <= 5; n++) {
        struct round_job job = {.rounds = 3};
        assert_int_equal(thread_cluster_run(n, TIMEOUT, go_round, &job), 0);
    }
}

/* Every item is dealt once, parts are about equal, and places are those of one part. */
static void test_parts_are_even(void **state) {
    (void)state;
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open(store_file, NULL, NULL, &store, NULL), 0);
    struct tiling *one = tile_share(store, store, 1);
    for (size_t n_parts = 2; n_parts <= 16; n_parts += 7) {
        struct tiling *tiling = tile_share(store, store, n_parts);
        uint64_t rows = 0;
        double most = 0, least = 1e18;
        for (size_t p = 0; p < n_parts; p++) {
            struct tiling_part part = tiling_part(tiling, p);
            double ratings = 0;
            assert_int_equal(part.first_row, rows);
            assert_true(part.n_rows + 1 >= ITEMS / n_parts && part.n_rows <= ITEMS / n_parts + 1);
            for (uint64_t row = rows; row < rows + part.n_rows; row++) {
                uint32_t item = tiling_item_of_row(tiling, row);
                uint64_t place = tiling_place_of_row(tiling, row);
                assert_int_equal(tiling->row_of_item[item], row);
                assert_int_equal(tiling_item_of_row(one, place), item);
                assert_int_equal(tiling_place_of_row(one, place), place);
                ratings += (double)store_item_at(store, item).n_ratings;
            }
            rows += part.n_rows;
            most = fmax(most, ratings);
            least = fmin(least, ratings);
        }
        assert_int_equal(rows, ITEMS);
        assert_true(most < 1.3 * least);
        tiling_free(tiling);
    }
    tiling_free(one);
    dpmf_store_close(store);
}

static void make_few_items(uint64_t items, char path[TEMP_PATH_MAX]) {
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 100;
    synth.items = items;
    synth.ratings = 60 * items + 40; /* everyone has one */
    synth.rank = 2;
    temp_dir_file(&directory, "few.dpr", path);
    assert_int_equal(dpmf_synth(path, &synth, NULL, NULL, NULL), 0);
}

/* However few items there are for so many parts, of which some then have none. */
static void test_few_items_have_places(void **state) {
    (void)state;
    static const uint64_t few[] = {1, 2, 5, 12, 37, 80};
    for (size_t f = 0; f < sizeof few / sizeof few[0]; f++) {
        const uint64_t items = few[f];
        char path[TEMP_PATH_MAX];
        struct dpmf_store *store;
        make_few_items(items, path);
        assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
        struct tiling *one = tile_share(store, store, 1);
        for (size_t n_parts = 2; n_parts <= 64; n_parts *= 2) {
            struct tiling *tiling = tile_share(store, store, n_parts);
            for (uint64_t row = 0; row < items; row++) {
                uint64_t place = tiling_place_of_row(tiling, row);
                assert_true(place < items);
                assert_int_equal(tiling_item_of_row(one, place), tiling_item_of_row(tiling, row));
            }
            tiling_free(tiling);
        }
        tiling_free(one);
        dpmf_store_close(store);
    }
}

/* ---- models -----------------------------------------------------------------------------------
 */

/* Eight ranks with fewer items than parts: their model can be read, and is as good as one
 * machine's. */
static void test_few_items(void **state) {
    (void)state;
    static const char *const names[] = {"sgd", "gibbs", "sgnht"};
    for (uint64_t items = 1; items <= 13; items += 6) {
        char path[TEMP_PATH_MAX];
        make_few_items(items, path);
        for (size_t s = 0; s < sizeof names / sizeof names[0]; s++) {
            double rmse[2];
            for (int i = 0; i < 2; i++) {
                struct job job = job_of(a_file);
                assert_int_equal(dpmf_train_options_solver(names[s], &job.options), 0);
                job.options.factors = 2;
                job.options.epochs = 10;
                job.ratings = path;
                assert_int_equal(run_job(&job, i == 0 ? 1 : RANKS_MAX), 0);
                rmse[i] = rmse_on(path, a_file);
            }
            assert_true(fabs(rmse[1] / rmse[0] - 1) < 0.1);
        }
    }
}

/* As good as on one machine after the same epochs; eight ranks are more than the store has blocks.
 */
static void test_as_good_as_one(void **state) {
    (void)state;
    struct job one = job_of(a_file);
    assert_int_equal(run_job(&one, 1), 0);
    const double wanted = test_rmse(a_file);
    const int sizes[] = {2, 3, 8};
    for (size_t i = 0; i < 3; i++) {
        struct job job = job_of(b_file);
        assert_int_equal(run_job(&job, sizes[i]), 0);
        double rmse = test_rmse(b_file);
        assert_true(fabs(rmse / wanted - 1) < 0.003);
        assert_int_equal(job.report[0].ranks, sizes[i]);
        assert_true(job.report[0].bytes_sent > 0);
        assert_int_equal(job.n_epochs_told, job.options.epochs); /* by one of them */
    }
}

/* What the ranks measure on the way is what their model does; and stopping is agreed on. */
static void test_validates(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.validate = true;
    job.options.epochs = 40;
    job.options.learning_rate = 0.1;
    job.options.patience = 2;
    assert_int_equal(run_job(&job, 3), 0);
    assert_true(job.report[0].stopped_early && job.report[2].stopped_early);
    for (int r = 1; r < 3; r++) assert_true(job.report[r].valid_rmse == job.report[0].valid_rmse);
    assert_float_equal(test_rmse(a_file), job.report[0].valid_rmse, 1e-6);
}

/* Two copies that are not, or two answers of one database. */
static void test_other_validation_sets_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"sgd", "gibbs", "sgld"};
    for (size_t s = 0; s < 3; s++) {
        struct job job = job_of(b_file);
        assert_int_equal(dpmf_train_options_solver(names[s], &job.options), 0);
        job.validate = true;
        job.valid_of_last = train_file;
        assert_int_equal(run_job(&job, 3), DPMF_ERR_STORE_CORRUPT);
        assert_non_null(strstr(job.error[1].message, "different ratings"));
    }
}

struct evaluating {
    const char *model[RANKS_MAX], *history[RANKS_MAX];
    uint32_t ranking[RANKS_MAX];
    int code[RANKS_MAX];
    double rmse[RANKS_MAX];
};

static void evaluate_told(void *self, const struct dpmf_cluster *cluster) {
    struct evaluating *job = self;
    const int rank = cluster_rank(cluster);
    const struct dpmf_evaluate_options options = {.size = sizeof options,
                                                  .ranking = job->ranking[rank]};
    struct dpmf_evaluation evaluation = {0};
    struct dpmf_store *test = NULL, *history = NULL;
    struct dpmf_model *model = NULL;
    struct dpmf_run run = dpmf_run_default();
    run.threads = 1;
    run.cluster = cluster;
    int code = dpmf_store_open(test_file, NULL, NULL, &test, NULL);
    if (code == 0 && job->history[rank])
        code = dpmf_store_open(job->history[rank], NULL, NULL, &history, NULL);
    if (code == 0) code = dpmf_model_open(job->model[rank], &model, NULL);
    if (code == 0)
        code = dpmf_model_evaluate(model, test, history, &options, &run, &evaluation, NULL);
    job->code[rank] = code;
    job->rmse[rank] = evaluation.rmse;
    dpmf_model_close(model);
    dpmf_store_close(history);
    dpmf_store_close(test);
}

/* By three ranks of which the last may be told something else. */
static int evaluate_by_ranks(struct evaluating *job) {
    assert_int_equal(thread_cluster_run(3, TIMEOUT, evaluate_told, job), 0);
    for (int r = 1; r < 3; r++) assert_int_equal(job->code[r], job->code[0]);
    return job->code[0];
}

static void test_evaluating_together(void **state) {
    (void)state;
    struct job first = job_of(a_file), second = job_of(b_file);
    second.options.seed = 2;
    assert_int_equal(run_job(&first, 1), 0);
    assert_int_equal(run_job(&second, 1), 0);
    struct evaluating same = {.model = {a_file, a_file, a_file},
                              .history = {train_file, train_file, train_file},
                              .ranking = {5, 5, 5}};
    struct evaluating job = same;
    assert_int_equal(evaluate_by_ranks(&job), 0);
    assert_float_equal(job.rmse[0], test_rmse(a_file), 1e-9);
    job = same;
    job.model[2] = b_file;
    assert_int_equal(evaluate_by_ranks(&job), DPMF_ERR_USAGE_CONFLICT);
    job = same;
    job.ranking[2] = 0;
    assert_int_equal(evaluate_by_ranks(&job), DPMF_ERR_USAGE_CONFLICT);
    job = same;
    job.history[2] = NULL;
    assert_int_equal(evaluate_by_ranks(&job), DPMF_ERR_USAGE_CONFLICT);
    job = same;
    /* Its users whom the model does not know are fitted, which makes another model of it. */
    job.history[2] = store_file;
    assert_int_equal(evaluate_by_ranks(&job), DPMF_ERR_USAGE_CONFLICT);
}

static void test_deterministic(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.options.deterministic = true;
    assert_int_equal(run_job(&job, 3), 0);
    struct job other = job_of(b_file);
    other.options.deterministic = true;
    other.threads = 3;
    assert_int_equal(run_job(&other, 3), 0);
    temp_dir_expect_same(a_file, b_file);

    /* also with a break */
    struct job first = job_of(b_file);
    first.options.deterministic = true;
    first.options.snapshot = snapshot_file;
    first.last_epoch = 3;
    assert_int_equal(run_job(&first, 3), 0);
    assert_int_equal(first.report[1].epochs, 3);
    struct job second = job_of(b_file);
    second.options.deterministic = true;
    second.options.resume = snapshot_file;
    assert_int_equal(run_job(&second, 3), 0);
    temp_dir_expect_same(a_file, b_file);

    /* the promise cannot be kept by another number of ranks */
    assert_int_equal(run_job(&second, 2), DPMF_ERR_TRAIN_MISMATCH);
    assert_int_equal(run_job(&second, 1), DPMF_ERR_TRAIN_MISMATCH);
}

/* A snapshot of any number of ranks is gone on from by any other, with its best epoch. */
static void test_resume_with_others(void **state) {
    (void)state;
    struct job whole = job_of(a_file);
    whole.validate = true;
    assert_int_equal(run_job(&whole, 1), 0);
    const double wanted = test_rmse(a_file);
    const int from[] = {1, 3, 2, 4}, to[] = {3, 1, 4, 2};
    for (size_t i = 0; i < 4; i++) {
        struct job job = job_of(b_file);
        job.validate = true;
        job.options.snapshot = snapshot_file;
        job.last_epoch = 3;
        assert_int_equal(run_job(&job, from[i]), 0);
        const double then = job.report[0].valid_rmse;
        job.options.snapshot = NULL;
        job.options.resume = snapshot_file;
        job.last_epoch = 0;
        assert_int_equal(run_job(&job, to[i]), 0);
        assert_int_equal(job.report[0].epochs, job.options.epochs);
        assert_true(job.report[0].valid_rmse < then);
        assert_true(fabs(test_rmse(b_file) / wanted - 1) < 0.003);
    }
}

/* What Gibbs draws depends on users and items alone: the chain of any number of ranks is that of
 * one, but for how sums are rounded. It is a chain that forgets such things, so the rounding does
 * not grow. */
static void test_gibbs_is_one_chain(void **state) {
    (void)state;
    const int sizes[] = {1, 3, 8};
    for (int average = 0; average < 2; average++) {
        double rmse = 0, train = 0;
        uint32_t samples = 0;
        for (size_t i = 0; i < 3; i++) {
            struct job job = job_of(b_file);
            job.options.solver = "gibbs";
            job.options.factors = 5;
            job.options.epochs = average ? 4 : 8;
            job.options.sampler.average = average;
            job.options.sampler.chains = average ? 2 : 1;
            job.validate = true;
            int code = run_job(&job, sizes[i]);
            if (code < 0) print_message("%d ranks: %s\n", sizes[i], job.error[0].message);
            assert_int_equal(code, 0);
            const double found = test_rmse(b_file);
            if (i == 0) {
                rmse = found;
                train = job.report[0].train_rmse;
                samples = job.report[0].samples;
                continue;
            }
            assert_true(fabs(found / rmse - 1) < 1e-4);
            assert_true(fabs(job.report[1].train_rmse / train - 1) < 1e-4);
            assert_true(fabs(job.report[0].valid_rmse / found - 1) < 1e-4);
            assert_int_equal(job.report[0].samples, samples);
            assert_true(job.report[0].bytes_sent > 0);
        }
    }
}

/* Langevin dynamics by ranks are another chain than on one machine, of the same distribution: their
 * means are as good. All ranks know the same of it. */
static void test_langevin_as_good_as_one(void **state) {
    (void)state;
    static const char *const solvers[] = {"sgld", "sghmc", "sgnht"};
    for (size_t i = 0; i < 3; i++) {
        double rmse = 0;
        uint32_t samples = 0;
        for (int n = 1; n <= 3; n += 2) {
            struct job job = job_of(b_file);
            job.options.solver = solvers[i];
            job.options.factors = 4;
            job.options.epochs = 24;
            job.options.sampler.burn_in = 12;
            job.options.sampler.average = true;
            job.options.sampler.chains = 2;
            job.validate = true;
            int code = run_job(&job, n);
            if (code < 0) print_message("%d ranks: %s\n", n, job.error[0].message);
            assert_int_equal(code, 0);
            const double found = test_rmse(b_file);
            print_message("%s, %d ranks: %.4f, ESS %.0f\n", solvers[i], n, found,
                          job.report[0].ess);
            assert_float_equal(found, job.report[0].valid_rmse, 1e-4);
            assert_int_equal(job.n_epochs_told, 2 * job.options.epochs);
            for (int r = 1; r < n; r++) {
                assert_true(job.report[r].valid_rmse == job.report[0].valid_rmse);
                assert_true(job.report[r].rhat == job.report[0].rhat);
                assert_true(job.report[r].step == job.report[0].step);
            }
            if (n > 1) {
                assert_int_equal(job.report[0].samples, samples);
                assert_int_equal(job.report[0].ranks, n);
                assert_true(job.report[0].bytes_sent > 0);
                assert_true(fabs(found / rmse - 1) < 0.01); /* chains this short differ by 0.3 % */
            }
            rmse = found;
            samples = job.report[0].samples;
        }
    }
}

/* A sample by itself, with more ranks than the store has blocks; the same bits for any number of
 * threads. */
static void test_langevin_deterministic(void **state) {
    (void)state;
    static const char *const solvers[] = {"sgld", "sghmc", "sgnht"};
    for (size_t i = 0; i < 3; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            struct job job = job_of(threads == 1 ? a_file : b_file);
            job.options.solver = solvers[i];
            job.options.epochs = 4;
            job.options.deterministic = true;
            job.threads = threads;
            assert_int_equal(run_job(&job, i == 0 ? 8 : 3), 0);
            if (threads > 1) temp_dir_expect_same(a_file, b_file);
        }
}

struct measuring {
    const char *model;
    struct dpmf_evaluation found[RANKS_MAX];
};

static void evaluate_rank(void *self, const struct dpmf_cluster *cluster) {
    struct measuring *measuring = self;
    struct dpmf_run run = dpmf_run_default();
    const struct dpmf_evaluate_options options = {.size = sizeof options, .ranking = 5};
    struct dpmf_store *test = NULL;
    struct dpmf_model *model = NULL;
    run.cluster = cluster;
    run.threads = 1;
    assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &test, NULL), 0);
    assert_int_equal(dpmf_model_open(measuring->model, &model, NULL), 0);
    assert_int_equal(dpmf_model_evaluate(model, test, NULL, &options, &run,
                                         &measuring->found[cluster_rank(cluster)], NULL),
                     0);
    dpmf_model_close(model);
    dpmf_store_close(test);
}

static void test_evaluates_together(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.options.epochs = 2;
    assert_int_equal(run_job(&job, 1), 0);
    struct measuring one = {.model = a_file}, many = {.model = a_file};
    evaluate_rank(&one, NULL);
    assert_int_equal(thread_cluster_run(3, TIMEOUT, evaluate_rank, &many), 0);
    const struct dpmf_evaluation *a = &one.found[0];
    for (int r = 0; r < 3; r++) {
        const struct dpmf_evaluation *b = &many.found[r];
        assert_true(a->n == b->n && a->ranked_users == b->ranked_users);
        assert_true(a->unknown_users == b->unknown_users && a->unknown_items == b->unknown_items);
        assert_true(fabs(a->rmse / b->rmse - 1) < 1e-12 && fabs(a->mae / b->mae - 1) < 1e-12);
        assert_true(fabs(a->recall / b->recall - 1) < 1e-12 && fabs(a->map / b->map - 1) < 1e-12);
    }
}

/* ---- ends -------------------------------------------------------------------------------------
 */

static void test_interrupted(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.options.epochs = 1000;
    job.options.snapshot = snapshot_file;
    job.stop_rank = 1;
    job.stop_at = 200;
    unlink(snapshot_file); /* of another run that was cut off */
    assert_int_equal(run_job(&job, 3), DPMF_ERR_BASE_CANCELLED);
    job.stop_rank = -1;
    job.last_epoch = 1; /* the next one */

    /* not begun over by accident; rank 0 looks, and all are told */
    size_t n_before, n_after;
    char *before = temp_dir_read(snapshot_file, &n_before);
    assert_int_equal(run_job(&job, 3), DPMF_ERR_IO_WRITE);
    for (int r = 0; r < 3; r++) assert_non_null(strstr(job.error[r].message, "snapshot of a run"));
    char *after = temp_dir_read(snapshot_file, &n_after);
    assert_int_equal(n_after, n_before);
    assert_memory_equal(after, before, n_before);
    free(before);
    free(after);

    job.options.resume = snapshot_file;
    assert_int_equal(run_job(&job, 2), 0);
}

static void test_gibbs_interrupted(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.options.solver = "gibbs";
    job.options.epochs = 1000;
    job.stop_rank = 2;
    job.stop_at = 1000;
    assert_int_equal(run_job(&job, 3), DPMF_ERR_BASE_CANCELLED);
}

static void test_langevin_ends(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.options.solver = "sgld";
    job.options.epochs = 1000;
    job.stop_rank = 2;
    job.stop_at = 200;
    assert_int_equal(run_job(&job, 3), DPMF_ERR_BASE_CANCELLED);
    job = job_of(a_file);
    job.options.solver = "sghmc";
    job.options.epochs = 1000;
    job.last_epoch = 2; /* before there is anything to average over */
    job.options.sampler.average = true;
    assert_int_equal(run_job(&job, 3), 0);
    assert_int_equal(job.report[2].samples, 1);
    job = job_of(a_file);
    job.options.solver = "sgld";
    job.options.sampler.step = 1e3;
    assert_int_equal(run_job(&job, 3), DPMF_ERR_TRAIN_DIVERGED);
    for (int r = 0; r < 3; r++) assert_non_null(strstr(job.error[r].hint, "{step}"));
}

static void test_diverges_everywhere(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.options.learning_rate = 50;
    assert_int_equal(run_job(&job, 3), DPMF_ERR_TRAIN_DIVERGED);
    for (int r = 0; r < 3; r++) assert_non_null(strstr(job.error[r].hint, "learning-rate"));
}

static void expect_refused(struct job *job, int code, const char *word) {
    assert_int_equal(run_job(job, 2), code);
    for (int r = 0; r < 2; r++) assert_non_null(strstr(job->error[r].message, word));
}

static void test_refusals(void **state) {
    (void)state;
    struct job job = job_of(a_file);
    job.options.hogwild = true;
    expect_refused(&job, DPMF_ERR_USAGE_CONFLICT, "Hogwild");
    job = job_of(a_file);
    job.options.tiers = "50,100";
    expect_refused(&job, DPMF_ERR_USAGE_CONFLICT, "tiers");
    job = job_of(a_file);
    job.options.snapshot = snapshot_file;
    job.options.snapshot_blocks = 3;
    expect_refused(&job, DPMF_ERR_USAGE_CONFLICT, "end of an epoch");
    job = job_of(a_file);
    job.memory = 11 << 19;
    expect_refused(&job, DPMF_ERR_USAGE_MEMORY, "memory");
    job = job_of(a_file);
    job.options.solver = "sgld";
    job.options.snapshot = snapshot_file;
    expect_refused(&job, DPMF_ERR_USAGE_CONFLICT, "snapshots");
    job = job_of(a_file);
    job.options.solver = "sghmc";
    job.options.sampler.average = true;
    job.memory = 6 << 20;
    expect_refused(&job, DPMF_ERR_USAGE_MEMORY, "memory");
    job = job_of("/nonexistent/directory/m.safetensors");
    assert_int_equal(run_job(&job, 2), DPMF_ERR_IO_MISSING);
    job = job_of(a_file);
    job.options.resume = "/nonexistent/s.safetensors";
    assert_int_equal(run_job(&job, 2), DPMF_ERR_IO_MISSING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_even),
        cmocka_unit_test(test_parts_visit_everyone),
        cmocka_unit_test(test_as_good_as_one),
        cmocka_unit_test(test_validates),
        cmocka_unit_test(test_few_items_have_places),
        cmocka_unit_test(test_few_items),
        cmocka_unit_test(test_other_validation_sets_are_refused),
        cmocka_unit_test(test_evaluating_together),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_resume_with_others),
        cmocka_unit_test(test_gibbs_is_one_chain),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_gibbs_interrupted),
        cmocka_unit_test(test_evaluates_together),
        cmocka_unit_test(test_diverges_everywhere),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_langevin_as_good_as_one),
        cmocka_unit_test(test_langevin_deterministic),
        cmocka_unit_test(test_langevin_ends),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
