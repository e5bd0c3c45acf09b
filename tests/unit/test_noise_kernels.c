/*
 * The noise of samplers: every instruction set makes the same bits; they are Gaussian, in the
 * middle and far out; streams of different keys have nothing in common; and the motions of rows do
 * what they say.
 *
 * The tests draw with fixed keys, so they pass or fail for good. Their bounds are at 6 standard
 * deviations: of keys taken at random one test in 5e8 would fail.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/kernels.h"

enum { DRAWS = 1 << 22, BINS = 256 };

#define SIGMAS 6.0

static const struct kernel_set *best(void) { return kernel_set_choose(NULL); }

static struct noise_stream stream_of(uint64_t seed, uint32_t chain, uint32_t round,
                                     uint32_t purpose, uint64_t place) {
    struct noise_stream stream;
    const struct noise_key key = {seed, chain, round, purpose, place};
    noise_stream_init(&stream, &key);
    return stream;
}

static float *draws(size_t n, uint64_t seed) {
    float *x = malloc(n * sizeof x[0]);
    assert_non_null(x);
    struct noise_stream stream = stream_of(seed, 0, 0, 0, 0);
    best()->fill(x, n, &stream);
    return x;
}

/* |value - wanted| within SIGMAS of its standard deviation. */
static void assert_near(const char *what, double value, double wanted, double deviation) {
    if (!(fabs(value - wanted) <= SIGMAS * deviation))
        fail_msg("%s: %.9g instead of %.9g, %.1f standard deviations away", what, value, wanted,
                 (value - wanted) / deviation);
}

/* ---- the same bits --------------------------------------------------------------------------- */

struct rows {
    size_t k, stride, n;
    float *rows, *momenta, *precision;
};

static float *aligned(size_t n) {
    float *x = aligned_alloc(64, (n * sizeof x[0] + 63) / 64 * 64);
    assert_non_null(x);
    memset(x, 0, n * sizeof x[0]);
    return x;
}

static struct rows make_rows(size_t k, size_t n) {
    size_t stride = (k + NOISE_BLOCK - 1) / NOISE_BLOCK * NOISE_BLOCK;
    struct rows r = {k, stride, n, aligned(n * stride), aligned(n * stride), aligned(stride)};
    for (size_t i = 0; i < n; i++)
        for (size_t x = 0; x < k; x++) {
            r.rows[i * stride + x] = 0.01f * (float)((i * 7 + x * 13) % 41) - 0.2f;
            r.momenta[i * stride + x] = 0.1f * (float)((i * 5 + x * 11) % 23) - 1.1f;
        }
    for (size_t x = 0; x < k; x++) r.precision[x] = 0.5f + (float)x;
    return r;
}

static void free_rows(struct rows *r) {
    free(r->rows);
    free(r->momenta);
    free(r->precision);
}

static float max_precision(const struct rows *r) {
    float most = 0;
    for (size_t x = 0; x < r->k; x++) most = fmaxf(most, r->precision[x]);
    return most;
}

enum { SOME = 7 };
static const uint32_t some_rows[SOME] = {3, 0, 4, 1, 3, 6, 5};
static const float some_times[SOME] = {1e-3f, 0.02f, 0.5f, 7, 1000, 1e-5f, 1e-4f};

static struct noise_rows some_of(const struct rows *r) {
    return (struct noise_rows){.rows = r->rows,
                               .momenta = r->momenta,
                               .stride = r->stride,
                               .k = r->k,
                               .precision = r->precision,
                               .precision_max = max_precision(r),
                               .which = some_rows,
                               .time = some_times,
                               .n = SOME};
}

static void diffuse_some(const struct kernel_set *set, struct rows *r) {
    struct noise_stream stream = stream_of(1, 2, 3, 4, r->k);
    const struct noise_rows rows = some_of(r);
    set->diffuse(&rows, &stream);
    set->diffuse(&rows, &stream); /* where the first call left the stream */
}

