/*
 * The solvers "sgld", "sghmc" and "sgnht": chains of Langevin dynamics on the tiles of SGD, each from the prior. A round is
 * an epoch: all ratings once, all noise that is owed, the precisions. The model is the last sample or, averaged, the mean
 * of many. Fed by train_prepare.c; feeds a checkpoint.
 *
 * By several ranks it is one chain at a time, of all of them: items go round the ring with their momenta, and all that follows
 * from sums (steps, precisions, what is watched) is the same on each, since the sums are.
 */
#define _GNU_SOURCE
#include "sample/langevin_train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "sample/chain_watch.h"
#include "sample/langevin_tiles.h"
#include "sample/noise_table.h"
#include "sample/posterior_mean.h"
#include "store/store.h"
#include "train/rates.h"
#include "train/rows_file.h"
#include "train/train_ranks.h"
#include "train/train_run.h"

enum {
    CHUNK_BYTES_A_RATING = 15,
    FALLING = 10, /* epochs, at most, in which the steps of a burn-in fall */
};

#define HASTE                                                                                      \
    2.0 /* of SGLD's steps in a burn-in: with larger ones whole columns of the factors die */

struct langevin_run {
    struct train_run train;
    enum solver solver;
    size_t table; /* numbers in the table of noise; 0: exact noise */
    struct langevin *langevin;
    struct chain_watch *watch;
    struct posterior_mean *mean; /* NULL: no average is wanted */
    uint32_t chains, burn_in, samples;
    uint32_t chain, round;               /* from 0, and from 1 */
    struct langevin_stiffness stiffness; /* as it was last measured */
    struct langevin_step pace;           /* steps, in terms of those that are safe ... */
    struct langevin_step step;           /* ... and as they are */
    double squared_error;
    double started;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- before the rounds ------------------------------------------------------------------------ */

static int refuse(const struct langevin_run *run, const char *what, const char *hint,
                  struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT, "%s %s", solver_name(run->solver), what);
    error_hint(error, "%s", hint);
    return code;
}

static int check_options(struct langevin_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->train.options;
    if (options->snapshot || options->resume)
        return refuse(run, "makes no snapshots, and goes on from none",
                      "leave --snapshot and --resume out", error);
    return noise_table_parse(options->noise, &run->table, error);
}

/* The sampler_bytes of struct train_run. */
static uint64_t count_bytes(const void *sampler, const struct train_run *train, bool streamed) {
    const struct langevin_run *run = sampler;
    return noise_table_bytes(train->options->noise) +
           langevin_bytes(run->solver, train->kernels, train->options->factors,
                          store_n_users(train->store), store_n_items(train->store),
                          store_n_ratings(train->store), streamed);
}

static int write_provenance(struct langevin_run *run, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    const struct dpmf_train_options *options = train->options;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", solver_name(run->solver));
    dpmf_json_uint(json, "factors", options->factors);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_uint(json, "burn_in", run->burn_in);
    dpmf_json_uint(json, "chains", run->chains);
    dpmf_json_bool(json, "average", options->average);
    dpmf_json_string(json, "noise", options->noise ? options->noise : "exact");
    dpmf_json_double(json, "alpha", PRECISIONS_ALPHA);
    dpmf_json_double(json, "beta", PRECISIONS_BETA);
    dpmf_json_uint(json, "seed", options->seed);
    dpmf_json_string(json, "kernels", train->kernels->name);
    dpmf_json_uint(json, "lanes", train->lanes);
    dpmf_json_bool(json, "deterministic", options->deterministic);
    dpmf_json_bool(json, "hogwild", options->hogwild);
    dpmf_json_uint(json, "ratings", store_n_ratings(train->whole));
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, NULL);
    train->provenance = text ? strdup(text) : NULL;
    dpmf_json_free(json);
    return train->provenance ? 0 : error_no_memory(error);
}

