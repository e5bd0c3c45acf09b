/*
 * A run as one of several processes: the place of train_place.h that is a rank of a cluster.
 * Everything that must be the same on all ranks comes from all ratings, which every rank has at
 * hand (numbers of ratings, the scale), from sums over ranks (the mean, errors), or from rank 0
 * (kernels, bounds that follow from caches, what a file says). Fed by train_prepare.c and
 * sgd_train.c; works through ring.c and rank_share.c.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "cluster/user_shares.h"
#include "store/store.h"
#include "train/first_rows.h"
#include "train/resume.h"
#include "train/train_place.h"

/* What the place keeps of a run. */
struct ranks {
    struct ring *ring;       /* how items come by */
    uint64_t bytes_sent;     /* by this rank, in epochs */
    uint32_t snapshot_epoch; /* epoch of the last snapshot, or of the beginning of the run */
    double snapshot_time;    /* when that was */
};

static struct ranks *ranks_of(const struct train_run *train) { return train->here; }

static bool is_first(const struct train_run *train) { return cluster_rank(train->cluster) == 0; }

/* ---- before the ratings -----------------------------------------------------------------------
 */

static int refuse(const char *what, const char *hint, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT, "%s", what);
    error_hint_text(error, hint);
    return code;
}

static int check_options(const struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    int code = user_shares_check_store(train->whole, train->cluster, error);
    if (code < 0) return code;
    if (options->hogwild)
        return refuse("Hogwild needs a single process: several never write the same items",
                      "leave {hogwild} out", error);
    if (options->tiers)
        return refuse("tiers need a single process: several processes divide the items among them",
                      "leave {tiers} out", error);
    if (options->snapshot && options->snapshot_blocks > 0)
        return refuse("several processes make snapshots at the end of an epoch",
                      "give {snapshot-every} in epochs or seconds", error);
    return 0;
}

static int check(struct train_run *train, int code, struct dpmf_error *error) {
    if (code == 0) code = check_options(train, error);
    if (code == 0 && !(train->here = memory_alloc_zero(1, sizeof(struct ranks))))
        code = error_no_memory(error);
    code = cluster_agree(train->cluster, code, error);
    return code < 0 ? code : rank_share_kernels(train->cluster, &train->kernels, error);
}

static int open_resumed(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    struct checkpoint_file *file = &train->resumed;
    int code = 0;
    if (is_first(train))
        code = resume_open(file, options->resume, options->factors, &train->state, error);
    if (code == 0 && is_first(train))
        code = resume_compare(file, options, train->kernels->name, train->state.valid_digest,
                              train->run, error);
    if (code == 0 && is_first(train))
        code = resume_compare_features(file, train_features(train), error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0)
        code = cluster_broadcast(train->cluster, &file->state, sizeof file->state, 0, error);
    return code < 0 ? code
                    : cluster_broadcast(train->cluster, &file->has_best, sizeof file->has_best, 0,
                                        error);
}

/* ---- ratings ----------------------------------------------------------------------------------
 */

static int begin_tiling(struct train_run *train, struct tiling_options *options,
                        struct tiling_whole *whole, struct dpmf_error *error) {
    const size_t n = (size_t)store_n_items(train->whole);
    uint64_t *ratings = memory_alloc(n, sizeof ratings[0]);
    *whole = (struct tiling_whole){
        .n_ratings = store_n_ratings(train->whole),
        .item_ratings = ratings,
        .n_parts = 2 * (size_t)cluster_size(train->cluster),
    };
    int code = cluster_agree(train->cluster, ratings ? 0 : error_no_memory(error), error);
    if (code < 0) return code;
    for (size_t i = 0; i < n; i++) ratings[i] = store_item_at(train->whole, i).n_ratings;
    if (is_first(train)) tiling_group_bounds(options, whole);
    uint64_t bounds[2] = {whole->group_rows, whole->group_ratings};
    code = cluster_broadcast(train->cluster, bounds, sizeof bounds, 0, error);
    whole->group_rows = bounds[0];
    whole->group_ratings = bounds[1];
    options->whole = whole;
    return code;
}

