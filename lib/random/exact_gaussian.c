/*
 * round(Z), Z ~ N(0, sigma^2), from random bytes and integers alone: the noise of every release.
 * Bytes come from secure_random.c; the mechanisms of lib/privacy add the draws to their sums.
 * Everything rests on two comparisons, of a uniform number with a fraction and with another uniform
 * number, each decided by digits drawn one at a time until they differ; equal numbers have
 * probability 0. What follows is Karney's algorithm N, with the proof of each step above it.
 *
 * "Uniform" is uniform on (0, 1). A uniform number's digits to the base 256 are independent random
 * bytes. Every function below takes bytes that nobody has looked at before, so what they decide is
 * independent of all else.
 */
#include "random/exact_gaussian.h"

#include <assert.h>

__extension__ typedef unsigned __int128 wide;

/* ---- u < a/b --------------------------------------------------------------------------------- */

/*
 * True with probability a/b exactly; a <= b <= 2^56, b > 0.
 * Proof. For a < b, compares the digits of a uniform u with those of a/b. Before each turn all
 * digits so far agree, and what is left of a/b is rest/b < 1. Its next digit is floor(256 rest/b),
 * at most 255, and leaves (256 rest mod b)/b. The first digits that differ decide; when nothing is
 * left of a/b, u is not below it. To agree forever has probability 0. So the answer is u < a/b.
 */
static bool with_probability(struct secure_stream *stream, uint64_t a, uint64_t b) {
    assert(b > 0 && a <= b && b <= UINT64_MAX >> 8);
    if (a == b) return true;
    for (uint64_t rest = a; rest > 0;) {
        const uint64_t next = rest << 8, digit = next / b, mine = secure_stream_u8(stream);
        if (mine != digit) return mine < digit;
        rest = next % b;
    }
    return false;
}

/* ---- u < x ----------------------------------------------------------------------------------- */

/*
 * A uniform number x, known by its first 64 binary digits and by comparisons of what follows them,
 * its tail. The tail was found above `above` and below `below` of the tails of other uniform
 * numbers.
 */
struct uniform {
    uint64_t head;
    uint64_t above, below;
};

static struct uniform uniform_draw(struct secure_stream *stream) {
    return (struct uniform){.head = secure_stream_u64(stream)};
}

/*
 * Whether another uniform number u is below x: true with probability x, given x.
 * Proof. Digits of u are compared with those of the head until they differ. If all eight agree
 * (probability 2^-64) the tails decide, both uniform and independent of all heads. Instead of
 * drawing their digits we draw their order: x's tail is one of n = above + below + 1 independent
 * uniform numbers, of which `above` are smaller. The tail of u is one more; all orders of n + 1
 * independent uniform numbers are equally likely, so given the order of the first n, u's tail falls
 * with equal probability in each of the n + 1 gaps, and above + 1 of these are below x's tail. The
 * comparison joins what is known of x.
 */
static bool below_uniform(struct secure_stream *stream, struct uniform *x) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        const uint8_t mine = secure_stream_u8(stream), digit = (uint8_t)(x->head >> shift);
        if (mine != digit) return mine < digit;
    }
    const bool is_below = with_probability(stream, x->above + 1, x->above + x->below + 2);
    if (is_below)
        x->above++;
    else
        x->below++;
    return is_below;
}

/*
 * Whether the tail of x is below a/b, given all that is known of it.
 * Proof. The tail is the (above + 1)-th smallest of n = above + below + 1 independent uniform
 * numbers. It is below a/b if and only if at least above + 1 of the n are; given their order and
 * nothing else, their sorted values are distributed as those of n fresh ones, so n fresh ones are
 * asked.
 */
static bool tail_below(struct secure_stream *stream, const struct uniform *x, uint64_t a,
                       uint64_t b) {
    assert(a <= b);
    uint64_t smaller = 0;
    for (uint64_t i = 0; i < x->above + x->below + 1; i++)
        smaller += with_probability(stream, a, b);
    return smaller > x->above;
}

/* ---- exponentials ---------------------------------------------------------------------------- */

/*
 * The three functions below are one lemma of von Neumann's: trials j = 1, 2, .. succeed
 * independently with probability q/j, 0 <= q <= 1, until one fails; let N be the number that
 * succeeded. P(N >= j) = q^j / j!, so P(N even) = sum over j of (-1)^j P(N >= j) = exp(-q).
 */

/* exp(-1/2): q = 1/2, q/j = 1/(2j). */
static bool with_half_exponential(struct secure_stream *stream) {
    uint64_t j = 1;
    while (with_probability(stream, 1, 2 * j)) j++;
    return j % 2 == 1; /* N = j - 1 */
}

/* exp(-x): q = x. A trial is u < x, and independently 1/j. */
static bool with_exponential(struct secure_stream *stream, struct uniform *x) {
    uint64_t j = 1;
    while (below_uniform(stream, x) && with_probability(stream, 1, j)) j++;
    return j % 2 == 1;
}

