/*
 * What to expect of a private release before any data is touched: exact noise, and a forecast of
 * factors, rounds and test errors. Fed by public or assumed sizes; feeds `dpmf privacy plan`.
 *
 * The forecast is the prediction by which `residual` chooses its number of factors
 * (choose_factors.c), fed with counts that are assumed instead of released:
 *
 * - popularity falls with the share t of items that are more popular as (t + .004)^-.45 e^(-3.4 t),
 *   the shape of MovieLens 1M: Zipf-like at the head, cut off at the tail;
 * - numbers of ratings differ between users such that (mean of the root)^2 is .77 of the mean, as
 *   it is there;
 * - variances, on the scale -2 .. 2, are those in `assumed` below.
 *
 * What it leaves of the variance of ratings is the squared test error. The constants of `assumed`
 * were fitted to the errors of the fourth rule on MovieLens 1M in docs/performance.md (6,040 users,
 * 3,883 items, 150 ratings each, delta 1e-5, epsilon .5 to 20) and to those of `biases`, which it
 * reproduces to .003. On MovieLens 100K, which had no part in that, the errors forecast are too low
 * by .01 to .02. Nothing private depends on any of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/choose_factors.h"
#include "mechanisms/free_columns.h"
#include "statement/accountant.h"
#include "statement/residual_rule.h"

/* Items beyond these are lumped together: the law is smooth, and everything is a mean over it. */
enum { LAW_POINTS_MAX = 4096 };

static const double users_max = 1e12, items_max = 1e12;

/* Noise counts several times over as it stands in sums, in their counts and in what is learned of
 * both. */
static const struct {
    double rating;      /* variance of a rating about its user's mean */
    double total;       /* the same as the test error sees it, bounded predictions included */
    double user_bias;   /* variance of users' biases */
    double item_bias;   /* variance of items' biases */
    double factor;      /* variance of ratings by the first factor */
    double decay;       /* its decay to the k-th factor, in powers of k */
    double biases_cost; /* noise of item biases in a biases release, against that of its sums */
    double bias_cost;   /* the same in the rounds of a residual release */
    double factor_cost; /* the same of factors */
    double bias_told;   /* share of the biases' variance that public features tell */
    double factor_told; /* share of the factors' variance that they tell */
    double told_snr;    /* signal-to-noise ratio of the counts at which half of that is learned */
} assumed = {
    .rating = 1,
    .total = 1.073,
    .user_bias = 0.1023,
    .item_bias = 0.2508,
    .factor = 0.1205,
    .decay = 1.816,
    .biases_cost = 2.883,
    .bias_cost = 8.587,
    .factor_cost = 0.03149,
    .bias_told = 0.3337,
    .factor_told = 0.8444,
    .told_snr = 4.811,
};

void dpmf_plan_options_init(struct dpmf_plan_options *options, size_t size) {
    const struct dpmf_plan_options made = {
        .size = sizeof made, .range_min = 1, .range_max = 5, .epsilon = 1, .delta = 1e-5};
    options_give(options, size, &made, sizeof made);
}

/* ---- the counts to expect -------------------------------------------------------------------- */

static double popularity(double t) { return pow(t + 0.004, -0.45) * exp(-3.4 * t); }

/* Noise as it typically falls: quantiles of the normal law, dealt to items by the golden ratio. */
static double typical_noise(size_t j) {
    static const double quantile[8] = {0.0784, 0.2372, 0.4023, 0.5791,
                                       0.7764, 1.0100, 1.3180, 1.8627};
    size_t i = (size_t)(16 * fmod((double)j * 0.6180339887498949, 1));
    return i < 8 ? quantile[i] : -quantile[i - 8];
}

/* A typical user's weight times the root of their ratings in the first release (bias_release.c). */
static double user_weight(const struct residual_rule *rule, double ratings) {
    const double s = rule->count_weight, beta = rule->scalar_weight, e2 = assumed.rating;
    const double moments = beta * beta * (1 + e2 * e2 + 0.7); /* a and a^2 of users: .7 together */
    const double norm = sqrt(ratings * (e2 + s * s + moments));
    return sqrt(ratings * (1 - beta * beta)) / fmax(norm, rule->first_floor);
}

/* Fills in what the first release will say: `exact` without its noise, `noisy` as the mechanism
 * will see it. */
