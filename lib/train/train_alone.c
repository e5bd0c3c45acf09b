/*
 * A run on this machine alone: the place of train_place.h where all ratings, users and items are
 * here. Snapshots collect themselves while the updates continue, at any superblock, and a run may
 * continue in the middle of an epoch. Fed by train_prepare.c and sgd_train.c; works through
 * sgd_epoch.c, snapshot.c and resume.c.
 */
#include <string.h>

#include "base/error.h"
#include "train/first_rows.h"
#include "train/resume.h"
#include "train/snapshot.h"
#include "train/train_place.h"

/* All that the place keeps; NULL: no snapshots are wanted. */
static struct snapshot *snapshot_of(const struct train_run *train) { return train->here; }

/* The superblock at which the epoch was begun: 0, but after a resume. */
static size_t first_of(const struct train_run *train) {
    return (size_t)train->state.superblocks_done;
}

static int do_nothing(struct train_run *train, struct dpmf_error *error) {
    (void)train;
    (void)error;
    return 0;
}

/* ---- before the epochs ----------------------------------------------------------------------- */

static int check(struct train_run *train, int code, struct dpmf_error *error) {
    (void)train;
    (void)error;
    return code;
}

static int open_resumed(struct train_run *train, struct dpmf_error *error) {
    int code = resume_open(&train->resumed, train->options->resume, train->options->factors,
                           &train->state, error);
    if (code == 0)
        code = resume_compare(&train->resumed, train->options, train->kernels->name,
                              train->state.valid_digest, train->run, error);
    return code < 0 ? code : resume_compare_features(&train->resumed, train_features(train), error);
}

static int begin_tiling(struct train_run *train, struct tiling_options *options,
                        struct tiling_whole *whole, struct dpmf_error *error) {
    (void)whole;
    (void)error;
    if (train->options->resume) options->superblock_users = train->resumed.state.superblock_users;
    return 0;
}

/* The state continues where the snapshot's was; how the ratings are cut is up to this run. */
static int end_tiling(struct train_run *train, int code, struct dpmf_error *error) {
    const struct checkpoint_state began = train->state;
    if (code < 0 || !train->options->resume) return code;
    size_t first;
    code = resume_find_place(&train->resumed, train->tiling, train->order == SGD_DETERMINISTIC,
                             began.order, &first, error);
    if (code < 0) return code;
    train->state = train->resumed.state;
    train->state.superblock_users = began.superblock_users;
    train->state.tiles = began.tiles;
    memcpy(train->state.order, began.order, sizeof began.order);
    train->state.superblocks_done = first;
    return 0;
}

static int fill(struct train_run *train, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    const uint64_t seed = train->options->seed;
    if (train->options->resume)
        return resume_read(&train->resumed, factors, &train->users,
                           train->valid ? &train->best : NULL, error);
    if (train->options->averages_alone) return 0; /* rows are 0, and no step moves them */
    first_rows_fill(&factors->items, factors->k, train->unit, seed, FIRST_ROWS_ITEMS);
    return first_rows_fill_store(&train->users, 0, factors->k, train->unit, seed, FIRST_ROWS_USERS,
                                 error);
}