static void push_some(const struct kernel_set *set, struct rows *r, float energy[SOME]) {
    static const float keep[SOME] = {0.9f, 0.5f, 0.99f, 0.1f, 0.7f, 0.3f, 0.8f};
    static const float spread[SOME] = {0.436f, 0.866f, 0.141f, 0.995f, 0.714f, 0.954f, 0.6f};
    static const float damp[SOME] = {1, 0.9f, 1.1f, 1, 0.5f, 1, 1};
    const struct noise_push push = {0.01f, 130, 0.05f, keep, spread, damp, energy};
    struct noise_stream stream = stream_of(5, 6, 7, 8, r->k);
    const struct noise_rows rows = some_of(r);
    set->push(&rows, &push, &stream);
}

static void assert_same(const char *set, const char *what, size_t k, const float *a, const float *b,
                        size_t n) {
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof a[i]) != 0)
            fail_msg("%s: %s, k = %zu: number %zu is %.9g, by the reference %.9g", set, what, k, i,
                     (double)a[i], (double)b[i]);
}

static void compare_sets(const struct kernel_set *set, const struct kernel_set *ref, size_t k) {
    struct rows a = make_rows(k, SOME), b = make_rows(k, SOME);
    float energy_a[SOME], energy_b[SOME];
    diffuse_some(set, &a);
    diffuse_some(ref, &b);
    assert_same(set->name, "diffuse", k, a.rows, b.rows, SOME * a.stride);
    push_some(set, &a, energy_a);
    push_some(ref, &b, energy_b);
    assert_same(set->name, "push", k, a.rows, b.rows, SOME * a.stride);
    assert_same(set->name, "push, momenta", k, a.momenta, b.momenta, SOME * a.stride);
    assert_same(set->name, "push, energies", k, energy_a, energy_b, SOME);
    for (size_t i = 0; i < SOME; i++)
        for (size_t x = k; x < a.stride; x++) assert_true(a.rows[i * a.stride + x] == 0);
    free_rows(&a);
    free_rows(&b);
}

static void test_same_bits(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    const struct kernel_set *ref = kernel_set_choose("ref");
    float *a = malloc(N * sizeof a[0]), *b = malloc(N * sizeof b[0]);
    assert_true(a && b);
    for (size_t i = 0; kernel_set_at(i); i++) {
        const struct kernel_set *set = kernel_set_at(i);
        if (!set->is_supported()) {
            print_message("%s: not supported here, not run\n", set->name);
            continue;
        }
        struct noise_stream one = stream_of(9, 0, 0, 0, 0), two = one;
        set->fill(a, N, &one);
        ref->fill(b, N, &two);
        assert_same(set->name, "fill", 0, a, b, N);
        assert_memory_equal(&one, &two, sizeof one);
        for (size_t k = 1; k <= 50; k++) compare_sets(set, ref, k);
        compare_sets(set, ref, 128);
        compare_sets(set, ref, 1000);
    }
    free(a);
    free(b);
}

/* ---- Gaussian -------------------------------------------------------------------------------- */

static void test_moments(void **state) {
    (void)state;
    float *x = draws(DRAWS, 1);
    double sum[5] = {0}, n = DRAWS;
    for (size_t i = 0; i < DRAWS; i++) {
        double power = 1;
        for (int m = 1; m <= 4; m++) sum[m] += power *= (double)x[i];
    }
    assert_near("mean", sum[1] / n, 0, sqrt(1 / n));
    assert_near("variance", sum[2] / n, 1, sqrt(2 / n));
    assert_near("third moment", sum[3] / n, 0, sqrt(15 / n));
    assert_near("fourth moment", sum[4] / n, 3, sqrt(96 / n));
    free(x);
}

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Bins that are equally likely, but for the outermost, which are cut where few draws go. */
static void test_chi_square(void **state) {
    (void)state;
    float *x = draws(DRAWS, 2);
    static uint64_t count[BINS];
    double statistic = 0, wanted = (double)DRAWS / BINS;
    for (size_t i = 0; i < DRAWS; i++) {
        size_t bin = (size_t)(normal_cdf((double)x[i]) * BINS);
        count[bin < BINS ? bin : BINS - 1]++;
    }
    for (size_t b = 0; b < BINS; b++)
        statistic += ((double)count[b] - wanted) * ((double)count[b] - wanted) / wanted;
    assert_near("chi-square", statistic, BINS - 1, sqrt(2.0 * (BINS - 1)));
    free(x);
}

