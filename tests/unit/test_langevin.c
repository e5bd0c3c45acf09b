/*
 * Langevin dynamics on tiles have the right distribution: rows get the noise that they are owed, to 2 %, and on tiny problems the
 * means and covariances of all predictions are those that brute force finds (reference/exact_posterior.h), at a step and at half
 * of it. Samplers that are wrong in one thing are found out by the same tests.
 *
 * The tiny problem is there COPIES times, side by side, with nothing in common: so many independent chains, whose means tell the
 * standard error. A test fails when any of m numbers is further from the exact one than what its step is allowed to cost plus
 * as many standard errors as a Gaussian passes, either way, with probability 1e-4 / m: a right sampler fails once in 10,000 seeds at most. The
 * seeds are fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact_posterior.h"
#include "langevin_bed.h"
#include "random/random.h"

/* ---- ratings ---------------------------------------------------------------------------------- */

struct ratings {
    struct dpmf_arrays arrays;
    int64_t *users, *items;
    double *values;
};

static void ratings_make(struct ratings *ratings, uint64_t n, uint64_t n_users, uint64_t n_items) {
    ratings->users = malloc(n * sizeof ratings->users[0]);
    ratings->items = malloc(n * sizeof ratings->items[0]);
    ratings->values = malloc(n * sizeof ratings->values[0]);
    assert_true(ratings->users && ratings->items && ratings->values);
    ratings->arrays = (struct dpmf_arrays){.n = n,
                                           .n_users = n_users,
                                           .n_items = n_items,
                                           .users = ratings->users,
                                           .items = ratings->items,
                                           .ratings = ratings->values};
}

static void ratings_free(struct ratings *ratings) {
    free(ratings->users);
    free(ratings->items);
    free(ratings->values);
}

/* Everyone rates something, and everything is rated; some much more than others. */
static void ratings_skewed(struct ratings *ratings, uint64_t n, uint64_t n_users,
                           uint64_t n_items) {
    struct random_stream random;
    random_stream_init(&random, 5, 5, 5);
    ratings_make(ratings, n, n_users, n_items);
    for (uint64_t r = 0; r < n; r++) {
        double u = random_uniform(&random), v = random_uniform(&random);
        ratings->users[r] = (int64_t)(r < n_users ? r : (uint64_t)(u * u * (double)n_users));
        ratings->items[r] = (int64_t)(r < n_items ? r : (uint64_t)(v * v * (double)n_items));
        ratings->values[r] = random_gaussian(&random);
    }
}

/* ---- what is injected ------------------------------------------------------------------------- */

static double mean_square(const struct factor_matrix *matrix, size_t k) {
    double sum = 0;
    for (uint64_t i = 0; i < matrix->n; i++)
        for (size_t x = 0; x < k; x++) {
            double at = (double)matrix->rows[i * matrix->stride + x];
            sum += at * at;
        }
    return sum / ((double)matrix->n * (double)k);
}

static double mean_bias_square(const struct factor_matrix *matrix) {
    double sum = 0;
    for (uint64_t i = 0; i < matrix->n; i++)
        sum += (double)matrix->biases[i] * (double)matrix->biases[i];
    return sum / (double)matrix->n;
}

/* Without forces, rows and biases that begin at 0 are what was injected. */
static void take_forces_away(struct langevin_bed *bed) {
    struct precisions *precisions = langevin_precisions(bed->langevin);
    struct factors *factors = &bed->factors;
    precisions->noise = 0;
    precisions->user_bias = precisions->item_bias = 1e-9;
    for (size_t x = 0; x < precisions->k; x++) precisions->users[x] = precisions->items[x] = 1e-9;
    memset(factors->users.rows, 0, factors->users.n * factors->users.stride * sizeof(float));
    memset(factors->items.rows, 0, factors->items.n * factors->items.stride * sizeof(float));
    memset(factors->users.biases, 0, factors->users.n * sizeof(float));
    memset(factors->items.biases, 0, factors->items.n * sizeof(float));
}

struct injected {
    double users, items, biases; /* variance in terms of what it should be */
};

