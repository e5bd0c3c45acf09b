/*
 * The solver "ials": epochs of two sweeps, all users for the items and all items for the users,
 * over events that are in memory twice. A validation set is ranked after every epoch, and the epoch
 * with the best NDCG is kept. The model is a checkpoint without biases, marked as one that ranks,
 * with the rule that new users are fitted by. Of several ranks each has its own users and all items
 * (ials_ranks.h); on one machine the share is everything. Fed by a store; feeds a checkpoint.
 */
#define _GNU_SOURCE
#include "rank/ials_train.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "cluster/cluster.h"
#include "cluster/user_shares.h"
#include "dpmf_text.h"
#include "random/random.h"
#include "rank/ials.h"
#include "rank/ials_ranks.h"
#include "recommend/model.h"
#include "store/store.h"
#include "train/best_epoch.h"
#include "train/model_ids.h"
#include "train/rank_share.h"
#include "train/resume.h"
#include "train/solver_names.h"

enum {
    PROGRAM_BYTES = 6 << 20, /* the program itself, and what the allocator keeps for later */
    VALID_TOP = 10,          /* the n of the validation's recall and NDCG */
    FIRST_ITEMS = 0x1A15,    /* names the random stream of the first item rows */
};

/* The length that a first row has on average. */
static const double first_length = 0.1;

struct ials_run {
    struct dpmf_store *whole, *valid;   /* all ratings */
    const struct dpmf_cluster *cluster; /* NULL: one machine */
    struct rank_share share;
    const struct dpmf_store *store; /* those of the users that are here */
    uint64_t n_events;              /* on all ranks */
    uint64_t *item_events;          /* the same by item */
    const struct dpmf_train_options *options;
    const struct dpmf_run *run;
    struct dpmf_train_report *report;
    const struct kernel_set *kernels;
    struct thread_pool *pool;
    struct event_rows events;
    struct dpmf_model model; /* what is trained, as the validation sees it */
    struct row_store users;  /* the same rows as in the model */
    struct ials_rule rule;
    struct ials *ials;
    struct best_epoch best;
    struct checkpoint_state state;
    double started, snapshot_time;
    uint32_t snapshot_epoch;
    char *provenance;

    pthread_mutex_t progress_lock;
    _Atomic bool stopped;
};

/* ---- options --------------------------------------------------------------------------------- */

double ials_default_unobserved(uint64_t events, uint64_t users, uint64_t items) {
    const double density = (double)events / ((double)users * (double)items);
    const double wanted = 1.4 * sqrt(density);
    if (!(wanted > 0.01)) return 0.01;
    return wanted > 1 ? 1 : round(1e4 * wanted) / 1e4; /* a number that people can repeat */
}

static double least_like(const struct dpmf_train_options *options) {
    return options->ials.has_like ? options->ials.like : -INFINITY;
}

int ials_check_like(const struct dpmf_store *store, const struct dpmf_train_options *options,
                    struct dpmf_error *error) {
    if (!options->ials.has_like || !store_holds_events(store)) return 0;
    int code =
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "this holds events, to which likes do not apply");
    error_hint(error, "leave {like} out");
    error_place(error, store_path(store), 0, 0);
    return code;
}

int ials_unobserved_find(const struct dpmf_store *store, const struct dpmf_train_options *options,
                         const struct dpmf_run *run, double *unobserved, struct dpmf_error *error) {
    uint64_t n_events = 0;
    *unobserved = options->ials.unobserved;
    if (options->ials.unobserved > 0) return 0;
    int code = event_rows_count(store, least_like(options), run, &n_events, error);
    *unobserved = ials_default_unobserved(n_events, store_n_users(store), store_n_items(store));
    return code;
}

