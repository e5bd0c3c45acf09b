/*
 * dpmf audit: makes private runs again and again, with and without canaries, and reports whether
 * one could be caught. Fed by any ratings input, as train is; what it prints is for the curator.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/privacy_claim.h"
#include "shared/privacy_figures.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

static void runs_default(FILE *out) { fprintf(out, "%" PRIu64, dpmf_audit_options_default().runs); }

static void users_default(FILE *out) {
    fprintf(out, "%" PRIu64, dpmf_audit_options_default().users);
}

static void confidence_default(FILE *out) {
    fputs(text_double(dpmf_audit_options_default().confidence).text, out);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_EPSILON, .required = true, .name = "epsilon",
     .value = {VALUE_NUMBER, "E", "1", NULL, NULL},
     .help = "the epsilon that is claimed"},
    {.id = OPTION_DELTA, .name = "delta", .value = {VALUE_NUMBER, "D", "1e-5", NULL, NULL},
     .show_default = private_delta_default,
     .help = "the delta that is claimed (default {default})"},
    {.id = OPTION_CATALOGUE, .name = "catalogue", .alias = "catalog",
     .value = {VALUE_FILE, "FILE", "items.csv", NULL, NULL},
     .help = "the items that exist, as for dpmf train"},
    {.id = OPTION_CATALOGUE_FROM_RATINGS, .name = "catalogue-from-ratings",
     .value = {.kind = VALUE_NONE},
     .help = "take the items of the ratings, as dpmf train does with this option: the audit "
             "catches it"},
    {.id = OPTION_ITEM_FEATURES, .name = "item-features",
     .value = {VALUE_FILE, "FILE", "features.csv", NULL, NULL},
     .help = "what is publicly known about items"},
    {.id = OPTION_USER_PRIVACY, .name = "user-privacy",
     .value = {VALUE_FILE, "FILE", "wishes.csv", NULL, NULL},
     .help = "a table of users with an epsilon each, as for dpmf train"},
    {.id = OPTION_GOAL, .name = "goal",
     .value = {VALUE_CHOICE, "GOAL", "ranking", NULL, goal_choices},
     .help = "what the release would be for, as for dpmf train (default: what the input holds)"},
    {.id = OPTION_MECHANISM, .name = "mechanism",
     .value = {VALUE_CHOICE, "NAME", "residual", NULL, mechanism_choices},
     .help = "which mechanism to audit (default auto)"},
    {.id = OPTION_RUNS, .name = "runs", .value = {VALUE_COUNT, "N", "100", NULL, NULL},
     .show_default = runs_default,
     .help = "number of runs with the first canary; about as many are made without it (default "
             "{default})"},
    {.id = OPTION_MINUTES, .name = "minutes", .value = {VALUE_NUMBER, "M", "10", NULL, NULL},
     .help = "stop after this time and judge by the runs made so far; an error when not all worlds "
             "were compared by then (default: no limit)"},
    {.id = OPTION_CONFIDENCE, .name = "confidence",
     .value = {VALUE_NUMBER, "P", "0.999", NULL, NULL}, .show_default = confidence_default,
     .help = "confidence of the bounds: an honest mechanism is accused with probability at most 1 "
             "- P (default {default})"},
    {.id = OPTION_USERS, .name = "users", .value = {VALUE_COUNT, "N", "1000", NULL, NULL},
     .show_default = users_default,
     .help = "largest number of users of RATINGS to audit with (default {default})"},
    KERNELS_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_audit = {
    .name = "audit",
    .summary = "test whether a private mechanism reveals more than it claims",
    .synopsis = "RATINGS --epsilon E --rating-range A:B --catalogue FILE [options]",
    .paragraphs =
        {
            "First compares whole worlds, exactly: users of RATINGS with and without one more, a "
            "canary made to be noticed. Each world goes as text through everything that dpmf train "
            "does, up to the file. The world with the canary replays, round by round, what the one "
            "without has published. Every sum must differ by exactly what the canary contributes "
            "when it is alone, and by no more than the norm bound; the files must be the same. "
            "There are several kinds of canaries, some with a wish, and they also write lines that "
            "are not records.",
            "Then makes about 200 runs with noise from the operating system, in each of which many "
            "canaries take part or not, each at random. An auditor who knows everything but who "
            "takes part and the noise guesses from what would be published. How often and how "
            "surely these guesses are right gives lower bounds on mu and epsilon, which hold with "
            "--confidence whatever the noise is. The mechanism is accused when one of them is "
            "above what --epsilon allows.",
            "In those runs it also checks that nobody contributes more than the norm bound; that "
            "the noise has the size and the shape that are listed and is never used twice; and "
            "that the draws and rounds are those that the statement lists.",
            "A promise of privacy holds for every population, so a sample of users is enough: at "
            "most --users are taken. Nothing is published, and nothing is spent in the "
            "ledger. What it prints is about RATINGS, and for the curator alone.",
            "A mechanism that is not accused is not proven sound: an audit can find a fault, but "
            "cannot rule one out. docs/privacy/audit.md says what it can find.",
            "With --json it prints one object with accused, findings, mu_claimed, "
            "epsilon_claimed, delta, mu_low, epsilon_low, confidence, runs_in, runs_out, "
            "guessed_right, canaries, guesses, guesses_right, mu_canary, worlds, "
            "world_rounds, world_numbers, world_norm, users, items, contributions, draws, "
            "releases, noise and seconds.",
        },
    .groups = {{"Options", own_options}, {"How the input is read", input_options}},
    .operands = {{VALUE_FILE, "RATINGS", "ratings.dpr", ".dpr", NULL}, 1, 1},
    .exit_note = "1 when the mechanism is accused, 6 when the release it would make is refused.",
    .examples =
        {
            {"A quick look at the mechanism for biases",
             "dpmf audit ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv "
             "--mechanism biases --runs 20 --users 100",
             "dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv "
             "-o ratings.dpr"},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static struct dpmf_release_options fill_release(const struct invocation *invocation) {
    struct dpmf_release_options release = dpmf_release_options_default();
    release.epsilon = options_number(invocation, OPTION_EPSILON);
    if (command_has(invocation, OPTION_DELTA))
        release.delta = options_number(invocation, OPTION_DELTA);
    release.goal = invocation->value[OPTION_GOAL];
    release.mechanism = invocation->value[OPTION_MECHANISM];
    release.catalogue = invocation->value[OPTION_CATALOGUE];
    release.catalogue_from_ratings = command_has(invocation, OPTION_CATALOGUE_FROM_RATINGS);
    release.item_features = invocation->value[OPTION_ITEM_FEATURES];
    release.user_privacy = invocation->value[OPTION_USER_PRIVACY];
    if (command_has(invocation, OPTION_RATING_RANGE)) {
        double range[2];
        options_range(invocation, OPTION_RATING_RANGE, range);
        release.range_min = range[0];
        release.range_max = range[1];
    }
    return release;
}

/* Reading the ratings counts too; what is left is never nothing, which would stand for all the time
 * in the world. */
