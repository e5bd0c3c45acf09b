/*
 * Philox gives its published answers; streams are apart, repeatable and the same on every machine;
 * each distribution has the shape it should have. Seeds are fixed, so the statistical tests always
 * give the same answer: their bounds are about what one run in ten thousand would cross.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random/random.h"

static void test_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t out[4];
        philox4x32(cases[i].counter, cases[i].key, out);
        assert_memory_equal(out, cases[i].out, sizeof out);
    }
}

static uint64_t first_of(uint64_t seed, uint32_t purpose, uint64_t substream) {
    struct random_stream stream;
    random_stream_init(&stream, seed, purpose, substream);
    return random_u64(&stream);
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Neighbouring names have nothing in common: no value comes twice among thousands of streams. */
static void test_streams_are_apart(void **state) {
    (void)state;
    enum { SIDE = 20, N = SIDE * SIDE * SIDE };
    static uint64_t firsts[N];
    size_t n = 0;
    for (uint64_t seed = 0; seed < SIDE; seed++)
        for (uint32_t purpose = 0; purpose < SIDE; purpose++)
            for (uint64_t sub = 0; sub < SIDE; sub++)
                firsts[n++] = first_of(seed, purpose, sub << (sub % 2 * 40));
    qsort(firsts, N, sizeof firsts[0], compare_u64);
    for (size_t i = 1; i < N; i++) assert_true(firsts[i] != firsts[i - 1]);
    assert_true(first_of(1, 2, 3) == first_of(1, 2, 3));
}

/* Synthetic sets and splits are promised to be the same everywhere: these values may not change. */
static void test_values_do_not_change(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 42, 7, UINT64_C(0x123456789abc));
    assert_int_equal(random_u32(&stream), UINT32_C(3032116451));
    assert_true(random_u64(&stream) == UINT64_C(0x507d679558bbb932));
    assert_true(random_uniform(&stream) == 0x1.1d9a2bff55b9bp-1);
    assert_int_equal(random_below(&stream, 1000), 715);
    assert_true(random_gaussian(&stream) == -0x1.7950f4fcab491p-1);
    assert_true(random_gaussian(&stream) == 0x1.9a5cf406a1f3cp+0);
    assert_true(random_exponential(&stream) == 0x1.92c3470b8c169p-3);
    assert_true(random_gamma(&stream, 7.5) == 0x1.a111660a5a301p+2);
}

static void test_position_carries(void **state) {
    (void)state;
    struct random_stream stream;
    uint32_t out[4], counter[4] = {0, 1, 5, 0};
    random_stream_init(&stream, 1, 1, 5);
    stream.counter[0] = UINT32_MAX;
    for (int i = 0; i < 4; i++) random_u32(&stream);
    philox4x32(counter, stream.key, out);
    for (int i = 0; i < 4; i++) assert_int_equal(random_u32(&stream), out[i]);
}

/* Kolmogorov and Smirnov's distance, times the root of n; above 2.2 once in ten thousand. */
enum { N_DRAWS = 200000 };
static double draws[N_DRAWS];

static int compare_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_distribution(double (*draw)(struct random_stream *), double (*cdf)(double)) {
    for (uint64_t substream = 0; substream < 4; substream++) {
        struct random_stream stream;
        random_stream_init(&stream, 11, 1, substream);
        for (int i = 0; i < N_DRAWS; i++) draws[i] = draw(&stream);
        qsort(draws, N_DRAWS, sizeof draws[0], compare_double);
        double worst = 0;
        for (int i = 0; i < N_DRAWS; i++) {
            double p = cdf(draws[i]);
            worst = fmax(worst, fmax(p - (double)i / N_DRAWS, (i + 1.0) / N_DRAWS - p));
        }
        assert_true(worst * sqrt(N_DRAWS) < 2.2);
    }
}

static double uniform_cdf(double x) { return x; }
static double gaussian_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double exponential_cdf(double x) { return -expm1(-x); }

/* Gamma variates of four shapes, whose distribution functions are known in closed form. */
static double gamma_1(struct random_stream *stream) { return random_gamma(stream, 1); }
static double gamma_3_halves(struct random_stream *stream) { return random_gamma(stream, 1.5); }
static double gamma_2(struct random_stream *stream) { return random_gamma(stream, 2); }
static double gamma_20(struct random_stream *stream) { return random_gamma(stream, 20); }