static void expect_counts(const struct dpmf_plan_options *options, const struct residual_rule *rule,
                          double *exact, double *noisy, struct choose_factors_input *input) {
    const size_t n = input->n_items;
    const double root = 0.88 * sqrt(options->ratings_per_user); /* mean root of users' ratings */
    const double sigma = 1 / (sqrt(rule->first_share) * rule->mu * rule->count_weight);
    double sum = 0, squares = 0;
    input->users = (double)options->users;
    input->root_total = input->users * user_weight(rule, root * root);
    input->total = fmax(input->root_total * root, input->root_total);
    for (size_t j = 0; j < n; j++) sum += popularity(((double)j + 0.5) / (double)n);
    for (size_t j = 0; j < n; j++) {
        double share = popularity(((double)j + 0.5) / (double)n) / sum;
        exact[j] = share * input->total * (double)n / (double)options->items;
        noisy[j] = fmax(exact[j] + sigma * typical_noise(j), rule->count_floor * sigma);
        squares += exact[j] * exact[j];
    }
    input->snr = squares / ((double)n * sigma * sigma);
}

/* ---- the errors to expect -------------------------------------------------------------------- */

/* What a user's own bias leaves unexplained, beside what items explain. */
static double without_items(const struct choose_factors_input *input) {
    const double ratings = pow(input->total / input->root_total, 2);
    return assumed.total +
           assumed.user_bias * assumed.rating / (assumed.rating + ratings * assumed.user_bias);
}

/* A part of tau is told by public features, the rest has to be seen through the noise. */
static double told_or_seen(const struct choose_factors_input *input, double tau, double told,
                           double weight, double noise) {
    return told * tau + choose_factors_seen(input, (1 - told) * tau, weight, noise);
}

static double biases_error(const struct choose_factors_input *input, bool has_features) {
    const double noise = assumed.biases_cost / (input->mu * input->mu);
    const double told = has_features ? assumed.bias_told : 0;
    return without_items(input) - told_or_seen(input, assumed.item_bias, told, 1, noise);
}

static double residual_error(const struct choose_factors_input *input, size_t factors,
                             bool has_features) {
    const double weight = choose_factors_weight(input, factors);
    const double noise = 1 / (input->mu * input->mu * (1 - input->first_share));
    const double learned = has_features ? input->snr / (input->snr + assumed.told_snr) : 0;
    double left = without_items(input) - told_or_seen(input, assumed.item_bias,
                                                      has_features ? assumed.bias_told : 0, weight,
                                                      assumed.bias_cost * noise);
    for (size_t k = 1; k <= factors; k++) {
        double tau = assumed.factor * pow((double)k, -assumed.decay);
        double item = told_or_seen(input, tau, assumed.factor_told * learned, weight,
                                   assumed.factor_cost * noise);
        left -= choose_factors_resolved(input, item);
    }
    return left;
}

/* ---- ranking --------------------------------------------------------------------------------- */

/* What releases of events had on MovieLens 1M: docs/goals.md, measured by bench/private_ranking.sh.
 * Sums over people grow with their number, and the noise is 1/mu of a person: a set of the same
 * kind with other numbers of people is the same problem where users times mu is. So the table is
 * read at that product, between its points along its logarithm, and nowhere beyond its ends; and
 * not for sets whose catalogue or whose rows are of another size, about which it says nothing. */
enum { HIT_POINTS = 6 };
static const double hit_users = 6040, hit_items = 3883, hit_ratings = 165;
static const double hit_mu[HIT_POINTS] = {0.14220, 0.26805, 0.50154, 1.12124, 2.00044, 3.44777};
static const double hit_measured[2][HIT_POINTS] = {
    {0.472, 0.523, 0.566, 0.623, 0.658, 0.680},
    {0.522, 0.557, 0.591, 0.642, 0.670, 0.685}, /* with public features */
};

static bool is_near(double size, double measured) {
    return size >= measured / 2 && size <= 2 * measured;
}

