/*
 * The accountant against figures computed elsewhere, with more digits than doubles have: agreement
 * to 1e-6 of the figure, and never on the side that would flatter us.
 *
 * The tables were made with Python's mpmath: delta straight from its definition Phi(mu/2 - eps/mu)
 * - e^eps Phi(-mu/2 - eps/mu) with 400 digits, since the terms nearly cancel; mu by 120 bisections
 * of that; the Renyi figures by a golden-section search over log(alpha - 1) with 60 digits.
 * Arguments are the doubles nearest to what is written.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dpmf.h"
#include "random/random.h"
#include "statement/accountant.h"

static const struct {
    double mu, epsilon, delta;
} deltas[] = {
    {1e-9, 0, 3.98942280401432703e-10},
    {1e-9, 1e-9, 8.33154706293440389e-11},
    {1e-9, 3e-8, 1.63195675857097572e-208},
    {1e-6, 1e-6, 8.33155122454253923e-8},
    {1e-6, 3e-5, 1.63198121362570108e-205},
    {1e-3, 1e-6, 0.000398442662471268214},
    {1e-3, 1e-3, 0.0000833571321252084935},
    {1e-3, 0.03, 1.65662039504293831e-202},
    {0.015, 0.0001, 0.0059345078071958976},
    {0.015625, 0.1, 1.90665155490893263e-13},
    {0.0157, 0.1, 2.34974967024299064e-13},
    {0.0157, 0.55, 2.17053114673771842e-272},
    {0.1, 1e-6, 0.0398771316173029537},
    {0.1, 1, 1.23083598364271123e-25},
    {0.1, 3.6, 7.00916386868869271e-286},
    {0.5, 0.125, 0.15038116527960193},
    {0.5, 2, 9.43916863494723376e-6},
    {0.5, 18, 4.55562169064171691e-282},
    {1, 0, 0.382924922548026207},
    {1, 0.5, 0.238421708134876628},
    {1, 5, 5.7937216919194941e-7},
    {1, 36, 6.72318992310302992e-278},
    {3, 4.5, 0.378486051644437833},
    {3, 4, 0.440429762786311924},
    {3, 20, 4.22475461676941009e-8},
    {3, 110, 2.53780956261390713e-272},
    {10, 1e-6, 0.99999942669656959},
    {10, 50, 0.460493305898613997},
    {10, 49, 0.500128798367262815},
    {10, 300, 8.71640457841070303e-139},
    {30, 450, 0.486716650646016206},
    {30, 1000, 1.38991533756635272e-75},
    {44, 1000, 0.226686142809403121},
    {24, 1000, 4.61885135330245868e-194},
    {1000, 1000, 1.0},
    {1000, 500000, 0.499601058118539651},
    {1000, 520000, 2.69949722590415667e-89},
};

static const struct {
    double epsilon, delta, mu;
} pairs[] = {
    {1e-6, 1e-5, 0.0000263005756504815525}, {1e-6, 1e-300, 2.74152954215943016e-8},
    {1e-6, 0.5, 1.34898028710816734},       {1e-3, 1e-9, 0.000242563622008446861},
    {0.01, 1e-100, 0.00048153513130779742}, {0.1, 1e-5, 0.0325207840562039119},
    {0.5, 1e-5, 0.142210558669261223},      {1, 1e-5, 0.268051123211294219},
    {2, 1e-5, 0.501551689169656624},        {5, 1e-5, 1.12124182381840889},
    {10, 1e-5, 2.00044562043063242},        {20, 1e-5, 3.44778344686939539},
    {1, 1e-10, 0.170422269327253666},       {1, 1e-300, 0.0271256339158175361},
    {1, 0.5, 1.9721336276896817},           {8, 1e-6, 1.53154511756614513},
    {100, 1e-12, 8.80698971230270332},      {100, 0.5, 14.2125558668777176},
    {1000, 1e-5, 40.6805310133328074},      {1000, 1e-300, 21.0359533308568229},
    {1000, 0.5, 44.7437109263881372},
};

static const struct {
    double mu, delta, epsilon;
} renyis[] = {
    {0.1, 1e-5, 0.375261235699023172},    {0.26805, 1e-5, 1.0921453160223346},
    {1, 1e-5, 4.72838698494331388},       {1, 1e-10, 6.83932941312084849},
    {3, 1e-6, 19.2295104339285057},       {10, 1e-5, 96.035270675173148},
    {1e-3, 1e-9, 0.00474135807553444465},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* `value` is from `exact` up to so much of itself above. The tables have 18 digits, hence the last
 * term. */
