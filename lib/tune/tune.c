/*
 * dpmf_tune: trains again and again with other options and finds those that predict ratings held
 * back best, or of models that rank those that rank them best. What to try next is search.c's to
 * say; here is what a trial is, and when one is stopped because others were better when they had
 * come as far. Trials are compared at the same share of their epochs, not after as many, since that
 * is what the step size goes by. Fed by a store; feeds the command line.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "compare/compare_stores.h"
#include "rank/ials_train.h"
#include "store/store.h"
#include "train/solver_names.h"
#include "tune/search.h"
#include "tune/trial_files.h"

enum { FACTORS, LEARNING_RATE, PENALTY, EPOCHS, UNOBSERVED, N_AXES };
enum { TRIALS_MAX = 10000, FACTORS_MAX = 4096, EPOCHS_MAX = 10000 };
enum { COMPARED_LEAST = 3, PROGRESS_UNITS = 1000 /* units of progress in a trial */ };

/* Where trials are compared: the share of the epochs done, and the share of the trials that go
 * on. */
static const struct rung { double at, kept; } rungs[] = {{1.0 / 3, 2.0 / 3}, {2.0 / 3, 0.5}};

enum { N_RUNGS = sizeof rungs / sizeof rungs[0] };

static const double CLOSE = 1.01; /* times an error: what may still become better than it */

/* A trial's validation errors, epoch by epoch: RMSE, or what NDCG lacks of 1. */
struct curve {
    uint32_t epochs, n; /* epochs of the schedule, and epochs run so far */
    size_t capacity;
    double *error;
};

struct tune {
    struct dpmf_store *store, *valid;
    struct dpmf_store *own_store, *own_valid; /* where the split was made here */
    const struct dpmf_tune_options *options;
    const struct dpmf_train_options *train; /* what all trials have in common */
    const struct dpmf_run *run;
    int (*on_trial)(void *self, const struct dpmf_trial *trial); /* NULL without */
    void *on_trial_self;
    struct dpmf_tune_report *report;
    bool ranks;        /* models that rank, by ials */
    double unobserved; /* where the search for it starts */
    struct trial_files files;
    struct search *search;
    struct dpmf_run trial_run;
    double started;

    struct curve *curves;
    size_t n_curves, curve_capacity;
    size_t best; /* the best of the curves; meaningless before report->best is set */
    struct curve curve;
    struct dpmf_trial trial;
    bool is_stopped; /* the caller's wish */
    bool is_late;
    bool no_memory;
};

/* ---- options --------------------------------------------------------------------------------- */

void dpmf_tune_options_init(struct dpmf_tune_options *options, size_t size) {
    const struct dpmf_tune_options made = {
        .size = sizeof made,
        .trials = 20,
        .valid_fraction = 0.1,
    };
    options_give(options, size, &made, sizeof made);
}

static int check_options(const struct dpmf_tune_options *options,
                         const struct dpmf_train_options *train, struct dpmf_error *error) {
    if (options->trials < 1 || options->trials > TRIALS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of trials must be 1 to %d",
                         TRIALS_MAX);
    if (!(options->seconds >= 0) || !isfinite(options->seconds))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the time must be 0 or more");
    if (!(options->valid_fraction > 0 && options->valid_fraction < 1))
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the share of ratings to hold back must be between 0 and 1");
    if (train->factors < 1 || train->factors > FACTORS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of factors must be 1 to %d",
                         FACTORS_MAX);
    if (train->epochs < 1 || train->epochs > EPOCHS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of epochs must be 1 to %d",
                         EPOCHS_MAX);
    if (!(train->learning_rate > 0) || !isfinite(train->learning_rate))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the learning rate must be above 0");
    if (!(train->regularization >= 0) || !isfinite(train->regularization))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the penalty must be 0 or above");
    if (!(train->ials.unobserved >= 0) || !isfinite(train->ials.unobserved))
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the weight of pairs without an event must be above 0");
    return 0;
}

/* Where the weight of pairs without an event starts, for models that rank. */
static int find_unobserved(struct tune *tune, struct dpmf_error *error) {
    const struct dpmf_train_options *train = tune->train;
    tune->unobserved = 1;
    if (!tune->ranks) return 0;
    return ials_unobserved_find(tune->store, train, &tune->trial_run, &tune->unobserved, error);
}