static void take_off_time(struct dpmf_audit_options *options, double seconds) {
    if (options->minutes > 0) options->minutes = fmax(options->minutes - seconds / 60, 1e-6);
}

static struct dpmf_audit_options fill(const struct invocation *invocation) {
    struct dpmf_audit_options options = dpmf_audit_options_default();
    if (command_has(invocation, OPTION_RUNS)) options.runs = options_count(invocation, OPTION_RUNS);
    if (command_has(invocation, OPTION_USERS))
        options.users = options_count(invocation, OPTION_USERS);
    if (command_has(invocation, OPTION_MINUTES))
        options.minutes = options_number(invocation, OPTION_MINUTES);
    if (command_has(invocation, OPTION_CONFIDENCE))
        options.confidence = options_number(invocation, OPTION_CONFIDENCE);
    return options;
}

/* ---- what was found -------------------------------------------------------------------------- */

static void print_worlds(const struct dpmf_audit_report *report) {
    printf("mechanism     %s, for %s (of %s in all) and %s\n", report->mechanism,
           text_count(report->users, "user").text, text_count(report->users_of_store, "user").text,
           text_count(report->items, "item").text);
    printf("claimed       mu %s, which is epsilon %s at delta %s\n", figures_down(report->mu).text,
           figures_exact(report->epsilon).text, figures_exact(report->delta).text);
    printf("worlds        %s compared with and without a canary, %s, %s\n",
           text_count(report->worlds, "population").text,
           text_count(report->world_rounds, "round").text,
           text_count(report->world_numbers, "sum").text);
}

