/*
 * What a release costs: exact accounting of Gaussian mechanisms, every figure rounded to the side
 * that claims less.
 *
 * A sum over users in which each user's share has L2 norm at most 1, published with N(0, 1/mu^2) on
 * every coordinate, is mu-GDP for adding or removing one user. Adaptive composition adds squares.
 * With total mu,
 *
 *     delta(eps) = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2)          (exact, Balle and Wang
 *     2018).
 *
 * So a delta or an epsilon that is printed is never below the true one, and an allowed mu never
 * above it.
 */
#ifndef DPMF_STATEMENT_ACCOUNTANT_H
#define DPMF_STATEMENT_ACCOUNTANT_H

#include <stddef.h>

#include "numerics/exact_arithmetic.h"

/* An upper bound of delta(epsilon), tight to 1e-9 of itself wherever it is above 1e-300; epsilon >=
 * 0, mu >= 0 (0: no release at all). NaN for what makes no sense, as below. */
double accountant_delta(double mu, double epsilon);

/* The largest mu that (epsilon, delta) allows, rounded down; 0 when nothing is allowed. */
double accountant_mu(double epsilon, double delta);

/* The smallest epsilon at this delta, rounded up; INFINITY when there is none (delta 0). Rounded up
 * twice, the epsilon of accountant_mu(epsilon, delta) may pass epsilon by its last digits: to check
 * a claim, ask whether accountant_delta(mu, epsilon) <= delta, which accountant_mu promises. */
double accountant_epsilon(double mu, double delta);

/* The same by zCDP and the Renyi conversion, min over alpha of alpha rho + ln(1 - 1/alpha) -
 * ln(delta alpha) / (alpha - 1), rho = mu^2 / 2: a cross-check that is never below the exact
 * one. */
double accountant_epsilon_renyi(double mu, double delta);

/* The mu of several releases together: the root of the sum of squares, rounded up. */
double accountant_compose(const double *mu, size_t n);

/* What a release that is epsilon-private without any delta is as a Gaussian one, rounded up: mu-GDP
 * with Phi(-mu/2) = 1 / (1 + e^epsilon). For epsilon from 0 to 1e9. */
double accountant_mu_pure(double epsilon);

#endif
