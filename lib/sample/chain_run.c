/*
 * The loop of chain_run.h: prepares a run, goes through chains and rounds, watches them
 * (divergence, validation, mixing), and writes the model. Fed by solve.c with a sampler; feeds a
 * checkpoint.
 */
#define _GNU_SOURCE
#include "sample/chain_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "dpmf_text.h"
#include "store/store.h"

/* ---- before the rounds ----------------------------------------------------------------------- */

static uint64_t samples_expected(const struct chain_run *run) {
    return (uint64_t)run->chains * (run->train->options->epochs - run->burn_in);
}

int chain_run_plan(struct chain_run *run, uint64_t *left) {
    const struct train_run *train = run->train;
    return posterior_mean_plan(train->options, store_n_users(train->store),
                               store_n_items(train->store), samples_expected(run), left,
                               &run->samples);
}

/* All ranks keep as many samples as the one with the least room. */
static int agree_on_samples(struct chain_run *run, int code, struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = run->train->cluster;
    uint64_t fewest = UINT64_MAX - run->samples;
    code = cluster_agree(cluster, code, error);
    if (code == 0) code = cluster_all_max(cluster, &fewest, 1, error);
    run->samples = (uint32_t)(UINT64_MAX - fewest);
    return code;
}

static int write_provenance(const struct chain_run *run, struct dpmf_error *error) {
    struct train_run *train = run->train;
    const struct dpmf_train_options *options = train->options;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", solver_name(run->solver));
    dpmf_json_uint(json, "factors", options->factors);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_uint(json, "burn_in", run->burn_in);
    dpmf_json_uint(json, "chains", run->chains);
    dpmf_json_bool(json, "average", options->sampler.average);
    if (train->tiling)
        dpmf_json_string(json, "noise", options->sampler.noise ? options->sampler.noise : "exact");
    dpmf_json_double(json, "alpha", PRECISIONS_ALPHA);
    dpmf_json_double(json, "beta", PRECISIONS_BETA);
    dpmf_json_uint(json, "seed", options->seed);
    dpmf_json_string(json, "kernels", train->kernels->name);
    dpmf_json_bool(json, "deterministic", options->deterministic);
    if (train->tiling) {
        dpmf_json_uint(json, "lanes", train->lanes);
        dpmf_json_bool(json, "hogwild", options->hogwild);
    }
    return train_run_take_provenance(train, json, error);
}

