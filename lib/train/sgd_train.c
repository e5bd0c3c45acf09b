/*
 * The solver "sgd": from a store to a checkpoint. Runs the epochs that train_prepare.c has set up, with their rates;
 * watches them (divergence, validation, early stopping), has snapshots made on the way, and writes the model.
 */
#define _GNU_SOURCE
#include "train/sgd_train.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "train/rates.h"
#include "train/rows_file.h"
#include "train/train_ranks.h"
#include "train/train_run.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- what watches an epoch -------------------------------------------------------------------- */

static bool should_stop(void *self) {
    struct train_run *train = self;
    if (!train->run->progress) return false;
    if (atomic_load_explicit(&train->stopped, memory_order_relaxed)) return true;
    if (pthread_mutex_trylock(&train->progress_lock) != 0) return false;
    const struct dpmf_progress progress = {
        .phase = "training",
        .unit = "epochs",
        .done = train->state.epoch,
        .total = train->options->epochs,
    };
    if (train->run->progress(train->run->self, &progress)) atomic_store(&train->stopped, true);
    pthread_mutex_unlock(&train->progress_lock);
    return atomic_load(&train->stopped);
}

/* The state of a cut; its error is the one at the beginning of the epoch, and the snapshot adds the rest. */
static int begin_snapshot(struct train_run *train, size_t superblock, struct dpmf_error *error) {
    struct checkpoint_state state = train->state;
    state.superblocks_done = superblock;
    return snapshot_begin(train->snapshot, &state, train->first, error);
}

static int before_superblock(void *self, uint32_t epoch, size_t superblock,
                             struct dpmf_error *error) {
    struct train_run *train = self;
    return snapshot_is_due(train->snapshot, epoch, superblock)
               ? begin_snapshot(train, superblock, error)
               : 0;
}

static int before_users(void *self, uint32_t epoch, const struct superblock_view *view,
                        struct dpmf_error *error) {
    struct train_run *train = self;
    return snapshot_before_users(train->snapshot, epoch, view, error);
}

static int before_group(void *self, uint32_t epoch, size_t superblock, size_t group,
                        struct dpmf_error *error) {
    struct train_run *train = self;
    return snapshot_before_group(train->snapshot, epoch, superblock, group, error);
}

static struct sgd_watch watch_of(struct train_run *train) {
    struct sgd_watch watch = {.self = train, .should_stop = should_stop};
    if (!train->snapshot) return watch;
    watch.whole = true;
    watch.before_superblock = before_superblock;
    watch.before_users = before_users;
    watch.before_group = before_group;
    return watch;
}

/* Interrupted, with the superblocks that were begun done: what there is, is kept. An older snapshot that is not
 * whole yet is not worth waiting for. */
static int write_cut(struct train_run *train, size_t done, struct dpmf_error *error) {
    snapshot_drop(train->snapshot);
    int code = begin_snapshot(train, done, error);
    return code < 0 ? code : snapshot_finish(train->snapshot, error);
}

/* ---- epochs ----------------------------------------------------------------------------------- */

static int diverged(struct dpmf_error *error, uint32_t epoch, double rate) {
    int code = error_set(error, DPMF_ERR_TRAIN_DIVERGED, "training diverged in epoch %u", epoch);
    error_hint(error, "use a smaller --learning-rate than %g, or a larger --reg", rate);
    return code;
}

/* The epoch's error: what was there when it was begun, and its superblocks in order. */
static int find_train_rmse(struct train_run *train, double *rmse, struct dpmf_error *error) {
    double squared_error = train->state.squared_error;
    uint64_t n = train->state.ratings_done;
    if (train->cluster) {
        int code = train_ranks_squared_error(train, &squared_error, error);
        *rmse = sqrt(squared_error / (double)train->state.n_ratings);
        return code;
    }
    for (size_t s = train->first; s < tiling_n_superblocks(train->tiling); s++) {
        squared_error += sgd_epoch_squared_error(train->epoch, s);
        n += tiling_superblock_ratings(train->tiling, s);
    }
    *rmse = sqrt(squared_error / (double)(n > 0 ? n : 1));
    return 0;
}