/* What must be in memory, and is not. */
static int too_little(const struct langevin_run *run, uint64_t samples, struct dpmf_error *error) {
    const struct train_run *train = &run->train;
    const uint64_t mebibyte = (uint64_t)1 << 20;
    uint64_t memory = train->run->memory ? train->run->memory : host_default_budget();
    uint64_t tiles = CHUNK_BYTES_A_RATING * store_n_ratings(train->store);
    uint64_t enough = train->plan.fixed + samples + tiles + tiles / 8 + mebibyte;
    int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "%llu MiB are too little for %s%s, which must "
                         "be in memory as a whole",
                         (unsigned long long)(memory / mebibyte), solver_name(run->solver),
                         train->options->average ? " and the samples that it averages over" : "");
    error_hint(error, "give it --memory %lluMiB or more%s",
               (unsigned long long)((enough + mebibyte - 1) / mebibyte),
               train->options->average ? ", or leave --average out" : ", or choose --solver sgld");
    return code;
}

/* How many samples there is room for. */
static int plan_samples(struct langevin_run *run, struct dpmf_error *error) {
    const struct train_run *train = &run->train;
    const struct dpmf_train_options *options = train->options;
    const bool streamed = tiling_is_streamed(train->tiling);
    const uint64_t tiles = tiling_bytes(train->tiling), whole = train->plan.whole;
    uint64_t left = !streamed && whole > tiles ? whole - tiles : 0;
    int code = posterior_mean_plan(
        options, store_n_users(train->store), store_n_items(train->store),
        (uint64_t)run->chains * (options->epochs - run->burn_in), &left, &run->samples);
    if (code < 0) return too_little(run, left, error);
    return streamed && run->solver != SOLVER_SGLD ? too_little(run, 0, error) : 0;
}

/* All ranks keep as many samples as the one with the least room. */
static int agree_on_samples(struct langevin_run *run, int code, struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = run->train.cluster;
    uint64_t fewest = UINT64_MAX - run->samples;
    code = cluster_agree(cluster, code, error);
    if (code == 0) code = cluster_all_max(cluster, &fewest, 1, error);
    run->samples = (uint32_t)(UINT64_MAX - fewest);
    return code;
}

static int make_sampler(struct langevin_run *run, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    const struct langevin_source source = {
        .solver = run->solver,
        .tiling = train->tiling,
        .kernels = train->kernels,
        .factors = &train->factors,
        .users = &train->users,
        .pool = train->pool,
        .unit = train->unit,
        .table = run->table,
        .seed = train->options->seed,
        .cluster = train->cluster,
        .first_user = train->cluster ? rank_share_first_user(&train->share) : 0,
        .n_users = store_n_users(train->whole),
    };
    struct ring_array arrays[LANGEVIN_ARRAYS];
    double begun = now();
    int code = langevin_init(&run->langevin, &source, error);
    train->report->tiling_seconds += now() - begun;
    if (code < 0 || !train->cluster) return code;
    const size_t n = langevin_ring_arrays(run->langevin, arrays);
    return train_ranks_make_ring(train, arrays, n, error);
}

static int prepare(struct langevin_run *run, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    const struct dpmf_train_options *options = train->options;
    int code = check_options(run, error);
    code = cluster_agree(train->run->cluster, code, error);
    if (code == 0) code = train_run_prepare(train, error);
    run->chains = solver_chains(run->solver, options);
    run->burn_in = solver_burn_in(run->solver, options);
    if (code == 0) code = agree_on_samples(run, plan_samples(run, error), error);
    if (code == 0) code = make_sampler(run, error);
    if (code < 0) return cluster_agree(train->cluster, code, error);
    const struct factors *factors = &train->factors;
    code = write_provenance(run, error);
    if (code == 0)
        code = chain_watch_init(&run->watch, store_n_users(train->whole), factors->items.n,
                                run->chains, options->seed, error);
    if (code == 0 && options->average)
        code = posterior_mean_init(&run->mean, factors->users.n, factors->items.n, factors->k,
                                   run->samples,
                                   (uint64_t)run->chains * (options->epochs - run->burn_in), error);
    return cluster_agree(train->cluster, code, error);
}

static void free_run(struct langevin_run *run) {
    posterior_mean_free(run->mean);
    chain_watch_free(run->watch);
    langevin_free(run->langevin);
    train_run_free(&run->train);
}

/* ---- steps ------------------------------------------------------------------------------------ */

/* What is right for samples, as the precisions are: what was asked for, or what is safe. */
static struct langevin_step sampling_step(const struct langevin_run *run) {
    const enum solver solver = run->solver;
    const double wanted = run->train.options->step;
    const struct langevin_stiffness now = langevin_stiffness_now(run->langevin, &run->stiffness);
    struct langevin_step step = langevin_safe_step(solver, &now);
    if (wanted > 0) {
        step.drift *= wanted / step.rows;
        step.rows = wanted;
    }
    return step;
}

