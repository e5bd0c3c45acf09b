/*
 * R-hat and effective sample size against series whose answer is known: independent draws,
 * autoregressions, shifted and stretched chains, trends, and everything that is no proper series;
 * and what the monitor makes of them in words and in the picture.
 *
 * Seeds are fixed, so nothing here fails by chance; each tolerance is at least four standard errors
 * of the estimate, so that it would hold for nearly every seed.
 */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "chains/chain_monitor.h"
#include "chains/mixing.h"
#include "random/random.h"

enum { CHAINS = 4, DRAWS = 4000 };

static double draws[CHAINS][DRAWS];
static const double *chains[CHAINS] = {draws[0], draws[1], draws[2], draws[3]};

/* x' = phi x + noise, of variance 1, from its own distribution on. */
static void make_autoregression(double phi, uint64_t seed) {
    for (int c = 0; c < CHAINS; c++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, 77, (uint64_t)c);
        double x = random_gaussian(&stream);
        for (int i = 0; i < DRAWS; i++) {
            draws[c][i] = x;
            x = phi * x + sqrt(1 - phi * phi) * random_gaussian(&stream);
        }
    }
}

static struct mixing judge(size_t n_chains, size_t n) {
    struct mixing mixing;
    struct dpmf_error error;
    assert_int_equal(mixing_judge(chains, n_chains, n, &mixing, &error), 0);
    assert_false(isnan(mixing.rhat) || isnan(mixing.ess));
    return mixing;
}

static void check_between(double value, double low, double high) {
    if (!(value >= low && value <= high)) fail_msg("%g is not in [%g, %g]", value, low, high);
}

static double squared(double x) { return x * x; }

/* ---- known answers --------------------------------------------------------------------------- */

/* The integrated autocorrelation time of an autoregression is (1 + phi) / (1 - phi). */
static void test_autoregressions(void **state) {
    const struct {
        double phi, tolerance;
    } cases[] = {{0, .08}, {.5, .1}, {.9, .2}, {.98, .4}, {-.4, .08}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_autoregression(cases[i].phi, 1 + i);
        struct mixing mixing = judge(CHAINS, DRAWS);
        double expected = CHAINS * DRAWS * (1 - cases[i].phi) / (1 + cases[i].phi);
        check_between(mixing.ess / expected, 1 - cases[i].tolerance, 1 + cases[i].tolerance);
        check_between(mixing.rhat, .99, 1 + 20 / expected + .005);
        assert_false(mixing.is_constant);
    }
}

/* Cubes of Gaussians have the same ranks: rank-normalised figures do not change at all. */
static void test_any_scale(void **state) {
    (void)state;
    make_autoregression(.7, 9);
    struct mixing plain = judge(CHAINS, DRAWS);
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < DRAWS; i++) draws[c][i] = 1e100 * pow(draws[c][i], 3) + 7;
    struct mixing cubed = judge(CHAINS, DRAWS);
    check_between(cubed.ess / plain.ess, .999, 1.001);
    assert_true(fabs(cubed.rhat - plain.rhat) < 1e-3);
}

/* Two chains without a common value: after ranking, halves of a Gaussian, of mean -+sqrt(2/pi) and
 * variance 1 - 2/pi; of the four halves, two and two share a mean. */
static void test_shifted_chains(void **state) {
    double between = 4 * (2 / M_PI) / 3, within = 1 - 2 / M_PI;
    (void)state;
    make_autoregression(0, 3);
    for (int i = 0; i < DRAWS; i++) draws[1][i] += 100;
    check_between(judge(2, DRAWS).rhat / sqrt(1 + between / within), .99, 1.01);
    check_between(judge(2, DRAWS).ess, 1, 20);
    make_autoregression(0, 3);
    for (int i = 0; i < DRAWS; i++) draws[1][i] += .6;
    check_between(judge(2, DRAWS).rhat, CHAIN_RHAT_MAX, 1.1);
}

/* One place, another spread: only the distances from the median tell. */
static void test_stretched_chains(void **state) {
    (void)state;
    make_autoregression(0, 4);
    for (int i = 0; i < DRAWS; i++) draws[2][i] *= 5;
    check_between(judge(CHAINS, DRAWS).rhat, 1.1, 2);
}

