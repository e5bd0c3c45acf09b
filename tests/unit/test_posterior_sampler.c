/*
 * The sampler of the mechanism `posterior` against its target, the clamped and weighted posterior,
 * by quadrature. Two problems that can be integrated: three users and one item, which must be right
 * about the item, and one user and three items, which must be right about the user. In both most
 * predictions are near the clamp, so that it matters.
 *
 * Each moment is compared with its exact value in units of its standard error, from the effective
 * sample size. Six moments, bound 4.5: a right sampler fails with probability below 6 * 6.8e-6 =
 * 5e-5 a problem; the seeds are fixed, so it passes or it does not. Wrong ones must be found out:
 * without the Metropolis step, without the weights, with a doubled.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chains/mixing.h"
#include "mechanisms/posterior/posterior_sampler.h"

enum { RATINGS = 3, MOMENTS = 6, ROUNDS = 30000, POINTS = 160 };

static const double bound = 4.5;

/* What is wrong with a sampler. */
enum fault { RIGHT, NO_METROPOLIS, NO_WEIGHTS, DOUBLE_SCALE };

static const struct posterior_target plain = {.factors = 2,
                                              .scale = 0.35,
                                              .limit = 2,
                                              .precision_b = 1.2,
                                              .precision_v = 2,
                                              .precision_c = 1.5,
                                              .precision_g = 1};

static float y[RATINGS] = {2, -0.5f, 2};
static double weights[RATINGS] = {0.3, 4, 0.3};
static size_t one_each[] = {0, 1, 2, 3}, all_of_one[] = {0, RATINGS};
static uint32_t zeros[RATINGS] = {0}, numbers[RATINGS] = {0, 1, 2};

/* ---- the answers ----------------------------------------------------------------------------- */

/* Values of one number with a Gaussian density, 7.5 standard deviations both ways. */
struct grid {
    double x[POINTS + 1], weight[POINTS + 1];
};

static void make_grid(struct grid *grid, double variance) {
    for (int i = 0; i <= POINTS; i++) {
        double z = 15.0 * i / POINTS - 7.5;
        grid->x[i] = z * sqrt(variance);
        grid->weight[i] = exp(-z * z / 2);
    }
}

/* The length of a vector of K such numbers. */
static void make_lengths(struct grid *grid, double variance, size_t K) {
    for (int i = 0; i <= POINTS; i++) {
        double z = 7.5 * i / POINTS;
        grid->x[i] = z * sqrt(variance);
        grid->weight[i] = exp(-z * z / 2) * pow(z, (double)K - 1);
    }
}

static double likelihood(const struct posterior_target *target, double p, int i, double w) {
    double e = y[i] - fmin(fmax(p, -target->limit), target->limit);
    return exp(-target->scale * w * e * e);
}

/* Over s ~ N(0, variance): the likelihood of rating i with prediction level + s, and s times it. */
static void integrate(const struct posterior_target *target, double variance, double level, int i,
                      double w, double *whole, double *first) {
    static struct grid grid;
    double sum = 0;
    make_grid(&grid, variance);
    *whole = *first = 0;
    for (int k = 0; k <= POINTS; k++) {
        double part = grid.weight[k] * likelihood(target, level + grid.x[k], i, w);
        *whole += part;
        *first += part * grid.x[k];
        sum += grid.weight[k];
    }
    *whole /= sum;
    *first /= sum;
}

/* Three users, one item. Given the length r of v, b_i + u_i.v ~ N(0, 1/precision_b + r^2) and users
 * are independent; g and c are only known together, c ~ N(0, 1/precision_c + 1/precision_g).
 * Moments: r^2, c, c^2, r^2 c, g, b of the first user. */
static void answer_users(double moment[MOMENTS]) {
    const struct posterior_target *target = &plain;
    static struct grid lengths, levels;
    double total = 0, var_b = 1 / target->precision_b;
    double var_c = 1 / target->precision_c, var_g = 1 / target->precision_g;
    make_lengths(&lengths, 1 / target->precision_v, target->factors);
    make_grid(&levels, var_c + var_g);
    memset(moment, 0, MOMENTS * sizeof *moment);
    for (int l = 0; l <= POINTS; l++)
        for (int c = 0; c <= POINTS; c++) {
            double r2 = lengths.x[l] * lengths.x[l], level = levels.x[c], first_s = 0;
            double density = lengths.weight[l] * levels.weight[c];
            if (density < 1e-13) continue;
            for (int i = 0; i < RATINGS; i++) {
                double whole, s;
                integrate(target, var_b + r2, level, i, weights[i], &whole, &s);
                density *= whole;
                if (i == 0) first_s = s / whole;
            }
            const double values[MOMENTS] = {r2,
                                            level,
                                            level * level,
                                            r2 * level,
                                            level * var_g / (var_c + var_g),
                                            first_s * var_b / (var_b + r2)};
            for (int m = 0; m < MOMENTS; m++) moment[m] += density * values[m];
            total += density;
        }
    for (int m = 0; m < MOMENTS; m++) moment[m] /= total;
}

