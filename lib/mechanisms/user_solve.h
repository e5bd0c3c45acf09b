/*
 * A user at home: their own vector and bias from their own ratings and the public model. A pure
 * function of these two, bit for bit: doubles, one order of operations, nothing shared with other
 * users.
 */
#ifndef DPMF_MECHANISMS_USER_SOLVE_H
#define DPMF_MECHANISMS_USER_SOLVE_H

#include "privacy/private_ratings.h"
#include "privacy/public_model.h"

enum { USER_SOLVE_WIDTH = EXACT_WIDTH_MAX }; /* [u, a], and zeros up to the stride */

struct user_solution {
    double x[USER_SOLVE_WIDTH];                             /* [u, a]: the posterior mean */
    double covariance[USER_SOLVE_WIDTH * USER_SOLVE_WIDTH]; /* D x D: the posterior's */
    double freedom; /* effective parameters: m - freedom is what residuals have left */
    double squares; /* sum of the squared residuals */
};

/* The posterior of [u, a] under u ~ N(0, I), a ~ N(0, var_a), noise s2: a ridge regression with
 * public constants. e[i] becomes the residual y_i - b0 - c_j - a - u.v_j of the user's i-th rating.
 * @return false when it has none (numbers that are not finite): the solution is 0 then */
bool user_solve(const struct public_model *model, const struct private_user *user,
                struct user_solution *solution, double *e);

#endif
