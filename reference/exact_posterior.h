/*
 * The posterior of a tiny model by brute force: what the samplers of lib/sample are tested against.
 * Nothing is drawn: the item vectors go through a grid, and given them all else is Gaussian and
 * integrated by hand.
 */
#ifndef DPMF_REFERENCE_EXACT_POSTERIOR_H
#define DPMF_REFERENCE_EXACT_POSTERIOR_H

#include <stddef.h>

struct exact_rating {
    size_t user, item;
    double value; /* less the offset */
};

/* value ~ N(b_i + b_j + u_i.v_j, 1 / noise), and b_i ~ N(0, 1 / user_bias), b_j ~ N(0, 1 /
 * item_bias), u_i ~ N(0, diag(users)^-1), v_j ~ N(0, diag(items)^-1). */
struct exact_problem {
    size_t n_users, n_items, k, n;
    const struct exact_rating *ratings; /* n */
    double noise, user_bias, item_bias;
    const double *users, *items; /* k each */
};

/* The posterior of the predictions b_i + b_j + u_i.v_j of all pairs, pair i * n_items + j. */
struct exact_posterior {
    double log_evidence; /* log evidence of the ratings */
    double *mean;        /* n_users * n_items */
    double *covariance;  /* its square */
};

/* `points` values for each number of V, over five standard deviations both ways: points^(n_items *
 * k) in all, so both must be small. An odd number. @return 0, or -1 without memory, with nothing to
 * free */
int exact_posterior_find(const struct exact_problem *problem, size_t points,
                         struct exact_posterior *posterior);
void exact_posterior_free(struct exact_posterior *posterior);

#endif