/* One user, three items. Given the length r of u and t = b + g, c_j - g + u.v_j ~ N(0,
 * 1/precision_c + r^2/precision_v) and items are independent. Moments: r^2, t, t^2, r^2 t, g, c of
 * the first item. */
static void answer_items(double moment[MOMENTS]) {
    const struct posterior_target *target = &plain;
    static struct grid lengths, levels;
    double total = 0, var_b = 1 / target->precision_b, var_g = 1 / target->precision_g;
    double var_c = 1 / target->precision_c;
    make_lengths(&lengths, 1, target->factors);
    make_grid(&levels, var_b + var_g);
    memset(moment, 0, MOMENTS * sizeof *moment);
    for (int l = 0; l <= POINTS; l++)
        for (int t = 0; t <= POINTS; t++) {
            double r2 = lengths.x[l] * lengths.x[l], level = levels.x[t], first_s = 0;
            double density = lengths.weight[l] * levels.weight[t];
            double variance = var_c + r2 / target->precision_v;
            if (density < 1e-13) continue;
            for (int i = 0; i < RATINGS; i++) {
                double whole, s;
                integrate(target, variance, level, i, weights[0], &whole, &s);
                density *= whole;
                if (i == 0) first_s = s / whole;
            }
            double g = level * var_g / (var_b + var_g);
            const double values[MOMENTS] = {r2,         level, level * level,
                                            r2 * level, g,     g + first_s * var_c / variance};
            for (int m = 0; m < MOMENTS; m++) moment[m] += density * values[m];
            total += density;
        }
    for (int m = 0; m < MOMENTS; m++) moment[m] /= total;
}

/* ---- the sampler ----------------------------------------------------------------------------- */

static double traces[MOMENTS][ROUNDS];

static double square(const double *row, size_t K) {
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += row[k] * row[k];
    return sum;
}

static void note(const struct posterior_chain *chain, bool by_users, size_t round) {
    const size_t K = chain->target->factors;
    const double *row = by_users ? chain->items : chain->users;
    double r2 = square(row, K), level = by_users ? row[K] : row[K] + chain->mean_c;
    const double values[MOMENTS] = {
        r2,         level,         level * level,
        r2 * level, chain->mean_c, by_users ? chain->users[K] : chain->items[K]};
    for (int m = 0; m < MOMENTS; m++) traces[m][round] = values[m];
}

static struct posterior_data make_data(bool by_users, double *w) {
    struct posterior_side many = {RATINGS, one_each, zeros, y}, one = {1, all_of_one, numbers, y};
    return (struct posterior_data){
        .users = by_users ? many : one, .items = by_users ? one : many, .weight = w};
}

/* @return the largest distance of a moment from its answer, in standard errors */
static double distance(bool by_users, enum fault fault, uint64_t seed, const double *answer) {
    double ones[RATINGS] = {1, 1, 1}, worst = 0;
    struct posterior_target target = plain;
    struct posterior_data data = make_data(by_users, fault == NO_WEIGHTS ? ones : weights);
    struct posterior_chain chain;
    struct secure_random random;
    struct thread_pool *pool;
    if (fault == DOUBLE_SCALE) target.scale *= 2;
    secure_random_init_insecure(&random, seed);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    assert_int_equal(posterior_chain_init(&chain, &target, &data, &random, pool, 3,
                                          fault == NO_METROPOLIS ? UINT64_MAX : 0, NULL),
                     0);
    for (size_t round = 0; round < ROUNDS; round++) {
        assert_int_equal(posterior_chain_round(&chain, NULL), 0);
        note(&chain, by_users, round);
    }
    if (fault == RIGHT) { /* the step is taken, and is needed */
        double rate = (double)chain.accepted / (double)chain.proposed;
        if (!(rate > 0.6 && rate < 0.98)) fail_msg("%g of the proposals were accepted", rate);
    }
    posterior_chain_free(&chain);
    thread_pool_free(pool);
    for (int m = 0; m < MOMENTS; m++) {
        const double *trace = traces[m];
        struct mixing mixing;
        double mean = 0, variance = 0;
        assert_int_equal(mixing_judge(&trace, 1, ROUNDS, &mixing, NULL), 0);
        for (size_t i = 0; i < ROUNDS; i++) mean += trace[i] / ROUNDS;
        for (size_t i = 0; i < ROUNDS; i++)
            variance += (trace[i] - mean) * (trace[i] - mean) / ROUNDS;
        worst = fmax(worst, fabs(mean - answer[m]) / sqrt(variance / mixing.ess));
    }
    return worst;
}

