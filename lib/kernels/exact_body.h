/*
 * The kernels of exact.h with EXACT_VEC doubles at a time: define that, then include this. Vectors
 * are the compiler's own (gcc's and clang's vector extension), so one text serves every instruction
 * set; compilers do not contract it (-ffp-contract=off). Which lanes are computed at once changes
 * nothing: every lane is one of exact.h's definitions.
 */
#ifndef DPMF_KERNELS_EXACT_BODY_H
#define DPMF_KERNELS_EXACT_BODY_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/exact.h"
#include "kernels/kernel_inline.h"

/* Read and written where they lie, aligned as their elements are. */
typedef double exact_vec __attribute__((vector_size(8 * EXACT_VEC), aligned(8), may_alias));
typedef int64_t exact_int __attribute__((vector_size(8 * EXACT_VEC), aligned(8), may_alias));
typedef uint64_t exact_bits __attribute__((vector_size(8 * EXACT_VEC), aligned(8), may_alias));
typedef int32_t exact_small __attribute__((vector_size(4 * EXACT_VEC), aligned(4), may_alias));
typedef int32_t exact_wide_small __attribute__((vector_size(8 * EXACT_VEC), aligned(4), may_alias));

enum { EXACT_VECS = EXACT_LANES / EXACT_VEC /* in EXACT_LANES */ };

/* For what is left over of rows that no whole number of wide vectors fits. */
enum { EXACT_HALF = EXACT_VEC > 1 ? EXACT_VEC / 2 : 1 };
typedef double half_vec __attribute__((vector_size(8 * EXACT_HALF), aligned(8), may_alias));
typedef int64_t half_int __attribute__((vector_size(8 * EXACT_HALF), aligned(8), may_alias));
typedef int32_t half_small __attribute__((vector_size(4 * EXACT_HALF), aligned(4), may_alias));

/* Asks for a line of memory in the second-level cache. In the first, few can be on their way at
 * once, and the others would have to wait for them. */
#define EXACT_SOON(pointer) __builtin_prefetch(pointer, 0, 2)
enum { EXACT_LINE = 64 /* bytes */ };

#define VEC_AT(pointer) (*(exact_vec *)(pointer))
#define VEC_OF(pointer) (*(const exact_vec *)(pointer))
#define HALF_AT(pointer) (*(half_vec *)(pointer))
#define HALF_OF(pointer) (*(const half_vec *)(pointer))

/* ---- normal equations ------------------------------------------------------------------------ */

enum { EXACT_CHUNK = 32 /* rows that stay in the first-level cache while all of A passes by */ };

/* Rows of A at once; with a vector of columns they leave registers for the rest. */
enum { EXACT_TILE = EXACT_VEC == 8 ? 8 : 4, EXACT_CORNER = 4 };

/* A chunk of one user's rows. */
struct exact_chunk {
    const double *rows[EXACT_CHUNK];
    double targets[EXACT_CHUNK];
    size_t n; /* whole groups */
};

/* `n` rows of A by one vector of columns, in registers while a chunk's rows pass by. */
INLINE void exact_tile(const struct exact_chunk *chunk, size_t a, size_t b, int n, double *A,
                       size_t width) {
    exact_vec sum[EXACT_TILE];
    UNROLL for (int i = 0; i < n; i++) sum[i] = VEC_OF(A + (a + (size_t)i) * width + b);
    for (size_t t = 0; t < chunk->n; t += EXACT_GROUP) {
        const double *const *f = chunk->rows + t;
        const double *f0 = f[0] + a, *f1 = f[1] + a, *f2 = f[2] + a, *f3 = f[3] + a;
        const exact_vec b0 = VEC_OF(f[0] + b), b1 = VEC_OF(f[1] + b), b2 = VEC_OF(f[2] + b),
                        b3 = VEC_OF(f[3] + b);
        UNROLL for (int i = 0; i < n; i++) {
            sum[i] += (f0[i] * b0 + f1[i] * b1) + (f2[i] * b2 + f3[i] * b3);
        }
    }
    UNROLL for (int i = 0; i < n; i++) VEC_AT(A + (a + (size_t)i) * width + b) = sum[i];
}

