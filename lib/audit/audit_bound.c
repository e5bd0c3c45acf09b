/*
 * The statistics of the audit: what guesses about canaries prove, for any mechanism. Fed by
 * audit.c.
 *
 * Setting. Of every canary a fair coin decides whether it is in. The auditor sees everything but
 * the coins and the noise, guesses coins, and ranks its guesses by how sure it is. W is the number
 * of right ones among the r surest; r is fixed beforehand, at some fractions of all guesses, and
 * the level is divided among these (Bonferroni). No distribution is simulated: the bounds are tails
 * of binomials.
 *
 * Theorem 1 (mu, a canary a run). If each of n runs is mu-GDP given those before it, then for every
 * t
 *     P(W >= v) <= P(Bin(n, g(t)) > r) + P(Bin(r, p(t)) >= v),
 * where x ~ N(mu/2, 1), g(t) = P(|x| > t), p(t) = P(x > t) / P(|x| > t).
 * Proof.
 * 1. A mechanism is mu-GDP if and only if its two output laws can be made from N(+mu/2, 1) and
 *    N(-mu/2, 1) by one randomised map (Blackwell; Dong, Roth and Su 2022, theorem 2.10 and its
 *    remark). So whatever the auditor does is what someone could do who is shown x_1 .. x_n, of
 *    these laws, and nothing else.
 * 2. Given the x_i the coins are independent, and the sign of x_i is right with 1 / (1 + exp(-mu
 *    |x_i|)) >= 1/2. To guess against a sign, or to prefer a smaller |x_i| to a larger one, makes W
 *    stochastically smaller: exchange the two. So W is largest for the r largest |x_i|, guessed by
 *    their signs.
 * 3. Let T be the (r + 1)-th largest |x_i|. Given T, the r above it are independent draws from |x|
 *    > T, each right with p(T), which grows with T. If T <= t, W is at most a Bin(r, p(t)); and T >
 *    t means that more than r of n exceed t. qed With r = n take t = 0: P(Bin(n, Phi(mu/2)) >= v).
 *    A mechanism that is mu-GDP is so for every larger mu: what is excluded is a half line. To say
 *    "mu is at least X" is to say that no smaller mu describes the mechanism; it does not say what
 *    epsilon is at some delta, since a mechanism that is not Gaussian may have a small epsilon and
 *    a large mu (randomised response of epsilon 0.5 has mu 0.62).
 *
 * Theorem 2 (epsilon, many canaries a run). Let each of R runs have m canaries, and be (epsilon,
 * delta)-private for each of them, given all other coins and the runs before; of a run's coins
 * later runs know what it published, and nothing else. With p = e^epsilon / (1 + e^epsilon), for
 * every whole s > 0,
 *     P(W >= v) <= P(Bin(r, p) > v - s) + P(S >= s),    P(S >= s) <= min(R m delta / s, e^(-R
 *     delta) (e R delta m / s)^(s / m)),
 * the second where s / m > R delta. (Steinke, Nasr and Jagielski 2023 have it for one run, with the
 * first, Markov's.) Proof.
 * 1. Guesses and ranks are functions of what all runs published, Y. Go through the coins one by
 *    one. Given Y and the coins before it, let P and Q be the densities of the run's output with
 *    this coin 1 and 0, the later coins being random: mixtures, so (epsilon, delta) holds for them.
 *    A guess "1" is right with P / (P + Q) = p + (P - e^epsilon Q) / ((1 + e^epsilon) (P + Q)), a
 *    guess "0" likewise. So with x = (max(P - e^epsilon Q, 0) + max(Q - e^epsilon P, 0)) / ((1 +
 *    e^epsilon) (P + Q)) any guess is right with at most p + x, and the mean of x, over outputs of
 *    density (P + Q) / 2, is at most 2 delta / (2 (1 + e^epsilon)) = delta (1 - p).
 * 2. So whether it is right is at most G + B, where G ~ Bin(1, p) is independent of all before, and
 *    B is 1 with probability x / (1 - p), whose mean is at most delta. (1 - (1 - p)(1 - x / (1 -
 *    p)) = p + x.)
 * 3. The G of the r guesses that are counted make a Bin(r, p). S, all B's sum, has mean at most R m
 *    delta (Markov). A run's part of it, B_r, is in [0, m] with mean at most m delta given the runs
 *    before, so E exp(l B_r / m) <= 1 + delta (e^l - 1) by convexity: S / m has Chernoff's bound
 *    for a Poisson variable of mean R delta. W >= v means that S >= s or that the G's exceed v - s.
 *    qed
 * Here, too, what is excluded is a half line, and nothing is assumed about the mechanism.
 */
#include "audit/audit_bound.h"

#include <math.h>
#include <stdlib.h>

static const double slack = 1 + 1e-6; /* for the rounding of what follows */
static const double mu_max = 30, epsilon_max = 30;
static const size_t shares[AUDIT_FRACTIONS] = {1, 2, 8, 64}; /* one in so many is counted */

/* ---- counting -------------------------------------------------------------------------------- */

/* The surest first. Not a number is no confidence at all. */
static int compare_guesses(const void *a, const void *b) {
    double x = ((const struct audit_guess *)a)->confidence;
    double y = ((const struct audit_guess *)b)->confidence;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x < y) - (x > y);
}

