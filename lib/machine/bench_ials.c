/*
 * Epochs of implicit least squares, timed: both sweeps, with the rule that training has by default,
 * from random rows on. Every multiplication and addition of a sweep takes a number from the caches,
 * of an event's row or of the Gramian; so the speed is held against what the same threads can read
 * there. Fed by bench.c; works through rank/ials.c.
 */
#include "machine/bench_ials.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "machine/roofline.h"
#include "rank/ials.h"
#include "rank/ials_train.h"
#include "store/store.h"
#include "train/solver_names.h"

enum { EPOCHS_MIN = 3, EPOCHS_MAX = 10000, SEED = 1 };

struct bench_ials {
    const struct dpmf_bench_options *options;
    const struct dpmf_run *run;
    const struct kernel_set *kernels;
    struct dpmf_bench_result *result;
    struct thread_pool *pool;
    struct event_rows events;
    struct factor_matrix users, items;
    struct ials_rule rule;
    struct ials *ials;
    double *seconds; /* by epoch */
    uint32_t n_epochs;
    atomic_flag asking; /* one thread at a time asks whether to stop */
    _Atomic bool stopped;
};

static bool should_stop(void *self) {
    struct bench_ials *bench = self;
    const struct dpmf_progress progress = {
        .phase = "measuring", .unit = "epochs", .done = bench->n_epochs};
    if (!bench->run->progress) return false;
    if (atomic_load_explicit(&bench->stopped, memory_order_relaxed)) return true;
    if (atomic_flag_test_and_set_explicit(&bench->asking, memory_order_acquire)) return false;
    if (bench->run->progress(bench->run->progress_self, &progress))
        atomic_store(&bench->stopped, true);
    atomic_flag_clear_explicit(&bench->asking, memory_order_release);
    return atomic_load(&bench->stopped);
}

static int prepare(struct bench_ials *bench, const struct dpmf_store *store,
                   struct dpmf_error *error) {
    const struct dpmf_train_options train = dpmf_train_options_default();
    const uint32_t k = bench->options->factors;
    const size_t stride = bench->kernels->stride(k);
    const double begun = clock_now();
    int code = ials_memory_check(store, bench->kernels, k, thread_pool_size(bench->pool), 0,
                                 bench->run, error);
    if (code == 0) code = event_rows_read(&bench->events, store, -INFINITY, 0, bench->run, error);
    if (code < 0) return code;
    bench->rule = (struct ials_rule){
        .unobserved = ials_default_unobserved(bench->events.n_events, bench->events.users.n,
                                              bench->events.items.n),
        .penalty = IALS_PENALTY,
        .exponent = train.ials.exponent,
        .steps = train.ials.row_steps,
    };
    code = factor_matrix_init(&bench->users, bench->events.users.n, stride, 1, error);
    if (code == 0)
        code = factor_matrix_init(&bench->items, bench->events.items.n, stride, 1, error);
    if (code < 0) return code;
    ials_first_items(&bench->items, k, SEED);
    bench->result->tiling_seconds = clock_now() - begun;
    return ials_init(&bench->ials, bench->kernels, k, &bench->rule, bench->pool, error);
}

static int run_epochs(struct bench_ials *bench, struct dpmf_error *error) {
    double spent = 0;
    int code = 0;
    bench->seconds = memory_alloc(EPOCHS_MAX, sizeof bench->seconds[0]);
    if (!bench->seconds) return error_no_memory(error);
    while (code == 0 && (bench->n_epochs < EPOCHS_MIN ||
                         (spent < bench->options->seconds && bench->n_epochs < EPOCHS_MAX))) {
        const double begun = clock_now();
        code = ials_sweep(bench->ials, &bench->events.users, &bench->users, &bench->items,
                          should_stop, bench, NULL, error);
        if (code == 0)
            code = ials_sweep(bench->ials, &bench->events.items, &bench->items, &bench->users,
                              should_stop, bench, NULL, error);
        bench->seconds[bench->n_epochs++] = clock_now() - begun;
        spent += bench->seconds[bench->n_epochs - 1];
    }
    return code;
}

/* The work of an epoch. An event is met twice, as its user's and as its item's: a scalar product
 * and a sum to begin with and in each step, but no sum in the last. A row has a product with the
 * Gramian as often, and is in one half of a Gramian itself. */
static double operations(const struct bench_ials *bench) {
    const double k = (double)bench->options->factors, steps = (double)bench->rule.steps;
    const double events = (double)bench->events.n_events;
    const double rows = (double)bench->users.n + (double)bench->items.n;
    return 2 * events * (4 * steps + 2) * k + rows * ((steps + 1) * 2 * k * k + k * k);
}

static void fill_result(struct bench_ials *bench, double roofline) {
    struct dpmf_bench_result *result = bench->result;
    result->factors = bench->options->factors;
    result->threads = thread_pool_size(bench->pool);
    result->epochs = bench->n_epochs;
    result->epoch_seconds = bench_median(bench->seconds, bench->n_epochs);
    const double seconds = fmax(result->epoch_seconds, 1e-9);
    result->updates_per_second = (double)bench->events.n_events / seconds;
    result->flops_per_second = operations(bench) / seconds;
    result->bytes_per_second = result->flops_per_second / 2 * sizeof(float);
    result->roofline_bytes_per_second = roofline;
    result->fraction_of_roofline = result->bytes_per_second / roofline;
    result->of_sgd = NAN;
    result->model_bytes = (bench->users.n + bench->items.n) * bench->users.stride * sizeof(float);
    snprintf(result->solver, sizeof result->solver, SOLVER_NAME_IALS);
    snprintf(result->kernels, sizeof result->kernels, "%s", bench->kernels->name);
}

int bench_ials_run(struct dpmf_store *store, const struct dpmf_bench_options *options,
                   const struct dpmf_run *run, const struct kernel_set *kernels,
                   struct dpmf_bench_result *result, struct dpmf_error *error) {
    struct bench_ials bench = {.options = options,
                               .run = run,
                               .kernels = kernels,
                               .result = result,
                               .asking = ATOMIC_FLAG_INIT};
    double before = 0, after = 0;
    int code = thread_pool_init(&bench.pool, threads_wanted(run), error);
    if (code == 0) code = prepare(&bench, store, error);
    if (code == 0) code = roofline_measure_reading(bench.pool, &before, error);
    if (code == 0) code = run_epochs(&bench, error);
    if (code == 0) code = roofline_measure_reading(bench.pool, &after, error);
    if (code == 0) fill_result(&bench, fmax(before, after));
    ials_free(bench.ials);
    thread_pool_free(bench.pool);
    factor_matrix_free(&bench.users);
    factor_matrix_free(&bench.items);
    event_rows_free(&bench.events);
    free(bench.seconds);
    return code;
}
