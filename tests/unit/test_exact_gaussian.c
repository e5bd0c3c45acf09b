/*
 * round(Z) has the law of round(Z): chi-square against the exact probabilities for several sigma,
 * tails, moments and independence; and the same chi-square rejects a sigma one per cent off, other
 * roundings and cut tails, so that it could have failed. Keys are fixed, so every test always gives
 * the same answer. Branches that chance never takes are taken with bytes written by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random/exact_gaussian.h"

#define SIGMA_28 (UINT64_C(1) << 28)
#define MILLION UINT64_C(1000000)

/* Millions of draws show nothing more to a sanitizer than thousands do, and take minutes. */
static void skip_when_sanitized(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
}

/* ---- draws, a piece at a time ---------------------------------------------------------------- */

enum { PIECE = 1 << 16 };
static int64_t piece[PIECE];

/* The coordinates first .. of a release into `piece`. @return how many, at most `wanted` */
static size_t draw_piece(uint64_t seed, uint32_t release, uint64_t first, uint64_t wanted,
                         uint64_t sigma) {
    const size_t n = wanted < PIECE ? (size_t)wanted : PIECE;
    struct secure_random random;
    secure_random_init_insecure(&random, seed);
    memset(piece, 0, sizeof piece);
    exact_gaussian_add(&random, release, first, n, sigma, piece);
    return n;
}

/* ---- the exact law --------------------------------------------------------------------------- */

/* P(Z > x) for Z ~ N(0, 1), with all its digits for x >= 0. */
static long double upper(long double x) { return erfcl(x / sqrtl(2)) / 2; }

/* P(low < Z < high) for Z ~ N(0, sigma^2), by the differences that lose no digits. */
static long double between(long double low, long double high, long double sigma) {
    if (high <= 0) return between(-high, -low, sigma);
    if (low < 0) return 1 - upper(-low / sigma) - upper(high / sigma);
    return upper(low / sigma) - upper(high / sigma);
}

/* ---- the chi-square -------------------------------------------------------------------------- */

/* Cell c, from -last to last, is the `width` whole numbers around c * width; the end cells are the
 * tails. */
enum { LAST_MAX = 5000 };
struct histogram {
    int64_t width, last;
    uint64_t n, count[2 * LAST_MAX + 1];
};

/* As many cells as leave five expected draws in each tail. */
static void histogram_init(struct histogram *h, uint64_t sigma, int64_t width, uint64_t n) {
    *h = (struct histogram){.width = width, .last = 1};
    for (int64_t last = 2; last <= LAST_MAX; last++) {
        const long double from = (long double)(last * width) - 0.5L * (long double)width;
        if ((long double)n * upper(from / (long double)sigma) < 5) break;
        h->last = last;
    }
    assert_true(h->last < LAST_MAX);
}

static int64_t cell_of(const struct histogram *h, int64_t value) {
    const int64_t size = ((value < 0 ? -value : value) + h->width / 2) / h->width;
    const int64_t cell = size < h->last ? size : h->last;
    return value < 0 ? -cell : cell;
}

static void histogram_add(struct histogram *h, int64_t value) {
    h->count[LAST_MAX + cell_of(h, value)]++;
    h->n++;
}

/* The chi-square against round(N(0, sigma^2)), as a standard deviation by Wilson and Hilferty's
 * formula. */
static double distance(const struct histogram *h, long double sigma) {
    long double sum = 0, total = 0;
    for (int64_t cell = -h->last; cell <= h->last; cell++) {
        const long double half = 0.5L * (long double)h->width;
        const long double middle = (long double)(cell * h->width);
        const long double low = cell == -h->last ? -INFINITY : middle - half;
        const long double high = cell == h->last ? INFINITY : middle + half;
        const long double p = between(low, high, sigma), expected = p * (long double)h->n;
        const long double off = (long double)h->count[LAST_MAX + cell] - expected;
        sum += off * off / expected;
        total += p;
    }
    assert_true(fabsl(total - 1) < 1e-15L);
    const long double free = 2 * (long double)h->last, unit = 2 / (9 * free);
    return (double)((cbrtl(sum / free) - (1 - unit)) / sqrtl(unit));
}

/* Nothing lies between: honest draws are within 3 deviations, all that is wrong is beyond 5. */
static bool is_honest(double deviations) { return fabs(deviations) < 3; }
static bool is_rejected(double deviations) { return deviations > 5; }