static void test_tails(void **state) {
    (void)state;
    static const double beyond[] = {2.5, 3, 3.5, 4, 4.5};
    float *x = draws(DRAWS, 3);
    double largest = 0;
    for (size_t t = 0; t < sizeof beyond / sizeof beyond[0]; t++)
        for (int side = -1; side <= 1; side += 2) {
            double n = 0, wanted = DRAWS * normal_cdf(-beyond[t]);
            for (size_t i = 0; i < DRAWS; i++) n += side * (double)x[i] > beyond[t];
            assert_near("tail", n, wanted, sqrt(wanted));
        }
    for (size_t i = 0; i < DRAWS; i++) largest = fmax(largest, fabs((double)x[i]));
    assert_true(largest > 4.7 &&
                largest < 6.7); /* the largest of four million; 6.66 is all that 31 bits give */
    free(x);
}

/* Sums over neighbours of all kinds: the same lane, the two halves of a pair, the next block. */
static void test_lags(void **state) {
    (void)state;
    float *x = draws(DRAWS, 4);
    for (size_t lag = 1; lag <= 2 * NOISE_BLOCK; lag++) {
        double product = 0, squares = 0, n = (double)(DRAWS - lag);
        for (size_t i = 0; i + lag < DRAWS; i++) {
            double a = (double)x[i], b = (double)x[i + lag];
            product += a * b;
            squares += (a * a - 1) * (b * b - 1);
        }
        assert_near("lag", product / n, 0, sqrt(1 / n));
        assert_near("lag of squares", squares / n, 0, sqrt(4 / n));
    }
    free(x);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static double correlation(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum / (double)n;
}

static void test_keys(void **state) {
    (void)state;
    enum { N = 1 << 14, KEYS = 12 };
    const struct noise_stream keys[KEYS] = {
        stream_of(1, 0, 0, 0, 0),          stream_of(2, 0, 0, 0, 0),
        stream_of(1, 1, 0, 0, 0),          stream_of(1, 0, 1, 0, 0),
        stream_of(1, 0, 0, 1, 0),          stream_of(1, 0, 0, 0, 1),
        stream_of(1, 2, 0, 0, 0),          stream_of(1, 0, 2, 0, 0),
        stream_of(1, 0, 0, 2, 0),          stream_of(1, 0, 0, 0, 2),
        stream_of(1ull << 63, 0, 0, 0, 0), stream_of(1, 0, 0, 0, 1ull << 40),
    };
    float *x[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        struct noise_stream stream = keys[i];
        assert_non_null(x[i] = malloc(N * sizeof x[i][0]));
        best()->fill(x[i], N, &stream);
        for (size_t j = 0; j < i; j++)
            assert_near("two keys", correlation(x[i], x[j], N), 0, sqrt(1.0 / N));
    }
    struct noise_stream again = stream_of(1, 0, 0, 0, 0);
    float *same = malloc(N * sizeof same[0]);
    assert_non_null(same);
    best()->fill(same, N, &again);
    assert_memory_equal(same, x[0], N * sizeof same[0]);
    free(same);
    for (size_t i = 0; i < KEYS; i++) free(x[i]);
}

/* The first numbers of many streams that follow each other are as independent as one stream's: a
 * row's noise in epoch after epoch is just that. */
static void test_first_of_many(void **state) {
    (void)state;
    enum { STREAMS = 1 << 15 };
    double sum = 0, squares = 0, lag = 0, last = 0;
    for (uint32_t i = 0; i < STREAMS; i++) {
        float x[NOISE_BLOCK];
        struct noise_stream stream = stream_of(1, 0, i, 0, 7);
        best()->fill(x, NOISE_BLOCK, &stream);
        sum += (double)x[0];
        squares += (double)x[0] * (double)x[0];
        lag += last * (double)x[0];
        last = (double)x[0];
    }
    assert_near("mean of firsts", sum / STREAMS, 0, sqrt(1.0 / STREAMS));
    assert_near("variance of firsts", squares / STREAMS, 1, sqrt(2.0 / STREAMS));
    assert_near("lag of firsts", lag / STREAMS, 0, sqrt(1.0 / STREAMS));
}

/* ---- motions --------------------------------------------------------------------------------- */

/* Columns of different precisions, from a fixed place, many times: mean and variance are those of
 * the process. */
static void check_diffusion(float time) {
    enum { K = 32, TIMES = 20000 };
    struct rows r = make_rows(K, 1);
    const uint32_t row = 0;
    double sum[K] = {0}, squares[K] = {0};
    struct noise_stream stream = stream_of(11, 0, 0, 0, (uint64_t)(time * 1e6f));
    struct noise_rows rows = some_of(&r);
    rows.which = &row;
    rows.time = &time;
    rows.n = 1;
    for (size_t x = 0; x < K; x++) r.precision[x] = x == 0 ? 0 : 0.1f * powf(1.3f, (float)x);
    rows.precision_max = max_precision(&r);
    for (size_t i = 0; i < TIMES; i++) {
        for (size_t x = 0; x < K; x++) r.rows[x] = 0.5f;
        best()->diffuse(&rows, &stream);
        for (size_t x = 0; x < K; x++) {
            sum[x] += (double)r.rows[x];
            squares[x] += (double)r.rows[x] * (double)r.rows[x];
        }
    }
    for (size_t x = 0; x < K; x++) {
        double p = (double)r.precision[x], t = (double)time, mean = sum[x] / TIMES;
        double variance = p > 0 ? -expm1(-p * t) / p : t;
        assert_near("mean", mean, 0.5 * exp(-p * t / 2), sqrt(variance / TIMES));
        assert_near("variance", squares[x] / TIMES - mean * mean, variance,
                    variance * sqrt(2.0 / TIMES));
    }
    free_rows(&r);
}

static void test_diffusion(void **state) {
    (void)state;
    static const float times[] = {1e-6f, 1e-4f, 1e-3f, 0.01f, 0.3f, 5, 1000};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) check_diffusion(times[i]);
}

