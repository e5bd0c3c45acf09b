/*
 * The oracles themselves: the paper's algorithms of reference/paper.h do what the paper says, and
 * its way of sampling and the exact posterior of reference/exact_posterior.h, which have nothing in
 * common, agree. Statistical bounds are five standard errors from the means of 100 batches, which a
 * right one passes a million times to one for each of the numbers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact_posterior.h"
#include "paper.h"

enum { USERS = 3, ITEMS = 3, K = 1, RATINGS = 7, PAIRS = USERS * ITEMS };

static struct paper_rating ratings[RATINGS] = {
    {0, 0, 1.2}, {0, 1, -0.4}, {0, 2, 0.7}, {1, 0, -1.1}, {1, 2, 0.3}, {2, 1, 0.9}, {2, 2, -0.6},
};

struct case_memory {
    double U[USERS * 2], V[ITEMS * 2], dU[USERS * 2], dV[ITEMS * 2];
};

static struct paper_problem small_problem(void) {
    return (struct paper_problem){USERS, ITEMS, K, RATINGS, ratings, NULL, 0.8};
}

/* ---- the objective --------------------------------------------------------------------------- */

static void test_gradient(void **state) {
    (void)state;
    static const double weight[USERS] = {1, 0.5, 2};
    struct case_memory m;
    struct paper_problem problem = small_problem();
    struct paper_model model = {m.U, m.V}, gradient = {m.dU, m.dV};
    struct random_stream random;
    random_stream_init(&random, 1, 1, 0);
    problem.k = 2;
    problem.weight = weight;
    for (size_t c = 0; c < USERS * 2; c++) m.U[c] = random_gaussian(&random);
    for (size_t c = 0; c < ITEMS * 2; c++) m.V[c] = random_gaussian(&random);
    paper_gradient(&problem, &model, &gradient);
    const double step = 1e-5;
    for (size_t c = 0; c < (USERS + ITEMS) * 2; c++) {
        double *at = c < USERS * 2 ? &m.U[c] : &m.V[c - USERS * 2], was = *at;
        double slope = c < USERS * 2 ? m.dU[c] : m.dV[c - USERS * 2];
        *at = was + step;
        double above = paper_objective(&problem, &model);
        *at = was - step;
        double below = paper_objective(&problem, &model);
        *at = was;
        assert_true(fabs((above - below) / (2 * step) - slope) < 1e-6 * (1 + fabs(slope)));
    }
}

/* ---- Algorithm 2 ----------------------------------------------------------------------------- */

static size_t written[4], n_written;

static void note_write(void *self, const struct paper_model *model, size_t blocks) {
    (void)self;
    (void)model;
    written[n_written++ % 4] = blocks;
}

/* One rating, by hand; and blocks of two users out of three, saved after each. */
static void test_sgd(void **state) {
    (void)state;
    struct paper_rating one = {0, 0, 1.0};
    double u[1] = {0.5}, v[1] = {-0.2};
    struct paper_problem problem = {1, 1, 1, 1, &one, NULL, 0.1};
    struct paper_model model = {u, v};
    struct paper_sgd sgd = {.block_users = 1, .rate = 0.05};
    paper_sgd_pass(&problem, &model, &sgd);
    assert_true(fabs(u[0] - ((1 - 0.05 * 0.1) * 0.5 + 0.05 * 1.1 * -0.2)) < 1e-15);
    assert_true(fabs(v[0] - ((1 - 0.05 * 0.1) * -0.2 + 0.05 * 1.1 * 0.5)) < 1e-15);

    struct case_memory m = {.U = {0.3, -0.2, 0.4}, .V = {0.1, 0.5, -0.3}};
    model = (struct paper_model){m.U, m.V};
    problem = small_problem();
    problem.lambda = 0.01;
    sgd = (struct paper_sgd){.block_users = 2, .rate = 0.02, .write_every = 1, .write = note_write};
    double before = paper_objective(&problem, &model);
    paper_sgd_pass(&problem, &model, &sgd);
    assert_int_equal(n_written, 2);
    assert_int_equal(written[0], 1);
    assert_int_equal(written[1], 2);
    sgd.write_every = 0;
    for (int i = 0; i < 3000; i++) paper_sgd_pass(&problem, &model, &sgd);
    assert_true(paper_objective(&problem, &model) < 0.5 * before);
    assert_int_equal(n_written, 2);
}

/* ---- Algorithm 1 ----------------------------------------------------------------------------- */