static int check_numbers(const struct dpmf_train_options *options, struct dpmf_error *error) {
    if (options->factors < 1 || options->factors > KERNEL_K_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of factors must be 1 to %d",
                         KERNEL_K_MAX);
    if (options->epochs < 1)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there must be at least one epoch");
    if (!(options->regularization > 0) || !isfinite(options->regularization))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the penalty of ials must be above 0");
    if (!(options->ials.unobserved >= 0) || !isfinite(options->ials.unobserved))
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the weight of pairs without an event must be above 0");
    if (options->ials.has_like && isnan(options->ials.like))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "a like must be a number");
    if (!(options->ials.count_weight >= 0) || !isfinite(options->ials.count_weight))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the weight of counts must not be below 0");
    if (options->ials.row_block > KERNEL_K_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "a block has at most %d columns",
                         KERNEL_K_MAX);
    if (options->ials.row_steps <= 1000) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE, "a row takes at most 1000 steps");
}

static int check_options(struct ials_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    int code = check_numbers(options, error);
    if (code < 0) return code;
    if (options->ials.count_weight > 0 && !store_holds_events(run->whole)) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "these are ratings, and only events have counts");
        error_hint(error, "leave {count-weight} out, or import the counts as events");
        return code;
    }
    code = user_shares_check_store(run->whole, run->cluster, error);
    if (code < 0) return code;
    if (options->tiers || options->snapshot_blocks > 0) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "ials has no tiers and no blocks: it works on whole rows");
        error_hint(error, "leave them out; snapshots can be made after epochs or a time");
        return code;
    }
    run->kernels = kernel_set_widest(options->kernels);
    if (run->kernels) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                     options->kernels ? options->kernels : "$DPMF_KERNELS");
}

/* ---- memory ---------------------------------------------------------------------------------- */

int ials_memory_check(const struct dpmf_store *store, const struct kernel_set *kernels, uint32_t k,
                      int threads, uint64_t more, const struct dpmf_run *run,
                      struct dpmf_error *error) {
    const uint64_t mebibyte = (uint64_t)1 << 20;
    const uint64_t memory = run->memory ? run->memory : host_default_budget();
    const uint64_t users = store_n_users(store), items = store_n_items(store);
    const uint64_t row = (kernels->stride(k) + 5) * sizeof(float); /* its place in a team, too */
    const uint64_t needed = PROGRAM_BYTES + event_rows_bytes(store, false) + (users + items) * row +
                            ials_bytes(kernels, k, threads) + more;
    if (needed <= memory) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "%llu MiB is too little for ials, which keeps all events in memory",
                         (unsigned long long)(memory / mebibyte));
    error_hint(error, "allow {memory %lluMiB} or more, or fewer factors",
               (unsigned long long)((needed + mebibyte - 1) / mebibyte));
    return code;
}

static int plan_memory(const struct ials_run *run, int threads, struct dpmf_error *error) {
    const uint64_t rows = store_n_users(run->store) + store_n_items(run->store);
    const uint64_t row = (run->kernels->stride(run->options->factors) + 2) * sizeof(float);
    const struct factors *factors = &run->model.factors;
    const uint64_t ids = factors->user_ids.start[factors->user_ids.n] +
                         factors->item_ids.start[factors->item_ids.n] + 24 * rows;
    const struct dpmf_train_options *options = run->options;
    const bool is_exact = options->ials.row_steps == 0 || options->ials.row_block > 0;
    const uint64_t shared =
        is_exact ? ials_ranks_exact_bytes(run->cluster, run->kernels, options->factors,
                                          (uint32_t)options->ials.row_block,
                                          store_n_items(run->store), store_n_ratings(run->store))
                 : ials_ranks_bytes(run->cluster, run->kernels, options->factors,
                                    store_n_items(run->store));
    const uint64_t weights =
        run->options->ials.count_weight > 0
            ? event_rows_bytes(run->store, true) - event_rows_bytes(run->store, false)
            : 0;
    return ials_memory_check(run->store, run->kernels, run->options->factors, threads,
                             ids + shared + weights + (run->valid ? rows * row : 0), run->run,
                             error);
}

/* ---- before the epochs ----------------------------------------------------------------------- */