static void check_problem(bool by_users) {
    double answer[MOMENTS];
    if (by_users)
        answer_users(answer);
    else
        answer_items(answer);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        double found = distance(by_users, RIGHT, seed, answer);
        if (!(found < bound)) fail_msg("off by %g standard errors", found);
    }
    for (enum fault fault = NO_METROPOLIS; fault <= DOUBLE_SCALE; fault++) {
        double found = distance(by_users, fault, 1, answer);
        if (!(found > 2 * bound)) fail_msg("fault %d is off by only %g", (int)fault, found);
    }
}

static void test_users(void **state) {
    (void)state;
    check_problem(true);
}

static void test_items(void **state) {
    (void)state;
    check_problem(false);
}

/* ---- no ratings, no threads ------------------------------------------------------------------ */

/* Without ratings the target is the prior, and what is drawn must be it. */
static void test_prior(void **state) {
    static size_t starts[5] = {0};
    struct posterior_data data = {
        .users = {1, starts, NULL, NULL}, .items = {4, starts, NULL, NULL}, .weight = weights};
    struct posterior_chain chain;
    struct secure_random random;
    struct thread_pool *pool;
    double variance_g = 0, variance_c = 0, variance_v = 0, variance_b = 0;
    const int n = 20000;
    (void)state;
    secure_random_init_insecure(&random, 5);
    assert_int_equal(thread_pool_init(&pool, 2, NULL), 0);
    assert_int_equal(posterior_chain_init(&chain, &plain, &data, &random, pool, 0, 0, NULL), 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal(posterior_chain_round(&chain, NULL), 0);
        double c = chain.items[2] - chain.mean_c;
        variance_g += chain.mean_c * chain.mean_c / n;
        variance_c += c * c / n;
        variance_v += chain.items[0] * chain.items[0] / n;
        variance_b += chain.users[2] * chain.users[2] / n;
    }
    /* Each within 5 standard errors of n independent squares, sqrt(2/n); g is somewhat less than
     * that. */
    double tolerance = 5 * sqrt(2.0 / n);
    assert_true(fabs(variance_g * plain.precision_g - 1) < 2 * tolerance);
    assert_true(fabs(variance_c * plain.precision_c - 1) < tolerance);
    assert_true(fabs(variance_v * plain.precision_v - 1) < tolerance);
    assert_true(fabs(variance_b * plain.precision_b - 1) < tolerance);
    posterior_chain_free(&chain);
    thread_pool_free(pool);
}

static void test_threads(void **state) {
    struct posterior_data data = make_data(true, weights);
    struct posterior_chain chain[2];
    struct thread_pool *pools[2];
    struct secure_random random;
    (void)state;
    secure_random_init_insecure(&random, 6);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(thread_pool_init(&pools[i], 1 + 2 * i, NULL), 0);
        assert_int_equal(
            posterior_chain_init(&chain[i], &plain, &data, &random, pools[i], 0, 2, NULL), 0);
        for (int round = 0; round < 50; round++)
            assert_int_equal(posterior_chain_round(&chain[i], NULL), 0);
    }
    assert_memory_equal(chain[0].users, chain[1].users, sizeof(double) * 3 * RATINGS);
    assert_memory_equal(chain[0].items, chain[1].items, sizeof(double) * 3);
    assert_true(chain[0].loss == chain[1].loss);
    for (int i = 0; i < 2; i++) {
        posterior_chain_free(&chain[i]);
        thread_pool_free(pools[i]);
    }
}

/* ---- an end in the middle of a round --------------------------------------------------------- */

static bool stop_later(void *left) { return --*(int *)left < 0; }

