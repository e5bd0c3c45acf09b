/*
 * With x_j what is left of item j, in the order of the catalogue,
 *
 *     x_j = g_1(j) + g_2(j) + own_j + noise_j,     cov(g_i(j), g_i(k)) = variance_i decay_i^|j - k|
 *
 * two first-order autoregressions, a near and a far one, beside what is each item's own. Their
 * variances are found from the products of different items, in which noise has no part on average;
 * then the posterior mean is computed exactly by a Kalman filter and its smoother, in time
 * proportional to the number of items. Used by shrink.c for item biases and vectors.
 */
#include "mechanisms/order_prior.h"

#include <assert.h>
#include <math.h>

#include "numerics/exact_arithmetic.h"

/* From one item to the next: half of what is near is left after one, of what is far after 14. */
static const double decay[ORDER_PARTS] = {0.5, 0.95};
/* Where nothing is common, the statistic below exceeds this in one column of twenty. */
static const double explained_by_chance = 6;
static const double order_most = 0.8; /* largest share of the variance that neighbours explain */

/* ---- how much neighbours have in common ------------------------------------------------------ */

/* The normal equations of both variances, for products w_j w_k x_j x_k of all pairs with weights
 * w = 1 / (noise + variance), of which each then has the variance w_j w_k. The sums over pairs are
 * sums over j with what came before, decayed. */
struct order_equations {
    double H11, H12, H22, h1, h2;
};

static struct order_equations find_equations(const struct order_column *column) {
    struct order_equations sum = {0};
    double near = 0, far = 0, near2 = 0, both = 0, far2 = 0;
    for (size_t j = 0; j < column->n_items; j++) {
        const double w = 1 / (column->noise[j] + column->variance), wx = w * column->left[j];
        sum.h1 += wx * near;
        sum.h2 += wx * far;
        sum.H11 += w * near2;
        sum.H12 += w * both;
        sum.H22 += w * far2;
        near = decay[0] * (near + wx);
        far = decay[1] * (far + wx);
        near2 = decay[0] * decay[0] * (near2 + w);
        both = decay[0] * decay[1] * (both + w);
        far2 = decay[1] * decay[1] * (far2 + w);
    }
    return sum;
}

/* Least squares, neither below 0. */
static void solve(const struct order_equations *sum, double variance[ORDER_PARTS]) {
    const double determinant = sum->H11 * sum->H22 - sum->H12 * sum->H12;
    variance[0] = (sum->H22 * sum->h1 - sum->H12 * sum->h2) / determinant;
    variance[1] = (sum->H11 * sum->h2 - sum->H12 * sum->h1) / determinant;
    if (!(variance[0] > 0)) {
        variance[0] = 0;
        variance[1] = fmax(sum->h2 / sum->H22, 0);
    } else if (!(variance[1] > 0)) {
        variance[0] = fmax(sum->h1 / sum->H11, 0);
        variance[1] = 0;
    }
}

void order_prior_fit(const struct order_column *column, double variance[ORDER_PARTS]) {
    variance[0] = variance[1] = 0;
    if (column->n_items < 3) return; /* no two different distances */
    const struct order_equations sum = find_equations(column);
    solve(&sum, variance);
    /* The squared length of the estimate in units of its own covariance, which is about chi
     * squared with two degrees of freedom where neighbours have nothing in common. */
    const double length2 = variance[0] * sum.h1 + variance[1] * sum.h2;
    double kept = length2 > explained_by_chance ? 1 - explained_by_chance / length2 : 0;
    const double all = variance[0] + variance[1];
    if (!isfinite(length2) || !isfinite(all)) { /* measurements beyond all size */
        variance[0] = variance[1] = 0;
        return;
    }
    if (kept * all > order_most * column->variance) kept = order_most * column->variance / all;
    for (int i = 0; i < ORDER_PARTS; i++) variance[i] *= kept;
}

double order_prior_rest(const struct order_column *column, const double variance[ORDER_PARTS]) {
    return column->variance - variance[0] - variance[1];
}

/* ---- what it is ------------------------------------------------------------------------------ */

/* What the filter keeps of an item: prediction, its covariance with each part, error and variance
 * of what was measured. */
enum { PREDICTED, WITH_NEAR, WITH_FAR, ERROR, SPREAD };

static void filter(const struct order_column *column, const double variance[ORDER_PARTS],
                   double *work) {
    const double rest = order_prior_rest(column, variance);
    double near = 0, far = 0, near2 = variance[0], both = 0, far2 = variance[1];
    for (size_t j = 0; j < column->n_items; j++) {
        double *kept = work + j * ORDER_WORK_WIDTH;
        const double with_near = near2 + both, with_far = both + far2;
        const double spread = with_near + with_far + column->noise[j] + rest;
        const double error = column->left[j] - near - far;
        kept[PREDICTED] = near + far;
        kept[WITH_NEAR] = with_near;
        kept[WITH_FAR] = with_far;
        kept[ERROR] = error;
        kept[SPREAD] = spread;
        near = decay[0] * (near + with_near / spread * error);
        far = decay[1] * (far + with_far / spread * error);
        near2 -= with_near * with_near / spread;
        both -= with_near * with_far / spread;
        far2 -= with_far * with_far / spread;
        near2 = variance[0] + decay[0] * decay[0] * (near2 - variance[0]);
        both *= decay[0] * decay[1];
        far2 = variance[1] + decay[1] * decay[1] * (far2 - variance[1]);
    }
}

/* Backwards, in the form that divides by no covariance of the state (Durbin and Koopman): those may
 * be singular. */
void order_prior_smooth(const struct order_column *column, const double variance[ORDER_PARTS],
                        double *work, double *common) {
    assert(order_prior_rest(column, variance) > 0);
    filter(column, variance, work);
    double near = 0, far = 0; /* what later items say, as weights of the state */
    for (size_t j = column->n_items; j-- > 0;) {
        const double *kept = work + j * ORDER_WORK_WIDTH;
        near *= decay[0];
        far *= decay[1];
        const double later = (kept[WITH_NEAR] * near + kept[WITH_FAR] * far) / kept[SPREAD];
        const double news = kept[ERROR] / kept[SPREAD] - later;
        near += news;
        far += news;
        common[j] = kept[PREDICTED] + kept[WITH_NEAR] * near + kept[WITH_FAR] * far;
    }
}
