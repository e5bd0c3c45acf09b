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

#include <stddef.h>
#include <stdint.h>

#include "numerics/exact_arithmetic.h"

enum {
    EXACT_LANES = 8, /* partial sums of a dot product; columns of a row come in so many */
    EXACT_GROUP = 4, /* rows whose products are added up before they are added to a matrix */
    EXACT_WIDTH_MAX = 48,
    EXACT_SQUARES_MAX = 1 << 13, /* so many squares of at most 2^50 fit 64 bits */
};

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
     * A is width x width; it is defined where b < (a / EXACT_LANES + 1) EXACT_LANES, and anything
     * elsewhere. */
    void (*normal)(const struct exact_rows *own, const double *targets, double *A, double *x);

    /* e[i] = targets[i] - (((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))), where s_l is the sum
     * of x[c] row_i[c] over the columns c = l, l + 8, l + 16 and so on. `e` may be `targets`. */
    void (*residuals)(const struct exact_rows *own, const double *targets, const double *x,
                      double *e);

    /* The inverse of L L^T, n x n, for each unit vector by forward and backward substitution as
     * numerics/cholesky.h does it; entries below the diagonal are taken for those above it. n is at
     * most EXACT_WIDTH_MAX. */
    void (*inverse)(const double *L, size_t n, double *out);

    /* out[i * width + a] = z[i] g[a] for n values of z and any width. */
    void (*outer)(const double *z, size_t n, const double *g, size_t width, double *out);

    /* The sum of squares, in EXACT_LANES partial sums that are added up as those of `residuals`. */
    double (*square_sum)(const double *values, size_t n);

    /* q[i] = values[i] * factor, rounded to the nearest whole number, where no |values[i] * factor|
     * is above 2^25; n is at most EXACT_SQUARES_MAX. @return the sum of q[i]^2, without error */
    uint64_t (*to_grid)(const double *values, size_t n, double factor, int32_t *q);

    /* sums[i] += q[i] */
    void (*add)(int64_t *sums, const int32_t *q, size_t n);
};

#endif
