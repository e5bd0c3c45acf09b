/*
 * The first half of dpmf_train: checks the options, reads the ids, tiles the ratings, decides with that what is in
 * memory and what is streamed, makes the model or reads a snapshot's, and sets up what runs the epochs. Fed by a
 * store; feeds sgd_train.c.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/number.h"
#include "base/output_file.h"
#include "store/store.h"
#include "train/first_rows.h"
#include "train/model_ids.h"
#include "train/rates.h"
#include "train/resume.h"
#include "train/train_ranks.h"
#include "train/train_run.h"

enum { TIERS_MAX = 64, PREFETCH = 2, PREFETCH_MAX = 1024 };

#define WORST_RMSE 4 /* in terms of the scale's width: more is not learning */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- options ---------------------------------------------------------------------------------- */

struct dpmf_train_options dpmf_train_options_default(void) {
    return (struct dpmf_train_options){
        .factors = RATES_FACTORS,
        .epochs = RATES_EPOCHS,
        .learning_rate = RATES_LEARNING_RATE,
        .decay = -1,
        .regularization = RATES_REGULARIZATION,
        .seed = 1,
        .patience = 3,
        .prefetch = PREFETCH,
        .burn_in = UINT32_MAX,
    };
}

static int check_options(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    if (options->factors < 1 || options->factors > KERNEL_K_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of factors must be 1 to %d",
                         KERNEL_K_MAX);
    if (options->epochs < 1)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there must be at least one epoch");
    if (!(options->learning_rate > 0) || !isfinite(options->learning_rate))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the learning rate must be above 0");
    if (!(options->regularization >= 0) || !isfinite(options->regularization))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the penalty must be 0 or above");
    if (!isfinite(options->decay))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the decay must be a finite number");
    if (options->deterministic && options->hogwild)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "Hogwild cannot be deterministic: choose one of them");
    train->kernels = kernel_set_choose(options->kernels);
    if (!train->kernels)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                         options->kernels ? options->kernels : "$DPMF_KERNELS");
    if (options->lanes > KERNEL_LANES)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of lanes must be 1 to %d",
                         KERNEL_LANES);
    int code = host_caches_read(&train->caches, error);
    if (code < 0) return code;
    train->order = options->deterministic ? SGD_DETERMINISTIC
                   : options->hogwild     ? SGD_HOGWILD
                                          : SGD_FREE;
    return 0;
}

/* "500,4000": the sizes of the tiers but the last, as the paper gives them; ends add up. */
static int parse_tiers(const char *text, uint64_t *ends, size_t *n, struct dpmf_error *error) {
    uint64_t end = 0;
    *n = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        int64_t size;
        if (*n == TIERS_MAX || number_parse_int64(text, length, &size) != NUMBER_OK || size < 1)
            return error_set(error, DPMF_ERR_USAGE_VALUE,
                             "tiers are numbers of items, e.g. 500,4000");
        ends[(*n)++] = end += (uint64_t)size;
        text += length + (text[length] == ',');
    }
    return 0;
}

/* ---- before the epochs ------------------------------------------------------------------------ */

/* What tells one store from another, without reading it all: its sizes, block by block. */
static uint64_t fingerprint_of(const struct dpmf_store *store) {
    uint64_t h = checksum64_seeded("dpmf", 4, store_n_items(store));
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        uint32_t n_users;
        uint64_t sizes[2];
        store_block_size(store, b, &n_users, &sizes[1]);
        sizes[0] = n_users;
        h = checksum64_seeded(sizes, sizeof sizes, h);
    }
    return h;
}

static void begin_state(struct train_run *train) {
    const struct dpmf_train_options *options = train->options;
    train->state = (struct checkpoint_state){
        .seed = options->seed,
        .learning_rate = options->learning_rate,
        .decay = options->decay,
        .regularization = options->regularization,
        .n_ratings = store_n_ratings(train->whole),
        .fingerprint = fingerprint_of(train->whole),
        .best_valid = NAN,
    };
    static const char *const orders[] = {
        [SGD_FREE] = "free", [SGD_DETERMINISTIC] = "deterministic", [SGD_HOGWILD] = "hogwild"};
    snprintf(train->state.order, sizeof train->state.order, "%s", orders[train->order]);
}

