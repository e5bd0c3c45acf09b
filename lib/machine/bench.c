/*
 * dpmf_bench_run: how fast this machine trains. Tiles the ratings and runs epochs with the
 * trainer's own code, but without files, validation or snapshots, and holds the speed against the
 * roofline measured right before and after. Fed by any store; feeds `dpmf bench`.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "machine/bench_ials.h"
#include "machine/roofline.h"
#include "model/factors.h"
#include "sample/langevin_tiles.h"
#include "schedule/tiling.h"
#include "store/store.h"
#include "train/first_rows.h"
#include "train/memory_plan.h"
#include "train/rates.h"
#include "train/sgd_epoch.h"

enum { EPOCHS_MIN = 3, EPOCHS_MAX = 10000, THREADS_MAX = 1024, PREFETCH = 2 };

struct bench {
    struct dpmf_store *store;
    const struct dpmf_bench_options *options;
    const struct dpmf_run *run;
    struct dpmf_bench_result *result;
    const struct kernel_set *kernels;
    struct thread_pool *pool;
    struct tiling *tiling;
    struct memory_plan plan;
    struct factors factors; /* the model, without the rows of users */
    struct row_store users; /* the rows of users */
    struct superblock_stream *stream;
    struct sgd_epoch *epoch;
    enum solver solver;
    struct langevin *langevin; /* NULL: of sgd */
    double *seconds;           /* by epoch */
    double *sgd_seconds;       /* the same of sgd's epochs, where they take turns */
    uint32_t n_epochs;
    atomic_flag asking; /* one thread at a time asks whether to stop */
    _Atomic bool stopped;
};

void dpmf_bench_options_init(struct dpmf_bench_options *options, size_t size) {
    const struct dpmf_bench_options made = {
        .size = sizeof made, .factors = RATES_FACTORS, .seconds = 1};
    options_give(options, size, &made, sizeof made);
}

static int check_options(struct bench *bench, struct dpmf_error *error) {
    const struct dpmf_bench_options *options = bench->options;
    int code = solver_find(options->solver, &bench->solver, error);
    if (code < 0) return code;
    if (bench->solver == SOLVER_GIBBS)
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "%s cannot be measured in updates per second: its rounds have none",
                         solver_name(bench->solver));
    if (options->factors < 1 || options->factors > KERNEL_K_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of factors must be 1 to %d",
                         KERNEL_K_MAX);
    if (bench->run->threads < 0 || bench->run->threads > THREADS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of threads must be 1 to %d",
                         THREADS_MAX);
    if (!(options->seconds >= 0) || !isfinite(options->seconds))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the seconds must be 0 or above");
    if (store_n_ratings(bench->store) == 0)
        return error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "there are no ratings to train on");
    if (options->lanes > KERNEL_LANES)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of lanes must be 1 to %d",
                         KERNEL_LANES);
    bench->kernels = bench->solver == SOLVER_IALS ? kernel_set_widest(options->kernels)
                                                  : kernel_set_choose(options->kernels);
    if (bench->kernels) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                     options->kernels ? options->kernels : "$DPMF_KERNELS");
}

static uint64_t model_bytes(const struct bench *bench) {
    uint64_t row = bench->kernels->stride(bench->options->factors) * sizeof(float) + sizeof(float);
    return (store_n_users(bench->store) + store_n_items(bench->store)) * row;
}

static void plan_sampler(struct bench *bench) {
    struct memory_plan *plan = &bench->plan;
    const uint64_t users = store_n_users(bench->store), items = store_n_items(bench->store);
    const uint64_t ratings = store_n_ratings(bench->store);
    if (bench->solver == SOLVER_SGD) return;
    plan->sampler =
        langevin_bytes(bench->solver, bench->kernels, plan->k, users, items, ratings, true);
    plan->momenta =
        langevin_bytes(bench->solver, bench->kernels, plan->k, users, items, ratings, false) -
        plan->sampler;
}

static int tile_ratings(struct bench *bench, struct dpmf_error *error) {
    int threads = thread_pool_size(bench->pool);
    uint64_t missing = 0;
    struct host_caches caches;
    int code = host_caches_read(&caches, error);
    if (code < 0) return code;
    bench->plan = (struct memory_plan){
        .store = bench->store,
        .kernels = bench->kernels,
        .k = bench->options->factors,
        .order = SGD_FREE,
        .threads = threads,
        .prefetch = PREFETCH,
        .memory = bench->run->memory,
    };
    plan_sampler(bench);
    struct tiling_options options = {
        .kernels = bench->kernels,
        .k = bench->options->factors,
        .caches = caches,
        .chunk_rows = bench->options->lanes,
        .threads = threads,
        .lanes = sgd_shares(SGD_FREE, threads),
        .missing = &missing,
    };
    code = memory_plan_divide(&bench->plan, &options, error);
    if (code < 0) return code;
    double begun = clock_now();
    code = tiling_build(bench->store, &options, bench->run, &bench->tiling, error);
    bench->result->tiling_seconds = clock_now() - begun;
    return code == DPMF_ERR_USAGE_MEMORY ? memory_plan_refuse(&bench->plan, missing, error) : code;
}

