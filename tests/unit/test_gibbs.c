/*
 * Block Gibbs draws from the posterior that it should: on tiny problems the means and covariances
 * of all predictions are those that brute force finds (reference/exact_posterior.h), with fixed
 * precisions, with the ratings' precision drawn too and, by Geweke's joint test, with all of them
 * drawn. Samplers that are wrong in one thing are found out by the same tests.
 *
 * A test compares means over a chain with exact ones, in units of a standard error that comes from
 * the means of 100 batches. It fails when any of m such numbers is beyond a bound that Student's t
 * with 99 degrees of freedom passes, either way, with probability 1e-4 / m: a right sampler fails a
 * test once in 10,000 seeds. The seeds are fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact_posterior.h"
#include "sample/gibbs.h"
#include "sample/precisions.h"

enum { BATCHES = 100, USERS_MAX = 8, ITEMS_MAX = 4, PAIRS_MAX = USERS_MAX * ITEMS_MAX };

/* ---- numbers against what they should be ----------------------------------------------------- */

enum { NUMBERS_MAX = PAIRS_MAX * (PAIRS_MAX + 3) / 2 };

struct comparison {
    size_t m; /* numbers */
    uint64_t rounds, round;
    double batch[NUMBERS_MAX];                     /* sum over the running batch */
    double sum[NUMBERS_MAX], squares[NUMBERS_MAX]; /* sums over the batches' means */
};

static void comparison_begin(struct comparison *c, size_t m, uint64_t rounds) {
    assert_true(m <= NUMBERS_MAX && rounds % BATCHES == 0);
    memset(c, 0, sizeof *c);
    c->m = m;
    c->rounds = rounds;
}

static void comparison_add(struct comparison *c, const double *numbers) {
    const uint64_t size = c->rounds / BATCHES;
    for (size_t i = 0; i < c->m; i++) c->batch[i] += numbers[i];
    if (++c->round % size != 0) return;
    for (size_t i = 0; i < c->m; i++) {
        double mean = c->batch[i] / (double)size;
        c->sum[i] += mean;
        c->squares[i] += mean * mean;
        c->batch[i] = 0;
    }
}

/* The largest |t| of all numbers. */
static double comparison_worst(const struct comparison *c, const double *exact) {
    double worst = 0;
    assert_int_equal(c->round, c->rounds);
    for (size_t i = 0; i < c->m; i++) {
        double mean = c->sum[i] / BATCHES;
        double variance = (c->squares[i] / BATCHES - mean * mean) / (BATCHES - 1);
        worst = fmax(worst, fabs(mean - exact[i]) / sqrt(fmax(variance, 1e-24)));
    }
    return worst;
}

/* P(|T| > t) for Student's T of 99 degrees of freedom, by adding up its density. */
static double student_tail(double t) {
    const double nu = BATCHES - 1, step = 1e-3;
    double constant = exp(lgamma((nu + 1) / 2) - lgamma(nu / 2)) / sqrt(nu * M_PI), sum = 0;
    for (double x = t + step / 2; x < t + 40; x += step) sum += pow(1 + x * x / nu, -(nu + 1) / 2);
    return 2 * constant * sum * step;
}

static double bound_for(size_t m) {
    double low = 0, high = 30;
    while (high - low > 1e-3) {
        double middle = (low + high) / 2;
        *(student_tail(middle) > 1e-4 / (double)m ? &low : &high) = middle;
    }
    return high;
}

/* ---- a tiny problem and a chain on it -------------------------------------------------------- */

/* What a sampler may get wrong: factors on what it is told. */
struct mutant {
    const char *name;
    double users, items, biases, noise; /* precisions */
    double noise_shape;                 /* shape of the Gamma that lambda_r is drawn from */
};

static const struct mutant honest = {"honest", 1, 1, 1, 1, 1};

struct tiny {
    struct exact_problem problem;
    struct exact_rating ratings[PAIRS_MAX];
    struct rating_rows rows;
    struct factors factors;
    struct precisions precisions;
    struct thread_pool *pool;
    struct gibbs *gibbs;
    struct chain_key key;
    double row_squares[ITEMS_MAX], user_squares[4], item_squares[4];
    double squared_error;
};

