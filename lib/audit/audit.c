/*
 * dpmf_audit: tries to catch a private run telling more than it claims. First the exact half: whole
 * worlds with and without a canary, compared to the last digit (audit_worlds.c). Then the
 * statistical one: many runs with fresh noise and many canaries (audit_run.c), what the noise looks
 * like (audit_noise.c), and bounds from how well canaries were noticed (audit_bound.c).
 *
 * An honest mechanism is accused with probability at most 1 - confidence by the bounds, half of it
 * by each, and at most AUDIT_NOISE_LEVEL by the noise. Everything else is exact.
 *
 * Worlds have all threads, one after the other. Runs are independent of each other, so threads work
 * on runs of their own.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit_run.h"
#include "audit/audit_text.h"
#include "audit/audit_worlds.h"
#include "base/arguments.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "files/temporary.h"
#include "random/random.h"
#include "release/release_options.h"
#include "statement/accountant.h"
#include "store/store.h"

enum { RUNS_DEFAULT = 100, RUNS_MAX = 1000000, USERS_DEFAULT = 1000 };
enum { FOLDER_MAX = 512, NAME_MAX_HERE = 32 };

struct auditing {
    struct dpmf_store *store;
    const struct dpmf_audit_options *options;
    const struct dpmf_release_options *release; /* the promise, as the caller has it */
    struct dpmf_release_options privacy;        /* options of the worlds and runs */
    const struct dpmf_run *run;
    struct dpmf_run quiet; /* the caller's without warnings, and with an eye on the time */
    struct dpmf_audit_report *report;
    struct audit_population population;
    struct audit_file wishes;
    char folder[FOLDER_MAX]; /* where releases may be written for a moment; "": not there yet */

    struct audit_flock flock;
    bool ranks;                   /* the mechanism learns from events */
    struct dpmf_run alone;        /* settings of one thread's runs */
    struct audit_runner *runners; /* a thread each */
    char (*output)[FOLDER_MAX + NAME_MAX_HERE];
    int threads;
    struct audit_guess *guesses; /* a run's are together */
    struct audit_guess *informed;
    bool *was_in, *is_done;
    uint64_t n_runs; /* that were done */
    double started, end;
    _Atomic uint64_t next;
    _Atomic int code;
    _Atomic bool is_late;
    pthread_mutex_t lock; /* guards the error and progress */
    struct dpmf_error error;
    struct audit_tally *tally;
};

/* ---- options --------------------------------------------------------------------------------- */

void dpmf_audit_options_init(struct dpmf_audit_options *options, size_t size) {
    const struct dpmf_audit_options made = {
        .size = sizeof made, .runs = RUNS_DEFAULT, .users = USERS_DEFAULT, .confidence = 0.999};
    options_give(options, size, &made, sizeof made);
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
    int code = release_options_check(&self->privacy, mechanism, mu, error);
    if (code == 0) release_options_range(&self->privacy, *mechanism);
    if (code == 0 && (*mechanism)->is_conditional) {
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "\"%s\" cannot be audited: it adds no noise to sums, and what it promises "
                         "is conditional",
                         (*mechanism)->name);
        error_hint(error, "audit one of the mechanisms that are proven");
    }
    if (code == 0 && (self->release->users_since || self->release->users_before)) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "an audit adds people of its own, whose records have no times");
        error_hint(error, "leave {users-since} and {users-before} out");
    }
    if (code == 0 && self->release->catalogue && strcmp(self->release->catalogue, "-") == 0)
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "an audit reads the catalogue several times: it must be a file");
    return code;
}

/* ---- time and progress ----------------------------------------------------------------------- */

static bool is_late(struct auditing *self) {
    if (self->end > 0 && clock_now() >= self->end) atomic_store(&self->is_late, true);
    return atomic_load(&self->is_late);
}

