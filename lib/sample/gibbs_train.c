/*
 * The solver "gibbs": chains of block Gibbs, each from the prior, a round of which draws all users, all items and the precisions
 * anew. The model is the last sample or, averaged, the mean of many. All ratings are in memory, by user and by item. Fed by a
 * store; feeds a checkpoint.
 */
#define _GNU_SOURCE
#include "sample/gibbs_train.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "cluster/user_shares.h"
#include "sample/chain_watch.h"
#include "sample/gibbs.h"
#include "sample/gibbs_ranks.h"
#include "sample/posterior_mean.h"
#include "sample/solver.h"
#include "store/store.h"
#include "train/model_ids.h"
#include "train/train_ranks.h"
#include "train/valid_set.h"

enum { PROGRAM_BYTES = 6 << 20 }; /* the program itself, and what the allocator keeps for later */

struct gibbs_run {
    const struct dpmf_cluster *cluster; /* NULL: one machine */
    struct rank_share share;            /* of this rank, in a cluster */
    const struct dpmf_store *whole;     /* all ratings ... */
    const struct dpmf_store *store;     /* ... and those of the users that are here */
    const struct dpmf_store *valid_store;
    const struct dpmf_train_options *options;
    const struct dpmf_run *run;
    struct dpmf_train_report *report;
    const struct kernel_set *kernels;
    uint32_t chains, burn_in, samples;
    struct thread_pool *pool;
    struct rating_rows ratings;
    struct factors factors;
    struct row_store users; /* the same rows as in the factors */
    struct precisions precisions;
    struct gibbs *gibbs;
    struct valid_set *valid;
    struct posterior_mean *mean; /* NULL: no average is wanted */
    struct chain_watch *watch;
    double *row_squares;                 /* by item: of its errors */
    double *user_squares, *item_squares; /* k + 1 each */
    double squared_error;
    struct chain_key key;
    double started;
    char *provenance;

    pthread_mutex_t progress_lock;
    _Atomic bool stopped;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- options ---------------------------------------------------------------------------------- */

static int refuse(struct dpmf_error *error, const char *what, const char *hint) {
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT, "gibbs %s", what);
    error_hint(error, "%s", hint);
    return code;
}

static int check_options(struct gibbs_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    if (options->factors < 1 || options->factors > KERNEL_K_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of factors must be 1 to %d",
                         KERNEL_K_MAX);
    if (options->epochs < 1)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there must be at least one epoch");
    if (options->snapshot || options->resume)
        return refuse(error, "makes no snapshots, and goes on from none",
                      "leave --snapshot and --resume out");
    if (options->tiers)
        return refuse(error, "has no tiers: it goes through whole rows", "leave --tiers out");
    run->kernels = kernel_set_choose(options->kernels);
    if (run->kernels) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                     options->kernels ? options->kernels : "$DPMF_KERNELS");
}

/* ---- memory ----------------------------------------------------------------------------------- */

static uint64_t id_bytes(const struct factor_ids *ids) {
    return ids->start[ids->n] + (ids->n + 1) * sizeof ids->start[0];
}

/* What an open store keeps: its items and its index. */
static uint64_t store_bytes(const struct dpmf_store *store) {
    return 20 * store_n_items(store) + 48 * store_n_blocks(store);
}

/* What it takes without samples for a mean: to read the ratings, and then to run. */
static uint64_t needed_bytes(const struct gibbs_run *run, int threads) {
    const uint32_t k = run->options->factors;
    const uint64_t users = store_n_users(run->store), items = store_n_items(run->store);
    const uint64_t valid = run->valid_store ? store_n_ratings(run->valid_store) : 0;
    const uint64_t row = (run->kernels->stride(k) + 1) * sizeof(float);
    const uint64_t always = PROGRAM_BYTES + store_bytes(run->store) +
                            2 * id_bytes(&run->factors.user_ids) +
                            3 * id_bytes(&run->factors.item_ids);
    const uint64_t reading = rating_rows_bytes(run->store, true);
    const uint64_t running = rating_rows_bytes(run->store, false) + (users + items) * row +
                             items * sizeof(double) + gibbs_bytes(run->kernels, k, threads) +
                             (run->cluster ? gibbs_ranks_bytes(k) : 0) +
                             valid_set_bytes(valid, true) + valid * sizeof(double);
    return always + (reading > running ? reading : running);
}

