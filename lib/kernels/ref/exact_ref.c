/*
 * Private contributions, plainly: exact.h's definitions, one after the other. What the other sets
 * are tested against, bit for bit, and what runs where there is none of them.
 */
#include <string.h>

#include "kernels/exact.h"
#include "kernels/kernel_sets.h"
#include "numerics/cholesky.h"

static void add_group(const double *const f[EXACT_GROUP], const double t[EXACT_GROUP], size_t width,
                      double *A, double *x) {
    for (size_t a = 0; a < width; a++) {
        const double f0 = f[0][a], f1 = f[1][a], f2 = f[2][a], f3 = f[3][a];
        double *row = A + a * width;
        for (size_t b = a; b < width; b++)
            row[b] += (f0 * f[0][b] + f1 * f[1][b]) + (f2 * f[2][b] + f3 * f[3][b]);
        x[a] += (t[0] * f0 + t[1] * f1) + (t[2] * f2 + t[3] * f3);
    }
}

static void normal(const struct exact_rows *own, const double *targets, double *A, double *x) {
    static const double zeros[EXACT_WIDTH_MAX];
    for (size_t i = 0; i < own->n; i += EXACT_GROUP) {
        const double *f[EXACT_GROUP];
        double t[EXACT_GROUP];
        for (size_t l = 0; l < EXACT_GROUP; l++) {
            f[l] = i + l < own->n ? own->rows + own->at[i + l] * own->width : zeros;
            t[l] = i + l < own->n ? targets[i + l] : 0;
        }
        add_group(f, t, own->width, A, x);
    }
}

static bool solve(const double *A, size_t width, size_t n, double *x, double *out) {
    double L[EXACT_WIDTH_MAX * EXACT_WIDTH_MAX];
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) L[a * n + b] = A[b * width + a];
    if (cholesky_factor(L, n) < 0) return false;
    cholesky_solve(L, n, x);
    cholesky_inverse(L, n, out);
    return true;
}

static double residuals(const struct exact_rows *own, const double *targets, const double *x,
                        double *e) {
    double squares = 0;
    for (size_t i = 0; i < own->n; i++) {
        const double *row = own->rows + own->at[i] * own->width;
        double s[EXACT_LANES];
        for (size_t l = 0; l < EXACT_LANES; l++) s[l] = x[l] * row[l];
        for (size_t c = EXACT_LANES; c < own->width; c += EXACT_LANES)
            for (size_t l = 0; l < EXACT_LANES; l++) s[l] += x[c + l] * row[c + l];
        e[i] = targets[i] - (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])));
        squares += e[i] * e[i];
    }
    return squares;
}

static void outer(const double *z, size_t n, const double *g, size_t width, double *out) {
    for (size_t i = 0; i < n; i++, out += width)
        for (size_t a = 0; a < width; a++) out[a] = z[i] * g[a];
}

/* To the nearest whole number, where |x| < 2^51: adding 1.5 * 2^52 leaves no room for a fraction,
 * and taking it away again is exact. As nearbyint does it, but compilers do several at once. */
static double to_nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

static uint64_t to_grid(const double *values, size_t n, double factor, int32_t *q) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double r = to_nearest(values[i] * factor);
        if (!(r > -0x1p26 && r < 0x1p26)) return EXACT_WILD;
        q[i] = (int32_t)r;
        sum += (uint64_t)((int64_t)q[i] * q[i]);
    }
    return sum;
}

static uint32_t peak(const int32_t *q, size_t n) {
    int32_t any = 0;
    for (size_t i = 0; i < n; i++) any |= q[i] ^ (q[i] >> 31);
    return (uint32_t)any + 1;
}

static void add(int64_t *sums, size_t width, const uint32_t *at, size_t n, const int32_t *q) {
    for (size_t b = 0; b < n; b++, q += width)
        for (size_t i = 0; i < width; i++) sums[at[b] * width + i] += q[i];
}

static void add_small(int32_t *sums, size_t width, const uint32_t *at, size_t n, const int32_t *q) {
    for (size_t b = 0; b < n; b++, q += width)
        for (size_t i = 0; i < width; i++) sums[at[b] * width + i] += q[i];
}

static void move(int64_t *sums, int32_t *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        sums[i] += from[i];
        from[i] = 0;
    }
}

const struct exact_kernels kernel_ref_exact = {normal, solve, residuals, outer, to_grid,
                                               peak,   add,   add_small, move};
