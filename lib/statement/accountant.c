/*
 * Exact accounting of Gaussian mechanisms in double precision, with every rounding error turned
 * against us. Fed by the mechanisms, the ledger, the statement and `dpmf privacy`; feeds whatever
 * prints or checks an epsilon, a delta or a mu.
 *
 * The formula. With x = eps/mu - mu/2 and y = x + mu, e^eps phi(y) = phi(x), phi being the normal
 * density. So
 *
 *     delta = Phi(-x) - e^eps Phi(-y) = phi(x) (R(x) - R(y)),   R(t) = Phi(-t) / phi(t),
 *
 * R being Mills' ratio, and no power of e is ever large. At a fixed mu, delta falls as x grows: an
 * x that is too small errs on the safe side.
 *
 * The difference. R(t) is the integral over s > 0 of e^(-ts - s^2/2): completely monotone. Let
 * I_k(t) be the same integral with s^k before the e, so that I_0 = R, I_1 = 1 - t I_0 and I_(k+1) =
 * k I_(k-1) - t I_k. Then
 *
 *     R(x) - R(x + mu) = mu I_1 - mu^2 I_2 / 2! + mu^3 I_3 / 3! - ...            (all I_k at x),
 *
 * and partial sums lie above and below the whole by turns. For small mu, where R(x) and R(y) nearly
 * cancel, five terms are taken: a bound from above, by less than the sixth.
 *
 * The errors. u = 2^-53 is half a unit in the last place. We rely on IEEE arithmetic to nearest and
 * on a libm whose exp, log, log1p and erfc are within 8 units in the last place, 16u; the largest
 * error that glibc's own tests know of, that of its older erfc, is 5 units. Each bound below is
 * derived where it is used, and what is then used is at least twice that.
 */
#include "statement/accountant.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "dpmf.h"

static const double u = 0x1p-53;

/* ---- the normal density and Mills' ratio ----------------------------------------------------- */

/* Relative error: x*x is rounded once, which moves the exponent by at most u x^2/2; exp 16u,
 * constant u, product u. */
static double density(double x) { return 0.39894228040143267794 * exp(-0.5 * x * x); }
static double density_error(double x) { return u * (x * x + 48); }

enum { FRACTION_TERMS = 80 };
static const double fraction_from = 3;

/* R(t) for t > -1, within mills_error of itself.
 *
 * Below 3 from erfc: sqrt(pi/2) e^(t^2/2) erfc(t/sqrt 2). The argument of erfc is off by 2u of
 * itself, which erfc magnifies by less than t^2 + 1 <= 10; the exponent by u t^2/2 <= 4.5u; erfc
 * and exp 16u each, three more roundings: 20u + 4.5u + 32u + 3u < 64u.
 *
 * From 3 on by the continued fraction r_k = k/(t + r_(k+1)), R = 1/(t + r_1), from the tail: the
 * r_k = I_k/I_(k-1) are positive, so an error of r_(k+1) is damped by r_(k+1)/(t + r_(k+1)) < 1 and
 * a step adds 2u: at most 162u in all. Cut at 80 terms, two cuts in a row bracket R; at t = 3 they
 * differ by less than 1e-20 of it, at larger t by less. */
static const double mills_error = 0x1p-44; /* 512u */

static double mills(double t) {
    if (t < fraction_from)
        return 1.25331413731550025121 * exp(0.5 * t * t) * erfc(t * 0.70710678118654752440);
    double r = 0;
    for (int k = FRACTION_TERMS; k > 0; k--) r = k / (t + r);
    return 1 / (t + r);
}

/* ---- delta ----------------------------------------------------------------------------------- */

static const double series_below = 0x1p-6; /* mu */
static const double series_until = 40;     /* x; beyond it phi(x) is 0 in doubles */

/* An upper bound of R(x) - R(x + mu) for mu < 2^-6, so x > -2^-6, and x <= 40, by the series above.
 *
 * Let E_k bound the error of I_k. E_0 = mills_error R. I_1 = 1 - x R with |x| R < 1, so E_1 <= |x|
 * E_0 + 2u <= 2 mills_error; after that E_(k+1) <= k E_(k-1) + |x| E_k and three roundings of
 * numbers up to k I_(k-1) < 2^5 (I_(k+1) is positive), less than 100u or mills_error. The loop
 * carries E along and adds it to each term, whatever its sign; what it adds up itself is off by
 * less than 32u. */