/* The same for half a vector of columns: the lower right corner of eight rows at the diagonal. */
INLINE void exact_corner(const struct exact_chunk *chunk, size_t a, double *A, size_t width) {
    half_vec sum[EXACT_CORNER];
    UNROLL for (int i = 0; i < EXACT_CORNER; i++) sum[i] = HALF_OF(A + (a + (size_t)i) * width + a);
    for (size_t t = 0; t < chunk->n; t += EXACT_GROUP) {
        const double *const *f = chunk->rows + t;
        const double *f0 = f[0] + a, *f1 = f[1] + a, *f2 = f[2] + a, *f3 = f[3] + a;
        const half_vec b0 = HALF_OF(f0), b1 = HALF_OF(f1), b2 = HALF_OF(f2), b3 = HALF_OF(f3);
        UNROLL for (int i = 0; i < EXACT_CORNER; i++) {
            sum[i] += (f0[i] * b0 + f1[i] * b1) + (f2[i] * b2 + f3[i] * b3);
        }
    }
    UNROLL for (int i = 0; i < EXACT_CORNER; i++) HALF_AT(A + (a + (size_t)i) * width + a) = sum[i];
}

INLINE void exact_right_side(const struct exact_chunk *chunk, size_t width, double *x) {
    const double *t = chunk->targets;
    for (size_t a = 0; a < width; a += EXACT_VEC) {
        exact_vec sum = VEC_OF(x + a);
        for (size_t i = 0; i < chunk->n; i += EXACT_GROUP) {
            const double *const *f = chunk->rows + i;
            sum += (t[i] * VEC_OF(f[0] + a) + t[i + 1] * VEC_OF(f[1] + a)) +
                   (t[i + 2] * VEC_OF(f[2] + a) + t[i + 3] * VEC_OF(f[3] + a));
        }
        VEC_AT(x + a) = sum;
    }
}

/* The chunk from `first` on; zeros after the last row, up to a whole group. */
INLINE void exact_take(const struct exact_rows *own, const double *targets, size_t first,
                       struct exact_chunk *chunk) {
    static const double zeros[EXACT_WIDTH_MAX];
    size_t n = first > own->n ? 0 : own->n - first, i = 0;
    if (n > EXACT_CHUNK) n = EXACT_CHUNK;
    for (; i < n; i++) {
        chunk->rows[i] = own->rows + own->at[first + i] * own->width;
        chunk->targets[i] = targets[first + i];
    }
    chunk->n = (n + EXACT_GROUP - 1) / EXACT_GROUP * EXACT_GROUP;
    for (; i < EXACT_CHUNK; i++) {
        chunk->rows[i] = zeros;
        chunk->targets[i] = 0;
    }
}

/* Asks for a chunk's rows: they lie anywhere. */
INLINE void exact_expect(const struct exact_chunk *chunk, size_t width) {
    for (size_t i = 0; i < chunk->n; i++)
        for (size_t c = 0; c < width; c += EXACT_LINE / sizeof(double))
            EXACT_SOON(chunk->rows[i] + c);
}

INLINE void exact_normal_of(const struct exact_rows *own, const double *targets, double *A,
                            double *x) {
    const size_t width = own->width;
    struct exact_chunk chunks[2], *now = &chunks[0], *next = &chunks[1];
    exact_take(own, targets, 0, now);
    for (size_t first = 0; first < own->n; first += EXACT_CHUNK) {
        exact_take(own, targets, first + EXACT_CHUNK, next);
        exact_expect(next, width);
        for (size_t a = 0; a < width; a += EXACT_TILE) {
            size_t b = a;
            if (EXACT_TILE == 2 * EXACT_CORNER) { /* the tile at the diagonal without its left */
                exact_tile(now, a, a, EXACT_CORNER, A, width);
                exact_corner(now, a + EXACT_CORNER, A, width);
                b += EXACT_VEC;
            }
            for (; b < width; b += EXACT_VEC) exact_tile(now, a, b, EXACT_TILE, A, width);
        }
        exact_right_side(now, width, x);
        struct exact_chunk *done = now;
        now = next;
        next = done;
    }
}

/* ---- dot products ---------------------------------------------------------------------------- */

/* ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)): halves are added up while they are vectors. */
INLINE double exact_add_lanes(const exact_vec *sums) {
    double s[EXACT_LANES];
    half_vec halves[EXACT_LANES / EXACT_HALF];
    size_t n = EXACT_LANES / EXACT_HALF;
    memcpy(halves, sums, sizeof halves);
    while (n > 1) {
        n /= 2;
        for (size_t i = 0; i < n; i++) halves[i] += halves[i + n];
    }
    memcpy(s, halves, EXACT_HALF * sizeof *s);
    for (n = EXACT_HALF; n > 1;) {
        n /= 2;
        for (size_t i = 0; i < n; i++) s[i] += s[i + n];
    }
    return s[0];
}

INLINE double exact_residuals_of(const struct exact_rows *own, const double *targets,
                                 const double *x, double *e) {
    double squares = 0;
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
        squares += e[i] * e[i];
    }
    return squares;
}

