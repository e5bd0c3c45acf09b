/*
 * dpmf privacy plan: what noise and what accuracy to expect of a private release, from sizes alone,
 * and what each epsilon would mean for one person. Fed by dpmf_privacy_plan and the accountant;
 * prints tables, or a JSON object for each epsilon.
 */
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

static const double usual_epsilons[] = {0.5, 1, 2, 5, 10, 20};

static void epsilons_default(FILE *out) {
    for (size_t i = 0; i < sizeof usual_epsilons / sizeof *usual_epsilons; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", text_double(usual_epsilons[i]).text);
}

static void range_default(FILE *out) {
    const struct dpmf_plan_options usual = dpmf_plan_options_default();
    fprintf(out, "%s:%s", text_double(usual.range_min).text, text_double(usual.range_max).text);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_USERS, .required = true, .name = "users",
     .value = {VALUE_COUNT, "N", "6040", NULL, NULL},
     .help = "how many users, about"},
    {.id = OPTION_ITEMS, .required = true, .name = "items",
     .value = {VALUE_COUNT, "N", "3883", NULL, NULL},
     .help = "how many items the public catalogue has"},
    {.id = OPTION_RATINGS_PER_USER, .required = true, .name = "ratings-per-user",
     .value = {VALUE_NUMBER, "R", "150", NULL, NULL},
     .help = "the average number of ratings of a user, about"},
    {.id = OPTION_RATING_RANGE, .name = "rating-range",
     .value = {VALUE_RANGE, "A:B", "1:5", NULL, NULL}, .show_default = range_default,
     .help = "the scale of the ratings (default {default})"},
    {.id = OPTION_EPSILON, .name = "epsilon",
     .value = {VALUE_NUMBERS, "LIST", "0.5,1,2", NULL, NULL}, .show_default = epsilons_default,
     .help = "forecast for each of these (default {default})"},
    ACCOUNT_DELTA_OPTION,
    {.id = OPTION_ITEM_FEATURES, .name = "item-features", .value = {.kind = VALUE_NONE},
     .help = "forecast for a release that uses public item features, such as genre and year"},
    {0},
};
/* clang-format on */

