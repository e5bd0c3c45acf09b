/*
 * The kernels of exact.h with EXACT_VEC doubles at a time: define that, then include this. Vectors
 * are the compiler's own (gcc's and clang's vector extension), so one text serves every instruction
 * set; compilers do not contract it (-ffp-contract=off). Which lanes are computed at once changes
 * nothing: every lane is one of exact.h's definitions.
 */
#ifndef DPMF_KERNELS_EXACT_BODY_H
#define DPMF_KERNELS_EXACT_BODY_H

#include <string.h>

#include "kernels/exact.h"
#include "kernels/kernel_inline.h"

/* Read and written where they lie, aligned as their elements are. */
typedef double exact_vec __attribute__((vector_size(8 * EXACT_VEC), aligned(8), may_alias));
typedef int64_t exact_int __attribute__((vector_size(8 * EXACT_VEC), aligned(8), may_alias));
typedef uint64_t exact_bits __attribute__((vector_size(8 * EXACT_VEC), aligned(8), may_alias));
typedef int32_t exact_small __attribute__((vector_size(4 * EXACT_VEC), aligned(4), may_alias));

enum { EXACT_VECS = EXACT_LANES / EXACT_VEC /* in EXACT_LANES */ };

/* For what is left over of rows that no whole number of wide vectors fits. */
enum { EXACT_HALF = EXACT_VEC > 1 ? EXACT_VEC / 2 : 1 };
typedef double half_vec __attribute__((vector_size(8 * EXACT_HALF), aligned(8), may_alias));
typedef int64_t half_int __attribute__((vector_size(8 * EXACT_HALF), aligned(8), may_alias));
typedef int32_t half_small __attribute__((vector_size(4 * EXACT_HALF), aligned(4), may_alias));

#define VEC_AT(pointer) (*(exact_vec *)(pointer))
#define VEC_OF(pointer) (*(const exact_vec *)(pointer))

/* ---- normal equations ------------------------------------------------------------------------ */

enum { EXACT_CHUNK = 32 /* rows that stay in the first-level cache while all of A passes by */ };

enum {
    EXACT_TILE =
        4 /* rows of A at once; with a vector of columns they leave registers for the rest */
};

/* So many rows of A by one vector of columns, in registers while a chunk's rows pass by. */
INLINE void exact_tile(const double *const *f, size_t n, size_t a, size_t b, double *A,
                       size_t width) {
    exact_vec sum[EXACT_TILE];
    UNROLL for (int i = 0; i < EXACT_TILE; i++) sum[i] = VEC_OF(A + (a + (size_t)i) * width + b);
    for (size_t t = 0; t < n; t += EXACT_GROUP) {
        const double *f0 = f[t], *f1 = f[t + 1], *f2 = f[t + 2], *f3 = f[t + 3];
        const exact_vec b0 = VEC_OF(f0 + b), b1 = VEC_OF(f1 + b), b2 = VEC_OF(f2 + b),
                        b3 = VEC_OF(f3 + b);
        UNROLL for (int i = 0; i < EXACT_TILE; i++) {
            const size_t r = a + (size_t)i;
            sum[i] += (f0[r] * b0 + f1[r] * b1) + (f2[r] * b2 + f3[r] * b3);
        }
    }
    UNROLL for (int i = 0; i < EXACT_TILE; i++) VEC_AT(A + (a + (size_t)i) * width + b) = sum[i];
}

INLINE void exact_right_side(const double *const *f, const double *t, size_t n, size_t width,
                             double *x) {
    for (size_t a = 0; a < width; a += EXACT_VEC) {
        exact_vec sum = VEC_OF(x + a);
        for (size_t i = 0; i < n; i += EXACT_GROUP)
            sum += (t[i] * VEC_OF(f[i] + a) + t[i + 1] * VEC_OF(f[i + 1] + a)) +
                   (t[i + 2] * VEC_OF(f[i + 2] + a) + t[i + 3] * VEC_OF(f[i + 3] + a));
        VEC_AT(x + a) = sum;
    }
}

/* Asks for rows that are needed soon: they lie anywhere. */
INLINE void exact_expect(const struct exact_rows *own, size_t first, size_t n) {
    const size_t end = own->n - first < n ? own->n : first + n, line = 64 / sizeof(double);
    for (size_t i = first; i < end; i++)
        for (size_t c = 0; c < own->width; c += line)
            __builtin_prefetch(own->rows + own->at[i] * own->width + c);
}

