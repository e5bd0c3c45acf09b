/*
 * dpmf privacy account: from epsilon to noise, from noise or several releases to epsilon. Fed by
 * the exact accountant of the library; prints a page or a JSON object.
 */
#include <math.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "dpmf_text.h"
#include "shared/privacy_claim.h"
#include "shared/privacy_figures.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_EPSILON, .name = "epsilon", .value = {VALUE_NUMBER, "E", "1", NULL, NULL},
     .help = "show what this epsilon allows"},
    {.id = OPTION_MU, .name = "mu", .value = {VALUE_NUMBER, "M", "0.268", NULL, NULL},
     .help = "show what a release with this mu costs"},
    {.id = OPTION_RELEASES, .name = "releases",
     .value = {VALUE_NUMBERS, "LIST", "0.1,0.2,0.3", NULL, NULL},
     .help = "show what several releases cost together, given the mu of each"},
    ACCOUNT_DELTA_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_privacy_account = {
    .name = "privacy account",
    .summary = "convert between epsilon, delta and noise",
    .synopsis = "(--epsilon E | --mu M | --releases LIST) [--delta D] [options]",
    .paragraphs =
        {
            "A release is a sum over users to which no user adds more than 1, with Gaussian "
            "noise of standard deviation 1/mu, the noise multiplier, on every number. mu is "
            "its exact cost; the costs of several releases add by squares. Epsilon and delta "
            "follow from mu by the exact formula for Gaussian noise, delta = Phi(mu/2 - "
            "epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu), and mu from them.",
            "Every figure is rounded so that it never promises too much: an epsilon up; the mu "
            "that an epsilon allows down, and its noise multiplier up; the mu that is spent up, "
            "and its noise multiplier down.",
            "Someone with two ids, or a household of two, is protected as a group: the mu of "
            "both together is twice that of one. The epsilon of groups of 2, 3 and 4 is "
            "printed too, and as a cross-check epsilon by way of Renyi divergence (zCDP), "
            "which is never smaller.",
            "With --json it prints one object with mu, noise_multiplier, epsilon, delta, "
            "epsilon_renyi and groups, a list of objects with ids and epsilon; an epsilon "
            "that no number bounds is null.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{.kind = VALUE_NONE}, 0, 0},
    .examples =
        {
            {"How much noise epsilon 1 takes", "dpmf privacy account --epsilon 1", NULL},
            {"What three releases cost together",
             "dpmf privacy account --releases 0.1,0.2,0.3 --delta 1e-6", NULL},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { RELEASES_MAX = 1024, GROUP_MAX = 4 };

struct account {
    double mu, delta;
    double epsilon;           /* as it was asked for, or as it follows from mu */
    double renyi;             /* cross-check */
    double of[GROUP_MAX + 1]; /* epsilon of a group of so many ids */
    size_t n_releases;        /* 0: not asked for by --releases */
    bool is_spent;            /* mu was given, and epsilon follows from it */
};

static int refuse_mu(const char *option, const char *text) {
    return terminal_error_print(STATUS_USAGE, "a mu is above 0 and at most 1000, such as 0.268",
                                "%s %.200s: no release has such a mu", option, text);
}

static int compose(const struct invocation *invocation, struct account *account) {
    double mu[RELEASES_MAX];
    const char *text = invocation->value[OPTION_RELEASES];
    size_t n = options_numbers(invocation, OPTION_RELEASES, mu, RELEASES_MAX);
    if (n > RELEASES_MAX)
        return terminal_error_print(STATUS_USAGE, "add up their squares in parts",
                                    "--releases: more than %d releases", RELEASES_MAX);
    for (size_t i = 0; i < n; i++)
        if (!figures_mu_is_sound(mu[i])) return refuse_mu("--releases", text);
    account->n_releases = n;
    account->mu = dpmf_privacy_compose(mu, n);
    return figures_mu_is_sound(account->mu) ? STATUS_DONE : refuse_mu("--releases", text);
}

/* mu, whichever way it was given. */
static int read_mu(const struct invocation *invocation, struct account *account) {
    if (command_has(invocation, OPTION_RELEASES)) return compose(invocation, account);
    if (command_has(invocation, OPTION_MU)) {
        account->mu = options_number(invocation, OPTION_MU);
        if (figures_mu_is_sound(account->mu)) return STATUS_DONE;
        return refuse_mu("--mu", invocation->value[OPTION_MU]);
    }
    account->epsilon = options_number(invocation, OPTION_EPSILON);
    int status = figures_epsilon_check(account->epsilon);
    account->mu = dpmf_privacy_mu(account->epsilon, account->delta);
    return status;
}

static int check_one_is_given(const struct invocation *invocation) {
    int n = command_has(invocation, OPTION_EPSILON) + command_has(invocation, OPTION_MU) +
            command_has(invocation, OPTION_RELEASES);
    if (n == 1) return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "for example: dpmf privacy account --epsilon 1",
                                n == 0 ? "privacy account needs one of --epsilon, --mu and "
                                         "--releases"
                                       : "--epsilon, --mu and --releases exclude each other");
}

/* A mu that is allowed is rounded down, one that is spent up; the noise that goes with it the other
 * way. */
static void print_page(const struct account *account) {
    const double mu = account->mu;
    if (account->n_releases > 1) printf("%zu releases together\n\n", account->n_releases);
    printf("%-28s %s\n", "epsilon", figures_up(account->epsilon).text);
    printf("%-28s %s\n", "delta", figures_exact(account->delta).text);
    printf("%-28s %s\n", "mu", account->is_spent ? figures_up(mu).text : figures_down(mu).text);
    printf("%-28s %s\n", "noise multiplier, 1/mu",
           account->is_spent ? figures_down(1 / mu).text : figures_up(1 / mu).text);
    printf("%-28s %s\n", "epsilon by Renyi divergence", figures_up(account->renyi).text);
    for (int ids = 2; ids <= GROUP_MAX; ids++)
        printf("epsilon of %d ids together    %s\n", ids, figures_up(account->of[ids]).text);
}

static int print_json(const struct account *account) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    if (account->n_releases > 0) dpmf_json_uint(json, "releases", account->n_releases);
    dpmf_json_double(json, "epsilon", account->epsilon);
    dpmf_json_double(json, "delta", account->delta);
    dpmf_json_double(json, "mu", account->mu);
    dpmf_json_double(json, "noise_multiplier",
                     nextafter(1 / account->mu, account->is_spent ? 0 : INFINITY));
    dpmf_json_double(json, "epsilon_renyi", account->renyi);
    dpmf_json_begin_array(json, "groups");
    for (int ids = 2; ids <= GROUP_MAX; ids++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_int(json, "ids", ids);
        dpmf_json_double(json, "epsilon", account->of[ids]);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int run(struct invocation *invocation) {
    struct account account = {0};
    int status = check_one_is_given(invocation);
    if (status == STATUS_DONE) status = figures_delta_read(invocation, &account.delta);
    if (status == STATUS_DONE) status = read_mu(invocation, &account);
    if (status != STATUS_DONE) return status;
    account.is_spent = !command_has(invocation, OPTION_EPSILON);
    if (account.is_spent) account.epsilon = dpmf_privacy_epsilon(account.mu, account.delta);
    account.renyi = dpmf_privacy_epsilon_renyi(account.mu, account.delta);
    for (int ids = 2; ids <= GROUP_MAX; ids++)
        account.of[ids] =
            dpmf_privacy_epsilon(nextafter(ids * account.mu, INFINITY), account.delta);
    privacy_excess_warn(&invocation->terminal, account.epsilon, account.delta, 0);
    if (command_has(invocation, OPTION_JSON)) return print_json(&account);
    print_page(&account);
    return STATUS_DONE;
}