static double hit_rate(const struct dpmf_plan_options *options, double mu) {
    const double *rates = hit_measured[options->has_features], slack = 1.01; /* sizes are rough */
    const double at = (double)options->users * mu / hit_users;
    if (!is_near((double)options->items, hit_items)) return NAN;
    if (!is_near(options->ratings_per_user, hit_ratings)) return NAN;
    if (at * slack < hit_mu[0] || at > slack * hit_mu[HIT_POINTS - 1]) return NAN;
    size_t i = 1;
    while (i < HIT_POINTS - 1 && at > hit_mu[i]) i++;
    const double part = log(at / hit_mu[i - 1]) / log(hit_mu[i] / hit_mu[i - 1]);
    return rates[i - 1] + fmin(fmax(part, 0), 1) * (rates[i] - rates[i - 1]);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int check(const struct dpmf_plan_options *options, struct dpmf_error *error) {
    const double items = (double)options->items, each = options->ratings_per_user;
    if (options->users < 1 || (double)options->users > users_max)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of users must be 1 to %g",
                         users_max);
    if (options->items < 1 || items > items_max)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of items must be 1 to %g",
                         items_max);
    if (!(each >= 1) || each > items)
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the ratings per user must be from 1 to the number of items");
    if (!(options->range_min < options->range_max) ||
        !isfinite(options->range_max - options->range_min))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the rating range has no width");
    if (!(options->epsilon >= 1e-6) || options->epsilon > 1000)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "epsilon must be from 0.000001 to 1000");
    if (!(options->delta >= 1e-300) || options->delta > 0.5)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "delta must be from 1e-300 to 0.5");
    return 0;
}

/* What the rule says about noise, once the number of factors is there. */
static void fill_noise(const struct residual_rule *rule, struct dpmf_plan *plan) {
    double whole = 0, last = pow(rule->growth, (double)rule->rounds - 1);
    for (size_t t = 0; t < rule->rounds; t++) whole += pow(rule->growth, (double)t);
    const double rest = rule->mu * sqrt(1 - rule->first_share);
    plan->counts_noise = 1 / (rule->mu * sqrt(rule->first_share));
    plan->first_noise = rule->rounds > 0 ? sqrt(whole) / rest : NAN;
    plan->last_noise = rule->rounds > 0 ? sqrt(whole / last) / rest : NAN;
}

/* Two numbers an item and five, then as many as residual_user.c sends; without factors the first
 * again. */
static uint64_t count_published(const struct residual_rule *rule, uint64_t items) {
    const uint64_t K = rule->factors, first = 2 * items + 5, W = K + rule->free_columns;
    const uint64_t moments = (W + 2) * (W + 3) / 2 + (W + 1) * (W + 2) / 2 + 1;
    return K == 0 ? 2 * first : first + rule->rounds * (items * (K + 1) + moments);
}

int dpmf_privacy_plan(const struct dpmf_plan_options *options, struct dpmf_plan *plan,
                      struct dpmf_error *error) {
    struct dpmf_plan_options own = dpmf_plan_options_default();
    int code = arguments_check(error, "plan", plan);
    if (code == 0) code = options_take(&own, sizeof own, options, "plan_options", error);
    if (code < 0) return code;
    options = &own;
    code = check(options, error);
    if (code != 0) return code;
    struct residual_rule rule =
        residual_rule_make(accountant_mu(options->epsilon, options->delta), options->has_features);
    const size_t n = options->items < LAW_POINTS_MAX ? (size_t)options->items : LAW_POINTS_MAX;
    double *exact = memory_alloc(2 * n, sizeof *exact);
    if (!exact) return error_no_memory(error);
    struct choose_factors_input input = {
        .counts = exact + n,
        .n_items = n,
        .noise_variance = assumed.rating,
        .mu = rule.mu,
        .first_share = rule.first_share,
        .count_weight = rule.count_weight,
        .spectrum = rule.spectrum,
        .spectrum_decay = rule.spectrum_decay,
    };
    expect_counts(options, &rule, exact, exact + n, &input);
    residual_rule_finish(&rule, choose_factors_best(&input));
    /* How many features there are is not known here: as many as count. */
    rule.free_columns = free_columns_n(options->has_features ? RULE_FREE_MAX : 0);
    input.counts = exact;

    const double unit =
        (options->range_max - options->range_min) / 4; /* one unit of the scale -2 .. 2 */
    *plan = (struct dpmf_plan){
        .mu = rule.mu,
        .factors = (uint32_t)rule.factors,
        .rounds = (uint32_t)rule.rounds,
        .published_numbers = count_published(&rule, options->items),
        .hit_rate = hit_rate(options, rule.mu),
        .rmse_biases = unit * sqrt(biases_error(&input, options->has_features)),
    };
    fill_noise(&rule, plan);
    plan->rmse_residual =
        rule.factors > 0 ? unit * sqrt(residual_error(&input, rule.factors, options->has_features))
                         : plan->rmse_biases;
    free(exact);
    return 0;
}