/* exp(-x^2/2): q = x^2/2. A trial is u < x, u' < x, and 1/(2j). */
static bool with_square_exponential(struct secure_stream *stream, struct uniform *x) {
    uint64_t j = 1;
    while (with_probability(stream, 1, 2 * j) && below_uniform(stream, x) &&
           below_uniform(stream, x))
        j++;
    return j % 2 == 1;
}

/* ---- the Gaussian ---------------------------------------------------------------------------- */

/*
 * k >= 0 with probability proportional to exp(-k^2/2).
 * Proof. Counting successes of exp(-1/2) until a failure gives k with probability proportional to
 * exp(-k/2). It is kept if k(k-1) further trials succeed, with probability exp(-k(k-1)/2): the
 * product is exp(-k^2/2). Otherwise all is forgotten and begun again, which leaves the proportions.
 * No k is too large: it counts coins that were tossed, so that 64 bits hold it.
 */
static uint64_t whole_draw(struct secure_stream *stream) {
    for (;;) {
        uint64_t k = 0;
        wide kept = 0;
        while (with_half_exponential(stream)) k++;
        const wide trials = (wide)k * k - k;
        while (kept < trials && with_half_exponential(stream)) kept++;
        if (kept == trials) return k;
    }
}

/* True with probability exp(-x(2k + x)/2) = exp(-x)^k exp(-x^2/2). */
static bool accept(struct secure_stream *stream, uint64_t k, struct uniform *x) {
    assert(x->above == 0 && x->below == 0);
    for (; k > 0; k--)
        if (!with_exponential(stream, x)) return false;
    return with_square_exponential(stream, x);
}

/*
 * floor(sigma x + 1/2): the whole number nearest to sigma x; ties have probability 0.
 * Proof. With x = (head + tail) / 2^64, sigma x + 1/2 = (sigma head + 2^63 + sigma tail) / 2^64.
 * Let whole and part be quotient and rest of sigma head + 2^63 by 2^64. Then the floor is whole if
 * part + sigma tail < 2^64, and else whole + 1, since part + sigma tail < 2^64 + 2^48. If sigma <=
 * missing = 2^64 - part the former is certain, as tail < 1; else it is tail < missing/sigma, with
 * missing < sigma <= 2^48.
 * (part = 0 makes missing 2^64, which 64 bits hold as 0: hence the - 1 on both sides.)
 */
static uint64_t round_product(struct secure_stream *stream, const struct uniform *x,
                              uint64_t sigma) {
    assert(sigma >= 1 && sigma <= EXACT_GAUSSIAN_SIGMA_MAX);
    const wide product = (wide)sigma * x->head + ((wide)1 << 63);
    const uint64_t whole = (uint64_t)(product >> 64), part = (uint64_t)product;
    const uint64_t missing_less_1 = UINT64_MAX - part;
    if (sigma - 1 <= missing_less_1) return whole;
    return whole + !tail_below(stream, x, missing_less_1 + 1, sigma);
}

/*
 * Proof. k and x are kept with a density proportional to
 *     exp(-k^2/2) exp(-x(2k + x)/2) = exp(-(k + x)^2/2),
 * so y = k + x has that density on y > 0: the half-normal law. With an independent sign,
 * sigma y becomes Z ~ N(0, sigma^2). sigma k is whole, so the whole number nearest to sigma y is
 * sigma k + floor(sigma x + 1/2). Rounding to nearest commutes with the sign; 0 is reached from
 * both sides, which makes P(|Z| < 1/2), as it should be.
 *
 * Nothing is cut off: integers are taken modulo 2^64, here and where they are added to a sum, and
 * what is a function of the whole number sum + round(Z) is post-processing of it. (It is that
 * number itself for all |Z| < 2^62, which chance does not leave.)
 */
int64_t exact_gaussian_rounded(struct secure_stream *stream, uint64_t sigma) {
    assert(sigma >= 1 && sigma <= EXACT_GAUSSIAN_SIGMA_MAX);
    for (;;) {
        const uint64_t k = whole_draw(stream);
        struct uniform x = uniform_draw(stream);
        if (!accept(stream, k, &x)) continue;
        const uint64_t size = sigma * k + round_product(stream, &x, sigma);
        return (int64_t)(secure_stream_u8(stream) & 1 ? -size : size);
    }
}

void exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                        size_t n, uint64_t sigma, int64_t *sums) {
    assert(random && (sums || n == 0));
    assert(first <= UINT64_MAX - n);
    struct secure_stream stream;
    for (size_t i = 0; i < n; i++) {
        secure_stream_init(&stream, random, release, first + i);
        sums[i] = (int64_t)((uint64_t)sums[i] + (uint64_t)exact_gaussian_rounded(&stream, sigma));
    }
    secure_stream_wipe(&stream);
    if (random->draws) __atomic_fetch_add(random->draws, n, __ATOMIC_RELAXED);
}