/* Everything beyond 4 sigma forgotten, as a sampler with a cut would. */
static void cut_at_4_sigma(struct histogram *h, uint64_t sigma) {
    for (int64_t cell = -h->last; cell <= h->last; cell++) {
        if ((uint64_t)(llabs(cell) * h->width) <= 4 * sigma) continue;
        h->n -= h->count[LAST_MAX + cell];
        h->count[LAST_MAX + cell] = 0;
    }
}

/* Widths are odd, so that cells are symmetric. */
static const struct law {
    uint64_t sigma;
    int64_t width;
    uint64_t n;
} laws[] = {
    {1, 1, 8 * MILLION},
    {2, 1, 4 * MILLION},
    {3, 1, 3 * MILLION},
    {10, 1, 3 * MILLION},
    {1000, 101, 2 * MILLION},
    {SIGMA_28, SIGMA_28 / 10 | 1, 2 * MILLION},
    {EXACT_GAUSSIAN_SIGMA_MAX, EXACT_GAUSSIAN_SIGMA_MAX / 10 | 1, 2 * MILLION},
};

static void test_chi_square(void **state) {
    (void)state;
    skip_when_sanitized();
    static struct histogram h;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        const struct law *law = &laws[i];
        const long double sigma = (long double)law->sigma;
        histogram_init(&h, law->sigma, law->width, law->n);
        for (uint64_t done = 0; done < law->n;) {
            const size_t n = draw_piece(100 + i, 1, done, law->n - done, law->sigma);
            for (size_t j = 0; j < n; j++) histogram_add(&h, piece[j]);
            done += n;
        }
        assert_true(is_honest(distance(&h, sigma)));
        assert_true(is_rejected(distance(&h, sigma * 1.01L)));
        assert_true(is_rejected(distance(&h, sigma * 0.99L)));
        cut_at_4_sigma(&h, law->sigma);
        assert_true(is_rejected(distance(&h, sigma)));
    }
}

/* ---- other roundings ------------------------------------------------------------------------- */

enum { GRID = 1 << 16 };

static int64_t to_nearest(int64_t z) {
    return z < 0 ? -((-z + GRID / 2) / GRID) : (z + GRID / 2) / GRID;
}
static int64_t toward_zero(int64_t z) { return z / GRID; }
static int64_t downward(int64_t z) { return z < 0 ? -((-z + GRID - 1) / GRID) : z / GRID; }
static int64_t without_minus_zero(int64_t z) { /* -0 taken for a number of its own */
    return z < 0 && to_nearest(z) == 0 ? -1 : to_nearest(z);
}

/* Draws of sigma * 2^16, put on the grid of 2^16 by each rule: only the nearest has the law. */
static void test_other_roundings_are_rejected(void **state) {
    (void)state;
    skip_when_sanitized();
    static const struct {
        uint64_t sigma, n;
    } cases[] = {{1, 500000}, {2, 500000}, {3, 500000}, {10, 500000}, {1000, 4 * MILLION}};
    static int64_t (*const rules[])(int64_t) = {to_nearest, toward_zero, without_minus_zero,
                                                downward};
    enum { RULES = sizeof rules / sizeof *rules, DOWNWARD = RULES - 1 };
    static struct histogram h[RULES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t sigma = cases[i].sigma, wanted = cases[i].n;
        for (size_t r = 0; r < RULES; r++) histogram_init(&h[r], sigma, 1, wanted);
        for (uint64_t done = 0; done < wanted;) {
            const size_t n = draw_piece(200 + i, 1, done, wanted - done, sigma * GRID);
            for (size_t j = 0; j < n; j++)
                for (size_t r = 0; r < RULES; r++) histogram_add(&h[r], rules[r](piece[j]));
            done += n;
        }
        assert_true(is_honest(distance(&h[0], (long double)sigma)));
        for (size_t r = 1; r < DOWNWARD; r++)
            assert_true(is_rejected(distance(&h[r], (long double)sigma)));
        if (sigma > 10) continue; /* a shift by 1/2000 sigma shows in no cell */
        assert_true(is_rejected(distance(&h[DOWNWARD], (long double)sigma)));
    }
}

/* ---- tails, moments, independence ------------------------------------------------------------ */

/* Large counts: within 3.5 deviations of what is expected. */
static void check_count(uint64_t count, long double expected) {
    assert_true(fabsl((long double)count - expected) < 3.5L * sqrtl(expected));
}

