/*
 * dpmf_train_continue: a checkpoint and new ratings to another checkpoint. An epoch solves for the
 * users who have new ratings, then for the items (continue_rows.h); a validation set is looked at
 * after each, and the best one is kept. Fed by programs and bindings.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "cluster/cluster.h"
#include "compare/compare_scale.h"
#include "compare/compare_stores.h"
#include "continue/continue_history.h"
#include "continue/continue_model.h"
#include "continue/continue_rows.h"
#include "dpmf_text.h"
#include "files/file_kind.h"
#include "files/output_file.h"
#include "rank/event_rows.h"
#include "recommend/model.h"
#include "sample/rating_rows.h"
#include "store/store.h"
#include "train/best_epoch.h"
#include "train/rates.h"
#include "train/resume.h"
#include "train/rows_file.h"
#include "train/valid_set.h"

enum {
    PROGRAM_BYTES = 6 << 20, /* the program itself, and what the allocator keeps for later */
    VALID_TOP = 10,          /* the n of the validation's recall and NDCG */
    SPARE_ROWS = 1,          /* kernels may read a row ahead */
    EPOCHS = 2,              /* a third changes RMSE by less than 0.0001 */
};

/* Without a penalty a user with few ratings has many fits. As at home: recommend/ridge.c */
static const double smallest_penalty = 1e-3;

struct continuation {
    const char *path; /* the model's path */
    struct dpmf_store *store, *valid;
    const struct dpmf_continue_options *options;
    const struct dpmf_run *run;
    struct dpmf_train_report *report;
    const struct kernel_set *kernels;
    struct thread_pool *pool;
    struct continue_model model;
    struct rating_rows ratings; /* new data, for a model that predicts ratings */
    struct event_rows events;   /* new data, for a model that ranks */
    float *event_weights;       /* what they weigh for items that are not new */
    uint64_t n_new;             /* ratings or events */
    struct continue_side users, items;
    uint32_t *near_users, *near_items; /* numbers of those that later epochs solve for */
    uint64_t n_near_users, n_near_items;
    struct continue_rows *rows;
    struct continue_moments user_moments, item_moments;
    struct continue_history again; /* in place of these, where there is a history */
    struct row_store user_rows;
    struct valid_set *valid_set;
    struct dpmf_model ranker; /* the same model, as validation by ranking sees it */
    struct best_epoch best;
    struct checkpoint_state state;
    char *provenance;
    double started, snapshot_time;
    uint32_t snapshot_epoch;
    double squares; /* squared errors of the new ratings; NAN before the first epoch */

    pthread_mutex_t progress_lock;
    _Atomic bool stopped;
};

void dpmf_continue_options_init(struct dpmf_continue_options *options, size_t size) {
    const struct dpmf_continue_options made = {
        .size = sizeof made, .epochs = EPOCHS, .patience = 1};
    options_give(options, size, &made, sizeof made);
}

/* ---- what can be continued with what --------------------------------------------------------- */

static int check_options(struct continuation *self, struct dpmf_error *error) {
    if (self->options->epochs < 1)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there must be at least one epoch");
    int code = cluster_check_alone(self->run->cluster, "a model is continued in a single process",
                                   "run it without mpirun: new ratings are usually few", error);
    if (code < 0) return code;
    if (store_n_ratings(self->store) == 0)
        return error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "there are no ratings to train on");
    self->kernels = kernel_set_choose(self->options->kernels);
    if (self->kernels) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                     self->options->kernels ? self->options->kernels : "$DPMF_KERNELS");
}

/* To a model that ranks by likes, events say less than ratings do; to one of events, ratings say
 * nothing of who has what. */
static int check_events(const struct continuation *self, struct dpmf_error *error) {
    const struct checkpoint_state *state = &self->model.state;
    const bool are_events = store_holds_events(self->store);
    if (state->has_like && !state->is_of_events && are_events) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "the model learned from ratings, of which those of at least %g are likes, but "
                  "these are events: nothing says that they are likes",
                  state->like);
        error_hint(error, "continue it with ratings");
    } else if (state->is_of_events && !are_events) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "the model learned from events, but these are ratings");
        error_hint(error, "turn them into events as before: {:import} and {like 4}, or {like any}");
    } else if (state->count_weight > 0) {
        /* It has how many events stand behind each row, not what they weigh. */
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "a model whose events are weighted by their counts cannot be continued");
        error_hint(error, "train it again, on all events");
    } else
        return 0;
    error_place(error, store_path(self->store), 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int check_kind(const struct continuation *self, struct dpmf_error *error) {
    const bool ranks = self->model.state.ranks;
    int code = ranks ? check_events(self, error) : 0;
    if (code < 0) return code;
    if (!ranks && store_holds_events(self->store)) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "the model predicts ratings, but these are events: counts, without ratings");
        error_hint(error, "continue a model that ranks, of {solver ials}");
        error_place(error, store_path(self->store), 0, 0);
        return DPMF_ERR_USAGE_CONFLICT;
    }
    if (self->valid && store_holds_events(self->valid) != store_holds_events(self->store)) {
        error_set(
            error, DPMF_ERR_USAGE_CONFLICT,
            "the new ratings and the validation set differ: one holds events, the other ratings");
        error_hint(error, "turn the ratings into events first, with {:import} and {like any}");
        error_place(error, store_path(self->valid), 0, 0);
        return DPMF_ERR_USAGE_CONFLICT;
    }
    return 0;
}