static void check_above(double value, double exact, double tolerance) {
    if (!(value >= exact * (1 - 4 * DBL_EPSILON)) || !(value <= exact * (1 + tolerance)))
        fail_msg("%.17g should be %.17g or a little more", value, exact);
}

static void test_delta(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(deltas); i++)
        check_above(accountant_delta(deltas[i].mu, deltas[i].epsilon), deltas[i].delta, 1e-9);
}

static void test_mu(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        double epsilon = pairs[i].epsilon, delta = pairs[i].delta;
        double mu = accountant_mu(epsilon, delta);
        check_above(1 / mu, 1 / pairs[i].mu, 1e-6);
        assert_true(accountant_delta(mu, epsilon) <= delta);
    }
}

static void test_epsilon(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        /* mu is rounded in the table, so epsilon is the figure but for a little. */
        double epsilon = accountant_epsilon(pairs[i].mu, pairs[i].delta);
        if (!(fabs(epsilon / pairs[i].epsilon - 1) <= 1e-6))
            fail_msg("epsilon(%g, %g) is %.17g", pairs[i].mu, pairs[i].delta, epsilon);
        assert_true(accountant_delta(pairs[i].mu, epsilon) <= pairs[i].delta);
    }
}

static void test_renyi(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(renyis); i++)
        check_above(accountant_epsilon_renyi(renyis[i].mu, renyis[i].delta), renyis[i].epsilon,
                    1e-6);
}

/* What the documents say: mu at delta 1e-5, rounded down somewhat, and what a person with two ids
 * gets. */
static void test_documented_figures(void **state) {
    (void)state;
    static const double epsilon[] = {0.5, 1, 2, 5, 10, 20};
    static const double mu[] = {0.14220, 0.26805, 0.50154, 1.12124, 2.00044, 3.44777};
    static const double of_two[] = {0, 2.15, 4.4, 11.5, 24, 0};
    for (size_t i = 0; i < LENGTH(mu); i++) {
        double allowed = accountant_mu(epsilon[i], 1e-5);
        assert_true(allowed >= mu[i] && allowed < mu[i] + 2e-5);
        if (of_two[i] > 0)
            assert_true(fabs(accountant_epsilon(2 * allowed, 1e-5) / of_two[i] - 1) < 0.02);
    }
}

enum { RANDOM_POINTS = 20000 };

static double draw(struct random_stream *stream, double log_low, double log_high) {
    return exp(log_low + (log_high - log_low) * random_uniform(stream));
}

/* Steps are larger than the 1e-9 by which neighbouring bounds may differ. */
static void test_monotone(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 1, 1, 0);
    for (int i = 0; i < RANDOM_POINTS; i++) {
        double mu = draw(&stream, log(1e-9), log(1e3)),
               epsilon = draw(&stream, log(1e-6), log(1e3));
        double step = 1 + draw(&stream, log(1e-7), log(1));
        double delta = accountant_delta(mu, epsilon);
        assert_true(delta > 0 && delta <= 1);
        assert_true(accountant_delta(mu * step, epsilon) >= delta * (1 - 1e-9));
        assert_true(accountant_delta(mu, epsilon * step) <= delta * (1 + 1e-9));
    }
}

static void test_inverses(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 1, 1, 0);
    for (int i = 0; i < RANDOM_POINTS / 10; i++) {
        double epsilon = draw(&stream, log(1e-6), log(1e3));
        double delta = draw(&stream, log(1e-300), log(0.5));
        double mu = accountant_mu(epsilon, delta), back = accountant_epsilon(mu, delta);
        assert_true(mu > 0 && accountant_delta(mu, epsilon) <= delta);
        assert_true(accountant_delta(mu * (1 + 1e-6), epsilon) > delta);
        assert_true(back <= epsilon * (1 + 1e-9) && accountant_delta(mu, back) <= delta);
        assert_true(accountant_epsilon_renyi(mu, delta) >= back);
        assert_true(accountant_epsilon(mu * 1.001, delta) >= back);
        assert_true(accountant_epsilon(mu, delta / 1.001) >= back);
        assert_true(accountant_mu(epsilon * 1.001, delta) >= mu);
        assert_true(accountant_mu(epsilon, delta / 1.001) <= mu);
    }
}

