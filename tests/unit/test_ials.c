/*
 * Implicit least squares: a sweep against dense solves in double, for every set of kernels; the
 * same bits for any number of threads; training, its snapshots and its validation; and users who
 * are fitted to the model afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/cholesky.h"
#include "rank/ials.h"
#include "recommend/model.h"
#include "store/store.h"
#include "thread_cluster.h"
#include "train_files.h"

static int make_stores(void **state) {
    (void)state;
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 300;
    synth.items = 90;
    synth.ratings = 6000;
    return train_files_make(&synth);
}

static int remove_stores(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* ---- a sweep --------------------------------------------------------------------------------- */

enum { OWN = 645, FEW = 133, OTHER = 33, MOST = 20 };

struct bed {
    struct event_side events;
    struct factor_matrix own, other;
    uint64_t start[OWN + 1];
    uint32_t at[OWN * MOST];
    float weight[OWN * MOST];
    uint64_t n; /* rows of own: at most OWN */
    size_t k;
};

static double draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1 << 24) - 0.5;
}

/* Row 0 has no events, row 1 all there are. */
static void make_bed(struct bed *bed, const struct kernel_set *set, uint64_t n_rows, size_t k,
                     bool weighted) {
    uint64_t random = 5;
    *bed = (struct bed){.n = n_rows, .k = k};
    assert_int_equal(factor_matrix_init(&bed->own, n_rows, set->stride(k), 0, NULL), 0);
    assert_int_equal(factor_matrix_init(&bed->other, OTHER, set->stride(k), 0, NULL), 0);
    for (uint64_t i = 0; i < n_rows; i++) {
        uint64_t n = i == 0 ? 0 : i == 1 ? MOST : (uint64_t)(MOST * (draw(&random) + 0.5));
        for (uint64_t j = 0; j < n; j++) {
            bed->at[bed->start[i] + j] = (uint32_t)(j * OTHER / n);
            bed->weight[bed->start[i] + j] = (float)(1.5 + draw(&random));
        }
        bed->start[i + 1] = bed->start[i] + n;
        for (size_t c = 0; c < k; c++)
            bed->own.rows[i * bed->own.stride + c] = (float)draw(&random);
    }
    for (uint64_t i = 0; i < OTHER; i++)
        for (size_t c = 0; c < k; c++)
            bed->other.rows[i * bed->other.stride + c] = (float)draw(&random);
    bed->events = (struct event_side){.n = n_rows,
                                      .start = bed->start,
                                      .other = bed->at,
                                      .weight = weighted ? bed->weight : NULL};
}

static void free_bed(struct bed *bed) {
    factor_matrix_free(&bed->own);
    factor_matrix_free(&bed->other);
}

static double other_at(const struct bed *bed, uint64_t i, size_t c) {
    return (double)bed->other.rows[i * bed->other.stride + c];
}

/* Row i by the definition of ials.h. It takes longer than what it checks, so not every row is
 * compared: the first three of each 32, and every fifth. */
static void solve_plainly(const struct bed *bed, const struct ials_rule *rule, uint64_t i,
                          double *x) {
    const size_t k = bed->k;
    double *A = calloc(k * k, sizeof(double));
    assert_non_null(A);
    memset(x, 0, k * sizeof(double));
    for (uint64_t j = 0; j < OTHER; j++)
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++)
                A[a * k + b] += rule->unobserved * other_at(bed, j, a) * other_at(bed, j, b);
    for (uint64_t e = bed->start[i]; e < bed->start[i + 1]; e++) {
        const double weight = bed->events.weight ? (double)bed->weight[e] : 1;
        for (size_t a = 0; a < k; a++) {
            x[a] += weight * other_at(bed, bed->at[e], a);
            for (size_t b = 0; b < k; b++)
                A[a * k + b] +=
                    weight * other_at(bed, bed->at[e], a) * other_at(bed, bed->at[e], b);
        }
    }
    const double n = (double)(bed->start[i + 1] - bed->start[i]);
    for (size_t a = 0; a < k; a++)
        A[a * k + a] += rule->penalty * pow(n + rule->unobserved * OTHER, rule->exponent);
    assert_int_equal(cholesky_factor(A, k), 0);
    cholesky_solve(A, k, x);
    free(A);
}

