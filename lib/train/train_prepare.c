/*
 * The first half of a run that goes through tiles: checks the options, reads the ids, tiles the
 * ratings, decides with that what is in memory and what is streamed, makes the model or reads a
 * snapshot's, and sets up what runs the epochs. Fed by a store; feeds sgd_train.c.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "files/output_file.h"
#include "store/store.h"
#include "train/first_biases.h"
#include "train/first_rows.h"
#include "train/model_ids.h"
#include "train/rates.h"
#include "train/solver_names.h"
#include "train/train_place.h"
#include "train/train_run.h"

enum { TIERS_MAX = 64, PREFETCH = 2, PREFETCH_MAX = 1024 };

#define WORST_RMSE 4 /* in terms of the scale's width: more is not learning */

/* ---- options --------------------------------------------------------------------------------- */

void dpmf_train_options_init(struct dpmf_train_options *options, size_t size) {
    const struct dpmf_train_options made = {
        .size = sizeof made,
        .factors = RATES_FACTORS,
        .epochs = RATES_EPOCHS,
        .learning_rate = RATES_LEARNING_RATE,
        .decay = -1,
        .regularization = RATES_REGULARIZATION,
        .seed = 1,
        .patience = 3,
        .prefetch = PREFETCH,
        .sampler = {.burn_in = UINT32_MAX},
        .ials = {.exponent = 1, .row_steps = RATES_ROW_STEPS},
    };
    options_give(options, size, &made, sizeof made);
}

static int check_options(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    if (!(options->learning_rate > 0) || !isfinite(options->learning_rate))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the learning rate must be above 0");
    if (!(options->regularization >= 0) || !isfinite(options->regularization))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the penalty must be 0 or above");
    if (!isfinite(options->decay))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the decay must be a finite number");
    if (options->deterministic && options->hogwild)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "Hogwild cannot be deterministic: choose one of them");
    if (options->lanes > KERNEL_LANES)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of lanes must be 1 to %d",
                         KERNEL_LANES);
    train->order = options->deterministic ? SGD_DETERMINISTIC
                   : options->hogwild     ? SGD_HOGWILD
                                          : SGD_FREE;
    int code = host_caches_read(&train->caches, error);
    if (code == 0 && options->snapshot && cluster_rank(train->cluster) == 0)
        code =
            output_file_check(options->snapshot, DPMF_FILE_CHECKPOINT, train->run->replace, error);
    return code;
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

/* ---- before the epochs ----------------------------------------------------------------------- */

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

static int begin_state(struct train_run *train, struct dpmf_error *error) {
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
    int code = store_digest(train->whole, &train->state.digest, error);
    if (code == 0 && train->valid_store)
        code = store_digest(train->valid_store, &train->state.valid_digest, error);
    return code;
}

/* What a run that continues is compared by. */
static void put_digest(struct dpmf_json *json, const char *key, uint64_t digest) {
    char text[FEATURE_DIGEST_TEXT];
    if (digest == 0) return;
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    dpmf_json_string(json, key, text);
}

static int write_provenance(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", SOLVER_NAME_SGD);
    dpmf_json_uint(json, "factors", options->factors);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_double(json, "learning_rate", options->learning_rate);
    dpmf_json_double(json, "decay", options->decay);
    dpmf_json_double(json, "regularization", options->regularization);
    if (train->averages_first) dpmf_json_bool(json, "averages_first", true);
    if (options->adapted) dpmf_json_bool(json, "adapted", true);
    if (options->item_features) dpmf_json_bool(json, "item_features", true);
    if (options->user_features) dpmf_json_bool(json, "user_features", true);
    put_digest(json, "item_features_digest", train_features(train)->items);
    put_digest(json, "user_features_digest", train_features(train)->users);
    dpmf_json_uint(json, "seed", options->seed);
    dpmf_json_string(json, "kernels", train->kernels->name);
    dpmf_json_uint(json, "lanes", train->lanes);
    dpmf_json_bool(json, "deterministic", options->deterministic);
    dpmf_json_bool(json, "hogwild", options->hogwild);
    return train_run_take_provenance(train, json, error);
}

/* A snapshot has its biases. */
static bool begins_at_averages(const struct train_run *train) {
    return train->options->averages_first && !train->options->resume;
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
        .first = begins_at_averages(train) ? first_biases_bytes(train->store) : 0,
        .first_or_not = train->place->may_skip_averages,
    };
    if (!train->sampler) return;
    train->plan.sampler = train->sampler_bytes(train->sampler, train, true);
    train->plan.momenta = train->sampler_bytes(train->sampler, train, false) - train->plan.sampler;
}