/* What a step keeps of a place, and how far it spreads, without the noise: two places that get the
 * same numbers, and columns with a precision beside those without. */
static void check_step(float time) {
    enum { K = 32 };
    struct rows r = make_rows(K, 3);
    const uint32_t which = 0;
    struct noise_rows rows = some_of(&r);
    rows.which = &which;
    rows.time = &time;
    rows.n = 1;
    for (size_t row = 0; row < 3; row++) {
        struct noise_stream stream = stream_of(13, 0, 0, 0, 0);
        rows.rows = r.rows + row * r.stride;
        for (size_t x = 0; x < K; x++) {
            rows.rows[x] = row == 1 ? 8 : 0;
            r.precision[x] = row == 2 ? 0 : 1 + (float)(x % 7);
        }
        rows.precision_max = max_precision(&r);
        best()->diffuse(&rows, &stream);
    }
    for (size_t x = 0; x < K; x++) {
        const float *at = r.rows + x;
        const double z = (1 + (double)(x % 7)) * (double)time, noise = (double)at[2 * r.stride];
        const double kept = ((double)at[r.stride] - (double)at[0]) / 8;
        const double spread = (double)at[0] / noise, whole = sqrt(-expm1(-z) / z);
        if (!(fabs(kept / exp(-z / 2) - 1) < 5e-5)) fail_msg("z = %g: %.9g is kept", z, kept);
        if (!(fabs(spread / whole - 1) < 5e-5)) fail_msg("z = %g: spread %.9g", z, spread);
    }
    free_rows(&r);
}