/* Around where the search starts; the defaults are good, so not far around. */
static struct search_axis axis_around(double start, double below, double above, double least,
                                      double most, double step, bool is_held) {
    return (struct search_axis){
        .start = start,
        .low = fmax(start / below, least),
        .high = fmin(start * above, most),
        .least = least,
        .most = most,
        .step = step,
        .is_held = is_held,
    };
}

static int begin_search(struct tune *tune, struct dpmf_error *error) {
    const struct dpmf_tune_options *options = tune->options;
    const struct dpmf_train_options *train = tune->train;
    const double factor_step = train->factors >= 32 ? 8 : 1;
    struct search_axis axes[N_AXES] = {
        [FACTORS] = axis_around(train->factors, 8, 2, factor_step, FACTORS_MAX, factor_step,
                                options->hold_factors),
        [LEARNING_RATE] = axis_around(train->learning_rate, 6, 4, 1e-9, 1e3, 0,
                                      options->hold_learning_rate || tune->ranks),
        [PENALTY] = axis_around(train->regularization, 5, 5, 1e-9, 1e3, 0,
                                options->hold_regularization || train->regularization == 0),
        [EPOCHS] = axis_around(train->epochs, 2.5, 3, 1, EPOCHS_MAX, 1, options->hold_epochs),
        [UNOBSERVED] = axis_around(tune->unobserved, 5, 5, 1e-9, 1e3, 0,
                                   options->hold_unobserved || !tune->ranks),
    };
    axes[LEARNING_RATE].is_risky = true;
    for (size_t i = 0; i < N_AXES; i++)
        if (!axes[i].is_held && !(axes[i].start >= axes[i].low && axes[i].start <= axes[i].high))
            return error_set(error, DPMF_ERR_USAGE_VALUE, "the search cannot start so far out");
    return search_init(&tune->search, axes, N_AXES, train->seed, error);
}

/* ---- ratings --------------------------------------------------------------------------------- */

/* The coins of the split must not be those of `dpmf split` with the same seed: what that has left
 * of a set would never land on the other side again. */