/* ---- the solve ------------------------------------------------------------------------------- */

/*
 * Rows are kept as columns: row j of the workspace holds column j of the factor from L[j, j] on,
 * then the j-th unknown of x, and `sides` lanes further the j-th unknowns of all unit vectors.
 * Forward substitution of a right side y is what Cholesky's method does to one more row of the
 * matrix, (y_j - sum over k < j of y_k L[j, k]) / L[j, j]: so x and the unit vectors are just more
 * lanes, and every lane has the order of operations of cholesky.h. (Lanes that cholesky.h does not
 * compute are not read, or are 0 and stay 0: L is finite.)
 */
enum { EXACT_SIDES = EXACT_WIDTH_MAX + 8 /* lanes for unit vectors and x */ };

/* R[j] := (R[j] - sum over k < j of R[k, j] R[k]) / L[j, j], in `n` vectors from lane `at` on. The
 * root is found when it is 0: by itself, since all else waits for it. @return it, 0: there is none
 */
INLINE double exact_column(double (*R)[2 * EXACT_SIDES], size_t j, size_t at, int n, double root) {
    exact_vec sum[4];
    double square = R[j][j];
    UNROLL for (int v = 0; v < n; v++) sum[v] = VEC_OF(R[j] + at + v * EXACT_VEC);
    for (size_t k = 0; k < j; k++) {
        const double factor = R[k][j];
        if (root == 0) square -= factor * factor;
        UNROLL for (int v = 0; v < n; v++) sum[v] -= VEC_OF(R[k] + at + v * EXACT_VEC) * factor;
    }
    if (root == 0) {
        if (!(square > 0) || !isfinite(square)) return 0;
        root = sqrt(square);
    }
    UNROLL for (int v = 0; v < n; v++) VEC_AT(R[j] + at + v * EXACT_VEC) = sum[v] / root;
    return root;
}

INLINE bool exact_forward(double (*R)[2 * EXACT_SIDES], size_t n, size_t sides) {
    for (size_t j = 0; j < n; j++) {
        size_t at = j / EXACT_VEC * EXACT_VEC;
        const size_t end = at + sides + EXACT_VEC;
        const int first = sides >= 3 * EXACT_VEC ? 4 : 2;
        const double root =
            first == 4 ? exact_column(R, j, at, 4, 0) : exact_column(R, j, at, 2, 0);
        if (root == 0) return false;
        for (at += (size_t)first * EXACT_VEC; at + 3 * EXACT_VEC <= end; at += 3 * EXACT_VEC)
            exact_column(R, j, at, 3, root);
        for (; at < end; at += EXACT_VEC) exact_column(R, j, at, 1, root);
        R[j][j] = root;
    }
    return true;
}

/* x[k] = (x[k] - sum over i > k, from the last, of L[i, k] x[i]) / L[k, k], in `n` vectors */
INLINE void exact_unknown(double (*R)[2 * EXACT_SIDES], size_t last, size_t k, size_t at, int n) {
    exact_vec sum[4];
    UNROLL for (int v = 0; v < n; v++) sum[v] = VEC_OF(R[k] + at + v * EXACT_VEC);
    for (size_t i = last; i-- > k + 1;) {
        const double factor = R[k][i];
        UNROLL for (int v = 0; v < n; v++) sum[v] -= factor * VEC_OF(R[i] + at + v * EXACT_VEC);
    }
    UNROLL for (int v = 0; v < n; v++) VEC_AT(R[k] + at + v * EXACT_VEC) = sum[v] / R[k][k];
}

INLINE void exact_backward(double (*R)[2 * EXACT_SIDES], size_t n, size_t sides) {
    for (size_t k = n; k-- > 0;) {
        size_t at = sides;
        for (; at + 3 * EXACT_VEC <= 2 * sides; at += 3 * EXACT_VEC) exact_unknown(R, n, k, at, 3);
        for (; at < 2 * sides; at += EXACT_VEC) exact_unknown(R, n, k, at, 1);
    }
}

/* Whole vectors: what is left of j and right of x is never read. */
INLINE void exact_load(const double *A, size_t width, size_t n, const double *x, size_t sides,
                       double (*R)[2 * EXACT_SIDES]) {
    for (size_t j = 0; j < n; j++) {
        size_t i = j / EXACT_VEC * EXACT_VEC;
        for (; i < width && i < sides; i += EXACT_VEC) VEC_AT(R[j] + i) = VEC_OF(A + j * width + i);
        for (; i < 2 * sides; i += EXACT_VEC) VEC_AT(R[j] + i) = (exact_vec){0};
        R[j][n] = x[j];
        R[j][sides + j] = 1;
    }
}