const struct verb verb_privacy_plan = {
    .name = "privacy plan",
    .summary = "forecast the noise and accuracy of a private release",
    .synopsis = "--users N --items N --ratings-per-user R [--epsilon LIST] [options]",
    .paragraphs =
        {
            "Shows what to expect of a private release before any data is touched: for each "
            "epsilon the exact mu and noise multipliers, the number of factors and rounds that "
            "the mechanism will likely choose, and a forecast of the test error. Give sizes "
            "that are public, or assumed: a plan made from exact private sizes is itself "
            "something to keep.",
            "mu and the noise of the counts are exact; so is the noise of the rounds, for the "
            "number of rounds shown. The errors are a forecast from assumed variances: ratings "
            "spread and items differ as they do in MovieLens 1M, to whose published errors the "
            "assumptions were fitted (they agree to 0.003), and popularity falls as it does there. "
            "On MovieLens 100K, which was not used for that, it is 0.01 to 0.02 too low. Ratings "
            "of another kind have other errors; what the forecast shows is how they change with "
            "epsilon, users and ratings, and whether factors are worth their noise.",
            "To help decide, it prints what each epsilon means for one person: how often, at most, "
            "someone who knows everything else, and thinks both equally likely, guesses right "
            "whether that person's ratings were used. For proven releases that is Phi(mu/2); for "
            "conditional ones, if the sampler had converged, e^epsilon / (1 + e^epsilon). It ends "
            "with what others chose, for other units and purposes: facts, not advice.",
            "The last column is about releases of events (--goal ranking): the share of people "
            "whose one held-out item is among the first 10 when it is ranked with 99 others. It is "
            "taken from measurements on MovieLens 1M, at the same product of users and mu, and is "
            "given only for sets like it: half to twice its items (3,883) and its ratings per user "
            "(165), and within the products that were measured. Elsewhere there is no forecast.",
            "A biases release spends all of its budget on item biases; a residual release, the "
            "default of dpmf train, spends a part on them and the rest on factors.",
            "With --json it prints one object per line with epsilon, delta, mu, noise_multiplier, "
            "guess_right, guess_right_two_ids, guess_right_conditional (chances), counts_noise,  "
            "first_round_noise, last_round_noise (null without rounds), factors, rounds, "
            "published_numbers, rmse_biases, rmse_residual, rmse_is_forecast and hit_rate (null "
            "where there is no forecast).",
        },
    .groups = {{"Options", own_options}},
    .operands = {{.kind = VALUE_NONE}, 0, 0},
    .examples =
        {
            {"A set as large as MovieLens 1M",
             "dpmf privacy plan --users 6040 --items 3883 --ratings-per-user 150", NULL},
            {"Whether half a million users get by with epsilon 0.1",
             "dpmf privacy plan --users 500000 --items 20000 --ratings-per-user 80 "
             "--epsilon 0.1,0.5 --delta 1e-7",
             NULL},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { EPSILONS_MAX = 64 };

static int read_options(const struct invocation *invocation, struct dpmf_plan_options *options) {
    *options = dpmf_plan_options_default();
    options->users = options_count(invocation, OPTION_USERS);
    options->items = options_count(invocation, OPTION_ITEMS);
    options->ratings_per_user = options_number(invocation, OPTION_RATINGS_PER_USER);
    options->has_features = command_has(invocation, OPTION_ITEM_FEATURES);
    if (command_has(invocation, OPTION_RATING_RANGE)) {
        double range[2];
        options_range(invocation, OPTION_RATING_RANGE, range);
        options->range_min = range[0];
        options->range_max = range[1];
    }
    return figures_delta_read(invocation, &options->delta);
}

static int read_epsilons(const struct invocation *invocation, double epsilon[EPSILONS_MAX],
                         size_t *n) {
    *n = sizeof usual_epsilons / sizeof *usual_epsilons;
    for (size_t i = 0; i < *n; i++) epsilon[i] = usual_epsilons[i];
    if (!command_has(invocation, OPTION_EPSILON)) return STATUS_DONE;
    *n = options_numbers(invocation, OPTION_EPSILON, epsilon, EPSILONS_MAX);
    if (*n > EPSILONS_MAX)
        return terminal_error_print(STATUS_USAGE, "run it several times, each with a part of them",
                                    "--epsilon: more than %d numbers", EPSILONS_MAX);
    int status = STATUS_DONE;
    for (size_t i = 0; status == STATUS_DONE && i < *n; i++)
        status = figures_epsilon_check(epsilon[i]);
    return status;
}

static void print_head(const struct dpmf_plan_options *options) {
    printf("%s, %s, %s ratings each on the scale %s to %s%s; delta %s\n\n",
           text_count(options->users, "user").text, text_count(options->items, "item").text,
           text_double(options->ratings_per_user).text, text_double(options->range_min).text,
           text_double(options->range_max).text,
           options->has_features ? ", public item features" : "", text_double(options->delta).text);
    printf("%8s %9s %9s %19s %8s %7s %10s %10s %10s\n", "", "", "noise of", "noise of the", "", "",
           "RMSE of", "RMSE of", "HR@10 of");
    printf("%8s %9s %9s %19s %8s %7s %10s %10s %10s\n", "epsilon", "mu", "counts", "rounds",
           "factors", "rounds", "biases", "residual", "events");
}

static void print_row(double epsilon, const struct dpmf_plan *plan) {
    char rounds[72] = "none", hits[16] = "-";
    if (!isnan(plan->hit_rate)) snprintf(hits, sizeof hits, "%.2f", plan->hit_rate);
    if (plan->rounds > 0)
        snprintf(rounds, sizeof rounds, "%s .. %s", figures_up(plan->first_noise).text,
                 figures_up(plan->last_noise).text);
    printf("%8s %9s %9s %19s %8u %7u %10.3f %10.3f %10s\n", text_double(epsilon).text,
           figures_down(plan->mu).text, figures_up(plan->counts_noise).text, rounds, plan->factors,
           plan->rounds, plan->rmse_biases, plan->rmse_residual, hits);
}

/* ---- what an epsilon means for one person ---------------------------------------------------- */

/* How often, at most, a guess is right about whether one person's ratings were used, by someone who
 * knows all else and held both for equally likely. Two outcomes are told apart (1 + total
 * variation) / 2 of the time: for Gaussian noise that is Phi(mu / 2). */
static double guess_of_proven(double mu) { return (1 + dpmf_privacy_delta(mu, 0)) / 2; }

/* The same where all that is known is epsilon, without a delta. */
static double guess_of_pure(double epsilon) { return 1 / (1 + exp(-epsilon)); }

/* A percentage, to a tenth, rounded up. */
static struct figure out_of_100(double chance) {
    struct figure figure;
    snprintf(figure.text, sizeof figure.text, "%.1f",
             dpmf_round_decimals(100 * chance * (1 - 1e-13), 1, true));
    return figure;
}

static void print_meaning(const struct dpmf_plan_options *options, const double *epsilon,
                          size_t n) {
    fputs("\nWhat it means for one person. Someone who knows everything but whether that "
          "person's\nratings were used, and thinks both equally likely, guesses right at most this "
          "often out\nof 100 times (50 without the release):\n\n",
          stdout);
    printf("%8s %12s %16s %24s\n", "epsilon", "proven", "two ids of one",
           "conditional, if it held");
    for (size_t i = 0; i < n; i++) {
        const double mu = dpmf_privacy_mu(epsilon[i], options->delta);
        printf("%8s %12s %16s %24s\n", text_double(epsilon[i]).text,
               out_of_100(guess_of_proven(nextafter(mu, INFINITY))).text,
               out_of_100(guess_of_proven(nextafter(2 * mu, INFINITY))).text,
               out_of_100(guess_of_pure(epsilon[i])).text);
    }
}

/* Published facts, as their sources give them; docs/privacy/choosing.md names the sources. */
static void print_neighbours(void) {
    static const struct {
        const char *who, *unit, *cost;
    } chosen[] = {
        {"Wikimedia, historical page views, 2023", "a day, bounded", "epsilon 1"},
        {"Google, community mobility, 2020", "a user and a day", "epsilon 2.64"},
        {"Microsoft, assistive AI, 2020", "a user", "epsilon 4, delta 1e-7"},
        {"Israel, registry of live births, 2024", "a birth", "epsilon 9.98"},
        {"Google, Spanish next word, 2022", "a device", "zCDP rho 0.81"},
        {"US census 2020, redistricting, 2021", "a person", "zCDP rho 2.63"},
        {"LinkedIn, audience engagement, 2020", "a user and a month", "epsilon 34.9, delta 7e-9"},
        {"Liu, Wang, Smola, ratings, 2015", "a user, conditional", "epsilon 250 and more"},
    };
    fputs("\nWhat others chose. The units differ, and a small epsilon for a day is not small for "
          "a\nyear; Gaussian noise of mu has rho = mu^2 / 2:\n\n",
          stdout);
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        printf("  %-40s %-20s %s\n", chosen[i].who, chosen[i].unit, chosen[i].cost);
}

static void print_foot(const struct dpmf_plan_options *options) {
    fputs("\nmu and the noise of the counts are exact; that of the rounds is, for that many "
          "rounds.\nFactors, rounds and errors are a forecast from assumed variances, those "
          "of MovieLens\n1M, and an assumed law of popularity: other ratings have other errors. "
          "HR@10 of a\nrelease of events was measured on MovieLens 1M, one item among 100, and is "
          "given for\nsets like it alone. Measure both on public data of the same kind.\n",
          stdout);
    if (options->delta * (double)options->users >= 1)
        fputs("This delta is not below one over the number of users: dpmf train refuses it when "
              "they are\ndeclared, without --accept-delta.\n",
              stdout);
}

static int print_json(const struct dpmf_plan_options *options, const struct dpmf_plan *plan) {
    const double mu = nextafter(plan->mu, INFINITY);
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_double(json, "epsilon", options->epsilon);
    dpmf_json_double(json, "delta", options->delta);
    dpmf_json_double(json, "mu", plan->mu);
    dpmf_json_double(json, "noise_multiplier", nextafter(1 / plan->mu, INFINITY));
    dpmf_json_double(json, "guess_right", guess_of_proven(mu));
    dpmf_json_double(json, "guess_right_two_ids", guess_of_proven(nextafter(2 * mu, INFINITY)));
    dpmf_json_double(json, "guess_right_conditional", guess_of_pure(options->epsilon));
    dpmf_json_double(json, "counts_noise", plan->counts_noise);
    dpmf_json_double(json, "first_round_noise", plan->first_noise);
    dpmf_json_double(json, "last_round_noise", plan->last_noise);
    dpmf_json_uint(json, "factors", plan->factors);
    dpmf_json_uint(json, "rounds", plan->rounds);
    dpmf_json_uint(json, "published_numbers", plan->published_numbers);
    dpmf_json_double(json, "rmse_biases", plan->rmse_biases);
    dpmf_json_double(json, "rmse_residual", plan->rmse_residual);
    dpmf_json_bool(json, "rmse_is_forecast", true);
    dpmf_json_double(json, "hit_rate", plan->hit_rate);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int run(struct invocation *invocation) {
    struct dpmf_plan_options options;
    double epsilon[EPSILONS_MAX];
    size_t n = 0;
    double largest = 0;
    bool is_json = command_has(invocation, OPTION_JSON);
    int status = read_options(invocation, &options);
    if (status == STATUS_DONE) status = read_epsilons(invocation, epsilon, &n);
    for (size_t i = 0; status == STATUS_DONE && i < n; i++) {
        struct dpmf_plan plan;
        struct dpmf_error error = {0};
        options.epsilon = epsilon[i];
        if (dpmf_privacy_plan(&options, &plan, &error) != 0)
            return report_error_print(invocation, &error);
        largest = fmax(largest, epsilon[i]);
        if (is_json) {
            status = print_json(&options, &plan);
            continue;
        }
        if (i == 0) print_head(&options);
        print_row(epsilon[i], &plan);
    }
    if (status == STATUS_DONE && !is_json) {
        print_foot(&options);
        print_meaning(&options, epsilon, n);
        print_neighbours();
    }
    if (status == STATUS_DONE)
        privacy_excess_warn(&invocation->terminal, largest, options.delta, options.users);
    return status;
}
