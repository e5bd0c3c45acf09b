/*
 * One user's integers. Fed by the mechanisms' contributions, by way of noisy_sum.c; what comes out is what is
 * added up. Step 2 of the proof in noisy_sum.c is about this file: it ends only when the squares, added
 * without error, are within the bound.
 */
#include "privacy/quantise.h"

#include <math.h>

static const double grid = (double)(1 << NOISY_SUM_BITS);

__extension__ typedef unsigned __int128 wide; /* of the compiler, not of ISO C */

static wide square_sum(const int32_t *q, size_t n) {
    wide sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((int64_t)q[i] * q[i]);
    return sum;
}

/* To the nearest whole number. Nothing larger than the grid can be part of a vector within the bound; 0 for NaN. */
static int32_t to_grid(double x) {
    if (!(x >= -grid)) return x < 0 ? -(1 << NOISY_SUM_BITS) : 0;
    if (x > grid) return 1 << NOISY_SUM_BITS;
    return (int32_t)nearbyint(x);
}

void noisy_sum_quantise(const double *values, size_t n, double scale, int32_t *q) {
    const uint64_t limit = (uint64_t)(scale * grid); /* down */
    const wide most = (wide)limit * limit;
    double factor = scale * grid;
    for (;;) {
        for (size_t i = 0; i < n; i++) q[i] = to_grid(values[i] * factor);
        wide sum = square_sum(q, n);
        if (sum <= most) return;
        /* By rounding alone it is over by very little: the first shrinking is nearly always enough. The second
         * factor makes sure of progress, down to where all integers are 0. */
        factor *= (double)limit / sqrt((double)sum) * (1 - 0x1p-20);
        if (!(factor > 0x1p-60)) factor = 0;
    }
}
