/*
 * Split R-hat and effective sample size of rank-normalised draws; mixing.h says whose, and what
 * for.
 */
#include "chains/mixing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct ranked {
    double value;
    size_t at;
};

/* The halves of all chains, one after the other: m of n draws each. */
struct halves {
    size_t m, n;
    double *z;               /* m x n */
    double *mean, *variance; /* m each; the variance with n - 1 */
    struct ranked *ranked;   /* m x n */
};

/* ---- ranks to Gaussian quantiles ------------------------------------------------------------- */

/* z with Phi(z) = p, for 0 < p <= 1/2, near `z`. log Phi is concave, so that from the second step
 * on Newton's method comes from the left and never leaves it. */
static double quantile_near(double p, double z) {
    const double root_2 = 1.4142135623730951, root_2_pi = 2.5066282746310002;
    for (int step = 0; step < 60; step++) {
        double area = 0.5 * erfc(-z / root_2);
        double change = area / (exp(-0.5 * z * z) / root_2_pi) * log(p / area);
        z += change;
        if (fabs(change) < 1e-10) break;
    }
    return z;
}

static int compare_ranked(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Replaces all draws by the quantiles of their ranks; equal draws share the mean of theirs. */
static void normalise_ranks(struct halves *halves) {
    size_t total = halves->m * halves->n;
    double z = -1;
    for (size_t i = 0; i < total; i++) halves->ranked[i] = (struct ranked){halves->z[i], i};
    qsort(halves->ranked, total, sizeof *halves->ranked, compare_ranked);
    for (size_t i = 0; i < total;) {
        size_t end = i + 1;
        while (end < total && halves->ranked[end].value == halves->ranked[i].value) end++;
        double rank = 0.5 * (double)(i + 1 + end);
        double p = (rank - 0.375) / ((double)total + 0.25);
        z = p <= 0.5 ? quantile_near(p, fmin(z, 0)) : -quantile_near(1 - p, -fabs(z));
        for (; i < end; i++) halves->z[halves->ranked[i].at] = z;
    }
}

/* How far each draw is from the median of all: chains of one place and different spread differ in
 * it. */
static void fold(struct halves *halves) {
    size_t total = halves->m * halves->n;
    for (size_t i = 0; i < total; i++) halves->ranked[i] = (struct ranked){halves->z[i], i};
    qsort(halves->ranked, total, sizeof *halves->ranked, compare_ranked);
    double low = halves->ranked[(total - 1) / 2].value, high = halves->ranked[total / 2].value;
    double median = low + 0.5 * (high - low);
    for (size_t i = 0; i < total; i++) halves->z[i] = fabs(halves->z[i] - median);
}

/* ---- variances within and between ------------------------------------------------------------ */

struct variances {
    double within; /* mean of the halves' variances */
    double all;    /* an estimate of the distribution's: too large until the halves agree */
};

static struct variances take_variances(struct halves *halves) {
    struct variances variances = {0};
    double m = (double)halves->m, n = (double)halves->n, mean = 0, between = 0;
    for (size_t c = 0; c < halves->m; c++) {
        const double *z = halves->z + c * halves->n;
        double sum = 0, squares = 0;
        for (size_t i = 0; i < halves->n; i++) sum += z[i] - z[0]; /* nothing, for what is stuck */
        halves->mean[c] = z[0] + sum / n;
        for (size_t i = 0; i < halves->n; i++)
            squares += (z[i] - halves->mean[c]) * (z[i] - halves->mean[c]);
        halves->variance[c] = squares / (n - 1);
        variances.within += halves->variance[c] / m;
        mean += halves->mean[c] / m;
    }
    for (size_t c = 0; c < halves->m; c++)
        between += (halves->mean[c] - mean) * (halves->mean[c] - mean) / (m - 1);
    variances.all = variances.within * (n - 1) / n + between;
    return variances;
}

static double rhat_of(struct halves *halves) {
    struct variances variances = take_variances(halves);
    if (variances.within > 0) return sqrt(variances.all / variances.within);
    return variances.all > 0 ? INFINITY : 1;
}

/* ---- autocorrelations ------------------------------------------------------------------------ */

/* The mean over halves of the autocovariance at a lag. */
static double autocovariance(const struct halves *halves, size_t lag) {
    double sum = 0;
    for (size_t c = 0; c < halves->m; c++) {
        const double *z = halves->z + c * halves->n;
        double mean = halves->mean[c];
        for (size_t i = lag; i < halves->n; i++) sum += (z[i] - mean) * (z[i - lag] - mean);
    }
    return sum / (double)halves->n / (double)halves->m;
}

/* Geyer: sums of two neighbouring autocorrelations of a reversible chain are positive and fall;
 * what does not is noise. Half of the lags are enough to tell that a chain is worth next to
 * nothing. */
static double ess_of(struct halves *halves) {
    struct variances variances = take_variances(halves);
    double total = (double)halves->m * (double)halves->n, sum = 0, previous = INFINITY;
    if (!(variances.all > 0)) return 0;
    for (size_t lag = 0; lag + 1 < halves->n && 2 * lag <= halves->n; lag += 2) {
        double even =
            lag == 0 ? 1 : 1 - (variances.within - autocovariance(halves, lag)) / variances.all;
        double odd = 1 - (variances.within - autocovariance(halves, lag + 1)) / variances.all;
        double pair = fmin(even + odd, previous);
        if (!(pair > 0)) break;
        sum += pair;
        previous = pair;
    }
    /* Draws that repel each other may be worth more than independent ones, but not without
     * bound. */
    double time = fmax(2 * sum - 1, 1 / log10(total));
    return total / time;
}

/* ---- the judgement --------------------------------------------------------------------------- */

/* The second half ends with the last draw, the first begins with the first: of an odd number the
 * one in the middle is left out. */
static void cut(const double *const *chain, size_t n_chains, size_t n, struct halves *halves) {
    for (size_t c = 0; c < n_chains; c++) {
        double *first = halves->z + 2 * c * halves->n;
        memcpy(first, chain[c], halves->n * sizeof *first);
        memcpy(first + halves->n, chain[c] + n - halves->n, halves->n * sizeof *first);
    }
}

static bool look_over(const double *const *chain, size_t n_chains, size_t n, bool *is_constant) {
    *is_constant = true;
    for (size_t c = 0; c < n_chains; c++)
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(chain[c][i])) return false;
            if (chain[c][i] != chain[0][0]) *is_constant = false;
        }
    return true;
}

