/*
 * dpmf_train: from a store to a checkpoint. Tiles the ratings, makes the model, runs the epochs with their
 * rates, watches them (divergence, validation, early stopping), writes snapshots, and goes on from one.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/threads.h"
#include "model/checkpoint.h"
#include "store/store.h"
#include "train/first_rows.h"
#include "train/rates.h"
#include "train/sgd_epoch.h"
#include "train/valid_set.h"

enum { TIERS_MAX = 64 };

struct train {
    const struct dpmf_store *store;
    struct dpmf_store *valid_store;
    const struct dpmf_train_options *options;
    const struct dpmf_run *run;
    struct dpmf_train_report *report;
    const struct kernel_set *kernels;
    enum sgd_order order;
    int threads;
    struct thread_pool *pool;
    struct tiling *tiling;
    struct factors factors;
    struct checkpoint_state state;
    struct sgd_epoch *epoch;
    struct valid_set *valid;
    struct factors best; /* of the best epoch on the validation set; only the matrices */
    double baseline;     /* RMSE of always saying the mean */
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

struct dpmf_train_options dpmf_train_options_default(void) {
    return (struct dpmf_train_options){
        .factors = RATES_FACTORS,
        .epochs = RATES_EPOCHS,
        .learning_rate = RATES_LEARNING_RATE,
        .decay = -1,
        .regularization = RATES_REGULARIZATION,
        .seed = 1,
        .patience = 3,
    };
}

static int check_options(struct train *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    if (options->factors < 1 || options->factors > KERNEL_K_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of factors must be 1 to %d",
                         KERNEL_K_MAX);
    if (options->epochs < 1)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there must be at least one epoch");
    if (!(options->learning_rate > 0) || !isfinite(options->learning_rate))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the learning rate must be above 0");
    if (!(options->regularization >= 0) || !isfinite(options->regularization) ||
        !isfinite(options->decay))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the penalty must be 0 or above");
    if (options->deterministic && options->hogwild)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "Hogwild cannot be deterministic: choose one of them");
    train->kernels = kernel_set_choose(options->kernels);
    if (!train->kernels)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                         options->kernels ? options->kernels : "$DPMF_KERNELS");
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

/* ---- the model -------------------------------------------------------------------------------- */

struct id_fill {
    struct factor_ids *ids;
    size_t bytes_capacity;
    uint64_t n_bytes;
};

static int add_id(struct id_fill *fill, const char *id, size_t length, struct dpmf_error *error) {
    if (!memory_reserve(&fill->ids->bytes, &fill->bytes_capacity, (size_t)fill->n_bytes + length,
                        1))
        return error_no_memory(error);
    memcpy(fill->ids->bytes + fill->n_bytes, id, length);
    fill->n_bytes += length;
    fill->ids->start[++fill->ids->n] = fill->n_bytes;
    return 0;
}

static int ids_room(struct factor_ids *ids, uint64_t n, struct dpmf_error *error) {
    ids->start = memory_alloc_zero((size_t)n + 1, sizeof ids->start[0]);
    return ids->start ? 0 : error_no_memory(error);
}