static int write_provenance(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", "sgd");
    dpmf_json_uint(json, "factors", options->factors);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_double(json, "learning_rate", options->learning_rate);
    dpmf_json_double(json, "decay", options->decay);
    dpmf_json_double(json, "regularization", options->regularization);
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

static void make_plan(struct train_run *train) {
    const struct dpmf_train_options *options = train->options;
    train->plan = (struct memory_plan){
        .store = train->store,
        .valid = train->valid_store,
        .user_ids = &train->factors.user_ids,
        .kernels = train->kernels,
        .k = options->factors,
        .order = train->order,
        .threads = train->threads,
        .prefetch = options->prefetch < PREFETCH_MAX ? options->prefetch : PREFETCH_MAX,
        .memory = train->run->memory,
        .has_best = train->valid_store && !train->sampler,
    };
    if (!train->sampler) return;
    train->plan.sampler = train->sampler_bytes(train->sampler, train, true);
    train->plan.momenta = train->sampler_bytes(train->sampler, train, false) - train->plan.sampler;
}

/* Tiles what is here of the ratings, within the memory there is. */
static int build_tiles(struct train_run *train, struct tiling_options *options, uint64_t *missing,
                       struct dpmf_error *error) {
    make_plan(train);
    double started = now();
    int code = memory_plan_divide(&train->plan, options, error);
    if (code < 0) return code;
    code = tiling_build(train->store, options, train->run, &train->tiling, error);
    if (code == DPMF_ERR_USAGE_MEMORY) return memory_plan_refuse(&train->plan, *missing, error);
    if (code < 0) return code;
    train->report->tiling_seconds = now() - started;
    train->report->tiles_on_disk = tiling_is_streamed(train->tiling);
    train->state.superblock_users = tiling_users_a_superblock(train->tiling);
    train->state.tiles = tiling_checksum(train->tiling);
    return 0;
}

static int tile_share(struct train_run *train, const struct tiling_options *own, uint64_t *missing,
                      struct dpmf_error *error) {
    struct tiling_whole whole;
    struct tiling_options options = *own;
    int code = train_ranks_agree_on_items(train, own, &whole, error);
    if (code == 0) {
        options.whole = &whole;
        code = build_tiles(train, &options, missing, error);
        code = train_ranks_end_tiling(train, code, error);
    }
    free(whole.item_ratings);
    return code;
}

static int tile_ratings(struct train_run *train, struct dpmf_error *error) {
    uint64_t tiers[TIERS_MAX], missing = 0;
    /* What must be repeatable elsewhere may not follow from this machine. */
    const struct host_caches *caches = train->options->deterministic ? NULL : &train->caches;
    train->lanes = train->options->lanes ? train->options->lanes
                                         : train->kernels->lanes(train->options->factors, caches);
    struct tiling_options options = {
        .kernels = train->kernels,
        .k = train->options->factors,
        .caches = train->caches,
        .chunk_rows = train->lanes,
        .threads = train->threads,
        .lanes = sgd_shares(train->order, train->threads),
        .superblock_users =
            train->options->resume && !train->cluster ? train->resumed.state.superblock_users : 0,
        .missing = &missing,
    };
    if (train->options->tiers) {
        int code = parse_tiers(train->options->tiers, tiers, &options.n_tiers, error);
        if (code < 0) return code;
        options.tier_ends = tiers;
    }
    return train->cluster ? tile_share(train, &options, &missing, error)
                          : build_tiles(train, &options, &missing, error);
}

static void drop_index(struct factor_ids *ids) {
    free(ids->slots);
    ids->slots = NULL;
    ids->n_slots = 0;
}

/* Before the model's large parts are there: the ids are looked up once, and then no more. */
static int make_valid_set(struct train_run *train, struct dpmf_error *error) {
    if (!train->valid_store) return 0;
    struct factor_ids *users = &train->factors.user_ids, *items = &train->factors.item_ids;
    int code = factor_ids_index(users, error);
    if (code == 0) code = factor_ids_index(items, error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0)
        code = valid_set_init(&train->valid, train->valid_store, &train->factors, train->cluster,
                              error);
    drop_index(users);
    drop_index(items);
    return code;
}

/* The rows of a run that begins, or goes on. */
static int fill_model(struct train_run *train, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    if (train->cluster)
        return train->options->resume ? train_ranks_read(train, error)
                                      : train_ranks_fill(train, error);
    if (train->options->resume)
        return resume_read(&train->resumed, factors, &train->users,
                           train->valid ? &train->best : NULL, error);
    first_rows_fill(&factors->items, factors->k, train->unit, train->options->seed,
                    FIRST_ROWS_ITEMS);
    return first_rows_fill_store(&train->users, 0, factors->k, train->unit, train->options->seed,
                                 FIRST_ROWS_USERS, error);
}

/* In a cluster, what is known of all users and items must be complete before rows are. */
static int describe_model(struct train_run *train, struct dpmf_error *error) {
    if (!train->cluster) return 0;
    int code = train_ranks_mean_rating(train, &train->factors.offset, error);
    return code < 0 ? code
                    : rank_share_describe(&train->share, &train->factors, train->tiling, error);
}

static int make_model(struct train_run *train, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    struct dpmf_store_info info;
    dpmf_store_info(train->store, &info);
    factors->k = train->options->factors;
    factors->min = info.min;
    factors->max = info.max;
    factors->offset = tiling_mean_rating(train->tiling);
    train->unit = factors_unit(info.min, info.max);
    train->worst_rmse = WORST_RMSE * 4 * train->unit;
    size_t stride = train->kernels->stride(factors->k);
    int code = model_ids_fill_items(&factors->item_ids, train->store, train->tiling, error);
    if (code == 0) code = make_valid_set(train, error);
    const char *beside = tiling_is_streamed(train->tiling) ? store_path(train->store) : NULL;
    if (code == 0)
        code = first_rows_make_users(&factors->users, &train->users, info.users, stride,
                                     TILING_SPARE_ROWS, beside, error);
    if (code == 0)
        code = factor_matrix_init(&factors->items, info.items, stride, TILING_SPARE_ROWS, error);
    if (code == 0 && train->plan.has_best)
        code = best_epoch_init(&train->best, factors, beside, error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0) code = describe_model(train, error);
    if (code < 0 || train->sampler) return code;
    return cluster_agree(train->cluster, fill_model(train, error), error);
}

/* The state goes on where the snapshot's was; how the ratings are cut is this run's affair. */
static int find_place(struct train_run *train, struct dpmf_error *error) {
    const struct checkpoint_state began = train->state;
    int code = resume_find_place(&train->resumed, train->tiling, train->order == SGD_DETERMINISTIC,
                                 began.order, &train->first, error);
    if (code < 0) return code;
    train->state = train->resumed.state;
    train->state.superblock_users = began.superblock_users;
    train->state.tiles = began.tiles;
    memcpy(train->state.order, began.order, sizeof began.order);
    train->state.superblocks_done = train->first;
    return 0;
}

static int make_snapshots(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
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
        .first_superblock = train->first,
    };
    return snapshot_init(&train->snapshot, &source, error);
}