static int write_provenance(struct ials_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", SOLVER_NAME_IALS);
    dpmf_json_string(json, "goal", "ranking");
    dpmf_json_uint(json, "factors", options->factors);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_double(json, "regularization", options->regularization);
    dpmf_json_double(json, "unobserved", run->rule.unobserved);
    dpmf_json_double(json, "exponent", run->rule.exponent);
    dpmf_json_uint(json, "row_steps", run->rule.steps);
    if (run->rule.block > 0) dpmf_json_uint(json, "row_block", run->rule.block);
    if (options->ials.has_like) dpmf_json_double(json, "like", options->ials.like);
    if (options->ials.count_weight > 0)
        dpmf_json_double(json, "count_weight", options->ials.count_weight);
    dpmf_json_uint(json, "seed", options->seed);
    dpmf_json_string(json, "kernels", run->kernels->name);
    dpmf_json_bool(json, "deterministic", options->deterministic);
    dpmf_json_uint(json, "ratings", store_n_ratings(run->whole));
    dpmf_json_uint(json, "events", run->n_events);
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, NULL);
    run->provenance = text ? strdup(text) : NULL;
    dpmf_json_free(json);
    return run->provenance ? 0 : error_no_memory(error);
}

/* The first sweep solves for users: only the items' rows matter. */
void ials_first_items(struct factor_matrix *items, uint32_t k, uint64_t seed) {
    const double scale = first_length / sqrt((double)k);
    for (uint64_t i = 0; i < items->n; i++) {
        float *row = items->rows + i * items->stride;
        struct random_stream random;
        random_stream_init(&random, seed, FIRST_ITEMS, i);
        for (uint32_t c = 0; c < k; c++) row[c] = (float)(scale * random_gaussian(&random));
    }
}

static int make_model(struct ials_run *run, struct dpmf_error *error) {
    struct dpmf_model *model = &run->model;
    struct factors *factors = &model->factors;
    const size_t k = run->options->factors, stride = run->kernels->stride(k);
    factors->k = (uint32_t)k;
    factors->min = 0;
    factors->max = 1;
    int code = factor_matrix_init(&factors->users, run->events.users.n, stride, 1, error);
    if (code == 0)
        code = factor_matrix_init(&factors->items, run->events.items.n, stride, 1, error);
    if (code < 0) return code;
    run->users = row_store_of(factors->users.rows, factors->users.n, stride);
    ials_first_items(&factors->items, factors->k, run->options->seed);
    model->kind = MODEL_CHECKPOINT;
    model->state.ranks = true; /* as validation by ranking sees it */
    model->padded_k = run->kernels->padded_k(k);
    model->kernels = score_kernels_choose(run->kernels->name);
    if (!model->kernels) return error_set(error, DPMF_ERR_BASE_BUG, "no kernels to rank with");
    if (!run->valid) return 0;
    code = factor_ids_index(&factors->user_ids, error);
    if (code == 0) code = factor_ids_index(&factors->item_ids, error);
    return code == 0 ? best_epoch_init(&run->best, factors, NULL, error) : code;
}

static int begin_state(struct ials_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    const bool is_of_events = store_holds_events(run->whole);
    struct dpmf_store_info info;
    dpmf_store_info(run->whole, &info);
    run->state = (struct checkpoint_state){
        .seed = options->seed,
        .regularization = options->regularization,
        .n_ratings = store_n_ratings(run->whole),
        .best_valid = NAN,
        .ranks = true,
        .unobserved = run->rule.unobserved,
        .exponent = run->rule.exponent,
        .has_like = options->ials.has_like,
        .like = options->ials.has_like ? options->ials.like : 0,
        .has_scale = !is_of_events,
        .rated_min = is_of_events ? 0 : info.min,
        .rated_max = is_of_events ? 0 : info.max,
        .is_of_events = is_of_events,
        .count_weight = options->ials.count_weight,
    };
    int code = store_digest(run->whole, &run->state.fingerprint, error);
    if (code == 0 && run->valid) code = store_digest(run->valid, &run->state.valid_digest, error);
    return code;
}