static int fill_user_ids(struct train *train, struct dpmf_error *error) {
    struct id_fill fill = {.ids = &train->factors.user_ids};
    struct store_raw raw = {0};
    struct store_space space = {0};
    int code = ids_room(fill.ids, store_n_users(train->store), error);
    for (uint64_t b = 0; code == 0 && b < store_n_blocks(train->store); b++) {
        struct store_block block;
        code = store_block_read(train->store, b, &raw, error);
        if (code == 0)
            code = store_block_decode(train->store, &raw, STORE_WANT_IDS, &space, &block, error);
        for (uint32_t u = 0; code == 0 && u < block.n_users; u++)
            code = add_id(&fill, block.id_bytes + block.id_start[u],
                          (size_t)(block.id_start[u + 1] - block.id_start[u]), error);
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    return code;
}

static int fill_item_ids(struct train *train, struct dpmf_error *error) {
    struct id_fill fill = {.ids = &train->factors.item_ids};
    uint64_t n = store_n_items(train->store);
    int code = ids_room(fill.ids, n, error);
    for (uint64_t row = 0; code == 0 && row < n; row++) {
        struct store_item item =
            store_item_at(train->store, tiling_item_of_row(train->tiling, row));
        code = add_id(&fill, item.id, item.id_length, error);
    }
    return code;
}

static int make_model(struct train *train, struct dpmf_error *error) {
    struct factors *factors = &train->factors;
    struct dpmf_store_info info;
    dpmf_store_info(train->store, &info);
    factors->k = train->options->factors;
    factors->min = info.min;
    factors->max = info.max;
    factors->offset = tiling_mean_rating(train->tiling);
    size_t stride = train->kernels->stride(factors->k);
    int code = factor_matrix_init(&factors->users, info.users, stride, TILING_SPARE_ROWS, error);
    if (code == 0)
        code = factor_matrix_init(&factors->items, info.items, stride, TILING_SPARE_ROWS, error);
    if (code == 0) code = fill_user_ids(train, error);
    if (code == 0) code = fill_item_ids(train, error);
    if (code < 0) return code;
    first_rows_fill(&factors->users, factors->k, train->options->seed, FIRST_ROWS_USERS);
    first_rows_fill(&factors->items, factors->k, train->options->seed, FIRST_ROWS_ITEMS);
    return 0;
}

/* ---- snapshots -------------------------------------------------------------------------------- */

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

static void begin_state(struct train *train) {
    const struct dpmf_train_options *options = train->options;
    train->state = (struct checkpoint_state){
        .seed = options->seed,
        .learning_rate = options->learning_rate,
        .decay = options->decay,
        .regularization = options->regularization,
        .n_ratings = store_n_ratings(train->store),
        .fingerprint = fingerprint_of(train->store),
        .best_valid = NAN,
    };
}

static int mismatch(const char *what, const char *path, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_TRAIN_MISMATCH, "the snapshot was made with %s", what);
    error_place(error, path, 0, 0);
    error_hint(error, "resume with the ratings and options of the first run, or start anew");
    return code;
}

/* Ids of the snapshot must be those of the store, in the same order: then its rows are ours. */
static bool same_ids(const struct factor_ids *a, const struct factor_ids *b) {
    return a->n == b->n &&
           memcmp(a->start, b->start, ((size_t)a->n + 1) * sizeof a->start[0]) == 0 &&
           memcmp(a->bytes, b->bytes, (size_t)a->start[a->n]) == 0;
}

static int resume(struct train *train, struct dpmf_error *error) {
    const char *path = train->options->resume;
    struct factors read = {0};
    struct checkpoint_state state;
    int code =
        checkpoint_read(path, train->kernels->stride, TILING_SPARE_ROWS, &read, &state, error);
    if (code < 0) return code;
    if (read.k != train->factors.k)
        code = mismatch("another number of factors", path, error);
    else if (state.n_ratings != train->state.n_ratings ||
             state.fingerprint != train->state.fingerprint ||
             !same_ids(&read.user_ids, &train->factors.user_ids) ||
             !same_ids(&read.item_ids, &train->factors.item_ids))
        code = mismatch("other ratings", path, error);
    else if (state.learning_rate != train->state.learning_rate ||
             state.decay != train->state.decay ||
             state.regularization != train->state.regularization || state.seed != train->state.seed)
        code = mismatch("other rates or another seed", path, error);
    if (code < 0) {
        factors_free(&read);
        return code;
    }
    factor_matrix_free(&train->factors.users);
    factor_matrix_free(&train->factors.items);
    train->factors.users = read.users;
    train->factors.items = read.items;
    train->factors.offset = read.offset;
    train->state = state;
    memset(&read.users, 0, sizeof read.users);
    memset(&read.items, 0, sizeof read.items);
    factors_free(&read);
    return 0;
}

/* ---- epochs ----------------------------------------------------------------------------------- */

