/*
 * dpmf_audit: tries to catch a mechanism telling more than it claims. Many runs (audit_run.c) on users of a store with and
 * without a canary (audit_population.c), a bound on mu from how well the canary was noticed (audit_bound.c), and
 * what can be checked directly because the auditor sees everything: norms, noise, draws, lists and the catalogue.
 *
 * An honest mechanism is accused with probability at most 1 - confidence by the bound. Of the direct checks, those of
 * norms, lists and the catalogue are exact, and those of the noise accuse by chance with less than 1e-8.
 *
 * Runs are independent of each other, so all threads work on runs of their own, each by itself.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "privacy/accountant.h"
#include "privacy/audit_run.h"
#include "privacy/private_options.h"
#include "store/store.h"

enum { RUNS_DEFAULT = 700, RUNS_MAX = 10000000, USERS_DEFAULT = 1000 };

/* Which canary a run has: mostly the one that has the most to say, found in the first run, whose choice may depend
 * on earlier runs; one time in eight another kind. */
enum { OTHERS_EVERY = 8 };

struct auditing {
    const struct dpmf_audit_options *options;
    const struct dpmf_run *run;
    struct dpmf_audit_report *report;
    struct audit_population population;
    struct audit_runner *runners; /* a thread each */
    int threads;
    struct audit_guess *guesses;
    bool *was_in;
    uint64_t n_runs; /* that were begun, in the end */
    double started, end;
    int loudest; /* kind of canary */
    _Atomic uint64_t next;
    _Atomic int code;
    pthread_mutex_t lock; /* of the error and of progress */
    struct dpmf_error error;
    struct audit_tally tally;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- options ---------------------------------------------------------------------------------- */

struct dpmf_audit_options dpmf_audit_options_default(void) {
    return (struct dpmf_audit_options){.privacy = dpmf_private_options_default(),
                                       .runs = RUNS_DEFAULT,
                                       .users = USERS_DEFAULT,
                                       .confidence = 0.999};
}

static int check_options(struct auditing *self, const struct mechanism **mechanism, double *mu,
                         struct dpmf_error *error) {
    const struct dpmf_audit_options *options = self->options;
    if (options->runs < 1 || options->runs > RUNS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of runs must be 1 .. %d",
                         RUNS_MAX);
    if (options->users < 1)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "an audit needs at least one user");
    if (!(options->confidence >= 0.5) || !(options->confidence <= 0.9999))
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the confidence must be between 0.5 and 0.9999");
    if (!(options->minutes >= 0))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the time must not be negative");
    int code = private_options_check(&options->privacy, mechanism, mu, error);
    if (code == 0 && (*mechanism)->is_conditional) {
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "\"%s\" cannot be audited: it adds no noise to sums, and what it promises "
                         "is conditional",
                         (*mechanism)->name);
        error_hint(error, "audit one of the mechanisms that are proven");
    }
    if (code == 0 && options->privacy.catalogue && strcmp(options->privacy.catalogue, "-") == 0)
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "an audit reads the catalogue several times: it must be a file");
    return code;
}

/* ---- runs ------------------------------------------------------------------------------------- */

static void fail(struct auditing *self, int code, const struct dpmf_error *error) {
    pthread_mutex_lock(&self->lock);
    int none = 0;
    if (atomic_compare_exchange_strong(&self->code, &none, code)) self->error = *error;
    pthread_mutex_unlock(&self->lock);
}

static void tell_progress(struct auditing *self, uint64_t done) {
    const struct dpmf_progress progress = {
        .phase = "audit", .unit = "runs", .done = done, .total = 2 * self->options->runs};
    struct dpmf_error error = {0};
    if (!self->run->progress || pthread_mutex_trylock(&self->lock) != 0) return;
    int stop = self->run->progress(self->run->self, &progress);
    pthread_mutex_unlock(&self->lock);
    if (stop) {
        error_set(&error, DPMF_ERR_BASE_CANCELLED, "interrupted");
        fail(self, DPMF_ERR_BASE_CANCELLED, &error);
    }
}

