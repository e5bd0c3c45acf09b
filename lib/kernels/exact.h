/*
 * The inner loops of private contributions, in doubles, with the same bits from every instruction
 * set. The sensitivity proof (privacy/noisy_sum.c) asks that a user's contribution is a pure
 * function of that user's ratings and of public state: so the arithmetic is defined here, lane by
 * lane, and a set may only do several lanes at once. Products and sums are never contracted.
 * Nothing is shared between users: one call works on one user's own ratings.
 *
 * Rows have `width` columns, a multiple of EXACT_LANES; what is not used of them is 0.
 */
#ifndef DPMF_KERNELS_EXACT_H
#define DPMF_KERNELS_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numerics/exact_arithmetic.h"

enum {
    EXACT_LANES = 8, /* partial sums of a dot product; columns of a row come in so many */
    EXACT_GROUP = 4, /* rows whose products are added up before they are added to a matrix */
    EXACT_WIDTH_MAX = 48,
    EXACT_SQUARES_MAX = 1 << 11, /* so many squares below 2^52 fit 63 bits */
};

#define EXACT_WILD UINT64_MAX /* no sum of so many squares */

/* The rows of the items that one user rated: row i is rows[at[i] * width] and after. */
struct exact_rows {
    const double *rows;
    size_t width;
    const uint32_t *at;
    size_t n;
};

struct exact_kernels {
    /* Normal equations. Over groups of four rows f0 .. f3 with targets t0 .. t3, in order, zeros
     * after the last:
     *     A[a, b] += (f0[a] f0[b] + f1[a] f1[b]) + (f2[a] f2[b] + f3[a] f3[b])
     *     x[a]    += (t0 f0[a] + t1 f1[a]) + (t2 f2[a] + t3 f3[a])
     * A is width x width; it is defined where b >= a, and anything elsewhere. */
    void (*normal)(const struct exact_rows *own, const double *targets, double *A, double *x);

    /* x := A^-1 x and out := A^-1, n x n, for the first n rows and columns of A, n <= width: with
     * the bits of cholesky_factor, cholesky_solve and cholesky_inverse (numerics/cholesky.h). A is
     * read where b >= a. @return false, x and out being anything, where cholesky_factor fails */
    bool (*solve)(const double *A, size_t width, size_t n, double *x, double *out);

    /* e[i] = targets[i] - (((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))), where s_l is the sum
     * of x[c] row_i[c] over the columns c = l, l + 8, l + 16 and so on. `e` may be `targets`.
     * @return the sum of e[i]^2, from the first to the last */
    double (*residuals)(const struct exact_rows *own, const double *targets, const double *x,
                        double *e);

    /* out[i * width + a] = z[i] g[a] for n values of z and any width. */
    void (*outer)(const double *z, size_t n, const double *g, size_t width, double *out);

    /* q[i] = values[i] * factor, rounded to the nearest whole number; n is at most
     * EXACT_SQUARES_MAX. @return the sum of q[i]^2, without error; EXACT_WILD, q being anything,
     * where some values[i] * factor is beyond 2^26 or no number */
    uint64_t (*to_grid)(const double *values, size_t n, double factor, int32_t *q);

    /* @return a number that no |q[i]| is above: at most twice the largest |q[i]|, and 1 at least */
    uint32_t (*peak)(const int32_t *q, size_t n);

    /* sums[at[b] * width + i] += q[b * width + i] for n rows of `width`; and the same with sums in
     * 32 bits, none of which may end beyond them. */
    void (*add)(int64_t *sums, size_t width, const uint32_t *at, size_t n, const int32_t *q);
    void (*add_small)(int32_t *sums, size_t width, const uint32_t *at, size_t n, const int32_t *q);

    /* sums[i] += from[i]; then from[i] = 0 */
    void (*move)(int64_t *sums, int32_t *from, size_t n);
};

#endif