/* The order in which ratings are visited follows from all tilings, and from how many there are. */
static int sum_checksums(struct train_run *train, struct dpmf_error *error) {
    const uint64_t own[2] = {tiling_checksum(train->tiling), train->share.first_user[1]};
    uint64_t sum = checksum64_seeded(own, sizeof own, (uint64_t)cluster_rank(train->cluster) + 1);
    int code = cluster_all_sum(train->cluster, &sum, 1, error);
    train->state.tiles = sum > 0 ? sum : 1;
    train->state.superblock_users = 0;
    return code;
}

static int end_tiling(struct train_run *train, int code, struct dpmf_error *error) {
    if (code == 0 && tiling_is_streamed(train->tiling)) {
        code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "a process's share of the ratings and of the users is larger than its "
                         "memory, and several processes do not stream theirs from disk");
        error_hint(error, "give it more {memory}, or start more processes");
    }
    code = cluster_agree(train->cluster, code, error);
    return code < 0 ? code : sum_checksums(train, error);
}

/* What is known of all users and items must be complete before rows are. */
static int describe(struct train_run *train, struct dpmf_error *error) {
    double sum = tiling_mean_rating(train->tiling) * (double)store_n_ratings(train->store);
    int code = cluster_sum_doubles(train->cluster, &sum, 1, error);
    if (code < 0) return code;
    train->factors.offset =
        tiling_base(train->tiling) + sum / (double)store_n_ratings(train->whole);
    return rank_share_describe(&train->share, &train->factors, train->tiling, error);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* As on one machine: users go by their number in the store, items by their place among all. */
static int draw_rows(struct train_run *train, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    const uint64_t seed = train->options->seed;
    if (train->options->averages_alone) return 0;
    for (uint64_t row = 0; row < factors->items.n; row++)
        first_rows_fill_one(factors->items.rows + row * factors->items.stride,
                            tiling_place_of_row(train->tiling, row), factors->k, train->unit, seed,
                            FIRST_ROWS_ITEMS);
    return first_rows_fill_store(&train->users, rank_share_first_user(&train->share), factors->k,
                                 train->unit, seed, FIRST_ROWS_USERS, error);
}

/* The state continues where the snapshot's was, from the beginning of an epoch. */
static int take_state(struct train_run *train, struct dpmf_error *error) {
    const struct checkpoint_state began = train->state;
    int code = 0;
    if (is_first(train))
        code = resume_find_epoch(&train->resumed, began.tiles, train->order == SGD_DETERMINISTIC,
                                 began.order, train->run, error);
    code = cluster_agree(train->cluster, code, error);
    if (code < 0) return code;
    train->state = train->resumed.state;
    train->state.superblock_users = began.superblock_users;
    train->state.tiles = began.tiles;
    memcpy(train->state.order, began.order, sizeof began.order);
    train->state.superblocks_done = train->state.ratings_done = 0;
    train->state.squared_error = 0;
    return 0;
}

static int read_best(struct train_run *train, const struct checkpoint_file *file,
                     struct dpmf_error *error) {
    const struct checkpoint_state *state = &train->resumed.state;
    struct best_epoch *best = &train->best;
    if (!train->valid) return 0;
    if (!train->resumed.has_best) {
        bool is_best =
            state->best_epoch == state->epoch && state->epoch > 0 && state->superblocks_done == 0;
        return is_best ? best_epoch_keep(best, &train->factors, &train->users, error) : 0;
    }
    int code = rank_share_load_users(&train->share, &best->rows[0], best->matrix[0].biases,
                                     CHECKPOINT_BEST_USERS, file, error);
    if (code == 0)
        code = rank_share_load_items(&train->share, train->tiling, &best->matrix[1],
                                     CHECKPOINT_BEST_ITEMS, file, error);
    best->kept = code == 0;
    return code;
}

static int read_rows(struct train_run *train, struct dpmf_error *error) {
    const struct checkpoint_file *file = is_first(train) ? &train->resumed : NULL;
    struct factors *factors = &train->factors;
    int code = take_state(train, error);
    if (code == 0 && file) code = resume_compare_ids(file, &train->share.file, error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0)
        code = rank_share_load_users(&train->share, &train->users, factors->users.biases,
                                     CHECKPOINT_USERS, file, error);
    if (code == 0)
        code = rank_share_load_items(&train->share, train->tiling, &factors->items,
                                     CHECKPOINT_ITEMS, file, error);
    if (code == 0 && file) factors->offset = file->offset;
    if (code == 0)
        code =
            cluster_broadcast(train->cluster, &factors->offset, sizeof factors->offset, 0, error);
    train->share.file.offset = factors->offset;
    return code < 0 ? code : read_best(train, file, error);
}

static int fill(struct train_run *train, struct dpmf_error *error) {
    return train->options->resume ? read_rows(train, error) : draw_rows(train, error);
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

static int begin(struct train_run *train, const struct ring_array *more, size_t n_more,
                 struct dpmf_error *error) {
    struct ranks *ranks = ranks_of(train);
    const struct factor_matrix *items = &train->factors.items;
    struct ring_array arrays[RING_ARRAYS_MAX] = {
        {items->rows, items->stride * sizeof(float), false},
        {items->biases, sizeof(float), false},
    };
    for (size_t i = 0; i < n_more; i++) arrays[2 + i] = more[i];
    ranks->snapshot_epoch = train->state.epoch;
    ranks->snapshot_time = clock_now();
    return ring_init(&ranks->ring, train->cluster, train->tiling, train->state.epoch, arrays,
                     2 + n_more, error);
}

struct epoch_work {
    struct train_run *train;
    const struct sgd_rates *rates;
    const struct sgd_watch *watch;
};

static int work_on_part(void *self, const struct tiling_part *part, bool last,
                        struct dpmf_error *error) {
    const struct epoch_work *work = self;
    const struct sgd_groups groups = {part->first_group, part->n_groups, last};
    return sgd_epoch_run_groups(work->train->epoch, work->train->state.epoch, &groups, work->rates,
                                work->watch, error);
}

static int run_epoch(struct train_run *train, const struct sgd_rates *rates,
                     const struct sgd_watch *watch, uint64_t *n_updates, struct dpmf_error *error) {
    struct epoch_work work = {train, rates, watch};
    struct ranks *ranks = ranks_of(train);
    const uint64_t before = cluster_bytes_sent(train->cluster);
    int code = ring_round(ranks->ring, work_on_part, &work, error);
    ranks->bytes_sent += cluster_bytes_sent(train->cluster) - before;
    *n_updates = train->state.n_ratings;
    return code;
}

static int gather(struct train_run *train, enum train_gather where, struct dpmf_error *error) {
    struct ranks *ranks = ranks_of(train);
    const uint64_t before = cluster_bytes_sent(train->cluster);
    if (where == TRAIN_GATHER_FIRST) return ring_gather_first(ranks->ring, error);
    int code = ring_gather_all(ranks->ring, error);
    if (where == TRAIN_GATHER_IN_EPOCH)
        ranks->bytes_sent += cluster_bytes_sent(train->cluster) - before;
    return code;
}

static int squared_error(struct train_run *train, double *sum, uint64_t *n,
                         struct dpmf_error *error) {
    *sum = 0;
    *n = train->state.n_ratings;
    for (size_t s = 0; s < tiling_n_superblocks(train->tiling); s++)
        *sum += sgd_epoch_squared_error(train->epoch, s);
    return cluster_sum_doubles(train->cluster, sum, 1, error);
}

/* ---- snapshots --------------------------------------------------------------------------------
 */

static int put_rows(struct train_run *train, struct checkpoint_draft *draft, bool with_best,
                    struct dpmf_error *error) {
    const struct rank_share *share = &train->share;
    const struct factors *factors = &train->factors;
    const struct best_epoch *best = &train->best;
    int code = rank_share_save_users(share, &train->users, factors->users.biases, CHECKPOINT_USERS,
                                     draft, error);
    if (code == 0)
        code = rank_share_save_items(share, train->tiling, &factors->items, CHECKPOINT_ITEMS, draft,
                                     error);
    if (code == 0 && with_best)
        code = rank_share_save_users(share, &best->rows[0], best->matrix[0].biases,
                                     CHECKPOINT_BEST_USERS, draft, error);
    if (code == 0 && with_best)
        code = rank_share_save_items(share, train->tiling, &best->matrix[1], CHECKPOINT_BEST_ITEMS,
                                     draft, error);
    return code;
}

/* While nobody works: at the end of an epoch, when rank 0 says so. */
static int write_snapshot(struct train_run *train, struct dpmf_error *error) {
    const struct checkpoint_state *state = &train->state;
    const bool with_best = train->best.kept && state->best_epoch != state->epoch;
    struct ranks *ranks = ranks_of(train);
    const struct factors shape = rank_share_shape(&train->share, &train->factors);
    struct checkpoint_draft *draft = NULL;
    int code = train->valid ? 0 : ring_gather_first(ranks->ring, error); /* else all is there */
    if (code == 0)
        code = rank_share_open_draft(&train->share, train->options->snapshot, &shape, with_best,
                                     train->provenance, &draft, error);
    if (code == 0) code = put_rows(train, draft, with_best, error);
    ranks->snapshot_epoch = state->epoch;
    ranks->snapshot_time = clock_now();
    return rank_share_end_draft(&train->share, code, draft, state, error);
}

static int snapshot_after_epoch(struct train_run *train, uint32_t every, struct dpmf_error *error) {
    const double seconds = train->options->snapshot_seconds;
    bool due = (every > 0 && train->state.epoch % every == 0) ||
               (seconds > 0 && clock_now() - ranks_of(train)->snapshot_time >= seconds);
    if (!train->options->snapshot) return 0;
    int code = cluster_broadcast(train->cluster, &due, sizeof due, 0, error);
    return code < 0 || !due ? code : write_snapshot(train, error);
}

static int end_snapshots(struct train_run *train, struct dpmf_error *error) {
    return train->options->snapshot && ranks_of(train)->snapshot_epoch != train->state.epoch
               ? write_snapshot(train, error)
               : 0;
}

static void await_best(struct train_run *train) { (void)train; }

/* ---- the end ----------------------------------------------------------------------------------
 */

static int report(struct train_run *train, struct dpmf_error *error) {
    struct dpmf_train_report *report = train->report;
    uint64_t sent = ranks_of(train)->bytes_sent;
    double waited = ring_seconds_waited(ranks_of(train)->ring);
    int code = cluster_all_sum(train->cluster, &sent, 1, error);
    if (code == 0) code = cluster_sum_doubles(train->cluster, &waited, 1, error);
    report->ranks = cluster_size(train->cluster);
    report->bytes_sent = sent;
    report->seconds_waited = waited / report->ranks;
    return code;
}

static void close_place(struct train_run *train) {
    struct ranks *ranks = ranks_of(train);
    if (ranks) ring_free(ranks->ring);
    free(ranks);
}

/* May not skip averages, since ranks would not agree on it, and does not count users' ratings. */
const struct train_place train_place_ranks = {
    .check = check,
    .open_resumed = open_resumed,
    .begin_tiling = begin_tiling,
    .end_tiling = end_tiling,
    .describe = describe,
    .fill = fill,
    .begin = begin,
    .run_epoch = run_epoch,
    .gather = gather,
    .squared_error = squared_error,
    .snapshot = snapshot_after_epoch,
    .end_snapshots = end_snapshots,
    .await_best = await_best,
    .report = report,
    .close = close_place,
};