INLINE bool exact_solve_of(const double *A, size_t width, size_t n, double *x, double *out) {
    _Alignas(64) double R[EXACT_WIDTH_MAX][2 * EXACT_SIDES];
    const size_t sides = (n + EXACT_VEC) / EXACT_VEC * EXACT_VEC;
    exact_load(A, width, n, x, sides, R);
    if (!exact_forward(R, n, sides)) return false;
    for (size_t j = 0; j < n; j++) R[j][sides + n] = R[j][n];
    exact_backward(R, n, sides);
    for (size_t j = 0; j < n; j++) {
        x[j] = R[j][sides + n];
        for (size_t i = j; i < n; i++) out[j * n + i] = R[j][sides + i];
        for (size_t i = 0; i < j; i++) out[j * n + i] = R[i][sides + j];
    }
    return true;
}

/* ---- contributions and their integers -------------------------------------------------------- */

INLINE void exact_outer_of(const double *z, size_t n, const double *g, size_t width, double *out) {
    for (size_t i = 0; i < n; i++, out += width) {
        size_t a = 0;
        for (; a + EXACT_VEC <= width; a += EXACT_VEC) VEC_AT(out + a) = z[i] * VEC_OF(g + a);
        for (; a + EXACT_HALF <= width; a += EXACT_HALF) HALF_AT(out + a) = z[i] * HALF_OF(g + a);
        for (; a < width; a++) out[a] = z[i] * g[a];
    }
}

/* To the nearest whole number, where |x| < 2^51: adding 1.5 * 2^52 leaves no room for a fraction,
 * and taking it away again is exact. As nearbyint does it. The sum's last 32 bits are those of that
 * number. */
#define EXACT_NEAREST 0x1.8p52

/* The square of such a number r, |r| < 2^26, is exact, and so is 2^52 + r^2, whose bits are those
 * of 2^52 plus r^2. The bits are added up as 64-bit integers, and those of 2^52 taken away at the
 * end; all of it modulo 2^64, and the sum that is meant is below that. For any other number, and
 * what is none, 2^52 + r^2 has another exponent. */
#define EXACT_POWER 0x1p52
#define EXACT_POWER_BITS ((uint64_t)(1023 + 52) << 52)
_Static_assert(EXACT_SQUARES_MAX <= 1 << 11, "so many squares below 2^52 fit 63 bits");

INLINE uint64_t exact_to_grid_of(const double *values, size_t n, double factor, int32_t *q) {
    exact_bits squares = {0}, others = {0};
    size_t i = 0;
    for (; i + EXACT_VEC <= n; i += EXACT_VEC) {
        const exact_vec near = VEC_OF(values + i) * factor + EXACT_NEAREST;
        const exact_vec r = near - EXACT_NEAREST;
        const exact_bits square = (exact_bits)(r * r + EXACT_POWER);
        *(exact_small *)(q + i) = __builtin_convertvector((exact_int)near, exact_small);
        squares += square;
        others |= square ^ EXACT_POWER_BITS;
    }
    uint64_t sum = 0, other = 0;
    for (size_t l = 0; l < EXACT_VEC; l++) {
        sum += squares[l];
        other |= others[l];
    }
    sum -= EXACT_POWER_BITS * i;
    for (; i < n; i++) {
        const double near = values[i] * factor + EXACT_NEAREST, r = near - EXACT_NEAREST;
        const double raised = r * r + EXACT_POWER;
        uint64_t near_bits, square;
        memcpy(&near_bits, &near, sizeof near);
        memcpy(&square, &raised, sizeof raised);
        q[i] = (int32_t)(uint32_t)near_bits;
        sum += square - EXACT_POWER_BITS;
        other |= square ^ EXACT_POWER_BITS;
    }
    return other >> 52 ? EXACT_WILD : sum;
}

INLINE uint32_t exact_peak_of(const int32_t *q, size_t n) {
    exact_wide_small all = {0};
    size_t i = 0;
    for (; i + 2 * EXACT_VEC <= n; i += 2 * EXACT_VEC) {
        const exact_wide_small some = *(const exact_wide_small *)(q + i);
        all |= some ^ (some >> 31);
    }
    int32_t any = 0;
    for (size_t l = 0; l < 2 * EXACT_VEC; l++) any |= all[l];
    for (; i < n; i++) any |= q[i] ^ (q[i] >> 31);
    return (uint32_t)any + 1;
}

enum { EXACT_AHEAD = 128 /* rows of sums that are asked for before they are added to */ };