static int make_model(struct bench *bench, struct dpmf_error *error) {
    struct factors *factors = &bench->factors;
    uint32_t k = factors->k = bench->options->factors;
    size_t stride = bench->kernels->stride(k);
    uint64_t items = store_n_items(bench->store);
    const char *beside = tiling_is_streamed(bench->tiling) ? store_path(bench->store) : NULL;
    factors->offset = tiling_mean_rating(bench->tiling);
    int code = first_rows_make_users(&factors->users, &bench->users, store_n_users(bench->store),
                                     stride, TILING_SPARE_ROWS, beside, error);
    if (code == 0)
        code = factor_matrix_init(&factors->items, items, stride, TILING_SPARE_ROWS, error);
    if (code < 0) return code;
    first_rows_fill(&factors->items, k, 1, 1, FIRST_ROWS_ITEMS);
    return first_rows_fill_store(&bench->users, 0, k, 1, 1, FIRST_ROWS_USERS, error);
}

static int make_epoch(struct bench *bench, struct dpmf_error *error) {
    int code =
        superblock_stream_init(&bench->stream, bench->tiling, &bench->users,
                               bench->factors.users.biases, memory_plan_slots(&bench->plan), error);
    if (code < 0) return code;
    return sgd_epoch_init(&bench->epoch, bench->tiling, bench->stream, bench->kernels,
                          &bench->factors, SGD_FREE, bench->pool, error);
}

/* As a training run asks, so that it costs as much. */
static bool should_stop(void *self) {
    struct bench *bench = self;
    if (!bench->run->progress) return false;
    if (atomic_load_explicit(&bench->stopped, memory_order_relaxed)) return true;
    if (atomic_flag_test_and_set_explicit(&bench->asking, memory_order_acquire)) return false;
    const struct dpmf_progress progress = {
        .phase = "measuring",
        .unit = "epochs",
        .done = bench->n_epochs,
    };
    if (bench->run->progress(bench->run->progress_self, &progress))
        atomic_store(&bench->stopped, true);
    atomic_flag_clear_explicit(&bench->asking, memory_order_release);
    return atomic_load(&bench->stopped);
}

static int make_sampler(struct bench *bench, struct dpmf_error *error) {
    if (bench->solver == SOLVER_SGD) return 0;
    if (tiling_is_streamed(bench->tiling) && bench->solver != SOLVER_SGLD)
        return memory_plan_refuse(&bench->plan, bench->plan.momenta, error);
    const struct langevin_source source = {
        .solver = bench->solver,
        .tiling = bench->tiling,
        .kernels = bench->kernels,
        .factors = &bench->factors,
        .users = &bench->users,
        .pool = bench->pool,
        .unit = 1,
        .seed = 1,
    };
    struct langevin_stiffness stiffness;
    int code = langevin_init(&bench->langevin, &source, error);
    if (code == 0) code = langevin_begin_chain(bench->langevin, 0, error);
    if (code == 0) code = langevin_measure(bench->langevin, &stiffness, error);
    if (code < 0) return code;
    const struct langevin_step step = langevin_safe_step(bench->solver, &stiffness);
    langevin_set_step(bench->langevin, &step);
    return 0;
}

/* Small steps that stay the same: whatever the ratings are, nothing diverges however long it
 * takes. */
static int run_sgd(struct bench *bench, double *seconds, struct dpmf_error *error) {
    const struct sgd_rates rates = {
        .rate = 1e-3f, .reg = (float)RATES_REGULARIZATION, .bias_rate = 1e-3f, .bias_reg = 0.01f};
    const struct sgd_watch watch = {.self = bench, .should_stop = should_stop};
    double begun = clock_now();
    size_t done;
    int code = sgd_epoch_run(bench->epoch, bench->n_epochs, 0, &rates, &watch, &done, error);
    *seconds = clock_now() - begun;
    return code;
}

/* All that a round of a sampler takes. */
static int run_sampler(struct bench *bench, double *seconds, struct dpmf_error *error) {
    double begun = clock_now(), squares = 0;
    size_t done;
    const struct sgd_rates rates = langevin_begin_round(bench->langevin, bench->n_epochs + 1);
    const struct sgd_watch watch = {
        .self = bench, .should_stop = should_stop, .noise = langevin_noise(bench->langevin)};
    int code = sgd_epoch_run(bench->epoch, bench->n_epochs, 0, &rates, &watch, &done, error);
    if (code < 0) return code;
    langevin_end_round(bench->langevin);
    code = langevin_take_sums(bench->langevin, error);
    if (code < 0) return code;
    for (size_t s = 0; s < tiling_n_superblocks(bench->tiling); s++)
        squares += sgd_epoch_squared_error(bench->epoch, s);
    langevin_draw_precisions(bench->langevin, langevin_squared_error(bench->langevin, squares));
    *seconds = clock_now() - begun;
    return 0;
}