static void make_side(struct rating_side *side, uint64_t n, size_t n_ratings) {
    side->n = n;
    side->start = calloc(n + 1, sizeof *side->start);
    side->other = calloc(n_ratings, sizeof *side->other);
    side->value = calloc(n_ratings, sizeof *side->value);
    assert_true(side->start && side->other && side->value);
}

static void fill_side(struct rating_side *side, const struct tiny *tiny, bool by_user) {
    size_t at = 0;
    for (uint64_t row = 0; row < side->n; row++) {
        for (size_t r = 0; r < tiny->problem.n; r++) {
            const struct exact_rating *rating = &tiny->ratings[r];
            if ((by_user ? rating->user : rating->item) != row) continue;
            side->other[at] = (uint32_t)(by_user ? rating->item : rating->user);
            side->value[at++] = (float)rating->value;
        }
        side->start[row + 1] = at;
    }
}

static void fill_rows(struct tiny *tiny) {
    fill_side(&tiny->rows.users, tiny, true);
    fill_side(&tiny->rows.items, tiny, false);
}

/* Two pairs of three are rated; by what, nothing depends on. */
static void make_tiny(struct tiny *tiny, size_t n_users, size_t n_items, size_t k, uint64_t seed) {
    const struct kernel_set *kernels = kernel_set_choose(NULL);
    struct random_stream random;
    memset(tiny, 0, sizeof *tiny);
    tiny->key.seed = seed;
    random_stream_init(&random, seed, 1, 0);
    struct exact_problem *problem = &tiny->problem;
    *problem = (struct exact_problem){n_users, n_items, k, 0, tiny->ratings, 2, 1.5, 1, NULL, NULL};
    for (size_t p = 0; p < n_users * n_items; p++)
        if (p % 3 != 1) {
            float value = (float)(1.5 * random_gaussian(&random));
            tiny->ratings[problem->n++] =
                (struct exact_rating){p / n_items, p % n_items, (double)value};
        }
    tiny->rows.n_ratings = problem->n;
    make_side(&tiny->rows.users, n_users, problem->n);
    make_side(&tiny->rows.items, n_items, problem->n);
    fill_rows(tiny);
    tiny->factors.k = (uint32_t)k;
    size_t stride = kernels->stride(k);
    assert_int_equal(factor_matrix_init(&tiny->factors.users, n_users, stride, 0, NULL), 0);
    assert_int_equal(factor_matrix_init(&tiny->factors.items, n_items, stride, 0, NULL), 0);
    assert_int_equal(precisions_init(&tiny->precisions, k, 1, NULL), 0);
    for (size_t x = 0; x < k; x++) {
        tiny->precisions.users[x] = 0.8 + 0.4 * (double)x;
        tiny->precisions.items[x] = 1.2;
    }
    problem->users = tiny->precisions.users;
    problem->items = tiny->precisions.items;
    tiny->precisions.noise = problem->noise;
    tiny->precisions.user_bias = problem->user_bias;
    tiny->precisions.item_bias = problem->item_bias;
    precisions_draw_rows(&tiny->precisions, PRECISIONS_USERS, &tiny->factors.users, &tiny->key);
    precisions_draw_rows(&tiny->precisions, PRECISIONS_ITEMS, &tiny->factors.items, &tiny->key);
    assert_int_equal(thread_pool_init(&tiny->pool, 1, NULL), 0);
    assert_int_equal(gibbs_init(&tiny->gibbs, kernels, k, tiny->pool, NULL), 0);
}

static void free_tiny(struct tiny *tiny) {
    gibbs_free(tiny->gibbs);
    thread_pool_free(tiny->pool);
    precisions_free(&tiny->precisions);
    factors_free(&tiny->factors);
    rating_rows_free(&tiny->rows);
}