static int hold_back(struct tune *tune, struct dpmf_error *error) {
    struct dpmf_split_options split = dpmf_split_options_default();
    split.test_fraction = tune->options->valid_fraction;
    split.seed = (tune->train->seed ^ 0x74756e65u) * 0x9e3779b97f4a7c15u;
    int code = trial_files_split(&tune->files, tune->store, &split, &tune->trial_run,
                                 &tune->own_store, &tune->own_valid, error);
    if (code == DPMF_ERR_RATINGS_NONE_LEFT) {
        const char *what = store_holds_events(tune->store) ? "events" : "ratings";
        error_set(error, code, "there are too few %s to hold some of them back", what);
        error_place(error, store_path(tune->store), 0, 0);
        error_hint(error, "give %s to validate on, or hold back another share", what);
        return code;
    }
    tune->store = tune->own_store;
    tune->valid = tune->own_valid;
    return code;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* The error at a share of the epochs, between two epochs on a line between theirs. */
static double curve_at(const struct curve *curve, double share) {
    double epoch = share * (double)curve->epochs;
    if (epoch <= 1) return curve->error[0];
    uint32_t before = (uint32_t)epoch;
    if (before >= curve->n) return curve->error[curve->n - 1];
    double part = epoch - before;
    return (1 - part) * curve->error[before - 1] + part * curve->error[before];
}

static bool curve_reaches(const struct curve *curve, double share) {
    return curve->n > 0 && (double)curve->n >= share * (double)curve->epochs;
}

static double curve_share(const struct curve *curve) {
    return (double)curve->n / (double)curve->epochs;
}

/* Whether too many of the earlier trials were better at the rung, and the best of all by far. Those
 * that are close continue to the end, where small steps still change the order. */
static bool is_behind(const struct tune *tune, const struct rung *rung) {
    size_t reached = 0, better = 0;
    double own = curve_at(&tune->curve, rung->at);
    if (tune->report->best.trial == 0 ||
        own <= CLOSE * curve_at(&tune->curves[tune->best], rung->at))
        return false;
    for (size_t i = 0; i < tune->n_curves; i++) {
        if (!curve_reaches(&tune->curves[i], rung->at)) continue;
        reached++;
        better += curve_at(&tune->curves[i], rung->at) <= own;
    }
    return reached >= COMPARED_LEAST && (double)better >= rung->kept * (double)reached;
}

/* The small steps of the last epochs undo small rises, not large ones. */
static bool is_rising(const struct curve *curve) {
    double least = curve->error[0];
    for (uint32_t i = 1; i < curve->n; i++) least = fmin(least, curve->error[i]);
    return curve->error[curve->n - 1] > CLOSE * least;
}

/* One that is better than the best was in the end may rise and still win. */
static bool is_ahead(const struct tune *tune) {
    const struct curve *own = &tune->curve, *best = &tune->curves[tune->best];
    return tune->report->best.trial != 0 && own->error[own->n - 1] < best->error[best->n - 1];
}

/* What a trial that was stopped would have come to: where it had risen to, or as far behind the
 * best as it was then. */
static double outlook(const struct tune *tune) {
    const struct curve *own = &tune->curve;
    if (tune->trial.end == DPMF_TRIAL_DIVERGED || own->n == 0) return NAN;
    double last = own->error[own->n - 1];
    if (tune->trial.end != DPMF_TRIAL_BEHIND) return last;
    const struct curve *best = &tune->curves[tune->best];
    return best->error[best->n - 1] + last - curve_at(best, curve_share(own));
}

/* ---- a trial --------------------------------------------------------------------------------- */

static bool is_out_of_time(const struct tune *tune) {
    return tune->options->seconds > 0 && clock_now() - tune->started >= tune->options->seconds;
}

/* The first trial that ends is kept whatever the time; the others are given up in their midst. */
static int on_progress(void *self, const struct dpmf_progress *progress) {
    struct tune *tune = self;
    uint32_t trials = tune->options->trials;
    double within = 0, by_time = 0;
    if (tune->report->best.trial != 0 && is_out_of_time(tune)) {
        tune->is_late = true;
        return 1;
    }
    if (!tune->run->progress) return 0;
    if (tune->trial.trial == 0) /* the split, before the first trial */
        return tune->is_stopped = tune->run->progress(tune->run->progress_self, progress) != 0;
    if (tune->curve.epochs > 0) within = curve_share(&tune->curve);
    double share = ((double)tune->trial.trial - 1 + within) / (double)trials;
    if (tune->options->seconds > 0)
        by_time = (clock_now() - tune->started) / tune->options->seconds;
    const uint64_t total = (uint64_t)trials * PROGRESS_UNITS;
    const struct dpmf_progress shown = {
        .phase = "tuning",
        .unit = "trials",
        .done = (uint64_t)(fmin(fmax(share, by_time), 1) * (double)total),
        .total = total,
    };
    tune->is_stopped = tune->run->progress(tune->run->progress_self, &shown) != 0;
    return tune->is_stopped;
}

/* Each trial would warn of the same things. */
static void on_warning(void *self, const char *message) {
    const struct tune *tune = self;
    if (tune->trial.trial <= 1 && tune->run->warn) tune->run->warn(tune->run->warn_self, message);
}

static int on_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct tune *tune = self;
    struct curve *curve = &tune->curve;
    if (!memory_reserve(&curve->error, &curve->capacity, (size_t)curve->n + 1, sizeof(double))) {
        tune->no_memory = true;
        return 1;
    }
    double before = curve_share(curve);
    curve->error[curve->n++] = tune->ranks ? 1 - epoch->valid_ndcg : epoch->valid_rmse;
    if (curve->n >= curve->epochs) return 0;
    for (size_t i = 0; i < N_RUNGS; i++)
        if (before < rungs[i].at && curve_reaches(curve, rungs[i].at) && is_behind(tune, &rungs[i]))
            tune->trial.end = DPMF_TRIAL_BEHIND;
    bool is_first = tune->report->best.trial == 0; /* there must be one to compare others with */
    if (!is_first && is_rising(curve) && !is_ahead(tune)) tune->trial.end = DPMF_TRIAL_RISING;
    if (is_first && is_out_of_time(tune)) tune->trial.end = DPMF_TRIAL_TIME;
    return tune->trial.end != DPMF_TRIAL_DONE;
}

static struct dpmf_train_options trial_options(const struct tune *tune) {
    struct dpmf_train_options options = *tune->train;
    options.factors = tune->trial.factors;
    options.learning_rate = tune->trial.learning_rate;
    options.regularization = tune->trial.regularization;
    options.epochs = tune->trial.epochs;
    if (tune->ranks) options.ials.unobserved = tune->trial.unobserved;
    options.deterministic = true;
    options.hogwild = false;
    options.patience = 0;
    options.snapshot = options.resume = NULL;
    return options;
}