static int too_little(const struct gibbs_run *run, uint64_t memory, uint64_t enough,
                      struct dpmf_error *error) {
    const uint64_t mebibyte = (uint64_t)1 << 20;
    int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "%llu MiB are too little for gibbs, which has all ratings in memory%s",
                         (unsigned long long)(memory / mebibyte),
                         run->options->average ? ", and the samples that it averages over" : "");
    error_hint(error, "give it --memory %lluMiB or more, or choose --solver sgd or sgld",
               (unsigned long long)((enough + mebibyte - 1) / mebibyte));
    return code;
}

static uint64_t samples_expected(const struct gibbs_run *run) {
    return (uint64_t)run->chains * (run->options->epochs - run->burn_in);
}

/* Whether memory is enough, and for how many samples. */
static int plan_memory(struct gibbs_run *run, int threads, struct dpmf_error *error) {
    const uint64_t memory = run->run->memory ? run->run->memory : host_default_budget();
    const uint64_t needed = needed_bytes(run, threads);
    uint64_t left = memory > needed ? memory - needed : 0;
    int code =
        posterior_mean_plan(run->options, store_n_users(run->store), store_n_items(run->store),
                            samples_expected(run), &left, &run->samples);
    if (code < 0) return too_little(run, memory, needed + left, error);
    return needed > memory ? too_little(run, memory, needed, error) : 0;
}

/* All ranks keep as many samples as the one with the least room. */
static int agree_on_samples(struct gibbs_run *run, int code, struct dpmf_error *error) {
    uint64_t fewest = UINT64_MAX - run->samples;
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = cluster_all_max(run->cluster, &fewest, 1, error);
    run->samples = (uint32_t)(UINT64_MAX - fewest);
    return code;
}

/* ---- before the rounds ------------------------------------------------------------------------ */

static int write_provenance(struct gibbs_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", "gibbs");
    dpmf_json_uint(json, "factors", options->factors);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_uint(json, "burn_in", run->burn_in);
    dpmf_json_uint(json, "chains", run->chains);
    dpmf_json_bool(json, "average", options->average);
    dpmf_json_double(json, "alpha", PRECISIONS_ALPHA);
    dpmf_json_double(json, "beta", PRECISIONS_BETA);
    dpmf_json_uint(json, "seed", options->seed);
    dpmf_json_string(json, "kernels", run->kernels->name);
    dpmf_json_uint(json, "ratings", store_n_ratings(run->whole));
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, NULL);
    run->provenance = text ? strdup(text) : NULL;
    dpmf_json_free(json);
    return run->provenance ? 0 : error_no_memory(error);
}

static int make_model(struct gibbs_run *run, struct dpmf_error *error) {
    struct factors *factors = &run->factors;
    const size_t k = run->options->factors, stride = run->kernels->stride(k);
    struct dpmf_store_info info;
    dpmf_store_info(run->store, &info);
    factors->k = (uint32_t)k;
    factors->min = info.min;
    factors->max = info.max;
    factors->offset = run->ratings.mean;
    int code = factor_matrix_init(&factors->users, info.users, stride, 0, error);
    if (code == 0) code = factor_matrix_init(&factors->items, info.items, stride, 0, error);
    if (code == 0)
        code = precisions_init(&run->precisions, k, factors_unit(info.min, info.max), error);
    if (code < 0) return code;
    run->users = row_store_of(factors->users.rows, info.users, stride);
    run->row_squares = memory_alloc((size_t)info.items, sizeof(double));
    run->user_squares = memory_alloc(k + 1, sizeof(double));
    run->item_squares = memory_alloc(k + 1, sizeof(double));
    return run->row_squares && run->user_squares && run->item_squares ? 0 : error_no_memory(error);
}

static int make_valid_set(struct gibbs_run *run, struct dpmf_error *error) {
    if (!run->valid_store) return 0;
    int code = factor_ids_index(&run->factors.user_ids, error);
    if (code == 0) code = factor_ids_index(&run->factors.item_ids, error);
    code = cluster_agree(run->cluster, code, error);
    return code < 0
               ? code
               : valid_set_init(&run->valid, run->valid_store, &run->factors, run->cluster, error);
}