/* Old events are for models that rank; for old ratings there is no such solver. */
static int check_history(const struct continuation *self, struct dpmf_error *error) {
    const struct dpmf_store *history = self->options->history;
    if (!history) return 0;
    if (!self->model.state.ranks) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "the model predicts ratings, and is continued without those it was trained on: "
                  "a history is for models that rank");
        error_hint(error, "leave the history out");
    } else if (store_holds_events(history) != store_holds_events(self->store)) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "the new ratings and the history differ: one holds events, the other ratings");
        error_hint(error, "give the history as the model was trained on it");
    } else
        return 0;
    error_place(error, store_path(history), 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

/* A step beyond the scale may be a rating that nobody gave before; more is another scale. To a
 * model that ranks, how high ratings are says something only where there are likes. */
static int check_scale(struct continuation *self, struct dpmf_error *error) {
    struct checkpoint_state *state = &self->model.state;
    double *min = state->ranks ? &state->rated_min : &self->model.now.min;
    double *max = state->ranks ? &state->rated_max : &self->model.now.max;
    struct dpmf_store_info info;
    char text[300];
    dpmf_store_info(self->store, &info);
    if (state->ranks && !(state->has_like && state->has_scale)) return 0;
    const double unit = factors_unit(*min, *max);
    if (info.min >= *min && info.max <= *max) return 0;
    const double ends[] = {info.min, info.max, *min, *max};
    char end[4][DPMF_DOUBLE_TEXT_MAX];
    for (int i = 0; i < 4; i++) dpmf_format_double(ends[i], end[i]);
    if (info.min < *min - unit || info.max > *max + unit) {
        error_set(error, DPMF_ERR_INPUT_OUT_OF_RANGE,
                  "the ratings are from %s to %s, and the model's from %s to %s", end[0], end[1],
                  end[2], end[3]);
        error_hint(error,
                   "map them to the model's scale: {rescale A:B=%s:%s}, where A and B are its "
                   "ends",
                   end[2], end[3]);
        error_place(error, store_path(self->store), 0, 0);
        return DPMF_ERR_INPUT_OUT_OF_RANGE;
    }
    snprintf(text, sizeof text,
             "the ratings are from %s to %s, and the model's were from %s to %s: its scale is "
             "widened",
             end[0], end[1], end[2], end[3]);
    if (self->run->warn) self->run->warn(self->run->warn_self, text);
    *min = fmin(*min, info.min);
    *max = fmax(*max, info.max);
    return 0;
}

/* At the most: the checkpoint while it is copied, rows from before, rows as they become, the best
 * epoch's, and one side weighted. Ids are in the model and in the store. */
static int check_memory(const struct continuation *self, uint64_t file_bytes, uint32_t k,
                        uint64_t n_users, uint64_t n_items, struct dpmf_error *error) {
    const uint64_t mebibyte = (uint64_t)1 << 20;
    const uint64_t memory = self->run->memory ? self->run->memory : host_default_budget();
    const uint64_t rows = n_users + n_items, larger = n_users > n_items ? n_users : n_items;
    const uint64_t row = (self->kernels->stride(k) + 1) * sizeof(float);
    const int threads = threads_wanted(self->run);
    const struct dpmf_store *history = self->options->history;
    const uint64_t needed =
        PROGRAM_BYTES + 2 * file_bytes + (self->valid ? 2 : 1) * rows * row +
        rating_rows_bytes(self->store, true) +
        (store_n_users(self->store) + store_n_items(self->store)) * sizeof(uint32_t) +
        (history ? continue_history_bytes(history, self->store, self->kernels, k, threads)
                 : continue_rows_bytes(self->kernels, k, larger, threads));
    if (needed <= memory) return 0;
    error_set(error, DPMF_ERR_USAGE_MEMORY,
              "%llu MiB is too little to continue this model, which must be in memory as a whole",
              (unsigned long long)(memory / mebibyte));
    error_hint(error, "allow {memory %lluMiB} or more",
               (unsigned long long)((needed + mebibyte - 1) / mebibyte));
    return DPMF_ERR_USAGE_MEMORY;
}

/* ---- before the epochs ----------------------------------------------------------------------- */

/* Before the model is read. What is neither a checkpoint nor a release is refused with it. */
static int plan_memory(const struct continuation *self, struct dpmf_error *error) {
    struct checkpoint_file file;
    struct safetensors *opened = NULL;
    int code = safetensors_open(self->path, &opened, error);
    if (code < 0) return code;
    const char *kind = safetensors_metadata(opened, "dpmf.kind");
    const bool is_checkpoint = kind && strcmp(kind, "checkpoint") == 0;
    const uint64_t bytes = safetensors_file_bytes(opened);
    safetensors_close(opened);
    if (!is_checkpoint) return 0;
    code = checkpoint_file_open(&file, self->path, error);
    if (code < 0) return code;
    code = check_memory(self, bytes, file.k, file.n_users + store_n_users(self->store),
                        file.n_items + store_n_items(self->store), error);
    checkpoint_file_close(&file);
    return code;
}

static void warn_about_file(const struct continuation *self) {
    const struct continue_model *model = &self->model;
    if (!self->run->warn) return;
    if (model->state.is_unchecked)
        self->run->warn(self->run->warn_self,
                        "the model was written by an older version, without a checksum: damage to "
                        "it cannot be detected");
    if (model->state.has_like && !model->state.has_scale)
        self->run->warn(self->run->warn_self,
                        "the model does not say what scale its ratings had: whether these ratings "
                        "fit it cannot be checked");
    if (!model->has_user_counts)
        self->run->warn(self->run->warn_self,
                        "the model does not say how many ratings each user has: all are held as if "
                        "they had as many as the average");
}

/* Nothing known at all is more often columns in the wrong order, or other ids, than news. */
static void warn_about_ids(const struct continuation *self) {
    const struct continue_model *model = &self->model;
    const bool no_user = model->new_users == store_n_users(self->store);
    const bool no_item = model->new_items == store_n_items(self->store);
    if (!self->run->warn || (!no_user && !no_item)) return;
    self->run->warn(self->run->warn_self,
                    no_user && no_item
                        ? "the model knows none of the users and none of the items: are columns "
                          "swapped, or are these other ids?"
                    : no_user ? "the model knows none of the users: all of them are added"
                              : "the model knows none of the items: all of them are added");
}

/* Numbers of the store become rows of the model. */
static void renumber(uint32_t *other, uint64_t n, const uint32_t *rows) {
    for (uint64_t i = 0; i < n; i++) other[i] = rows[other[i]];
}

static int read_ratings(struct continuation *self, struct dpmf_error *error) {
    struct rating_rows *ratings = &self->ratings;
    const struct continue_model *model = &self->model;
    int code = rating_rows_read(ratings, self->store, NULL, store_n_ratings(self->store), self->run,
                                error);
    if (code < 0) return code;
    const float shift = (float)(ratings->mean + store_base(self->store) - model->now.offset);
    for (uint64_t i = 0; i < ratings->n_ratings; i++) {
        ratings->users.value[i] += shift;
        ratings->items.value[i] += shift;
    }
    self->n_new = ratings->n_ratings;
    renumber(ratings->users.other, ratings->n_ratings, model->item_rows);
    renumber(ratings->items.other, ratings->n_ratings, model->user_rows);
    self->users = (struct continue_side){.start = ratings->users.start,
                                         .other = ratings->users.other,
                                         .value = ratings->users.value};
    self->items = (struct continue_side){.start = ratings->items.start,
                                         .other = ratings->items.other,
                                         .value = ratings->items.value};
    return 0;
}

/* Counts are of ratings. Where only likes count, they are taken to be as large a share of the old
 * ratings as of the new ones. */
static void count_likes(struct continuation *self) {
    struct continue_model *model = &self->model;
    const float share = (float)((double)self->n_new / (double)store_n_ratings(self->store));
    for (uint64_t i = 0; i < model->now.user_ids.n; i++) model->user_counts[i] *= share;
    for (uint64_t i = 0; i < model->now.item_ids.n; i++) model->item_counts[i] *= share;
}

/* The share of the events of a row, old and new, that are new. */
static float new_share(const uint64_t *start, uint64_t number, const float *counts,
                       const uint32_t *rows) {
    const float n = (float)(start[number + 1] - start[number]);
    return n / (n + counts[rows[number]]);
}

/* An item's event weighs as much as it is news to its user or to the item. */
static int weigh_events(struct continuation *self, struct dpmf_error *error) {
    const struct event_rows *events = &self->events;
    const struct continue_model *model = &self->model;
    const uint64_t *start = events->items.start;
    self->event_weights = memory_alloc((size_t)events->n_events + 1, sizeof(float));
    if (!self->event_weights) return error_no_memory(error);
    for (uint64_t i = 0; i < store_n_items(self->store); i++)
        for (uint64_t j = start[i]; j < start[i + 1]; j++) {
            const float of_user = new_share(events->users.start, events->items.other[j],
                                            model->user_counts, model->user_rows);
            const float of_item = new_share(start, i, model->item_counts, model->item_rows);
            self->event_weights[j] = 1 - (1 - of_user) * (1 - of_item);
        }
    return 0;
}

static int read_events(struct continuation *self, struct dpmf_error *error) {
    const struct continue_model *model = &self->model;
    struct event_rows *events = &self->events;
    const double like = model->state.has_like ? model->state.like : -INFINITY;
    int code = event_rows_read(events, self->store, like, 0, self->run, error);
    if (code < 0) return code;
    self->n_new = events->n_events;
    if (self->n_new == 0) {
        error_set(error, DPMF_ERR_INPUT_EMPTY, "none of the ratings is a like: all are below %g",
                  like);
        error_hint(error, "there is nothing to learn for a model that ranks by likes");
        return DPMF_ERR_INPUT_EMPTY;
    }
    if (self->options->history) {
        const struct event_numbers users = {model->user_rows, model->now.user_ids.n};
        const struct event_numbers items = {model->item_rows, model->now.item_ids.n};
        code = event_rows_renumber(events, &users, &items, error);
    } else {
        count_likes(self);
        code = weigh_events(self, error);
        renumber(events->users.other, events->n_events, model->item_rows);
        renumber(events->items.other, events->n_events, model->user_rows);
    }
    if (code < 0) return code;
    self->users =
        (struct continue_side){.start = events->users.start, .other = events->users.other};
    self->items = (struct continue_side){
        .start = events->items.start, .other = events->items.other, .weight = self->event_weights};
    return 0;
}

static int read_new(struct continuation *self, struct dpmf_error *error) {
    struct continue_model *model = &self->model;
    int code = model->state.ranks ? read_events(self, error) : read_ratings(self, error);
    if (code < 0) return code;
    self->users.n = store_n_users(self->store);
    self->users.row = model->user_rows;
    self->users.counts = model->user_counts;
    self->users.bias_hold = model->state.user_bias_hold;
    self->users.before = &model->before.users;
    self->users.own = &model->now.users;
    self->items.n = store_n_items(self->store);
    self->items.row = model->item_rows;
    self->items.counts = model->item_counts;
    self->items.bias_hold = model->state.item_bias_hold;
    self->items.before = &model->before.items;
    self->items.own = &model->now.items;
    self->near_users = memory_alloc((size_t)self->users.n + 1, sizeof *self->near_users);
    self->near_items = memory_alloc((size_t)self->items.n + 1, sizeof *self->near_items);
    if (!self->near_users || !self->near_items) return error_no_memory(error);
    self->n_near_users = continue_side_near_new(&self->users, model->item_counts, self->near_users);
    self->n_near_items = continue_side_near_new(&self->items, model->user_counts, self->near_items);
    return 0;
}

/* Vectors are solved for from what the history has, whatever the model has seen. */
static void warn_about_history(const struct continuation *self) {
    const struct continue_history *again = &self->again;
    const char *what = store_holds_events(self->store) ? "events" : "ratings";
    char text[256];
    if (!self->run->warn) return;
    if (again->odd_users + again->odd_items > 0) {
        snprintf(text, sizeof text,
                 "%llu users and %llu items have more or fewer %s in the history than the model "
                 "counted: the history is what is used",
                 (unsigned long long)again->odd_users, (unsigned long long)again->odd_items, what);
        self->run->warn(self->run->warn_self, text);
    }
    if (again->n_twice > 0) {
        snprintf(text, sizeof text,
                 "%llu %s of the history are among the new ones too: the new ones count",
                 (unsigned long long)again->n_twice, what);
        self->run->warn(self->run->warn_self, text);
    }
}

/* With the old events at hand nothing has to stand for them. */
static int make_again(struct continuation *self, struct dpmf_error *error) {
    int code = thread_pool_init(&self->pool, threads_wanted(self->run), error);
    const struct continue_history_given given = {
        .history = self->options->history,
        .store = self->store,
        .model = &self->model,
        .events = &self->events,
        .kernels = self->kernels,
        .pool = self->pool,
        .near_users = {self->near_users, self->n_near_users},
        .near_items = {self->near_items, self->n_near_items}};
    if (code == 0) code = continue_history_init(&self->again, &given, self->run, error);
    if (code < 0) return code;
    warn_about_history(self);
    self->report->old_events = self->again.n_old;
    self->model.state.unobserved = self->again.unobserved;
    self->state.unobserved = self->ranker.state.unobserved = self->again.unobserved;
    return 0;
}

static int make_rows(struct continuation *self, struct dpmf_error *error) {
    if (self->options->history) return make_again(self, error);
    const struct continue_model *model = &self->model;
    const double unit = factors_unit(model->before.min, model->before.max);
    const double least = model->state.ranks ? 0 : smallest_penalty;
    const double reg = fmax(model->state.regularization, least);
    const struct continue_rule rule = {
        .ranks = model->state.ranks,
        .penalty = model->state.ranks ? reg : reg * unit,
        .bias_penalty = RATES_BIAS_REG * reg,
        .unobserved = model->state.unobserved,
        .exponent = model->state.exponent,
    };
    int code = thread_pool_init(&self->pool, threads_wanted(self->run), error);
    if (code == 0)
        code =
            continue_rows_init(&self->rows, self->kernels, model->now.k, &rule, self->pool, error);
    if (code == 0)
        code = continue_moments_find(&self->user_moments, self->rows, &self->items,
                                     &model->before.users, model->user_counts, error);
    if (code == 0)
        code = continue_moments_find(&self->item_moments, self->rows, &self->users,
                                     &model->before.items, model->item_counts, error);
    return code;
}

/* Whether the model has learned from ratings with this digest, as the last thing: they would count
 * twice. (The fingerprint of a model that ranks is such a digest.) */
static bool has_learned(const struct checkpoint_state *state, uint64_t digest) {
    return digest != 0 && (state->digest == digest || state->fingerprint == digest);
}

/* Someone may rate an item again, and play it every day. */
static void warn_of_learned(const struct continuation *self, bool are_all) {
    const bool events = store_holds_events(self->store);
    const char *noun = events ? "events" : "ratings";
    const double share = self->model.learned_share, usual = events ? 0.5 : 0.1;
    char text[DPMF_ERROR_TEXT_MAX];
    if (!self->run->warn || (!are_all && share <= usual)) return;
    if (are_all || share == 1)
        snprintf(text, sizeof text,
                 "the model has learned these %s already: they count twice, where new ones are "
                 "meant",
                 noun);
    else
        snprintf(text, sizeof text,
                 "the model has learned about %.2g %% of these %s already: they count twice, where "
                 "new ones are meant",
                 100 * share, noun);
    self->run->warn(self->run->warn_self, text);
}

/* What the model becomes is a function of both: a snapshot is of this very run only if they are
 * the same. */
static int begin_state(struct continuation *self, struct dpmf_error *error) {
    const struct continue_model *model = &self->model;
    uint64_t digest = 0, old = 0;
    int code = store_digest(self->store, &digest, error);
    if (code == 0 && self->options->history)
        code = store_digest(self->options->history, &old, error);
    if (code < 0) return code;
    if (!self->options->history) warn_of_learned(self, has_learned(&model->state, digest));
    self->state = model->state;
    self->state.epoch = 0;
    self->state.seed = self->options->seed;
    self->state.n_ratings += store_n_ratings(self->store);
    self->state.fingerprint = checksum64_seeded(model->checksum, strlen(model->checksum),
                                                digest ^ old ^ model->state.fingerprint);
    self->state.digest = digest;
    self->state.valid_digest = 0;
    if (self->valid) code = store_digest(self->valid, &self->state.valid_digest, error);
    self->state.best_valid = NAN;
    self->state.best_epoch = 0;
    self->state.is_unchecked = false;
    self->state.superblock_users = self->state.superblocks_done = self->state.ratings_done = 0;
    self->state.squared_error = 0;
    self->state.tiles = 0;
    self->state.order[0] = '\0';
    return code;
}

static int write_provenance(struct continuation *self, struct dpmf_error *error) {
    const struct continue_model *model = &self->model;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    dpmf_json_string(json, "solver", model->solver);
    if (model->state.ranks) dpmf_json_string(json, "goal", "ranking");
    dpmf_json_uint(json, "continued", model->continued + 1);
    if (model->checksum[0]) dpmf_json_string(json, "continued_from", model->checksum);
    dpmf_json_uint(json, "factors", model->now.k);
    dpmf_json_uint(json, "epochs", self->options->epochs);
    dpmf_json_double(json, "regularization", model->state.regularization);
    if (model->state.ranks) {
        dpmf_json_double(json, "unobserved", model->state.unobserved);
        dpmf_json_double(json, "exponent", model->state.exponent);
        if (model->state.has_like) dpmf_json_double(json, "like", model->state.like);
    }
    dpmf_json_uint(json, "seed", self->options->seed);
    dpmf_json_string(json, "kernels", self->kernels->name);
    dpmf_json_bool(json, "deterministic", self->options->deterministic);
    dpmf_json_uint(json, "ratings", self->state.n_ratings);
    dpmf_json_uint(json, "new_ratings", store_n_ratings(self->store));
    if (self->options->history) dpmf_json_uint(json, "old_events", self->again.n_old);
    dpmf_json_uint(json, "new_users", model->new_users);
    dpmf_json_uint(json, "new_items", model->new_items);
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, NULL);
    self->provenance = text ? strdup(text) : NULL;
    dpmf_json_free(json);
    return self->provenance ? 0 : error_no_memory(error);
}