/* Draws both sides, as a sampler with this fault would. */
static void draw_rows(struct tiny *tiny, const struct mutant *mutant) {
    const struct precisions *p = &tiny->precisions;
    double users[3], items[3];
    for (size_t x = 0; x < tiny->factors.k; x++) {
        users[x] = mutant->users * p->users[x];
        items[x] = mutant->items * p->items[x];
    }
    struct gibbs_side side = {
        .ratings = &tiny->rows.users,
        .own = &tiny->factors.users,
        .other = &tiny->factors.items,
        .precision = users,
        .bias_precision = mutant->biases * p->user_bias,
        .noise = mutant->noise * p->noise,
        .purpose = CHAIN_GIBBS_USERS,
    };
    tiny->key.round++;
    assert_int_equal(gibbs_sweep(tiny->gibbs, &side, &tiny->key, NULL, NULL, NULL), 0);
    side.ratings = &tiny->rows.items;
    side.own = &tiny->factors.items;
    side.other = &tiny->factors.users;
    side.precision = items;
    side.bias_precision = mutant->biases * p->item_bias;
    side.purpose = CHAIN_GIBBS_ITEMS;
    side.squares = tiny->row_squares;
    assert_int_equal(gibbs_sweep(tiny->gibbs, &side, &tiny->key, NULL, NULL, NULL), 0);
    tiny->squared_error = 0;
    for (uint64_t j = 0; j < tiny->factors.items.n; j++)
        tiny->squared_error += tiny->row_squares[j];
}

static double predict(const struct tiny *tiny, size_t user, size_t item) {
    const struct factor_matrix *U = &tiny->factors.users, *V = &tiny->factors.items;
    double sum = (double)U->biases[user] + (double)V->biases[item];
    for (size_t x = 0; x < tiny->factors.k; x++)
        sum += (double)U->rows[user * U->stride + x] * (double)V->rows[item * V->stride + x];
    return sum;
}

/* The predictions of all pairs, and the products of their distances from `mean`; as exact ones are
 * laid out by `fill_exact`.
 * @return how many */
static size_t fill_numbers(const struct tiny *tiny, const double *mean, double *numbers) {
    const size_t pairs = tiny->problem.n_users * tiny->problem.n_items;
    size_t m = 0;
    double p[PAIRS_MAX];
    for (size_t i = 0; i < pairs; i++)
        numbers[m++] = p[i] = predict(tiny, i / tiny->problem.n_items, i % tiny->problem.n_items);
    for (size_t i = 0; i < pairs; i++)
        for (size_t j = 0; j <= i; j++) numbers[m++] = (p[i] - mean[i]) * (p[j] - mean[j]);
    return m;
}

static size_t fill_exact(const struct exact_posterior *exact, size_t pairs, double *numbers) {
    size_t m = 0;
    for (size_t i = 0; i < pairs; i++) numbers[m++] = exact->mean[i];
    for (size_t i = 0; i < pairs; i++)
        for (size_t j = 0; j <= i; j++) numbers[m++] = exact->covariance[i * pairs + j];
    return m;
}

/* ---- with fixed precisions ------------------------------------------------------------------- */

enum { BURN_IN = 200 };

/* The worst |t| of a chain against the exact posterior. */
static double try_fixed(size_t n_users, size_t n_items, size_t k, const struct mutant *mutant,
                        const struct exact_posterior *exact, uint64_t rounds, uint64_t seed,
                        size_t *m) {
    static struct comparison comparison;
    static double numbers[NUMBERS_MAX], wanted[NUMBERS_MAX];
    struct tiny tiny;
    make_tiny(&tiny, n_users, n_items, k, seed);
    *m = fill_exact(exact, n_users * n_items, wanted);
    comparison_begin(&comparison, *m, rounds);
    for (int i = 0; i < BURN_IN; i++) draw_rows(&tiny, mutant);
    for (uint64_t i = 0; i < rounds; i++) {
        draw_rows(&tiny, mutant);
        fill_numbers(&tiny, exact->mean, numbers);
        comparison_add(&comparison, numbers);
    }
    free_tiny(&tiny);
    return comparison_worst(&comparison, wanted);
}

static const struct mutant fixed_mutants[] = {
    {"users' prior halved", 0.5, 1, 1, 1, 1}, {"items' prior halved", 1, 0.5, 1, 1, 1},
    {"users' prior doubled", 2, 1, 1, 1, 1},  {"biases' prior halved", 1, 1, 0.5, 1, 1},
    {"ratings counted twice", 1, 1, 1, 2, 1}, {"noise of ratings doubled", 1, 1, 1, 0.5, 1},
    {"half the temperature", 2, 2, 2, 2, 1},  {"no noise", 1e8, 1e8, 1e8, 1e8, 1},
};

