/*
 * Sums that forget nothing and a factor that follows them, as normal_equations.h says. Fed by
 * ridge.c and user_rate.c with rows of a model's items; the solution is a user's bias and vector.
 */
#include "recommend/normal_equations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/cholesky.h"

/* What is left of a direction when a row is taken away, squared, below which the factor is computed
 * again: its error grows by the inverse. */
static const double smallest_rest = 1e-4;

/* The largest relative change by refinement: its square is what error remains, so this is
 * plenty. A factor that needs more is computed again. */
static const double largest_correction = 1e-7;

int normal_equations_init(struct normal_equations *equations, size_t width,
                          struct dpmf_error *error) {
    size_t square, half = 0;
    *equations = (struct normal_equations){0};
    if (__builtin_mul_overflow(width, width, &square)) return error_no_memory(error);
    half = (square + width) / 2;
    equations->width = width;
    equations->sum = memory_alloc_zero(half, sizeof(double));
    equations->rest = memory_alloc_zero(half, sizeof(double));
    equations->right = memory_alloc_zero(width, sizeof(double));
    equations->right_rest = memory_alloc_zero(width, sizeof(double));
    equations->factor = memory_alloc_zero(square, sizeof(double));
    equations->space = memory_alloc_zero(2 * width, sizeof(double));
    return equations->sum && equations->rest && equations->right && equations->right_rest &&
                   equations->factor && equations->space
               ? 0
               : error_no_memory(error);
}

void normal_equations_free(struct normal_equations *equations) {
    free(equations->sum);
    free(equations->rest);
    free(equations->right);
    free(equations->right_rest);
    free(equations->factor);
    free(equations->space);
    *equations = (struct normal_equations){0};
}

/* ---- the sums -------------------------------------------------------------------------------- */

void normal_equations_clear(struct normal_equations *equations) {
    const size_t w = equations->width, half = (w * w + w) / 2;
    memset(equations->sum, 0, half * sizeof(double));
    memset(equations->rest, 0, half * sizeof(double));
    memset(equations->right, 0, w * sizeof(double));
    memset(equations->right_rest, 0, w * sizeof(double));
}

/* high + low += value. What the sum loses by rounding is known exactly (Knuth) and kept in
 * `low`. */
static void add(double *high, double *low, double value) {
    double sum = *high + value, part = sum - *high;
    *low += (*high - (sum - part)) + (value - part);
    *high = sum;
}

static void add_value(struct normal_equations *equations, const double *x, double y) {
    for (size_t a = 0; a < equations->width; a++)
        add(&equations->right[a], &equations->right_rest[a], y * x[a]);
}

void normal_equations_revalue(struct normal_equations *equations, const double *x, double from,
                              double to) {
    add_value(equations, x, -from);
    add_value(equations, x, to);
}

void normal_equations_add(struct normal_equations *equations, const double *x, double y, int sign) {
    double *sum = equations->sum, *rest = equations->rest;
    for (size_t a = 0; a < equations->width; a++)
        for (size_t b = 0; b <= a; b++) add(sum++, rest++, sign * x[a] * x[b]);
    add_value(equations, x, sign * y);
}

/* ---- the factor ------------------------------------------------------------------------------ */

int normal_equations_factor(struct normal_equations *equations, double penalty) {
    const double *sum = equations->sum, *rest = equations->rest;
    const size_t w = equations->width;
    for (size_t a = 0; a < w; a++) {
        for (size_t b = 0; b <= a; b++) equations->factor[a * w + b] = *sum++ + *rest++;
        equations->factor[a * w + a] += penalty;
    }
    equations->penalty = penalty;
    equations->n_factored++;
    return cholesky_factor(equations->factor, w);
}

