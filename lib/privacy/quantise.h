/*
 * From a contribution in doubles to integers within the norm bound: the step that makes the
 * sensitivity of a release true whatever a mechanism computed. In a file of its own so that
 * noisy_sum.c, the audit and the tests all call the same one, and so that a test can replace it
 * with a wrong one.
 */
#ifndef DPMF_PRIVACY_QUANTISE_H
#define DPMF_PRIVACY_QUANTISE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/exact.h"
#include "numerics/exact_arithmetic.h"

enum { NOISY_SUM_BITS = 24 }; /* bits of the grid */

/* The integers of one contribution, checked: q[i] = round(value[i] * scale * 2^bits), shrunk until
 * the sum of squares is at most (scale * 2^bits)^2. What is not a number becomes 0. */
void noisy_sum_quantise(const struct exact_kernels *exact, const double *values, size_t n,
                        double scale, int32_t *q);

#endif
