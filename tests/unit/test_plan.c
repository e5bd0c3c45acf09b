/*
 * The choice of the number of factors against the prototype of the mechanism, whose own function
 * gave the figures; and the plan: it forecasts the published errors on MovieLens 1M, moves the
 * right way, and refuses sizes that make no sense.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dpmf.h"
#include "mechanisms/choose_factors.h"
#include "statement/accountant.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- the choice ------------------------------------------------------------------------------ */

enum { ITEMS = 200 };

/* Counts 400 j^-.8, users of 64 typical ratings. */
static struct choose_factors_input make_input(double counts[ITEMS], double mu, double spectrum) {
    double total = 0;
    for (int j = 0; j < ITEMS; j++) total += counts[j] = 400 / pow(j + 1, 0.8);
    return (struct choose_factors_input){
        .counts = counts,
        .n_items = ITEMS,
        .total = total,
        .root_total = total / 8,
        .users = total / 7,
        .noise_variance = 0.9,
        .snr = 2,
        .mu = mu,
        .first_share = 0.2,
        .count_weight = 0.8,
        .spectrum = spectrum,
        .spectrum_decay = 1.2,
    };
}

static void test_choice_is_the_prototypes(void **state) {
    static const struct {
        double mu, spectrum, gain[3]; /* gain for 0, 2 and 20 factors */
        size_t best;
    } expected[] = {
        {0.1, 0.08, {0.0895270491045764, 0.0983385178905476, 0.0544366935665636}, 2},
        {0.1, 0.16, {0.0895270491045764, 0.153585929304049, 0.0896352938863852}, 2},
        {0.5, 0.08, {0.135712908767493, 0.187238799744641, 0.140405015835553}, 2},
        {0.5, 0.16, {0.135712908767493, 0.285281217435349, 0.236764360537146}, 4},
        {1.5, 0.08, {0.144054944390197, 0.221692288229808, 0.208596172353192}, 5},
        {1.5, 0.16, {0.144054944390197, 0.331218727863931, 0.352059387701546}, 7},
        {3.5, 0.08, {0.145119429289831, 0.228562544383084, 0.241668529839379}, 8},
        {3.5, 0.16, {0.145119429289831, 0.33948296247561, 0.406885533682105}, 13},
        {8, 0.08, {0.145119429289831, 0.228562544383084, 0.241668529839379}, 8},
        {8, 0.16, {0.145119429289831, 0.33948296247561, 0.406885533682105}, 13},
    };
    static const size_t factors[3] = {0, 2, 20};
    int n_chosen = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(expected); i++) {
        double counts[ITEMS];
        struct choose_factors_input input =
            make_input(counts, expected[i].mu, expected[i].spectrum);
        for (size_t k = 0; k < LENGTH(factors); k++)
            assert_true(fabs(choose_factors_gain(&input, factors[k]) / expected[i].gain[k] - 1) <
                        1e-12);
        /* Where there is too little evidence the prototype's choice is not trusted. */
        double ratings = pow(input.total / input.root_total, 2);
        bool is_enough = input.users * ratings * input.mu >= 30000;
        assert_int_equal(choose_factors_best(&input), is_enough ? expected[i].best : 0);
        n_chosen += is_enough;
    }
    assert_true(n_chosen >= 4);
}

static void test_choice_has_bounds(void **state) {
    (void)state;
    double counts[ITEMS];
    struct choose_factors_input input = make_input(counts, 3.5, 0.16);
    input.snr = 0.99;
    assert_int_equal(choose_factors_best(&input), 0);
    input.snr = 1;
    assert_int_equal(choose_factors_best(&input), 13);
    input.n_items = 40; /* the most popular ones */
    assert_int_equal(choose_factors_best(&input), 5);
    input.n_items = 15;
    assert_int_equal(choose_factors_best(&input), 0);
    input = make_input(counts, 1e-6, 0.16);
    assert_int_not_equal(choose_factors_best(&input), 1);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static struct dpmf_plan_options movielens(void) {
    struct dpmf_plan_options options = dpmf_plan_options_default();
    options.users = 6040;
    options.items = 3883;
    options.ratings_per_user = 150;
    return options;
}

static struct dpmf_plan make(const struct dpmf_plan_options *options) {
    struct dpmf_plan plan;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_privacy_plan(options, &plan, &error), 0);
    return plan;
}

/* The figures of docs/performance.md, "Private releases". */
static void test_forecasts_what_was_published(void **state) {
    static const double epsilon[] = {0.5, 1, 2, 5, 10, 20};
    static const double biases[] = {0.9665, 0.9457, 0.9318, 0.9217, 0.9183, 0.9168};
    static const double residual[] = {0.9388, 0.9121, 0.8896, 0.8691, 0.8570, 0.8488};
    static const double featured_biases[] = {0.9517, 0.9382, 0.9279, 0.9201, 0.9175, 0.9162};
    static const double featured[] = {0.9136, 0.8919, 0.8709, 0.8529, 0.8442, 0.8387};
    (void)state;
    for (size_t i = 0; i < LENGTH(epsilon); i++) {
        struct dpmf_plan_options options = movielens();
        options.epsilon = epsilon[i];
        struct dpmf_plan plan = make(&options);
        assert_true(plan.mu == accountant_mu(epsilon[i], 1e-5));
        assert_true(fabs(plan.rmse_biases - biases[i]) < 0.003);
        assert_true(fabs(plan.rmse_residual - residual[i]) < 0.003);
        options.has_features = true;
        plan = make(&options);
        assert_true(fabs(plan.rmse_biases - featured_biases[i]) < 0.003);
        assert_true(fabs(plan.rmse_residual - featured[i]) < 0.003);
    }
}