INLINE void exact_normal_of(const struct exact_rows *own, const double *targets, double *A,
                            double *x) {
    static const double zeros[EXACT_WIDTH_MAX];
    const size_t width = own->width;
    for (size_t first = 0; first < own->n; first += EXACT_CHUNK) {
        const double *f[EXACT_CHUNK];
        double t[EXACT_CHUNK];
        size_t n = own->n - first < EXACT_CHUNK ? own->n - first : EXACT_CHUNK;
        for (size_t i = 0; i < n; i++) {
            f[i] = own->rows + own->at[first + i] * width;
            t[i] = targets[first + i];
        }
        exact_expect(own, first + n, EXACT_CHUNK);
        for (; n % EXACT_GROUP != 0; n++) {
            f[n] = zeros;
            t[n] = 0;
        }
        for (size_t a = 0; a < width; a += EXACT_TILE)
            for (size_t b = 0; b < (a / EXACT_LANES + 1) * EXACT_LANES; b += EXACT_VEC)
                exact_tile(f, n, a, b, A, width);
        exact_right_side(f, t, n, width, x);
    }
}

/* ---- dot products ---------------------------------------------------------------------------- */

INLINE double exact_add_lanes(const exact_vec *sums) {
    double s[EXACT_LANES];
    memcpy(s, sums, sizeof s);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

INLINE void exact_residuals_of(const struct exact_rows *own, const double *targets, const double *x,
                               double *e) {
    for (size_t i = 0; i < own->n; i++) {
        const double *row = own->rows + own->at[i] * own->width;
        exact_vec sums[EXACT_VECS];
        UNROLL for (int v = 0; v < EXACT_VECS; v++) {
            sums[v] = VEC_OF(x + v * EXACT_VEC) * VEC_OF(row + v * EXACT_VEC);
        }
        for (size_t c = EXACT_LANES; c < own->width; c += EXACT_LANES) {
            UNROLL for (int v = 0; v < EXACT_VECS; v++) {
                sums[v] += VEC_OF(x + c + v * EXACT_VEC) * VEC_OF(row + c + v * EXACT_VEC);
            }
        }
        e[i] = targets[i] - exact_add_lanes(sums);
    }
}

INLINE double exact_square_sum_of(const double *values, size_t n) {
    exact_vec sums[EXACT_VECS];
    UNROLL for (int v = 0; v < EXACT_VECS; v++) sums[v] = (exact_vec){0};
    size_t i = 0;
    for (; i + EXACT_LANES <= n; i += EXACT_LANES) {
        UNROLL for (int v = 0; v < EXACT_VECS; v++) {
            const exact_vec value = VEC_OF(values + i + (size_t)v * EXACT_VEC);
            sums[v] += value * value;
        }
    }
    double last[EXACT_LANES] = {0};
    for (size_t l = 0; i + l < n; l++) last[l] = values[i + l];
    UNROLL for (int v = 0; v < EXACT_VECS; v++) {
        sums[v] += VEC_OF(last + v * EXACT_VEC) * VEC_OF(last + v * EXACT_VEC);
    }
    return exact_add_lanes(sums);
}

/* ---- the inverse ----------------------------------------------------------------------------- */

enum { EXACT_SIDES = EXACT_WIDTH_MAX /* room for unit vectors: whole vectors of them */ };

/* Unit vectors are the lanes: X[k] holds the k-th unknown of all of them. */
INLINE void exact_inverse_of(const double *L, size_t n, double *out) {
    double X[EXACT_WIDTH_MAX][EXACT_SIDES];
    const size_t sides = (n + EXACT_VEC - 1) / EXACT_VEC * EXACT_VEC;
    for (size_t k = 0; k < n; k++) {
        memset(X[k], 0, sides * sizeof **X);
        X[k][k] = 1;
    }
    for (size_t i = 0; i < n; i++) {
        const double *row = L + i * n;
        /* The first unknowns of unit vector s are 0 before its own, which changes no bit of what
         * they are taken away from: L is finite. */
        for (size_t s = 0; s <= i; s += EXACT_VEC) {
            exact_vec x = VEC_OF(X[i] + s);
            for (size_t k = s; k < i; k++) x -= row[k] * VEC_OF(X[k] + s);
            VEC_AT(X[i] + s) = x / row[i];
        }
    }
    for (size_t i = n; i-- > 0;) {
        const double *row = L + i * n;
        for (size_t s = 0; s < sides; s += EXACT_VEC) {
            const exact_vec x = VEC_OF(X[i] + s) / row[i];
            VEC_AT(X[i] + s) = x;
            for (size_t k = 0; k < i; k++) VEC_AT(X[k] + s) -= row[k] * x;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) out[i * n + j] = out[j * n + i] = X[j][i];
}

/* ---- contributions and their integers -------------------------------------------------------- */

INLINE void exact_outer_of(const double *z, size_t n, const double *g, size_t width, double *out) {
    for (size_t i = 0; i < n; i++, out += width) {
        size_t a = 0;
        for (; a + EXACT_VEC <= width; a += EXACT_VEC) VEC_AT(out + a) = z[i] * VEC_OF(g + a);
        for (; a + EXACT_HALF <= width; a += EXACT_HALF)
            *(half_vec *)(out + a) = z[i] * *(const half_vec *)(g + a);
        for (; a < width; a++) out[a] = z[i] * g[a];
    }
}

/* To the nearest whole number, where |x| < 2^51: adding 1.5 * 2^52 leaves no room for a fraction,
 * and taking it away again is exact. As nearbyint does it. */
#define EXACT_NEAREST 0x1.8p52

/* The square of such a number r, |r| <= 2^25, is exact, and so is 2^52 + r^2, whose bits are those
 * of 2^52 plus r^2. The bits are added up as 64-bit integers, and those of 2^52 taken away at the
 * end; all of it modulo 2^64, and the sum that is meant is below that. */
#define EXACT_POWER 0x1p52
enum { EXACT_POWER_EXPONENT = 1023 + 52 };

INLINE uint64_t exact_to_grid_of(const double *values, size_t n, double factor, int32_t *q) {
    exact_bits squares = {0};
    size_t i = 0;
    for (; i + EXACT_VEC <= n; i += EXACT_VEC) {
        const exact_vec r = (VEC_OF(values + i) * factor + EXACT_NEAREST) - EXACT_NEAREST;
        *(exact_small *)(q + i) = __builtin_convertvector(r, exact_small);
        squares += (exact_bits)(r * r + EXACT_POWER);
    }
    uint64_t sum = 0;
    for (size_t l = 0; l < EXACT_VEC; l++) sum += squares[l];
    sum -= ((uint64_t)EXACT_POWER_EXPONENT << 52) * i;
    for (; i < n; i++) {
        q[i] = (int32_t)((values[i] * factor + EXACT_NEAREST) - EXACT_NEAREST);
        sum += (uint64_t)((int64_t)q[i] * q[i]);
    }
    return sum;
}

INLINE void exact_add_of(int64_t *sums, const int32_t *q, size_t n) {
    size_t i = 0;
    for (; i + EXACT_VEC <= n; i += EXACT_VEC)
        *(exact_int *)(sums + i) +=
            __builtin_convertvector(*(const exact_small *)(q + i), exact_int);
    for (; i + EXACT_HALF <= n; i += EXACT_HALF)
        *(half_int *)(sums + i) += __builtin_convertvector(*(const half_small *)(q + i), half_int);
    for (; i < n; i++) sums[i] += q[i];
}

/* The functions of a set, and its table. */
#define EXACT_KERNELS(set)                                                                         \
    static void normal(const struct exact_rows *own, const double *targets, double *A,             \
                       double *x) {                                                                \
        exact_normal_of(own, targets, A, x);                                                       \
    }                                                                                              \
    static void residuals(const struct exact_rows *own, const double *targets, const double *x,    \
                          double *e) {                                                             \
        exact_residuals_of(own, targets, x, e);                                                    \
    }                                                                                              \
    static void inverse(const double *L, size_t n, double *out) { exact_inverse_of(L, n, out); }   \
    static void outer(const double *z, size_t n, const double *g, size_t width, double *out) {     \
        exact_outer_of(z, n, g, width, out);                                                       \
    }                                                                                              \
    static double square_sum(const double *values, size_t n) {                                     \
        return exact_square_sum_of(values, n);                                                     \
    }                                                                                              \
    static uint64_t to_grid(const double *values, size_t n, double factor, int32_t *q) {           \
        return exact_to_grid_of(values, n, factor, q);                                             \
    }                                                                                              \
    static void add(int64_t *sums, const int32_t *q, size_t n) { exact_add_of(sums, q, n); }       \
    const struct exact_kernels kernel_##set##_exact = {normal,     residuals, inverse, outer,      \
                                                       square_sum, to_grid,   add}

#endif
