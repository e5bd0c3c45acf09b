/*
 * dpmf audit: makes private runs again and again, with and without canaries, and reports whether one could be caught. Fed by
 * any ratings input, as train is; what it prints is for the curator.
 */
#include <math.h>
#include <stdio.h>

#include "options.h"
#include "privacy_claim.h"
#include "privacy_figures.h"
#include "report.h"
#include "text.h"

static struct dpmf_audit_options fill(const struct invocation *invocation) {
    struct dpmf_audit_options options = dpmf_audit_options_default();
    struct dpmf_private_options *privacy = &options.privacy;
    privacy->epsilon = options_number(invocation, OPTION_EPSILON);
    if (command_has(invocation, OPTION_DELTA))
        privacy->delta = options_number(invocation, OPTION_DELTA);
    privacy->mechanism = invocation->value[OPTION_MECHANISM];
    privacy->catalogue = invocation->value[OPTION_CATALOGUE];
    privacy->catalogue_from_ratings = command_has(invocation, OPTION_CATALOGUE_FROM_RATINGS);
    privacy->item_features = invocation->value[OPTION_ITEM_FEATURES];
    privacy->user_privacy = invocation->value[OPTION_USER_PRIVACY];
    if (command_has(invocation, OPTION_RATING_RANGE)) {
        double range[2];
        options_range(invocation, OPTION_RATING_RANGE, range);
        privacy->range_min = range[0];
        privacy->range_max = range[1];
    }
    if (command_has(invocation, OPTION_RUNS)) options.runs = options_count(invocation, OPTION_RUNS);
    if (command_has(invocation, OPTION_USERS))
        options.users = options_count(invocation, OPTION_USERS);
    if (command_has(invocation, OPTION_MINUTES))
        options.minutes = options_number(invocation, OPTION_MINUTES);
    if (command_has(invocation, OPTION_CONFIDENCE))
        options.confidence = options_number(invocation, OPTION_CONFIDENCE);
    return options;
}

/* ---- what was found ---------------------------------------------------------------------------- */

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
           text_count(report->releases, "round").text);
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
    dpmf_json_uint(json, "releases", report->releases);
    dpmf_json_double(json, "noise", report->noise);
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* ---- the run ----------------------------------------------------------------------------------- */

int command_audit_run(struct invocation *invocation) {
    const struct dpmf_audit_options options = fill(invocation);
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_audit_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    input.skip_bad = true; /* as a private run does */
    input.has_range = false;
    privacy_excess_warn(&invocation->terminal, options.privacy.epsilon, options.privacy.delta);
    int rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc == 0) rc = dpmf_audit(store, &options, &invocation->run, &report, &error);
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
