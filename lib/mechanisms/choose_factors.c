/*
 * The predicted gain of K factors. Each factor is credited with the share of an assumed variance
 * that the noise leaves on the item's side and that a typical user can resolve on theirs; the
 * biases with the share left to them, as the factors take their part of the unit norm. Fed by
 * `residual` and by plan.c.
 */
#include "mechanisms/choose_factors.h"

#include <assert.h>
#include <math.h>

static const double bias_variance = 0.15; /* assumed, of item biases */
static const double mu_cap = 3.5; /* epsilon of about 20: beyond it the assumed spectrum allows
                                     ever more factors, which overfit */

/* An item's measurement has noise / N^2 of privacy and unit s2 / N of sampling, unit being (sum of
 * w^2) / (sum of w) over users, which follows from the released sums. */
double choose_factors_seen(const struct choose_factors_input *input, double tau, double weight,
                           double noise) {
    const double p0 = input->root_total;
    const double unit = weight * p0 * p0 / (input->users * input->total) * input->noise_variance;
    double sum = 0, all = 0;
    for (size_t j = 0; j < input->n_items; j++) {
        const double N = weight * input->counts[j], precision = N * N / (noise + N * unit);
        all += input->counts[j];
        sum += input->counts[j] * tau * precision / (precision + 1 / tau);
    }
    return sum / all;
}

double choose_factors_resolved(const struct choose_factors_input *input, double seen) {
    assert(input->root_total > 0 && input->noise_variance > 0);
    const double root = input->total / input->root_total, ratings = root * root;
    return seen * ratings * seen / (ratings * seen + input->noise_variance);
}

double choose_factors_weight(const struct choose_factors_input *input, size_t factors) {
    assert(input->noise_variance > 0);
    const double s2 = input->noise_variance, s = input->count_weight;
    return sqrt((s * s + s2) / (s2 * (double)(factors + 1)));
}

double choose_factors_gain(const struct choose_factors_input *input, size_t factors) {
    assert(input->n_items > 0 && input->root_total > 0 && input->noise_variance > 0);
    const double mu = fmin(input->mu, mu_cap), weight = choose_factors_weight(input, factors);
    const double noise = 1 / (mu * mu * (1 - input->first_share));
    double gain = choose_factors_seen(input, bias_variance, weight, noise);
    for (size_t k = 1; k <= factors; k++) {
        double tau = input->spectrum * pow((double)k, -input->spectrum_decay);
        gain += choose_factors_resolved(input, choose_factors_seen(input, tau, weight, noise));
    }
    return gain;
}

/* Users times the ratings of a typical one times mu. On made-up sets of 200 to 53,000 users with 12
 * to 60 ratings each, factors lost to biases at 25,000 and below more often than not, and won from
 * 40,000 on: a forecast cannot be trusted with less. */
static const double least_evidence = 30000;

static double evidence_of(const struct choose_factors_input *input) {
    double root = input->total / input->root_total;
    return input->users * root * root * input->mu;
}

size_t choose_factors_best(const struct choose_factors_input *input) {
    size_t best = 0;
    if (input->snr < 1 || evidence_of(input) < least_evidence) return 0;
    double top = choose_factors_gain(input, 0);
    for (size_t K = 2; K <= CHOOSE_FACTORS_MAX && K <= input->n_items / 8; K++) {
        double gain = choose_factors_gain(input, K);
        if (gain > top) top = gain, best = K;
    }
    return best;
}