static void check_fixed(size_t n_users, size_t n_items, size_t k, size_t points) {
    enum { ROUNDS = 30000, FEWER = 8000 };
    struct tiny tiny;
    struct exact_posterior exact, rough;
    size_t m;
    make_tiny(&tiny, n_users, n_items, k, 7);
    assert_int_equal(exact_posterior_find(&tiny.problem, points, &exact), 0);
    assert_int_equal(exact_posterior_find(&tiny.problem, points - 4, &rough), 0);
    for (size_t p = 0; p < n_users * n_items; p++) { /* the finer grid is ten times as good */
        const size_t diagonal = p * (n_users * n_items + 1);
        assert_true(fabs(exact.mean[p] - rough.mean[p]) < 1e-2);
        assert_true(fabs(exact.covariance[diagonal] - rough.covariance[diagonal]) < 3e-2);
    }
    double worst = try_fixed(n_users, n_items, k, &honest, &exact, ROUNDS, 7, &m);
    double bound = bound_for(m);
    print_message("%zu x %zu, k = %zu: worst of %zu numbers %.2f, bound %.2f\n", n_users, n_items,
                  k, m, worst, bound);
    if (worst > bound) fail_msg("the chain is off by %.2f standard errors", worst);
    for (size_t i = 0; i < sizeof fixed_mutants / sizeof *fixed_mutants; i++) {
        worst = try_fixed(n_users, n_items, k, &fixed_mutants[i], &exact, FEWER, 7, &m);
        print_message("  %s: %.1f\n", fixed_mutants[i].name, worst);
        if (!(worst > bound)) fail_msg("not found out: %s", fixed_mutants[i].name);
    }
    exact_posterior_free(&rough);
    exact_posterior_free(&exact);
    free_tiny(&tiny);
}

static void test_four_by_four(void **state) {
    (void)state;
    check_fixed(4, 4, 1, 19);
}

static void test_two_factors(void **state) {
    (void)state;
    check_fixed(5, 2, 2, 19);
}

/* ---- with the ratings' precision drawn ------------------------------------------------------- */

/* A mixture over lambda_r, which goes through a grid of its own: equal steps of its logarithm. The
 * last number of `wanted` is the mean of that logarithm. @return how many there are */
static size_t mix_exact(const struct tiny *tiny, struct exact_posterior *mixed, double *wanted) {
    enum { STEPS = 60, POINTS = 21 };
    const size_t pairs = tiny->problem.n_users * tiny->problem.n_items;
    struct exact_posterior part[STEPS];
    double weight[STEPS], log_noise[STEPS], total = 0, mean_log = 0;
    for (int s = 0; s < STEPS; s++) {
        struct exact_problem problem = tiny->problem;
        log_noise[s] = -5 + 0.2 * s;
        problem.noise = exp(log_noise[s]);
        assert_int_equal(exact_posterior_find(&problem, POINTS, &part[s]), 0);
        /* Gamma(alpha, beta), and the measure of the logarithm's steps */
        weight[s] = exp(part[s].log_evidence - part[0].log_evidence +
                        PRECISIONS_ALPHA * log_noise[s] - problem.noise / PRECISIONS_BETA);
        total += weight[s];
    }
    *mixed = (struct exact_posterior){.mean = calloc(pairs, sizeof(double)),
                                      .covariance = calloc(pairs * pairs, sizeof(double))};
    assert_true(mixed->mean && mixed->covariance);
    for (int s = 0; s < STEPS; s++)
        for (size_t p = 0; p < pairs; p++) mixed->mean[p] += weight[s] / total * part[s].mean[p];
    for (int s = 0; s < STEPS; s++) {
        for (size_t p = 0; p < pairs; p++)
            for (size_t q = 0; q < pairs; q++)
                mixed->covariance[p * pairs + q] +=
                    weight[s] / total *
                    (part[s].covariance[p * pairs + q] +
                     (part[s].mean[p] - mixed->mean[p]) * (part[s].mean[q] - mixed->mean[q]));
        mean_log += weight[s] / total * log_noise[s];
        exact_posterior_free(&part[s]);
    }
    size_t m = fill_exact(mixed, pairs, wanted);
    wanted[m] = mean_log;
    return m + 1;
}

/* lambda_r as a sampler with this fault draws it. */
static void draw_noise(struct tiny *tiny, const struct mutant *mutant) {
    const uint64_t n = (uint64_t)((double)tiny->rows.n_ratings * mutant->noise_shape);
    precisions_draw_noise(&tiny->precisions, n, tiny->squared_error, &tiny->key);
}