static void test_tails_and_moments(void **state) {
    (void)state;
    skip_when_sanitized();
    const uint64_t draws = 10 * MILLION, sigma = SIGMA_28;
    uint64_t beyond[2][6] = {{0}}; /* [negative], whole sigmas */
    long double sum[5] = {0};
    for (uint64_t done = 0; done < draws;) {
        const size_t n = draw_piece(300, 1, done, draws - done, sigma);
        for (size_t i = 0; i < n; i++) {
            const double x = (double)piece[i] / (double)sigma;
            for (int k = 0; k < 6 && fabs(x) > k; k++) beyond[x < 0][k]++;
            double power = 1;
            for (int k = 0; k < 5; k++, power *= x) sum[k] += power;
        }
        done += n;
    }
    for (int k = 1; k < 5; k++)
        for (int side = 0; side < 2; side++)
            check_count(beyond[side][k], (long double)draws * upper(k));
    /* 5.7 are expected beyond 5 sigma; none, or 15 and more, come once in three hundred keys */
    const uint64_t far = beyond[0][5] + beyond[1][5];
    assert_true(far >= 1 && far < 15);
    const long double n = (long double)draws, unit = 3.5L / sqrtl(n);
    assert_true(fabsl(sum[1] / n) < unit);
    assert_true(fabsl(sum[2] / n - 1) < unit * sqrtl(2));
    assert_true(fabsl(sum[3] / n) < unit * sqrtl(15));
    assert_true(fabsl(sum[4] / n - 3) < unit * sqrtl(96));
    check_count(beyond[0][0], n / 2);
    check_count(beyond[1][0], n / 2);
}

/* The lowest bits of draws of a large sigma are fair and do not know of the sign. */
static void test_low_bits(void **state) {
    (void)state;
    const uint64_t draws = 2 * MILLION;
    uint64_t count[2][16] = {{0}};
    for (uint64_t done = 0; done < draws;) {
        const size_t n = draw_piece(400, 1, done, draws - done, SIGMA_28);
        for (size_t i = 0; i < n; i++) count[piece[i] < 0][llabs(piece[i]) & 15]++;
        done += n;
    }
    for (int side = 0; side < 2; side++)
        for (int bits = 0; bits < 16; bits++)
            check_count(count[side][bits], (long double)draws / 32);
}

/* Neither a coordinate's neighbours, nor the same one in other releases, nor the one 2^32 further
 * know of it: not its value, nor its size. */
static void test_independence(void **state) {
    (void)state;
    skip_when_sanitized();
    enum { PIECES = 10, OTHERS = 5 };
    static const struct {
        uint32_t release;
        uint64_t shift;
    } others[OTHERS] = {{1, 1}, {1, 2}, {2, 0}, {UINT32_C(1) << 31, 0}, {1, UINT64_C(1) << 32}};
    static int64_t mine[PIECE];
    double values[OTHERS] = {0}, sizes[OTHERS] = {0};
    for (uint64_t first = 0; first < (uint64_t)PIECES * PIECE; first += PIECE) {
        draw_piece(500, 1, first, PIECE, SIGMA_28);
        memcpy(mine, piece, sizeof mine);
        for (size_t k = 0; k < OTHERS; k++) {
            draw_piece(500, others[k].release, first + others[k].shift, PIECE, SIGMA_28);
            for (size_t i = 0; i < PIECE; i++) {
                const double x = (double)mine[i] / (double)SIGMA_28;
                const double y = (double)piece[i] / (double)SIGMA_28;
                values[k] += x * y;
                sizes[k] += (x * x - 1) * (y * y - 1) / 2;
            }
        }
    }
    const double bound = 3.5 * sqrt((double)PIECES * PIECE);
    for (size_t k = 0; k < OTHERS; k++)
        assert_true(fabs(values[k]) < bound && fabs(sizes[k]) < bound);
}

/* ---- coordinates ----------------------------------------------------------------------------- */

static int64_t draw_one(const struct secure_random *random, uint32_t release, uint64_t coordinate,
                        uint64_t sigma) {
    struct secure_stream stream;
    secure_stream_init(&stream, random, release, coordinate);
    return exact_gaussian_rounded(&stream, sigma);
}