static uint64_t count_updates(const struct train_run *train, size_t done) {
    uint64_t n = 0;
    for (size_t s = train->first; s < done; s++) n += tiling_superblock_ratings(train->tiling, s);
    return n;
}

static bool is_hopeless(const struct train_run *train) {
    const struct checkpoint_state *state = &train->state;
    uint32_t patience = train->options->patience;
    return train->valid && patience > 0 && !isnan(state->best_valid) &&
           state->epoch - state->best_epoch >= patience;
}

static int validate(struct train_run *train, double *rmse, struct dpmf_error *error) {
    struct checkpoint_state *state = &train->state;
    *rmse = NAN;
    if (!train->valid) return 0;
    int code = train->cluster ? ring_gather_all(train->ring, error) : 0;
    if (code == 0)
        code = valid_set_rmse(train->valid, &train->factors, &train->users, train->kernels,
                              train->pool, rmse, error);
    if (code < 0) return code;
    if (!isnan(state->best_valid) && !(*rmse < state->best_valid)) return 0;
    snapshot_await_best(train->snapshot);
    state->best_valid = *rmse;
    state->best_epoch = state->epoch;
    code = best_epoch_keep(&train->best, &train->factors, &train->users, error);
    return cluster_agree(train->cluster, code, error);
}

/* In a cluster a snapshot is written while nobody works: at the end of an epoch, when rank 0 says so. */
static int write_ranks_snapshot(struct train_run *train, struct dpmf_error *error) {
    const struct checkpoint_state *state = &train->state;
    const bool with_best = train->best.kept && state->best_epoch != state->epoch;
    int code = train->valid ? 0 : ring_gather_first(train->ring, error); /* else all is there */
    if (code == 0) code = train_ranks_write(train, train->options->snapshot, with_best, error);
    train->snapshot_epoch = state->epoch;
    train->snapshot_time = now();
    return code;
}

static int snapshot_ranks(struct train_run *train, uint32_t every, struct dpmf_error *error) {
    const double seconds = train->options->snapshot_seconds;
    bool due = (every > 0 && train->state.epoch % every == 0) ||
               (seconds > 0 && now() - train->snapshot_time >= seconds);
    if (!train->options->snapshot) return 0;
    int code = train_ranks_tell(train, &due, error);
    return code < 0 || !due ? code : write_ranks_snapshot(train, error);
}

/* By epochs, unless it is by anything else. */
static int snapshot_epoch(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    bool other = options->snapshot_blocks > 0 || options->snapshot_seconds > 0;
    uint32_t every = options->snapshot_every ? options->snapshot_every : other ? 0 : 1;
    if (train->cluster) return snapshot_ranks(train, every, error);
    if (!train->snapshot) return 0;
    int code = snapshot_check(train->snapshot, error);
    if (code < 0) return code;
    bool due = (every > 0 && train->state.epoch % every == 0) ||
               snapshot_is_due(train->snapshot, train->state.epoch, 0);
    return due ? begin_snapshot(train, 0, error) : 0;
}

/* Runs the superblocks that the epoch has left. */
static int visit_ratings(struct train_run *train, const struct sgd_rates *rates,
                         struct dpmf_epoch *epoch, struct dpmf_error *error) {
    const struct sgd_watch watch = watch_of(train);
    double begun = now();
    size_t done = 0;
    int code = train->cluster ? train_ranks_epoch(train, rates, &watch, error)
                              : sgd_epoch_run(train->epoch, train->state.epoch, train->first, rates,
                                              &watch, &done, error);
    double seconds = now() - begun;
    uint64_t n = train->cluster ? train->state.n_ratings : count_updates(train, done);
    train->report->seconds += seconds;
    train->n_updates += n;
    epoch->updates_per_second = (double)n / fmax(seconds, 1e-9);
    if (code == DPMF_ERR_BASE_CANCELLED && train->snapshot) {
        int written = write_cut(train, done, error);
        code = written < 0 ? written : error_set(error, code, "interrupted");
    }
    return code;
}