static double try_noise(const struct exact_posterior *exact, const double *wanted, size_t m,
                        const struct mutant *mutant, uint64_t rounds) {
    static struct comparison comparison;
    static double numbers[NUMBERS_MAX];
    struct tiny tiny;
    make_tiny(&tiny, 8, 2, 1, 11);
    comparison_begin(&comparison, m, rounds);
    for (uint64_t i = 0; i < BURN_IN + rounds; i++) {
        draw_rows(&tiny, mutant);
        draw_noise(&tiny, mutant);
        if (i < BURN_IN) continue;
        numbers[fill_numbers(&tiny, exact->mean, numbers)] = log(tiny.precisions.noise);
        comparison_add(&comparison, numbers);
    }
    free_tiny(&tiny);
    return comparison_worst(&comparison, wanted);
}

static void test_noise_is_drawn(void **state) {
    (void)state;
    enum { ROUNDS = 40000, FEWER = 10000 };
    static const struct mutant mutants[] = {
        {"shape of lambda_r doubled", 1, 1, 1, 1, 2},
        {"shape of lambda_r halved", 1, 1, 1, 1, 0.5},
        {"a rating forgotten in ten", 1, 1, 1, 1, 0.9},
        {"rows drawn with half of lambda_r", 1, 1, 1, 0.5, 1},
    };
    static double wanted[NUMBERS_MAX];
    struct tiny tiny;
    struct exact_posterior exact;
    make_tiny(&tiny, 8, 2, 1, 11);
    const size_t m = mix_exact(&tiny, &exact, wanted);
    const double bound = bound_for(m);
    double worst = try_noise(&exact, wanted, m, &honest, ROUNDS);
    print_message("8 x 2, lambda_r drawn: worst of %zu numbers %.2f, bound %.2f\n", m, worst,
                  bound);
    if (worst > bound) fail_msg("the chain is off by %.2f standard errors", worst);
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        worst = try_noise(&exact, wanted, m, &mutants[i], FEWER);
        print_message("  %s: %.1f\n", mutants[i].name, worst);
        if (!(worst > bound)) fail_msg("not found out: %s", mutants[i].name);
    }
    exact_posterior_free(&exact);
    free_tiny(&tiny);
}

/* ---- with all precisions drawn --------------------------------------------------------------- */

/* Geweke (2004): draw ratings given the model, then the model given the ratings, and again. If both
 * are right, every precision comes from its prior, whose distribution function makes it uniform on
 * 0 .. 1. */
enum { KINDS = 5 };

static void precisions_uniform(const struct precisions *p, double *numbers) {
    const double values[KINDS] = {p->noise, p->user_bias, p->item_bias, p->users[0], p->items[0]};
    for (int i = 0; i < KINDS; i++) {
        double uniform = -expm1(-values[i] / PRECISIONS_BETA);
        numbers[i] = uniform;
        numbers[KINDS + i] = uniform * uniform;
    }
}

static void draw_ratings(struct tiny *tiny, struct random_stream *random) {
    const double spread = 1 / sqrt(tiny->precisions.noise);
    for (size_t r = 0; r < tiny->problem.n; r++) {
        struct exact_rating *rating = &tiny->ratings[r];
        rating->value =
            predict(tiny, rating->user, rating->item) + spread * random_gaussian(random);
    }
    fill_rows(tiny);
}

/* `users` counts the users in the draw of their precisions: other numbers of them are a fault. */
static double try_joint(const struct mutant *mutant, uint64_t users, uint64_t rounds) {
    static struct comparison comparison;
    static const double wanted[2 * KINDS] = {0.5,     0.5,     0.5,     0.5,     0.5,
                                             1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3};
    double numbers[2 * KINDS];
    struct random_stream random;
    struct tiny tiny;
    make_tiny(&tiny, 6, 4, 1, 13);
    random_stream_init(&random, 13, 2, 0);
    comparison_begin(&comparison, 2 * KINDS, rounds);
    for (uint64_t i = 0; i < BURN_IN + rounds; i++) {
        draw_ratings(&tiny, &random);
        draw_rows(&tiny, mutant);
        precisions_squares(&tiny.factors.users, 1, tiny.user_squares);
        precisions_squares(&tiny.factors.items, 1, tiny.item_squares);
        precisions_draw_side(&tiny.precisions, PRECISIONS_USERS, users, tiny.user_squares,
                             &tiny.key);
        precisions_draw_side(&tiny.precisions, PRECISIONS_ITEMS, 4, tiny.item_squares, &tiny.key);
        draw_noise(&tiny, mutant);
        if (i < BURN_IN) continue;
        precisions_uniform(&tiny.precisions, numbers);
        comparison_add(&comparison, numbers);
    }
    free_tiny(&tiny);
    return comparison_worst(&comparison, wanted);
}