/* Rank 0 opens the snapshot; what it says of the run is for all. */
static int open_resumed(struct ials_run *run, struct checkpoint_file *file,
                        struct dpmf_error *error) {
    struct dpmf_train_options options = *run->options;
    options.decay = 0; /* there is no schedule that would depend on the number of epochs */
    if (cluster_rank(run->cluster) > 0) return 0;
    int code = resume_open(file, run->options->resume, run->options->factors, &run->state, error);
    if (code < 0) return code;
    const struct factors shape = rank_share_shape(&run->share, &run->model.factors);
    code = resume_compare(file, &options, run->kernels->name, run->state.valid_digest, run->run,
                          error);
    return code < 0 ? code : resume_compare_ids(file, &shape, error);
}

static int read_best(struct ials_run *run, const struct checkpoint_file *file, bool has_best,
                     struct dpmf_error *error) {
    struct best_epoch *best = &run->best;
    const struct checkpoint_state *state = &run->state;
    if (!run->valid) return 0;
    if (!has_best)
        return state->best_epoch == state->epoch && state->epoch > 0
                   ? best_epoch_keep(best, &run->model.factors, &run->users, error)
                   : 0;
    int code = rank_share_load_users(&run->share, &best->rows[0], best->matrix[0].biases,
                                     CHECKPOINT_BEST_USERS, file, error);
    if (code == 0)
        code = rank_share_load_items(&run->share, NULL, &best->matrix[1], CHECKPOINT_BEST_ITEMS,
                                     file, error);
    best->kept = code == 0;
    return code;
}

static int read_resumed(struct ials_run *run, struct checkpoint_file *file,
                        struct dpmf_error *error) {
    struct factors *factors = &run->model.factors;
    const struct checkpoint_file *own = cluster_rank(run->cluster) == 0 ? file : NULL;
    int code = cluster_broadcast(run->cluster, &file->state, sizeof file->state, 0, error);
    if (code == 0)
        code = cluster_broadcast(run->cluster, &file->has_best, sizeof file->has_best, 0, error);
    run->state = file->state;
    if (code == 0)
        code = rank_share_load_users(&run->share, &run->users, factors->users.biases,
                                     CHECKPOINT_USERS, own, error);
    if (code == 0)
        code =
            rank_share_load_items(&run->share, NULL, &factors->items, CHECKPOINT_ITEMS, own, error);
    return code < 0 ? code : read_best(run, own, file->has_best, error);
}

static int resume(struct ials_run *run, struct dpmf_error *error) {
    struct checkpoint_file file = {0};
    if (!run->options->resume) return 0;
    int code = cluster_agree(run->cluster, open_resumed(run, &file, error), error);
    if (code == 0) code = read_resumed(run, &file, error);
    if (cluster_rank(run->cluster) == 0) checkpoint_file_close(&file);
    return code;
}

/* How many events all ranks have, and those of each item. */
static int sum_events(struct ials_run *run, struct dpmf_error *error) {
    const struct event_side *items = &run->events.items;
    run->item_events = memory_alloc((size_t)items->n + 1, sizeof *run->item_events);
    int code = cluster_agree(run->cluster, run->item_events ? 0 : error_no_memory(error), error);
    if (code < 0) return code;
    for (uint64_t i = 0; i < items->n; i++)
        run->item_events[i] = items->start[i + 1] - items->start[i];
    run->n_events = run->events.n_events;
    code = cluster_all_sum(run->cluster, run->item_events, (size_t)items->n, error);
    return code < 0 ? code : cluster_all_sum(run->cluster, &run->n_events, 1, error);
}