/* A range is its coordinates, however it is cut, and adds to what is there. */
static void test_ranges(void **state) {
    (void)state;
    enum { N = 1000 };
    const uint64_t first = (UINT64_C(1) << 32) - N / 2; /* across the halves of a coordinate */
    struct secure_random random;
    struct dpmf_error error = {0};
    int64_t whole[N], cut[N];
    assert_int_equal(secure_random_init(&random, &error), 0);
    for (int i = 0; i < N; i++) whole[i] = cut[i] = 1000000 * (i - N / 2);
    exact_gaussian_add(&random, 7, first, N, 12345, whole);
    for (size_t at = N, n; at > 0; at -= n) { /* last piece first */
        n = at < 37 ? at : 37;
        exact_gaussian_add(&random, 7, first + at - n, n, 12345, cut + at - n);
    }
    exact_gaussian_add(&random, 7, first, 0, 12345, cut);
    assert_memory_equal(whole, cut, sizeof whole);
    for (int i = 0; i < N; i++)
        assert_true(whole[i] - 1000000 * (i - N / 2) ==
                    draw_one(&random, 7, first + (uint64_t)i, 12345));
}

/* The same everywhere: these values may not change with compiler or machine. */
static void test_values_are_the_same_everywhere(void **state) {
    (void)state;
    static const int64_t expected[3][3] = {
        {0, -76884582, INT64_C(-202516813989041)},
        {-1, -237307592, INT64_C(-640075365872469)},
        {-2, -561024300, INT64_C(280891168129319)},
    };
    struct secure_random random;
    secure_random_init_insecure(&random, 42);
    for (uint64_t i = 0; i < 3; i++) {
        assert_true(draw_one(&random, 1, i, 1) == expected[i][0]);
        assert_true(draw_one(&random, 1, i, SIGMA_28) == expected[i][1]);
        assert_true(draw_one(&random, 2, i, EXACT_GAUSSIAN_SIGMA_MAX) == expected[i][2]);
    }
}

/* ---- branches that chance does not take ------------------------------------------------------ */

/* A stream of the bytes given: all of them are to be taken, and no more. */
static int64_t draw_from(const uint8_t *bytes, size_t n, uint64_t sigma) {
    struct secure_stream stream = {.used = SECURE_STREAM_BLOCK - n};
    assert_true(n <= SECURE_STREAM_BLOCK);
    memcpy(stream.output + stream.used, bytes, n);
    const int64_t value = exact_gaussian_rounded(&stream, sigma);
    assert_int_equal(stream.input[12], 0);
    assert_int_equal(stream.used, SECURE_STREAM_BLOCK);
    return value;
}
#define DRAW(sigma, ...)                                                                           \
    draw_from((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), sigma)

/* How k = 0 and k = 1 are said, and "accept at once", in bytes. */
#define WHOLE_0 0, 255
#define WHOLE_1 255, 0, 255
#define YES 255
#define PLUS 0
#define MINUS 1

/* Rounding at the very edge: x = 1/2 less 2^-64 and x = 1/2, with sigma = 1. */
static void test_rounding_edges(void **state) {
    (void)state;
#define JUST_BELOW_HALF 255, 255, 255, 255, 255, 255, 255, 127
#define HALF 0, 0, 0, 0, 0, 0, 0, 128
    assert_int_equal(DRAW(1, WHOLE_0, JUST_BELOW_HALF, YES, PLUS), 0);
    assert_int_equal(DRAW(1, WHOLE_0, JUST_BELOW_HALF, YES, MINUS), 0);
    assert_int_equal(DRAW(1, WHOLE_0, HALF, YES, PLUS), 1);
    assert_int_equal(DRAW(1, WHOLE_0, HALF, YES, MINUS), -1);
    assert_int_equal(DRAW(1, WHOLE_1, HALF, YES, YES, PLUS), 2);
    assert_int_equal(DRAW(1, WHOLE_1, HALF, YES, YES, MINUS), -2);
    assert_int_equal(DRAW(1, WHOLE_1, JUST_BELOW_HALF, YES, YES, MINUS), -1);
    /* the largest x: rounded up to sigma, part of the product 0 and far from it */
    assert_true(DRAW(EXACT_GAUSSIAN_SIGMA_MAX, WHOLE_0, 255, 255, 255, 255, 255, 255, 255, 255, YES,
                     PLUS) == (int64_t)EXACT_GAUSSIAN_SIGMA_MAX);
    assert_int_equal(DRAW(2, WHOLE_0, 0, 0, 0, 0, 0, 0, 0, 64, YES, PLUS), 1); /* 2 x 1/4 + 1/2 */
}

/* x = (2^63 - 2)/3 / 2^64 and sigma = 3: 64 digits leave it open whether 3x < 1/2, and it is if
 * what follows is below 2/3 = 170, 170, .. to the base 256. */