static void test_all_is_drawn(void **state) {
    (void)state;
    enum { ROUNDS = 50000 };
    static const struct mutant wrong_noise = {"noise doubled", 1, 1, 1, 2, 1};
    static const struct mutant wrong_shape = {"shape of lambda_r doubled", 1, 1, 1, 1, 2};
    const double bound = bound_for(2 * KINDS);
    double worst = try_joint(&honest, 6, ROUNDS);
    print_message("joint test: worst of %d numbers %.2f, bound %.2f\n", 2 * KINDS, worst, bound);
    if (worst > bound) fail_msg("a precision is off by %.2f standard errors", worst);
    double found[] = {try_joint(&wrong_noise, 6, ROUNDS), try_joint(&wrong_shape, 6, ROUNDS),
                      try_joint(&honest, 5, ROUNDS), try_joint(&honest, 12, ROUNDS)};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        print_message("  fault %zu: %.1f\n", i, found[i]);
        if (!(found[i] > bound)) fail_msg("fault %zu is not found out", i);
    }
}

/* ---- an end in the middle of a row ----------------------------------------------------------- */

static bool stop_at_once(void *self) {
    ++*(int *)self;
    return true;
}

/* A row of many factors takes seconds, so it is asked within the row as well, both while ratings
 * are added up and while the sum is factorised; the row then stays as it was. */
static void test_stops_within_a_row(void **state) {
    (void)state;
    enum { K = 640, RATINGS = 120 };
    for (size_t n = 0; n <= RATINGS; n += RATINGS) {
        const struct kernel_set *kernels = kernel_set_choose(NULL);
        static uint32_t other[RATINGS];
        static float value[RATINGS];
        static double precision[K];
        const uint64_t start[] = {0, n};
        struct rating_side ratings = {
            .n = 1, .start = (uint64_t *)start, .other = other, .value = value};
        struct factor_matrix own, items;
        struct thread_pool *pool;
        struct gibbs *gibbs;
        struct chain_key key = {.seed = 1, .round = 1};
        struct dpmf_error error = {0};
        int asked = 0;
        for (size_t x = 0; x < K; x++) precision[x] = 1;
        assert_int_equal(factor_matrix_init(&own, 1, kernels->stride(K), 0, NULL), 0);
        assert_int_equal(factor_matrix_init(&items, 1, kernels->stride(K), 0, NULL), 0);
        assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
        assert_int_equal(gibbs_init(&gibbs, kernels, K, pool, NULL), 0);
        const struct gibbs_side side = {
            .ratings = &ratings,
            .own = &own,
            .other = &items,
            .precision = precision,
            .bias_precision = 1,
            .noise = 1,
            .purpose = CHAIN_GIBBS_USERS,
        };
        own.biases[0] = 7;
        assert_int_equal(gibbs_sweep(gibbs, &side, &key, stop_at_once, &asked, &error),
                         DPMF_ERR_BASE_CANCELLED);
        assert_string_equal(error.message, "interrupted");
        assert_int_equal(asked, 1);
        assert_true(own.biases[0] == 7 && own.rows[0] == 0);
        assert_int_equal(gibbs_sweep(gibbs, &side, &key, NULL, NULL, NULL), 0);
        assert_true(own.biases[0] != 7 && own.rows[0] != 0);
        gibbs_free(gibbs);
        thread_pool_free(pool);
        factor_matrix_free(&own);
        factor_matrix_free(&items);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stops_within_a_row), cmocka_unit_test(test_four_by_four),
        cmocka_unit_test(test_two_factors),        cmocka_unit_test(test_noise_is_drawn),
        cmocka_unit_test(test_all_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
