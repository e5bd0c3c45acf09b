/*
 * The choice model of taste.h: the covariance of the items' vectors by blocks, once a model, and a
 * person's own direction from it. Fed by model_open.c; feeds score.c and explain.c.
 */
#include "recommend/taste.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/exact_arithmetic.h"
#include "numerics/symmetric_eigen.h"

enum { BLOCK_MOST = TASTE_BLOCK_MOST };

static const double weight_most = 1, weight_least = -0.5, weight_shift = 0.5;

/* A variance below this share of the mean's square is the rounding of sums: the vectors are all the
 * same. */
static const double rounding = 1e-16;

/* Columns of block b. */
static size_t width_of(const struct taste_space *space, size_t b) {
    const size_t left = space->k - b * space->width;
    return left < space->width ? left : space->width;
}

static const float *row_of(const struct factors *factors, uint64_t item) {
    return factors->items.rows + item * factors->items.stride;
}

/* ---- the items ------------------------------------------------------------------------------- */

static double share_of(const struct factors *factors, uint64_t item, double total) {
    return factors->item_ids.counts ? (double)factors->item_ids.counts[item] / total : 1 / total;
}

static double total_of(const struct factors *factors) {
    double total = 0;
    if (!factors->item_ids.counts) return (double)factors->items.n;
    for (uint64_t i = 0; i < factors->items.n; i++) total += (double)factors->item_ids.counts[i];
    return total;
}

static void find_mean(struct taste_space *space, const struct factors *factors, double total) {
    for (uint64_t i = 0; i < factors->items.n; i++) {
        const double share = share_of(factors, i, total);
        const float *v = row_of(factors, i);
        for (size_t c = 0; c < space->k; c++) space->mean[c] += share * (double)v[c];
    }
}

/* C of a block, whole, into `matrix`, which is 0. */
static void sum_block(const struct taste_space *space, const struct factors *factors, double total,
                      size_t b, double *matrix) {
    const size_t first = b * space->width, n = width_of(space, b);
    double x[BLOCK_MOST];
    for (uint64_t i = 0; i < factors->items.n; i++) {
        const double share = share_of(factors, i, total);
        const float *v = row_of(factors, i) + first;
        for (size_t c = 0; c < n; c++) x[c] = (double)v[c] - space->mean[first + c];
        for (size_t r = 0; r < n; r++) {
            const double y = share * x[r];
            for (size_t c = 0; c <= r; c++) matrix[r * n + c] += y * x[c];
        }
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < r; c++) matrix[c * n + r] = matrix[r * n + c];
}

static int decompose(struct taste_space *space, const struct factors *factors, double total,
                     struct dpmf_error *error) {
    const size_t cells = space->width * space->width;
    double *matrix = memory_alloc(cells, sizeof *matrix);
    if (!matrix) return error_no_memory(error);
    for (size_t b = 0; b < space->n_blocks; b++) {
        const size_t first = b * space->width, n = width_of(space, b);
        double *values = space->values + first, trace = 0, square = 0;
        for (size_t i = 0; i < cells; i++) matrix[i] = 0;
        sum_block(space, factors, total, b, matrix);
        for (size_t c = 0; c < n; c++) {
            trace += matrix[c * n + c];
            square += space->mean[first + c] * space->mean[first + c];
        }
        symmetric_eigen(matrix, n, values, space->vectors + b * cells);
        for (size_t c = 0; c < n; c++) values[c] = values[c] > 0 ? values[c] : 0;
        space->penalties[b] = trace > rounding * square && isfinite(trace) ? trace / 2 : 0;
    }
    free(matrix);
    return 0;
}

int taste_space_init(struct taste_space *space, const struct factors *factors, size_t block,
                     struct dpmf_error *error) {
    const size_t k = factors->k;
    *space = (struct taste_space){.k = k, .min = factors->min};
    space->unit = factors_unit(factors->min, factors->max);
    if (k == 0 || factors->items.n == 0) return 0;
    space->width = block > 0 && block < BLOCK_MOST ? block : BLOCK_MOST;
    if (space->width > k) space->width = k;
    space->n_blocks = (k + space->width - 1) / space->width;
    space->mean = memory_alloc_zero(k, sizeof(double));
    space->values = memory_alloc_zero(k, sizeof(double));
    space->vectors =
        memory_alloc_zero(space->n_blocks * space->width, space->width * sizeof(double));
    space->penalties = memory_alloc_zero(space->n_blocks, sizeof(double));
    if (!space->mean || !space->values || !space->vectors || !space->penalties)
        return error_no_memory(error);
    const double total = total_of(factors);
    find_mean(space, factors, total);
    return decompose(space, factors, total, error);
}

void taste_space_free(struct taste_space *space) {
    free(space->mean);
    free(space->values);
    free(space->vectors);
    free(space->penalties);
    *space = (struct taste_space){0};
}

/* ---- a person -------------------------------------------------------------------------------- */

double taste_weight(const struct taste_space *space, double rating) {
    if (!(space->unit > 0)) return weight_most;
    const double weight = (rating - space->min) / space->unit - weight_shift;
    return fmin(fmax(weight, weight_least), weight_most);
}

static double total_weight(const struct taste_space *space, const struct dpmf_own_rating *ratings,
                           size_t n) {
    double total = 0;
    for (size_t h = 0; h < n; h++) total += fabs(taste_weight(space, ratings[h].rating));
    return total;
}

/* x := (W C + penalty I)^-1 x, averaged over the blocks, in its place. */
static void solve(const struct taste_space *space, double W, double *x) {
    double y[BLOCK_MOST];
    for (size_t b = 0; b < space->n_blocks; b++) {
        const size_t n = width_of(space, b), first = b * space->width;
        const double *vectors = space->vectors + b * space->width * space->width;
        for (size_t r = 0; r < n; r++) {
            double sum = 0;
            for (size_t c = 0; c < n; c++) sum += vectors[r * n + c] * x[first + c];
            const double scale = W * space->values[first + r] + space->penalties[b];
            y[r] = space->penalties[b] > 0 ? sum / scale / (double)space->n_blocks : 0;
        }
        for (size_t c = 0; c < n; c++) x[first + c] = 0;
        for (size_t r = 0; r < n; r++)
            for (size_t c = 0; c < n; c++) x[first + c] += y[r] * vectors[r * n + c];
    }
}

void taste_fit(const struct taste_space *space, const struct factors *factors,
               const struct dpmf_own_rating *ratings, size_t n, double *p) {
    for (size_t c = 0; c < space->k; c++) p[c] = 0;
    if (space->n_blocks == 0) return;
    for (size_t h = 0; h < n; h++) {
        const double weight = taste_weight(space, ratings[h].rating);
        const float *v = row_of(factors, ratings[h].item);
        for (size_t c = 0; c < space->k; c++) p[c] += weight * ((double)v[c] - space->mean[c]);
    }
    solve(space, total_weight(space, ratings, n), p);
}

void taste_share(const struct taste_space *space, const struct factors *factors,
                 const struct dpmf_own_rating *ratings, size_t n, double *x, double *shares) {
    if (space->n_blocks > 0) solve(space, total_weight(space, ratings, n), x);
    for (size_t h = 0; h < n; h++) {
        const float *v = row_of(factors, ratings[h].item);
        double sum = 0;
        for (size_t c = 0; space->n_blocks > 0 && c < space->k; c++)
            sum += x[c] * ((double)v[c] - space->mean[c]);
        shares[h] = taste_weight(space, ratings[h].rating) * sum;
    }
}
