/*
 * The public rule: every constant of the `residual` mechanism, none of them read from the data.
 * docs/privacy/rule.md says what each is for and how it was found.
 */
#ifndef DPMF_STATEMENT_RESIDUAL_RULE_H
#define DPMF_STATEMENT_RESIDUAL_RULE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of an item vector's columns: learned, free, and both. */
enum { RULE_FACTORS_MAX = 20, RULE_FREE_MAX = 20, RULE_WIDTH_MAX = 40, RULE_ROUNDS_MAX = 20 };

/* Columns for home alone, since the third version of the rule (mechanisms/home_columns.c): terms of
 * a power series in two variables, then products of the other columns with these. */
enum {
    HOME_DEGREE = 3,
    HOME_CURVES = (HOME_DEGREE + 1) * (HOME_DEGREE + 2) / 2,
    HOME_PRODUCTS = 16,
    HOME_WIDTH_MAX = 64, /* columns of an item's vector, all in all */
    HOME_COLUMNS_MAX = HOME_CURVES + HOME_PRODUCTS
};

/* How many there are beside K columns. */
static inline size_t residual_rule_home(size_t K) {
    const size_t products = 2 * K < HOME_PRODUCTS ? 2 * K : HOME_PRODUCTS;
    const size_t room = HOME_WIDTH_MAX - K, columns = HOME_CURVES + products;
    return columns < room ? columns : room;
}

/* Recorded in statements since the second; docs/privacy/rule.md says what changed. Rules of ranking
 * and of conditional releases do not have one yet. */
enum { RESIDUAL_RULE_VERSION = 4, RESIDUAL_RULE_OLDEST = 2, RESIDUAL_RULE_WITH_HOME = 3 };

/* Sizes of releases, which a statement is checked against: numbers of the first one, an item's and
 * the rest. */
enum { BIAS_RELEASE_WIDTH = 2, BIAS_RELEASE_TAIL = 5 };

/* Numbers of a round that belong to no item, with K columns: [u, a, 1] [u, a, 1]^T and the
 * posterior covariance, triangles of symmetric matrices, and the mean squared residual. */
static inline size_t residual_moments_n(size_t K) {
    return (K + 2) * (K + 3) / 2 + (K + 1) * (K + 2) / 2 + 1;
}

struct residual_rule {
    double mu;          /* the whole budget */
    double first_share; /* share of mu^2 for the first release */

    /* The first release: counts and biases. */
    double count_weight;  /* weight of the counts against the residuals */
    double scalar_weight; /* weight of the scalars and of the number of users */
    double bias_ridge;    /* ridge of a user's own bias */
    double first_floor;   /* norm floor: users with few ratings are not blown up to norm 1 */
    double count_floor;   /* least count, in standard deviations of its noise */

    /* The rounds. */
    double moment_weight;
    double round_floor;
    /* With x an item's count against the mean count, its vector weighs x^-popularity x / (x + rare)
     * in a contribution, its bias bias_weight x^-(popularity + bias_popularity). */
    double popularity, bias_popularity, rare, bias_weight;
    double growth;      /* budget of a round relative to the one before */
    double memory;      /* weight of earlier rounds in an item's vector */
    double bias_memory; /* the same in its bias, which hardly depends on the vectors of a round */
    double gain, over;  /* over-relaxation of the step, and of the scale */
    double ridge;       /* ridge of the regression on features, in units of the prior precision */
    double first_variance; /* variance of the starting vectors */
    double free_variance;  /* variance of free columns at the start */
    double spectrum,
        spectrum_decay; /* assumed variance of factor k: spectrum * k^-decay, for the choice of K */
    size_t factors, rounds; /* learned columns and T; none: biases only */
    size_t free_columns;    /* free columns besides; 0 except in `residual` */
};

/* Share of mu^2 for counts and biases. From epsilon 3 or so on, at delta 1e-5, noise hardly
 * disturbs them, and the rounds measure biases too. */
static inline double residual_rule_first_share(double mu, uint32_t version) {
    return version < RESIDUAL_RULE_WITH_HOME ? 0.2 : fmin(0.2, fmax(0.12 / mu, 0.11));
}

static inline struct residual_rule residual_rule_make(double mu, bool has_features) {
    return (struct residual_rule){
        .mu = mu,
        .first_share = residual_rule_first_share(mu, RESIDUAL_RULE_VERSION),
        .count_weight = 0.8,
        .scalar_weight = 0.1,
        .bias_ridge = 3,
        .first_floor = fmin(2 + 1.2 * mu, 6),
        .count_floor = 0.3,
        .moment_weight = 0.12,
        .round_floor = fmin(1.2 + 0.7 * mu, 3.5),
        .popularity = 0.1,
        .bias_popularity = 0.3,
        .rare = 0.3,
        .bias_weight = 1.25,
        .growth = 1.25,
        .bias_memory = 0.985,
        .over = 2,
        .ridge = 3,
        .first_variance = 0.015,
        .free_variance = 0.008,
        .spectrum = has_features ? 0.16 : 0.08,
        .spectrum_decay = has_features ? 1.2 : 0.9,
    };
}

/* The number of rounds for a number of factors, by the version of the rule that a statement
 * records. */
static inline size_t residual_rule_rounds(size_t factors, uint32_t version) {
    const double least = version < 2 ? 4 : 8;
    return factors == 0 ? 0 : (size_t)fmin(round(least + 1.2 * (double)factors), RULE_ROUNDS_MAX);
}

/* What depends on the number of factors, which is chosen from the first release's output. */
static inline void residual_rule_finish(struct residual_rule *rule, size_t factors) {
    double K = (double)factors;
    rule->factors = factors;
    rule->rounds = residual_rule_rounds(factors, RESIDUAL_RULE_VERSION);
    rule->memory = fmax(0.96 - 0.008 * K, 0.85);
    rule->gain = fmin(1 + 0.05 * K, 1.4);
}

#endif