/* Asks for a row of sums: the rows of a user lie anywhere. */
INLINE void exact_expect_sums(const void *sums, size_t row, size_t bytes) {
    const char *begin = (const char *)sums + row * bytes;
    for (size_t i = 0; i < bytes; i += EXACT_LINE) EXACT_SOON(begin + i);
    if (bytes > 0) EXACT_SOON(begin + bytes - 1);
}

INLINE void exact_expect_first(const void *sums, const uint32_t *at, size_t n, size_t bytes) {
    for (size_t b = 0; b < n && b < EXACT_AHEAD; b++) exact_expect_sums(sums, at[b], bytes);
}

INLINE void exact_add_of(int64_t *sums, size_t width, const uint32_t *at, size_t n,
                         const int32_t *q) {
    exact_expect_first(sums, at, n, width * sizeof *sums);
    for (size_t b = 0; b < n; b++, q += width) {
        int64_t *to = sums + at[b] * width;
        size_t i = 0;
        if (b + EXACT_AHEAD < n) exact_expect_sums(sums, at[b + EXACT_AHEAD], width * sizeof *sums);
        for (; i + EXACT_VEC <= width; i += EXACT_VEC)
            *(exact_int *)(to + i) +=
                __builtin_convertvector(*(const exact_small *)(q + i), exact_int);
        for (; i + EXACT_HALF <= width; i += EXACT_HALF)
            *(half_int *)(to + i) +=
                __builtin_convertvector(*(const half_small *)(q + i), half_int);
        for (; i < width; i++) to[i] += q[i];
    }
}

INLINE void exact_add_small_of(int32_t *sums, size_t width, const uint32_t *at, size_t n,
                               const int32_t *q) {
    exact_expect_first(sums, at, n, width * sizeof *sums);
    for (size_t b = 0; b < n; b++, q += width) {
        int32_t *to = sums + at[b] * width;
        size_t i = 0;
        if (b + EXACT_AHEAD < n) exact_expect_sums(sums, at[b + EXACT_AHEAD], width * sizeof *sums);
        for (; i + 2 * EXACT_VEC <= width; i += 2 * EXACT_VEC)
            *(exact_wide_small *)(to + i) += *(const exact_wide_small *)(q + i);
        for (; i + EXACT_HALF <= width; i += EXACT_HALF)
            *(half_small *)(to + i) += *(const half_small *)(q + i);
        for (; i < width; i++) to[i] += q[i];
    }
}

INLINE void exact_move_of(int64_t *sums, int32_t *from, size_t n) {
    size_t i = 0;
    for (; i + EXACT_VEC <= n; i += EXACT_VEC) {
        *(exact_int *)(sums + i) += __builtin_convertvector(*(exact_small *)(from + i), exact_int);
        *(exact_small *)(from + i) = (exact_small){0};
    }
    for (; i < n; i++) {
        sums[i] += from[i];
        from[i] = 0;
    }
}

/* The functions of a set, and its table. */
#define EXACT_KERNELS(set)                                                                         \
    static void normal(const struct exact_rows *own, const double *targets, double *A,             \
                       double *x) {                                                                \
        exact_normal_of(own, targets, A, x);                                                       \
    }                                                                                              \
    static bool solve(const double *A, size_t width, size_t n, double *x, double *out) {           \
        return exact_solve_of(A, width, n, x, out);                                                \
    }                                                                                              \
    static double residuals(const struct exact_rows *own, const double *targets, const double *x,  \
                            double *e) {                                                           \
        return exact_residuals_of(own, targets, x, e);                                             \
    }                                                                                              \
    static void outer(const double *z, size_t n, const double *g, size_t width, double *out) {     \
        exact_outer_of(z, n, g, width, out);                                                       \
    }                                                                                              \
    static uint64_t to_grid(const double *values, size_t n, double factor, int32_t *q) {           \
        return exact_to_grid_of(values, n, factor, q);                                             \
    }                                                                                              \
    static uint32_t peak(const int32_t *q, size_t n) { return exact_peak_of(q, n); }               \
    static void add(int64_t *sums, size_t width, const uint32_t *at, size_t n, const int32_t *q) { \
        exact_add_of(sums, width, at, n, q);                                                       \
    }                                                                                              \
    static void add_small(int32_t *sums, size_t width, const uint32_t *at, size_t n,               \
                          const int32_t *q) {                                                      \
        exact_add_small_of(sums, width, at, n, q);                                                 \
    }                                                                                              \
    static void move(int64_t *sums, int32_t *from, size_t n) { exact_move_of(sums, from, n); }     \
    const struct exact_kernels kernel_##set##_exact = {normal, solve, residuals, outer, to_grid,   \
                                                       peak,   add,   add_small, move}

#endif