static int begin(struct train_run *train, const struct ring_array *more, size_t n_more,
                 struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    struct snapshot *snapshot = NULL;
    (void)more;
    (void)n_more;
    if (!options->snapshot) return 0;
    const struct snapshot_source source = {
        .path = options->snapshot,
        .provenance = train->provenance,
        .factors = &train->factors,
        .users = &train->users,
        .tiling = train->tiling,
        .stream = train->stream,
        .epoch = train->epoch,
        .best = train->valid ? &train->best : NULL,
        .worst_rmse = train->worst_rmse,
        .every_superblocks = options->snapshot_blocks,
        .every_seconds = options->snapshot_seconds,
        .first_epoch = train->state.epoch,
        .first_superblock = first_of(train),
    };
    int code = snapshot_init(&snapshot, &source, error);
    train->here = snapshot;
    return code;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* The state of a cut; its error is the one at the beginning of the epoch, and the snapshot adds the
 * rest. */
static int begin_snapshot(struct train_run *train, size_t superblock, struct dpmf_error *error) {
    struct checkpoint_state state = train->state;
    state.superblocks_done = superblock;
    return snapshot_begin(snapshot_of(train), &state, first_of(train), error);
}

static int before_superblock(void *self, uint32_t epoch, size_t superblock,
                             struct dpmf_error *error) {
    struct train_run *train = self;
    return snapshot_is_due(snapshot_of(train), epoch, superblock)
               ? begin_snapshot(train, superblock, error)
               : 0;
}

static int before_users(void *self, uint32_t epoch, const struct superblock_view *view,
                        struct dpmf_error *error) {
    return snapshot_before_users(snapshot_of(self), epoch, view, error);
}

static int before_group(void *self, uint32_t epoch, size_t superblock, size_t group,
                        struct dpmf_error *error) {
    return snapshot_before_group(snapshot_of(self), epoch, superblock, group, error);
}

static struct sgd_watch with_snapshots(const struct train_run *train,
                                       const struct sgd_watch *watch) {
    struct sgd_watch both = *watch;
    if (!snapshot_of(train)) return both;
    both.whole = true;
    both.before_superblock = before_superblock;
    both.before_users = before_users;
    both.before_group = before_group;
    return both;
}

/* Interrupted, with the superblocks that were begun done: what there is, is kept. An older snapshot
 * that is not whole yet is not worth waiting for. */
static int write_cut(struct train_run *train, size_t done, struct dpmf_error *error) {
    snapshot_drop(snapshot_of(train));
    int code = begin_snapshot(train, done, error);
    return code < 0 ? code : snapshot_finish(snapshot_of(train), error);
}

static int snapshot_after_epoch(struct train_run *train, uint32_t every, struct dpmf_error *error) {
    struct snapshot *snapshot = snapshot_of(train);
    if (!snapshot) return 0;
    int code = snapshot_check(snapshot, error);
    if (code < 0) return code;
    bool due = (every > 0 && train->state.epoch % every == 0) ||
               snapshot_is_due(snapshot, train->state.epoch, 0);
    return due ? begin_snapshot(train, 0, error) : 0;
}

static int end_snapshots(struct train_run *train, struct dpmf_error *error) {
    struct snapshot *snapshot = snapshot_of(train);
    if (!snapshot) return 0;
    int code = snapshot_finish(snapshot, error);
    if (code < 0 || snapshot_is_at(snapshot, train->state.epoch, 0)) return code;
    code = begin_snapshot(train, 0, error);
    return code < 0 ? code : snapshot_finish(snapshot, error);
}

static void await_best(struct train_run *train) { snapshot_await_best(snapshot_of(train)); }

/* ---- epochs ---------------------------------------------------------------------------------- */

static int run_epoch(struct train_run *train, const struct sgd_rates *rates,
                     const struct sgd_watch *watch, uint64_t *n_updates, struct dpmf_error *error) {
    const struct sgd_watch both = with_snapshots(train, watch);
    size_t done = 0;
    int code = sgd_epoch_run(train->epoch, train->state.epoch, first_of(train), rates, &both, &done,
                             error);
    *n_updates = 0;
    for (size_t s = first_of(train); s < done; s++)
        *n_updates += tiling_superblock_ratings(train->tiling, s);
    if (code == DPMF_ERR_BASE_CANCELLED && snapshot_of(train)) {
        int written = write_cut(train, done, error);
        code = written < 0 ? written : error_set(error, code, "interrupted");
    }
    return code;
}

static int gather(struct train_run *train, enum train_gather where, struct dpmf_error *error) {
    (void)train;
    (void)where;
    (void)error;
    return 0;
}

/* What was there when the epoch was begun, and its superblocks in order. */
static int squared_error(struct train_run *train, double *sum, uint64_t *n,
                         struct dpmf_error *error) {
    (void)error;
    *sum = train->state.squared_error;
    *n = train->state.ratings_done;
    for (size_t s = first_of(train); s < tiling_n_superblocks(train->tiling); s++) {
        *sum += sgd_epoch_squared_error(train->epoch, s);
        *n += tiling_superblock_ratings(train->tiling, s);
    }
    return 0;
}

static void close_place(struct train_run *train) { snapshot_free(snapshot_of(train)); }

const struct train_place train_place_alone = {
    .may_skip_averages = true,
    .check = check,
    .open_resumed = open_resumed,
    .begin_tiling = begin_tiling,
    .end_tiling = end_tiling,
    .describe = do_nothing,
    .fill = fill,
    .begin = begin,
    .run_epoch = run_epoch,
    .gather = gather,
    .squared_error = squared_error,
    .snapshot = snapshot_after_epoch,
    .end_snapshots = end_snapshots,
    .await_best = await_best,
    .report = do_nothing,
    .close = close_place,
};