static void test_trim_and_bound(void **state) {
    (void)state;
    enum { MANY = 30, RUNS = 3000, TAU = 10 };
    struct random_stream random;
    double kept[MANY] = {0};
    random_stream_init(&random, 2, 1, 0);
    for (int run = 0; run < RUNS; run++) {
        struct paper_rating list[MANY + 2];
        struct paper_problem problem = {3, MANY, 1, 0, list, NULL, 0.1};
        list[problem.n++] = (struct paper_rating){0, 5, 1};
        for (size_t j = 0; j < MANY; j++) list[problem.n++] = (struct paper_rating){1, j, 1};
        list[problem.n++] = (struct paper_rating){2, 7, 1};
        const struct paper_privacy privacy = {1, 0.5, 1, 5, TAU};
        assert_true(paper_bound(&problem, &privacy) == TAU * 4.5 * 4.5);
        paper_trim(&problem, TAU, &random);
        assert_int_equal(problem.n, TAU + 2);
        assert_true(list[0].user == 0 && list[TAU + 1].user == 2 && list[TAU + 1].item == 7);
        for (size_t r = 1; r <= TAU; r++) {
            assert_true(list[r].user == 1 && (r == 1 || list[r].item > list[r - 1].item));
            kept[list[r].item]++;
        }
    }
    /* each of the ratings stays as often as any other: five standard deviations of a binomial */
    const double p = (double)TAU / MANY;
    for (int j = 0; j < MANY; j++)
        assert_true(fabs(kept[j] - RUNS * p) < 5 * sqrt(RUNS * p * (1 - p)));
}

static void test_resampling(void **state) {
    (void)state;
    struct case_memory m = {.U = {1, 1, 1}, .V = {3, 3, 3}};
    struct paper_rating list[RATINGS];
    struct paper_model model = {m.U, m.V};
    struct paper_problem problem = small_problem();
    struct random_stream random;
    random_stream_init(&random, 3, 1, 0);
    for (size_t r = 0; r < RATINGS; r++) {
        list[r] = ratings[r];
        list[r].value = 3 + ratings[r].value;
    }
    problem.ratings = list;
    problem.lambda = 0.01;
    const struct paper_privacy privacy = {100, 1, 1, 5, 3};
    size_t all = 0;
    for (int i = 0; i < 50; i++) {
        size_t took = paper_private_sample(&problem, &privacy, &model, 20, 0.5, 1000, &random);
        assert_true(took > 0);
        all += took;
        for (size_t p = 0; p < PAIRS; p++) {
            double prediction = paper_predict(&problem, &model, p / ITEMS, p % ITEMS);
            assert_true(prediction >= 0 && prediction <= 6);
        }
    }
    assert_true(all > 50); /* some were out of range, even here; over all of MovieLens, all are */
    const struct paper_privacy strict = {400, -1.99, 1, 5, 3};
    assert_int_equal(paper_private_sample(&problem, &strict, &model, 1, 0.5, 5, &random), 0);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The means over 100 batches of all predictions and of the products of two, against exact ones. */
static double worst_of(const struct paper_problem *problem, const struct paper_target *target,
                       const struct exact_posterior *exact) {
    enum { BATCHES = 100, SIZE = 2000, N = PAIRS + PAIRS * PAIRS };
    static double sum[N], squares[N];
    struct case_memory m = {.U = {0.1, 0.2, 0.3}, .V = {0.3, 0.2, 0.1}};
    struct paper_model model = {m.U, m.V};
    struct random_stream random;
    random_stream_init(&random, 4, 1, 0);
    memset(sum, 0, sizeof sum);
    memset(squares, 0, sizeof squares);
    for (int s = 0; s < SIZE; s++) paper_sample_step(problem, target, &model, 1.0, &random);
    for (int b = 0; b < BATCHES; b++) {
        double batch[N] = {0}, p[PAIRS];
        for (int s = 0; s < SIZE; s++) {
            paper_sample_step(problem, target, &model, 1.0, &random);
            for (size_t i = 0; i < PAIRS; i++) {
                p[i] = paper_predict(problem, &model, i / ITEMS, i % ITEMS);
                batch[i] += p[i] / SIZE;
            }
            for (size_t i = 0; i < PAIRS; i++)
                for (size_t j = 0; j < PAIRS; j++)
                    batch[PAIRS + i * PAIRS + j] +=
                        (p[i] - exact->mean[i]) * (p[j] - exact->mean[j]) / SIZE;
        }
        for (int i = 0; i < N; i++) {
            sum[i] += batch[i];
            squares[i] += batch[i] * batch[i];
        }
    }
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double mean = sum[i] / BATCHES;
        double wanted = i < PAIRS ? exact->mean[i] : exact->covariance[i - PAIRS];
        double error = sqrt((squares[i] / BATCHES - mean * mean) / (BATCHES - 1));
        worst = fmax(worst, fabs(mean - wanted) / error);
    }
    return worst;
}

