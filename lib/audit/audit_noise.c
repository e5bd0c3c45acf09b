/*
 * Checks noise against the Gaussian that is listed. Fed by audit_run.c with the noise itself, what
 * was published less the exact sums; feeds the report of audit.c.
 *
 * Levels. Every check below has a bound on how often it is wrong about honest noise, for every n.
 * Each may be wrong with e^-x, and x is such that all of them, in all rounds, are wrong with
 * AUDIT_NOISE_LEVEL at most. With z_i independent N(0, 1):
 *   squares   sum z^2 > n + 2 sqrt(n x) + 2x, and sum z^2 < n - 2 sqrt(n x)
 *             (Laurent and Massart 2000, lemma 1)
 *   shape     |F_n - F| > sqrt((x + ln 2) / (2n)) at any edge
 *             (Dvoretzky, Kiefer, Wolfowitz; Massart 1990)
 *   zeros     P(N >= k) <= e^-l (e l / k)^k for k above the mean l (Chernoff)
 *   echoes    |sum z z'| > sqrt(2 n x) + x, since
 *             ln E exp(t z z') = -ln(1 - t^2) / 2 <= t^2 / (2 (1 - t)) (Bernstein); neighbours are
 *             taken in pairs that share no number, so that their products are independent
 * The noise is a rounded Gaussian: |z - value / sigma| <= 1 / (2 sigma). So sqrt(sum z^2) is off by
 * at most sqrt(n) / (2 sigma), and F by 0.4 / (2 sigma); both are allowed for.
 */
#include "audit/audit_noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Three one-sided and two-sided checks a round, and three echoes. */
static double log_level(void) { return log((6 * STATEMENT_RELEASES_MAX + 8) / AUDIT_NOISE_LEVEL); }

static double edge(size_t e) { return -4 + 0.25 * (double)e; }

/* ---- counting -------------------------------------------------------------------------------- */

static void listen(struct audit_echo *echo, const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++) echo->product += a[i] * b[i];
    echo->numbers += (double)n;
}

static void count_round(struct audit_noise_round *round, const double *z, size_t n, double sigma) {
    double counts[AUDIT_NOISE_EDGES + 1] = {0};
    for (size_t i = 0; i < n; i++) {
        round->energy += z[i] * z[i];
        round->zeros += z[i] == 0;
        double place = ceil((z[i] + 4) * 4); /* the first edge that is not below z */
        if (place < 0) place = 0;
        if (!(place < AUDIT_NOISE_EDGES)) place = AUDIT_NOISE_EDGES;
        counts[(size_t)place]++;
    }
    double below = 0;
    for (size_t e = 0; e < AUDIT_NOISE_EDGES; e++) round->below[e] += below += counts[e];
    round->numbers += (double)n;
    round->granularity = fmax(round->granularity, 1 / sigma);
    round->zeros_expected += (double)n * erf(0.5 / sigma / sqrt(2));
}

bool audit_noise_add(struct audit_noise *noise, size_t t, const int64_t *values, size_t n,
                     double sigma) {
    double *z = memory_alloc(n, sizeof *z);
    if (!z || !memory_reserve(&noise->before, &noise->before_room, n, sizeof *z) ||
        !memory_reserve(&noise->first, &noise->first_room, n, sizeof *z)) {
        free(z);
        return false;
    }
    for (size_t i = 0; i < n; i++) z[i] = (double)values[i] / sigma;
    count_round(&noise->rounds[t], z, n, sigma);
    /* Streams of noise are named by round and coordinate, so repeated noise stands at the same
     * coordinate. */
    if (t == 0)
        listen(&noise->runs_echo, z, noise->first, n < noise->n_first ? n : noise->n_first);
    else
        listen(&noise->rounds_echo, z, noise->before, n < noise->n_before ? n : noise->n_before);
    for (size_t i = 0; i + 1 < n; i += 2) noise->neighbours_echo.product += z[i] * z[i + 1];
    noise->neighbours_echo.numbers += (double)(n / 2);
    memcpy(noise->before, z, n * sizeof *z);
    noise->n_before = n;
    if (t == 0) memcpy(noise->first, z, n * sizeof *z);
    if (t == 0) noise->n_first = n;
    free(z);
    return true;
}