static void test_step(void **state) {
    (void)state;
    for (float time = 1e-6f; time < 0.5f; time *= 1.25f) check_step(time);
}

/* Without ratings the pushes must leave the prior and the momenta as they are: from a draw of both,
 * after many pushes, places have variance 1/precision and momenta 1, and they are independent. */
static void check_push(float time, float friction, float drift) {
    enum { K = 16, ROWS = 8192, PUSHES = 24 };
    struct rows r = make_rows(K, ROWS);
    static uint32_t which[ROWS];
    static float times[ROWS], keep[ROWS], spread[ROWS], damp[ROWS], energy[ROWS];
    struct noise_stream stream = stream_of(12, 0, 0, 0, (uint64_t)(time * 1e6f));
    double c = sqrt((double)drift * (double)friction);
    struct noise_rows rows = some_of(&r);
    struct noise_push push = {
        drift, (float)((1 + c) / (double)drift), sqrtf(drift / friction), keep, spread, damp,
        energy};
    for (size_t x = 0; x < K; x++) r.precision[x] = 2 + (float)x;
    for (uint32_t i = 0; i < ROWS; i++) {
        which[i] = i;
        times[i] = time;
        keep[i] = expf(-friction * time);
        spread[i] = sqrtf(1 - keep[i] * keep[i]);
        damp[i] = 1;
    }
    rows.which = which;
    rows.time = times;
    rows.n = ROWS;
    rows.precision_max = max_precision(&r);
    best()->fill(r.rows, ROWS * K, &stream);
    best()->fill(r.momenta, ROWS * K, &stream);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t x = 0; x < K; x++) {
            float *q = &r.rows[i * K + x], *s = &r.momenta[i * K + x];
            *q /= sqrtf(r.precision[x]);
            *s -= push.row_shift * *q;
        }
    double qq = 0, pp = 0, qp = 0, energies = 0, n = (double)ROWS * K * PUSHES;
    for (size_t step = 0; step < PUSHES; step++) {
        best()->push(&rows, &push, &stream);
        for (size_t i = 0; i < ROWS; i++) {
            energies += (double)energy[i];
            for (size_t x = 0; x < K; x++) {
                double q = (double)r.rows[i * K + x];
                double p = (double)r.momenta[i * K + x] + (double)push.row_shift * q;
                q *= sqrt((double)r.precision[x]);
                qq += q * q;
                pp += p * p;
                qp += q * p;
            }
        }
    }
    /* the draws of one row depend on each other: as if there were one of each; the time step costs
     * its square */
    double bound = SIGMAS * sqrt(2.0 / (ROWS * K)), bias = 17 * (double)time * (double)time / 4;
    if (!(fabs(qq / n - 1) <= bound + bias)) fail_msg("places: %g", qq / n);
    if (!(fabs(pp / n - 1) <= bound + bias)) fail_msg("momenta: %g", pp / n);
    if (!(fabs(qp / n) <= bound + sqrt(bias))) fail_msg("both: %g", qp / n);
    if (!(fabs(energies / n - 1) <= bound + bias)) fail_msg("energies: %g", energies / n);
    free_rows(&r);
}

static void test_push(void **state) {
    (void)state;
    check_push(0.02f, 5, 0.01f);
    check_push(0.05f, 1, 0.02f);
    check_push(0.05f, 20, 0.05f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),     cmocka_unit_test(test_moments),
        cmocka_unit_test(test_chi_square),    cmocka_unit_test(test_tails),
        cmocka_unit_test(test_lags),          cmocka_unit_test(test_keys),
        cmocka_unit_test(test_first_of_many), cmocka_unit_test(test_diffusion),
        cmocka_unit_test(test_step),          cmocka_unit_test(test_push),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