/* The next run's number, or UINT64_MAX. Numbers are given out without gaps, and each that is given out is run. */
static uint64_t take_number(struct auditing *self) {
    const bool late = self->end > 0 && now() >= self->end;
    if (atomic_load(&self->code) < 0) return UINT64_MAX;
    if (late && atomic_load(&self->next) > 0) return UINT64_MAX; /* but one run there is */
    uint64_t number = atomic_fetch_add(&self->next, 1);
    return number < 2 * self->options->runs ? number : UINT64_MAX;
}

static const struct audit_canary *choose_canary(const struct auditing *self, uint64_t number) {
    const struct audit_canary *canaries = self->population.canaries;
    const bool other = number % OTHERS_EVERY == OTHERS_EVERY - 1;
    const int kind = other ? (int)(number / OTHERS_EVERY % AUDIT_CANARIES) : self->loudest;
    /* One whose ratings are all outside the catalogue has nothing to say. */
    return canaries[kind].user.n > 0 ? &canaries[kind] : &canaries[self->loudest];
}

static void make_one_run(struct auditing *self, int worker, uint64_t number) {
    struct dpmf_error error = {0};
    tell_progress(self, number);
    int code = audit_run(&self->runners[worker], choose_canary(self, number),
                         &self->guesses[number], &self->was_in[number], &error);
    if (code < 0) fail(self, code, &error);
}

static void make_runs(void *argument, int worker) {
    struct auditing *self = argument;
    for (uint64_t i; (i = take_number(self)) != UINT64_MAX;) make_one_run(self, worker, i);
}

static void find_loudest(struct auditing *self) {
    const double *loudness = self->runners[0].loudness;
    for (int kind = 0; kind < AUDIT_CANARIES; kind++)
        if (loudness[kind] > loudness[self->loudest]) self->loudest = kind;
}

static void add_tally(struct audit_tally *sum, const struct audit_tally *part) {
    for (size_t t = 0; t < AUDIT_RELEASES_MAX; t++) {
        sum->noise[t].energy += part->noise[t].energy;
        sum->noise[t].numbers += part->noise[t].numbers;
        sum->noise[t].zeros += part->noise[t].zeros;
        sum->noise[t].zeros_expected += part->noise[t].zeros_expected;
    }
    sum->releases_echo.product += part->releases_echo.product;
    sum->releases_echo.numbers += part->releases_echo.numbers;
    sum->runs_echo.product += part->runs_echo.product;
    sum->runs_echo.numbers += part->runs_echo.numbers;
    sum->contributions += part->contributions;
    sum->over_norm += part->over_norm;
    sum->draws += part->draws;
    sum->draws_listed += part->draws_listed;
    sum->releases += part->releases;
    sum->releases_listed += part->releases_listed;
    sum->wrong_lists += part->wrong_lists;
    sum->wrong_statements += part->wrong_statements;
}

static int run_all(struct auditing *self, const struct mechanism *mechanism, double mu,
                   struct dpmf_error *error) {
    const uint64_t most = 2 * self->options->runs;
    struct thread_pool *pool = NULL;
    self->runners = memory_alloc_zero((size_t)self->threads, sizeof *self->runners);
    self->guesses = memory_alloc((size_t)most, sizeof *self->guesses);
    self->was_in = memory_alloc((size_t)most, sizeof *self->was_in);
    if (!self->runners || !self->guesses || !self->was_in) return error_no_memory(error);
    for (int i = 0; i < self->threads; i++) {
        self->runners[i].population = &self->population;
        self->runners[i].mechanism = mechanism;
        self->runners[i].options = &self->options->privacy;
        self->runners[i].mu = mu;
    }
    int code = thread_pool_init(&pool, self->threads, error);
    if (code < 0) return code;
    make_one_run(self, 0,
                 take_number(self)); /* there is at least one: nothing has gone wrong yet */
    find_loudest(self);
    thread_pool_run(pool, make_runs, self);
    thread_pool_free(pool);
    for (int i = 0; i < self->threads; i++) add_tally(&self->tally, &self->runners[i].tally);
    uint64_t given = atomic_load(&self->next);
    self->n_runs = given < most ? given : most;
    code = atomic_load(&self->code);
    if (code < 0 && error) *error = self->error;
    return code;
}