static struct injected inject(const struct ratings *ratings,
                              const struct langevin_bed_options *options, uint32_t rounds) {
    const struct langevin_step step = {.rows = 1e-3, .biases = 2e-3};
    const struct factor_matrix *users, *items;
    struct langevin_bed bed;
    bed_make(&bed, &ratings->arrays, options);
    take_forces_away(&bed);
    bed_set_step(&bed, &step);
    for (uint32_t i = 0; i < rounds; i++) bed_round(&bed);
    users = &bed.factors.users;
    items = &bed.factors.items;
    double n = (double)users->n, m = (double)items->n;
    struct injected injected = {
        .users = mean_square(users, options->k) / (step.rows * rounds),
        .items = mean_square(items, options->k) / (step.rows * rounds),
        .biases = (mean_bias_square(users) * n + mean_bias_square(items) * m) /
                  ((n + m) * step.biases * rounds),
    };
    bed_free(&bed);
    return injected;
}

#define INJECTED_WITHIN 0.02

static bool is_injected(const struct injected *injected) {
    return fabs(injected->users - 1) < INJECTED_WITHIN &&
           fabs(injected->items - 1) < INJECTED_WITHIN;
}

/* 4,000 rows of 32 columns: the mean of 128,000 squares, whose standard deviation is 0.4 %. That of 8,000 biases is
 * 1.6 %. */
enum { ROWS = 4000, WIDE = 32, RATINGS = 60000 };

static void test_injected(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum sgd_order order;
        int threads;
        const char *kernels;
        uint32_t k;
    } cases[] = {
        {"free, 2 threads", SGD_FREE, 2, NULL, WIDE},
        {"in order, 2 threads", SGD_DETERMINISTIC, 2, NULL, WIDE},
        {"free, long rows", SGD_FREE, 1, NULL, WIDE + 9},
        {"by the reference", SGD_DETERMINISTIC, 1, "ref", WIDE},
    };
    struct ratings ratings;
    ratings_skewed(&ratings, RATINGS, ROWS, ROWS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct langevin_bed_options options = {.solver = SOLVER_SGLD,
                                                     .k = cases[i].k,
                                                     .threads = cases[i].threads,
                                                     .order = cases[i].order,
                                                     .kernels = cases[i].kernels,
                                                     .seed = 1,
                                                     .fault = LANGEVIN_HONEST};
        struct injected injected = inject(&ratings, &options, 6);
        print_message("%s: U %.4f, V %.4f, biases %.4f of what is owed\n", cases[i].name,
                      injected.users, injected.items, injected.biases);
        if (!is_injected(&injected)) fail_msg("%s: not within 2 %%", cases[i].name);
        assert_true(fabs(injected.biases - 1) < 0.1);
    }
    ratings_free(&ratings);
}

static void test_injected_wrong(void **state) {
    (void)state;
    static const struct langevin_fault faults[] = {
        {.name = "temperature cheated", .drift = 1, .temperature = 0.9},
        {.name = "noise replayed", .drift = 1, .temperature = 1, .replays = true},
        {.name = "what is owed in the end skipped",
         .drift = 1,
         .temperature = 1,
         .leaves_owed = 1.0 / 16},
    };
    struct ratings ratings;
    ratings_skewed(&ratings, RATINGS, ROWS, ROWS);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const struct langevin_bed_options options = {.solver = SOLVER_SGLD,
                                                     .k = WIDE,
                                                     .threads = 2,
                                                     .order = SGD_FREE,
                                                     .seed = 1,
                                                     .fault = faults[i]};
        struct injected injected = inject(&ratings, &options, 6);
        print_message("  %s: U %.3f, V %.3f\n", faults[i].name, injected.users, injected.items);
        if (is_injected(&injected)) fail_msg("not found out: %s", faults[i].name);
    }
    ratings_free(&ratings);
}