static double squares_plainly(const struct bed *bed) {
    double sum = 0;
    for (uint64_t i = 0; i < bed->n; i++)
        for (uint64_t e = bed->start[i]; e < bed->start[i + 1]; e++) {
            double miss = 1;
            for (size_t c = 0; c < bed->k; c++)
                miss -=
                    (double)bed->own.rows[i * bed->own.stride + c] * other_at(bed, bed->at[e], c);
            sum += (bed->events.weight ? (double)bed->weight[e] : 1) * miss * miss;
        }
    return sum;
}

static void check_sweep(const struct kernel_set *set, size_t k, uint32_t steps, bool weighted,
                        double exponent) {
    const struct ials_rule rule = {
        .unobserved = 0.3, .penalty = 0.05, .exponent = exponent, .steps = steps};
    struct bed bed;
    struct thread_pool *pool;
    struct ials *ials;
    double squares, *x = calloc(k, sizeof(double));
    assert_non_null(x);
    make_bed(&bed, set, OWN, k, weighted);
    const double expected = squares_plainly(&bed);
    assert_int_equal(thread_pool_init(&pool, 3, NULL), 0);
    assert_int_equal(ials_init(&ials, set, (uint32_t)k, &rule, pool, NULL), 0);
    assert_int_equal(
        ials_sweep(ials, &bed.events, &bed.own, &bed.other, NULL, NULL, &squares, NULL), 0);
    assert_true(fabs(squares - expected) <= 1e-4 * (1 + expected));
    for (uint64_t i = 0; i < bed.n; i += i % 32 < 3 ? 1 : 5) {
        solve_plainly(&bed, &rule, i, x);
        for (size_t c = 0; c < k; c++)
            assert_true(fabs((double)bed.own.rows[i * bed.own.stride + c] - x[c]) <= 2e-4);
    }
    ials_free(ials);
    thread_pool_free(pool);
    free_bed(&bed);
    free(x);
}

static void test_sweeps(void **state) {
    static const size_t ks[] = {1, 3, 8, 17, 40, 64};
    (void)state;
    for (size_t s = 0; kernel_set_at(s); s++) {
        const struct kernel_set *set = kernel_set_at(s);
        if (!set->is_supported()) continue;
        for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
            for (int weighted = 0; weighted < 2; weighted++) {
                check_sweep(set, ks[i], 0, weighted, 1);
                check_sweep(set, ks[i], 200, weighted, weighted ? 0 : 1);
            }
    }
}

/* Block by block, rows come to the exact solution: a sweep does not move them away, and many bring
 * them there. One block of all columns is exact at once. */
static void check_blocks(const struct kernel_set *set, size_t k, uint32_t block, int sweeps) {
    const struct ials_rule rule = {
        .unobserved = 0.3, .penalty = 0.05, .exponent = 1, .block = block};
    struct bed bed;
    struct thread_pool *pool;
    struct ials *ials;
    double *x = calloc(k, sizeof(double));
    assert_non_null(x);
    make_bed(&bed, set, FEW, k, true);
    assert_int_equal(thread_pool_init(&pool, 2, NULL), 0);
    assert_int_equal(ials_init(&ials, set, (uint32_t)k, &rule, pool, NULL), 0);
    for (int i = 0; i < sweeps; i++)
        assert_int_equal(
            ials_sweep(ials, &bed.events, &bed.own, &bed.other, NULL, NULL, NULL, NULL), 0);
    for (uint64_t i = 0; i < bed.n; i += i % 32 < 3 ? 1 : 5) {
        solve_plainly(&bed, &rule, i, x);
        for (size_t c = 0; c < k; c++)
            assert_true(fabs((double)bed.own.rows[i * bed.own.stride + c] - x[c]) <= 1e-3);
    }
    ials_free(ials);
    thread_pool_free(pool);
    free_bed(&bed);
    free(x);
}

static void test_blocks(void **state) {
    (void)state;
    for (size_t s = 0; kernel_set_at(s); s++) {
        const struct kernel_set *set = kernel_set_at(s);
        if (!set->is_supported()) continue;
        check_blocks(set, 17, 64, 1);
        check_blocks(set, 40, 16, 300);
        check_blocks(set, 40, 1, 300); /* a block is a line of the cache at least */
    }
}