/* 1 - exp(-x) (1 + x + x^2/2! + .. + x^(n-1)/(n-1)!) */
static double whole_gamma_cdf(double x, int n) {
    double term = exp(-x), sum = 0;
    for (int i = 0; i < n; i++, term *= x / i) sum += term;
    return 1 - sum;
}
static double gamma_2_cdf(double x) { return whole_gamma_cdf(x, 2); }
static double gamma_20_cdf(double x) { return whole_gamma_cdf(x, 20); }
static double gamma_3_halves_cdf(double x) {
    return erf(sqrt(x)) - 2 * sqrt(x / acos(-1)) * exp(-x);
}

static void test_distributions(void **state) {
    (void)state;
    check_distribution(random_uniform, uniform_cdf);
    check_distribution(random_uniform_open, uniform_cdf);
    check_distribution(random_gaussian, gaussian_cdf);
    check_distribution(random_exponential, exponential_cdf);
    check_distribution(gamma_1, exponential_cdf);
    check_distribution(gamma_3_halves, gamma_3_halves_cdf);
    check_distribution(gamma_2, gamma_2_cdf);
    check_distribution(gamma_20, gamma_20_cdf);
}

static void test_gaussian_moments(void **state) {
    (void)state;
    enum { N = 1000000 };
    struct random_stream stream;
    random_stream_init(&stream, 12, 1, 0);
    double sum[5] = {0}, pairs = 0, before = 0;
    for (int i = 0; i < N; i++) {
        double x = random_gaussian(&stream), power = 1;
        for (int k = 0; k < 5; k++, power *= x) sum[k] += power;
        pairs += x * before; /* the two of a pair must not know of each other */
        before = x;
    }
    double unit = 4 / sqrt(N); /* four standard deviations of a mean of variance 1 */
    assert_true(fabs(sum[1] / N) < unit);
    assert_true(fabs(sum[2] / N - 1) < unit * sqrt(2));
    assert_true(fabs(sum[3] / N) < unit * sqrt(15));
    assert_true(fabs(sum[4] / N - 3) < unit * sqrt(96));
    assert_true(fabs(pairs / N) < unit);
}

static void test_uniform_bounds(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 13, 1, 0);
    for (int i = 0; i < 1000000; i++) {
        double closed = random_uniform(&stream), open = random_uniform_open(&stream);
        assert_true(closed >= 0 && closed < 1 && open > 0 && open < 1);
    }
}

/* Chi-squared over the values below n, and the case where naive remainders would be far off. */
static void test_below(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 14, 1, 0);
    for (uint64_t n = 1; n <= 50; n++) {
        int counts[50] = {0}, trials = 50000;
        for (int i = 0; i < trials; i++) {
            uint64_t x = random_below(&stream, n);
            assert_true(x < n);
            counts[x]++;
        }
        double expected = (double)trials / (double)n, chi = 0;
        for (uint64_t x = 0; x < n; x++) chi += pow(counts[x] - expected, 2) / expected;
        double freedom = (double)n - 1;
        assert_true(chi < freedom + 4.5 * sqrt(2 * freedom) + 10);
    }
    uint64_t n = UINT64_C(3) << 62; /* remainders of 2^64 would favour the lower third by two */
    int low = 0, trials = 100000;
    for (int i = 0; i < trials; i++) low += random_below(&stream, n) < UINT64_C(1) << 62;
    assert_true(fabs(low - trials / 3.0) < 4 * sqrt(trials * 2.0 / 9));
    assert_int_equal(random_below(&stream, 1), 0);
    assert_int_equal(random_below(&stream, 0), 0);
}

static void test_from_system(void **state) {
    (void)state;
    static uint8_t a[10000], b[10000];
    assert_int_equal(random_from_system(a, sizeof a, NULL), 0);
    assert_int_equal(random_from_system(b, sizeof b, NULL), 0);
    assert_memory_not_equal(a, b, sizeof a);
    assert_memory_not_equal(a + sizeof a - 16, b + sizeof b - 16, 16);
    assert_int_equal(random_from_system(a, 0, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),        cmocka_unit_test(test_streams_are_apart),
        cmocka_unit_test(test_values_do_not_change), cmocka_unit_test(test_position_carries),
        cmocka_unit_test(test_distributions),        cmocka_unit_test(test_gaussian_moments),
        cmocka_unit_test(test_uniform_bounds),       cmocka_unit_test(test_below),
        cmocka_unit_test(test_from_system),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