static double difference_by_series(double x, double mu) {
    double before = mills(x), now = 1 - x * before;
    double error_before = mills_error * before, error_now = 2 * mills_error;
    double sum = 0, error = 0, factor = mu;
    for (int k = 1; k <= 5; k++) {
        sum += (k % 2 ? factor : -factor) * now;
        error += factor * error_now;
        double next = k * before - x * now;
        double error_next = k * error_before + fabs(x) * error_now + mills_error;
        before = now, now = next;
        error_before = error_now, error_now = error_next;
        factor *= mu / (k + 1);
    }
    return (sum + error) * (1 + 64 * u);
}

/* An upper bound of phi(x) (R(x) - R(y)). The smallest double, many times, stands for what
 * underflow may have taken. */
static double delta_right(double x, double mu) {
    double difference;
    if (x > series_until) /* then phi(x) is 0, and R(x) < 1/x */
        return 16 * DBL_TRUE_MIN;
    if (mu < series_below) {
        difference = difference_by_series(x, mu);
    } else {
        double at_x = mills(x), at_y = mills(x + mu);
        difference = (at_x - at_y) + mills_error * (at_x + at_y);
    }
    return density(x) * difference * (1 + density_error(x) + 16 * u) + 16 * DBL_TRUE_MIN;
}

/* The same for x < 0 and mu not small: Phi(-x), at least 1/2, less phi(x) R(y). Phi(-x) is off by
 * 16u for erfc, less than u for its argument and one rounding. */
static double delta_left(double x, double mu) {
    double taken = density(x) * mills(x + mu) * (1 - density_error(x) - mills_error - 16 * u);
    double whole = 0.5 * erfc(x * 0.70710678118654752440) * (1 + 48 * u);
    return (whole - fmax(taken, 0)) * (1 + 4 * u);
}

double accountant_delta(double mu, double epsilon) {
    if (!(mu >= 0) || !(epsilon >= 0)) return NAN;
    if (mu == 0) return 0;
    if (isinf(mu)) return 1;
    if (isinf(epsilon)) return 0;
    /* The quotient is off by u of itself, the difference by u of itself. */
    double quotient = epsilon / mu, x = quotient - 0.5 * mu;
    if (isinf(quotient)) return 16 * DBL_TRUE_MIN;
    x -= 4 * u * quotient + 4 * u * fabs(x) + DBL_MIN;
    double delta = x < 0 && mu >= series_below ? delta_left(x, mu) : delta_right(x, mu);
    return fmin(delta, 1);
}

/* ---- by bisection, mu and epsilon ------------------------------------------------------------ */

/* Positive doubles are in the order of their bits, so halving the bits finds a neighbour in 63
 * steps, from 1e-300 to 1e300. */
static double between(double low, double high) {
    uint64_t a, b;
    memcpy(&a, &low, sizeof a);
    memcpy(&b, &high, sizeof b);
    a += (b - a) / 2;
    memcpy(&low, &a, sizeof low);
    return low;
}

double accountant_mu(double epsilon, double delta) {
    if (!(epsilon >= 0) || !(delta >= 0)) return NAN;
    if (delta >= 1 || isinf(epsilon)) return INFINITY;
    if (delta == 0) return 0;
    double allowed = 0, refused = INFINITY; /* delta(allowed) <= delta, as we compute it */
    for (;;) {
        double middle = between(allowed, refused);
        if (middle == allowed) return allowed;
        if (accountant_delta(middle, epsilon) <= delta)
            allowed = middle;
        else
            refused = middle;
    }
}

double accountant_epsilon(double mu, double delta) {
    if (!(mu >= 0) || !(delta >= 0)) return NAN;
    if (accountant_delta(mu, 0) <= delta) return 0;
    if (delta == 0 || !(accountant_delta(mu, DBL_MAX) <= delta)) return INFINITY;
    double short_of = 0, enough = DBL_MAX;
    for (;;) {
        double middle = between(short_of, enough);
        if (middle == short_of) return enough;
        if (accountant_delta(mu, middle) <= delta)
            enough = middle;
        else
            short_of = middle;
    }
}

/* ---- the cross-check ------------------------------------------------------------------------- */