/* A chain that is still on its way differs from its own other half. */
static void test_trend(void **state) {
    (void)state;
    make_autoregression(0, 5);
    for (int i = 0; i < DRAWS; i++) draws[0][i] += 4.0 * i / DRAWS;
    check_between(judge(1, DRAWS).rhat, 1.2, 3);
    check_between(judge(1, DRAWS).ess, 0, 100);
}

static double ess_error(double phi, uint64_t seed) {
    make_autoregression(phi, seed);
    return judge(CHAINS, DRAWS).ess / (CHAINS * DRAWS * (1 - phi) / (1 + phi)) - 1;
}

/* Over many seeds the estimate is right on average: 40 of them, with a standard error of about 1 %.
 */
static void test_no_bias(void **state) {
    double sum = 0, squares = 0;
    (void)state;
    for (uint64_t seed = 100; seed < 140; seed++) {
        double error = ess_error(.8, seed);
        sum += error / 40;
        squares += squared(error) / 40;
    }
    check_between(sum, -.04, .04);
    check_between(sqrt(squares), 0, .12);
}

/* ---- what is no proper series ---------------------------------------------------------------- */

static void fill(double value) {
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < DRAWS; i++) draws[c][i] = value;
}

static void test_improper(void **state) {
    (void)state;
    fill(3);
    assert_true(judge(CHAINS, DRAWS).is_constant);
    assert_true(judge(CHAINS, DRAWS).rhat == 1);
    for (int i = 0; i < DRAWS; i++) draws[1][i] = 4; /* each stuck, at different places */
    assert_true(isinf(judge(CHAINS, DRAWS).rhat));
    assert_false(judge(CHAINS, DRAWS).is_constant);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t b = 0; b < 3; b++) {
        make_autoregression(0, 6);
        draws[2][77] = bad[b];
        assert_true(isinf(judge(CHAINS, DRAWS).rhat));
        assert_true(judge(CHAINS, DRAWS).ess == 0);
    }
    make_autoregression(0, 6);
    for (size_t n = 0; n < MIXING_DRAWS_MIN; n++) assert_true(isinf(judge(CHAINS, n).rhat));
    assert_true(isinf(judge(0, DRAWS).rhat));
    assert_true(isfinite(judge(1, MIXING_DRAWS_MIN).rhat));
    for (int c = 0; c < CHAINS; c++) /* so large that differences are infinite */
        for (int i = 0; i < DRAWS; i++) draws[c][i] = i % 2 ? 1.7e308 : -1.7e308;
    assert_true(judge(CHAINS, DRAWS).ess >= 0);
    fill(1); /* all but one the same */
    draws[0][0] = 2;
    assert_true(judge(CHAINS, DRAWS).rhat >= 0);
}

/* ---- the monitor ----------------------------------------------------------------------------- */

static const char *const names[] = {"log-posterior", "a <b> & \"c\"", "fixed"};

static struct chain_monitor *make_monitor(uint32_t n_chains, int rounds, double shift) {
    struct chain_monitor *monitor;
    struct dpmf_error error;
    assert_int_equal(chain_monitor_init(&monitor, n_chains, names, 3, &error), 0);
    make_autoregression(.3, 8);
    for (uint32_t c = 0; c < n_chains; c++)
        for (int i = 0; i < rounds; i++) {
            double start = i < 50 ? 200 - 4 * i : 0; /* on its way for 50 rounds */
            const double values[] = {draws[c][i] + start, draws[c][i] + shift * c, 1.5};
            assert_int_equal(chain_monitor_add(monitor, c, values, &error), 0);
        }
    return monitor;
}

static struct chain_verdict judge_monitor(const struct chain_monitor *monitor, uint32_t burn_in) {
    struct chain_verdict verdict;
    assert_int_equal(chain_monitor_judge(monitor, burn_in, &verdict, NULL), 0);
    assert_false(isnan(verdict.rhat) || isnan(verdict.ess));
    return verdict;
}