#define A_SIXTH 170, 170, 170, 170, 170, 170, 170, 42
#define A_SIXTH_DIGITS 42, 170, 170, 170, 170, 170, 170, 170
static void test_rounding_looks_further(void **state) {
    (void)state;
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, YES, 169, PLUS), 0);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, YES, 171, PLUS), 1);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, YES, 171, MINUS), -1);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, YES, 170, 170, 170, 169, MINUS), 0);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, YES, 170, 170, 170, 171, MINUS), -1);
    assert_int_equal(DRAW(3, WHOLE_1, A_SIXTH, YES, YES, 170, 171, MINUS), -4);
}

/* Two numbers agree with x in 64 digits; one is said to be below it (1/2), one above (2/3, then
 * not). The tail of x is then the middle of three, and below 2/3 if two of three are. */
static void test_equal_digits(void **state) {
    (void)state;
#define BETWEEN_TWO 0, A_SIXTH_DIGITS, 127, A_SIXTH_DIGITS, 171
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, BETWEEN_TWO, 169, 171, 169, PLUS), 0);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, BETWEEN_TWO, 171, 169, 171, PLUS), 1);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, BETWEEN_TWO, 171, 171, 171, MINUS), -1);
    /* the other number is above (128 is 1/2 exactly, and not below it): x is the smaller of two */
#define BELOW_ONE 0, A_SIXTH_DIGITS, 128
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, BELOW_ONE, 169, 171, PLUS), 0);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, BELOW_ONE, 171, 171, PLUS), 1);
}

/* After two numbers of 64 equal digits, both below x, a third is below it with probability 3/4. */
static void test_equal_digits_are_ranked(void **state) {
    (void)state;
#define BELOW_TWICE 0, A_SIXTH_DIGITS, 127, A_SIXTH_DIGITS, 169 /* 1/2, then 2/3 */
    assert_int_equal(
        DRAW(3, WHOLE_0, A_SIXTH, BELOW_TWICE, 0, A_SIXTH_DIGITS, 193, WHOLE_0, HALF, YES, MINUS),
        -2);
    assert_int_equal(DRAW(3, WHOLE_0, A_SIXTH, BELOW_TWICE, 0, A_SIXTH_DIGITS, 191, 255, WHOLE_0,
                          HALF, YES, MINUS),
                     -2);
}

/* The first five trials of each series, at the edges of 1/j and 1/(2j) to the base 256. An even
 * number of successes accepts; an odd one begins anew, here with x = 1/2, accepted at once. */
static void test_series(void **state) {
    (void)state;
#define AGAIN WHOLE_0, HALF, YES, MINUS
    /* exp(-1/2): four successes make k = 1; three make k = 0 */
    assert_int_equal(DRAW(1, 127, 63, 41, 31, 26, WHOLE_0, HALF, YES, YES, PLUS), 2);
    assert_int_equal(DRAW(1, 127, 63, 41, 32, HALF, YES, PLUS), 1);
    /* exp(-x) */
    assert_int_equal(DRAW(1, WHOLE_1, HALF, 0, 0, 127, 0, 84, 0, 63, 127, 52, YES, PLUS), 2);
    assert_int_equal(DRAW(1, WHOLE_1, HALF, 0, 0, 127, 0, 84, 0, 63, 129, YES, PLUS), 2);
    assert_int_equal(DRAW(1, WHOLE_1, HALF, 0, 0, 127, 0, 84, 0, 64, AGAIN), -1);
    assert_int_equal(DRAW(1, WHOLE_1, HALF, 0, 129, AGAIN), -1);
    /* exp(-x^2/2) */
#define THREE_TIMES 127, 0, 127, 63, 0, 127, 41, 0, 127
    assert_int_equal(DRAW(1, WHOLE_0, HALF, THREE_TIMES, 31, 0, 127, 26, PLUS), 1);
    assert_int_equal(DRAW(1, WHOLE_0, HALF, THREE_TIMES, 32, AGAIN), -1);
    assert_int_equal(DRAW(1, WHOLE_0, HALF, THREE_TIMES, 31, 129, AGAIN), -1);
    assert_int_equal(DRAW(1, WHOLE_0, HALF, THREE_TIMES, 31, 127, 129, AGAIN), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chi_square),
        cmocka_unit_test(test_other_roundings_are_rejected),
        cmocka_unit_test(test_tails_and_moments),
        cmocka_unit_test(test_low_bits),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_values_are_the_same_everywhere),
        cmocka_unit_test(test_rounding_edges),
        cmocka_unit_test(test_rounding_looks_further),
        cmocka_unit_test(test_equal_digits),
        cmocka_unit_test(test_equal_digits_are_ranked),
        cmocka_unit_test(test_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
