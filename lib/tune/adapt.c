/*
 * dpmf_train_adapt: what dpmf_tune would find in many trials, nearly, in a few: a walk from the
 * defaults in steps that are known to matter, on a tenth of the ratings held back. Trials have few
 * factors, and of a large set a part of the users. Those that fall behind are stopped. Fed by a
 * store; feeds the command line, which then trains on everything.
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
#include "base/host.h"
#include "base/threads.h"
#include "cluster/cluster.h"
#include "store/store.h"
#include "train/memory_plan.h"
#include "train/resume.h"
#include "train/solver_names.h"
#include "tune/trial_files.h"

enum {
    RATINGS_LEAST = 2000,  /* fewer held back than a tenth of these tell nothing */
    RATINGS_MOST = 400000, /* ratings that trials take from a large set */
    FACTORS_MOST = 64,     /* factors in a trial */
    TRIALS_MOST = 8,
    EPOCHS_MOST = 256,       /* epochs in a trial; a run of more is not compared with others */
    REPEATS_MOST = 2,        /* repetitions of a step that was good */
    PROGRAM_BYTES = 4 << 20, /* the program itself, and what the allocator keeps for later */
    ITEM_TABLES = 72,        /* bytes an item while ratings are held back */
    BLOCK_RATING = 24,       /* bytes a rating of a block on its way */
};

#define VALID_FRACTION 0.1
#define GAIN 2e-4           /* share of the error that a step must take away */
#define FAR 3e-3            /* share of the error that tells that a direction is wrong */
#define GAIN_OF_PART 3e-3   /* as GAIN, of a larger penalty where trials learn from a part */
#define LATE 0.5            /* share of the epochs from which on trials are compared */
#define HOPE 0.75           /* share of the last fall an epoch that all further ones may have */
#define PENALTY_OF_NONE 1.0 /* at which vectors of users and items that come later stay small */

/* Where the walk is: powers of the factors below. */
struct place {
    int rate, penalty, epochs;
};

static const double rate_step = 2, penalty_step = 1.6, epochs_step = 1.75;

/* A step, the settings it needs to be free, and the one that makes it pointless where it was
 * good. */
struct move {
    struct place by;
    uint32_t needs;
    int undone_by;   /* number of the move, or -1 */
    uint32_t unless; /* settings that must be given: a better move exists where they are free */
};

/* Larger steps want larger penalties, and fewer epochs where the error was good for a while; then
 * the penalty alone, and the end, which is not looked for where going faster was much worse. */
static const struct move sgd_moves[] = {
    {{.rate = 1, .penalty = 1}, DPMF_ADAPT_LEARNING_RATE | DPMF_ADAPT_REGULARIZATION, -1, 0},
    {{.rate = 1, .penalty = 1, .epochs = -1},
     DPMF_ADAPT_LEARNING_RATE | DPMF_ADAPT_REGULARIZATION | DPMF_ADAPT_EPOCHS,
     0,
     0},
    {{.penalty = 1}, DPMF_ADAPT_REGULARIZATION, -1, 0},
    {{.penalty = -1}, DPMF_ADAPT_REGULARIZATION, 2, 0},
    {{.rate = 1}, DPMF_ADAPT_LEARNING_RATE, -1, DPMF_ADAPT_REGULARIZATION},
    {{.rate = -1}, DPMF_ADAPT_LEARNING_RATE, 4, DPMF_ADAPT_REGULARIZATION},
    {{.epochs = 1}, DPMF_ADAPT_EPOCHS, 1, 0},
};

/* The weight of pairs without an event is not searched for: the one that ranks held-back ratings
 * best among a hundred items is not the one that ranks them best among all items. */
static const struct move ials_moves[] = {
    {{.penalty = 1}, DPMF_ADAPT_REGULARIZATION, -1, 0},
    {{.penalty = -1}, DPMF_ADAPT_REGULARIZATION, 0, 0},
};

enum {
    SGD_MOVES = sizeof sgd_moves / sizeof sgd_moves[0],
    IALS_MOVES = sizeof ials_moves / sizeof ials_moves[0],
    MOVES_MOST = SGD_MOVES > IALS_MOVES ? SGD_MOVES : IALS_MOVES,
};

/* A trial's errors, epoch by epoch: RMSE, or what NDCG lacks of 1. */
struct curve {
    uint32_t epochs, n;
    double error[EPOCHS_MOST];
};