/* The kernels of all ranks, and this one's users. `code` and `error` are how the options fared here. */
static int open_share(struct gibbs_run *run, int code, struct dpmf_error *error) {
    if (!run->cluster) return code;
    if (code == 0) code = user_shares_check_store(run->whole, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = train_ranks_choose_kernels(run->cluster, &run->kernels, error);
    if (code == 0) code = rank_share_open(&run->share, run->whole, run->cluster, error);
    if (code == 0) run->store = run->share.own;
    return code;
}

/* What goes through the rounds, when ratings and model are there. */
static int make_sampler(struct gibbs_run *run, int threads, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    int code = write_provenance(run, error);
    if (code == 0) code = thread_pool_init(&run->pool, threads, error);
    if (code == 0) code = gibbs_init(&run->gibbs, run->kernels, options->factors, run->pool, error);
    if (code == 0)
        code = chain_watch_init(&run->watch, store_n_users(run->whole), run->factors.items.n,
                                run->chains, options->seed, error);
    if (code == 0 && options->average)
        code = posterior_mean_init(&run->mean, run->factors.users.n, run->factors.items.n,
                                   options->factors, run->samples, samples_expected(run), error);
    return cluster_agree(run->cluster, code, error);
}

static int prepare(struct gibbs_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    const int threads = threads_wanted(run->run);
    double begun = now();
    int code = open_share(run, check_options(run, error), error);
    if (code < 0) return code;
    run->chains = solver_chains(SOLVER_GIBBS, options);
    run->burn_in = solver_burn_in(SOLVER_GIBBS, options);
    run->key.seed = options->seed;
    code = model_ids_fill_users(&run->factors.user_ids, run->store, error);
    if (code == 0) code = model_ids_fill_items(&run->factors.item_ids, run->store, NULL, error);
    if (code == 0) code = plan_memory(run, threads, error);
    code = agree_on_samples(run, code, error);
    if (code == 0)
        code = rating_rows_read(&run->ratings, run->store, run->cluster,
                                store_n_ratings(run->whole), run->run, error);
    if (code == 0) code = cluster_agree(run->cluster, make_model(run, error), error);
    if (code == 0 && run->cluster)
        code = rank_share_describe(&run->share, &run->factors, NULL, error);
    if (code == 0) code = make_valid_set(run, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = make_sampler(run, threads, error);
    run->report->tiling_seconds = now() - begun;
    return code;
}

static void free_run(struct gibbs_run *run) {
    posterior_mean_free(run->mean);
    chain_watch_free(run->watch);
    gibbs_free(run->gibbs);
    thread_pool_free(run->pool);
    valid_set_free(run->valid);
    precisions_free(&run->precisions);
    factors_free(&run->factors);
    rating_rows_free(&run->ratings);
    rank_share_close(&run->share);
    free(run->row_squares);
    free(run->user_squares);
    free(run->item_squares);
    free(run->provenance);
    pthread_mutex_destroy(&run->progress_lock);
}

/* ---- rounds ----------------------------------------------------------------------------------- */

static bool should_stop(void *self) {
    struct gibbs_run *run = self;
    if (!run->run->progress) return false;
    if (atomic_load_explicit(&run->stopped, memory_order_relaxed)) return true;
    if (pthread_mutex_trylock(&run->progress_lock) != 0) return false;
    const uint32_t epochs = run->options->epochs;
    const struct dpmf_progress progress = {
        .phase = "sampling",
        .unit = "epochs",
        .done = (uint64_t)run->key.chain * epochs + run->key.round - 1,
        .total = (uint64_t)run->chains * epochs,
    };
    if (run->run->progress(run->run->self, &progress)) atomic_store(&run->stopped, true);
    pthread_mutex_unlock(&run->progress_lock);
    return atomic_load(&run->stopped);
}

static void begin_chain(struct gibbs_run *run, uint32_t chain) {
    run->key.chain = chain;
    run->key.round = 0;
    precisions_begin(&run->precisions);
    precisions_draw_share(&run->precisions, PRECISIONS_USERS, &run->factors.users,
                          rank_share_first_user(&run->share), &run->key);
    precisions_draw_rows(&run->precisions, PRECISIONS_ITEMS, &run->factors.items, &run->key);
}

static int draw_users(struct gibbs_run *run, struct dpmf_error *error) {
    const struct gibbs_side side = {
        .ratings = &run->ratings.users,
        .own = &run->factors.users,
        .other = &run->factors.items,
        .precision = run->precisions.users,
        .bias_precision = run->precisions.user_bias,
        .noise = run->precisions.noise,
        .purpose = CHAIN_GIBBS_USERS,
        .first_row = rank_share_first_user(&run->share),
    };
    int code = gibbs_sweep(run->gibbs, &side, &run->key, should_stop, run, error);
    return cluster_agree(run->cluster, code, error);
}

static int draw_items(struct gibbs_run *run, struct dpmf_error *error) {
    const struct gibbs_side side = {
        .ratings = &run->ratings.items,
        .own = &run->factors.items,
        .other = &run->factors.users,
        .precision = run->precisions.items,
        .bias_precision = run->precisions.item_bias,
        .noise = run->precisions.noise,
        .purpose = CHAIN_GIBBS_ITEMS,
        .squares = run->row_squares,
    };
    if (run->cluster)
        return gibbs_ranks_draw_items(run->gibbs, &side, &run->key, run->cluster, should_stop, run,
                                      error);
    return gibbs_sweep(run->gibbs, &side, &run->key, should_stop, run, error);
}

/* Sums are taken row by row, in one order. */
static int draw_precisions(struct gibbs_run *run, struct dpmf_error *error) {
    const struct factors *factors = &run->factors;
    const uint64_t n_users = store_n_users(run->whole);
    double sum = 0;
    for (uint64_t j = 0; j < factors->items.n; j++) sum += run->row_squares[j];
    precisions_squares(&factors->users, factors->k, run->user_squares);
    precisions_squares(&factors->items, factors->k, run->item_squares);
    int code = cluster_sum_doubles(run->cluster, &sum, 1, error);
    if (code == 0)
        code = cluster_sum_doubles(run->cluster, run->user_squares, factors->k + 1, error);
    if (code < 0) return code;
    run->squared_error = sum;
    precisions_draw_side(&run->precisions, PRECISIONS_USERS, n_users, run->user_squares, &run->key);
    precisions_draw_side(&run->precisions, PRECISIONS_ITEMS, factors->items.n, run->item_squares,
                         &run->key);
    precisions_draw_noise(&run->precisions, store_n_ratings(run->whole), sum, &run->key);
    return 0;
}

/* Of the mean prediction so far, where there is one; else of this sample. */
static int validate(struct gibbs_run *run, bool counts, double *rmse, struct dpmf_error *error) {
    *rmse = NAN;
    if (!run->valid) return 0;
    return counts && run->mean ? valid_set_mean_rmse(run->valid, &run->factors, &run->users,
                                                     run->kernels, run->pool, rmse, error)
                               : valid_set_rmse(run->valid, &run->factors, &run->users,
                                                run->kernels, run->pool, rmse, error);
}

static int watch(struct gibbs_run *run, struct dpmf_error *error) {
    const struct chain_state state = {
        .factors = &run->factors,
        .users = &run->users,
        .precisions = &run->precisions,
        .n_ratings = store_n_ratings(run->whole),
        .squared_error = run->squared_error,
        .user_squares = run->user_squares,
        .item_squares = run->item_squares,
        .cluster = run->cluster,
        .first_user = rank_share_first_user(&run->share),
        .n_users = store_n_users(run->whole),
    };
    return chain_watch_add(run->watch, run->key.chain, &state, error);
}

static int diverged(const struct gibbs_run *run, struct dpmf_error *error) {
    int code =
        error_set(error, DPMF_ERR_TRAIN_DIVERGED, "sampling diverged in round %u of chain %u",
                  run->key.round, run->key.chain + 1);
    error_hint(error, "are there ratings of another scale among these? dpmf describe shows them");
    return code;
}

static int run_round(struct gibbs_run *run, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    const uint64_t n = store_n_ratings(run->whole);
    const bool counts = ++run->key.round > run->burn_in;
    double begun = now();
    *epoch = (struct dpmf_epoch){
        .epoch = run->key.round,
        .chain = run->key.chain,
        .is_burn_in = !counts,
    };
    int code = draw_users(run, error);
    if (code == 0) code = draw_items(run, error);
    if (code == DPMF_ERR_TRAIN_DIVERGED) return diverged(run, error);
    if (code == 0) code = draw_precisions(run, error);
    if (code < 0) return code;
    epoch->train_rmse = sqrt(run->squared_error / (double)(n > 0 ? n : 1));
    if (!isfinite(epoch->train_rmse)) return diverged(run, error);
    double seconds = now() - begun;
    run->report->seconds += seconds;
    epoch->updates_per_second = (double)n / fmax(seconds, 1e-9);
    if (counts && run->mean)
        code = posterior_mean_add(run->mean, &run->factors, &run->users, &run->precisions, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = watch(run, error);
    if (code == 0) code = validate(run, counts, &epoch->valid_rmse, error);
    epoch->seconds = now() - run->started;
    return code;
}

static int run_chains(struct gibbs_run *run,
                      int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                      struct dpmf_error *error) {
    struct dpmf_train_report *report = run->report;
    uint64_t rounds = 0;
    bool wanted = true;
    run->started = now();
    report->train_rmse = report->valid_rmse = NAN;
    for (uint32_t chain = 0; chain < run->chains && wanted; chain++) {
        begin_chain(run, chain);
        while (wanted && run->key.round < run->options->epochs) {
            struct dpmf_epoch epoch;
            int code = run_round(run, &epoch, error);
            if (code < 0) return code;
            rounds++;
            report->train_rmse = epoch.train_rmse;
            report->valid_rmse = epoch.valid_rmse;
            wanted = !on_epoch || cluster_rank(run->cluster) > 0 ||
                     on_epoch(run->run->self, &epoch) == 0;
            code = cluster_broadcast(run->cluster, &wanted, sizeof wanted, 0, error);
            if (code < 0) return code;
        }
    }
    report->epochs = run->key.round;
    report->chains = run->key.chain + 1;
    report->updates_per_second =
        (double)(rounds * store_n_ratings(run->whole)) / fmax(report->seconds, 1e-9);
    return 0;
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* The same of all ranks. */
static int write_model_ranks(struct gibbs_run *run, const char *output, bool averaged,
                             struct checkpoint_state *state, struct dpmf_error *error) {
    struct factors *factors = &run->factors;
    int code = 0;
    if (averaged) {
        code = posterior_mean_write_ranks(run->mean, output, &run->share, NULL, state,
                                          run->provenance, error);
    } else {
        code = posterior_sample_scale(factors, &run->users, &run->precisions, state, error);
        code = cluster_agree(run->cluster, code, error);
        if (code == 0)
            code = rank_share_write(&run->share, output, factors, &run->users, NULL,
                                    run->provenance, state, error);
    }
    run->report->samples = state->samples;
    return code;
}

/* What all ranks sent in the rounds; how long they waited for it is not measured. */
static int report_ranks(struct gibbs_run *run, uint64_t sent, struct dpmf_error *error) {
    int code = cluster_all_sum(run->cluster, &sent, 1, error);
    run->report->ranks = cluster_size(run->cluster);
    run->report->bytes_sent = sent;
    run->report->seconds_waited = NAN;
    return code;
}

/* Ended before there was anything to average over, there is still the last sample. */
static int write_model(struct gibbs_run *run, const char *output, struct dpmf_error *error) {
    struct factors *factors = &run->factors;
    struct checkpoint_state state = {
        .epoch = run->report->epochs,
        .seed = run->options->seed,
        .n_ratings = store_n_ratings(run->whole),
        .best_valid = NAN,
    };
    bool averaged = run->mean && posterior_mean_samples(run->mean) > 0;
    if (run->cluster) return write_model_ranks(run, output, averaged, &state, error);
    int code =
        averaged ? posterior_mean_write(run->mean, output, factors, &state, run->provenance, error)
                 : posterior_sample_scale(factors, &run->users, &run->precisions, &state, error);
    if (code == 0 && !averaged)
        code = checkpoint_write(output, factors, &state, run->provenance, error);
    run->report->samples = state.samples;
    return code;
}

int gibbs_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
                const struct dpmf_train_options *options, const struct dpmf_run *run,
                int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                struct dpmf_train_report *report, struct dpmf_error *error) {
    struct gibbs_run gibbs = {
        .cluster = cluster_size(run->cluster) > 1 ? run->cluster : NULL,
        .whole = store,
        .store = store,
        .valid_store = valid,
        .options = options,
        .run = run,
        .report = report,
    };
    if (pthread_mutex_init(&gibbs.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = prepare(&gibbs, error);
    if (code == 0) {
        snprintf(report->kernels, sizeof report->kernels, "%s", gibbs.kernels->name);
        report->burn_in = gibbs.burn_in;
        const uint64_t before = gibbs.cluster ? gibbs.cluster->state->bytes_sent : 0;
        code = run_chains(&gibbs, on_epoch, error);
        if (code == 0 && gibbs.cluster)
            code = report_ranks(&gibbs, gibbs.cluster->state->bytes_sent - before, error);
    }
    if (code == 0) {
        code = chain_watch_end(gibbs.watch, gibbs.burn_in, options, run, report, error);
        code = cluster_agree(gibbs.cluster, code, error);
    }
    if (code == 0) code = write_model(&gibbs, output, error);
    free_run(&gibbs);
    return code;
}