static int run_epochs(struct bench *bench, struct dpmf_error *error) {
    double spent = 0;
    bench->seconds = memory_alloc(EPOCHS_MAX, sizeof bench->seconds[0]);
    bench->sgd_seconds = memory_alloc(EPOCHS_MAX, sizeof bench->sgd_seconds[0]);
    if (!bench->seconds || !bench->sgd_seconds) return error_no_memory(error);
    while (bench->n_epochs < EPOCHS_MIN ||
           (spent < bench->options->seconds && bench->n_epochs < EPOCHS_MAX)) {
        double *own = &bench->seconds[bench->n_epochs];
        double *sgd = &bench->sgd_seconds[bench->n_epochs];
        int code = run_sgd(bench, sgd, error);
        *own = *sgd;
        if (code == 0 && bench->langevin) code = run_sampler(bench, own, error);
        if (code < 0) return code;
        spent += *own;
        bench->n_epochs++;
    }
    return 0;
}

static int by_value(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

double bench_median(double *seconds, size_t n) {
    qsort(seconds, n, sizeof seconds[0], by_value);
    return seconds[n / 2];
}

/* An update rewrites the vector that moves by, 4k bytes, and its share of the resident one, a
 * quarter as much; it takes 6k operations: a product, and a multiplication and an addition in each
 * of two vectors. */
static void fill_result(struct bench *bench, double roofline) {
    struct dpmf_bench_result *result = bench->result;
    double k = (double)bench->options->factors, n = (double)store_n_ratings(bench->store);
    result->factors = bench->options->factors;
    result->threads = thread_pool_size(bench->pool);
    result->lanes = tiling_chunk_rows(bench->tiling);
    result->epochs = bench->n_epochs;
    result->epoch_seconds = bench_median(bench->seconds, bench->n_epochs);
    result->updates_per_second = n / fmax(result->epoch_seconds, 1e-9);
    result->flops_per_second = result->updates_per_second * 6 * k;
    result->bytes_per_second = result->updates_per_second * 4 * k * 1.25;
    result->roofline_bytes_per_second = roofline;
    result->fraction_of_roofline = result->bytes_per_second / roofline;
    result->of_sgd =
        bench_median(bench->sgd_seconds, bench->n_epochs) / fmax(result->epoch_seconds, 1e-9);
    snprintf(result->solver, sizeof result->solver, "%s", solver_name(bench->solver));
    result->model_bytes = model_bytes(bench);
    result->tiles_on_disk = tiling_is_streamed(bench->tiling);
    snprintf(result->kernels, sizeof result->kernels, "%s", bench->kernels->name);
}

static int measure(struct bench *bench, struct dpmf_error *error) {
    double before, after;
    int code = check_options(bench, error);
    if (code == 0 && bench->solver == SOLVER_IALS)
        return bench_ials_run(bench->store, bench->options, bench->run, bench->kernels,
                              bench->result, error);
    if (code == 0) code = thread_pool_init(&bench->pool, threads_wanted(bench->run), error);
    if (code == 0) code = tile_ratings(bench, error);
    if (code == 0) code = make_model(bench, error);
    if (code == 0) code = make_epoch(bench, error);
    if (code == 0) code = make_sampler(bench, error);
    if (code == 0) code = roofline_measure(bench->pool, &before, error);
    if (code == 0) code = run_epochs(bench, error);
    if (code == 0) code = roofline_measure(bench->pool, &after, error);
    if (code == 0) fill_result(bench, fmax(before, after));
    return code;
}

int dpmf_bench_run(struct dpmf_store *store, const struct dpmf_bench_options *options,
                   const struct dpmf_run *run, struct dpmf_bench_result *result,
                   struct dpmf_error *error) {
    struct dpmf_bench_options own = dpmf_bench_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "store result", store, result);
    if (code == 0) code = options_take(&own, sizeof own, options, "bench_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    struct bench bench = {
        .store = store,
        .options = options,
        .run = run,
        .result = result,
        .users = {.file = -1},
        .asking = ATOMIC_FLAG_INIT,
    };
    memset(result, 0, sizeof *result);
    code = measure(&bench, error);
    langevin_free(bench.langevin);
    sgd_epoch_free(bench.epoch);
    superblock_stream_free(bench.stream);
    thread_pool_free(bench.pool);
    tiling_free(bench.tiling);
    row_store_close(&bench.users);
    factors_free(&bench.factors);
    free(bench.seconds);
    free(bench.sgd_seconds);
    return code;
}