/* Opens the snapshot to go on from, if there is one. */
static int open_resumed(struct train_run *train, struct dpmf_error *error) {
    if (!train->options->resume) return 0;
    if (train->cluster) return train_ranks_open_resumed(train, error);
    int code = resume_open(&train->resumed, train->options->resume, train->options->factors,
                           &train->state, error);
    return code < 0 ? code
                    : resume_compare(&train->resumed, train->options, train->kernels->name,
                                     train->valid_store != NULL, train->run, error);
}

/* What goes through the epochs, when the model is there. */
static int make_engine(struct train_run *train, struct dpmf_error *error) {
    int code = train->sampler ? 0 : write_provenance(train, error);
    if (code == 0) code = thread_pool_init(&train->pool, train->threads, error);
    if (code == 0)
        code = superblock_stream_init(&train->stream, train->tiling, &train->users,
                                      train->factors.users.biases, memory_plan_slots(&train->plan),
                                      error);
    if (code == 0)
        code = sgd_epoch_init(&train->epoch, train->tiling, train->stream, train->kernels,
                              &train->factors, train->order, train->pool, error);
    if (train->cluster) {
        /* of a sampler more travels, which is not there yet */
        if (code == 0 && !train->sampler) code = train_ranks_make_ring(train, NULL, 0, error);
        return cluster_agree(train->cluster, code, error);
    }
    return code < 0 ? code : make_snapshots(train, error);
}

int train_run_prepare(struct train_run *train, struct dpmf_error *error) {
    train->cluster = cluster_size(train->run->cluster) > 1 ? train->run->cluster : NULL;
    train->whole = train->store;
    int code = check_options(train, error);
    if (code == 0 && train->options->snapshot && cluster_rank(train->cluster) == 0)
        code = output_file_check(train->options->snapshot, error);
    if (train->cluster) code = train_ranks_open(train, code, error);
    if (code < 0) return code;
    train->threads = threads_wanted(train->run);
    int most = sgd_at_once(train->order, train->threads);
    if (train->threads > most) train->threads = most; /* more would have nothing to do */
    begin_state(train);
    code = open_resumed(train, error);
    if (code < 0) return code;
    code = model_ids_fill_users(&train->factors.user_ids, train->store, error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0) code = tile_ratings(train, error);
    if (code == 0 && train->options->resume && !train->cluster) code = find_place(train, error);
    if (code == 0) code = make_model(train, error);
    return code < 0 ? code : make_engine(train, error);
}

void train_run_free(struct train_run *train) {
    ring_free(train->ring);
    snapshot_free(train->snapshot);
    checkpoint_file_close(&train->resumed);
    valid_set_free(train->valid);
    sgd_epoch_free(train->epoch);
    superblock_stream_free(train->stream);
    thread_pool_free(train->pool);
    tiling_free(train->tiling);
    best_epoch_free(&train->best);
    row_store_close(&train->users);
    factors_free(&train->factors);
    rank_share_close(&train->share);
    free(train->provenance);
    pthread_mutex_destroy(&train->progress_lock);
}