static void test_verdicts(void **state) {
    char text[256];
    (void)state;
    struct chain_monitor *monitor = make_monitor(4, 1000, 0);
    struct chain_verdict verdict = judge_monitor(monitor, 50);
    assert_true(verdict.is_converged);
    assert_true(verdict.rhat < 1.01 && verdict.ess > 1000);
    assert_int_equal(verdict.draws, 950);
    chain_monitor_describe(&verdict, text, sizeof text);
    assert_ptr_equal(strstr(text, "no sign was found"), text);

    chain_monitor_free(monitor);
    monitor = make_monitor(4, 300, 0);
    verdict = judge_monitor(monitor, 0);
    assert_false(verdict.is_converged);
    assert_string_equal(verdict.worst, "log-posterior");
    chain_monitor_describe(&verdict, text, sizeof text);
    assert_ptr_equal(strstr(text, "the chains have not converged: the worst is log-posterior"),
                     text);

    verdict = judge_monitor(monitor, 299); /* one round is no series */
    assert_false(verdict.is_converged);
    assert_true(isinf(verdict.rhat));
    verdict = judge_monitor(monitor, 5000);
    assert_false(verdict.is_converged);
    assert_int_equal(verdict.draws, 0);
    chain_monitor_free(monitor);

    monitor = make_monitor(2, 1000, 1.5);
    verdict = judge_monitor(monitor, 50);
    assert_false(verdict.is_converged);
    assert_string_equal(verdict.worst, names[1]);
    chain_monitor_free(monitor);

    monitor = make_monitor(4, 70, 0); /* they agree, but are worth too little */
    verdict = judge_monitor(monitor, 55);
    assert_false(verdict.is_converged);
    assert_true(verdict.ess < CHAIN_ESS_MIN);
    chain_monitor_free(monitor);
}

/* What never moved is no evidence. */
static void test_nothing_moves(void **state) {
    struct chain_monitor *monitor;
    char text[256];
    (void)state;
    assert_int_equal(chain_monitor_init(&monitor, 2, names, 1, NULL), 0);
    for (int i = 0; i < 100; i++)
        for (uint32_t c = 0; c < 2; c++)
            assert_int_equal(chain_monitor_add(monitor, c, &(double){4}, NULL), 0);
    struct chain_verdict verdict = judge_monitor(monitor, 0);
    assert_false(verdict.is_converged);
    assert_string_equal(verdict.worst, "");
    chain_monitor_describe(&verdict, text, sizeof text);
    assert_string_equal(text, "the chains have not converged: nothing that was traced moved");
    chain_monitor_free(monitor);
    chain_monitor_free(NULL);
}

/* ---- the picture ----------------------------------------------------------------------------- */

static char *read_text(const char *path) {
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    return text;
}

static size_t count(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text++) n++;
    return n;
}

static void check_picture(const struct chain_monitor *monitor, uint32_t burn_in, size_t lines) {
    char path[] = "/tmp/dpmf-traces-XXXXXX";
    struct stat status;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(chain_monitor_plot(monitor, burn_in, path, NULL), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    char *text = read_text(path);
    assert_int_equal(count(text, "<path"), lines);
    assert_int_equal(count(text, "<text"), count(text, "</text>"));
    assert_ptr_equal(strstr(text, "<svg"), text);
    assert_non_null(strstr(text, "</svg>\n"));
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    assert_non_null(strstr(text, "a &#60;b&#62; &#38; &#34;c&#34;"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, ">inf"));
    assert_true(strlen(text) < 200000);
    unlink(path);
}

static void test_picture(void **state) {
    (void)state;
    struct chain_monitor *monitor = make_monitor(4, DRAWS, 0);
    check_picture(monitor, 50, 12);
    check_picture(monitor, UINT32_MAX, 12);
    assert_int_equal(chain_monitor_plot(monitor, 0, "/nonexistent/traces.svg", NULL),
                     DPMF_ERR_IO_MISSING);
    const double bad[] = {NAN, INFINITY, -1e308};
    assert_int_equal(chain_monitor_add(monitor, 0, bad, NULL), 0);
    check_picture(monitor, 50, 12);
    chain_monitor_free(monitor);
    monitor = make_monitor(1, 1, 0);
    check_picture(monitor, 0, 3);
    chain_monitor_free(monitor);
    monitor = make_monitor(2, 0, 0);
    check_picture(monitor, 0, 6);
    chain_monitor_free(monitor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_autoregressions), cmocka_unit_test(test_any_scale),
        cmocka_unit_test(test_shifted_chains),  cmocka_unit_test(test_stretched_chains),
        cmocka_unit_test(test_trend),           cmocka_unit_test(test_no_bias),
        cmocka_unit_test(test_improper),        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_nothing_moves),   cmocka_unit_test(test_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