static int measure(struct langevin_run *run, struct dpmf_error *error) {
    struct dpmf_train_report *report = run->train.report;
    int code = langevin_measure(run->langevin, &run->stiffness, error);
    if (code < 0) return code;
    const struct langevin_step step = sampling_step(run);
    report->step = step.rows;
    report->stiffness = langevin_stiffness_of(run->solver, &run->stiffness, &step);
    return 0;
}

/* What a burn-in begins with: the rates of SGD, whatever that does to the distribution. */
static struct langevin_step first_pace(struct langevin_run *run) {
    const struct precisions *precisions = langevin_precisions(run->langevin);
    const double rate = RATES_LEARNING_RATE / precisions->noise, unit = run->train.unit;
    const struct langevin_step safe = sampling_step(run);
    struct langevin_step pace = {1, 1, 1};
    if (run->solver == SOLVER_SGLD)
        pace.rows = fmax(1, 2 * rate / unit / safe.rows);
    else
        pace.drift = fmax(1, rate / unit / safe.rows / safe.drift);
    pace.biases = fmax(1, 2 * RATES_BIAS_RATE * rate / safe.biases);
    return pace;
}

/* One of `left` equal steps towards another pace, in proportions. */
static void approach(struct langevin_step *pace, double to, uint32_t left) {
    pace->rows *= pow(to / pace->rows, 1.0 / left);
    pace->biases *= pow(to / pace->biases, 1.0 / left);
    pace->drift *= pow(1 / pace->drift, 1.0 / left);
}

static bool same_step(const struct langevin_step *a, const struct langevin_step *b) {
    return a->rows == b->rows && a->biases == b->biases && a->drift == b->drift;
}

/* The burn-in: a few epochs with steps that fall from those of SGD; then, but for its last quarter, steps that are HASTE times
 * too large, whose distribution is nearly right; then, and while sampling, what is safe, measured when it is first used and once
 * more when sampling begins. From there on a step changes only where the precisions ask for a smaller one. */
static int choose_step(struct langevin_run *run, struct dpmf_error *error) {
    const uint32_t done = run->round - 1, burn_in = run->burn_in;
    const uint32_t falling = burn_in / 2 < FALLING ? burn_in / 2 : FALLING;
    const bool hasty = run->solver == SOLVER_SGLD && done < burn_in - burn_in / 4;
    const double haste = hasty ? HASTE : 1;
    if (done == 0 || done == falling || done == burn_in - burn_in / 4 || done == burn_in) {
        int code = measure(run, error);
        if (code < 0) return code;
    }
    if (done == 0) run->pace = first_pace(run);
    if (done > 0 && done < falling) approach(&run->pace, haste, falling - done + 1);
    if (done >= falling) run->pace = (struct langevin_step){haste, haste, 1};
    const struct langevin_step safe = sampling_step(run), before = run->step;
    run->step = (struct langevin_step){
        .rows = safe.rows * run->pace.rows,
        .biases = safe.biases * run->pace.biases,
        .drift = safe.drift * run->pace.drift,
    };
    if (done == 0 || !same_step(&run->step, &before)) langevin_set_step(run->langevin, &run->step);
    return 0;
}

/* ---- rounds ----------------------------------------------------------------------------------- */

static bool should_stop(void *self) {
    struct langevin_run *run = self;
    struct train_run *train = &run->train;
    if (!train->run->progress) return false;
    if (atomic_load_explicit(&train->stopped, memory_order_relaxed)) return true;
    if (pthread_mutex_trylock(&train->progress_lock) != 0) return false;
    const uint32_t epochs = train->options->epochs;
    const struct dpmf_progress progress = {
        .phase = "sampling",
        .unit = "epochs",
        .done = (uint64_t)run->chain * epochs + run->round - 1,
        .total = (uint64_t)run->chains * epochs,
    };
    if (train->run->progress(train->run->self, &progress)) atomic_store(&train->stopped, true);
    pthread_mutex_unlock(&train->progress_lock);
    return atomic_load(&train->stopped);
}

static int diverged(const struct langevin_run *run, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_TRAIN_DIVERGED,
                         "sampling diverged in epoch %u of chain %u", run->round, run->chain + 1);
    if (run->train.options->step > 0)
        error_hint(error, "use a smaller --step than %g, or leave it out", run->step.rows);
    else
        error_hint(error, "give a --step below %g", run->step.rows);
    return code;
}