/* Progress of the whole, reported by any thread below. @return whether to stop */
static int watch_time(void *self_, const struct dpmf_progress *progress) {
    struct auditing *self = self_;
    const uint64_t done = atomic_load(&self->next), total = 2 * self->options->runs;
    const struct dpmf_progress whole = {
        .phase = "audit", .unit = "runs", .done = done < total ? done : total, .total = total};
    (void)progress;
    if (is_late(self) || atomic_load(&self->code) < 0) return 1;
    if (!self->run->progress || pthread_mutex_trylock(&self->lock) != 0) return 0;
    int stop = self->run->progress(self->run->progress_self, &whole);
    pthread_mutex_unlock(&self->lock);
    return stop;
}

static bool was_too_late(struct auditing *self, int code) {
    return code == DPMF_ERR_BASE_CANCELLED && atomic_load(&self->is_late);
}

static int refuse_late(struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the time was too short to compare all worlds: there is no verdict");
    error_hint(error, "allow more minutes, or audit with fewer users");
    return code;
}

/* ---- findings -------------------------------------------------------------------------------- */

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

/* ---- worlds ---------------------------------------------------------------------------------- */

static int run_text(struct auditing *self, const struct audit_setting *setting, bool others,
                    size_t canary, const struct transcript *replay, struct audit_world *world,
                    struct dpmf_error *error) {
    struct audit_file file = {0};
    *world = (struct audit_world){0};
    int code = audit_text_ratings(&self->population, others, canary, &file, error);
    if (code == 0) code = audit_world_run(setting, file.path, replay, world, error);
    audit_file_close(&file);
    return code;
}

static int compare_canary(struct auditing *self, const struct audit_setting *setting,
                          const struct audit_world *without, size_t canary,
                          struct dpmf_error *error) {
    const double scale = self->population.canaries[canary].scale;
    struct dpmf_audit_report *report = self->report;
    struct audit_world with = {0}, alone = {0};
    struct audit_difference difference = {0};
    int code = run_text(self, setting, true, canary, &without->transcript, &with, error);
    if (code == 0)
        code = run_text(self, setting, false, canary, &without->transcript, &alone, error);
    if (code == 0)
        code = audit_worlds_compare(setting, without, &with, &alone, scale, &difference, error);
    audit_world_free(&with);
    audit_world_free(&alone);
    if (code < 0) return code;
    report->worlds++;
    report->world_rounds += difference.rounds;
    report->world_numbers += difference.numbers;
    if (scale == 1) report->world_norm = fmax(report->world_norm, difference.norm);
    if (difference.findings) accuse(report, difference.findings, "%s", difference.reason);
    return 0;
}