/* The bound by the order alpha = 1 + over. Any order gives a true bound, so only the rounding
 * counts. ln(1 - 1/alpha) is taken such that neither form loses digits: ln(over) - ln(alpha) up to
 * alpha = 2, and beyond it from -1/alpha, whose 2u the logarithm magnifies by less than 2. Then
 * every part is within 16u for its logarithm and 4u more, and three sums add 3u of the parts'
 * sizes. */
static double renyi_bound(double rho, double log_delta, double over) {
    const double alpha = 1 + over, log_alpha = log1p(over), cost = alpha * rho;
    const double gain = over > 1 ? log1p(-1 / alpha) : log(over) - log_alpha;
    const double gain_size = over > 1 ? -gain : fabs(log(over)) + log_alpha;
    const double size = cost + gain_size + (fabs(log_delta) + log_alpha) / over;
    return cost + gain - (log_delta + log_alpha) / over + 64 * u * size;
}

double accountant_epsilon_renyi(double mu, double delta) {
    double exact = accountant_epsilon(mu, delta), best_l = 0, best = INFINITY;
    if (isnan(exact) || isinf(exact) || delta >= 1 || mu == 0) return exact;
    double rho = 0.5 * mu * mu * (1 + 4 * u), log_delta = log(delta);
    for (int i = -60 * 4; i <= 80 * 4; i++) {
        double l = 0.25 * i, bound = renyi_bound(rho, log_delta, exp(l));
        if (bound < best) best = bound, best_l = l;
    }
    for (int bits = 3; bits < 30; bits++) /* steps from 1/8 down to some 1e-9 */
        for (int side = -1; side <= 1; side += 2) {
            double l = best_l + ldexp(side, -bits), bound = renyi_bound(rho, log_delta, exp(l));
            if (bound < best) best = bound, best_l = l;
        }
    return fmax(best, exact); /* where the bound is below 0, and where rounding alone parts them */
}

/* ---- composition ----------------------------------------------------------------------------- */

double accountant_compose(const double *mu, size_t n) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(mu[i] >= 0)) return NAN;
        largest = fmax(largest, mu[i]);
    }
    if (largest == 0 || isinf(largest) || n == 1) return largest;
    for (size_t i = 0; i < n; i++) sum += (mu[i] / largest) * (mu[i] / largest);
    /* A square is off by 3u of itself (what underflows is nothing beside the largest, which is 1),
     * n - 1 sums by u each of the whole; the root halves that and adds u, the product u. */
    return largest * sqrt(sum) * (1 + ((double)n + 8) * 2 * u);
}

/* Why it holds. The trade-off function of what is epsilon-private lies above the two lines from (0,
 * 1) and from (1, 0) to the point (p, p), p = 1 / (1 + e^epsilon). That of a Gaussian is convex,
 * has the same ends, and at p is p when Phi(-mu/2) = p: so it lies below both lines. An upper bound
 * of log Phi(-x) stands in for it: Mills' ratio with its error, so that x can only come out too
 * large; the bisection ends on the side where the bound holds, and the last factor covers what the
 * two logarithms are off, less than 64u of a number of at most 1e9 each. */
double accountant_mu_pure(double epsilon) {
    if (!(epsilon >= 0) || epsilon > 1e9) return NAN;
    if (epsilon == 0) return 0;
    double least = epsilon + log1p(exp(-epsilon)); /* -log p */
    double low = 0, high = sqrt(2 * least) + 1;    /* Phi(-x) <= exp(-x^2/2) / 2 */
    for (int step = 0; step < 200 && low < high; step++) {
        double x = low + (high - low) / 2;
        double bound = -0.5 * x * x - 0.91893853320467274178 + log(mills(x) * (1 + mills_error));
        if (x == low || x == high) break;
        if (bound <= -least)
            high = x;
        else
            low = x;
    }
    return 2 * high * (1 + 0x1p-40) + 0x1p-40;
}

/* ---- in public ------------------------------------------------------------------------------- */

double dpmf_privacy_mu(double epsilon, double delta) { return accountant_mu(epsilon, delta); }

double dpmf_privacy_epsilon(double mu, double delta) { return accountant_epsilon(mu, delta); }

double dpmf_privacy_delta(double mu, double epsilon) { return accountant_delta(mu, epsilon); }

double dpmf_privacy_compose(const double *mu, size_t n) {
    return mu || n == 0 ? accountant_compose(mu, n) : NAN;
}

double dpmf_privacy_epsilon_renyi(double mu, double delta) {
    return accountant_epsilon_renyi(mu, delta);
}