/* NDCG of nobody is no number. */
static int refuse_no_wanted(const struct tune *tune, struct dpmf_error *error) {
    const bool events = store_holds_events(tune->valid);
    int code = error_set(error, DPMF_ERR_RATINGS_NONE_LEFT,
                         events ? "none of the events held back is of a known user"
                                : "none of the ratings held back is a like of a known user");
    error_place(error, store_path(tune->valid), 0, 0);
    error_hint(error, "give %s to validate on, or hold back another share",
               events ? "events" : "ratings");
    return code;
}

/* @return 1 when it came to an end of its own, 0 when time ran out first, or a negative code */
static int run_trial(struct tune *tune, const double *settings, struct dpmf_error *error) {
    double begun = clock_now();
    tune->trial = (struct dpmf_trial){
        .trial = tune->report->trials + 1,
        .factors = (uint32_t)settings[FACTORS],
        .learning_rate = settings[LEARNING_RATE],
        .regularization = settings[PENALTY],
        .epochs = (uint32_t)settings[EPOCHS],
        .end = DPMF_TRIAL_DONE,
        .valid_rmse = NAN,
        .unobserved = tune->ranks ? settings[UNOBSERVED] : 0,
        .valid_ndcg = NAN,
    };
    tune->curve = (struct curve){.epochs = tune->trial.epochs};
    const struct dpmf_train_options options = trial_options(tune);
    int code = dpmf_train(tune->store, tune->valid, tune->files.model, &options, &tune->trial_run,
                          on_epoch, tune, NULL, error);
    unlink(tune->files.model);
    if (tune->no_memory) return error_no_memory(error);
    bool is_given_up = code == DPMF_ERR_BASE_CANCELLED && tune->is_late && !tune->is_stopped;
    tune->is_late = is_given_up; /* it may have been quicker than the word that it is late */
    if (is_given_up) return 0;
    if (code < 0 && code != DPMF_ERR_TRAIN_DIVERGED) return code;
    const struct curve *curve = &tune->curve;
    const double last = curve->n > 0 ? curve->error[curve->n - 1] : NAN;
    if (code == 0 && tune->ranks && curve->n > 0 && isnan(last))
        return refuse_no_wanted(tune, error);
    if (tune->ranks)
        tune->trial.valid_ndcg = 1 - last;
    else
        tune->trial.valid_rmse = last;
    if (code < 0 || !isfinite(last)) tune->trial.end = DPMF_TRIAL_DIVERGED;
    tune->trial.epochs_run = curve->n;
    tune->trial.seconds = clock_now() - begun;
    return 1;
}

/* Enters the trial in the books. */
static int keep_trial(struct tune *tune, const double *settings, struct dpmf_error *error) {
    struct dpmf_trial *trial = &tune->trial, *best = &tune->report->best;
    int code = search_tell(tune->search, settings, outlook(tune), error);
    if (code < 0) return code;
    bool counts = trial->end == DPMF_TRIAL_DONE || trial->end == DPMF_TRIAL_TIME;
    const bool is_better =
        tune->ranks ? trial->valid_ndcg > best->valid_ndcg : trial->valid_rmse < best->valid_rmse;
    trial->is_best = counts && (best->trial == 0 || is_better);
    tune->report->trials++;
    if (trial->end != DPMF_TRIAL_DIVERGED) {
        if (!memory_reserve(&tune->curves, &tune->curve_capacity, tune->n_curves + 1,
                            sizeof tune->curves[0]))
            return error_no_memory(error);
        if (trial->is_best) tune->best = tune->n_curves;
        tune->curves[tune->n_curves++] = tune->curve;
        tune->curve = (struct curve){0};
    }
    if (trial->is_best) *best = *trial;
    return 0;
}