/* A small table, used so often that its numbers come again and again: with signs it does not show in the variance. */
static void test_table(void **state) {
    (void)state;
    enum { FEWER = 600, OFTEN = 1200 };
    struct ratings ratings;
    ratings_skewed(&ratings, 2 * FEWER, FEWER, FEWER);
    for (int without = 0; without < 2; without++) {
        struct langevin_bed_options options = {.solver = SOLVER_SGLD,
                                               .k = 256,
                                               .threads = 1,
                                               .order = SGD_DETERMINISTIC,
                                               .table = 8192,
                                               .seed = 3,
                                               .fault = LANGEVIN_HONEST};
        options.fault.without_signs = without;
        struct injected injected = inject(&ratings, &options, OFTEN);
        print_message("%s: U %.4f, V %.4f\n", without ? "without signs" : "table with signs",
                      injected.users, injected.items);
        if (is_injected(&injected) == (bool)without)
            fail_msg("%s", without ? "not found out: no signs" : "not within 2 %");
    }
    ratings_free(&ratings);
}

/* ---- tiny problems ---------------------------------------------------------------------------- */

enum { COPIES = 192, PAIRS_MAX = 16, NUMBERS_MAX = PAIRS_MAX * (PAIRS_MAX + 3) / 2 };

struct tiny {
    struct exact_problem problem;
    struct exact_rating ratings[PAIRS_MAX];
    double users[2], items[2];
    struct exact_posterior exact;
    struct ratings copies;
    double offset;
};

/* Three pairs of four are rated. */
static void tiny_make(struct tiny *tiny, size_t n_users, size_t n_items, size_t k, size_t points) {
    struct random_stream random;
    memset(tiny, 0, sizeof *tiny);
    random_stream_init(&random, 7, 1, 0);
    struct exact_problem *problem = &tiny->problem;
    *problem = (struct exact_problem){n_users, n_items, k, 0, tiny->ratings, 2, 1.5, 1, NULL, NULL};
    float sum = 0;
    for (size_t p = 0; p < n_users * n_items; p++)
        if (p % 4 != 1) {
            float value = (float)(1.5 * random_gaussian(&random));
            sum += value;
            tiny->ratings[problem->n++] =
                (struct exact_rating){p / n_items, p % n_items, (double)value};
        }
    tiny->offset = (double)sum / (double)problem->n;
    for (size_t x = 0; x < k; x++) {
        tiny->users[x] = 0.8 + 0.4 * (double)x;
        tiny->items[x] = 1.2;
    }
    problem->users = tiny->users;
    problem->items = tiny->items;
    ratings_make(&tiny->copies, COPIES * problem->n, COPIES * n_users, COPIES * n_items);
    for (size_t c = 0, at = 0; c < COPIES; c++)
        for (size_t r = 0; r < problem->n; r++, at++) {
            tiny->copies.users[at] = (int64_t)(c * n_users + tiny->ratings[r].user);
            tiny->copies.items[at] = (int64_t)(c * n_items + tiny->ratings[r].item);
            tiny->copies.values[at] = tiny->ratings[r].value;
        }
    for (size_t r = 0; r < problem->n; r++) tiny->ratings[r].value -= tiny->offset;
    assert_int_equal(exact_posterior_find(problem, points, &tiny->exact), 0);
}

static void tiny_free(struct tiny *tiny) {
    exact_posterior_free(&tiny->exact);
    ratings_free(&tiny->copies);
}

/* Sums over rounds, by copy. */
struct chains {
    size_t m;
    uint64_t rounds;
    double sum[COPIES][NUMBERS_MAX];
};

/* The predictions of all pairs of a copy, and the products of their distances from the exact means. */
static size_t fill_numbers(const struct tiny *tiny, const struct langevin_bed *bed, size_t copy,
                           double *numbers) {
    const size_t n_items = tiny->problem.n_items, pairs = tiny->problem.n_users * n_items;
    const struct factor_matrix *U = &bed->factors.users, *V = &bed->factors.items;
    double p[PAIRS_MAX];
    size_t m = 0;
    for (size_t i = 0; i < pairs; i++) {
        uint64_t user = copy * tiny->problem.n_users + i / n_items;
        uint64_t item = bed->item_row[copy * n_items + i % n_items];
        double sum = (double)U->biases[user] + (double)V->biases[item];
        for (size_t x = 0; x < tiny->problem.k; x++)
            sum += (double)U->rows[user * U->stride + x] * (double)V->rows[item * V->stride + x];
        numbers[m++] += p[i] = sum;
    }
    for (size_t i = 0; i < pairs; i++)
        for (size_t j = 0; j <= i; j++)
            numbers[m++] += (p[i] - tiny->exact.mean[i]) * (p[j] - tiny->exact.mean[j]);
    return m;
}