static int prepare(struct chain_run *run, struct dpmf_error *error) {
    struct train_run *train = run->train;
    const struct dpmf_train_options *options = train->options;
    run->chains = solver_chains(run->solver, options);
    run->burn_in = solver_burn_in(run->solver, options);
    run->key.seed = options->seed;
    int code = run->sampler->open(run, error);
    if (code == 0) code = agree_on_samples(run, run->sampler->plan(run, error), error);
    if (code == 0) code = run->sampler->make(run, error);
    if (code < 0) return code;
    const struct factors *factors = &train->factors;
    code = write_provenance(run, error);
    if (code == 0)
        code = chain_watch_init(&run->watch, store_n_users(train->whole), factors->items.n,
                                run->chains, options->seed, error);
    if (code == 0 && options->sampler.average)
        code = posterior_mean_init(&run->mean, factors->users.n, factors->items.n, factors->k,
                                   run->samples, samples_expected(run), error);
    return cluster_agree(train->cluster, code, error);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int diverged(const struct chain_run *run, struct dpmf_error *error) {
    int code =
        error_set(error, DPMF_ERR_TRAIN_DIVERGED, "sampling diverged in epoch %u of chain %u",
                  run->key.round, run->key.chain + 1);
    run->sampler->hint(run, error);
    return code;
}

/* Draws everything again: rows, and then the precisions, given the rows and the errors. */
static int draw(struct chain_run *run, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    struct train_run *train = run->train;
    const uint64_t n = store_n_ratings(train->whole);
    const double begun = clock_now();
    int code = run->sampler->draw(run, error);
    if (code < 0) return code == DPMF_ERR_TRAIN_DIVERGED ? diverged(run, error) : code;
    epoch->train_rmse = sqrt(run->squared_error / (double)(n > 0 ? n : 1));
    if (!isfinite(epoch->train_rmse) || epoch->train_rmse > train->worst_rmse)
        return diverged(run, error); /* as on all ranks, which have the same sum */
    precisions_draw(run->precisions, n, run->squared_error, store_n_users(train->whole),
                    run->user_squares, train->factors.items.n, run->item_squares, &run->key);
    const double seconds = clock_now() - begun;
    train->report->seconds += seconds;
    train->n_updates += n;
    epoch->updates_per_second = (double)n / fmax(seconds, 1e-9);
    return 0;
}

/* The error of the mean prediction so far, where there is one; else of this sample. */
static int validate(const struct chain_run *run, bool counts, double *rmse,
                    struct dpmf_error *error) {
    const struct train_run *train = run->train;
    *rmse = NAN;
    if (!train->valid) return 0;
    return counts && run->mean ? valid_set_mean_rmse(train->valid, &train->factors, &train->users,
                                                     train->kernels, train->pool, rmse, error)
                               : valid_set_rmse(train->valid, &train->factors, &train->users,
                                                train->kernels, train->pool, rmse, error);
}

static int look_at_chain(const struct chain_run *run, struct dpmf_error *error) {
    const struct train_run *train = run->train;
    const struct chain_state state = {
        .factors = &train->factors,
        .users = &train->users,
        .precisions = run->precisions,
        .n_ratings = store_n_ratings(train->whole),
        .squared_error = run->squared_error,
        .user_squares = run->user_squares,
        .item_squares = run->item_squares,
        .cluster = train->cluster,
        .first_user = rank_share_first_user(&train->share),
        .n_users = store_n_users(train->whole),
    };
    return chain_watch_add(run->watch, run->key.chain, &state, error);
}

static int run_round(struct chain_run *run, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    struct train_run *train = run->train;
    const bool counts = ++run->key.round > run->burn_in;
    *epoch = (struct dpmf_epoch){
        .epoch = run->key.round, .chain = run->key.chain, .is_burn_in = !counts};
    train->progress.done = (uint64_t)run->key.chain * train->options->epochs + run->key.round - 1;
    int code = run->sampler->begin(run, error);
    if (code == 0) code = draw(run, epoch, error);
    if (code == 0 && counts && run->mean)
        code =
            posterior_mean_add(run->mean, &train->factors, &train->users, run->precisions, error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0) code = look_at_chain(run, error);
    if (code == 0) code = validate(run, counts, &epoch->valid_rmse, error);
    epoch->seconds = clock_now() - train->started;
    return code;
}

static int run_chains(struct chain_run *run, struct dpmf_error *error) {
    struct train_run *train = run->train;
    struct dpmf_train_report *report = train->report;
    const uint32_t epochs = train->options->epochs;
    bool wanted = true;
    report->train_rmse = report->valid_rmse = NAN;
    run->bytes_before = cluster_bytes_sent(train->cluster);
    train->started = clock_now();
    train->progress = (struct dpmf_progress){
        .phase = "sampling", .unit = "epochs", .total = (uint64_t)run->chains * epochs};
    for (run->key.chain = 0; run->key.chain < run->chains && wanted; run->key.chain++) {
        run->key.round = 0;
        while (wanted && run->key.round < epochs) {
            struct dpmf_epoch epoch;
            int code = run_round(run, &epoch, error);
            if (code == 0) code = train_run_end_epoch(train, &epoch, &wanted, error);
            if (code < 0) return code;
        }
    }
    report->epochs = run->key.round;
    report->chains = run->key.chain;
    report->updates_per_second = (double)train->n_updates / fmax(report->seconds, 1e-9);
    return run->sampler->report(run, error);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Ended before there was anything to average over, there is still the last sample. */
static int write_model(struct chain_run *run, const char *output, struct dpmf_error *error) {
    struct train_run *train = run->train;
    int code = 0;
    train->state.epoch = train->report->epochs;
    if (run->mean && posterior_mean_samples(run->mean) > 0) {
        code = posterior_mean_write(run->mean, output, &train->share, &train->factors,
                                    train->tiling, &train->state, train->provenance, error);
    } else {
        code = posterior_sample_scale(&train->factors, &train->users, run->precisions,
                                      &train->state, error);
        code = cluster_agree(train->cluster, code, error);
        if (code == 0)
            code = rank_share_write(&train->share, output, &train->factors, &train->users,
                                    train->tiling, train->provenance, &train->state, error);
    }
    train->report->samples = train->state.samples;
    return code;
}

int chain_run(struct chain_run *run, const char *output, struct dpmf_error *error) {
    const struct train_run *train = run->train;
    struct dpmf_train_report *report = train->report;
    int code = prepare(run, error);
    if (code == 0) {
        snprintf(report->kernels, sizeof report->kernels, "%s", train->kernels->name);
        report->lanes = train->lanes;
        report->burn_in = run->burn_in;
        code = run_chains(run, error);
    }
    if (code == 0) {
        code = chain_watch_end(run->watch, run->burn_in, train->options, train->run, report, error);
        code = cluster_agree(train->cluster, code, error);
    }
    if (code == 0) code = write_model(run, output, error);
    posterior_mean_free(run->mean);
    chain_watch_free(run->watch);
    run->sampler->close(run);
    return code;
}