static int run_trials(struct tune *tune, struct dpmf_error *error) {
    struct dpmf_tune_report *report = tune->report;
    struct dpmf_error last = {.code = 0};
    bool is_wanted = true;
    while (is_wanted && report->trials < tune->options->trials && !report->out_of_time) {
        double settings[N_AXES];
        int code = search_next(tune->search, settings, error);
        if (code < 0) return code;
        report->all_tried = code == 0;
        if (code == 0) break;
        code = run_trial(tune, settings, &last);
        if (code < 0 && error) *error = last;
        if (code < 0) return code;
        if (code == 1) code = keep_trial(tune, settings, error);
        free(tune->curve.error);
        tune->curve = (struct curve){0};
        if (code < 0) return code;
        report->out_of_time = tune->is_late || is_out_of_time(tune);
        if (!tune->is_late && tune->on_trial)
            is_wanted = tune->on_trial(tune->on_trial_self, &tune->trial) == 0;
    }
    if (report->best.trial != 0) return 0;
    error_set(error, DPMF_ERR_TRAIN_DIVERGED, "training diverged in each of %u trials",
              report->trials);
    if (tune->ranks)
        error_hint(error, "begin with a larger {reg} than %g", tune->train->regularization);
    else
        error_hint(error,
                   "begin with a smaller {learning-rate} than %g, or check the ratings' scale",
                   tune->train->learning_rate);
    return DPMF_ERR_TRAIN_DIVERGED;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void end(struct tune *tune) {
    for (size_t i = 0; i < tune->n_curves; i++) free(tune->curves[i].error);
    free(tune->curves);
    free(tune->curve.error);
    search_free(tune->search);
    dpmf_store_close(tune->own_store);
    dpmf_store_close(tune->own_valid);
    trial_files_remove(&tune->files);
}

/* Before the first trial says so of its own half, which has no name that anyone knows. */
static int check_events(const struct tune *tune, struct dpmf_error *error) {
    if (tune->ranks || !store_holds_events(tune->store)) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "these are events, without ratings that a model could predict");
    error_hint(error, "leave {goal} out, or choose {goal ranking}");
    error_place(error, store_path(tune->store), 0, 0);
    return code;
}

/* What there is to warn of the first trial says. */
static int check_valid(const struct tune *tune, struct dpmf_error *error) {
    struct dpmf_run quiet = *tune->run;
    quiet.warn = NULL;
    if (store_holds_events(tune->store) != store_holds_events(tune->valid)) return 0;
    const enum compare_use use = !tune->ranks                 ? COMPARE_PREDICTED
                                 : tune->train->ials.has_like ? COMPARE_LIKED
                                                              : COMPARE_RANKED;
    return compare_held_out(tune->store, tune->valid, use, &quiet, error);
}

int dpmf_tune(struct dpmf_store *store, struct dpmf_store *valid,
              const struct dpmf_train_options *train, const struct dpmf_tune_options *options,
              const struct dpmf_run *run,
              int (*on_trial)(void *self, const struct dpmf_trial *trial), void *self,
              struct dpmf_tune_report *report, struct dpmf_error *error) {
    struct dpmf_train_options own_train = dpmf_train_options_default();
    struct dpmf_tune_options own = dpmf_tune_options_default();
    struct dpmf_run own_run;
    struct dpmf_tune_report unwanted;
    int code = arguments_check(error, "store", store);
    if (code == 0) code = options_take(&own_train, sizeof own_train, train, "train_options", error);
    if (code == 0) code = options_take(&own, sizeof own, options, "tune_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    struct tune tune = {
        .store = store,
        .valid = valid,
        .options = &own,
        .train = &own_train,
        .run = &own_run,
        .on_trial = on_trial,
        .on_trial_self = self,
        .report = report ? report : &unwanted,
        .started = clock_now(),
    };
    tune.trial_run = *tune.run;
    tune.trial_run.progress = on_progress;
    tune.trial_run.warn = on_warning;
    tune.trial_run.progress_self = tune.trial_run.warn_self = &tune;
    *tune.report = (struct dpmf_tune_report){.best.valid_rmse = NAN, .best.valid_ndcg = NAN};
    tune.ranks = own_train.solver && strcmp(own_train.solver, SOLVER_NAME_IALS) == 0;
    code = check_options(&own, &own_train, error);
    if (code == 0) code = ials_check_like(store, &own_train, error);
    if (code == 0) code = check_events(&tune, error);
    if (code == 0 && valid) code = check_valid(&tune, error);
    if (code == 0) code = trial_files_make(&tune.files, "tune", error);
    if (code == 0 && !valid) code = hold_back(&tune, error);
    if (code == 0) code = find_unobserved(&tune, error);
    if (code == 0) code = begin_search(&tune, error);
    if (code == 0) {
        tune.report->train_ratings = store_n_ratings(tune.store);
        tune.report->valid_ratings = store_n_ratings(tune.valid);
        code = run_trials(&tune, error);
    }
    end(&tune);
    tune.report->seconds = clock_now() - tune.started;
    return code;
}