static int compare_worlds(struct auditing *self, struct dpmf_error *error) {
    const struct audit_population *population = &self->population;
    struct dpmf_release_options options = self->privacy;
    struct dpmf_input_options input = dpmf_input_options_default();
    char output[FOLDER_MAX + NAME_MAX_HERE];
    struct audit_world without = {0};
    const struct audit_setting setting = {&input, &options, &self->quiet, output};
    input.format = "csv";
    input.by_record = true; /* as a private run does */
    options.has_insecure_seed = true;
    snprintf(output, sizeof output, "%s/world", self->folder);
    int code = random_from_system(&options.insecure_seed, sizeof options.insecure_seed, error);
    if (code == 0) code = run_text(self, &setting, true, SIZE_MAX, NULL, &without, error);
    for (size_t i = population->n_spread; i < population->n_canaries && code == 0; i++)
        code = compare_canary(self, &setting, &without, i, error);
    audit_world_free(&without);
    return code;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void fail(struct auditing *self, int code, const struct dpmf_error *error) {
    pthread_mutex_lock(&self->lock);
    int none = 0;
    if (atomic_compare_exchange_strong(&self->code, &none, code)) self->error = *error;
    pthread_mutex_unlock(&self->lock);
}

/* The next run's number, or UINT64_MAX. */
static uint64_t take_number(struct auditing *self) {
    if (atomic_load(&self->code) < 0 || is_late(self)) return UINT64_MAX;
    uint64_t number = atomic_fetch_add(&self->next, 1);
    return number < 2 * self->options->runs ? number : UINT64_MAX;
}

/* A run that the end of the time cuts off counts for nothing. */
static void make_runs(void *argument, int worker) {
    struct auditing *self = argument;
    for (uint64_t i; (i = take_number(self)) != UINT64_MAX;) {
        struct dpmf_error error = {0};
        int code = audit_run(&self->runners[worker], i == 0, self->guesses + i * self->flock.n,
                             &self->informed[i], &self->was_in[i], &error);
        self->is_done[i] = code == 0;
        if (code < 0 && !was_too_late(self, code)) fail(self, code, &error);
    }
}

static void add_tally(struct audit_tally *sum, const struct audit_tally *part) {
    audit_noise_merge(&sum->noise, &part->noise);
    sum->contributions += part->contributions;
    sum->over_norm += part->over_norm;
    sum->wrong_sums += part->wrong_sums;
    sum->draws += part->draws;
    sum->draws_listed += part->draws_listed;
    sum->rounds += part->rounds;
    sum->rounds_listed += part->rounds_listed;
    sum->wrong_lists += part->wrong_lists;
    sum->wrong_statements += part->wrong_statements;
    sum->loudness += part->loudness;
}

static uint64_t memory_of(const struct dpmf_run *run) {
    return run->memory ? run->memory : host_default_budget();
}

/* A thread for each core, as far as the memory gives every run what an import needs at least. */
static int threads_within(const struct dpmf_run *run) {
    const uint64_t least = UINT64_C(64) << 20, most = memory_of(run) / least;
    const int wanted = threads_wanted(run);
    return most < 1 ? 1 : most < (uint64_t)wanted ? (int)most : wanted;
}

/* Room for the most runs there can be, and a thread's own things. */
static int make_runners(struct auditing *self, struct dpmf_error *error) {
    const size_t most = (size_t)(2 * self->options->runs), threads = (size_t)self->threads;
    self->runners = memory_alloc_zero(threads, sizeof *self->runners);
    self->output = memory_alloc_zero(threads, sizeof *self->output);
    self->guesses = memory_alloc(most, self->flock.n * sizeof *self->guesses);
    self->informed = memory_alloc(most, sizeof *self->informed);
    self->was_in = memory_alloc_zero(most, sizeof *self->was_in);
    self->is_done = memory_alloc_zero(most, sizeof *self->is_done);
    self->tally = memory_alloc_zero(1, sizeof *self->tally);
    if (!self->runners || !self->output || !self->guesses || !self->informed || !self->was_in ||
        !self->is_done || !self->tally)
        return error_no_memory(error);
    self->alone = self->quiet;
    self->alone.threads = 1;
    self->alone.memory = memory_of(self->run) / (uint64_t)self->threads;
    for (int i = 0; i < self->threads; i++) {
        struct audit_runner *runner = &self->runners[i];
        snprintf(self->output[i], sizeof self->output[i], "%s/run-%d", self->folder, i);
        runner->population = &self->population;
        runner->flock = &self->flock;
        runner->options = &self->privacy;
        runner->run = &self->alone;
        runner->output = self->output[i];
    }
    return 0;
}

/* Moves the guesses of the runs that were done to the front. */
static void keep_done(struct auditing *self, uint64_t given) {
    const size_t m = self->flock.n;
    for (uint64_t i = 0; i < given; i++) {
        if (!self->is_done[i]) continue;
        const uint64_t k = self->n_runs++;
        memmove(self->guesses + k * m, self->guesses + i * m, m * sizeof *self->guesses);
        self->informed[k] = self->informed[i];
        self->was_in[k] = self->was_in[i];
    }
}

static int run_all(struct auditing *self, struct dpmf_error *error) {
    const uint64_t most = 2 * self->options->runs;
    struct thread_pool *pool = NULL;
    int code = audit_flock_make(&self->population, &self->privacy, self->ranks, &self->quiet,
                                &self->flock, error);
    if (code == 0) code = make_runners(self, error);
    if (code == 0) code = thread_pool_init(&pool, self->threads, error);
    if (code < 0) return code;
    thread_pool_run(pool, make_runs, self);
    thread_pool_free(pool);
    for (int i = 0; i < self->threads; i++) add_tally(self->tally, &self->runners[i].tally);
    const uint64_t given = atomic_load(&self->next);
    keep_done(self, given < most ? given : most);
    code = atomic_load(&self->code);
    if (code < 0 && error) *error = self->error;
    return code;
}

/* ---- what they show -------------------------------------------------------------------------- */

static void check_tally(struct dpmf_audit_report *report, const struct audit_tally *tally) {
    char reason[DPMF_AUDIT_TEXT_MAX];
    report->contributions = tally->contributions;
    report->draws = tally->draws;
    report->noisy_rounds = tally->rounds;
    audit_noise_size(&tally->noise, &report->noise_numbers, &report->noise);
    if (tally->over_norm > 0)
        accuse(report, DPMF_AUDIT_NORM, "%.0f of %.0f contributions are over the norm bound",
               (double)tally->over_norm, (double)tally->contributions);
    if (tally->wrong_sums > 0)
        accuse(report, DPMF_AUDIT_WORLDS, "sums are not those of the users' own contributions");
    if (audit_noise_is_wrong(&tally->noise, reason, sizeof reason))
        accuse(report, DPMF_AUDIT_NOISE, "%s", reason);
    if (tally->wrong_lists > 0)
        accuse(report, DPMF_AUDIT_DRAWS,
               "%.0f rounds were made with %.0f draws of noise, but %.0f with %.0f are listed",
               (double)tally->rounds, (double)tally->draws, (double)tally->rounds_listed,
               (double)tally->draws_listed);
    if (tally->wrong_statements > 0)
        accuse(report, DPMF_AUDIT_STATEMENT, "the statements of %.0f runs claim too much",
               (double)tally->wrong_statements);
}

/* Where sums depend on other people, what the auditor calls noise is not what an attacker sees: no
 * bound then. */
static void bound_loss(struct auditing *self) {
    struct dpmf_audit_report *report = self->report;
    const double level = (1 - self->options->confidence) / 2;
    const size_t n = (size_t)self->n_runs, m = self->flock.n;
    for (size_t i = 0; i < n; i++) {
        report->guessed_right += self->informed[i].is_right;
        report->runs_in += self->was_in[i];
        for (size_t k = 0; k < m; k++) report->guesses_right += self->guesses[i * m + k].is_right;
    }
    report->runs_out = n - report->runs_in;
    report->canaries = m;
    report->guesses = n * m;
    report->mu_canary = n > 0 ? sqrt(self->tally->loudness / (double)n) : 0;
    if (report->findings & DPMF_AUDIT_WORLDS) return;
    const struct audit_count one = audit_count_make(self->informed, n);
    const struct audit_count many = audit_count_make(self->guesses, n * m);
    report->epsilon_low = audit_bound_epsilon(&many, n, m, report->delta, level);
    /* What is not (epsilon, delta)-private is not mu-GDP either, for the mu that would make it
     * so. */
    report->mu_low = audit_bound_mu(&one, level);
    if (report->epsilon_low > 0)
        report->mu_low = fmax(report->mu_low, accountant_mu(report->epsilon_low, report->delta));
    if (audit_bound_excludes_mu(&one, report->mu, level)) {
        report->mu_low = fmax(report->mu_low, report->mu);
        accuse(report, DPMF_AUDIT_LOSS,
               "canaries are detected too well: mu is at least %.3f, but %.3f is claimed",
               floor(report->mu_low * 1000) / 1000, report->mu);
    }
    if (audit_bound_excludes_epsilon(&many, n, m, report->epsilon, report->delta, level)) {
        report->epsilon_low = fmax(report->epsilon_low, report->epsilon);
        accuse(report, DPMF_AUDIT_LOSS,
               "canaries are detected too well: epsilon is at least %.3f at delta %g, but %g is "
               "claimed",
               floor(report->epsilon_low * 1000) / 1000, report->delta, report->epsilon);
    }
}

static int judge(struct dpmf_audit_report *report, struct dpmf_error *error) {
    if (report->findings == 0) return 0;
    int code = error_set(error, DPMF_ERR_PRIVACY_ACCUSED, "accused: %s", report->finding[0]);
    error_hint(error, "do not publish what this mechanism makes");
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* In memory where that can be: a release waits until the disk has it, and these are gone in a
 * moment. */
static int make_folder(struct auditing *self, struct dpmf_error *error) {
    const char *base = temporary_directory_fast();
    int n = snprintf(self->folder, sizeof self->folder, "%s/dpmf-audit-XXXXXX", base);
    if (n > 0 && (size_t)n < sizeof self->folder && mkdtemp(self->folder)) return 0;
    self->folder[0] = '\0';
    error_set(error, DPMF_ERR_IO_WRITE, "no temporary folder can be made");
    error_place(error, base, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

static int audit_population(struct auditing *self, struct dpmf_error *error) {
    struct dpmf_audit_report *report = self->report;
    const struct id_form form = store_id_form(self->store);
    self->privacy.before_spending = NULL;
    self->privacy.accept_delta = self->privacy.accept_epsilon = true; /* nothing is published */
    int code = audit_population_make(self->store, &self->privacy, self->options->users,
                                     &self->quiet, &self->population, error);
    if (code < 0) return code;
    report->items = self->population.catalogue.ids.n;
    report->users = self->population.n_others;
    report->users_of_store = self->population.users_of_store;
    code = audit_text_wishes(&self->population, self->privacy.user_privacy, &form, &self->quiet,
                             &self->wishes, error);
    self->privacy.user_privacy = self->wishes.path;
    if (code == 0) code = make_folder(self, error);
    if (code == 0) code = compare_worlds(self, error);
    /* The rest assumes that it does not. */
    if (code < 0 || report->findings & DPMF_AUDIT_CATALOGUE) return code;
    code = run_all(self, error);
    if (was_too_late(self, code)) return 0; /* with no run at all the worlds still count */
    if (code < 0) return code;
    check_tally(report, self->tally);
    bound_loss(self);
    return 0;
}

static void free_auditing(struct auditing *self) {
    for (int i = 0; self->runners && i < self->threads; i++)
        if (self->runners[i].flock) audit_runner_free(&self->runners[i]);
    free(self->runners);
    free(self->output);
    free(self->guesses);
    free(self->informed);
    free(self->was_in);
    free(self->is_done);
    free(self->tally);
    audit_flock_free(&self->flock);
    audit_file_close(&self->wishes);
    audit_population_free(&self->population);
    if (self->folder[0]) rmdir(self->folder);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

int dpmf_audit(struct dpmf_store *store, const struct dpmf_release_options *release,
               const struct dpmf_audit_options *options, const struct dpmf_run *run,
               struct dpmf_audit_report *report, struct dpmf_error *error) {
    struct dpmf_audit_options own = dpmf_audit_options_default();
    struct dpmf_release_options own_release;
    struct dpmf_run own_run;
    struct dpmf_audit_report unwanted;
    int code = arguments_check(error, "store", store);
    if (code == 0) code = release_options_take(&own_release, release, error);
    if (code == 0) code = options_take(&own, sizeof own, options, "audit_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    const struct mechanism *mechanism;
    double mu;
    struct auditing *self = memory_alloc_zero(1, sizeof *self);
    if (!self) return error_no_memory(error);
    if (pthread_mutex_init(&self->lock, NULL) != 0) {
        free(self);
        return error_no_memory(error);
    }
    self->store = store;
    self->options = options;
    self->release = &own_release;
    self->privacy = release_options_settle(&own_release, store);
    self->run = run;
    self->report = report ? report : &unwanted;
    self->threads = threads_within(self->run);
    self->quiet = *self->run;
    self->quiet.progress = watch_time;
    self->quiet.warn = NULL;
    self->quiet.progress_self = self;
    self->started = clock_now();
    if (options->minutes > 0) self->end = self->started + 60 * options->minutes;
    memset(self->report, 0, sizeof *self->report);
    code = check_options(self, &mechanism, &mu, error);
    if (code == 0) {
        report = self->report;
        report->mechanism = mechanism->name;
        self->ranks = mechanism->ranks;
        report->mu = mu;
        report->epsilon = own_release.epsilon;
        report->delta = own_release.delta;
        report->confidence = options->confidence;
        code = audit_population(self, error);
    }
    if (was_too_late(self, code)) code = refuse_late(error);
    if (code == 0) code = judge(self->report, error);
    self->report->seconds = clock_now() - self->started;
    free_auditing(self);
    return code;
}