static void test_compose(void **state) {
    (void)state;
    const double sides[] = {3, 4}, tiny[] = {3e-200, 4e-200}, huge[] = {3e200, 4e200};
    const double wrong[] = {1, -1}, endless[] = {1, INFINITY};
    double many[1000];
    check_above(accountant_compose(sides, 2), 5, 1e-14);
    check_above(accountant_compose(tiny, 2), 5e-200, 1e-14);
    check_above(accountant_compose(huge, 2), 5e200, 1e-14);
    for (size_t i = 0; i < LENGTH(many); i++) many[i] = 0.1;
    check_above(accountant_compose(many, LENGTH(many)), 0.1 * sqrt(1000), 1e-12);
    assert_true(accountant_compose(many, 0) == 0);
    assert_true(accountant_compose(many, 1) == 0.1);
    assert_true(isnan(accountant_compose(wrong, 2)));
    assert_true(isinf(accountant_compose(endless, 2)));
}

/* What is epsilon-private without a delta has, at e, delta (e^epsilon - e^e) / (1 + e^epsilon) at
 * most; the Gaussian one has no less at any e, and the same at 0. */
static void test_pure(void **state) {
    (void)state;
    static const double epsilons[] = {1e-6, 0.01, 0.5, 1, 2, 5, 10, 30};
    for (size_t i = 0; i < LENGTH(epsilons); i++) {
        double epsilon = epsilons[i], mu = accountant_mu_pure(epsilon);
        for (double e = 0; e <= epsilon; e += epsilon / 64) {
            double pure = (1 - exp(e - epsilon)) / (1 + exp(-epsilon));
            assert_true(accountant_delta(mu, e) >= pure * (1 - 1e-12));
        }
        double distance = tanh(epsilon / 2);
        if (epsilon < 20) check_above(erf(mu / 2 / sqrt(2)), distance, 1e-5);
    }
    check_above(accountant_mu_pure(1), 1.2320353853449, 1e-11);
    /* Far out Phi(-x) is density / x, nearly. */
    double x = accountant_mu_pure(1000) / 2;
    double tail = x * x / 2 + log(x) + 0.5 * log(2 * M_PI) + log1p(1 / (x * x));
    assert_true(fabs(tail - 1000) < 1e-5);
    assert_true(accountant_mu_pure(1e9) > 89442 && accountant_mu_pure(1e9) < 89443);
    assert_true(accountant_mu_pure(0) == 0);
    assert_true(isnan(accountant_mu_pure(-1)) && isnan(accountant_mu_pure(NAN)));
    assert_true(isnan(accountant_mu_pure(INFINITY)));
}

static void test_nonsense(void **state) {
    (void)state;
    static const double bad[] = {NAN, -1, -INFINITY, -DBL_TRUE_MIN};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_true(isnan(accountant_delta(bad[i], 1)) && isnan(accountant_delta(1, bad[i])));
        assert_true(isnan(accountant_mu(bad[i], 0.1)) && isnan(accountant_mu(1, bad[i])));
        assert_true(isnan(accountant_epsilon(bad[i], 0.1)) && isnan(accountant_epsilon(1, bad[i])));
        assert_true(isnan(accountant_epsilon_renyi(bad[i], 0.1)));
        assert_true(isnan(accountant_epsilon_renyi(1, bad[i])));
    }
}

static void test_ends(void **state) {
    (void)state;
    assert_true(accountant_delta(0, 1) == 0 && accountant_delta(INFINITY, 1) == 1);
    assert_true(accountant_delta(1, INFINITY) == 0 && accountant_delta(1, 1e308) > 0);
    assert_true(accountant_delta(1e-9, 1000) > 0 && accountant_delta(1e-9, 1000) < 1e-300);
    assert_true(accountant_mu(1, 0) == 0 && isinf(accountant_mu(1, 1)));
    assert_true(isinf(accountant_mu(INFINITY, 1e-5)));
    assert_true(isinf(accountant_epsilon(1, 0)) && isinf(accountant_epsilon(INFINITY, 0.5)));
    assert_true(accountant_epsilon(0, 0) == 0 && accountant_epsilon(1, 1) == 0);
    assert_true(accountant_epsilon(1, 0.5) == 0 && accountant_epsilon_renyi(0, 1e-5) == 0);
    assert_true(accountant_epsilon(1e3, 1e-300) < INFINITY);
    assert_true(isinf(accountant_epsilon_renyi(1, 0)));
    assert_true(accountant_delta(1e300, 1) == 1 && accountant_delta(DBL_TRUE_MIN, 0) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delta),    cmocka_unit_test(test_mu),
        cmocka_unit_test(test_epsilon),  cmocka_unit_test(test_renyi),
        cmocka_unit_test(test_monotone), cmocka_unit_test(test_documented_figures),
        cmocka_unit_test(test_inverses), cmocka_unit_test(test_compose),
        cmocka_unit_test(test_nonsense), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_pure),
    };
    return cmocka_run_group_tests_name("accountant", tests, NULL, NULL);
}