/* All tiles once, by whoever has them; then everyone has all items, and what is sums over them. */
static int visit_tiles(struct langevin_run *run, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    size_t done;
    const struct sgd_rates rates = langevin_begin_round(run->langevin, run->round);
    const struct sgd_watch watch = {
        .self = run, .should_stop = should_stop, .noise = langevin_noise(run->langevin)};
    train->state.epoch = run->round - 1;
    int code = train->cluster
                   ? train_ranks_epoch(train, &rates, &watch, error)
                   : sgd_epoch_run(train->epoch, run->round - 1, 0, &rates, &watch, &done, error);
    if (code < 0) return code;
    langevin_end_round(run->langevin);
    if (train->cluster) code = train_ranks_gather(train, error);
    if (code == 0) code = langevin_take_sums(run->langevin, error);
    return code < 0 ? code : train_ranks_squared_error(train, &run->squared_error, error);
}

/* All ratings once, and all that goes with it. */
static int visit_ratings(struct langevin_run *run, struct dpmf_epoch *epoch,
                         struct dpmf_error *error) {
    struct train_run *train = &run->train;
    const uint64_t n = train->state.n_ratings;
    double begun = now();
    int code = visit_tiles(run, error);
    if (code < 0) return code;
    run->squared_error = langevin_squared_error(run->langevin, run->squared_error);
    epoch->train_rmse = sqrt(run->squared_error / (double)(n > 0 ? n : 1));
    if (!isfinite(epoch->train_rmse) || epoch->train_rmse > train->worst_rmse)
        code = diverged(run, error);
    code = cluster_agree(train->cluster, code, error);
    if (code < 0) return code;
    langevin_draw_precisions(run->langevin, run->squared_error);
    double seconds = now() - begun;
    train->report->seconds += seconds;
    epoch->updates_per_second = (double)n / fmax(seconds, 1e-9);
    return 0;
}

/* Of the mean prediction so far, where there is one; else of this sample. */
static int validate(struct langevin_run *run, bool counts, double *rmse, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    *rmse = NAN;
    if (!train->valid) return 0;
    return counts && run->mean ? valid_set_mean_rmse(train->valid, &train->factors, &train->users,
                                                     train->kernels, train->pool, rmse, error)
                               : valid_set_rmse(train->valid, &train->factors, &train->users,
                                                train->kernels, train->pool, rmse, error);
}

static int look_at_chain(struct langevin_run *run, struct dpmf_error *error) {
    const struct chain_state state = {
        .factors = &run->train.factors,
        .users = &run->train.users,
        .precisions = langevin_precisions(run->langevin),
        .n_ratings = run->train.state.n_ratings,
        .squared_error = run->squared_error,
        .user_squares = langevin_user_squares(run->langevin),
        .item_squares = langevin_item_squares(run->langevin),
        .cluster = run->train.cluster,
        .first_user = run->train.cluster ? rank_share_first_user(&run->train.share) : 0,
        .n_users = store_n_users(run->train.whole),
    };
    return chain_watch_add(run->watch, run->chain, &state, error);
}

static int run_round(struct langevin_run *run, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    const bool counts = ++run->round > run->burn_in;
    *epoch = (struct dpmf_epoch){.epoch = run->round, .chain = run->chain, .is_burn_in = !counts};
    int code = choose_step(run, error);
    if (code == 0) code = visit_ratings(run, epoch, error);
    if (code == 0 && counts && run->mean)
        code = posterior_mean_add(run->mean, &train->factors, &train->users,
                                  langevin_precisions(run->langevin), error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0) code = look_at_chain(run, error);
    if (code == 0) code = validate(run, counts, &epoch->valid_rmse, error);
    epoch->seconds = now() - run->started;
    return code;
}