/* Three steps lower what the sweep is to make small, and the number of threads changes nothing. */
static void test_threads(void **state) {
    const struct ials_rule rule = {.unobserved = 0.3, .penalty = 0.05, .exponent = 1, .steps = 3};
    const struct kernel_set *set = kernel_set_choose(NULL);
    struct bed first, bed;
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        struct thread_pool *pool;
        struct ials *ials;
        make_bed(&bed, set, OWN, 24, false);
        assert_int_equal(thread_pool_init(&pool, threads, NULL), 0);
        assert_int_equal(ials_init(&ials, set, 24, &rule, pool, NULL), 0);
        const double before = squares_plainly(&bed);
        assert_int_equal(
            ials_sweep(ials, &bed.events, &bed.own, &bed.other, NULL, NULL, NULL, NULL), 0);
        assert_true(squares_plainly(&bed) < before);
        if (threads == 1) make_bed(&first, set, OWN, 24, false);
        if (threads == 1)
            memcpy(first.own.rows, bed.own.rows, OWN * bed.own.stride * sizeof(float));
        assert_memory_equal(first.own.rows, bed.own.rows, OWN * bed.own.stride * sizeof(float));
        ials_free(ials);
        thread_pool_free(pool);
        free_bed(&bed);
    }
    free_bed(&first);
}

/* ---- slices ---------------------------------------------------------------------------------- */

enum { SLICED_K = 256, SLICED_OTHER = 16500, SLICED_OWN = 300, SLICED_SOME = 3 };

struct sliced {
    struct event_side events;
    struct factor_matrix own, other;
};

/* So many rows on the other side that they are more than a cache; of one's own rows, the first 200
 * have enough events to be sliced, more than are ever in a team of few. */
static void make_sliced(struct sliced *bed, const struct kernel_set *set) {
    const size_t stride = set->stride(SLICED_K);
    uint64_t random = 7, n_events = 0;
    *bed = (struct sliced){.events = {.n = SLICED_OWN}};
    bed->events.start = calloc(SLICED_OWN + 1, sizeof *bed->events.start);
    bed->events.other = calloc(SLICED_OWN * 900, sizeof *bed->events.other);
    assert_true(bed->events.start && bed->events.other);
    assert_int_equal(factor_matrix_init(&bed->own, SLICED_OWN, stride, 0, NULL), 0);
    assert_int_equal(factor_matrix_init(&bed->other, SLICED_OTHER, stride, 0, NULL), 0);
    for (uint64_t i = 0; i < SLICED_OWN; i++) {
        const uint64_t n = i < 200 ? 700 + i % 200 : 300 - i;
        for (uint64_t j = 0; j < n; j++)
            bed->events.other[n_events++] =
                (uint32_t)((j * (SLICED_OTHER - 20) + 13 * i) / n + (i + j) % 15);
        bed->events.start[i + 1] = n_events;
    }
    for (size_t x = 0; x < SLICED_OTHER * stride; x++)
        if (x % stride < SLICED_K) bed->other.rows[x] = (float)(0.3 * draw(&random));
}

static void free_sliced(struct sliced *bed) {
    free(bed->events.start);
    free(bed->events.other);
    factor_matrix_free(&bed->own);
    factor_matrix_free(&bed->other);
}

static void sweep_sliced(struct sliced *bed, const struct kernel_set *set, uint32_t steps,
                         int threads) {
    const struct ials_rule rule = {
        .unobserved = 0.05, .penalty = 0.1, .exponent = 1, .steps = steps};
    struct thread_pool *pool;
    struct ials *ials;
    double squares;
    assert_int_equal(thread_pool_init(&pool, threads, NULL), 0);
    assert_int_equal(ials_init(&ials, set, SLICED_K, &rule, pool, NULL), 0);
    assert_int_equal(
        ials_sweep(ials, &bed->events, &bed->own, &bed->other, NULL, NULL, &squares, NULL), 0);
    /* all rows were 0: each event missed by 1 */
    assert_true(fabs(squares - (double)bed->events.start[bed->events.n]) < 1e-3 * squares);
    ials_free(ials);
    thread_pool_free(pool);
}

/* Rows that go through the other side in slices, in teams that depend on the number of threads:
 * they come to what Cholesky gives, with the same bits for any number of threads. */