/* Asked after each row of a round: the rows after the answer are as they were. */
static void test_stops_within_a_round(void **state) {
    struct posterior_data data = make_data(true, weights);
    struct posterior_chain chain;
    struct thread_pool *pool;
    struct secure_random random;
    struct dpmf_error error = {0};
    double before[3 * RATINGS];
    int left = 1;
    (void)state;
    secure_random_init_insecure(&random, 7);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    assert_int_equal(posterior_chain_init(&chain, &plain, &data, &random, pool, 0, 2, NULL), 0);
    chain.should_stop = stop_later;
    chain.self = &left;
    memcpy(before, chain.users, sizeof before);
    assert_int_equal(posterior_chain_round(&chain, &error), DPMF_ERR_BASE_CANCELLED);
    assert_string_equal(error.message, "interrupted");
    for (int user = 0; user < 2; user++) assert_true(chain.users[3 * user] != before[3 * user]);
    assert_memory_equal(chain.users + 6, before + 6, 3 * sizeof before[0]);
    /* The same among the items: once after each user, once after all of them, and then. */
    left = RATINGS + 1;
    const double mean = chain.mean_c;
    assert_int_equal(posterior_chain_round(&chain, &error), DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(left, -2); /* asked again at the end */
    assert_true(chain.users[6] != before[6] && chain.mean_c == mean);
    posterior_chain_free(&chain);
    thread_pool_free(pool);
}

/* Numbers that grew beyond all bounds end the round, wherever they are: it is no draw of anything.
 */
static void test_numbers_that_are_none(void **state) {
    static const double bad[] = {NAN, INFINITY, 1e200};
    struct posterior_data data = make_data(true, weights);
    struct posterior_chain chain;
    struct thread_pool *pool;
    struct secure_random random;
    (void)state;
    secure_random_init_insecure(&random, 8);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct dpmf_error error = {0};
        assert_int_equal(posterior_chain_init(&chain, &plain, &data, &random, pool, 0, 2, NULL), 0);
        const double second = chain.users[3];
        chain.items[0] = bad[i];
        assert_int_equal(posterior_chain_round(&chain, &error), DPMF_ERR_TRAIN_DIVERGED);
        assert_string_equal(error.message, "the sampler is not finite");
        assert_true(chain.users[3] == second); /* no user after the first was drawn */
        posterior_chain_free(&chain);
    }
    thread_pool_free(pool);
}

/* Neither is it published; nothing else keeps a number from that. */
static void test_only_numbers_are_published(void **state) {
    static const double bad[] = {NAN, -INFINITY, 1e15};
    struct posterior_data data = make_data(false, weights);
    struct posterior_chain chain;
    struct public_model model;
    struct thread_pool *pool;
    struct secure_random random;
    (void)state;
    secure_random_init_insecure(&random, 9);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    assert_int_equal(posterior_chain_init(&chain, &plain, &data, &random, pool, 0, 2, NULL), 0);
    assert_int_equal(public_model_init(&model, data.items.n, NULL), 0);
    assert_int_equal(posterior_publish(&chain, &model, NULL), 0);
    assert_int_equal(model.K, plain.factors);
    for (size_t j = 0; j < data.items.n; j++) {
        assert_true(model.c[j] == chain.items[3 * j + 2]);
        assert_memory_equal(model.rows + j * model.stride, chain.items + 3 * j, 2 * sizeof(double));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (size_t k = 0; k < 3; k++) {
            struct dpmf_error error = {0};
            const double before = chain.items[3 + k];
            chain.items[3 + k] = bad[i];
            assert_int_equal(posterior_publish(&chain, &model, &error), DPMF_ERR_TRAIN_DIVERGED);
            assert_string_equal(error.message, "the sampler is not finite");
            chain.items[3 + k] = before;
        }
    public_model_free(&model);
    posterior_chain_free(&chain);
    thread_pool_free(pool);
}

static void test_disk(void **state) {
    (void)state;
    double square;
    assert_false(posterior_is_in_disk(0, 0, &square)); /* its logarithm is no number */
    assert_false(posterior_is_in_disk(1, 0, &square));
    assert_false(posterior_is_in_disk(-0.8, 0.7, &square));
    assert_true(posterior_is_in_disk(0x1p-53, 0, &square) && square == 0x1p-106);
    assert_true(posterior_is_in_disk(0.6, -0.7, &square) && square == 0.6 * 0.6 + 0.7 * 0.7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stops_within_a_round),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_only_numbers_are_published),
        cmocka_unit_test(test_disk),
        cmocka_unit_test(test_users),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_prior),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