/* How far a chain is from the exact posterior: its worst number, in terms of what it may be. */
struct distance {
    size_t m;
    double mean,
        covariance; /* the worst, in standard deviations, and relative to those of the pair */
    double worst;   /* the largest distance beyond what the step may cost, in standard errors */
};

static struct distance distance_of(const struct tiny *tiny, const struct chains *chains,
                                   double cost) {
    const size_t pairs = tiny->problem.n_users * tiny->problem.n_items;
    struct distance distance = {.m = chains->m};
    size_t m = 0;
    for (size_t i = 0; i < pairs + pairs * (pairs + 1) / 2; i++, m++) {
        size_t a = i, b = i; /* of a mean, twice the pair itself */
        if (i >= pairs) {
            size_t left = i - pairs;
            for (a = 0; left > a; a++) left -= a + 1;
            b = left;
        }
        double scale = sqrt(tiny->exact.covariance[a * pairs + a]);
        if (i >= pairs) scale *= sqrt(tiny->exact.covariance[b * pairs + b]);
        double exact = i < pairs ? tiny->exact.mean[i] : tiny->exact.covariance[a * pairs + b];
        double sum = 0, squares = 0;
        for (size_t c = 0; c < COPIES; c++) {
            double mean = chains->sum[c][m] / (double)chains->rounds;
            sum += mean;
            squares += mean * mean;
        }
        double mean = sum / COPIES;
        double error = sqrt((squares / COPIES - mean * mean) / (COPIES - 1));
        double off = fabs(mean - exact);
        double *largest = i < pairs ? &distance.mean : &distance.covariance;
        *largest = fmax(*largest, off / scale);
        double beyond = (off - cost * scale) / error;
        if (!(beyond <= distance.worst)) distance.worst = isnan(beyond) ? INFINITY : beyond;
    }
    return distance;
}

/* P(|Z| > z) = 1e-4 / m */
static double bound_for(size_t m) {
    double low = 0, high = 30;
    while (high - low > 1e-3) {
        double middle = (low + high) / 2;
        *(erfc(middle / sqrt(2)) > 1e-4 / (double)m ? &low : &high) = middle;
    }
    return high;
}

static void fix_precisions(struct langevin_bed *bed, const struct exact_problem *problem) {
    struct precisions *precisions = langevin_precisions(bed->langevin);
    precisions->noise = problem->noise;
    precisions->user_bias = problem->user_bias;
    precisions->item_bias = problem->item_bias;
    memcpy(precisions->users, problem->users, problem->k * sizeof(double));
    memcpy(precisions->items, problem->items, problem->k * sizeof(double));
}

/* Time that passes until a chain is where it belongs, and then until enough was seen. */
struct patience {
    double burn_in, sampling;
};

static struct distance try_tiny(const struct tiny *tiny, enum solver solver,
                                const struct langevin_step *step, const struct patience *patience,
                                double cost, const struct langevin_fault *fault) {
    static struct chains chains;
    const struct langevin_bed_options options = {.solver = solver,
                                                 .k = (uint32_t)tiny->problem.k,
                                                 .threads = 1,
                                                 .order = SGD_DETERMINISTIC,
                                                 .seed = 11,
                                                 .fault = *fault};
    struct langevin_bed bed;
    bed_make(&bed, &tiny->copies.arrays, &options);
    fix_precisions(&bed, &tiny->problem);
    bed_set_step(&bed, step);
    memset(&chains, 0, sizeof chains);
    for (double t = 0; t < patience->burn_in; t += step->rows) bed_round(&bed);
    for (double t = 0; t < patience->sampling; t += step->rows) {
        bed_round(&bed);
        for (size_t c = 0; c < COPIES; c++) chains.m = fill_numbers(tiny, &bed, c, chains.sum[c]);
        chains.rounds++;
    }
    bed_free(&bed);
    return distance_of(tiny, &chains, cost);
}