/* L L^T + x x^T by Givens rotations, a column at a time; x is used up. */
static void rotate_in(double *L, size_t w, double *x) {
    for (size_t c = 0; c < w; c++) {
        double old = L[c * w + c], now = sqrt(old * old + x[c] * x[c]);
        double cosine = old / now, sine = x[c] / now;
        L[c * w + c] = now;
        for (size_t r = c + 1; r < w; r++) {
            double l = L[r * w + c];
            L[r * w + c] = cosine * l + sine * x[r];
            x[r] = cosine * x[r] - sine * l;
        }
    }
}

/* L L^T - x x^T. With L p = x, rotations that take (p, rest) to (0, 1) take (L, 0) to the factor
 * wanted; x is used up. @return false, nothing changed, when too little would be left */
static bool rotate_out(double *L, size_t w, double *x, double *p) {
    memcpy(p, x, w * sizeof p[0]);
    cholesky_solve_lower(L, w, p);
    double left = 1;
    for (size_t c = 0; c < w; c++) left -= p[c] * p[c];
    if (!(left >= smallest_rest)) return false;
    double height = sqrt(left);
    memset(x, 0, w * sizeof x[0]);
    for (size_t c = w; c-- > 0;) {
        double now = sqrt(height * height + p[c] * p[c]), cosine = height / now, sine = p[c] / now;
        height = now;
        for (size_t r = c; r < w; r++) {
            double l = L[r * w + c];
            L[r * w + c] = cosine * l - sine * x[r];
            x[r] = cosine * x[r] + sine * l;
        }
    }
    return true;
}

static bool is_sound(const struct normal_equations *equations) {
    const size_t w = equations->width;
    for (size_t c = 0; c < w; c++) {
        double d = equations->factor[c * w + c];
        if (!(d > 0) || !isfinite(d)) return false;
    }
    return true;
}

int normal_equations_follow(struct normal_equations *equations, const double *x, int sign) {
    const size_t w = equations->width;
    double *copy = equations->space;
    memcpy(copy, x, w * sizeof copy[0]);
    bool is_done = true;
    if (sign > 0)
        rotate_in(equations->factor, w, copy);
    else
        is_done = rotate_out(equations->factor, w, copy, equations->space + w);
    return is_done && is_sound(equations) ? 0
                                          : normal_equations_factor(equations, equations->penalty);
}

/* ---- the solution ---------------------------------------------------------------------------- */

/* r := right - (X^T X + c I) w. The low parts of the sums are beyond what this can see. */
static void find_error(const struct normal_equations *equations, const double *right,
                       const double *w, double *r) {
    const double *sum = equations->sum;
    for (size_t a = 0; a < equations->width; a++) {
        r[a] = right[a] - equations->penalty * w[a];
        for (size_t b = 0; b < a; b++) {
            r[a] -= sum[b] * w[b];
            r[b] -= sum[b] * w[a];
        }
        r[a] -= sum[a] * w[a];
        sum += a + 1;
    }
}

static double largest_of(const double *x, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= largest)) largest = fabs(x[i]);
    return largest;
}

double normal_equations_refine(const struct normal_equations *equations, const double *right,
                               double *w, double *space) {
    const size_t n = equations->width;
    memcpy(w, right, n * sizeof w[0]);
    cholesky_solve(equations->factor, n, w);
    find_error(equations, right, w, space);
    cholesky_solve(equations->factor, n, space);
    const double size = largest_of(w, n), correction = largest_of(space, n);
    for (size_t a = 0; a < n; a++) w[a] += space[a];
    return correction > 0 ? correction / size : 0;
}

int normal_equations_solve(struct normal_equations *equations, double *w) {
    const size_t n = equations->width;
    double *right = equations->space, *space = right + n;
    for (size_t a = 0; a < n; a++) right[a] = equations->right[a] + equations->right_rest[a];
    if (normal_equations_refine(equations, right, w, space) <= largest_correction) return 0;
    if (normal_equations_factor(equations, equations->penalty) < 0)
        return DPMF_ERR_BASE_NOT_DEFINITE;
    (void)normal_equations_refine(equations, right, w, space);
    return 0;
}