struct adapt {
    struct dpmf_store *store;        /* all ratings */
    struct dpmf_store *train, *test; /* what trials learn from, and are judged by */
    const struct dpmf_train_options *options;
    const struct dpmf_run *run;
    struct dpmf_run trial_run;
    uint32_t what;
    bool ranks, is_part; /* is_part: trials have some of the users alone */
    struct trial_files files;
    struct curve curve, best_curve;
    struct dpmf_adapt_report *report;
    double fast_error; /* error at the end of the trial with larger steps; 0: none was made */
    double fast_least; /* least error of it */
    bool is_stopped;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static int too_little(struct dpmf_error *error) {
    return error_set(error, DPMF_ERR_USAGE_MEMORY, "too little memory to compare settings");
}

/* What the store of all ratings leaves of the run's memory is for the trials. @return 0, or
 * DPMF_ERR_USAGE_MEMORY */
static int divide_memory(struct adapt *adapt, struct dpmf_error *error) {
    const uint64_t memory = adapt->run->memory ? adapt->run->memory : host_default_budget();
    const uint64_t taken = memory_plan_store(adapt->store);
    if (taken >= memory) return too_little(error);
    adapt->trial_run.memory = memory - taken;
    return 0;
}

/* While ratings are held back there are the program, tables of all items, several of them for each
 * thread, and two blocks on their way. */
static int check_tables(const struct adapt *adapt, struct dpmf_error *error) {
    const uint64_t threads = (uint64_t)threads_wanted(&adapt->trial_run);
    const uint64_t needed = PROGRAM_BYTES + memory_plan_store(adapt->store) +
                            store_n_items(adapt->store) * (8 * threads + ITEM_TABLES) +
                            2 * BLOCK_RATING * store_largest_block(adapt->store);
    return needed > adapt->trial_run.memory ? too_little(error) : 0;
}

/* ---- ratings --------------------------------------------------------------------------------- */

/* Takes users from the middle of a large set: as many blocks of them as have enough ratings. */
static int take_users(struct adapt *adapt, struct dpmf_store **part, struct dpmf_error *error) {
    const uint64_t n_blocks = store_n_blocks(adapt->store), n = store_n_ratings(adapt->store);
    *part = NULL;
    if (n <= RATINGS_MOST || n_blocks < 2) return 0;
    uint64_t wanted = (uint64_t)((double)n_blocks * RATINGS_MOST / (double)n);
    if (wanted < 1) wanted = 1;
    return store_share_make(adapt->store, (n_blocks - wanted) / 2, wanted, part, error);
}

/* The coins are not those of `dpmf split` or `dpmf tune` with the same seed, and are the same for
 * ratings under other names. */
static int hold_back(struct adapt *adapt, struct dpmf_error *error) {
    struct dpmf_split_options split = dpmf_split_options_default();
    struct dpmf_store *part;
    split.test_fraction = VALID_FRACTION;
    split.by_number = true;
    split.seed = (adapt->options->seed ^ 0x6164617074u) * 0x9e3779b97f4a7c15u;
    int code = take_users(adapt, &part, error);
    if (code == 0)
        code = trial_files_split(&adapt->files, part ? part : adapt->store, &split,
                                 &adapt->trial_run, &adapt->train, &adapt->test, error);
    adapt->is_part = part != NULL;
    dpmf_store_close(part);
    if (code < 0) return code;
    adapt->report->train_ratings = store_n_ratings(adapt->train);
    adapt->report->valid_ratings = store_n_ratings(adapt->test);
    return 0;
}

/* ---- a trial --------------------------------------------------------------------------------- */

static int on_progress(void *self, const struct dpmf_progress *progress) {
    struct adapt *adapt = self;
    (void)progress;
    if (!adapt->run->progress) return 0;
    const struct dpmf_progress shown = {
        .phase = "adapting",
        .unit = "trials",
        .done = adapt->report->trials,
        .total = TRIALS_MOST,
    };
    adapt->is_stopped = adapt->run->progress(adapt->run->progress_self, &shown) != 0;
    return adapt->is_stopped;
}

static double curve_end(const struct curve *curve) { return curve->error[curve->n - 1]; }

static double curve_least(const struct curve *curve) {
    double least = curve->error[0];
    for (uint32_t i = 1; i < curve->n; i++) least = fmin(least, curve->error[i]);
    return least;
}

/* Where a curve of three epochs or more will end, if all epochs that are left fall by `share` of
 * what the last two fell. Steps become smaller until the end: half is likely, and more a hope. */
static double curve_ends_at(const struct curve *curve, double share) {
    const double last = curve_end(curve), fall = (curve->error[curve->n - 3] - last) / 2;
    return last - share * fmax(fall, 0) * (curve->epochs - curve->n);
}

/* Rises, or does not fall fast enough to become better than the best. Vectors are small at first,
 * and as long as they gather speed nothing is known. */
static bool is_hopeless(const struct adapt *adapt) {
    const struct curve *curve = &adapt->curve;
    const double *error = curve->error;
    const uint32_t n = curve->n;
    if (adapt->best_curve.n == 0 || n < 3 || n < LATE * curve->epochs) return false;
    const double bar = (1 - GAIN) * curve_end(&adapt->best_curve);
    if (error[n - 1] > bar && error[n - 1] > error[n - 2] && error[n - 2] > error[n - 3])
        return true;
    const bool is_starting = error[n - 2] - error[n - 1] > error[n - 3] - error[n - 2];
    return !is_starting && curve_ends_at(curve, HOPE) > bar;
}

static int on_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct adapt *adapt = self;
    struct curve *curve = &adapt->curve;
    if (curve->n == EPOCHS_MOST) return 1;
    curve->error[curve->n++] = adapt->ranks ? 1 - epoch->valid_ndcg : epoch->valid_rmse;
    return curve->n < curve->epochs && is_hopeless(adapt);
}