static int make_valid(struct continuation *self, struct dpmf_error *error) {
    struct factors *factors = &self->model.now;
    if (!self->valid) return 0;
    int code = best_epoch_init(&self->best, factors, NULL, error);
    if (code == 0 && !self->model.state.ranks)
        return valid_set_init(&self->valid_set, self->valid, factors, NULL, error);
    self->ranker = (struct dpmf_model){.kind = MODEL_CHECKPOINT,
                                       .factors = *factors,
                                       .state = self->model.state,
                                       .taste_weight = 1,
                                       .padded_k = self->kernels->padded_k(factors->k),
                                       .kernels = score_kernels_choose(self->kernels->name)};
    if (code == 0 && !self->ranker.kernels)
        code = error_set(error, DPMF_ERR_BASE_BUG, "no kernels to rank with");
    return code;
}

static int resume(struct continuation *self, struct dpmf_error *error) {
    struct checkpoint_file file = {0};
    struct dpmf_train_options options = dpmf_train_options_default();
    if (!self->options->resume) return 0;
    options.epochs = self->options->epochs;
    options.deterministic = self->options->deterministic;
    options.decay = 0; /* there is no schedule that would depend on the number of epochs */
    int code = resume_open(&file, self->options->resume, self->model.now.k, &self->state, error);
    if (code < 0) return code;
    code = resume_compare(&file, &options, self->kernels->name, self->state.valid_digest, self->run,
                          error);
    if (code == 0)
        code = resume_read(&file, &self->model.now, &self->user_rows,
                           self->valid ? &self->best : NULL, error);
    self->state = file.state;
    checkpoint_file_close(&file);
    return code;
}