int mixing_judge(const double *const *chain, size_t n_chains, size_t n, struct mixing *mixing,
                 struct dpmf_error *error) {
    struct halves halves = {.m = 2 * n_chains, .n = n / 2};
    size_t total = halves.m * halves.n;
    bool is_constant = false;
    int code = 0;
    *mixing = (struct mixing){.rhat = INFINITY};
    if (n_chains == 0 || n < MIXING_DRAWS_MIN || !look_over(chain, n_chains, n, &is_constant))
        return 0;
    if (is_constant) {
        *mixing = (struct mixing){.rhat = 1, .is_constant = true};
        return 0;
    }
    halves.z = memory_alloc(total, sizeof *halves.z);
    halves.mean = memory_alloc(halves.m, sizeof *halves.mean);
    halves.variance = memory_alloc(halves.m, sizeof *halves.variance);
    halves.ranked = memory_alloc(total, sizeof *halves.ranked);
    if (!halves.z || !halves.mean || !halves.variance || !halves.ranked) {
        code = error_no_memory(error);
        goto out;
    }
    cut(chain, n_chains, n, &halves);
    normalise_ranks(&halves);
    mixing->rhat = rhat_of(&halves);
    mixing->ess = ess_of(&halves);
    cut(chain, n_chains, n, &halves);
    fold(&halves);
    normalise_ranks(&halves);
    mixing->rhat = fmax(mixing->rhat, rhat_of(&halves));
out:
    free(halves.z);
    free(halves.mean);
    free(halves.variance);
    free(halves.ranked);
    return code;
}