static void test_slices(void **state) {
    const struct kernel_set *set = kernel_set_choose(NULL);
    struct sliced exact, first, bed;
    (void)state;
    make_sliced(&exact, set);
    exact.events.n = exact.own.n = SLICED_SOME;
    sweep_sliced(&exact, set, 0, 2);
    exact.own.n = SLICED_OWN; /* what is freed */
    make_sliced(&first, set);
    sweep_sliced(&first, set, 20, 1);
    for (uint64_t i = 0; i < SLICED_SOME; i++)
        for (size_t c = 0; c < SLICED_K; c++) {
            const size_t at = i * exact.own.stride + c;
            assert_true(fabsf(exact.own.rows[at] - first.own.rows[at]) < 1e-4f);
        }
    for (int threads = 2; threads <= 4; threads += 2) {
        make_sliced(&bed, set);
        sweep_sliced(&bed, set, 20, threads);
        assert_memory_equal(first.own.rows, bed.own.rows,
                            SLICED_OWN * bed.own.stride * sizeof(float));
        free_sliced(&bed);
    }
    free_sliced(&first);
    free_sliced(&exact);
}

/* What the rows of a bed have with each other, whatever their basis. */
static double product(const struct bed *bed, uint64_t i, uint64_t j) {
    double sum = 0;
    for (size_t c = 0; c < bed->k; c++)
        sum += (double)bed->own.rows[i * bed->own.stride + c] * other_at(bed, j, c);
    return sum;
}

static bool stop_at_once(void *self) {
    (void)self;
    return true;
}

/* A sweep that is stopped after its first team leaves the other rows where they were, in the basis
 * that both sides are in now, and what rows are padded with at zero. */
static void test_stops(void **state) {
    const struct ials_rule rule = {.unobserved = 0.3, .penalty = 0.05, .exponent = 1, .steps = 3};
    const size_t k = 10;
    (void)state;
    for (size_t s = 0; kernel_set_at(s); s++) {
        const struct kernel_set *set = kernel_set_at(s);
        struct bed bed, before;
        struct thread_pool *pool;
        struct ials *ials;
        uint64_t kept = 0;
        bool is_turned = false;
        if (!set->is_supported()) continue;
        make_bed(&bed, set, OWN, k, false);
        make_bed(&before, set, OWN, k, false);
        assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
        assert_int_equal(ials_init(&ials, set, (uint32_t)k, &rule, pool, NULL), 0);
        assert_int_equal(
            ials_sweep(ials, &bed.events, &bed.own, &bed.other, stop_at_once, NULL, NULL, NULL),
            DPMF_ERR_BASE_CANCELLED);
        for (uint64_t i = 0; i < OWN; i++) {
            double most = 0;
            for (uint64_t j = 0; j < OTHER; j++)
                most = fmax(most, fabs(product(&bed, i, j) - product(&before, i, j)));
            kept += most < 1e-5;
            for (size_t c = k; c < set->padded_k(k); c++)
                assert_true(bed.own.rows[i * bed.own.stride + c] == 0);
        }
        for (uint64_t j = 0; j < OTHER; j++)
            for (size_t c = 0; c < k; c++)
                is_turned |= fabs(other_at(&bed, j, c) - other_at(&before, j, c)) > 1e-2;
        assert_true(is_turned);
        assert_true(kept >= OWN / 2 && kept < OWN);
        ials_free(ials);
        thread_pool_free(pool);
        free_bed(&bed);
        free_bed(&before);
    }
}

/* ---- training -------------------------------------------------------------------------------- */

static struct dpmf_train_options small_options(void) {
    struct dpmf_train_options options = dpmf_train_options_default();
    assert_int_equal(dpmf_train_options_solver("ials", &options), 0);
    assert_false(dpmf_solver_is_sampler("ials"));
    options.factors = 7;
    options.epochs = 6;
    return options;
}

static int train(const struct dpmf_train_options *options, const char *output, int threads,
                 bool validate, struct dpmf_train_report *report) {
    struct dpmf_store *store, *valid = NULL;
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    if (validate) assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &valid, NULL), 0);
    int code = dpmf_train(store, valid, output, options, &run, NULL, NULL, report, NULL);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    return code;
}

