/*
 * One user's integers. Fed by the mechanisms' contributions, by way of noisy_sum.c; what comes out is what is
 * added up. Step 2 of the proof in noisy_sum.c is about this file: it ends only when the squares, added
 * without error, are within the bound.
 */
#include "privacy/quantise.h"

#include <math.h>
#include <stdbool.h>

static const double grid = (double)(1 << NOISY_SUM_BITS);

__extension__ typedef unsigned __int128 wide; /* of the compiler, not of ISO C */

/* So many squares of at most 2^50 fit 64 bits, which are added up faster than 128. */
enum { SQUARES_AT_ONCE = 1 << 13 };

static wide square_sum(const int32_t *q, size_t n) {
    wide sum = 0;
    for (size_t from = 0; from < n; from += SQUARES_AT_ONCE) {
        size_t end = n - from < SQUARES_AT_ONCE ? n : from + SQUARES_AT_ONCE;
        uint64_t part = 0;
        for (size_t i = from; i < end; i++) part += (uint64_t)((int64_t)q[i] * q[i]);
        sum += part;
    }
    return sum;
}

/* To the nearest whole number, where |x| < 2^51: adding 1.5 * 2^52 leaves no room for a fraction, and taking it away again is
 * exact. As nearbyint does it, but compilers do several at once. */
static int32_t to_nearest(double x) { return (int32_t)((x + 0x1.8p52) - 0x1.8p52); }

/* The same for any number. Nothing larger than the grid can be part of a vector within the bound; 0 for NaN. */
static int32_t to_grid(double x) {
    if (!(x >= -grid)) return x < 0 ? -(1 << NOISY_SUM_BITS) : 0;
    return x > grid ? 1 << NOISY_SUM_BITS : to_nearest(x);
}

/* Whether no value is beyond 2, and all are finite: so it is when the mechanism did what it should. */
static bool is_tame(const double *values, size_t n) {
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t l = 0; l < 4; l++) sums[l] += values[i + l] * values[i + l];
    for (; i < n; i++) sums[0] += values[i] * values[i];
    return sums[0] + sums[1] + sums[2] + sums[3] <= 4;
}

void noisy_sum_quantise(const double *values, size_t n, double scale, int32_t *q) {
    const uint64_t limit = (uint64_t)(scale * grid); /* down */
    const wide most = (wide)limit * limit;
    const bool tame = is_tame(values, n);
    double factor = scale * grid;
    for (;;) {
        if (tame)
            for (size_t i = 0; i < n; i++) q[i] = to_nearest(values[i] * factor);
        else
            for (size_t i = 0; i < n; i++) q[i] = to_grid(values[i] * factor);
        wide sum = square_sum(q, n);
        if (sum <= most) return;
        /* By rounding alone it is over by very little: the first shrinking is nearly always enough. The second
         * factor makes sure of progress, down to where all integers are 0. */
        factor *= (double)limit / sqrt((double)sum) * (1 - 0x1p-20);
        if (!(factor > 0x1p-60)) factor = 0;
    }
}
