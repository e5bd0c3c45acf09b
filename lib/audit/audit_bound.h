/*
 * From guesses to lower bounds: on mu, and on epsilon. The auditor has guessed for every canary
 * whether it took part, with a confidence; audit_bound.c has what that proves about any mechanism,
 * and why. Nothing is simulated.
 */
#ifndef DPMF_AUDIT_AUDIT_BOUND_H
#define DPMF_AUDIT_AUDIT_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "numerics/exact_arithmetic.h"

/* A guess about one fair coin. */
struct audit_guess {
    double confidence; /* confidence, of which only the order counts */
    bool is_right;
};

/* How many of the surest guesses are counted: all, 1/2, 1/8 and 1/64, each at a quarter of the
 * level. */
enum { AUDIT_FRACTIONS = 4 };

/* Guesses, ranked and counted. */
struct audit_count {
    size_t n;
    size_t surest[AUDIT_FRACTIONS], right[AUDIT_FRACTIONS];
};

/* Sorts the guesses by how sure they are. */
struct audit_count audit_count_make(struct audit_guess *guesses, size_t n);

/* Whether these guesses, each of a run of its own, are too good for every mechanism that is mu-GDP:
 * false with probability at least 1 - level for one that is. Monotone: what is too good for a mu is
 * too good for every smaller one. */
bool audit_bound_excludes_mu(const struct audit_count *count, double mu, double level);

/* The largest mu that is excluded, to three digits; 0 when none is. */
double audit_bound_mu(const struct audit_count *count, double level);

/* The same for (epsilon, delta), with guesses about `canaries` canaries in each of `runs` runs. */
bool audit_bound_excludes_epsilon(const struct audit_count *count, size_t runs, size_t canaries,
                                  double epsilon, double delta, double level);
double audit_bound_epsilon(const struct audit_count *count, size_t runs, size_t canaries,
                           double delta, double level);

/* P(X >= k), X the number of successes in n trials, rounded up. */
double audit_binomial_tail(size_t n, double p, double k);

#endif