/* A validation set may have users and items of the model that have no new ratings. */
static int check_valid(const struct continuation *self, struct dpmf_error *error) {
    const struct factors *now = &self->model.now;
    const uint64_t n = self->valid ? store_n_items(self->valid) : 0;
    uint64_t n_known = 0;
    for (uint64_t i = 0; i < n && n_known == 0; i++) {
        const struct store_item item = store_item_at(self->valid, i);
        n_known += factor_ids_find(&now->item_ids, item.id, item.id_length) != UINT64_MAX;
    }
    if (n > 0 && n_known == 0) {
        error_set(error, DPMF_ERR_INPUT_ID, "the model knows none of the items in this");
        error_hint(error, "ids are compared byte by byte with those of the model and of the new "
                          "ratings");
        error_place(error, store_path(self->valid), 0, 0);
        return DPMF_ERR_INPUT_ID;
    }
    if (n == 0 || self->model.state.ranks) return 0;
    return compare_scale(self->valid, now->min, now->max, "the model", self->run, error);
}

/* Where rows are solved for from a history, nobody asks where they were. */
static int open_model(struct continuation *self, struct dpmf_error *error) {
    const struct continue_layout layout = {.kernels = self->kernels,
                                           .spare = SPARE_ROWS,
                                           .seed = self->options->seed,
                                           .keeps_before = self->options->history == NULL};
    return continue_model_open(&self->model, self->path, self->store, &layout, error);
}

