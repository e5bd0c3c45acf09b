/*
 * The public rule of the mechanism `events`: every constant, none of them read from the data.
 * docs/privacy/rule.md says what each is for and how it was found.
 */
#ifndef DPMF_STATEMENT_EVENTS_RULE_H
#define DPMF_STATEMENT_EVENTS_RULE_H

#include <math.h>
#include <stddef.h>

enum {
    EVENTS_FACTORS_MAX = 40,
    EVENTS_START_FEATURES = 24, /* directions of public features that the first round looks along */
    EVENTS_ROUNDS = 6,
    EVENTS_CLASSES = 20, /* classes of items by popularity, each with its own prior variance */
    EVENTS_NEGATIVES = 99,
    EVENTS_VOTE_LEAST = 3, /* least events of a user who votes */
    EVENTS_WEIGHTS = 7,
    EVENTS_DEFAULT_WEIGHT = 4, /* place of the default in events_weights */
};

/* Weights of taste that the vote is about. */
static const double events_weights[EVENTS_WEIGHTS] = {0, 0.15, 0.35, 0.65, 1, 1.5, 2.2};

struct events_rule {
    double mu; /* the whole budget */

    /* Popularity. */
    double first_share; /* share of mu^2 for the first noisy sum */
    /* Whole budget's ratio of popularity to noise below which there is nothing else */
    double snr_least;
    double share_scale, share_power; /* popularity's share of mu^2: (scale / snr)^power */
    double share_least, share_most;  /* bounds of that share */

    /* The rounds. */
    double factor_scale, factor_power; /* factors: scale * snr^power */
    double scale;                      /* an item weighs popularity^-scale in a user's row */
    /* Part of an item's own share that is taken out of its product */
    double own;
    double growth;         /* budget of a round relative to the one before */
    double whitening;      /* directions are scaled by (singular value)^-whitening */
    double norm_floor;     /* least norm that a contribution is divided by */
    double variance_floor; /* least prior variance, in units of the noise's */
    double ridge;          /* ridge of the regression on public features */

    /* The vote. */
    double vote_share; /* share of mu^2 for the vote */
    double vote_bound; /* norm of centred gains that counts in full */
    double vote_rank;  /* rank at which a hit counts half */
    double vote_lead;  /* deviations of the noise of a difference by which a winner must lead */

    /* What the first noisy sum decides. */
    double popularity_share; /* share of mu^2, the first share included; 1: popularity alone */
    size_t factors, rounds;
};

static inline struct events_rule events_rule_make(double mu) {
    return (struct events_rule){
        .mu = mu,
        .first_share = 0.05,
        .snr_least = 20,
        .share_scale = 4,
        .share_power = 0.4,
        .share_least = 0.06,
        .share_most = 0.6,
        .factor_scale = 0.825,
        .factor_power = 0.407,
        .scale = 0.25,
        .own = 0.5,
        .growth = 1.3,
        .whitening = 0.5,
        .norm_floor = 1e-3,
        .variance_floor = 0.01,
        .ridge = 1,
        .vote_share = 0.04,
        .vote_bound = 0.5,
        .vote_rank = 10,
        .vote_lead = 2,
    };
}

/* `snr` is the mean square of popularity over that of the noise which the whole budget would put on
 * it, as the first noisy sum estimates it; NaN counts as 0. */
static inline void events_rule_finish(struct events_rule *rule, double snr, size_t n_items) {
    rule->popularity_share = 1;
    rule->factors = rule->rounds = 0;
    const double bearable = floor((double)n_items / 8);
    if (!(snr >= rule->snr_least) || bearable < 2) return;
    const double most = fmin(bearable, EVENTS_FACTORS_MAX);
    const double factors = round(rule->factor_scale * pow(snr, rule->factor_power));
    rule->factors = (size_t)fmin(fmax(factors, 2), most);
    rule->rounds = EVENTS_ROUNDS;
    const double share = pow(rule->share_scale / snr, rule->share_power);
    rule->popularity_share = fmin(fmax(share, rule->share_least), rule->share_most);
}

/* mu^2 of round t: what popularity and the vote leave, growing from round to round. */
static inline double events_rule_round_share(const struct events_rule *rule, size_t t) {
    double whole = 0;
    for (size_t i = 0; i < rule->rounds; i++) whole += pow(rule->growth, (double)i);
    return (1 - rule->popularity_share - rule->vote_share) * pow(rule->growth, (double)t) / whole;
}

/* Columns of the first round, where there are so many directions of features. */
static inline size_t events_rule_start_width(size_t factors, size_t directions) {
    const size_t most = factors > EVENTS_START_FEATURES ? factors : EVENTS_START_FEATURES;
    const size_t width = directions < most ? directions : most;
    return width > factors ? width : factors;
}

#endif
