/*
 * The public numbers of the mechanism `posterior`, and the bound that its privacy rests on.
 * Everything here is a constant or follows from what the curator declared; nothing follows from the
 * ratings.
 *
 * The target. Ratings on the standard scale, y from -2 to 2 (a unit is a quarter of the range):
 *
 *     p(U, V)  prop. to  exp(-a L) prior,   L = sum over users i of L_i,
 *     L_i = w_i sum over j of (y_ij - clamp(c_j + b_i + u_i.v_j))^2
 *
 * with predictions clamped to what ratings can be and kappa beyond, at either end. The priors are
 * proper and are not multiplied by a:
 *
 *     u_i ~ N(0, I),  b_i ~ N(0, 1/precision_b),  v_j ~ N(0, I/precision_v),  c_j ~ N(g,
 *     1/precision_c),  g ~ N(0, 1)
 *
 * Claim. Let S = range + kappa, B = tau S^2 and a = epsilon / B (in units of the ratings). Then
 * releasing (V, c) of one exact draw of p is epsilon-differentially private for adding or removing
 * one user id with all its ratings; for a user who asked for epsilon_i <= epsilon it is so with
 * epsilon_i.
 *
 * Proof.
 * 1. Each rating is within the range and each clamped prediction within kappa of it, so that every
 *    square is in [0, S^2], for every U and V whatsoever. A user has m_i <= tau ratings after
 *    trimming and the weight w_i = min(rho, (epsilon_i / epsilon) tau / m_i) (posterior_weight), so
 *    that 0 <= a L_i <= a (epsilon_i / epsilon) tau S^2 = epsilon_i.
 * 2. Whether a rating of a user is kept, and the user's weight, are functions of coins that belong
 *    to the user and the item, of that user's ratings and of public numbers (private_ratings.c): no
 *    other user changes them. So two sets of users that differ in user i give targets that differ
 *    in the factor exp(-a L_i) and in the prior of u_i and b_i, which integrates to 1.
 * 3. Let p and p' be the densities of (V, c) with and without user i; the vectors of users are
 *    integrated out. With q(V, c) = integral of exp(-a L_i) over the prior of (u_i, b_i), which by
 *    1 is in [exp(-epsilon_i), 1] for every (V, c), p = p' q / Z and Z = integral of p' q, in
 *    [exp(-epsilon_i), 1] too. So p / p' is in [exp(-epsilon_i), exp(epsilon_i)] everywhere. For
 *    every value of the coins, and so for their mixture.
 *
 * What it does not prove: that a run of a sampler, which ends, draws from p. If it draws from
 * something within d of p in total variation, whatever the data, the release is (epsilon, (1 +
 * exp(epsilon)) d)-private; d is not known. docs/privacy/posterior.md says more.
 *
 * One rating. Replacing one rating of a user changes at most one of those kept (the coins belong to
 * the pair, so another may take its place) and leaves m_i, and so w_i <= rho, as they are: a L_i
 * changes by at most a rho S^2 = rho epsilon / tau at any (U, V), and p / p' by at most exp(2 rho
 * epsilon / tau), once for the density and once for Z. Adding or removing one, with rho = 1, no
 * smaller epsilon asked for and m_i <= tau on both sides, leaves w_i = 1 and changes a L_i by
 * something in [0, epsilon / tau]: then, as in 3, epsilon / tau.
 */
#ifndef DPMF_STATEMENT_POSTERIOR_RULE_H
#define DPMF_STATEMENT_POSTERIOR_RULE_H

#include <math.h>
#include <stdint.h>

#include "numerics/exact_arithmetic.h"

enum {
    POSTERIOR_FACTORS = 10, /* default number of factors */
    POSTERIOR_FACTORS_MAX = 256,
    POSTERIOR_ROUNDS = 200,
    POSTERIOR_ROUNDS_MAX = 1000000,
    POSTERIOR_CHAINS = 2,
    POSTERIOR_CHAINS_MAX = 64,
    POSTERIOR_MAX_RATINGS = 100, /* tau */
    POSTERIOR_MAX_RATINGS_MAX = 1 << 24,
};

/* Lambda: precisions of the priors on the standard scale, where a user's vector has 1. */
static const double posterior_precision_b = 4, posterior_precision_c = 4, posterior_precision_g = 1;
/* Prior variance of an item's vector, divided among its factors: that of u.v is then 1/3,
 * however many there are. */
static const double posterior_vector_variance = 1.0 / 3;

/* Variance of a rating, for those who fit their own vector to a release at home. More than that of
 * ratings: the items' vectors are one draw, and a person does well to believe them less. */
static const double posterior_fold_in_variance = 4;

struct posterior_rule {
    double epsilon;
    double range;         /* range of ratings: max - min */
    double kappa;         /* distance that predictions may exceed the range by, in the same units */
    double rho;           /* the largest weight */
    uint32_t max_ratings; /* tau */
    uint32_t factors, rounds, chains;
};

/* Rounds at the beginning that accept every proposal. */
static inline uint32_t posterior_warming(const struct posterior_rule *rule) {
    return rule->rounds < 60 ? rule->rounds / 3 : 20;
}

/* (range + kappa)^2: the most that one rating can lose. */
static inline double posterior_square(const struct posterior_rule *rule) {
    return (rule->range + rule->kappa) * (rule->range + rule->kappa);
}

/* B, the most that one user can lose */
static inline double posterior_bound(const struct posterior_rule *rule) {
    return rule->max_ratings * posterior_square(rule);
}

/* a = epsilon / B, and a hair less: more than rounding errors can add up to. */
static inline double posterior_scale(const struct posterior_rule *rule) {
    return rule->epsilon / posterior_bound(rule) * (1 - 0x1p-40);
}

/* w of a user with m ratings, 1 <= m <= tau, who has `share` = epsilon_i / epsilon of the whole. */
static inline double posterior_weight(const struct posterior_rule *rule, uint64_t m, double share) {
    return fmin(rule->rho, share * rule->max_ratings / (double)m);
}

#endif