static struct dpmf_model *open_model(const char *file) {
    struct dpmf_model *model;
    assert_int_equal(dpmf_model_open(file, &model, NULL), 0);
    return model;
}

static void assert_same_models(const char *a, const char *b) {
    struct dpmf_model *x = open_model(a), *y = open_model(b);
    const struct factors *f = &x->factors, *g = &y->factors;
    assert_int_equal(f->users.n, g->users.n);
    assert_memory_equal(f->users.rows, g->users.rows,
                        (size_t)f->users.n * f->users.stride * sizeof(float));
    assert_memory_equal(f->items.rows, g->items.rows,
                        (size_t)f->items.n * f->items.stride * sizeof(float));
    dpmf_model_close(x);
    dpmf_model_close(y);
}

static void test_trains(void **state) {
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report report;
    struct dpmf_model_info info;
    (void)state;
    assert_int_equal(train(&options, a_file, 1, false, &report), 0);
    assert_int_equal(report.epochs, 6);
    assert_true(report.train_rmse > 0 && report.train_rmse < 1 && isnan(report.valid_ndcg));
    assert_int_equal(train(&options, b_file, 4, false, &report), 0);
    assert_same_models(a_file, b_file);
    struct dpmf_model *model = open_model(a_file);
    dpmf_model_info(model, &info);
    assert_string_equal(info.goal, "ranking");
    assert_true(info.unobserved > 0 && info.exponent == 1 && isinf(info.like));
    for (uint64_t i = 0; i < info.items; i++) assert_true(dpmf_model_item_biases(model)[i] == 0);
    dpmf_model_close(model);
}

static void test_validates(void **state) {
    struct dpmf_train_options options = small_options();
    struct dpmf_train_report report;
    struct dpmf_evaluation found;
    struct dpmf_store *test, *history;
    const struct dpmf_evaluate_options ranking = {.size = sizeof ranking, .ranking = 10};
    (void)state;
    options.epochs = 40;
    options.patience = 2;
    assert_int_equal(train(&options, a_file, 2, true, &report), 0);
    assert_true(report.stopped_early && report.epochs < 40);
    assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &test, NULL), 0);
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &history, NULL), 0);
    struct dpmf_model *model = open_model(a_file);
    assert_int_equal(dpmf_model_evaluate(model, test, history, &ranking, NULL, &found, NULL), 0);
    assert_true(found.ndcg == report.valid_ndcg && isnan(found.rmse));
    dpmf_model_close(model);
    dpmf_store_close(test);
    dpmf_store_close(history);
}

/* ---- several ranks --------------------------------------------------------------------------- */

enum { RANKS_MOST = 3 };

struct ranks_job {
    struct dpmf_train_options options;
    const char *output;
    int code[RANKS_MOST];
    struct dpmf_train_report report[RANKS_MOST];
};

static void train_rank(void *self, const struct dpmf_cluster *cluster) {
    struct ranks_job *job = self;
    const int rank = cluster_rank(cluster);
    struct dpmf_store *store = NULL, *valid = NULL;
    struct dpmf_run run = dpmf_run_default();
    run.threads = 1 + rank;
    run.cluster = cluster;
    int code = dpmf_store_open(train_file, NULL, NULL, &store, NULL);
    if (code == 0) code = dpmf_store_open(test_file, NULL, NULL, &valid, NULL);
    if (code == 0)
        code = dpmf_train(store, valid, job->output, &job->options, &run, NULL, NULL,
                          &job->report[rank], NULL);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    job->code[rank] = code;
}

static int train_by(int n, struct ranks_job *job) {
    assert_int_equal(thread_cluster_run(n, 60, train_rank, job), 0);
    for (int r = 1; r < n; r++) assert_int_equal(job->code[r], job->code[0]);
    return job->code[0];
}

static float score_of(const struct factors *factors, uint64_t user, uint64_t item) {
    float sum = 0;
    for (size_t c = 0; c < factors->k; c++)
        sum += factors->users.rows[user * factors->users.stride + c] *
               factors->items.rows[item * factors->items.stride + c];
    return sum;
}

