/*
 * From guesses to a lower bound on mu. The auditor has guessed, run by run, whether the canary was in, and says how
 * sure each guess is; what that proves about the mechanism, and why, is in audit_bound.c.
 */
#ifndef DPMF_PRIVACY_AUDIT_BOUND_H
#define DPMF_PRIVACY_AUDIT_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/exact_arithmetic.h"
#include "dpmf.h"

/* One run. Its coin was fair, and unknown to whoever guessed and chose the confidence. */
struct audit_guess {
    double confidence; /* only the order counts */
    bool is_right;
};

struct audit_bound {
    size_t n;
    double alpha;  /* 1 - confidence */
    double *score; /* of the ranks 1 .. n: increasing */
    double
        mistakes; /* the scores of the wrong guesses, added up: the statistic, small when much is known */
    double *spacings;
    double *below, *right; /* tables of the Gaussian experiment */
    size_t simulations;
};

/* Sorts the guesses. `confidence` is 0.5 .. 0.99999. Free it in any case. */
int audit_bound_init(struct audit_bound *bound, struct audit_guess *guesses, size_t n,
                     double confidence, struct dpmf_error *error);
void audit_bound_free(struct audit_bound *bound);

/* Whether these guesses are too good for every mechanism that is mu-GDP: false with probability at least
 * `confidence` for one that is. Monotone: what is too good for a mu is too good for every smaller one. */
bool audit_bound_excludes(struct audit_bound *bound, double mu);

/* A mu that is excluded, to two digits the largest; 0 when none is. */
double audit_bound_mu(struct audit_bound *bound);

#endif
