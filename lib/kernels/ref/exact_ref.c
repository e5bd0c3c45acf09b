/*
 * Private contributions, plainly: exact.h's definitions, one after the other. What the other sets
 * are tested against, bit for bit, and what runs where there is none of them.
 */
#include <string.h>

#include "kernels/exact.h"
#include "kernels/kernel_sets.h"

static void add_group(const double *const f[EXACT_GROUP], const double t[EXACT_GROUP], size_t width,
                      double *A, double *x) {
    for (size_t a = 0; a < width; a++) {
        const double f0 = f[0][a], f1 = f[1][a], f2 = f[2][a], f3 = f[3][a];
        const size_t end = (a / EXACT_LANES + 1) * EXACT_LANES;
        double *row = A + a * width;
        for (size_t b = 0; b < end; b++)
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

static double add_lanes(const double s[EXACT_LANES]) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static void residuals(const struct exact_rows *own, const double *targets, const double *x,
                      double *e) {
    for (size_t i = 0; i < own->n; i++) {
        const double *row = own->rows + own->at[i] * own->width;
        double s[EXACT_LANES];
        for (size_t l = 0; l < EXACT_LANES; l++) s[l] = x[l] * row[l];
        for (size_t c = EXACT_LANES; c < own->width; c += EXACT_LANES)
            for (size_t l = 0; l < EXACT_LANES; l++) s[l] += x[c + l] * row[c + l];
        e[i] = targets[i] - add_lanes(s);
    }
}

static double square_sum(const double *values, size_t n) {
    double s[EXACT_LANES] = {0};
    for (size_t i = 0; i < n; i++) s[i % EXACT_LANES] += values[i] * values[i];
    return add_lanes(s);
}

static void solve_unit(const double *L, size_t n, size_t unit, double *x) {
    for (size_t i = 0; i < n; i++) {
        x[i] = i == unit;
        for (size_t k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] /= L[i * n + i];
        for (size_t k = 0; k < i; k++) x[k] -= L[i * n + k] * x[i];
    }
}

static void inverse(const double *L, size_t n, double *out) {
    for (size_t i = 0; i < n; i++) solve_unit(L, n, i, out + i * n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) out[j * n + i] = out[i * n + j];
}

static void outer(const double *z, size_t n, const double *g, size_t width, double *out) {
    for (size_t i = 0; i < n; i++, out += width)
        for (size_t a = 0; a < width; a++) out[a] = z[i] * g[a];
}

/* To the nearest whole number, where |x| < 2^51: adding 1.5 * 2^52 leaves no room for a fraction,
 * and taking it away again is exact. As nearbyint does it, but compilers do several at once. */
static int32_t to_nearest(double x) { return (int32_t)((x + 0x1.8p52) - 0x1.8p52); }

static uint64_t to_grid(const double *values, size_t n, double factor, int32_t *q) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        q[i] = to_nearest(values[i] * factor);
        sum += (uint64_t)((int64_t)q[i] * q[i]);
    }
    return sum;
}

static void add(int64_t *sums, const int32_t *q, size_t n) {
    for (size_t i = 0; i < n; i++) sums[i] += q[i];
}

const struct exact_kernels kernel_ref_exact = {normal,     residuals, inverse, outer,
                                               square_sum, to_grid,   add};