/* All scores: a model's basis depends on how it was trained. */
static void assert_near_models(const char *a, const char *b) {
    struct dpmf_model *x = open_model(a), *y = open_model(b);
    assert_int_equal(x->factors.users.n, y->factors.users.n);
    assert_int_equal(x->factors.items.n, y->factors.items.n);
    for (uint64_t i = 0; i < x->factors.users.n; i++)
        for (uint64_t j = 0; j < x->factors.items.n; j++)
            assert_true(fabsf(score_of(&x->factors, i, j) - score_of(&y->factors, i, j)) < 1e-3f);
    dpmf_model_close(x);
    dpmf_model_close(y);
}

static void make_data(uint64_t users) {
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = users;
    synth.items = 50;
    synth.ratings = 12 * users;
    assert_int_equal(synth_split(&synth, store_file, train_file, test_file), 0);
}

/* Three ranks, of three blocks of users or of fewer than there are ranks, and snapshots that others
 * continue. */
static void check_ranks(uint64_t users) {
    struct ranks_job job = {.options = small_options(), .output = b_file};
    struct dpmf_train_report alone;
    make_data(users);
    assert_int_equal(train(&job.options, a_file, 2, true, &alone), 0);
    assert_int_equal(train_by(1, &job), 0);
    assert_same_models(a_file, b_file);
    for (int n = 2; n <= RANKS_MOST; n++) {
        assert_int_equal(train_by(n, &job), 0);
        assert_near_models(a_file, b_file);
        assert_int_equal(job.report[0].ranks, n);
        assert_true(fabs(job.report[0].valid_ndcg - alone.valid_ndcg) < 1e-3);
        assert_true(fabs(job.report[0].train_rmse - alone.train_rmse) < 1e-5);
    }
    job.options.epochs = 3;
    job.options.snapshot = snapshot_file;
    assert_int_equal(train_by(2, &job), 0);
    job.options = small_options();
    job.options.resume = snapshot_file;
    assert_int_equal(train_by(3, &job), 0);
    assert_near_models(a_file, b_file);
    job.options = small_options();
    job.options.ials.has_like = true;
    job.options.ials.like = 99;
    assert_int_equal(train_by(3, &job), DPMF_ERR_INPUT_EMPTY);
}

static void test_ranks(void **state) {
    (void)state;
    check_ranks(300);
    check_ranks(2600);
}

/* Exact rows, all columns at once or in blocks of which the last is shorter. */
static void test_ranks_exact(void **state) {
    (void)state;
    make_data(2600);
    for (uint64_t block = 0; block <= 16; block += 16) {
        struct ranks_job job = {.options = small_options(), .output = b_file};
        struct dpmf_train_report alone;
        job.options.factors = 20;
        job.options.ials.row_steps = 0;
        job.options.ials.row_block = block;
        assert_int_equal(train(&job.options, a_file, 2, true, &alone), 0);
        assert_int_equal(train_by(1, &job), 0);
        assert_same_models(a_file, b_file);
        for (int n = 2; n <= RANKS_MOST; n++) {
            assert_int_equal(train_by(n, &job), 0);
            assert_near_models(a_file, b_file);
            assert_true(fabs(job.report[0].valid_ndcg - alone.valid_ndcg) < 1e-3);
            assert_true(fabs(job.report[0].train_rmse - alone.train_rmse) < 1e-5);
        }
    }
}

static void test_resumes(void **state) {
    struct dpmf_train_options options = small_options();
    (void)state;
    assert_int_equal(train(&options, a_file, 2, true, NULL), 0);
    options.snapshot = snapshot_file;
    options.epochs = 3;
    assert_int_equal(train(&options, b_file, 1, true, NULL), 0);
    options.epochs = 6;
    options.snapshot = NULL;
    options.resume = snapshot_file;
    assert_int_equal(train(&options, b_file, 3, true, NULL), 0);
    assert_same_models(a_file, b_file);

    options.ials.unobserved = 0.77;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_TRAIN_MISMATCH);
    options = small_options();
    options.solver = NULL;
    options.resume = snapshot_file;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_TRAIN_MISMATCH);
}