static bool should_stop(void *self) {
    struct train *train = self;
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

static bool has_diverged(const struct train *train, double train_rmse) {
    return !isfinite(train_rmse) || train_rmse > 4 * (train->baseline + 1e-12);
}

static int diverged(struct dpmf_error *error, uint32_t epoch, double rate) {
    int code = error_set(error, DPMF_ERR_TRAIN_DIVERGED, "training diverged in epoch %u", epoch);
    error_hint(error, "use a smaller --learning-rate than %g, or a larger --reg", rate);
    return code;
}

static void copy_matrix(struct factor_matrix *to, const struct factor_matrix *from) {
    memcpy(to->rows, from->rows, (size_t)from->n * from->stride * sizeof from->rows[0]);
    memcpy(to->biases, from->biases, (size_t)from->n * sizeof from->biases[0]);
}

static int keep_best(struct train *train, struct dpmf_error *error) {
    int code = 0;
    struct factors *factors = &train->factors, *best = &train->best;
    if (!best->users.rows) {
        code = factor_matrix_init(&best->users, factors->users.n, factors->users.stride, 0, error);
        if (code == 0)
            code =
                factor_matrix_init(&best->items, factors->items.n, factors->items.stride, 0, error);
        if (code < 0) return code;
    }
    copy_matrix(&best->users, &factors->users);
    copy_matrix(&best->items, &factors->items);
    return 0;
}

/* @return 1 to stop early, 0 to go on, or a negative code */
static int validate(struct train *train, double *rmse, struct dpmf_error *error) {
    struct checkpoint_state *state = &train->state;
    *rmse = NAN;
    if (!train->valid) return 0;
    *rmse = valid_set_rmse(train->valid, &train->factors, train->kernels, train->pool);
    if (isnan(state->best_valid) || *rmse < state->best_valid) {
        state->best_valid = *rmse;
        state->best_epoch = state->epoch;
        return keep_best(train, error);
    }
    uint32_t patience = train->options->patience;
    return patience > 0 && state->epoch - state->best_epoch >= patience;
}

static int write_snapshot(struct train *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    if (!options->snapshot) return 0;
    uint32_t every = options->snapshot_every ? options->snapshot_every : 1;
    if (train->state.epoch % every != 0 && train->state.epoch != options->epochs) return 0;
    return checkpoint_write(options->snapshot, &train->factors, &train->state, train->provenance,
                            error);
}

/* @return 1 to stop early, 0 to go on, or a negative code */
static int run_epoch(struct train *train, double started, struct dpmf_epoch *epoch,
                     struct dpmf_error *error) {
    const struct sgd_rates rates = rates_of_epoch(train->options, train->state.epoch);
    double begun = now(), squared_error;
    int code = sgd_epoch_run(train->epoch, &rates, should_stop, train, &squared_error, error);
    if (code < 0) return code;
    train->report->seconds += now() - begun;
    uint64_t n = train->state.n_ratings;
    *epoch = (struct dpmf_epoch){
        .epoch = ++train->state.epoch,
        .updates_per_second = (double)n / (now() - begun),
        .train_rmse = sqrt(squared_error / (double)n),
    };
    if (has_diverged(train, epoch->train_rmse))
        return diverged(error, epoch->epoch, (double)rates.rate);
    int stop = validate(train, &epoch->valid_rmse, error);
    if (stop < 0) return stop;
    if ((code = write_snapshot(train, error)) < 0) return code;
    epoch->seconds = now() - started;
    return stop;
}

static int run_epochs(struct train *train,
                      int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                      struct dpmf_error *error) {
    double started = now();
    struct dpmf_train_report *report = train->report;
    uint32_t first = train->state.epoch;
    report->train_rmse = report->valid_rmse = NAN;
    while (train->state.epoch < train->options->epochs) {
        struct dpmf_epoch epoch;
        int code = run_epoch(train, started, &epoch, error);
        if (code < 0) return code;
        report->train_rmse = epoch.train_rmse;
        report->valid_rmse = epoch.valid_rmse;
        bool wanted = !on_epoch || on_epoch(train->run->self, &epoch) == 0;
        report->stopped_early = code == 1;
        if (code == 1 || !wanted) break;
    }
    report->epochs = train->state.epoch;
    report->updates_per_second =
        (double)(train->state.epoch - first) * (double)train->state.n_ratings / report->seconds;
    if (train->best.users.rows) {
        copy_matrix(&train->factors.users, &train->best.users);
        copy_matrix(&train->factors.items, &train->best.items);
        report->valid_rmse = train->state.best_valid;
    }
    return 0;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static int write_provenance(struct train *train, struct dpmf_error *error) {
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
    dpmf_json_bool(json, "deterministic", options->deterministic);
    dpmf_json_bool(json, "hogwild", options->hogwild);
    dpmf_json_uint(json, "ratings", store_n_ratings(train->store));
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, NULL);
    train->provenance = text ? strdup(text) : NULL;
    dpmf_json_free(json);
    return train->provenance ? 0 : error_no_memory(error);
}

static int tile_ratings(struct train *train, struct dpmf_error *error) {
    uint64_t tiers[TIERS_MAX];
    struct tiling_options options = {
        .kernels = train->kernels,
        .k = train->options->factors,
        .threads = train->threads,
        .lanes = sgd_lanes(train->order, train->threads),
    };
    if (train->options->tiers) {
        int code = parse_tiers(train->options->tiers, tiers, &options.n_tiers, error);
        if (code < 0) return code;
        options.tier_ends = tiers;
    }
    /* What the model leaves of the memory is for tiles. */
    uint64_t memory = train->run->memory ? train->run->memory : memory_default_budget();
    uint64_t row = train->kernels->stride(train->options->factors) * sizeof(float) + sizeof(float);
    uint64_t model = (store_n_users(train->store) + store_n_items(train->store)) * row;
    options.memory = memory > model ? memory - model : 0;
    double started = now();
    int code = tiling_build(train->store, &options, train->run, &train->tiling, error);
    if (code < 0) return code;
    train->report->tiling_seconds = now() - started;
    train->report->tiles_on_disk = tiling_is_on_disk(train->tiling);
    return 0;
}

static int prepare(struct train *train, struct dpmf_error *error) {
    int code = check_options(train, error);
    train->threads = threads_wanted(train->run);
    if (code == 0) code = tile_ratings(train, error);
    if (code == 0) code = make_model(train, error);
    if (code < 0) return code;
    struct dpmf_store_info info;
    dpmf_store_info(train->store, &info);
    train->baseline = info.max - info.min;
    begin_state(train);
    if (train->options->resume && (code = resume(train, error)) < 0) return code;
    if ((code = write_provenance(train, error)) < 0) return code;
    if (train->valid_store) {
        if ((code = factor_ids_index(&train->factors.user_ids, error)) < 0) return code;
        if ((code = factor_ids_index(&train->factors.item_ids, error)) < 0) return code;
        code = valid_set_init(&train->valid, train->valid_store, &train->factors, error);
        if (code < 0) return code;
    }
    code = thread_pool_init(&train->pool, train->threads, error);
    if (code == 0)
        code = sgd_epoch_init(&train->epoch, train->tiling, train->kernels, &train->factors,
                              train->order, train->pool, error);
    return code;
}

int dpmf_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
               const struct dpmf_train_options *options, const struct dpmf_run *run,
               int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
               struct dpmf_train_report *report, struct dpmf_error *error) {
    const struct dpmf_train_options default_options = dpmf_train_options_default();
    const struct dpmf_run default_run = dpmf_run_default();
    struct dpmf_train_report unwanted;
    struct train train = {
        .store = store,
        .valid_store = valid,
        .options = options ? options : &default_options,
        .run = run ? run : &default_run,
        .report = report ? report : &unwanted,
    };
    memset(train.report, 0, sizeof *train.report);
    if (pthread_mutex_init(&train.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = prepare(&train, error);
    if (code == 0) {
        snprintf(train.report->kernels, sizeof train.report->kernels, "%s", train.kernels->name);
        code = run_epochs(&train, on_epoch, error);
    }
    if (code == 0)
        code = checkpoint_write(output, &train.factors, &train.state, train.provenance, error);
    valid_set_free(train.valid);
    sgd_epoch_free(train.epoch);
    thread_pool_free(train.pool);
    tiling_free(train.tiling);
    factors_free(&train.factors);
    factors_free(&train.best);
    free(train.provenance);
    pthread_mutex_destroy(&train.progress_lock);
    return code;
}