/* ---- findings --------------------------------------------------------------------------------- */

static void accuse(struct dpmf_audit_report *report, unsigned finding, const char *format, ...)
    DPMF_PRINTF(3, 4);
static void accuse(struct dpmf_audit_report *report, unsigned finding, const char *format, ...) {
    va_list arguments;
    if (report->findings & finding || report->n == DPMF_AUDIT_FINDINGS_MAX) return;
    va_start(arguments, format);
    vsnprintf(report->finding[report->n++], DPMF_AUDIT_TEXT_MAX, format, arguments);
    va_end(arguments);
    report->findings |= finding;
}

static bool repeats(const struct audit_echo *echo) {
    return fabs(echo->product) > 10 + 6.5 * sqrt(echo->numbers);
}

/* The squares of n honest numbers add up to a chi-square of n degrees: mean n, variance 2n, and a lower tail that is
 * lighter than a Gaussian's. Six deviations are 1e-9. Zeros are Poisson: ten, and ten times the mean, are rarer. */
static void check_noise(struct dpmf_audit_report *report, const struct audit_tally *tally) {
    double energy = 0, numbers = 0;
    for (size_t t = 0; t < AUDIT_RELEASES_MAX; t++) {
        const struct audit_noise *noise = &tally->noise[t];
        if (!(noise->numbers > 0)) continue;
        energy += noise->energy;
        numbers += noise->numbers;
        if (noise->energy < noise->numbers - 6 * sqrt(2 * noise->numbers))
            accuse(report, DPMF_AUDIT_NOISE,
                   "the noise of release %zu has only %.4f of the standard deviation listed", t + 1,
                   sqrt(noise->energy / noise->numbers));
        if (noise->zeros > 10 + 10 * noise->zeros_expected)
            accuse(report, DPMF_AUDIT_NOISE, "%.0f of %.0f numbers of release %zu have no noise",
                   noise->zeros, noise->numbers, t + 1);
    }
    if (repeats(&tally->releases_echo) || repeats(&tally->runs_echo))
        accuse(report, DPMF_AUDIT_NOISE, "noise is used again: that of a %s is like the one before",
               repeats(&tally->releases_echo) ? "release" : "run");
    report->noise_numbers = numbers;
    report->noise = numbers > 0 ? sqrt(energy / numbers) : NAN;
}

static void check_tally(struct dpmf_audit_report *report, const struct audit_tally *tally) {
    report->contributions = tally->contributions;
    report->draws = tally->draws;
    report->releases = tally->releases;
    if (tally->over_norm > 0)
        accuse(report, DPMF_AUDIT_NORM, "%.0f of %.0f contributions are over the norm bound",
               (double)tally->over_norm, (double)tally->contributions);
    check_noise(report, tally);
    if (tally->wrong_lists > 0)
        accuse(report, DPMF_AUDIT_DRAWS,
               "%.0f releases were made with %.0f draws of noise, but %.0f with %.0f are listed",
               (double)tally->releases, (double)tally->draws, (double)tally->releases_listed,
               (double)tally->draws_listed);
    if (tally->wrong_statements > 0)
        accuse(report, DPMF_AUDIT_STATEMENT, "the statements of %.0f runs do not add up",
               (double)tally->wrong_statements);
}

