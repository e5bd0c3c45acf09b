/*
 * One user's integers. Fed by the mechanisms' contributions, by way of noisy_sum.c; what comes out
 * is what is added up. Step 2 of the proof in noisy_sum.c is about this file: it ends only when the
 * squares, added without error, are within the bound.
 */
#include "privacy/quantise.h"

#include <math.h>
#include <stdbool.h>

static const double grid = (double)(1 << NOISY_SUM_BITS);

__extension__ typedef unsigned __int128 wide; /* an extension of the compiler, not ISO C */

/* For any number. Nothing larger than the grid can be part of a vector within the bound; 0 for
 * NaN. */
static int32_t to_grid(double x) {
    if (!(x >= -grid)) return x < 0 ? -(1 << NOISY_SUM_BITS) : 0;
    return x > grid ? 1 << NOISY_SUM_BITS : (int32_t)nearbyint(x);
}

/* @return the sum of the squares, without error */
static wide wild_to_grid(const double *values, size_t n, double factor, int32_t *q) {
    wide sum = 0;
    for (size_t i = 0; i < n; i++) {
        q[i] = to_grid(values[i] * factor);
        sum += (uint64_t)((int64_t)q[i] * q[i]);
    }
    return sum;
}

/* The same where all values are finite and none is far beyond the bound, as it is when the
 * mechanism did what it should. @return whether that is so */
static bool tame_to_grid(const struct exact_kernels *exact, const double *values, size_t n,
                         double factor, int32_t *q, wide *sum) {
    *sum = 0;
    for (size_t from = 0; from < n; from += EXACT_SQUARES_MAX) {
        size_t part = n - from < EXACT_SQUARES_MAX ? n - from : EXACT_SQUARES_MAX;
        const uint64_t squares = exact->to_grid(values + from, part, factor, q + from);
        if (squares == EXACT_WILD) return false;
        *sum += squares;
    }
    return true;
}

void noisy_sum_quantise(const struct exact_kernels *exact, const double *values, size_t n,
                        double scale, int32_t *q) {
    const uint64_t limit = (uint64_t)(scale * grid); /* down */
    const wide most = (wide)limit * limit;
    double factor = scale * grid;
    bool tame = true;
    for (;;) {
        wide sum;
        tame = tame && tame_to_grid(exact, values, n, factor, q, &sum);
        if (!tame) sum = wild_to_grid(values, n, factor, q);
        if (sum <= most) return;
        /* By rounding alone it is over by very little: the first shrinking is nearly always enough.
         * The second factor makes sure of progress, down to where all integers are 0. */
        factor *= (double)limit / sqrt((double)sum) * (1 - 0x1p-20);
        if (!(factor > 0x1p-60)) factor = 0;
    }
}