/* What the releases have together is mu, and they are as many as the rule says. */
static void test_noise_adds_up(void **state) {
    (void)state;
    struct dpmf_plan_options options = movielens();
    options.epsilon = 5;
    struct dpmf_plan plan = make(&options);
    assert_int_equal(plan.factors, 8);
    assert_int_equal(plan.rounds, 18);
    double sum = 1 / (plan.counts_noise * plan.counts_noise), growth = 1.25;
    for (uint32_t t = 0; t < plan.rounds; t++)
        sum += pow(growth, t) / (plan.first_noise * plan.first_noise);
    assert_true(fabs(sqrt(sum) / plan.mu - 1) < 1e-12);
    assert_true(fabs(plan.first_noise / plan.last_noise - pow(growth, 8.5)) < 1e-12);
    assert_int_equal(plan.published_numbers, 2 * 3883 + 5 + 18 * (3883 * 9 + 78 + 66 + 1));
}

static void test_moves_the_right_way(void **state) {
    (void)state;
    struct dpmf_plan_options options = movielens();
    double error = make(&options).rmse_residual;
    options.users *= 10;
    assert_true(make(&options).rmse_residual < error);
    options = movielens();
    options.delta = 1e-9;
    assert_true(make(&options).rmse_residual > error);
    options = movielens();
    options.range_min = -10, options.range_max = 10;
    assert_true(fabs(make(&options).rmse_residual - 5 * error) < 1e-12);
    options = movielens();
    options.users = 10; /* too few for factors */
    struct dpmf_plan plan = make(&options);
    assert_true(plan.factors == 0 && plan.rounds == 0 && isnan(plan.first_noise));
    assert_true(plan.rmse_residual == plan.rmse_biases);
}

/* What was measured on MovieLens 1M, at the same users times mu elsewhere, and nothing beyond. */
static void test_hit_rate(void **state) {
    (void)state;
    struct dpmf_plan_options options = dpmf_plan_options_default();
    struct dpmf_plan plan, twice;
    options.users = 6040;
    options.items = 3883;
    options.ratings_per_user = 165;
    options.epsilon = 2;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, NULL), 0);
    assert_true(fabs(plan.hit_rate - 0.566) < 1e-3);
    options.has_features = true;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, NULL), 0);
    assert_true(fabs(plan.hit_rate - 0.591) < 1e-3);

    options.users *= 2;
    options.epsilon = dpmf_privacy_epsilon(plan.mu / 2, options.delta);
    assert_int_equal(dpmf_privacy_plan(&options, &twice, NULL), 0);
    assert_true(fabs(twice.hit_rate - plan.hit_rate) < 1e-6);

    options.users = 6040;
    options.epsilon = 25;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, NULL), 0);
    assert_true(isnan(plan.hit_rate));
    options.epsilon = 0.4;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, NULL), 0);
    assert_true(isnan(plan.hit_rate));
    options.epsilon = 2;
    options.items = 20000;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, NULL), 0);
    assert_true(isnan(plan.hit_rate));
    options.items = 3883;
    options.ratings_per_user = 20;
    assert_int_equal(dpmf_privacy_plan(&options, &plan, NULL), 0);
    assert_true(isnan(plan.hit_rate));
}

static void test_ends(void **state) {
    static const uint64_t sizes[] = {1, 7, 4096, 4097, 1000000, 1000000000000};
    static const double epsilon[] = {1e-6, 1, 1000};
    (void)state;
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t j = 0; j < LENGTH(sizes); j++)
            for (size_t k = 0; k < LENGTH(epsilon); k++) {
                struct dpmf_plan_options options = movielens();
                options.users = sizes[i];
                options.items = sizes[j];
                options.ratings_per_user = j % 2 ? 1 : (double)sizes[j];
                options.epsilon = epsilon[k];
                struct dpmf_plan plan = make(&options);
                assert_true(plan.rmse_biases > 0.5 && plan.rmse_biases < 1.2);
                assert_true(plan.rmse_residual > 0.5 && plan.rmse_residual < 1.2);
                assert_true(plan.factors <= 20 && plan.factors <= sizes[j] / 8);
            }
}

static void check_refused(const struct dpmf_plan_options *options) {
    struct dpmf_plan plan;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_privacy_plan(options, &plan, &error), DPMF_ERR_USAGE_VALUE);
}

static void test_refusals(void **state) {
    static const double bad[] = {0, -1, NAN, INFINITY};
    (void)state;
    struct dpmf_plan_options options = movielens();
    options.users = 0;
    check_refused(&options);
    options = movielens();
    options.items = 0;
    check_refused(&options);
    options = movielens();
    options.users = UINT64_MAX;
    check_refused(&options);
    options = movielens();
    options.items = UINT64_MAX;
    check_refused(&options);
    options = movielens();
    options.range_max = options.range_min;
    check_refused(&options);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        options = movielens();
        options.epsilon = bad[i];
        check_refused(&options);
        options = movielens();
        options.delta = bad[i];
        check_refused(&options);
        options = movielens();
        options.ratings_per_user = bad[i];
        check_refused(&options);
    }
    options = movielens();
    options.ratings_per_user = 3884;
    check_refused(&options);
    options = movielens();
    options.range_min = -1e308, options.range_max = 1e308;
    check_refused(&options);
    assert_int_equal(dpmf_privacy_plan(&options, NULL, NULL), DPMF_ERR_USAGE_NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_is_the_prototypes),
        cmocka_unit_test(test_choice_has_bounds),
        cmocka_unit_test(test_forecasts_what_was_published),
        cmocka_unit_test(test_noise_adds_up),
        cmocka_unit_test(test_moves_the_right_way),
        cmocka_unit_test(test_hit_rate),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