static double percent(uint64_t part, uint64_t whole) {
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void print_runs(const struct dpmf_audit_report *report) {
    const uint64_t runs = report->runs_in + report->runs_out;
    if (runs == 0) return;
    printf("runs          %s with the first of %s canaries, %s without it\n",
           text_count(report->runs_in, "run").text, text_number(report->canaries).text,
           text_count(report->runs_out, "run").text);
    printf("guessed       %.1f %% right of %s guesses about the first canary, %.1f %% of %s about "
           "all\n",
           percent(report->guessed_right, runs), text_number(runs).text,
           percent(report->guesses_right, report->guesses), text_number(report->guesses).text);
    if (report->findings & DPMF_AUDIT_WORLDS)
        printf("shown         nothing from guesses: sums depend on other people\n");
    else
        printf("shown         mu is at least %s, and epsilon at this delta at least %s, with %s %% "
               "confidence\n",
               figures_down(report->mu_low).text, figures_down(report->epsilon_low).text,
               text_double(100 * report->confidence).text);
    printf("norms         %s checked; the largest of a world is %.6f of the bound\n",
           text_count(report->contributions, "contribution").text,
           floor(report->world_norm * 1e6) / 1e6);
    printf("noise         %.4f of what is listed, over %s\n", report->noise,
           text_count((uint64_t)report->noise_numbers, "number").text);
    printf("draws         %s, in %s\n", text_count(report->draws, "draw").text,
           text_count(report->noisy_rounds, "round").text);
}

static void print_verdict(const struct dpmf_audit_report *report) {
    if (report->findings == 0) {
        printf("verdict       not accused\n");
        return;
    }
    printf("verdict       ACCUSED\n");
    for (size_t i = 0; i < report->n; i++) printf("              %s\n", report->finding[i]);
}

static const char *finding_name(unsigned finding) {
    switch (finding) {
    case DPMF_AUDIT_LOSS: return "loss";
    case DPMF_AUDIT_NORM: return "norm";
    case DPMF_AUDIT_NOISE: return "noise";
    case DPMF_AUDIT_DRAWS: return "draws";
    case DPMF_AUDIT_STATEMENT: return "statement";
    case DPMF_AUDIT_CATALOGUE: return "catalogue";
    case DPMF_AUDIT_WORLDS: return "worlds";
    default: return "";
    }
}

static int print_json(const struct dpmf_audit_report *report) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_bool(json, "accused", report->findings != 0);
    dpmf_json_begin_array(json, "findings");
    for (unsigned bit = 1; bit <= DPMF_AUDIT_LAST; bit <<= 1)
        if (report->findings & bit) dpmf_json_string(json, NULL, finding_name(bit));
    dpmf_json_end_array(json);
    dpmf_json_string(json, "mechanism", report->mechanism);
    dpmf_json_double(json, "mu_claimed", report->mu);
    dpmf_json_double(json, "epsilon_claimed", report->epsilon);
    dpmf_json_double(json, "delta", report->delta);
    dpmf_json_double(json, "mu_low", report->mu_low);
    dpmf_json_double(json, "epsilon_low", report->epsilon_low);
    dpmf_json_double(json, "confidence", report->confidence);
    dpmf_json_uint(json, "runs_in", report->runs_in);
    dpmf_json_uint(json, "runs_out", report->runs_out);
    dpmf_json_uint(json, "guessed_right", report->guessed_right);
    dpmf_json_uint(json, "canaries", report->canaries);
    dpmf_json_uint(json, "guesses", report->guesses);
    dpmf_json_uint(json, "guesses_right", report->guesses_right);
    dpmf_json_double(json, "mu_canary", report->mu_canary);
    dpmf_json_uint(json, "worlds", report->worlds);
    dpmf_json_uint(json, "world_rounds", report->world_rounds);
    dpmf_json_uint(json, "world_numbers", report->world_numbers);
    dpmf_json_double(json, "world_norm", report->world_norm);
    dpmf_json_uint(json, "users", report->users);
    dpmf_json_uint(json, "items", report->items);
    dpmf_json_uint(json, "contributions", report->contributions);
    dpmf_json_uint(json, "draws", report->draws);
    dpmf_json_uint(json, "releases", report->noisy_rounds);
    dpmf_json_double(json, "noise", report->noise);
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* ---- the run --------------------------------------------------------------------------------- */

static int run(struct invocation *invocation) {
    const struct dpmf_release_options release = fill_release(invocation);
    struct dpmf_audit_options options = fill(invocation);
    const double started = terminal_clock();
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_audit_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    input.skip_bad = true; /* as a private run does */
    input.has_range = false;
    privacy_excess_warn(&invocation->terminal, release.epsilon, release.delta, 0);
    int rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    take_off_time(&options, terminal_clock() - started);
    if (rc == 0) rc = dpmf_audit(store, &release, &options, &invocation->run, &report, &error);
    dpmf_store_close(store);
    if (rc != 0 && rc != DPMF_ERR_PRIVACY_ACCUSED) return report_error_print(invocation, &error);

    terminal_progress_end(&invocation->terminal);
    int status = STATUS_DONE;
    if (command_has(invocation, OPTION_JSON)) {
        status = print_json(&report);
    } else {
        print_worlds(&report);
        print_runs(&report);
        print_verdict(&report);
        status = report_stdout_check(status);
    }
    if (status == STATUS_DONE && rc != 0) status = report_error_print(invocation, &error);
    terminal_phases_print(&invocation->terminal);
    return status;
}