/* exp(-a F) is the posterior with noise of precision 2 a and priors of precision 2 a lambda;
 * biases, which the paper leaves out, are held at 0 by a precision beyond measure. */
static void test_sampling_is_exact(void **state) {
    (void)state;
    const double a = 0.7;
    struct paper_problem problem = small_problem();
    struct paper_target target = {.loss_scale = a, .penalty_scale = a};
    struct exact_rating same[RATINGS];
    const double precision = 2 * a * problem.lambda;
    for (size_t r = 0; r < RATINGS; r++)
        same[r] = (struct exact_rating){ratings[r].user, ratings[r].item, ratings[r].value};
    const struct exact_problem exact_problem = {USERS, ITEMS, K,   RATINGS,    same,
                                                2 * a, 1e9,   1e9, &precision, &precision};
    struct exact_posterior exact;
    assert_int_equal(exact_posterior_find(&exact_problem, 33, &exact), 0);
    double worst = worst_of(&problem, &target, &exact);
    print_message("the paper's target: worst of %d numbers %.2f\n", PAIRS + PAIRS * PAIRS, worst);
    assert_true(worst < 5);
    target.loss_scale = 2 * a; /* the prior is scaled, the ratings are not: found out */
    assert_true(worst_of(&problem, &target, &exact) > 5);
    target = (struct paper_target){a, a, true, -0.5, 0.5};
    assert_true(worst_of(&problem, &target, &exact) > 5);
    exact_posterior_free(&exact);
}

/* With no ratings F = lambda u^2. What the paper writes down has the variance of exp(-2 F), not of
 * exp(-F). */
static void test_langevin_factor(void **state) {
    (void)state;
    enum { STEPS = 400000 };
    struct paper_problem problem = {1, 1, 1, 0, ratings, NULL, 0.5};
    for (int halved = 0; halved < 2; halved++) {
        double u[1] = {0}, v[1] = {0}, du[1], dv[1], sum = 0;
        struct paper_model model = {u, v}, gradient = {du, dv};
        struct random_stream random;
        random_stream_init(&random, 5, 1, 0);
        for (int i = 0; i < STEPS; i++) {
            paper_sgld_step(&problem, &model, halved ? 0.5 : 1, 0.05, &gradient, &random);
            sum += u[0] * u[0] + v[0] * v[0];
        }
        double variance = sum / (2.0 * STEPS), wanted = 1 / (2 * problem.lambda * (halved ? 1 : 2));
        print_message("drift %s: variance %.3f, wanted %.3f\n", halved ? "1/2" : "1", variance,
                      wanted);
        assert_true(fabs(variance / wanted - 1) < 0.05);
    }
}

/* Without ratings the posterior is the prior, and its evidence 1; with one pair and no factors to
 * speak of it is that of two biases, by hand. */
static void test_exact_by_hand(void **state) {
    (void)state;
    const double weak = 1, strong = 1e10;
    struct exact_posterior exact;
    struct exact_problem problem = {2, 2, 1, 0, NULL, 2, 4, 5, &weak, &weak};
    assert_int_equal(exact_posterior_find(&problem, 41, &exact), 0);
    assert_true(fabs(exact.log_evidence) < 1e-5);
    for (size_t p = 0; p < 4; p++) {
        assert_true(fabs(exact.mean[p]) < 1e-12);
        assert_true(fabs(exact.covariance[p * 5] - (1 + 1.0 / 4 + 1.0 / 5)) < 1e-4);
    }
    exact_posterior_free(&exact);

    const struct exact_rating one = {0, 0, 1.5};
    problem = (struct exact_problem){1, 1, 1, 1, &one, 2, 4, 5, &strong, &strong};
    assert_int_equal(exact_posterior_find(&problem, 41, &exact), 0);
    const double prior = 1.0 / 4 + 1.0 / 5, all = prior + 1.0 / 2;
    assert_true(fabs(exact.mean[0] - 1.5 * prior / all) < 1e-6);
    assert_true(fabs(exact.covariance[0] - prior * 0.5 / all) < 1e-6);
    assert_true(fabs(exact.log_evidence + 0.5 * log(2 * M_PI * all) + 1.5 * 1.5 / (2 * all)) <
                1e-6);
    exact_posterior_free(&exact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),          cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_trim_and_bound),    cmocka_unit_test(test_resampling),
        cmocka_unit_test(test_sampling_is_exact), cmocka_unit_test(test_langevin_factor),
        cmocka_unit_test(test_exact_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