/* Tiles what is here of the ratings, within the memory there is. */
static int build_tiles(struct train_run *train, struct tiling_options *options, uint64_t *missing,
                       struct dpmf_error *error) {
    make_plan(train);
    double started = clock_now();
    int code = memory_plan_divide(&train->plan, options, error);
    if (code < 0) return code;
    train->averages_first = train->options->averages_first;
    if (begins_at_averages(train) && train->plan.first == 0) {
        train->averages_first = false;
        if (train->run->warn)
            train->run->warn(train->run->warn_self,
                             "too little memory to start from averages: biases start at 0");
    }
    code = tiling_build(train->store, options, train->run, &train->tiling, error);
    if (code == DPMF_ERR_USAGE_MEMORY) return memory_plan_refuse(&train->plan, *missing, error);
    if (code < 0) return code;
    train->report->tiling_seconds = clock_now() - started;
    train->report->tiles_on_disk = tiling_is_streamed(train->tiling);
    train->state.superblock_users = tiling_users_a_superblock(train->tiling);
    train->state.tiles = tiling_checksum(train->tiling);
    return 0;
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
        .missing = &missing,
    };
    if (train->options->tiers) {
        int parsed = parse_tiers(train->options->tiers, tiers, &options.n_tiers, error);
        if (parsed < 0) return parsed;
        options.tier_ends = tiers;
    }
    struct tiling_whole whole = {0};
    int code = train->place->begin_tiling(train, &options, &whole, error);
    if (code == 0) {
        code = build_tiles(train, &options, &missing, error);
        code = train->place->end_tiling(train, code, error);
    }
    free(whole.item_ratings);
    return code;
}

/* Biases begin as averages, and are held by what the ratings say of how they vary; those of a
 * snapshot continue as they are. */
static int begin_biases(struct train_run *train, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    const size_t n_items = (size_t)store_n_items(train->whole);
    struct first_biases found;
    float *items = memory_alloc(n_items, sizeof items[0]);
    int code = cluster_agree(train->cluster, items ? 0 : error_no_memory(error), error);
    if (code == 0)
        code = first_biases_find(train->store, train->whole,
                                 factors->offset - tiling_base(train->tiling), train->cluster,
                                 factors->users.biases, items, &found, error);
    if (code == 0) {
        for (size_t row = 0; row < n_items; row++)
            factors->items.biases[row] = items[tiling_item_of_row(train->tiling, row)];
        train->state.user_bias_hold = first_biases_user_penalty(&found);
        train->state.item_bias_hold = first_biases_item_penalty(&found);
    }
    free(items);
    return code;
}

static int make_model(struct train_run *train, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    struct dpmf_store_info info;
    dpmf_store_info(train->store, &info);
    factors->k = train->options->factors;
    factors->min = info.min;
    factors->max = info.max;
    factors->offset = tiling_base(train->tiling) + tiling_mean_rating(train->tiling);
    train->unit = factors_unit(info.min, info.max);
    train->worst_rmse = WORST_RMSE * 4 * train->unit;
    size_t stride = train->kernels->stride(factors->k);
    int code = model_ids_fill_items(&factors->item_ids, train->store, train->tiling, error);
    if (code == 0 && !train->sampler && !tiling_is_streamed(train->tiling))
        code = rank_share_count_users(&train->share, &factors->user_ids, error);
    if (code == 0) code = train_run_make_valid_set(train, error);
    const char *beside = tiling_is_streamed(train->tiling) ? store_path(train->store) : NULL;
    if (code == 0)
        code = first_rows_make_users(&factors->users, &train->users, info.users, stride,
                                     TILING_SPARE_ROWS, beside, error);
    if (code == 0)
        code = factor_matrix_init(&factors->items, info.items, stride, TILING_SPARE_ROWS, error);
    if (code == 0 && train->plan.has_best)
        code = best_epoch_init(&train->best, factors, beside, error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0) code = train->place->describe(train, error);
    if (code < 0 || train->sampler) return code;
    code = cluster_agree(train->cluster, train->place->fill(train, error), error);
    return code < 0 || train->options->resume || !train->averages_first
               ? code
               : begin_biases(train, error);
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
    /* a sampler sends more, which is not there yet */
    if (code == 0 && !train->sampler) code = train->place->begin(train, NULL, 0, error);
    return cluster_agree(train->cluster, code, error);
}

int train_run_prepare(struct train_run *train, struct dpmf_error *error) {
    int code = train_run_open(train, check_options(train, error), error);
    if (code < 0) return code;
    int most = sgd_at_once(train->order, train->threads);
    if (train->threads > most) train->threads = most; /* more would have nothing to do */
    code = cluster_agree(train->cluster, begin_state(train, error), error);
    if (code == 0 && train->options->resume) code = train->place->open_resumed(train, error);
    if (code < 0) return code;
    code = model_ids_fill_users(&train->factors.user_ids, train->store,
                                rank_share_learned(&train->share, &train->factors), error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0) code = tile_ratings(train, error);
    if (code == 0) code = make_model(train, error);
    return code < 0 ? code : make_engine(train, error);
}
