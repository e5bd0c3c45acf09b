/*
 * How many factors are worth their noise, predicted from the first release alone. `residual` asks
 * it after that release, `dpmf privacy plan` with the counts it expects; both by this one formula,
 * so that the plan forecasts what the mechanism will do.
 *
 * Everything in it is public or was released with noise, so the choice costs nothing.
 */
#ifndef DPMF_MECHANISMS_CHOOSE_FACTORS_H
#define DPMF_MECHANISMS_CHOOSE_FACTORS_H

#include <stddef.h>

#include "numerics/exact_arithmetic.h"

enum { CHOOSE_FACTORS_MAX = 20 };

struct choose_factors_input {
    /* From the first release. */
    const double *counts; /* N_j, n_items of them: noisy sums of users' weights, each above 0 */
    size_t n_items;
    double total;      /* sum of the counts before they were floored, at least root_total */
    double root_total; /* p0: noisy sum over users of weight * sqrt(number of ratings), above 0 */
    double users;      /* noisy number of users, above 0 */
    double noise_variance; /* s2: variance of a rating about its user's and item's mean, above 0 */
    double snr;            /* mean square of the noisy counts over that of their noise, less 1 */

    /* From the public rule. */
    double mu;             /* the whole budget */
    double first_share;    /* f0: share of mu^2 spent on the first release */
    double count_weight;   /* s */
    double spectrum;       /* tau1: assumed variance of the first factor */
    double spectrum_decay; /* assumed variance of the k-th factor: spectrum * k^-decay */
};

/* The variance of ratings that biases and so many factors are predicted to explain, on the scale -2
 * .. 2. */
double choose_factors_gain(const struct choose_factors_input *input, size_t factors);

/* The number with the largest gain: 0 (biases alone) or 2 .. min(20, n_items / 8); 1 is no choice
 * since two columns come free with the first release. 0 where snr < 1: counts lost in noise are no
 * evidence that factors are worth their noise. */
size_t choose_factors_best(const struct choose_factors_input *input);

/* The part of a column of item parameters with variance tau that stands out from the noise, on
 * average over ratings. `weight` is that of users in the release against the first one, `noise` the
 * variance of the release's noise. */
double choose_factors_seen(const struct choose_factors_input *input, double tau, double weight,
                           double noise);

/* The share of a rating's variance that a factor explains whose items are known this well: it has
 * to be estimated from each user's ratings. */
double choose_factors_resolved(const struct choose_factors_input *input, double seen);

/* The users' weight in a round of so many factors against the first release: they share the unit
 * norm. */
double choose_factors_weight(const struct choose_factors_input *input, size_t factors);

#endif