static void merge_echo(struct audit_echo *sum, const struct audit_echo *part) {
    sum->product += part->product;
    sum->numbers += part->numbers;
}

void audit_noise_merge(struct audit_noise *sum, const struct audit_noise *part) {
    for (size_t t = 0; t < STATEMENT_RELEASES_MAX; t++) {
        struct audit_noise_round *to = &sum->rounds[t];
        const struct audit_noise_round *from = &part->rounds[t];
        to->numbers += from->numbers;
        to->energy += from->energy;
        to->granularity = fmax(to->granularity, from->granularity);
        to->zeros += from->zeros;
        to->zeros_expected += from->zeros_expected;
        for (size_t e = 0; e < AUDIT_NOISE_EDGES; e++) to->below[e] += from->below[e];
    }
    merge_echo(&sum->rounds_echo, &part->rounds_echo);
    merge_echo(&sum->runs_echo, &part->runs_echo);
    merge_echo(&sum->neighbours_echo, &part->neighbours_echo);
}

void audit_noise_free(struct audit_noise *noise) {
    free(noise->before);
    free(noise->first);
    noise->before = noise->first = NULL;
}

void audit_noise_size(const struct audit_noise *noise, double *numbers, double *deviation) {
    double energy = 0;
    *numbers = 0;
    for (size_t t = 0; t < STATEMENT_RELEASES_MAX; t++) {
        *numbers += noise->rounds[t].numbers;
        energy += noise->rounds[t].energy;
    }
    *deviation = *numbers > 0 ? sqrt(energy / *numbers) : NAN;
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool is_too_small(const struct audit_noise_round *round, double x) {
    const double n = round->numbers, least = n - 2 * sqrt(n * x);
    return least > 0 && sqrt(round->energy) < sqrt(least) - sqrt(n) * round->granularity / 2;
}

static bool is_too_large(const struct audit_noise_round *round, double x) {
    const double n = round->numbers;
    return sqrt(round->energy) >
           sqrt(n + 2 * sqrt(n * x) + 2 * x) + sqrt(n) * round->granularity / 2;
}

static bool has_zeros(const struct audit_noise_round *round, double x) {
    const double k = round->zeros, mean = round->zeros_expected;
    return k > mean && k - mean + k * log(mean / k) < -x;
}

static bool is_misshapen(const struct audit_noise_round *round, double x) {
    const double n = round->numbers;
    const double most = sqrt((x + log(2)) / (2 * n)) + 0.2 * round->granularity;
    for (size_t e = 0; e < AUDIT_NOISE_EDGES; e++)
        if (fabs(round->below[e] / n - erfc(-edge(e) / sqrt(2)) / 2) > most) return true;
    return false;
}

static bool repeats(const struct audit_echo *echo, double x) {
    return fabs(echo->product) > sqrt(2 * echo->numbers * x) + x;
}

bool audit_noise_is_wrong(const struct audit_noise *noise, char *reason, size_t size) {
    const double x = log_level();
    for (size_t t = 0; t < STATEMENT_RELEASES_MAX; t++) {
        const struct audit_noise_round *round = &noise->rounds[t];
        if (!(round->numbers > 0)) continue;
        const bool small = is_too_small(round, x), large = is_too_large(round, x);
        const double deviation = sqrt(round->energy / round->numbers);
        if (has_zeros(round, x))
            snprintf(reason, size, "%.0f of %.0f numbers of round %zu have no noise", round->zeros,
                     round->numbers, t + 1);
        else if (small || large)
            snprintf(reason, size,
                     "the noise of round %zu has %s%.4f of the standard deviation listed", t + 1,
                     small ? "only " : "", deviation);
        else if (is_misshapen(round, x))
            snprintf(reason, size, "the noise of round %zu is not Gaussian", t + 1);
        else
            continue;
        return true;
    }
    const char *where = repeats(&noise->rounds_echo, x) ? "round resembles that of the round before"
                        : repeats(&noise->runs_echo, x) ? "run resembles that of the run before"
                        : repeats(&noise->neighbours_echo, x) ? "number resembles that of the next"
                                                              : NULL;
    if (where) snprintf(reason, size, "noise is used again: the noise of a %s", where);
    return where != NULL;
}