static int prepare(struct continuation *self, struct dpmf_error *error) {
    const double begun = clock_now();
    struct continue_model *model = &self->model;
    int code = check_options(self, error);
    if (code == 0) code = plan_memory(self, error);
    if (code == 0) code = open_model(self, error);
    if (code == 0) code = check_kind(self, error);
    if (code == 0) code = check_history(self, error);
    if (code == 0) code = check_scale(self, error);
    if (code == 0) code = check_valid(self, error);
    if (code < 0) return code;
    warn_about_file(self);
    warn_about_ids(self);
    self->report->new_users = model->new_users;
    self->report->new_items = model->new_items;
    self->user_rows =
        row_store_of(model->now.users.rows, model->now.users.n, model->now.users.stride);
    code = begin_state(self, error);
    if (code == 0) code = make_valid(self, error);
    if (code == 0) code = read_new(self, error);
    if (code == 0) code = make_rows(self, error);
    if (code == 0) code = write_provenance(self, error);
    if (code == 0) code = resume(self, error);
    self->report->tiling_seconds = clock_now() - begun;
    return code;
}

static void free_all(struct continuation *self) {
    continue_history_free(&self->again);
    continue_moments_free(&self->user_moments);
    continue_moments_free(&self->item_moments);
    continue_rows_free(self->rows);
    thread_pool_free(self->pool);
    valid_set_free(self->valid_set);
    best_epoch_free(&self->best);
    free(self->near_users);
    free(self->near_items);
    free(self->event_weights);
    rating_rows_free(&self->ratings);
    event_rows_free(&self->events);
    continue_model_free(&self->model);
    free(self->ranker.item_norms);
    free(self->provenance);
    pthread_mutex_destroy(&self->progress_lock);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_model(const struct continuation *self, const char *path, bool with_best,
                       struct dpmf_error *error) {
    const struct factors *factors = &self->model.now;
    const struct factor_matrix *items = &factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    struct checkpoint_draft *draft = NULL;
    /* Others may have written there since the run began and looked. */
    int code = file_kind_check(path, DPMF_FILE_CHECKPOINT, self->run->replace, error);
    if (code == 0)
        code = checkpoint_draft_open(&draft, path, factors, with_best, self->provenance, error);
    if (code == 0) code = checkpoint_draft_put_ids(draft, error);
    if (code == 0)
        code =
            rows_file_save(&self->user_rows, factors->users.biases, CHECKPOINT_USERS, draft, error);
    if (code == 0) code = rows_file_save(&item_rows, items->biases, CHECKPOINT_ITEMS, draft, error);
    if (code == 0 && with_best) code = best_epoch_save(&self->best, draft, error);
    if (code == 0) return checkpoint_draft_commit(draft, &self->state, error);
    checkpoint_draft_abandon(draft);
    return code;
}

static int snapshot_if_due(struct continuation *self, struct dpmf_error *error) {
    const struct dpmf_continue_options *options = self->options;
    const uint32_t every = options->snapshot_every > 0 ? options->snapshot_every : 1;
    const bool due = options->snapshot_seconds > 0
                         ? clock_now() - self->snapshot_time >= options->snapshot_seconds
                         : self->state.epoch - self->snapshot_epoch >= every;
    if (!options->snapshot || !due) return 0;
    self->snapshot_epoch = self->state.epoch;
    self->snapshot_time = clock_now();
    return write_model(self, options->snapshot,
                       self->best.kept && self->state.best_epoch != self->state.epoch, error);
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static bool should_stop(void *data) {
    struct continuation *self = data;
    if (!self->run->progress) return false;
    if (atomic_load_explicit(&self->stopped, memory_order_relaxed)) return true;
    if (pthread_mutex_trylock(&self->progress_lock) != 0) return false;
    const struct dpmf_progress progress = {.phase = "training",
                                           .unit = "epochs",
                                           .done = self->state.epoch,
                                           .total = self->options->epochs};
    if (self->run->progress(self->run->progress_self, &progress))
        atomic_store(&self->stopped, true);
    pthread_mutex_unlock(&self->progress_lock);
    return atomic_load(&self->stopped);
}

static int rank_valid(struct continuation *self, struct dpmf_epoch *epoch,
                      struct dpmf_error *error) {
    const struct dpmf_evaluate_options options = {.size = sizeof options,
                                                  .ranking = VALID_TOP,
                                                  .has_like = self->state.has_like,
                                                  .like = self->state.like};
    struct dpmf_evaluation found;
    struct dpmf_run quiet = *self->run;
    quiet.progress = NULL;
    quiet.warn = NULL;
    int code = model_items_measure(&self->ranker, error);
    if (code == 0)
        code = dpmf_model_evaluate(&self->ranker, self->valid, self->store, &options, &quiet,
                                   &found, error);
    epoch->valid_recall = code == 0 ? found.recall : NAN;
    epoch->valid_ndcg = code == 0 ? found.ndcg : NAN;
    return code;
}

/* The best epoch so far is kept: that of the least error or, of rankings, of the most NDCG. */
static int validate(struct continuation *self, struct dpmf_epoch *epoch, struct dpmf_error *error) {
    const bool ranks = self->state.ranks;
    struct checkpoint_state *state = &self->state;
    if (!self->valid) return 0;
    int code = ranks ? rank_valid(self, epoch, error)
                     : valid_set_rmse(self->valid_set, &self->model.now, &self->user_rows,
                                      self->kernels, self->pool, &epoch->valid_rmse, error);
    if (code < 0) return code;
    const double found = ranks ? epoch->valid_ndcg : epoch->valid_rmse;
    const bool better = ranks ? found > state->best_valid : found < state->best_valid;
    if (!isnan(state->best_valid) && !better) return 0;
    state->best_valid = found;
    state->best_epoch = state->epoch;
    return best_epoch_keep(&self->best, &self->model.now, &self->user_rows, error);
}

/* The first epoch solves for all who have new ratings, later ones near what is new. */
static void pick_rows(struct continuation *self) {
    const bool is_later = self->state.epoch > 0;
    self->users.pick = is_later ? self->near_users : NULL;
    self->users.n_picked = self->n_near_users;
    self->items.pick = is_later ? self->near_items : NULL;
    self->items.n_picked = self->n_near_items;
}

static int sweep_by_memory(struct continuation *self, struct dpmf_error *error) {
    struct continue_model *model = &self->model;
    pick_rows(self);
    int code = continue_rows_sweep(self->rows, &self->users, &model->now.items, &self->item_moments,
                                   should_stop, self, error);
    return code < 0 ? code
                    : continue_rows_sweep(self->rows, &self->items, &model->now.users,
                                          &self->user_moments, should_stop, self, error);
}

static int sweep_by_history(struct continuation *self, struct dpmf_error *error) {
    const struct continue_stop stop = {should_stop, self};
    return continue_history_epoch(&self->again, self->state.epoch == 0, &self->model.now, &stop,
                                  error);
}

/* Whether epochs after the first move anything. */
static bool has_near_rows(const struct continuation *self) {
    return self->n_near_users + self->n_near_items > 0;
}

static int run_epoch(struct continuation *self, struct dpmf_epoch *epoch,
                     struct dpmf_error *error) {
    struct continue_model *model = &self->model;
    const double begun = clock_now();
    int code =
        self->options->history ? sweep_by_history(self, error) : sweep_by_memory(self, error);
    if (code < 0) return code;
    if (isnan(self->squares) || self->state.epoch == 0 || has_near_rows(self))
        self->squares =
            continue_rows_squares(self->kernels, model->now.k, &self->users, &model->now.items);
    const double seconds = clock_now() - begun;
    self->state.epoch++;
    self->report->seconds += seconds;
    *epoch = (struct dpmf_epoch){
        .epoch = self->state.epoch,
        .updates_per_second = (double)self->n_new / fmax(seconds, 1e-9),
        .train_rmse = sqrt(self->squares / (double)self->n_new),
        .valid_rmse = NAN,
        .valid_recall = NAN,
        .valid_ndcg = NAN,
    };
    code = validate(self, epoch, error);
    epoch->seconds = clock_now() - self->started;
    return code;
}

static bool is_finished(struct continuation *self) {
    if (self->state.epoch >= self->options->epochs) return true;
    self->report->stopped_early =
        self->valid && checkpoint_state_is_hopeless(&self->state, self->options->patience);
    return self->report->stopped_early;
}

static int run_epochs(struct continuation *self,
                      int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                      void *on_epoch_self, struct dpmf_error *error) {
    struct dpmf_train_report *report = self->report;
    const uint32_t first = self->state.epoch;
    bool wanted = true;
    self->started = self->snapshot_time = clock_now();
    self->snapshot_epoch = first;
    report->train_rmse = report->valid_rmse = report->valid_ndcg = NAN;
    while (wanted && !is_finished(self)) {
        struct dpmf_epoch epoch;
        int code = run_epoch(self, &epoch, error);
        if (code == 0) code = snapshot_if_due(self, error);
        if (code < 0) return code;
        report->train_rmse = epoch.train_rmse;
        wanted = !on_epoch || on_epoch(on_epoch_self, &epoch) == 0;
    }
    report->epochs = self->state.epoch;
    if (self->state.ranks)
        report->valid_ndcg = self->state.best_valid;
    else
        report->valid_rmse = self->state.best_valid;
    report->updates_per_second =
        (double)(self->state.epoch - first) * (double)self->n_new / fmax(report->seconds, 1e-9);
    return 0;
}

int dpmf_train_continue(const char *model, struct dpmf_store *store, struct dpmf_store *valid,
                        const char *output, const struct dpmf_continue_options *options,
                        const struct dpmf_run *run,
                        int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
                        struct dpmf_train_report *report, struct dpmf_error *error) {
    struct dpmf_continue_options own = dpmf_continue_options_default();
    struct dpmf_train_report unwanted;
    struct dpmf_run own_run;
    int code = arguments_check(error, "model store output", model, store, output);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code == 0) code = options_take(&own, sizeof own, options, "continue_options", error);
    if (code == 0) code = output_file_check(output, DPMF_FILE_CHECKPOINT, own_run.replace, error);
    if (code == 0)
        code = resume_check_unfinished(own.snapshot, own.resume, output, own_run.replace, error);
    if (code == 0 && valid) code = compare_apart(store, valid, &own_run, error);
    if (code < 0) return code;
    if (!report) report = &unwanted;
    memset(report, 0, sizeof *report);
    struct continuation all = {.path = model,
                               .store = store,
                               .valid = valid,
                               .options = &own,
                               .run = &own_run,
                               .report = report,
                               .squares = NAN,
                               .user_rows = {.file = -1}};
    if (pthread_mutex_init(&all.progress_lock, NULL) != 0) return error_no_memory(error);
    code = prepare(&all, error);
    if (code == 0) {
        snprintf(report->kernels, sizeof report->kernels, "%s", all.kernels->name);
        code = run_epochs(&all, on_epoch, self, error);
    }
    if (code == 0 && all.best.kept)
        code = best_epoch_restore(&all.best, &all.model.now, &all.user_rows, error);
    if (code == 0) code = write_model(&all, output, false, error);
    free_all(&all);
    return code;
}
