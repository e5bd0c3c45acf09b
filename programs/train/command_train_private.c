/*
 * dpmf train --epsilon: makes a private release from ratings. What it prints on the curator's
 * terminal may tell of the ratings; what it writes to the file does not. Fed by any ratings input;
 * its file feeds everything that takes a release.
 */
#include "train/command_train_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/ledger_words.h"
#include "shared/model_use.h"
#include "shared/privacy_claim.h"
#include "shared/privacy_figures.h"

/* ---- options --------------------------------------------------------------------------------- */

static void max_ratings_default(FILE *out) {
    fprintf(out, "%u", dpmf_release_options_default().posterior.max_ratings);
}

static void rho_default(FILE *out) {
    fputs(text_double(dpmf_release_options_default().posterior.rho).text, out);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
const struct option train_private_options[] = {
    {.id = OPTION_EPSILON, .name = "epsilon", .value = {VALUE_REAL, "E", "1", NULL, NULL},
     .help = "make a release that is (E, delta)-differentially private for every user"},
    {.id = OPTION_DELTA, .name = "delta", .value = {VALUE_NUMBER, "D", "1e-5", NULL, NULL},
     .show_default = private_delta_default,
     .help = "the delta of that promise (default {default})"},
    {.id = OPTION_CATALOGUE, .name = "catalogue", .alias = "catalog",
     .value = {VALUE_FILE, "FILE", "items.csv", NULL, NULL},
     .help = "the items that exist, in an order that does not follow from the ratings: needed, "
             "since which items were rated is private"},
    {.id = OPTION_CATALOGUE_FROM_RATINGS, .name = "catalogue-from-ratings",
     .value = {.kind = VALUE_NONE},
     .help = "instead take the items of the ratings; the release then shows which items anyone "
             "rated, and is partial, not proven"},
    {.id = OPTION_DECLARED_USERS, .name = "declared-users",
     .value = {VALUE_COUNT, "N", "6000", NULL, NULL},
     .help = "about how many users there are, as is publicly known: delta should be below 1/N"},
    {.id = OPTION_USER_PRIVACY, .name = "user-privacy",
     .value = {VALUE_FILE, "FILE", "wishes.csv", NULL, NULL},
     .help = "a table of users with an epsilon each, for those who want less than --epsilon; 0 "
             "leaves a user out"},
    {.id = OPTION_USERS_SINCE, .name = "users-since",
     .value = {VALUE_TEXT, "DATE", "2026-01-01", NULL, NULL},
     .help = "only users whose own first record is on this day (UTC) or later: new users"},
    {.id = OPTION_USERS_BEFORE, .name = "users-before",
     .value = {VALUE_TEXT, "DATE", "2026-07-01", NULL, NULL},
     .help = "only users whose own first record is before this day"},
    {.id = OPTION_COMPLETE_HISTORIES, .name = "complete-histories", .value = {.kind = VALUE_NONE},
     .help = "declare that every release of this population is made from ratings that contain "
             "the same first record of each user, never missing, never one that could not be read, "
             "and never replaced by a later record of the same item: the ledger then does not add "
             "up releases of periods that do not overlap; dpmf cannot check it, so its total is "
             "partial, not proven; refused for events, halves of splits, and stores that were "
             "imported with --rating-range"},
    {.id = OPTION_ABOUT, .name = "about", .value = {VALUE_FILE, "FILE", "about.txt", NULL, NULL},
     .help = "what you declare about the release, lines of \"name: text\": controller, contact, "
             "data, period, intended_use, region, date, review, expiry, erasure and more; "
             "published, and marked as not verified"},
    {.id = OPTION_MECHANISM, .name = "mechanism",
     .value = {VALUE_CHOICE, "NAME", "residual", NULL, mechanism_choices},
     .help = "how the release is made (default auto); all are proven but posterior, which is "
             "conditional"},
    {.id = OPTION_POPULATION, .name = "population",
     .value = {VALUE_TEXT, "NAME", "customers", NULL, NULL},
     .help = "whose budget in the ledger is spent (default \"default\")"},
    {.id = OPTION_LEDGER, .name = "ledger", .value = {VALUE_OUTPUT, "FILE", "ledger", NULL, NULL},
     .help = "the ledger of all releases, which dpmf ledger init made (default "
             "$XDG_STATE_HOME/dpmf/ledger, made when it is missing)"},
    {.id = OPTION_LEDGER_BUDGET, .name = "ledger-budget",
     .value = {VALUE_TEXT, "MU|E@DELTA", "5@1e-5", NULL, NULL},
     .help = "refuse a release that would bring the population's total above this: a mu, or an "
             "epsilon at a delta"},
    {.id = OPTION_ACCEPT_DELTA, .name = "accept-delta", .value = {.kind = VALUE_NONE},
     .help = "allow a delta above 1e-4, or not below 1/N of the declared users; the release is "
             "then partial, not proven"},
    {.id = OPTION_ACCEPT_EPSILON, .name = "accept-epsilon", .value = {.kind = VALUE_NONE},
     .help = "allow a mu above 3.45, which is epsilon 20 at delta 1e-5 (with posterior: an epsilon "
             "above 20); the release is then not proven"},
    {.id = OPTION_RESEARCH, .name = "research", .value = {.kind = VALUE_NONE},
     .help = "allow what a release must not do, and mark the file as not releasable"},
    {.id = OPTION_MAX_RATINGS, .name = "max-ratings",
     .value = {VALUE_COUNT, "T", "100", NULL, NULL}, .show_default = max_ratings_default,
     .help = "with posterior: how many ratings of a user count; others are left out at random "
             "(default {default})"},
    {.id = OPTION_KAPPA, .name = "kappa", .value = {VALUE_REAL, "X", "1", NULL, NULL},
     .help = "with posterior: how far predictions may go beyond the range of ratings, in its units "
             "(default: a quarter of the range)"},
    {.id = OPTION_RHO, .name = "rho", .value = {VALUE_REAL, "X", "1", NULL, NULL},
     .show_default = rho_default,
     .help = "with posterior: the largest weight that users with few ratings get (default "
             "{default})"},
    {.id = OPTION_INSECURE_NOISE_SEED, .name = "insecure-noise-seed",
     .value = {VALUE_COUNT, "N", "1", NULL, NULL},
     .help = "for tests: predictable noise; the file is stamped NOT PRIVATE"},
    {0},
};
/* clang-format on */

/* ---- options --------------------------------------------------------------------------------- */

/* What asks the private data for a number again and again, or shows it: each answer would be a
 * release. */
static int refuse_metrics(const struct invocation *invocation) {
    static const enum option_id asking[] = {OPTION_VALID, OPTION_PATIENCE};
    for (size_t i = 0; i < sizeof asking / sizeof asking[0]; i++)
        if (command_has(invocation, asking[i]))
            return terminal_error_print(
                STATUS_REFUSED,
                "leave it out, or add --research, which marks the file not releasable",
                "--%s measures private ratings, which the privacy budget does not cover",
                asking[i] == OPTION_VALID ? "valid" : "patience");
    return STATUS_DONE;
}

static bool is_conditional(const struct invocation *invocation) {
    return dpmf_mechanism_is_conditional(invocation->value[OPTION_MECHANISM]);
}

#define FIXED_RULE "cannot be set with --epsilon: a private mechanism has fixed, public settings"

/* In the library 0 stands for a suitable number. */
static int check_counts(const struct invocation *invocation) {
    static const enum option_id counts[] = {OPTION_FACTORS, OPTION_EPOCHS, OPTION_CHAINS};
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (command_has(invocation, counts[i]) && options_count(invocation, counts[i]) == 0)
            return terminal_error_print(STATUS_USAGE, "leave it out to use the default",
                                        "--%s 0 leaves nothing to do",
                                        options_name(invocation, counts[i]));
    return STATUS_DONE;
}

/* A sampler's settings are public too, and its own. */
static int check_sampler(const struct invocation *invocation) {
    static const enum option_id of_samplers[] = {
        OPTION_FACTORS,
        OPTION_EPOCHS,
        OPTION_CHAINS,
        OPTION_TRACE,
    };
    static const enum option_id of_posterior[] = {
        OPTION_KAPPA,
        OPTION_RHO,
        OPTION_MAX_RATINGS,
    };
    if (is_conditional(invocation)) {
        int slip = check_counts(invocation);
        if (slip != STATUS_DONE || !command_has(invocation, OPTION_DELTA)) return slip;
        return terminal_error_print(STATUS_USAGE, "leave it out",
                                    "--delta has no meaning with --mechanism posterior, whose "
                                    "promise has no delta");
    }
    int status = options_refuse(invocation, of_posterior, COUNT_OF(of_posterior),
                                "is for --mechanism posterior", "leave it out");
    if (status != STATUS_DONE) return status;
    return options_refuse(invocation, of_samplers, COUNT_OF(of_samplers), FIXED_RULE,
                          "leave it out");
}

/* Numbers that are looked up, again and again, can be looked up by others. */
static int refuse_table(const struct invocation *invocation) {
    const char *noise = invocation->value[OPTION_SGLD_NOISE];
    if (noise == NULL || strncmp(noise, "table", 5) != 0) return STATUS_DONE;
    return terminal_error_print(STATUS_REFUSED, "leave it out: a release has noise of its own",
                                "--noise table repeats itself and can be predicted, which no "
                                "release allows");
}

/* These steer training without privacy; a mechanism's constants are public and fixed. */
static int check_unused(const struct invocation *invocation) {
    static const enum option_id unused[] = {
        OPTION_LEARNING_RATE,  OPTION_DECAY,    OPTION_REG,          OPTION_SEED,
        OPTION_HOGWILD,        OPTION_TIERS,    OPTION_LANES,        OPTION_SNAPSHOT,
        OPTION_SNAPSHOT_EVERY, OPTION_RESUME,   OPTION_PREFETCH,     OPTION_SOLVER,
        OPTION_AVERAGE,        OPTION_SAMPLES,  OPTION_BURN_IN,      OPTION_STEP,
        OPTION_SGLD_NOISE,     OPTION_ON_ERROR, OPTION_UNOBSERVED,   OPTION_ROW_STEPS,
        OPTION_ROW_BLOCK,      OPTION_NO_ADAPT, OPTION_COUNT_WEIGHT,
    };
    return options_refuse(invocation, unused, COUNT_OF(unused), FIXED_RULE, "leave it out");
}

/* Events of ratings that reach a declared constant: what becomes of a rating depends on it alone.
 */
static int read_like(const struct invocation *invocation, struct dpmf_input_options *input) {
    int status = options_like(invocation, &input->has_like, &input->like);
    if (status != STATUS_DONE || !command_has(invocation, OPTION_LIKE)) return status;
    if (!input->has_like) input->like = -INFINITY; /* any */
    input->has_like = true;
    return STATUS_DONE;
}

int train_private_check_absent(const struct invocation *invocation) {
    return options_refuse_group(invocation, train_private_options, OPTION_EPSILON,
                                "is for private releases", "add --epsilon E, or leave it out");
}

/* A kappa that is no number is refused as one below 0 is; the library takes NaN for its own. */
static void fill_sampler(const struct invocation *invocation,
                         struct dpmf_release_options *options) {
    options->posterior.max_ratings =
        options_count32(invocation, OPTION_MAX_RATINGS, options->posterior.max_ratings);
    options->posterior.factors = options_count32(invocation, OPTION_FACTORS, 0);
    options->posterior.rounds = options_count32(invocation, OPTION_EPOCHS, 0);
    options->posterior.chains = options_count32(invocation, OPTION_CHAINS, 0);
    options->posterior.trace = invocation->value[OPTION_TRACE];
    if (command_has(invocation, OPTION_RHO))
        options->posterior.rho = options_number(invocation, OPTION_RHO);
    if (!command_has(invocation, OPTION_KAPPA)) return;
    options->posterior.kappa = options_number(invocation, OPTION_KAPPA);
    if (isnan(options->posterior.kappa)) options->posterior.kappa = -1;
}

/* ---- what the curator is told ---------------------------------------------------------------- */

/* What tell_before_spending works with. */
struct before_spending {
    struct terminal *terminal;
    bool alarms;    /* something is wrong that was reported when the ratings were read */
    bool of_events; /* these are events, not ratings */
};

/* A tenth of all is more than stray records. */
static bool is_much(uint64_t part, uint64_t whole) {
    return part >= whole / 10 + (whole % 10 != 0);
}

/* A note, or a warning that nothing silences when there are too many of them. */
static bool tell_dropped(const struct before_spending *before, uint64_t dropped, uint64_t whole,
                         const char *where, const char *what_to_check) {
    if (dropped == 0) return false;
    struct terminal *terminal = before->terminal;
    const bool alarms = is_much(dropped, whole);
    const struct short_text ratings = text_count(whole, report_record(before->of_events));
    if (alarms)
        terminal_alert_print(terminal, "%s of %s %s %s: %s", text_number(dropped).text,
                             ratings.text, dropped == 1 ? "is" : "are", where, what_to_check);
    else
        terminal_note_print(terminal, "left out: %s of %s, %s", text_number(dropped).text,
                            ratings.text, where);
    return alarms;
}

/* Lists of people instead of public tables: a header can say so, a bare list cannot. */
static bool tell_people(struct terminal *terminal, const struct dpmf_release_report *report) {
    const char *const have[] = {"have", "has"};
    if (report->users_as_items > 0)
        terminal_alert_print(terminal,
                             "%s %s the id of an item of the catalogue that nobody rated: is it a "
                             "list of people? The release would publish it",
                             text_count(report->users_as_items, "user").text,
                             have[report->users_as_items == 1]);
    if (report->users_as_categories > 0)
        terminal_alert_print(terminal,
                             "%s %s the id of a category or a number of the item features: are "
                             "they about people?",
                             text_count(report->users_as_categories, "user").text,
                             have[report->users_as_categories == 1]);
    return report->users_as_items + report->users_as_categories > 0;
}

/* Who is not of the period of --users-since and --users-before, or may not be. */
static bool tell_periods(struct terminal *terminal, const struct dpmf_release_report *report) {
    const uint64_t without = report->users_without_time;
    const uint64_t whole =
        report->users + report->users_left_out + report->users_of_other_periods + without;
    if (report->users_of_other_periods > 0)
        terminal_note_print(terminal, "%s left out (first record in another period)",
                            text_count(report->users_of_other_periods, "user").text);
    if (report->times_are_doubtful)
        terminal_alert_print(
            terminal, "a tenth or more of the users have their first record in 1970 or after 2199, "
                      "where nobody's is: dates are written as 2026-01-15, not as 20260115, and "
                      "times as seconds since 1970, or left out where they are not known");
    if (without == 0) return report->times_are_doubtful;
    const bool alarms = report->times_are_doubtful || is_much(without, whole);
    if (is_much(without, whole))
        terminal_alert_print(terminal,
                             "%s of %s left out: a record without a time, or beyond the year 9999 "
                             "(times are seconds since 1970)",
                             text_number(without).text, text_count(whole, "user").text);
    else
        terminal_note_print(terminal, "%s left out (a record without a usable time)",
                            text_count(without, "user").text);
    return alarms;
}

static bool tell_ratings(const struct before_spending *before,
                         const struct dpmf_release_report *report) {
    struct terminal *terminal = before->terminal;
    const uint64_t whole =
        report->ratings + report->trimmed + report->not_in_catalogue + report->out_of_range;
    bool alarms = tell_dropped(before, report->not_in_catalogue, whole, "outside the catalogue",
                               "check how it spells its items");
    alarms |= tell_dropped(before, report->out_of_range, whole, "outside the declared range",
                           "check --rating-range");
    if (report->range_is_wide)
        terminal_alert_print(terminal, "nearly all ratings lie within a tenth of the declared "
                                       "range, and noise is made for all of it: check "
                                       "--rating-range");
    alarms |= report->range_is_wide;
    if (report->users_left_out > 0)
        terminal_note_print(
            terminal, "%s left out (opted out, a line break in the id, or no usable %ss)",
            text_count(report->users_left_out, "user").text, report_record(before->of_events));
    alarms |= tell_periods(terminal, report);
    if (report->users > 0) return alarms;
    terminal_alert_print(terminal, "no user is left: the release will hold nothing but noise");
    return true;
}

/* A wish that matches nobody may be of someone who has never rated, or be spelled in another way
 * than the ratings are: only the curator can know. */
static bool tell_wishes(struct terminal *terminal, const struct dpmf_release_report *report) {
    const struct short_text all = text_number(report->wishes);
    const char *wishes = report->wishes == 1 ? "wish" : "wishes";
    if (report->wishes_twice > 0)
        terminal_note_print(
            terminal, "%s of the wishes name%s a user again: the smallest epsilon counts",
            text_count(report->wishes_twice, "row").text, report->wishes_twice == 1 ? "s" : "");
    if (report->wishes_above > 0)
        terminal_note_print(terminal, "%s of %s %s above --epsilon: the release's epsilon holds",
                            text_number(report->wishes_above).text, all.text, wishes);
    if (report->wishes_of_nobody == 0) return false;
    terminal_alert_print(terminal, "%s of %s %s match%s nobody: check the ids",
                         text_number(report->wishes_of_nobody).text, all.text, wishes,
                         report->wishes_of_nobody == 1 ? "es" : "");
    return true;
}

/* A name that is misspelled, or a ledger in another place, begins with nothing spent. */
static bool tell_what_is_new(struct terminal *terminal, const struct dpmf_release_report *report) {
    const char *name = report->spent.name;
    if (report->is_new_ledger) {
        char *path = dpmf_ledger_path();
        terminal_alert_print(terminal, "new ledger %s: it knows nothing of earlier releases",
                             path ? path : "");
        free(path);
    } else if (report->is_new_population && report->other_populations > 0) {
        terminal_alert_print(terminal,
                             "population \"%s\" is new to the ledger, which knows %s: check the "
                             "name, since each has a budget of its own",
                             name, text_count(report->other_populations, "other").text);
        return true;
    } else if (report->is_new_population && name != NULL) {
        terminal_note_print(terminal, "population \"%s\" is new to the ledger", name);
    }
    return false;
}

/* The number of users that is declared, by the one there is. */
static bool tell_users(struct terminal *terminal, const struct dpmf_release_report *report) {
    const struct short_text users = text_count(report->users + report->users_left_out, "user");
    if (report->delta_is_high)
        terminal_alert_print(terminal,
                             "delta %g is not below one in %s: one of them might be exposed "
                             "altogether: use a smaller --delta, or declare them with "
                             "--declared-users, which refuses it",
                             report->delta, users.text);
    if (report->declared_users_differ)
        terminal_alert_print(terminal,
                             "there are %s, and the statement will publish what --declared-users "
                             "says: check it",
                             users.text);
    return report->delta_is_high || report->declared_users_differ;
}

/* No switch asked for this one, so it is said here, whatever is silenced. */
static void tell_query(struct terminal *terminal, const struct dpmf_release_report *report) {
    const char *sentence = NULL;
    if (report->claim == DPMF_CLAIM_NOT_PRIVATE || !(report->assumptions & DPMF_ASSUMES_QUERY))
        return;
    dpmf_assumption_name(DPMF_ASSUMES_QUERY, &sentence);
    terminal_alert_print(terminal, "the release will not be proven: it assumes %s", sentence);
}

/* Before anything is spent: what the curator would want to have known. */
static int tell_before_spending(void *self, const struct dpmf_release_report *report) {
    enum { SECONDS_TO_INTERRUPT = 5 };
    const struct before_spending *before = self;
    struct terminal *terminal = before->terminal;
    terminal_progress_end(terminal);
    bool alarms = tell_ratings(before, report) || before->alarms;
    alarms |= tell_wishes(terminal, report);
    alarms |= tell_people(terminal, report);
    alarms |= tell_what_is_new(terminal, report);
    alarms |= tell_users(terminal, report);
    if (report->catalogue_is_rated_set)
        terminal_alert_print(
            terminal,
            "the catalogue is exactly the set of rated items, or nearly: if it was made from "
            "the ratings it is not public");
    if (report->declares_less_spent)
        terminal_alert_print(terminal,
                             "--about declares that less was spent before than the ledger has of "
                             "the population, mu %s: the release will publish the smaller sum",
                             figures_up(report->spent.mu).text);
    alarms |= report->declares_less_spent;
    tell_query(terminal, report);
    return terminal_wait_for_interrupt(terminal, alarms ? SECONDS_TO_INTERRUPT : 0);
}

static void tell_warnings(struct terminal *terminal, const struct dpmf_release_options *options,
                          const struct dpmf_release_report *report) {
    if (options->has_insecure_seed)
        terminal_alert_print(terminal, "NOT PRIVATE: the noise came from a seed; for tests only");
    else if (options->research)
        terminal_alert_print(terminal, "NOT PRIVATE: made with --research, not releasable");
    /* queries were reported before anything was spent */
    privacy_claim_warn(terminal, report->claim,
                       report->assumptions & ~(unsigned)DPMF_ASSUMES_QUERY);
}

static bool is_sampled(const struct dpmf_release_report *report) {
    return report->assumptions & DPMF_ASSUMES_CONVERGENCE;
}

/* How the chains look: for whoever makes the release. Nothing may be done about it but to say
 * so. */
static void tell_chains(struct terminal *terminal, const struct dpmf_release_report *report) {
    if (!is_sampled(report)) return;
    if (report->trimmed > 0)
        terminal_note_print(terminal, "left out: %s beyond --max-ratings of a user",
                            text_count(report->trimmed, "rating").text);
    terminal_note_print(terminal, "%.2f %% of the sampler's proposals were accepted",
                        100 * report->acceptance);
    if (report->is_converged)
        terminal_note_print(terminal, "%s", report->chains_text);
    else
        terminal_warning_print(terminal, report->chains_text);
    terminal_note_print(terminal,
                        "this is about private ratings and for your eyes only: do not publish it "
                        "or choose among releases by it");
}

/* No more than what is proven: of a file that is no release, nothing. */
static void tell_result(struct invocation *invocation, const struct dpmf_release_report *report) {
    struct terminal *terminal = &invocation->terminal;
    char promise[200], delta[DPMF_DOUBLE_TEXT_MAX + 20] = "", kind[40] = "";
    char exactly[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(report->delta, exactly); /* as declared: no digit is rounded away */
    if (!is_sampled(report)) snprintf(delta, sizeof delta, " at delta %s", exactly);
    if (report->claim != DPMF_CLAIM_PROVEN)
        snprintf(kind, sizeof kind, ", %s, not proven", dpmf_claim_name(report->claim));
    if (report->claim == DPMF_CLAIM_NOT_PRIVATE)
        snprintf(promise, sizeof promise, "NOT PRIVATE");
    else
        snprintf(promise, sizeof promise, "epsilon %s%s for every user%s",
                 figures_up(report->epsilon).text, delta, kind);
    terminal_note_print(terminal, "%s: %s; %s, %s, in %s, written to %s", report->mechanism,
                        promise, text_count(report->factors, "factor").text,
                        text_count(is_sampled(report) ? 1 : report->noisy_rounds,
                                   is_sampled(report) ? "draw" : "noisy round")
                            .text,
                        text_seconds(report->seconds).text, invocation->value[OPTION_OUTPUT]);
}

/* The release says so itself, and so it is public. */
static void tell_popularity_alone(struct terminal *terminal,
                                  const struct dpmf_release_report *report) {
    if (!report->is_popularity_alone) return;
    terminal_warning_print(
        terminal,
        report->factors == 0
            ? "this release is popularity alone: with so few people, so little epsilon or so few "
              "items, noise hides which items go together"
            : "this release is popularity alone: by the users' noisy vote, taste counts nothing");
}

/* After every release: what it adds up to. */
static void tell_spent(struct terminal *terminal, const struct dpmf_release_report *report) {
    const struct dpmf_ledger_population *spent = &report->spent;
    if (spent->name == NULL) return;
    terminal_note_print(terminal, "population \"%s\" has spent: %s", spent->name,
                        ledger_words_spent(spent).text);
    if (spent->periods > 0) terminal_note_print(terminal, "  %s", ledger_words_periods(spent).text);
    if (spent->research + spent->tuning + spent->returned > 0)
        terminal_note_print(terminal, "  %s", ledger_words_counts(spent).text);
}

static void spent_json(struct dpmf_json *json, const struct dpmf_ledger_population *spent) {
    if (spent->name == NULL) return;
    dpmf_json_string(json, "population", spent->name);
    dpmf_json_double(json, "spent_mu", spent->mu);
    dpmf_json_double(json, "spent_mu_in_full", spent->mu_in_full);
    dpmf_json_string(json, "spent_kind", dpmf_claim_name(spent->claim));
    dpmf_json_double(json, "spent_epsilon", spent->epsilon);
    dpmf_json_double(json, "spent_delta", spent->delta);
    if (spent->budget.mu > 0)
        dpmf_json_double(json, "budget_mu", spent->budget.mu);
    else
        dpmf_json_null(json, "budget_mu");
}

/* What the import of a store dropped is not known any more. */
static void losses_json(struct dpmf_json *json, const struct dpmf_store_info *read) {
    if (read->not_liked > 0) dpmf_json_uint(json, "not_liked", read->not_liked);
    if (read->other_headers > 0) dpmf_json_uint(json, "other_headers", read->other_headers);
    if (read->is_temporary)
        dpmf_json_uint(json, "bad_records", read->bad_records);
    else
        dpmf_json_null(json, "bad_records");
}

static int print_json(const struct invocation *invocation, const struct dpmf_store_info *read,
                      const struct dpmf_release_report *report) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_string(json, "mechanism", report->mechanism);
    privacy_claim_json(json, "kind", report->claim, report->assumptions);
    dpmf_json_double(json, "epsilon", report->epsilon);
    dpmf_json_double(json, "delta", report->delta);
    if (is_sampled(report))
        dpmf_json_null(json, "mu");
    else
        dpmf_json_double(json, "mu", report->mu);
    dpmf_json_uint(json, "releases", report->noisy_rounds);
    dpmf_json_uint(json, "factors", report->factors);
    if (strcmp(report->mechanism, "events") == 0)
        dpmf_json_bool(json, "popularity_alone", report->is_popularity_alone);
    dpmf_json_string(json, "release_id", report->release_id);
    dpmf_json_uint(json, "users", report->users);
    dpmf_json_uint(json, "ratings", report->ratings);
    dpmf_json_uint(json, "not_in_catalogue", report->not_in_catalogue);
    dpmf_json_uint(json, "out_of_range", report->out_of_range);
    dpmf_json_uint(json, "users_left_out", report->users_left_out);
    if (command_has(invocation, OPTION_USERS_SINCE) ||
        command_has(invocation, OPTION_USERS_BEFORE)) {
        dpmf_json_uint(json, "users_of_other_periods", report->users_of_other_periods);
        dpmf_json_uint(json, "users_without_time", report->users_without_time);
        dpmf_json_bool(json, "times_are_doubtful", report->times_are_doubtful);
    }
    dpmf_json_uint(json, "wishes", report->wishes);
    dpmf_json_uint(json, "wishes_of_nobody", report->wishes_of_nobody);
    dpmf_json_uint(json, "users_as_items", report->users_as_items);
    dpmf_json_uint(json, "users_as_categories", report->users_as_categories);
    dpmf_json_bool(json, "catalogue_is_rated_set", report->catalogue_is_rated_set);
    dpmf_json_bool(json, "range_is_wide", report->range_is_wide);
    losses_json(json, read);
    spent_json(json, &report->spent);
    if (is_sampled(report)) {
        dpmf_json_uint(json, "trimmed", report->trimmed);
        dpmf_json_double(json, "rhat", report->rhat);
        dpmf_json_double(json, "ess", report->ess);
        dpmf_json_double(json, "acceptance", report->acceptance);
        dpmf_json_bool(json, "converged", report->is_converged);
    }
    dpmf_json_string(json, "output", invocation->value[OPTION_OUTPUT]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* ---- research -------------------------------------------------------------------------------- */

/* The error on --valid, or how well it is ranked, which --research allows: everyone's vector is
 * fitted to their training ratings, as at home. */
static int show_error(struct invocation *invocation, const struct dpmf_input_options *input,
                      struct dpmf_store *history, struct dpmf_error *error) {
    struct dpmf_evaluate_options options = dpmf_evaluate_options_default();
    struct dpmf_evaluation evaluation;
    struct dpmf_model_info info;
    struct dpmf_store *valid = NULL;
    struct dpmf_model *model = NULL;
    struct dpmf_run run = invocation->run;
    bool ranks = false;
    run.cluster = NULL;
    run.warn = NULL; /* check_valid has passed on what there is to warn of */
    int rc = dpmf_store_open(invocation->value[OPTION_VALID], input, &run, &valid, error);
    run.warn = invocation->run.warn;
    if (rc == 0) rc = dpmf_model_open(invocation->value[OPTION_OUTPUT], &model, error);
    if (rc == 0) {
        dpmf_model_info(model, &info);
        ranks = strcmp(info.goal, "ranking") == 0;
        if (ranks) options.ranking = 10;
        rc = dpmf_model_evaluate(model, valid, history, &options, &run, &evaluation, error);
    }
    if (rc == 0) terminal_progress_end(&invocation->terminal);
    if (rc == 0 && ranks)
        terminal_note_print(&invocation->terminal, "recall@10 %.4f, ndcg@10 %.4f on %s",
                            evaluation.recall, evaluation.ndcg, invocation->value[OPTION_VALID]);
    else if (rc == 0)
        terminal_note_print(&invocation->terminal, "RMSE %.4f on %s", evaluation.rmse,
                            invocation->value[OPTION_VALID]);
    dpmf_model_close(model);
    dpmf_store_close(valid);
    return rc;
}

/* Whether the release will rank. */
static bool is_to_rank(const struct invocation *invocation, const struct dpmf_store *store) {
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    return info.holds_events || options_is(invocation, OPTION_GOAL, "ranking") ||
           options_is(invocation, OPTION_MECHANISM, "events");
}

/* Before anything is spent: ratings that say nothing of the release would only be refused
 * afterwards. */
static int check_valid(struct invocation *invocation, const struct dpmf_input_options *input,
                       const struct dpmf_store *store, struct dpmf_error *error) {
    struct dpmf_store *valid = NULL;
    struct dpmf_run run = invocation->run;
    run.cluster = NULL;
    int rc = dpmf_store_open(invocation->value[OPTION_VALID], input, &run, &valid, error);
    if (rc == 0)
        rc = dpmf_store_check_held_out(store, valid, is_to_rank(invocation, store), &run, error);
    dpmf_store_close(valid);
    return rc;
}

/* ---- the run --------------------------------------------------------------------------------- */

static struct dpmf_release_options fill(const struct invocation *invocation) {
    struct dpmf_release_options options = dpmf_release_options_default();
    options.epsilon = options_number(invocation, OPTION_EPSILON);
    if (command_has(invocation, OPTION_DELTA))
        options.delta = options_number(invocation, OPTION_DELTA);
    options.mechanism = invocation->value[OPTION_MECHANISM];
    options.goal = invocation->value[OPTION_GOAL];
    if (command_has(invocation, OPTION_RATING_RANGE)) {
        double range[2];
        options_range(invocation, OPTION_RATING_RANGE, range);
        options.range_min = range[0];
        options.range_max = range[1];
    }
    options.catalogue = invocation->value[OPTION_CATALOGUE];
    options.catalogue_from_ratings = command_has(invocation, OPTION_CATALOGUE_FROM_RATINGS);
    options.item_features = invocation->value[OPTION_ITEM_FEATURES];
    options.user_privacy = invocation->value[OPTION_USER_PRIVACY];
    options.users_since = invocation->value[OPTION_USERS_SINCE];
    options.users_before = invocation->value[OPTION_USERS_BEFORE];
    options.complete_histories = command_has(invocation, OPTION_COMPLETE_HISTORIES);
    options.about = invocation->value[OPTION_ABOUT];
    if (command_has(invocation, OPTION_DECLARED_USERS))
        options.declared_users = options_count(invocation, OPTION_DECLARED_USERS);
    options.population = invocation->value[OPTION_POPULATION];
    options.ledger = invocation->value[OPTION_LEDGER];
    options.accept_delta = command_has(invocation, OPTION_ACCEPT_DELTA);
    options.accept_epsilon = command_has(invocation, OPTION_ACCEPT_EPSILON);
    options.research = command_has(invocation, OPTION_RESEARCH);
    options.has_insecure_seed = command_has(invocation, OPTION_INSECURE_NOISE_SEED);
    if (options.has_insecure_seed)
        options.insecure_seed = options_count(invocation, OPTION_INSECURE_NOISE_SEED);
    options.before_spending = tell_before_spending;
    fill_sampler(invocation, &options);
    return options;
}

/* No record decides how others are read, and one that cannot be used is dropped: were the run
 * refused for it, one person would decide over everyone's release. The range is looked at later,
 * for the same reason. */
static int fill_input(const struct invocation *invocation, const char *path,
                      struct dpmf_input_options *input) {
    *input = options_input_of(invocation, path);
    input->by_record = true;
    input->has_range = false;
    return read_like(invocation, input);
}

/* In the library 0 stands for not declared. */
static int check_users(const struct invocation *invocation) {
    if (!command_has(invocation, OPTION_DECLARED_USERS) ||
        options_count(invocation, OPTION_DECLARED_USERS) > 0)
        return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "for example: --declared-users 6000",
                                "--declared-users must be at least 1");
}

/* A number alone was once an epsilon: what it means is said before it counts. */
static int read_budget(struct invocation *invocation, struct dpmf_budget *budget) {
    struct dpmf_error error = {0};
    if (!command_has(invocation, OPTION_LEDGER_BUDGET)) return STATUS_DONE;
    if (dpmf_budget_parse(invocation->value[OPTION_LEDGER_BUDGET],
                          command_has(invocation, OPTION_ACCEPT_EPSILON), budget, &error) != 0)
        return report_error_print(invocation, &error);
    terminal_note_print(&invocation->terminal, "budget of the population: %s",
                        ledger_words_budget(budget).text);
    return STATUS_DONE;
}

int train_private_run(struct invocation *invocation) {
    struct dpmf_release_options options = fill(invocation);
    struct before_spending before = {.terminal = &invocation->terminal};
    options.before_spending_self = &before;
    struct dpmf_input_options input, of_valid = {0};
    struct dpmf_release_report report;
    struct dpmf_store_info read = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    struct terminal *terminal = &invocation->terminal;
    int status = refuse_table(invocation);
    if (status == STATUS_DONE) status = check_unused(invocation);
    if (status == STATUS_DONE) status = check_sampler(invocation);
    if (status == STATUS_DONE) status = fill_input(invocation, invocation->operands[0], &input);
    if (status == STATUS_DONE && command_has(invocation, OPTION_VALID))
        status = fill_input(invocation, invocation->value[OPTION_VALID], &of_valid);
    if (status == STATUS_DONE && !options.research) status = refuse_metrics(invocation);
    if (status == STATUS_DONE) status = check_users(invocation);
    if (status == STATUS_DONE) status = read_budget(invocation, &options.ledger_budget);
    if (status == STATUS_DONE && !options.has_insecure_seed)
        status = ledger_words_offer(invocation);
    if (status != STATUS_DONE) return status;

    int rc = model_use_check_output(invocation, &error);
    if (rc == 0)
        rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc == 0 && command_has(invocation, OPTION_VALID) &&
        dpmf_cluster_rank(invocation->cluster) == 0)
        rc = check_valid(invocation, &of_valid, store, &error);
    rc = dpmf_cluster_agree(invocation->cluster, rc, &error);
    dpmf_store_info(store, &read);
    if (rc == 0) report_quiet_alerts(terminal, store);
    before.alarms = read.other_headers > 0;
    before.of_events = read.holds_events;
    if (rc == 0 && read.not_liked > 0)
        terminal_note_print(terminal, "%s below --like: not events",
                            text_count(read.not_liked, "rating").text);
    if (rc == 0)
        rc = dpmf_release_make(store, invocation->value[OPTION_OUTPUT], &options, &invocation->run,
                               &report, &error);
    /* The first rank alone has the release, and all of the ratings, so it measures by itself. */
    if (rc == 0 && command_has(invocation, OPTION_VALID) &&
        dpmf_cluster_rank(invocation->cluster) == 0)
        rc = show_error(invocation, &of_valid, store, &error);
    dpmf_store_close(store);
    if (rc != 0) return report_error_print(invocation, &error);

    terminal_progress_end(terminal);
    tell_chains(terminal, &report);
    tell_warnings(terminal, &options, &report);
    tell_result(invocation, &report);
    tell_popularity_alone(terminal, &report);
    tell_spent(terminal, &report);
    terminal_phases_print(terminal);
    return command_has(invocation, OPTION_JSON) ? print_json(invocation, &read, &report)
                                                : STATUS_DONE;
}