static void test_refuses(void **state) {
    struct dpmf_train_options options = small_options();
    (void)state;
    options.ials.has_like = true;
    options.ials.like = 100;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_INPUT_EMPTY);
    options = small_options();
    options.regularization = 0;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.ials.unobserved = NAN;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_VALUE);
    options = small_options();
    options.hogwild = true;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_CONFLICT);
    options = small_options();
    options.sampler.average = true;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_CONFLICT);
    options = small_options();
    options.tiers = "5,10";
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_CONFLICT);
    options = small_options();
    options.ials.count_weight = 0.5; /* of ratings */
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_CONFLICT);
    options.ials.count_weight = -0.5;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_VALUE);
    options.ials.count_weight = INFINITY;
    assert_int_equal(train(&options, b_file, 1, false, NULL), DPMF_ERR_USAGE_VALUE);
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* With items and users at rest, a user fitted to their own likes is the user of the model. */
static void test_folds_in(void **state) {
    struct dpmf_train_options options = small_options();
    struct dpmf_store *store;
    struct dpmf_history history;
    struct dpmf_user *user, *rated;
    size_t stride, length;
    (void)state;
    options.epochs = 300;
    options.ials.row_steps = 0;
    options.ials.has_like = true;
    options.ials.like = 3;
    assert_int_equal(train(&options, a_file, 2, false, NULL), 0);
    struct dpmf_model *model = open_model(a_file);
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    for (uint64_t u = 0; u < model->factors.users.n; u += 37) {
        const char *id = dpmf_model_user_id(model, u, &length);
        assert_int_equal(dpmf_model_history(model, store, id, length, NULL, &history, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, history.ratings, history.n, &user, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &rated, NULL), 0);
        for (size_t i = 0; i < history.n; i++)
            assert_int_equal(dpmf_user_rate(model, rated, history.ratings[i].item,
                                            history.ratings[i].rating, NULL),
                             0);
        const float *row = dpmf_model_user_factors(model, &stride) + u * stride;
        assert_true(dpmf_user_bias(user) == 0);
        for (size_t c = 0; c < model->factors.k; c++) {
            assert_true(fabs(dpmf_user_vector(user)[c] - (double)row[c]) < 1e-3);
            assert_true(fabs(dpmf_user_vector(user)[c] - dpmf_user_vector(rated)[c]) < 1e-9);
        }
        /* An explanation adds up to the score. */
        struct dpmf_score score;
        double sum = 0, *shares = calloc(history.n + 1, sizeof(double));
        assert_int_equal(
            dpmf_model_explain(model, history.ratings, history.n, NULL, 4, &score, shares, NULL),
            0);
        for (size_t i = 0; i < history.n; i++) {
            sum += shares[i];
            assert_true(history.ratings[i].rating >= 3 || shares[i] == 0);
        }
        assert_true(fabs(sum - score.taste) < 1e-9);
        assert_true(isnan(score.rating));
        assert_true(fabs(score.total - dpmf_user_predict(model, user, 4)) < 1e-9);
        free(shares);
        dpmf_user_free(user);
        dpmf_user_free(rated);
        dpmf_history_free(&history);
    }
    dpmf_store_close(store);
    dpmf_model_close(model);
}

/* ---- counts ---------------------------------------------------------------------------------- */

enum { COUNT_USERS = 40, COUNT_ITEMS = 12, COUNT_K = 3 };

static double count_of(int64_t user, int64_t item) {
    return 1 + (double)((5 * user + 7 * item) % 9);
}

static struct dpmf_store *counted_events(void) {
    static int64_t users[COUNT_USERS * COUNT_ITEMS], items[COUNT_USERS * COUNT_ITEMS];
    static double counts[COUNT_USERS * COUNT_ITEMS];
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n_users = COUNT_USERS,
                                 .n_items = COUNT_ITEMS,
                                 .users = users,
                                 .items = items,
                                 .ratings = counts};
    struct dpmf_input_options options = dpmf_input_options_default();
    struct dpmf_store *store;
    options.events = true;
    for (int64_t u = 0; u < COUNT_USERS; u++)
        for (int64_t i = 0; i < COUNT_ITEMS; i++) {
            if ((u * u + 3 * i + u * i) % 5 > 1) continue;
            users[arrays.n] = u;
            items[arrays.n] = i;
            counts[arrays.n++] = count_of(u, i);
        }
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, NULL, &store, NULL), 0);
    return store;
}

