/*
 * The statistics of the audit: a lower bound on mu from guesses, exact, for any mechanism. Fed by audit.c.
 *
 * Setting. In each of n runs a fair coin decides whether the canary is in. The auditor sees everything but the coin and
 * the noise, guesses the coin, and says how sure that is. Guesses are ranked by how sure they are; the statistic is
 * M, the sum of a(rank) over the wrong ones, a(j) = Phi^-1(1/2 + j / (2n + 2)) > 0, increasing. Few mistakes, and
 * those among the least sure, speak for a mechanism that tells much.
 *
 * Theorem. If every run is mu-GDP given those before it, then P(M <= c) <= P(M_mu <= c) for all c, where M_mu comes
 * from n independent x_i ~ N(+mu/2, 1) (in) or N(-mu/2, 1) (out), guessed by the sign of x_i and ranked by |x_i|.
 *
 * Proof.
 * 1. A mechanism is mu-GDP if and only if its two output laws can be made from N(+mu/2, 1) and N(-mu/2, 1) by one
 *    randomised map (Blackwell; Dong, Roth and Su 2022, theorem 2.10 and its remark). So what the auditor sees of all
 *    runs can be made from x_1 .. x_n and extra randomness: whatever the auditor does is what someone who is shown the
 *    x_i could do. Which canary a run has may depend on earlier runs, not on its coin: the map is then another one,
 *    and x_i is as before.
 * 2. Given the x_i the coins are independent, and sign(x_i) is right with p_i = 1 / (1 + exp(-mu |x_i|)) >= 1/2. To guess
 *    against the sign is right with 1 - p_i <= p_i: turning the guess makes M stochastically smaller.
 * 3. Let p_1 >= p_2 while run 1 has the lower rank, a < b. Exchange the two ranks. Both right, or both wrong: nothing
 *    changes. Run 1 right and run 2 wrong, probability p_1 (1 - p_2), cost b and now cost a; the other way round,
 *    probability p_2 (1 - p_1), no larger, cost a and now b. Given all other runs the sum has become
 *    stochastically smaller. Exchanges sort any ranking into that by |x_i|. So the best that can be done, for every
 *    c at once, is M_mu.
 * 4. M_mu is stochastically decreasing in mu (the same argument: mu-GDP is mu'-GDP for mu' > mu). So
 *    { mu : P(M_mu <= observed) > alpha } is a half line, and holds the true mu with probability 1 - alpha. qed
 *
 * That is the signed rank test of van der Waerden, of asymptotic efficiency 1 against the test of means that knows the
 * noise to be Gaussian: nothing is lost by not assuming it. Where the mechanism is the Gaussian one and the guess is
 * the sign of the log-likelihood ratio, the bound is sharp.
 *
 * P(M_mu <= c) is simulated, S times, from a stream of numbers of its own: with k simulations at most c the test rejects
 * when (1 + k) / (1 + S) <= alpha. The S + 1 values are exchangeable under the worst case, so that the level is exact for
 * every S (Barnard 1963). All mu use the same numbers: sorted uniforms u_j and coins v_j, |x_j| the u_j quantile of
 * |N(mu/2, 1)|, right when v_j < p_j. Both grow with mu for fixed u_j and v_j, so the answers are monotone in mu and
 * bisection finds the end of the half line. The quantile is taken from a table and rounded up, against the auditor.
 */
#include "privacy/audit_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/random.h"

enum { CELLS = 8192, PURPOSE = 0x617564 };

static const double x_max = 20, mu_max = 16;
static const double simulations_a_level = 5; /* S + 1 is so many times 1 / alpha */

/* ---- scores ----------------------------------------------------------------------------------- */

static double normal_cdf(double x) { return erfc(-x / sqrt(2)) / 2; }