static int run_epoch(struct train_run *train, double started, struct dpmf_epoch *epoch,
                     struct dpmf_error *error) {
    const struct sgd_rates rates = rates_of_epoch(train->options, train->unit, train->state.epoch);
    const double rate = (double)rates.rate * train->unit; /* as the options have it */
    *epoch = (struct dpmf_epoch){.epoch = train->state.epoch + 1};
    int code = visit_ratings(train, &rates, epoch, error);
    if (code == DPMF_ERR_TRAIN_DIVERGED) return diverged(error, epoch->epoch, rate);
    if (code == 0) code = find_train_rmse(train, &epoch->train_rmse, error);
    if (code < 0) return code;
    if (!isfinite(epoch->train_rmse) || epoch->train_rmse > train->worst_rmse)
        return diverged(error, epoch->epoch, rate);
    train->state.epoch++;
    train->state.superblocks_done = train->state.ratings_done = train->first = 0;
    train->state.squared_error = 0;
    code = validate(train, &epoch->valid_rmse, error);
    if (code == 0) code = snapshot_epoch(train, error);
    if (code == DPMF_ERR_TRAIN_DIVERGED) return diverged(error, epoch->epoch, rate);
    epoch->seconds = now() - started;
    return code;
}

static int run_epochs(struct train_run *train,
                      int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                      struct dpmf_error *error) {
    double started = now();
    struct dpmf_train_report *report = train->report;
    report->train_rmse = report->valid_rmse = NAN;
    bool wanted = true;
    while (wanted && train->state.epoch < train->options->epochs) {
        struct dpmf_epoch epoch;
        /* also of a run that goes on from where it had stopped */
        report->stopped_early = train->first == 0 && is_hopeless(train);
        if (report->stopped_early) break;
        int code = run_epoch(train, started, &epoch, error);
        if (code < 0) return code;
        report->train_rmse = epoch.train_rmse;
        report->valid_rmse = epoch.valid_rmse;
        wanted = !on_epoch || cluster_rank(train->cluster) > 0 ||
                 on_epoch(train->run->self, &epoch) == 0;
        if (train->cluster && (code = train_ranks_tell(train, &wanted, error)) < 0) return code;
    }
    report->epochs = train->state.epoch;
    report->updates_per_second = (double)train->n_updates / fmax(report->seconds, 1e-9);
    return 0;
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* The last snapshot is of the run's end, whatever there was before. */
static int end_snapshots(struct train_run *train, struct dpmf_error *error) {
    if (train->cluster)
        return train->options->snapshot && train->snapshot_epoch != train->state.epoch
                   ? write_ranks_snapshot(train, error)
                   : 0;
    if (!train->snapshot) return 0;
    int code = snapshot_finish(train->snapshot, error);
    if (code < 0 || snapshot_is_at(train->snapshot, train->state.epoch, 0)) return code;
    code = begin_snapshot(train, 0, error);
    return code < 0 ? code : snapshot_finish(train->snapshot, error);
}

static int write_model(struct train_run *train, const char *output, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    const struct factor_matrix *items = &factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    int code = 0;
    if (train->best.kept) {
        code = best_epoch_restore(&train->best, factors, &train->users, error);
        train->report->valid_rmse = train->state.best_valid;
    }
    if (train->cluster) {
        code = cluster_agree(train->cluster, code, error);
        if (code == 0 && !train->best.kept) code = ring_gather_first(train->ring, error);
        if (code == 0) code = train_ranks_report(train, error);
        return code < 0 ? code : train_ranks_write(train, output, false, error);
    }
    struct checkpoint_draft *draft = NULL;
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

int sgd_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
              const struct dpmf_train_options *options, const struct dpmf_run *run,
              int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
              struct dpmf_train_report *report, struct dpmf_error *error) {
    struct train_run train = {
        .store = store,
        .valid_store = valid,
        .options = options,
        .run = run,
        .report = report,
        .users = {.file = -1},
    };
    if (pthread_mutex_init(&train.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = train_run_prepare(&train, error);
    if (code == 0) {
        snprintf(train.report->kernels, sizeof train.report->kernels, "%s", train.kernels->name);
        train.report->lanes = train.lanes;
        code = run_epochs(&train, on_epoch, error);
    }
    if (code == 0) code = end_snapshots(&train, error);
    if (code == 0) code = write_model(&train, output, error);
    train_run_free(&train);
    return code;
}
