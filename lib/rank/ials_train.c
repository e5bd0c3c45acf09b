/*
 * The solver "ials": epochs of two sweeps, all users for the items and all items for the users,
 * over events that are in memory twice. A validation set is ranked after every epoch, and the epoch
 * with the best NDCG is kept. The model is a checkpoint without biases, marked as one that ranks,
 * with the rule that new users are fitted by. Fed by a store; feeds a checkpoint.
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
#include "dpmf_text.h"
#include "random/random.h"
#include "rank/ials.h"
#include "recommend/model.h"
#include "store/store.h"
#include "train/best_epoch.h"
#include "train/model_ids.h"
#include "train/resume.h"
#include "train/rows_file.h"

enum {
    PROGRAM_BYTES = 6 << 20, /* the program itself, and what the allocator keeps for later */
    VALID_TOP = 10,          /* the n of the validation's recall and NDCG */
    FIRST_ITEMS = 0x1A15,    /* names the random stream of the first item rows */
};

/* The length that a first row has on average. */
static const double first_length = 0.1;

struct ials_run {
    struct dpmf_store *store, *valid;
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
    if (options->ials.row_steps <= 1000) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE, "a row takes at most 1000 steps");
}

static int check_options(struct ials_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    int code = check_numbers(options, error);
    if (code < 0) return code;
    if (cluster_size(run->run->cluster) > 1) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT, "ials is run by one process");
        error_hint(error, "run it once, without mpirun");
        return code;
    }
    if (options->tiers || options->snapshot_blocks > 0) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "ials has no tiers and no blocks: it goes through whole rows");
        error_hint(error, "leave them out; snapshots can be made after epochs or a time");
        return code;
    }
    run->kernels = kernel_set_choose(options->kernels);
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
    const uint64_t rows = store_n_users(store) + store_n_items(store);
    const uint64_t row = (kernels->stride(k) + 5) * sizeof(float); /* its place in a team, too */
    const uint64_t needed = PROGRAM_BYTES + event_rows_bytes(store) + rows * row +
                            ials_bytes(kernels, k, threads) + more;
    if (needed <= memory) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "%llu MiB of memory are too little for ials, which has all events there",
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
    return ials_memory_check(run->store, run->kernels, run->options->factors, threads,
                             ids + (run->valid ? rows * row : 0), run->run, error);
}

/* ---- before the epochs ----------------------------------------------------------------------- */

static int write_provenance(struct ials_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", "ials");
    dpmf_json_string(json, "goal", "ranking");
    dpmf_json_uint(json, "factors", options->factors);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_double(json, "regularization", options->regularization);
    dpmf_json_double(json, "unobserved", run->rule.unobserved);
    dpmf_json_double(json, "exponent", run->rule.exponent);
    dpmf_json_uint(json, "row_steps", run->rule.steps);
    if (options->ials.has_like) dpmf_json_double(json, "like", options->ials.like);
    dpmf_json_uint(json, "seed", options->seed);
    dpmf_json_string(json, "kernels", run->kernels->name);
    dpmf_json_uint(json, "ratings", store_n_ratings(run->store));
    dpmf_json_uint(json, "events", run->events.n_events);
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
    run->state = (struct checkpoint_state){
        .seed = options->seed,
        .regularization = options->regularization,
        .n_ratings = store_n_ratings(run->store),
        .best_valid = NAN,
        .ranks = true,
        .unobserved = run->rule.unobserved,
        .exponent = run->rule.exponent,
        .has_like = options->ials.has_like,
        .like = options->ials.has_like ? options->ials.like : 0,
    };
    return store_digest(run->store, &run->state.fingerprint, error);
}

static int resume(struct ials_run *run, struct dpmf_error *error) {
    struct checkpoint_file file;
    if (!run->options->resume) return 0;
    int code = resume_open(&file, run->options->resume, run->options->factors, &run->state, error);
    if (code < 0) return code;
    /* There is no schedule that would depend on the number of epochs. */
    struct dpmf_train_options options = *run->options;
    options.decay = 0;
    code = resume_compare(&file, &options, run->kernels->name, run->valid != NULL, run->run, error);
    if (code == 0)
        code = resume_read(&file, &run->model.factors, &run->users, run->valid ? &run->best : NULL,
                           error);
    if (code == 0) run->state = file.state;
    checkpoint_file_close(&file);
    return code;
}

static int read_events(struct ials_run *run, struct dpmf_error *error) {
    const struct dpmf_train_options *options = run->options;
    int code = event_rows_read(&run->events, run->store, least_like(options), run->run, error);
    if (code < 0) return code;
    if (run->events.n_events == 0) {
        code = error_set(error, DPMF_ERR_INPUT_EMPTY, "none of the ratings is a like");
        error_hint(error, "let lower ratings count as likes too");
        return code;
    }
    run->rule = (struct ials_rule){
        .unobserved = options->ials.unobserved > 0
                          ? options->ials.unobserved
                          : ials_default_unobserved(run->events.n_events, run->events.users.n,
                                                    run->events.items.n),
        .penalty = options->regularization,
        .exponent = options->ials.exponent,
        .steps = options->ials.row_steps,
    };
    return 0;
}

