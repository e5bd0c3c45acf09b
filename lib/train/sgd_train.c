/*
 * The solver "sgd": from a store to a checkpoint. Runs the epochs that train_prepare.c has set up,
 * with their rates; watches them (divergence, validation, early stopping), has snapshots made on
 * the way, and writes the model.
 */
#define _GNU_SOURCE
#include "train/sgd_train.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "train/rates.h"
#include "train/train_place.h"

/* ---- epochs ---------------------------------------------------------------------------------- */

static int diverged(struct dpmf_error *error, uint32_t epoch, double rate) {
    int code = error_set(error, DPMF_ERR_TRAIN_DIVERGED, "training diverged in epoch %u", epoch);
    if (rate > 0 && isfinite(rate))
        error_hint(error, "use a smaller {learning-rate} than %g, or a larger {reg}", rate);
    else
        error_hint(error, "give ratings on another scale, as with {rescale}");
    return code;
}

static bool is_hopeless(const struct train_run *train) {
    return train->valid && checkpoint_state_is_hopeless(&train->state, train->options->patience);
}

static int validate(struct train_run *train, double *rmse, struct dpmf_error *error) {
    struct checkpoint_state *state = &train->state;
    *rmse = NAN;
    if (!train->valid) return 0;
    int code = train->place->gather(train, TRAIN_GATHER_ALL, error);
    if (code == 0)
        code = valid_set_rmse(train->valid, &train->factors, &train->users, train->kernels,
                              train->pool, rmse, error);
    if (code < 0) return code;
    if (!isnan(state->best_valid) && !(*rmse < state->best_valid)) return 0;
    train->place->await_best(train);
    state->best_valid = *rmse;
    state->best_epoch = state->epoch;
    code = best_epoch_keep(&train->best, &train->factors, &train->users, error);
    return cluster_agree(train->cluster, code, error);
}

/* By epochs, unless it is by anything else. */
static int snapshot_epoch(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    bool other = options->snapshot_blocks > 0 || options->snapshot_seconds > 0;
    uint32_t every = options->snapshot_every ? options->snapshot_every : other ? 0 : 1;
    return train->place->snapshot(train, every, error);
}

/* Runs the superblocks that the epoch has left. */
static int visit_ratings(struct train_run *train, const struct sgd_rates *rates,
                         struct dpmf_epoch *epoch, struct dpmf_error *error) {
    const struct sgd_watch watch = {.self = train, .should_stop = train_run_should_stop};
    const double begun = clock_now();
    uint64_t n = 0;
    int code = train->place->run_epoch(train, rates, &watch, &n, error);
    const double seconds = clock_now() - begun;
    train->report->seconds += seconds;
    train->n_updates += n;
    epoch->updates_per_second = (double)n / fmax(seconds, 1e-9);
    return code;
}

static int find_train_rmse(struct train_run *train, double *rmse, struct dpmf_error *error) {
    double sum;
    uint64_t n;
    int code = train->place->squared_error(train, &sum, &n, error);
    *rmse = sqrt(sum / (double)(n > 0 ? n : 1));
    return code;
}

/* Each rank holds the items' biases in its turn, and together they do it once. */
static struct sgd_rates rates_now(const struct train_run *train) {
    const struct checkpoint_state *state = &train->state;
    const double n_ranks = cluster_size(train->cluster);
    struct sgd_rates rates = rates_of_epoch(train->options, train->unit, state->epoch);
    if (state->user_bias_hold == 0) return rates;
    rates.bias_reg = 0;
    rates.user_hold = (float)expm1(-(double)rates.bias_rate * state->user_bias_hold);
    rates.item_hold = (float)expm1(-(double)rates.bias_rate * state->item_bias_hold / n_ranks);
    return rates;
}

static int run_epoch(struct train_run *train, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    const struct sgd_rates rates = rates_now(train);
    const double rate = (double)rates.rate * train->unit; /* as the options have it */
    *epoch = (struct dpmf_epoch){.epoch = train->state.epoch + 1};
    train->progress.done = train->state.epoch;
    int code = visit_ratings(train, &rates, epoch, error);
    if (code == DPMF_ERR_TRAIN_DIVERGED) return diverged(error, epoch->epoch, rate);
    if (code == 0) code = find_train_rmse(train, &epoch->train_rmse, error);
    if (code < 0) return code;
    if (!isfinite(epoch->train_rmse) || epoch->train_rmse > train->worst_rmse)
        return diverged(error, epoch->epoch, rate);
    train->state.epoch++;
    train->state.superblocks_done = train->state.ratings_done = 0;
    train->state.squared_error = 0;
    code = validate(train, &epoch->valid_rmse, error);
    if (code == 0) code = snapshot_epoch(train, error);
    if (code == DPMF_ERR_TRAIN_DIVERGED) return diverged(error, epoch->epoch, rate);
    epoch->seconds = clock_now() - train->started;
    return code;
}

static int run_epochs(struct train_run *train, struct dpmf_error *error) {
    struct dpmf_train_report *report = train->report;
    bool wanted = true;
    report->train_rmse = report->valid_rmse = NAN;
    train->started = clock_now();
    train->progress = (struct dpmf_progress){
        .phase = "training", .unit = "epochs", .total = train->options->epochs};
    while (wanted && train->state.epoch < train->options->epochs) {
        struct dpmf_epoch epoch;
        /* also for a run that continues from where it had stopped */
        report->stopped_early = train->state.superblocks_done == 0 && is_hopeless(train);
        if (report->stopped_early) break;
        int code = run_epoch(train, &epoch, error);
        if (code == 0) code = train_run_end_epoch(train, &epoch, &wanted, error);
        if (code < 0) return code;
    }
    report->epochs = train->state.epoch;
    report->updates_per_second = (double)train->n_updates / fmax(report->seconds, 1e-9);
    return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int write_model(struct train_run *train, const char *output, struct dpmf_error *error) {
    int code = 0;
    if (train->best.kept) {
        code = best_epoch_restore(&train->best, &train->factors, &train->users, error);
        train->report->valid_rmse = train->state.best_valid;
    }
    code = cluster_agree(train->cluster, code, error);
    if (code == 0 && !train->best.kept)
        code = train->place->gather(train, TRAIN_GATHER_FIRST, error);
    if (code == 0) code = train->place->report(train, error);
    if (code == 0 && train->finish)
        code = train->finish->run(train->finish->self, &train->factors, &train->state, error);
    return code < 0 ? code
                    : rank_share_write(&train->share, output, &train->factors, &train->users,
                                       train->tiling, train->provenance, &train->state, error);
}

/* Before hours are spent. */
static int check_finish(const struct train_run *train, struct dpmf_error *error) {
    if (!train->finish || !train->finish->needs_users || train->factors.users.rows) return 0;
    int code = error_set(error, DPMF_ERR_BASE_NO_MEMORY,
                         "features of users need the users' vectors in memory, and this run has "
                         "them in a file");
    error_hint(error, "give more {memory}, or leave out {user-features}");
    return code;
}

int sgd_train(struct train_run *train, const char *output, struct dpmf_error *error) {
    struct dpmf_train_report *report = train->report;
    int code = train_run_prepare(train, error);
    if (code == 0) code = check_finish(train, error);
    if (code < 0) return code;
    snprintf(report->kernels, sizeof report->kernels, "%s", train->kernels->name);
    report->lanes = train->lanes;
    code = run_epochs(train, error);
    if (code == 0) code = train->place->end_snapshots(train, error);
    return code < 0 ? code : write_model(train, output, error);
}