/* For 1/2 <= p < 1; by halving, which is quick enough for what it is for. */
static double normal_quantile(double p) {
    double low = 0, high = 9;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (normal_cdf(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Not a number is no confidence at all. */
static int compare_guesses(const void *a, const void *b) {
    double x = ((const struct audit_guess *)a)->confidence;
    double y = ((const struct audit_guess *)b)->confidence;
    if (isnan(x) || isnan(y)) return isnan(y) - isnan(x);
    return (x > y) - (x < y);
}

int audit_bound_init(struct audit_bound *bound, struct audit_guess *guesses, size_t n,
                     double confidence, struct dpmf_error *error) {
    *bound = (struct audit_bound){.n = n, .alpha = 1 - confidence};
    bound->score = memory_alloc(n, sizeof *bound->score);
    bound->spacings = memory_alloc(n + 1, sizeof *bound->spacings);
    bound->below = memory_alloc(CELLS + 1, sizeof *bound->below);
    bound->right = memory_alloc(CELLS + 1, sizeof *bound->right);
    if (!bound->score || !bound->spacings || !bound->below || !bound->right)
        return error_no_memory(error);
    if (!(bound->alpha >= 1e-5)) bound->alpha = 1e-5;
    bound->simulations = (size_t)ceil(simulations_a_level / bound->alpha) - 1;
    if (n > 0) qsort(guesses, n, sizeof *guesses, compare_guesses);
    for (size_t j = 0; j < n; j++) {
        bound->score[j] = normal_quantile(0.5 + (double)(j + 1) / (2 * (double)n + 2));
        if (!guesses[j].is_right) bound->mistakes += bound->score[j];
    }
    return 0;
}

void audit_bound_free(struct audit_bound *bound) {
    free(bound->score);
    free(bound->spacings);
    free(bound->below);
    free(bound->right);
    *bound = (struct audit_bound){0};
}

/* ---- the worst case, simulated ---------------------------------------------------------------- */

/* below[k] = P(|N(mu/2, 1)| < x_k), right[k] = p at x_k, x_k = k x_max / CELLS. */
static void make_tables(struct audit_bound *bound, double mu) {
    for (size_t k = 0; k <= CELLS; k++) {
        double x = (double)k * x_max / CELLS;
        bound->below[k] = normal_cdf(x - mu / 2) - normal_cdf(-x - mu / 2);
        bound->right[k] = 1 / (1 + exp(-mu * x));
    }
}

/* 32 random bits are enough: 2^-32 is far below what S simulations can tell. */
static double draw(struct random_stream *random) {
    return ((double)random_u32(random) + 0.5) * 0x1p-32;
}

/* Sorted uniforms are partial sums of exponentials over their whole sum. */
static double simulate_mistakes(const struct audit_bound *bound, uint64_t number) {
    struct random_stream random;
    double whole = 0, sum = 0, mistakes = 0;
    random_stream_init(&random, 0, PURPOSE, number);
    for (size_t j = 0; j <= bound->n; j++) whole += bound->spacings[j] = -log(draw(&random));
    for (size_t j = 0, k = 0; j < bound->n; j++) {
        sum += bound->spacings[j];
        while (k < CELLS && bound->below[k] * whole < sum) k++;
        if (draw(&random) >= bound->right[k]) mistakes += bound->score[j];
    }
    return mistakes;
}

bool audit_bound_excludes(struct audit_bound *bound, double mu) {
    /* As many simulations as good as this, the observed one among them, still reject. */
    const double most = floor(bound->alpha * (double)(bound->simulations + 1) * (1 + 1e-12));
    size_t as_good = 1;
    if (bound->n == 0 || !(mu <= mu_max)) return false;
    make_tables(bound, mu);
    for (size_t s = 0; s < bound->simulations && (double)as_good <= most; s++)
        as_good += simulate_mistakes(bound, s) <= bound->mistakes;
    return (double)as_good <= most;
}

double audit_bound_mu(struct audit_bound *bound) {
    double low = 0, high = 0.25;
    if (!audit_bound_excludes(bound, 0)) return 0;
    while (high < mu_max && audit_bound_excludes(bound, high)) {
        low = high;
        high *= 2;
    }
    while (high - low > 0.002 + 0.02 * low) {
        double middle = (low + high) / 2;
        if (audit_bound_excludes(bound, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}