struct audit_count audit_count_make(struct audit_guess *guesses, size_t n) {
    struct audit_count count = {.n = n};
    if (n > 0) qsort(guesses, n, sizeof *guesses, compare_guesses);
    for (int f = 0; f < AUDIT_FRACTIONS; f++) {
        count.surest[f] = (n + shares[f] - 1) / shares[f];
        for (size_t i = 0; i < count.surest[f]; i++) count.right[f] += guesses[i].is_right;
    }
    return count;
}

/* ---- tails ----------------------------------------------------------------------------------- */

/* Terms from k on, each from the one before; they fall when k is above the mean. Below it the other
 * tail is added up. */
double audit_binomial_tail(size_t n, double p, double k) {
    const double size = (double)n;
    int sign;
    k = ceil(k);
    if (!(k > 0) || !(p < 1)) return 1;
    if (k > size || !(p > 0)) return 0;
    const bool is_upper = k >= size * p;
    double i = is_upper ? k : k - 1;
    double term = exp(lgamma_r(size + 1, &sign) - lgamma_r(i + 1, &sign) -
                      lgamma_r(size - i + 1, &sign) + i * log(p) + (size - i) * log1p(-p));
    double sum = 0;
    while (term > sum * 1e-17 && i >= 0 && i <= size) {
        sum += term;
        term *=
            is_upper ? (size - i) / (i + 1) * (p / (1 - p)) : i / (size - i + 1) * ((1 - p) / p);
        i += is_upper ? 1 : -1;
    }
    return is_upper ? fmin(1, sum * slack) : fmin(1, fmax(0, 1 - sum / slack) + 1e-15);
}

static double normal_tail(double x) { return erfc(x / sqrt(2)) / 2; }

/* Theorem 1 at its best t, among some. */
static double tail_of_mu(size_t n, size_t r, size_t right, double mu) {
    enum { STEPS = 256 };
    double best = 1;
    if (r == n) return audit_binomial_tail(n, normal_tail(-mu / 2), (double)right);
    for (int i = 0; i <= STEPS; i++) {
        const double t = (mu / 2 + 5) * i / STEPS;
        const double above = normal_tail(t - mu / 2), below = normal_tail(t + mu / 2);
        const double p = above / (above + below) * slack;
        best = fmin(best, audit_binomial_tail(n, above + below, (double)r + 1) +
                              audit_binomial_tail(r, p, (double)right));
    }
    return best;
}

/* The tail of S. */
static double tail_of_broken(double runs, double canaries, double delta, double s) {
    const double mean = runs * delta, k = s / canaries;
    const double chernoff = k > mean ? exp(k - mean + k * log(mean / k)) : 1;
    return fmin(1, fmin(mean / k, chernoff)) * slack;
}

/* Theorem 2 at its best s, among some. */
static double tail_of_epsilon(const struct audit_count *count, int f, double runs, double canaries,
                              double epsilon, double delta) {
    const double p = 1 / (1 + exp(-epsilon)), right = (double)count->right[f];
    double best = 1;
    if (!(delta > 0)) return audit_binomial_tail(count->surest[f], p, right);
    for (double s = 1; s <= right; s = fmax(s + 1, ceil(s * 1.1)))
        best = fmin(best, audit_binomial_tail(count->surest[f], p, right - s + 1) +
                              tail_of_broken(runs, canaries, delta, s));
    return best;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

bool audit_bound_excludes_mu(const struct audit_count *count, double mu, double level) {
    if (count->n == 0 || !(mu >= 0) || !(mu <= mu_max)) return false;
    for (int f = 0; f < AUDIT_FRACTIONS; f++)
        if (tail_of_mu(count->n, count->surest[f], count->right[f], mu) <= level / AUDIT_FRACTIONS)
            return true;
    return false;
}

bool audit_bound_excludes_epsilon(const struct audit_count *count, size_t runs, size_t canaries,
                                  double epsilon, double delta, double level) {
    if (count->n == 0 || !(epsilon >= 0) || !(epsilon <= epsilon_max)) return false;
    for (int f = 0; f < AUDIT_FRACTIONS; f++)
        if (tail_of_epsilon(count, f, (double)runs, (double)canaries, epsilon, delta) <=
            level / AUDIT_FRACTIONS)
            return true;
    return false;
}

double audit_bound_mu(const struct audit_count *count, double level) {
    double low = 0, high = mu_max;
    if (!audit_bound_excludes_mu(count, 0, level)) return 0;
    while (high - low > 0.0005 + 0.001 * low) {
        double middle = (low + high) / 2;
        if (audit_bound_excludes_mu(count, middle, level))
            low = middle;
        else
            high = middle;
    }
    return low;
}

double audit_bound_epsilon(const struct audit_count *count, size_t runs, size_t canaries,
                           double delta, double level) {
    double low = 0, high = epsilon_max;
    if (!audit_bound_excludes_epsilon(count, runs, canaries, 0, delta, level)) return 0;
    while (high - low > 0.0005 + 0.001 * low) {
        double middle = (low + high) / 2;
        if (audit_bound_excludes_epsilon(count, runs, canaries, middle, delta, level))
            low = middle;
        else
            high = middle;
    }
    return low;
}
