/*
 * The noisy rounds that each mechanism makes, in order: what they are called, and how much of the
 * budget each gets. Shares of mu^2 of the mechanisms that have no file for their rule are here too.
 */
#ifndef DPMF_STATEMENT_STATEMENT_ROUNDS_H
#define DPMF_STATEMENT_STATEMENT_ROUNDS_H

#include "statement/statement.h"

/* Shares are computed in doubles: mechanisms spend slightly less than all of mu. */
#define MECHANISM_MU_SPENT (1 - 1e-12)

#define DPALS_FIRST_SHARE 0.2
#define LANGEVIN_FIRST_SHARE 0.2
#define GRAM_MATRIX_SHARE 0.55
#define GRAM_CALIBRATION_SHARE 0.05
enum { DPALS_ROUNDS_MORE = 4, LANGEVIN_STEPS = 16, GRAM_CALIBRATIONS = 2, GRAM_ITEMS_MIN = 16 };

/* sigma of a noisy sum with this mu, in units of a grid of `bits` bits: the least whole number that
 * is enough. */
double statement_sigma(double mu, uint32_t bits);

/* Whether the rounds are those of the mechanism, each in its place, under its name and with the
 * noise that the claimed epsilon and delta give it; k is the number of factors in the file. For
 * statements that statement_shape_check has passed. @return 0, or DPMF_ERR_PRIVACY_NOT_VERIFIED */
int statement_rounds_check(const struct statement *statement, uint32_t k, struct dpmf_error *error);

#endif