/* Of a step, what it may cost: so much of a standard deviation in a mean, and of a variance. */
#define COST 0.02

struct trial {
    enum solver solver;
    struct langevin_step step;
};

/* The stiffest row of the tiny problem has a curvature of about 10: x is a quarter and an eighth, ten times what is the default, so that errors
 * of the splitting would show. */
static const struct trial trials[] = {
    {SOLVER_SGLD, {0.025, 0.025, 0}},       {SOLVER_SGLD, {0.0125, 0.0125, 0}},
    {SOLVER_SGHMC, {0.05, 0.0125, 0.0125}}, {SOLVER_SGHMC, {0.025, 0.0125, 0.00625}},
    {SOLVER_SGNHT, {0.05, 0.0125, 0.0125}}, {SOLVER_SGNHT, {0.025, 0.0125, 0.00625}},
};

static void check_trial(const struct tiny *tiny, const struct trial *trial, double sampling) {
    const struct patience patience = {8, sampling};
    const struct langevin_fault none = LANGEVIN_HONEST;
    struct distance d = try_tiny(tiny, trial->solver, &trial->step, &patience, COST, &none);
    double bound = bound_for(d.m);
    print_message("%s, step %g: means off by %.4f, covariances by %.4f at most; worst of %zu "
                  "numbers %.2f, bound %.2f\n",
                  solver_name(trial->solver), trial->step.rows, d.mean, d.covariance, d.m, d.worst,
                  bound);
    if (!(d.worst <= bound)) fail_msg("the chain is off by %.2f standard errors", d.worst);
}

static void check_faults(const struct tiny *tiny, const struct trial *trial) {
    static const struct langevin_fault faults[] = {
        {.name = "drift doubled", .drift = 2, .temperature = 1},
        {.name = "drift halved", .drift = 0.5, .temperature = 1},
        {.name = "temperature cheated", .drift = 1, .temperature = 0.7},
        {.name = "noise replayed", .drift = 1, .temperature = 1, .replays = true},
        {.name = "what is owed in the end skipped",
         .drift = 1,
         .temperature = 1,
         .leaves_owed = 0.25},
    };
    const struct patience patience = {8, 16};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct distance d =
            try_tiny(tiny, trial->solver, &trial->step, &patience, COST, &faults[i]);
        print_message("  %s, %s: %.1f\n", solver_name(trial->solver), faults[i].name, d.worst);
        if (d.worst <= bound_for(d.m)) fail_msg("not found out: %s", faults[i].name);
    }
}

static bool is_long(void) { return getenv("DPMF_TEST_LONG") != NULL; }

static void test_one_factor(void **state) {
    (void)state;
    struct tiny tiny;
    tiny_make(&tiny, 4, 3, 1, 31);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
        check_trial(&tiny, &trials[i], is_long() ? 400 : 20);
    tiny_free(&tiny);
}

static void test_two_factors(void **state) {
    (void)state;
    struct tiny tiny;
    tiny_make(&tiny, 5, 2, 2, 19);
    check_trial(&tiny, &(struct trial){SOLVER_SGLD, {0.006, 0.006, 0}}, is_long() ? 400 : 20);
    check_trial(&tiny, &trials[3], is_long() ? 400 : 25);
    check_trial(&tiny, &trials[5], is_long() ? 400 : 25);
    tiny_free(&tiny);
}

static void test_faults(void **state) {
    (void)state;
    struct tiny tiny;
    tiny_make(&tiny, 4, 3, 1, 31);
    check_faults(&tiny, &trials[0]);
    check_faults(&tiny, &trials[2]);
    check_faults(&tiny, &trials[4]);
    tiny_free(&tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_injected),    cmocka_unit_test(test_injected_wrong),
        cmocka_unit_test(test_table),       cmocka_unit_test(test_one_factor),
        cmocka_unit_test(test_two_factors), cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