static int bound_loss(struct auditing *self, struct dpmf_error *error) {
    struct dpmf_audit_report *report = self->report;
    struct audit_bound bound;
    for (uint64_t i = 0; i < self->n_runs; i++) {
        report->guessed_right += self->guesses[i].is_right;
        report->runs_in += self->was_in[i];
    }
    report->runs_out = self->n_runs - report->runs_in;
    int code = audit_bound_init(&bound, self->guesses, (size_t)self->n_runs,
                                self->options->confidence, error);
    if (code == 0) {
        report->mu_low = audit_bound_mu(&bound);
        if (audit_bound_excludes(&bound, report->mu)) {
            report->mu_low = fmax(report->mu_low, report->mu);
            accuse(report, DPMF_AUDIT_LOSS,
                   "canaries are noticed too well: mu is at least %.3f, but %.3f is claimed",
                   floor(report->mu_low * 1000) / 1000, report->mu);
        }
        if (report->mu_low > 0)
            report->epsilon_low = accountant_epsilon(report->mu_low, report->delta) * (1 - 1e-6);
    }
    audit_bound_free(&bound);
    return code;
}

static int judge(struct dpmf_audit_report *report, struct dpmf_error *error) {
    if (report->findings == 0) return 0;
    int code = error_set(error, DPMF_ERR_PRIVACY_ACCUSED, "accused: %s", report->finding[0]);
    error_hint(error, "do not publish what this mechanism makes");
    return code;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static int audit_population(struct auditing *self, const struct mechanism *mechanism, double mu,
                            struct dpmf_error *error) {
    struct dpmf_audit_report *report = self->report;
    report->items = self->population.catalogue.ids.n;
    report->users = self->population.without ? private_ratings_users(self->population.without) : 0;
    report->users_of_store = self->population.users;
    if (self->population.catalogue_leaks) {
        accuse(report, DPMF_AUDIT_CATALOGUE,
               "the list of items changes when one user comes: it is made from the ratings");
        return 0; /* the rest assumes that it does not */
    }
    if (self->options->minutes > 0) self->end = self->started + 60 * self->options->minutes;
    int code = run_all(self, mechanism, mu, error);
    if (code < 0) return code;
    check_tally(report, &self->tally);
    return bound_loss(self, error);
}

static void free_auditing(struct auditing *self) {
    for (int i = 0; self->runners && i < self->threads; i++) audit_runner_free(&self->runners[i]);
    free(self->runners);
    free(self->guesses);
    free(self->was_in);
    audit_population_free(&self->population);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

int dpmf_audit(struct dpmf_store *store, const struct dpmf_audit_options *options,
               const struct dpmf_run *run, struct dpmf_audit_report *report,
               struct dpmf_error *error) {
    const struct dpmf_run default_run = dpmf_run_default();
    struct dpmf_audit_report unwanted;
    const struct mechanism *mechanism;
    double mu;
    struct auditing *self = memory_alloc_zero(1, sizeof *self);
    if (!self) return error_no_memory(error);
    if (pthread_mutex_init(&self->lock, NULL) != 0) {
        free(self);
        return error_no_memory(error);
    }
    self->options = options;
    self->run = run ? run : &default_run;
    self->report = report ? report : &unwanted;
    self->threads = threads_wanted(self->run);
    self->started = now();
    memset(self->report, 0, sizeof *self->report);
    int code = check_options(self, &mechanism, &mu, error);
    if (code == 0) {
        report = self->report;
        report->mechanism = mechanism->name;
        report->mu = mu;
        report->epsilon = options->privacy.epsilon;
        report->delta = options->privacy.delta;
        report->confidence = options->confidence;
        code = audit_population_make(store, &options->privacy, options->users, self->run,
                                     &self->population, error);
    }
    if (code == 0) code = audit_population(self, mechanism, mu, error);
    if (code == 0) code = judge(self->report, error);
    self->report->seconds = now() - self->started;
    free_auditing(self);
    return code;
}