static int prepare(struct ials_run *run, struct dpmf_error *error) {
    const int threads = threads_wanted(run->run);
    struct factors *factors = &run->model.factors;
    const double begun = clock_now();
    int code = check_options(run, error);
    if (code == 0) code = model_ids_fill_users(&factors->user_ids, run->store, error);
    if (code == 0) code = model_ids_fill_items(&factors->item_ids, run->store, NULL, error);
    if (code == 0) code = plan_memory(run, threads, error);
    if (code == 0) code = read_events(run, error);
    if (code == 0) code = make_model(run, error);
    if (code == 0) code = begin_state(run, error);
    if (code == 0) code = write_provenance(run, error);
    if (code == 0) code = resume(run, error);
    if (code == 0) code = thread_pool_init(&run->pool, threads, error);
    if (code == 0)
        code = ials_init(&run->ials, run->kernels, run->options->factors, &run->rule, run->pool,
                         error);
    run->report->tiling_seconds = clock_now() - begun;
    return code;
}

static void free_run(struct ials_run *run) {
    ials_free(run->ials);
    thread_pool_free(run->pool);
    best_epoch_free(&run->best);
    factors_free(&run->model.factors);
    free(run->model.item_norms);
    event_rows_free(&run->events);
    free(run->provenance);
    pthread_mutex_destroy(&run->progress_lock);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static int write_model(const struct ials_run *run, const char *path, bool with_best,
                       struct dpmf_error *error) {
    const struct factors *factors = &run->model.factors;
    const struct row_store items =
        row_store_of(factors->items.rows, factors->items.n, factors->items.stride);
    struct checkpoint_draft *draft = NULL;
    int code = checkpoint_draft_open(&draft, path, factors, with_best, run->provenance, error);
    if (code < 0) return code;
    code = checkpoint_draft_put_ids(draft, error);
    if (code == 0)
        code = rows_file_save(&run->users, factors->users.biases, CHECKPOINT_USERS, draft, error);
    if (code == 0)
        code = rows_file_save(&items, factors->items.biases, CHECKPOINT_ITEMS, draft, error);
    if (code == 0 && with_best) code = best_epoch_save(&run->best, draft, error);
    if (code == 0) return checkpoint_draft_commit(draft, &run->state, error);
    checkpoint_draft_abandon(draft);
    return code;
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
    int code = model_items_measure(&run->model, error);
    if (code == 0)
        code = dpmf_model_evaluate(&run->model, run->valid, run->store, &options, &quiet, &found,
                                   error);
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
    if (code == 0)
        code = ials_sweep(run->ials, &run->events.items, &factors->items, &factors->users,
                          should_stop, run, &squares, error);
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
        .updates_per_second = (double)run->events.n_events / fmax(seconds, 1e-9),
        .train_rmse = sqrt(squares / (double)run->events.n_events),
        .valid_rmse = NAN,
        .valid_recall = NAN,
        .valid_ndcg = NAN,
    };
    code = validate(run, epoch, error);
    epoch->seconds = clock_now() - run->started;
    return code;
}

static bool is_finished(const struct ials_run *run) {
    const struct checkpoint_state *state = &run->state;
    const uint32_t patience = run->options->patience;
    if (state->epoch >= run->options->epochs) return true;
    run->report->stopped_early = run->valid && patience > 0 && !isnan(state->best_valid) &&
                                 state->epoch - state->best_epoch >= patience;
    return run->report->stopped_early;
}

/* An epoch that was interrupted is done again: users' rows that are newer than the items' do no
 * harm, but are not the same bits. */
static int keep_interrupted(struct ials_run *run, int code) {
    if (code == DPMF_ERR_BASE_CANCELLED && run->options->snapshot && !run->options->deterministic &&
        run->state.epoch > run->snapshot_epoch)
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
        if (code == 0 && is_due(run)) code = write_snapshot(run, error);
        if (code < 0) return keep_interrupted(run, code);
        report->train_rmse = epoch.train_rmse;
        wanted = !on_epoch || on_epoch(self, &epoch) == 0;
    }
    report->epochs = run->state.epoch;
    report->valid_ndcg = run->state.best_valid;
    report->updates_per_second = (double)(run->state.epoch - first) * (double)run->events.n_events /
                                 fmax(report->seconds, 1e-9);
    return 0;
}

int ials_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
               const struct dpmf_train_options *options, const struct dpmf_run *run,
               int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
               struct dpmf_train_report *report, struct dpmf_error *error) {
    struct ials_run ials = {
        .store = store, .valid = valid, .options = options, .run = run, .report = report};
    if (pthread_mutex_init(&ials.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = prepare(&ials, error);
    if (code == 0) {
        snprintf(report->kernels, sizeof report->kernels, "%s", ials.kernels->name);
        code = run_epochs(&ials, on_epoch, self, error);
    }
    if (code == 0 && ials.best.kept)
        code = best_epoch_restore(&ials.best, &ials.model.factors, &ials.users, error);
    if (code == 0) code = write_model(&ials, output, false, error);
    free_run(&ials);
    return code;
}