static struct dpmf_train_options trial_options(const struct dpmf_train_options *from) {
    struct dpmf_train_options options = *from;
    if (options.factors > FACTORS_MOST) options.factors = FACTORS_MOST;
    options.deterministic = true;
    options.hogwild = false;
    options.averages_alone = false;
    options.patience = 0;
    options.snapshot = options.resume = NULL;
    options.item_features = options.user_features = NULL; /* they change no epoch */
    options.tiers = NULL;
    return options;
}

/* *value is the error at the end, or NaN of a trial that was no good. */
static int run_trial(struct adapt *adapt, const struct dpmf_train_options *options, double *value,
                     struct dpmf_error *error) {
    adapt->curve = (struct curve){.epochs = options->epochs};
    int code = dpmf_train(adapt->train, adapt->test, adapt->files.model, options, &adapt->trial_run,
                          on_epoch, adapt, NULL, error);
    unlink(adapt->files.model);
    adapt->report->trials++;
    *value = NAN;
    if (code < 0) return code == DPMF_ERR_TRAIN_DIVERGED ? 0 : code;
    if (adapt->curve.n == options->epochs) *value = adapt->curve.error[options->epochs - 1];
    return 0;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Three digits: what is printed is what was used. */
static double three_digits(double x) {
    const double digits = 2 - floor(log10(x)), power = pow(10, fabs(digits));
    return digits >= 0 ? round(x * power) / power : round(x / power) * power;
}

static double moved(double start, double step, int by) {
    return by == 0 ? start : three_digits(start * pow(step, by));
}

static struct dpmf_train_options settings_at(const struct adapt *adapt, const struct place *at) {
    struct dpmf_train_options options = *adapt->options;
    options.learning_rate = moved(options.learning_rate, rate_step, at->rate);
    options.regularization = moved(options.regularization, penalty_step, at->penalty);
    options.epochs = (uint32_t)lround((double)options.epochs * pow(epochs_step, at->epochs));
    if (options.epochs < 1) options.epochs = 1;
    return options;
}

/* What larger steps led to, also where the trial was stopped before its end. */
static void note_fast(struct adapt *adapt, double value) {
    if (isnan(value)) value = adapt->curve.n < 3 ? INFINITY : curve_ends_at(&adapt->curve, 0.5);
    adapt->fast_error = value;
    adapt->fast_least = adapt->curve.n > 0 ? curve_least(&adapt->curve) : INFINITY;
}

/* Items have fewer ratings in a part of the users than in all, and fewer ratings want larger
 * penalties: where a part gains a little by one, the whole may lose much. */
static double least_gain(const struct adapt *adapt, const struct move *move) {
    return adapt->is_part && move->by.penalty > 0 ? GAIN_OF_PART : GAIN;
}

/* Tries a step from *at and, as long as it is good, one more. *taken says whether any was. */
static int walk(struct adapt *adapt, const struct move *move, struct place *at, double *best,
                bool *taken, struct dpmf_error *error) {
    for (int i = 0; i < REPEATS_MOST && adapt->report->trials < TRIALS_MOST; i++) {
        const struct place next = {at->rate + move->by.rate, at->penalty + move->by.penalty,
                                   at->epochs + move->by.epochs};
        const struct dpmf_train_options settings = settings_at(adapt, &next);
        const struct dpmf_train_options options = trial_options(&settings);
        double value;
        if (options.epochs > EPOCHS_MOST) return 0;
        int code = run_trial(adapt, &options, &value, error);
        if (code < 0) return code;
        if (move->by.rate > 0 && !*taken) note_fast(adapt, value);
        if (!(value < (1 - least_gain(adapt, move)) * *best)) return 0;
        *taken = true;
        *best = value;
        *at = next;
        adapt->best_curve = adapt->curve;
        if (move->by.epochs != 0) return 0;
    }
    return 0;
}

/* The error of averages alone: one factor, and steps too small to matter. */
static int find_averages(struct adapt *adapt, struct dpmf_error *error) {
    struct dpmf_train_options options = trial_options(adapt->options);
    double value;
    options.factors = options.epochs = 1;
    options.learning_rate = 1e-9;
    int code = run_trial(adapt, &options, &value, error);
    adapt->report->trials--;
    adapt->report->averages_rmse = value;
    return code;
}

/* Fewer epochs serve where larger steps had been good; a set whose error rises in the end wants
 * neither more epochs nor less penalty. */
static bool is_pointless(const struct adapt *adapt, const struct place *by, double best) {
    const bool rises = best > (1 + GAIN) * curve_least(&adapt->best_curve);
    if (by->epochs < 0) return !(adapt->fast_least < (1 - GAIN) * best);
    if (by->epochs > 0) return rises || adapt->fast_error > (1 + FAR) * best;
    return by->penalty < 0 && rises;
}

static int search(struct adapt *adapt, struct dpmf_train_options *found, struct dpmf_error *error) {
    const struct move *moves = adapt->ranks ? ials_moves : sgd_moves;
    const int n_moves = adapt->ranks ? IALS_MOVES : SGD_MOVES;
    const struct dpmf_train_options first = trial_options(adapt->options);
    bool taken[MOVES_MOST] = {false};
    struct place at = {0};
    double best = NAN;
    int code = first.epochs > EPOCHS_MOST ? 0 : run_trial(adapt, &first, &best, error);
    if (code < 0) return code;
    adapt->best_curve = adapt->curve;
    for (int m = 0; m < n_moves && code == 0 && isfinite(best); m++) {
        if ((adapt->what & moves[m].needs) != moves[m].needs) continue;
        if (adapt->what & moves[m].unless) continue;
        if (moves[m].undone_by >= 0 && taken[moves[m].undone_by]) continue;
        if (is_pointless(adapt, &moves[m].by, best)) continue;
        code = walk(adapt, &moves[m], &at, &best, &taken[m], error);
    }
    if (code == 0 && !adapt->ranks && adapt->options->averages_first)
        code = find_averages(adapt, error);
    if (code < 0) return code;
    *found = settings_at(adapt, &at);
    *(adapt->ranks ? &adapt->report->valid_ndcg : &adapt->report->valid_rmse) =
        adapt->ranks ? 1 - best : best;
    adapt->report->is_averages = (adapt->what & DPMF_ADAPT_REGULARIZATION) && !adapt->ranks &&
                                 best > adapt->report->averages_rmse;
    found->averages_alone = adapt->report->is_averages;
    if (adapt->report->is_averages) found->regularization = PENALTY_OF_NONE;
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void end(struct adapt *adapt) {
    dpmf_store_close(adapt->train);
    dpmf_store_close(adapt->test);
    trial_files_remove(&adapt->files);
}

/* A run that streams may fit where a trial does not. */
static int keep_all(struct adapt *adapt, struct dpmf_train_options *found) {
    *found = *adapt->options;
    adapt->report->trials = 0;
    if (adapt->run->warn)
        adapt->run->warn(adapt->run->warn_self,
                         "too little memory to compare settings: the defaults are used");
    return 0;
}

/* What is wrong with a part of the ratings is wrong with the whole, whose name the user gave. */
static void name_whole(const struct adapt *adapt, struct dpmf_error *error) {
    const char *folder = adapt->files.directory;
    if (error && folder && strncmp(error->file, folder, strlen(folder)) == 0)
        error_place(error, store_path(adapt->store), 0, 0);
}

/* By one process, with whatever is to be shared of it in *found and *report. */
static int find(struct adapt *adapt, struct dpmf_train_options *found, struct dpmf_error *error) {
    const struct dpmf_train_options *options = adapt->options;
    if (options->resume) {
        adapt->report->is_resumed = true;
        return resume_settings(options->resume, adapt->what, found, error);
    }
    if (adapt->what == 0 || store_n_ratings(adapt->store) < RATINGS_LEAST) return 0;
    /* training refuses them by the name that the user gave, and not by that of a trial's store */
    const bool refuses = !adapt->ranks || options->ials.has_like;
    if (store_holds_events(adapt->store) && refuses) return 0;
    int code = divide_memory(adapt, error);
    if (code == 0) code = check_tables(adapt, error);
    if (code == 0) code = trial_files_make(&adapt->files, "adapt", error);
    if (code == 0) code = hold_back(adapt, error);
    if (code == 0) code = search(adapt, found, error);
    if (code < 0) name_whole(adapt, error);
    end(adapt);
    if (code == DPMF_ERR_USAGE_MEMORY) return keep_all(adapt, found);
    if (code == 0) found->adapted = adapt->report->trials > 1;
    return code;
}

/* What the first process found, to all. */
struct message {
    double learning_rate, regularization;
    uint32_t epochs;
    bool averages_first, averages_alone, adapted;
    struct dpmf_adapt_report report;
};

static int share(const struct dpmf_cluster *cluster, struct dpmf_train_options *found,
                 struct dpmf_adapt_report *report, struct dpmf_error *error) {
    struct message message;
    memset(&message, 0, sizeof message);
    message.learning_rate = found->learning_rate;
    message.regularization = found->regularization;
    message.epochs = found->epochs;
    message.averages_first = found->averages_first;
    message.averages_alone = found->averages_alone;
    message.adapted = found->adapted;
    message.report = *report;
    int code = cluster_broadcast(cluster, &message, sizeof message, 0, error);
    if (code < 0) return code;
    found->learning_rate = message.learning_rate;
    found->regularization = message.regularization;
    found->epochs = message.epochs;
    found->averages_first = message.averages_first;
    found->averages_alone = message.averages_alone;
    found->adapted = message.adapted;
    *report = message.report;
    return 0;
}

int dpmf_train_adapt(struct dpmf_store *store, uint32_t what, struct dpmf_train_options *options,
                     const struct dpmf_run *run, struct dpmf_adapt_report *report,
                     struct dpmf_error *error) {
    struct dpmf_train_options own = dpmf_train_options_default(), found;
    struct dpmf_adapt_report unwanted;
    struct dpmf_run own_run;
    const double started = clock_now();
    int code = arguments_check(error, "store options", store, options);
    if (code == 0) code = options_take(&own, sizeof own, options, "train_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    if (!report) report = &unwanted;
    *report =
        (struct dpmf_adapt_report){.valid_rmse = NAN, .averages_rmse = NAN, .valid_ndcg = NAN};
    struct adapt adapt = {
        .store = store,
        .options = &own,
        .run = &own_run,
        .trial_run = own_run,
        .what = what,
        .ranks = own.solver && strcmp(own.solver, SOLVER_NAME_IALS) == 0,
        .report = report,
    };
    adapt.trial_run.progress = on_progress;
    adapt.trial_run.progress_self = &adapt;
    adapt.trial_run.warn = NULL;
    adapt.trial_run.cluster = NULL;
    found = own;
    if (code == 0 && cluster_rank(own_run.cluster) == 0) code = find(&adapt, &found, error);
    code = cluster_agree(own_run.cluster, code, error);
    if (code == 0) code = share(own_run.cluster, &found, report, error);
    report->seconds = clock_now() - started;
    if (code < 0) return code;
    options->learning_rate = found.learning_rate;
    options->regularization = found.regularization;
    options->epochs = found.epochs;
    options->averages_first = found.averages_first;
    options->averages_alone = found.averages_alone;
    options->adapted = found.adapted;
    return 0;
}