static int run_chains(struct langevin_run *run,
                      int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                      struct dpmf_error *error) {
    struct train_run *train = &run->train;
    struct dpmf_train_report *report = train->report;
    bool wanted = true;
    run->started = now();
    report->train_rmse = report->valid_rmse = NAN;
    for (run->chain = 0; run->chain < run->chains && wanted; run->chain++) {
        run->round = 0;
        int code = langevin_begin_chain(run->langevin, run->chain, error);
        code = cluster_agree(train->cluster, code, error);
        while (code == 0 && wanted && run->round < train->options->epochs) {
            struct dpmf_epoch epoch;
            code = run_round(run, &epoch, error);
            if (code < 0) break;
            train->n_updates += train->state.n_ratings;
            report->train_rmse = epoch.train_rmse;
            report->valid_rmse = epoch.valid_rmse;
            wanted = !on_epoch || cluster_rank(train->cluster) > 0 ||
                     on_epoch(train->run->self, &epoch) == 0;
            if (train->cluster) code = train_ranks_tell(train, &wanted, error);
        }
        if (code < 0) return code;
    }
    report->epochs = run->round;
    report->chains = run->chain;
    report->updates_per_second = (double)train->n_updates / fmax(report->seconds, 1e-9);
    return train->cluster ? train_ranks_report(train, error) : 0;
}

/* ---- the end ---------------------------------------------------------------------------------- */

static int write_sample(struct langevin_run *run, const char *output, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    struct factors *factors = &train->factors;
    const struct factor_matrix *items = &factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    struct checkpoint_draft *draft = NULL;
    int code = posterior_sample_scale(factors, &train->users, langevin_precisions(run->langevin),
                                      &train->state, error);
    if (code == 0)
        code = checkpoint_draft_open(&draft, output, factors, false, train->provenance, error);
    if (code == 0) code = checkpoint_draft_put_ids(draft, error);
    if (code == 0)
        code = rows_file_save(&train->users, factors->users.biases, CHECKPOINT_USERS, draft, error);
    if (code == 0) code = rows_file_save(&item_rows, items->biases, CHECKPOINT_ITEMS, draft, error);
    if (code == 0) return checkpoint_draft_commit(draft, &train->state, error);
    checkpoint_draft_abandon(draft);
    return code;
}

/* The same of all ranks. */
static int write_model_ranks(struct langevin_run *run, const char *output, bool averaged,
                             struct dpmf_error *error) {
    struct train_run *train = &run->train;
    if (averaged)
        return posterior_mean_write_ranks(run->mean, output, &train->share, train->tiling,
                                          &train->state, train->provenance, error);
    int code = posterior_sample_scale(&train->factors, &train->users,
                                      langevin_precisions(run->langevin), &train->state, error);
    code = cluster_agree(train->cluster, code, error);
    return code < 0 ? code
                    : rank_share_write(&train->share, output, &train->factors, &train->users,
                                       train->tiling, train->provenance, &train->state, error);
}

/* Ended before there was anything to average over, there is still the last sample. */
static int write_model(struct langevin_run *run, const char *output, struct dpmf_error *error) {
    struct train_run *train = &run->train;
    train->state.epoch = train->report->epochs;
    bool averaged = run->mean && posterior_mean_samples(run->mean) > 0;
    int code = train->cluster ? write_model_ranks(run, output, averaged, error)
               : averaged ? posterior_mean_write(run->mean, output, &train->factors, &train->state,
                                                 train->provenance, error)
                          : write_sample(run, output, error);
    train->report->samples = train->state.samples;
    return code;
}

int langevin_train(enum solver solver, struct dpmf_store *store, struct dpmf_store *valid,
                   const char *output, const struct dpmf_train_options *options,
                   const struct dpmf_run *run,
                   int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                   struct dpmf_train_report *report, struct dpmf_error *error) {
    struct langevin_run langevin = {
        .solver = solver,
        .train =
            {
                .store = store,
                .valid_store = valid,
                .sampler = &langevin,
                .sampler_bytes = count_bytes,
                .options = options,
                .run = run,
                .report = report,
                .users = {.file = -1},
            },
    };
    if (pthread_mutex_init(&langevin.train.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = prepare(&langevin, error);
    if (code == 0) {
        snprintf(report->kernels, sizeof report->kernels, "%s", langevin.train.kernels->name);
        report->lanes = langevin.train.lanes;
        report->burn_in = langevin.burn_in;
        code = run_chains(&langevin, on_epoch, error);
    }
    if (code == 0) {
        code = chain_watch_end(langevin.watch, langevin.burn_in, options, run, report, error);
        code = cluster_agree(langevin.train.cluster, code, error);
    }
    if (code == 0) code = write_model(&langevin, output, error);
    free_run(&langevin);
    return code;
}