static int train_counted(double count_weight, const char *resume, const char *snapshot) {
    struct dpmf_train_options options = small_options();
    struct dpmf_store *store = counted_events();
    options.factors = COUNT_K;
    options.epochs = 400;
    options.ials.row_steps = 0;
    options.ials.count_weight = count_weight;
    options.resume = resume;
    options.snapshot = snapshot;
    options.snapshot_every = 400;
    int code = dpmf_train(store, NULL, a_file, &options, NULL, NULL, NULL, NULL, NULL);
    dpmf_store_close(store);
    return code;
}

/* The gradient of the weighed loss in a user's vector, by its definition: 0 at the solution. */
static double gradient(const struct dpmf_model *model, const struct dpmf_history *history,
                       const double *u, double count_weight, size_t c) {
    const struct checkpoint_state *state = &model->state;
    const double n = (double)history->n, all = (double)model->factors.items.n;
    double sum = state->regularization * pow(n + state->unobserved * all, state->exponent) * u[c];
    for (uint64_t i = 0; i < model->factors.items.n; i++) {
        const float *v = model_item_row(model, i);
        double dot = 0;
        for (size_t d = 0; d < COUNT_K; d++) dot += u[d] * (double)v[d];
        sum += state->unobserved * dot * (double)v[c];
        for (size_t j = 0; j < history->n; j++)
            if (history->ratings[j].item == i)
                sum -=
                    (1 + count_weight * log(history->ratings[j].rating)) * (1 - dot) * (double)v[c];
    }
    return sum;
}

static void test_counts(void **state) {
    const double weight = 0.7;
    (void)state;
    assert_int_equal(train_counted(weight, NULL, snapshot_file), 0);
    assert_int_equal(train_counted(0.2, snapshot_file, NULL), DPMF_ERR_TRAIN_MISMATCH);
    struct dpmf_store *store = counted_events();
    struct dpmf_model *model = open_model(a_file);
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    assert_true(info.count_weight == weight);
    for (uint64_t number = 0; number < model->factors.users.n; number += 7) {
        struct dpmf_history history;
        struct dpmf_user *fitted, *rated;
        size_t length, stride;
        const char *id = dpmf_model_user_id(model, number, &length);
        assert_int_equal(dpmf_model_history(model, store, id, length, NULL, &history, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, history.ratings, history.n, &fitted, NULL), 0);
        /* One by one, each first with another count. */
        assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &rated, NULL), 0);
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < history.n; j++) {
                const double count = pass == 0 ? 4 + (double)j : history.ratings[j].rating;
                assert_int_equal(dpmf_user_rate(model, rated, history.ratings[j].item, count, NULL),
                                 0);
            }
        const float *row = dpmf_model_user_factors(model, &stride) + number * stride;
        struct dpmf_score score;
        double sum = 0, shares[COUNT_ITEMS];
        assert_int_equal(
            dpmf_model_explain(model, history.ratings, history.n, NULL, 4, &score, shares, NULL),
            0);
        for (size_t j = 0; j < history.n; j++) sum += shares[j];
        assert_true(fabs(sum - score.taste) < 1e-9);
        for (size_t c = 0; c < COUNT_K; c++) {
            const double *u = dpmf_user_vector(fitted);
            assert_true(fabs(gradient(model, &history, u, weight, c)) < 1e-9);
            assert_true(fabs(u[c] - dpmf_user_vector(rated)[c]) < 1e-9);
            assert_true(fabs(u[c] - (double)row[c]) < 1e-3);
        }
        dpmf_user_free(fitted);
        dpmf_user_free(rated);
        dpmf_history_free(&history);
    }
    dpmf_model_close(model);
    assert_int_equal(
        dpmf_train_continue(a_file, store, NULL, b_file, NULL, NULL, NULL, NULL, NULL, NULL),
        DPMF_ERR_USAGE_CONFLICT);
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeps),    cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_slices),
        cmocka_unit_test(test_stops),     cmocka_unit_test(test_trains),
        cmocka_unit_test(test_validates), cmocka_unit_test(test_resumes),
        cmocka_unit_test(test_refuses),   cmocka_unit_test(test_folds_in),
        cmocka_unit_test(test_ranks),     cmocka_unit_test(test_ranks_exact),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests_name("ials", tests, make_stores, remove_stores);
}