static int read_events(struct ials_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    int code = event_rows_read(&run->events, run->store, least_like(options),
                               options->ials.count_weight, run->run, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = sum_events(run, error);
    if (code < 0) return code;
    if (run->n_events == 0) {
        code = error_set(error, DPMF_ERR_INPUT_EMPTY, "none of the ratings is a like");
        error_hint(error, "let lower ratings count as likes too");
        return code;
    }
    run->rule = (struct ials_rule){
        .unobserved = options->ials.unobserved > 0
                          ? options->ials.unobserved
                          : ials_default_unobserved(run->n_events, store_n_users(run->whole),
                                                    run->events.items.n),
        .penalty = options->regularization,
        .exponent = options->ials.exponent,
        .steps = options->ials.row_block > 0 ? 0 : options->ials.row_steps,
        .block = (uint32_t)options->ials.row_block,
        .events_share = (double)run->n_events / cluster_size(run->cluster),
    };
    return 0;
}

/* What is here: users, their ids, and whether there is room for their events. */
static int take_share(struct ials_run *run, int threads, struct dpmf_error *error) {
    struct factors *factors = &run->model.factors;
    int code = cluster_agree(run->cluster, check_options(run, error), error);
    if (code == 0) code = rank_share_kernels(run->cluster, &run->kernels, error);
    if (code == 0) code = rank_share_open(&run->share, run->whole, run->cluster, error);
    run->share.may_replace = run->run->replace;
    if (code < 0) return code;
    run->store = rank_share_store(&run->share);
    code = model_ids_fill_users(&factors->user_ids, run->store,
                                rank_share_learned(&run->share, factors), error);
    if (code == 0) code = rank_share_count_users(&run->share, &factors->user_ids, error);
    if (code == 0) code = model_ids_fill_items(&factors->item_ids, run->store, NULL, error);
    if (code == 0) code = plan_memory(run, threads, error);
    return cluster_agree(run->cluster, code, error);
}

static int prepare(struct ials_run *run, struct dpmf_error *error) {
    const int threads = threads_wanted(run->run);
    const double begun = clock_now();
    int code = take_share(run, threads, error);
    if (code == 0) code = read_events(run, error);
    if (code == 0) code = cluster_agree(run->cluster, make_model(run, error), error);
    if (code == 0) code = rank_share_describe(&run->share, &run->model.factors, NULL, error);
    if (code == 0) code = begin_state(run, error);
    if (code == 0) code = write_provenance(run, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = resume(run, error);
    if (code == 0) code = thread_pool_init(&run->pool, threads, error);
    if (code == 0)
        code = ials_init(&run->ials, run->kernels, run->options->factors, &run->rule, run->pool,
                         error);
    run->report->tiling_seconds = clock_now() - begun;
    return cluster_agree(run->cluster, code, error);
}

static void free_run(struct ials_run *run) {
    ials_free(run->ials);
    thread_pool_free(run->pool);
    best_epoch_free(&run->best);
    factors_free(&run->model.factors);
    free(run->model.item_norms);
    event_rows_free(&run->events);
    free(run->provenance);
    free(run->item_events);
    rank_share_close(&run->share);
    pthread_mutex_destroy(&run->progress_lock);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static int put_best(const struct ials_run *run, struct checkpoint_draft *draft,
                    struct dpmf_error *error) {
    const struct best_epoch *best = &run->best;
    int code = rank_share_save_users(&run->share, &best->rows[0], best->matrix[0].biases,
                                     CHECKPOINT_BEST_USERS, draft, error);
    return code < 0 ? code
                    : rank_share_save_items(&run->share, NULL, &best->matrix[1],
                                            CHECKPOINT_BEST_ITEMS, draft, error);
}

static int write_model(const struct ials_run *run, const char *path, bool with_best,
                       struct dpmf_error *error) {
    const struct factors *factors = &run->model.factors;
    const struct factors shape = rank_share_shape(&run->share, factors);
    struct checkpoint_draft *draft = NULL;
    int code =
        rank_share_open_draft(&run->share, path, &shape, with_best, run->provenance, &draft, error);
    if (code == 0)
        code = rank_share_save_users(&run->share, &run->users, factors->users.biases,
                                     CHECKPOINT_USERS, draft, error);
    if (code == 0)
        code = rank_share_save_items(&run->share, NULL, &factors->items, CHECKPOINT_ITEMS, draft,
                                     error);
    if (code == 0 && with_best) code = put_best(run, draft, error);
    return rank_share_end_draft(&run->share, code, draft, &run->state, error);
}

static int write_snapshot(struct ials_run *run, struct dpmf_error *error) {
    const bool with_best = run->best.kept && run->state.best_epoch != run->state.epoch;
    run->snapshot_epoch = run->state.epoch;
    run->snapshot_time = clock_now();
    return write_model(run, run->options->snapshot, with_best, error);
}

static bool is_due(const struct ials_run *run) {
    const struct dpmf_train_options *options = run->options;
    if (!options->snapshot) return false;
    if (options->snapshot_seconds > 0)
        return clock_now() - run->snapshot_time >= options->snapshot_seconds;
    const uint32_t every = options->snapshot_every > 0 ? options->snapshot_every : 1;
    return run->state.epoch - run->snapshot_epoch >= every;
}

/* Rank 0's clock decides. */
static int snapshot_if_due(struct ials_run *run, struct dpmf_error *error) {
    bool due = is_due(run);
    int code = cluster_broadcast(run->cluster, &due, sizeof due, 0, error);
    return code == 0 && due ? write_snapshot(run, error) : code;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static bool should_stop(void *self) {
    struct ials_run *run = self;
    if (!run->run->progress) return false;
    if (atomic_load_explicit(&run->stopped, memory_order_relaxed)) return true;
    if (pthread_mutex_trylock(&run->progress_lock) != 0) return false;
    const struct dpmf_progress progress = {.phase = "training",
                                           .unit = "epochs",
                                           .done = run->state.epoch,
                                           .total = run->options->epochs};
    if (run->run->progress(run->run->progress_self, &progress)) atomic_store(&run->stopped, true);
    pthread_mutex_unlock(&run->progress_lock);
    return atomic_load(&run->stopped);
}

/* The averages over the users of all ranks. */
static int average(const struct ials_run *run, struct dpmf_evaluation *found,
                   struct dpmf_error *error) {
    const double n = (double)found->ranked_users;
    double sums[3] = {n, n > 0 ? n * found->recall : 0, n > 0 ? n * found->ndcg : 0};
    if (!run->cluster) return 0;
    int code = cluster_sum_doubles(run->cluster, sums, 3, error);
    found->recall = sums[0] > 0 ? sums[1] / sums[0] : NAN;
    found->ndcg = sums[0] > 0 ? sums[2] / sums[0] : NAN;
    return code;
}

/* Ranks the validation set by the model as it is; the best epoch so far is kept. */
static int validate(struct ials_run *run, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    const struct dpmf_evaluate_options options = {.size = sizeof options,
                                                  .ranking = VALID_TOP,
                                                  .has_like = run->options->ials.has_like,
                                                  .like = run->options->ials.like};
    struct checkpoint_state *state = &run->state;
    struct dpmf_evaluation found;
    if (!run->valid) return 0;
    struct dpmf_run quiet = *run->run;
    quiet.progress = NULL;
    quiet.warn = NULL;
    quiet.cluster = NULL; /* each rank ranks for the users that it has */
    int code = model_items_measure(&run->model, error);
    if (code == 0)
        code = dpmf_model_evaluate(&run->model, run->valid,
                                   run->share.own ? run->share.own : run->whole, &options, &quiet,
                                   &found, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = average(run, &found, error);
    if (code < 0) return code;
    epoch->valid_recall = found.recall;
    epoch->valid_ndcg = found.ndcg;
    if (!isnan(state->best_valid) && !(found.ndcg > state->best_valid)) return 0;
    state->best_valid = found.ndcg;
    state->best_epoch = state->epoch;
    return best_epoch_keep(&run->best, &run->model.factors, &run->users, error);
}

static int run_epoch(struct ials_run *run, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    struct factors *factors = &run->model.factors;
    const double begun = clock_now();
    double squares = 0;
    int code = ials_sweep(run->ials, &run->events.users, &factors->users, &factors->items,
                          should_stop, run, NULL, error);
    const struct ials_totals totals = {run->item_events, store_n_users(run->whole)};
    code = cluster_agree(run->cluster, code, error);
    if (code == 0)
        code =
            ials_ranks_sweep_items(run->ials, &run->events.items, &factors->items, &factors->users,
                                   &totals, run->cluster, should_stop, run, &squares, error);
    if (code < 0) return code;
    if (!isfinite(squares)) {
        code = error_set(error, DPMF_ERR_TRAIN_DIVERGED, "the error is not finite");
        error_hint(error, "use a larger penalty");
        return code;
    }
    const double seconds = clock_now() - begun;
    run->state.epoch++;
    run->report->seconds += seconds;
    *epoch = (struct dpmf_epoch){
        .epoch = run->state.epoch,
        .updates_per_second = (double)run->n_events / fmax(seconds, 1e-9),
        .train_rmse = sqrt(squares / (double)run->n_events),
        .valid_rmse = NAN,
        .valid_recall = NAN,
        .valid_ndcg = NAN,
    };
    code = validate(run, epoch, error);
    epoch->seconds = clock_now() - run->started;
    return code;
}

static bool is_finished(const struct ials_run *run) {
    if (run->state.epoch >= run->options->epochs) return true;
    run->report->stopped_early =
        run->valid && checkpoint_state_is_hopeless(&run->state, run->options->patience);
    return run->report->stopped_early;
}

/* An epoch that was interrupted is done again: users' rows that are newer than the items' do no
 * harm, but are not the same bits. */
static int keep_interrupted(struct ials_run *run, int code) {
    if (code == DPMF_ERR_BASE_CANCELLED && run->options->snapshot && !run->cluster &&
        !run->options->deterministic && run->state.epoch > run->snapshot_epoch)
        (void)write_snapshot(run, NULL);
    return code;
}

static int run_epochs(struct ials_run *run,
                      int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
                      struct dpmf_error *error) {
    struct dpmf_train_report *report = run->report;
    const uint32_t first = run->state.epoch;
    bool wanted = true;
    run->started = run->snapshot_time = clock_now();
    run->snapshot_epoch = first;
    report->train_rmse = report->valid_rmse = NAN;
    while (wanted && !is_finished(run)) {
        struct dpmf_epoch epoch;
        int code = run_epoch(run, &epoch, error);
        if (code == 0) code = snapshot_if_due(run, error);
        if (code < 0) return keep_interrupted(run, code);
        report->train_rmse = epoch.train_rmse;
        wanted = !on_epoch || cluster_rank(run->cluster) > 0 || on_epoch(self, &epoch) == 0;
        code = cluster_broadcast(run->cluster, &wanted, sizeof wanted, 0, error);
        if (code < 0) return code;
    }
    report->epochs = run->state.epoch;
    report->valid_ndcg = run->state.best_valid;
    report->updates_per_second =
        (double)(run->state.epoch - first) * (double)run->n_events / fmax(report->seconds, 1e-9);
    return 0;
}

int ials_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
               const struct dpmf_train_options *options, const struct dpmf_run *run,
               int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
               struct dpmf_train_report *report, struct dpmf_error *error) {
    struct ials_run ials = {
        .whole = store,
        .valid = valid,
        .cluster = cluster_of_several(run->cluster),
        .options = options,
        .run = run,
        .report = report,
    };
    if (pthread_mutex_init(&ials.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = prepare(&ials, error);
    const uint64_t before = cluster_bytes_sent(run->cluster);
    if (code == 0) {
        snprintf(report->kernels, sizeof report->kernels, "%s", ials.kernels->name);
        code = run_epochs(&ials, on_epoch, self, error);
    }
    if (code == 0) code = rank_share_report(ials.cluster, before, report, error);
    if (code == 0 && ials.best.kept)
        code = best_epoch_restore(&ials.best, &ials.model.factors, &ials.users, error);
    if (code == 0) code = write_model(&ials, output, false, error);
    free_run(&ials);
    return code;
}
