/*
 * Exact Gaussian noise on the integers: round(Z), Z ~ N(0, sigma^2), with no floating point
 * anywhere.
 *
 * Z is sampled after Karney 2016, "Sampling exactly from the normal distribution", in integers and
 * with digits that are drawn only when they are looked at; the rounding looks at as many as it
 * takes. Sums of integers plus round(Z) are the rounding of (sum + Z), and so post-processing of
 * the Gaussian mechanism. The proof stands beside the code. The time of a draw depends on its
 * value: who can measure it is outside the attack model.
 */
#ifndef DPMF_RANDOM_EXACT_GAUSSIAN_H
#define DPMF_RANDOM_EXACT_GAUSSIAN_H

#include "numerics/exact_arithmetic.h"
#include "random/secure_random.h"

#define EXACT_GAUSSIAN_SIGMA_MAX ((uint64_t)1 << 48)

/* `sigma` is 1 .. EXACT_GAUSSIAN_SIGMA_MAX. A draw, rounded to the nearest integer, modulo 2^64.
 * Cannot fail. Given random bits, its distribution is exact: no value is too large to be drawn. */
int64_t exact_gaussian_rounded(struct secure_stream *stream, uint64_t sigma);

/*
 * Adds noise to n sums, the coordinates first, first + 1, .. of a release: sums[i] gets one draw,
 * the first of the stream (release, first + i), and that stream is used for nothing else. So each
 * coordinate is drawn exactly once, whoever works on which range. Never call it twice for one
 * coordinate of a release: the same noise would be added twice. Sums are modulo 2^64, too: the
 * caller keeps |sums[i]| + 64 sigma below 2^63.
 */
void exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                        size_t n, uint64_t sigma, int64_t *sums);

#endif
