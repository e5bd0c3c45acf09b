/*
 * Langevin dynamics on tiles have the right distribution: rows get the noise that they are due, to
 * 2 %, and on tiny problems the means and covariances of all predictions are those that brute force
 * finds (reference/exact_posterior.h), at a step and at half of it. Samplers that are wrong in one
 * thing are found out by the same tests. So it is with several ranks, among which the users of each
 * problem are spread so that its items travel between them.
 *
 * The tiny problem is there COPIES times, side by side, with nothing in common: so many independent
 * chains, whose means tell the standard error. A test fails when any of m numbers is further from
 * the exact one than what its step is allowed to cost plus as many standard errors as a Gaussian
 * passes, either way, with probability 1e-4 / m: a right sampler fails once in 10,000 seeds at
 * most. The seeds are fixed.
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
#include "sample/langevin_state.h"
#include "temp_dir.h"
#include "thread_cluster.h"

enum { TIMEOUT = 120 };

/* ---- ratings --------------------------------------------------------------------------------- */

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
    ratings->arrays = (struct dpmf_arrays){.size = sizeof(struct dpmf_arrays),
                                           .n = n,
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

/* The same in a folder of shards, one for each rank. */
static void ratings_shard(const struct ratings *ratings, const char *path, int n_ranks) {
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_from_arrays(&ratings->arrays, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_store_shard(store, path, (uint32_t)n_ranks, NULL, NULL, NULL), 0);
    dpmf_store_close(store);
}

/* ---- what is injected ------------------------------------------------------------------------ */

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

/* 4,000 rows of 32 columns: the mean of 128,000 squares, whose standard deviation is 0.4 %. That of
 * 8,000 biases is 1.6 %. */
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
        print_message("%s: U %.4f, V %.4f, biases %.4f of what is due\n", cases[i].name,
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
        {.name = "what is due in the end skipped",
         .drift = 1,
         .temperature = 1,
         .leaves_due = 1.0 / 16},
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

/* A small table, used so often that its numbers come again and again: with signs it does not show
 * in the variance. Without them it grows by OFTEN times the square of the numbers' mean, which is
 * OFTEN / 8192 of it on average, and less or more from seed to seed: enough to see with this
 * one. */
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
                                               .seed = 4,
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

/* ---- steps ----------------------------------------------------------------------------------- */

static void set_precisions(struct langevin_bed *bed, double noise, double users, double items) {
    struct precisions *precisions = langevin_precisions(bed->langevin);
    precisions->noise = noise;
    precisions->user_bias = precisions->item_bias = 1;
    for (size_t x = 0; x < precisions->k; x++) {
        precisions->users[x] = users;
        precisions->items[x] = items;
    }
}

static void expect_ratio(double now, double then, double ratio) {
    if (!(fabs(now / then / ratio - 1) < 1e-9)) fail_msg("%g, not %g", now / then, ratio);
}

/* What was measured is scaled by the precisions that grew, but for a quarter that is always
 * allowed; what fell is left. Of few rows that were all 0 when they were measured, the prior says
 * how long they may become. */
static void test_steps_follow(void **state) {
    (void)state;
    static const enum solver kinds[] = {SOLVER_SGLD, SOLVER_SGHMC, SOLVER_SGNHT};
    struct ratings ratings;
    ratings_skewed(&ratings, 60, 20, 20);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct langevin_bed_options options = {
            .solver = kinds[i], .k = 4, .threads = 1, .seed = 1, .fault = LANGEVIN_HONEST};
        struct langevin_stiffness then, now;
        struct langevin_bed bed;
        bed_make(&bed, &ratings.arrays, &options);
        take_forces_away(&bed);
        set_precisions(&bed, 1, 1, 1);
        assert_int_equal(langevin_measure(bed.langevin, &then, NULL), 0);
        assert_true(then.user_force > 1 && then.item_force > 1 && then.outlook.prior == 1);
        const struct langevin_step safe = langevin_safe_step(kinds[i], &then);

        set_precisions(&bed, 50, 1, 1);
        now = langevin_stiffness_now(bed.langevin, &then);
        struct langevin_step step = langevin_safe_step(kinds[i], &now);
        expect_ratio(now.user_force, then.user_force, 40);
        expect_ratio(now.item_force, then.item_force, 40);
        expect_ratio(step.biases, safe.biases, 1.0 / 40);
        if (kinds[i] == SOLVER_SGLD) expect_ratio(step.rows, safe.rows, 1.0 / 40);

        set_precisions(&bed, 1, 1.0 / 50, 1); /* users' rows may be long: items feel it */
        now = langevin_stiffness_now(bed.langevin, &then);
        expect_ratio(now.item_force, then.item_force, 40);
        expect_ratio(now.user_force, then.user_force, 1);
        set_precisions(&bed, 1, 1, 1.0 / 50);
        now = langevin_stiffness_now(bed.langevin, &then);
        expect_ratio(now.user_force, then.user_force, 40);
        expect_ratio(now.item_force, then.item_force, 1);

        set_precisions(&bed, 1, 1, 5000); /* a stiff prior: flights are short against it */
        now = langevin_stiffness_now(bed.langevin, &then);
        step = langevin_safe_step(kinds[i], &now);
        expect_ratio(now.outlook.prior, then.outlook.prior, 4000);
        if (kinds[i] != SOLVER_SGLD) assert_true(step.rows * step.rows * 4000 <= 0.05);

        /* not worth a change; and nothing makes steps larger */
        set_precisions(&bed, 1.1, 1.1, 0.95);
        now = langevin_stiffness_now(bed.langevin, &then);
        assert_memory_equal(&now, &then, sizeof now);
        set_precisions(&bed, 0.01, 1, 1);
        now = langevin_stiffness_now(bed.langevin, &then);
        assert_memory_equal(&now, &then, sizeof now);
        bed_free(&bed);
    }
    ratings_free(&ratings);
}

/* ---- thermostats ----------------------------------------------------------------------------- */

/* In their own units thermostats are N(0, 1/k) by the exact process, however fast they turn: at a
 * friction of 1, of 10, and of either in turns, as it changes when precisions do. Turning once a
 * visit costs a tenth or so of the variance. */
static void test_thermostats(void **state) {
    (void)state;
    enum { FACTORS = 8, ROWS_HERE = 400, LATER = 200, SEEN = 800 };
    static const double frictions[][2] = {{1, 1}, {10, 10}, {1, 10}};
    struct ratings ratings;
    ratings_skewed(&ratings, 3 * ROWS_HERE, ROWS_HERE, ROWS_HERE);
    for (size_t i = 0; i < sizeof frictions / sizeof frictions[0]; i++) {
        const struct langevin_bed_options options = {.solver = SOLVER_SGNHT,
                                                     .k = FACTORS,
                                                     .threads = 1,
                                                     .seed = 1,
                                                     .fault = LANGEVIN_HONEST};
        const double n = (double)SEEN * 2 * ROWS_HERE;
        struct langevin_bed bed;
        double mean = 0, variance = 0;
        bed_make(&bed, &ratings.arrays, &options);
        take_forces_away(&bed);
        for (int round = 0; round < LATER + SEEN; round++) {
            const double friction = frictions[i][round / 10 % 2], time = 0.1 / friction;
            const struct langevin_step step = {.rows = time, .biases = 0.1, .drift = time / 4};
            set_precisions(&bed, 0, friction * friction, friction * friction);
            if (round % 10 == 0) bed_set_step(&bed, &step);
            set_precisions(&bed, 0, 1, 1);
            bed_round(&bed);
            for (size_t j = 0; j < ROWS_HERE && round >= LATER; j++) {
                double users = (double)bed.langevin->users.thermostats[j];
                double items = (double)bed.langevin->items.thermostats[j];
                mean += (users + items) / n;
                variance += FACTORS * (users * users + items * items) / n;
            }
        }
        bed_free(&bed);
        print_message("frictions of %g and %g: mean %.4f, variance %.3f of what it should be\n",
                      frictions[i][0], frictions[i][1], mean, variance);
        assert_true(fabs(mean) < 0.05 && fabs(variance - 1) < 0.2);
    }
    ratings_free(&ratings);
}

/* A step that is far too large, as --step may ask for, and thermostats that are far off: both are
 * held, and rows stay finite. */
static void test_thermostats_held(void **state) {
    (void)state;
    enum { FACTORS = 8, ROWS_HERE = 40 };
    const struct langevin_bed_options options = {
        .solver = SOLVER_SGNHT, .k = FACTORS, .threads = 1, .seed = 1, .fault = LANGEVIN_HONEST};
    const struct langevin_step large = {.rows = 2, .biases = 0.1, .drift = 0.5};
    const struct langevin_step small = {.rows = 0.1, .biases = 0.1, .drift = 0.025};
    struct ratings ratings;
    struct langevin_bed bed;
    ratings_skewed(&ratings, 3 * ROWS_HERE, ROWS_HERE, ROWS_HERE);
    bed_make(&bed, &ratings.arrays, &options);
    take_forces_away(&bed);
    set_precisions(&bed, 0, 1, 1);
    bed_set_step(&bed, &large);
    assert_true(bed.langevin->turning <= 0.075 * (1 + 1e-9));
    bed_set_step(&bed, &small);
    for (size_t j = 0; j < ROWS_HERE; j++)
        bed.langevin->users.thermostats[j] = j % 2 == 0 ? 1e6f : -1e6f;
    bed_round(&bed);
    assert_true(mean_square(&bed.factors.users, FACTORS) < 100);
    bed_free(&bed);
    ratings_free(&ratings);
}

/* ---- what ranks inject ----------------------------------------------------------------------- */

struct together {
    const struct ratings *ratings;
    struct langevin_bed_options options;
    uint32_t rounds;
    uint64_t *seen; /* two columns of every row that one round left, as bits */
    struct injected injected;
};

static uint64_t bits_of(const float *row) {
    uint64_t bits;
    memcpy(&bits, row, sizeof bits);
    return bits;
}

static void inject_rank(void *self, const struct dpmf_cluster *cluster) {
    struct together *together = self;
    const struct langevin_step step = {.rows = 1e-3, .biases = 2e-3};
    struct langevin_bed_options options = together->options;
    struct langevin_bed bed;
    options.cluster = cluster;
    bed_make(&bed, &together->ratings->arrays, &options);
    take_forces_away(&bed);
    bed_set_step(&bed, &step);
    const struct factor_matrix *users = &bed.factors.users, *items = &bed.factors.items;
    const uint64_t first = rank_share_first_user(&bed.share), all = store_n_users(bed.store);
    for (uint32_t i = 0; i < together->rounds; i++) {
        bed_round(&bed);
        if (i > 0) continue;
        for (uint64_t u = 0; u < users->n; u++)
            together->seen[first + u] = bits_of(users->rows + u * users->stride);
        for (uint64_t j = 0; j < items->n && cluster_rank(cluster) == 0; j++)
            together->seen[all + j] = bits_of(items->rows + j * items->stride);
    }
    const double n = (double)users->n, m = (double)items->n;
    double sums[2] = {mean_square(users, options.k) * n, mean_bias_square(users) * n};
    assert_int_equal(cluster_sum_doubles(cluster, sums, 2, NULL), 0);
    if (cluster_rank(cluster) == 0)
        together->injected = (struct injected){
            .users = sums[0] / (double)all / (step.rows * together->rounds),
            .items = mean_square(items, options.k) / (step.rows * together->rounds),
            .biases = (sums[1] + mean_bias_square(items) * m) /
                      (((double)all + m) * step.biases * together->rounds),
        };
    bed_free(&bed);
}

static int compare_bits(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Rows that got the same noise as another. Of 8,000 pairs of floats two are equal by chance once in
 * a million times. */
static size_t count_twins(struct together *together) {
    const size_t n =
        (size_t)(together->ratings->arrays.n_users + together->ratings->arrays.n_items);
    size_t twins = 0;
    qsort(together->seen, n, sizeof together->seen[0], compare_bits);
    for (size_t i = 1; i < n; i++) twins += together->seen[i] == together->seen[i - 1];
    return twins;
}

/* Every row gets its noise, however many ranks there are, and no two rows get the same draw. */
static void test_injected_by_ranks(void **state) {
    (void)state;
    static const struct langevin_fault faults[] = {
        {.name = "none", .drift = 1, .temperature = 1},
        {.name = "nobody knows of the others", .drift = 1, .temperature = 1, .is_alone = true},
        {.name = "what is due at the last rank forgotten",
         .drift = 1,
         .temperature = 1,
         .forgets = true},
    };
    struct ratings ratings;
    struct temp_dir directory;
    char shards[TEMP_PATH_MAX];
    ratings_skewed(&ratings, RATINGS, ROWS, ROWS);
    temp_dir_make(&directory);
    for (int n = 2; n <= 4; n++) {
        char name[16];
        snprintf(name, sizeof name, "%d", n);
        temp_dir_file(&directory, name, shards);
        ratings_shard(&ratings, shards, n);
        for (size_t i = 0; i < (n == 3 ? sizeof faults / sizeof faults[0] : 1); i++) {
            struct together together = {
                .ratings = &ratings,
                .options = {.solver = SOLVER_SGLD,
                            .k = WIDE,
                            .threads = n == 2 ? 2 : 1,
                            .order = SGD_FREE,
                            .seed = 1,
                            .fault = faults[i],
                            .shards = shards},
                .rounds = 6,
                .seen = calloc(2 * ROWS, sizeof together.seen[0]),
            };
            assert_non_null(together.seen);
            assert_int_equal(thread_cluster_run(n, TIMEOUT, inject_rank, &together), 0);
            const struct injected *injected = &together.injected;
            const size_t twins = count_twins(&together);
            print_message("%d ranks, fault: %s: U %.4f, V %.4f, biases %.4f of what is due; %zu "
                          "draws used twice\n",
                          n, faults[i].name, injected->users, injected->items, injected->biases,
                          twins);
            if (i == 0 &&
                (!is_injected(injected) || fabs(injected->biases - 1) >= 0.1 || twins > 0))
                fail_msg("not what is due");
            if (i > 0 && is_injected(injected)) fail_msg("not found out: %s", faults[i].name);
            if (faults[i].is_alone) assert_true(twins > 0);
            free(together.seen);
        }
    }
    temp_dir_remove(&directory);
    ratings_free(&ratings);
}

/* ---- momenta that travel --------------------------------------------------------------------- */

/* Rows that begin at rest are as far away after a few rounds as their momenta took them. */
struct flight {
    const struct ratings *ratings;
    struct langevin_bed_options options;
    double users, items; /* mean squares of the way */
    size_t n_arrays;     /* that travel, beside rows and biases */
};

static void fly(void *self, const struct dpmf_cluster *cluster) {
    enum { ROUNDS = 6 };
    struct flight *flight = self;
    const struct langevin_step step = {.rows = 0.05, .biases = 1e-3, .drift = 0.0125};
    struct langevin_bed_options options = flight->options;
    struct ring_array arrays[LANGEVIN_ARRAYS];
    struct langevin_bed bed;
    options.cluster = cluster;
    bed_make(&bed, &flight->ratings->arrays, &options);
    take_forces_away(&bed);
    set_precisions(&bed, 0, 1, 1);
    bed_set_step(&bed, &step);
    for (uint32_t i = 0; i < ROUNDS; i++) bed_round(&bed);
    const struct factor_matrix *users = &bed.factors.users, *items = &bed.factors.items;
    double sum = mean_square(users, options.k) * (double)users->n;
    assert_int_equal(cluster_sum_doubles(cluster, &sum, 1, NULL), 0);
    if (cluster_rank(cluster) == 0) {
        flight->users = sum / (double)store_n_users(bed.store);
        flight->items = mean_square(items, options.k);
        flight->n_arrays = langevin_ring_arrays(bed.langevin, arrays);
    }
    bed_free(&bed);
}

/* Ranks take rows as far as one machine does, to 3 %: of two means of 128,000 squares, five
 * standard deviations. What is stored of momenta is shifted by the row that they belong to, so
 * where they do not travel with it, rows fly off. */
static void test_momenta_travel(void **state) {
    (void)state;
    static const enum solver solvers[] = {SOLVER_SGHMC, SOLVER_SGNHT};
    struct ratings ratings;
    struct temp_dir directory;
    char shards[TEMP_PATH_MAX];
    ratings_skewed(&ratings, RATINGS, ROWS, ROWS);
    temp_dir_make(&directory);
    temp_dir_file(&directory, "three", shards);
    ratings_shard(&ratings, shards, 3);
    for (size_t i = 0; i < 2; i++) {
        struct flight one = {.ratings = &ratings,
                             .options = {.solver = solvers[i],
                                         .k = WIDE,
                                         .threads = 1,
                                         .order = SGD_FREE,
                                         .seed = 1,
                                         .fault = LANGEVIN_HONEST,
                                         .shards = shards}};
        struct flight three = one, wrong = one;
        wrong.options.fault.keeps_momenta = true;
        fly(&one, NULL);
        assert_int_equal(thread_cluster_run(3, TIMEOUT, fly, &three), 0);
        assert_int_equal(thread_cluster_run(3, TIMEOUT, fly, &wrong), 0);
        print_message("%s: U %.4f, V %.4f of one machine's way; V %.4f without momenta\n",
                      solver_name(solvers[i]), three.users / one.users, three.items / one.items,
                      wrong.items / one.items);
        assert_true(fabs(three.users / one.users - 1) < 0.03);
        assert_true(fabs(three.items / one.items - 1) < 0.03);
        if (fabs(wrong.items / one.items - 1) < 0.03)
            fail_msg("not found out: momenta left behind");
        assert_int_equal(three.n_arrays, solvers[i] == SOLVER_SGNHT ? 2 : 1);
    }
    temp_dir_remove(&directory);
    ratings_free(&ratings);
}

/* ---- tiny problems --------------------------------------------------------------------------- */

enum { COPIES = 192, PAIRS_MAX = 16, NUMBERS_MAX = PAIRS_MAX * (PAIRS_MAX + 3) / 2 };

struct tiny {
    struct exact_problem problem;
    struct exact_rating ratings[PAIRS_MAX];
    double users[2], items[2];
    struct exact_posterior exact;
    struct ratings copies;
    double offset;
    bool is_spread; /* the first users of all copies come first, and so on */
};

static uint64_t user_of_copy(const struct tiny *tiny, size_t copy, size_t user) {
    return tiny->is_spread ? user * COPIES + copy : copy * tiny->problem.n_users + user;
}

/* Three pairs of four are rated. */
static void tiny_make(struct tiny *tiny, size_t n_users, size_t n_items, size_t k, size_t points,
                      bool is_spread) {
    struct random_stream random;
    memset(tiny, 0, sizeof *tiny);
    tiny->is_spread = is_spread;
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
    for (size_t at = 0; at < COPIES * problem->n;
         at++) { /* users come in the order of their numbers */
        const size_t c = is_spread ? at % COPIES : at / problem->n;
        const size_t r = is_spread ? at / COPIES : at % problem->n;
        tiny->copies.users[at] = (int64_t)user_of_copy(tiny, c, tiny->ratings[r].user);
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

/* The predictions of all pairs of a copy, and the products of their distances from the exact means.
 * U has all users. */
static size_t fill_numbers(const struct tiny *tiny, const struct langevin_bed *bed,
                           const struct factor_matrix *U, size_t copy, double *numbers) {
    const size_t n_items = tiny->problem.n_items, pairs = tiny->problem.n_users * n_items;
    const struct factor_matrix *V = &bed->factors.items;
    double p[PAIRS_MAX];
    size_t m = 0;
    for (size_t i = 0; i < pairs; i++) {
        uint64_t user = user_of_copy(tiny, copy, i / n_items);
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
        size_t a = i, b = i; /* a mean has the pair itself twice */
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
        for (size_t c = 0; c < COPIES; c++)
            chains.m = fill_numbers(tiny, &bed, &bed.factors.users, c, chains.sum[c]);
        chains.rounds++;
    }
    bed_free(&bed);
    return distance_of(tiny, &chains, cost);
}

/* The same by ranks: after every round that counts each shows its users, and the first one looks.
 */
struct tiny_together {
    const struct tiny *tiny;
    struct langevin_bed_options options;
    struct langevin_step step;
    struct patience patience;
    struct factor_matrix users;
    struct chains chains;
};

static void show_users(struct tiny_together *together, const struct langevin_bed *bed) {
    const struct factor_matrix *own = &bed->factors.users, *all = &together->users;
    const uint64_t first = rank_share_first_user(&bed->share);
    memcpy(all->rows + first * all->stride, own->rows, own->n * own->stride * sizeof(float));
    memcpy(all->biases + first, own->biases, own->n * sizeof(float));
}

static void run_tiny_rank(void *self, const struct dpmf_cluster *cluster) {
    struct tiny_together *together = self;
    const struct tiny *tiny = together->tiny;
    const struct patience *patience = &together->patience;
    const double time = together->step.rows;
    struct chains *chains = &together->chains;
    struct langevin_bed_options options = together->options;
    struct langevin_bed bed;
    options.cluster = cluster;
    bed_make(&bed, &tiny->copies.arrays, &options);
    fix_precisions(&bed, &tiny->problem);
    bed_set_step(&bed, &together->step);
    for (double t = 0; t < patience->burn_in; t += time) bed_round(&bed);
    for (double t = 0; t < patience->sampling; t += time) {
        bed_round(&bed);
        show_users(together, &bed);
        assert_int_equal(cluster_agree(cluster, 0, NULL), 0);
        if (cluster_rank(cluster) == 0) {
            for (size_t c = 0; c < COPIES; c++)
                chains->m = fill_numbers(tiny, &bed, &together->users, c, chains->sum[c]);
            chains->rounds++;
        }
        assert_int_equal(cluster_agree(cluster, 0, NULL), 0);
    }
    bed_free(&bed);
}

static struct distance try_tiny_by_ranks(const struct tiny *tiny, int n_ranks, const char *shards,
                                         enum solver solver, const struct langevin_step *step,
                                         const struct patience *patience, double cost,
                                         const struct langevin_fault *fault) {
    static struct tiny_together together;
    together = (struct tiny_together){
        .tiny = tiny,
        .options = {.solver = solver,
                    .k = (uint32_t)tiny->problem.k,
                    .threads = 1,
                    .order = SGD_DETERMINISTIC,
                    .seed = 11,
                    .fault = *fault,
                    .shards = shards},
        .step = *step,
        .patience = *patience,
    };
    assert_int_equal(factor_matrix_init(&together.users, tiny->copies.arrays.n_users,
                                        kernel_set_choose(NULL)->stride(tiny->problem.k), 0, NULL),
                     0);
    assert_int_equal(thread_cluster_run(n_ranks, TIMEOUT, run_tiny_rank, &together), 0);
    factor_matrix_free(&together.users);
    return distance_of(tiny, &together.chains, cost);
}

/* What a step may cost: so much of a standard deviation in a mean, and of a variance. */
#define COST 0.02

struct trial {
    enum solver solver;
    struct langevin_step step;
};

/* The stiffest row of the tiny problem has a curvature of about 10: x is a quarter and an eighth,
 * ten times what is the default, so that errors of the splitting would show. */
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
        {.name = "what is due in the end skipped",
         .drift = 1,
         .temperature = 1,
         .leaves_due = 0.25},
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
    tiny_make(&tiny, 4, 3, 1, 31, false);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
        check_trial(&tiny, &trials[i], is_long() ? 400 : 20);
    tiny_free(&tiny);
}

static void test_two_factors(void **state) {
    (void)state;
    struct tiny tiny;
    tiny_make(&tiny, 5, 2, 2, 19, false);
    check_trial(&tiny, &(struct trial){SOLVER_SGLD, {0.006, 0.006, 0}}, is_long() ? 400 : 20);
    check_trial(&tiny, &trials[3], is_long() ? 400 : 25);
    check_trial(&tiny, &trials[5], is_long() ? 400 : 25);
    tiny_free(&tiny);
}

static void test_faults(void **state) {
    (void)state;
    struct tiny tiny;
    tiny_make(&tiny, 4, 3, 1, 31, false);
    check_faults(&tiny, &trials[0]);
    check_faults(&tiny, &trials[2]);
    check_faults(&tiny, &trials[4]);
    tiny_free(&tiny);
}

/* By ranks, the problems spread among them: the same distribution, by the same bounds. What is
 * wrong with ranks alone is found out: noise that is due and not injected, or injected by each. The
 * larger step of SGLD is left out: with the users of a problem far from each other, a slice has
 * never all of its ratings, and that costs more than COST, also on one machine. So does the smaller
 * one where many samples are there to see it (covariances off by .052 on one machine, .036 by two
 * ranks, .026 by three; by half of that with half the step). */
struct rank_trial {
    int n_ranks;
    const struct trial *trial;
    double sampling;
    struct langevin_fault fault;
};

static void test_ranks(void **state) {
    (void)state;
    static const struct rank_trial tried[] = {
        {3, &trials[1], 20, {.name = "none", .drift = 1, .temperature = 1}},
        {2, &trials[1], 20, {.name = "none", .drift = 1, .temperature = 1}},
        {3, &trials[2], 20, {.name = "none", .drift = 1, .temperature = 1}},
        {3, &trials[4], 20, {.name = "none", .drift = 1, .temperature = 1}},
        {3,
         &trials[0],
         16,
         {.name = "what is due at the last rank forgotten",
          .drift = 1,
          .temperature = 1,
          .forgets = true}},
        {3,
         &trials[0],
         16,
         {.name = "nobody knows of the others", .drift = 1, .temperature = 1, .is_alone = true}},
    };
    struct tiny tiny;
    struct temp_dir directory;
    char shards[4][TEMP_PATH_MAX];
    tiny_make(&tiny, 4, 3, 1, 31, true);
    temp_dir_make(&directory);
    for (int n = 2; n <= 3; n++) {
        temp_dir_file(&directory, n == 2 ? "two" : "three", shards[n]);
        ratings_shard(&tiny.copies, shards[n], n);
    }
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        const struct rank_trial *at = &tried[i];
        const bool is_right = strcmp(at->fault.name, "none") == 0;
        const bool is_longer = is_right && is_long();
        const struct patience patience = {8, is_longer ? 400 : at->sampling};
        struct langevin_step step = at->trial->step;
        if (is_longer && at->trial->solver == SOLVER_SGLD) step.rows = step.biases = step.rows / 2;
        const struct distance d =
            try_tiny_by_ranks(&tiny, at->n_ranks, shards[at->n_ranks], at->trial->solver, &step,
                              &patience, COST, &at->fault);
        const double bound = bound_for(d.m);
        print_message("%d ranks, %s, fault: %s: means off by %.4f, covariances by %.4f; worst of "
                      "%zu numbers %.2f, bound %.2f\n",
                      at->n_ranks, solver_name(at->trial->solver), at->fault.name, d.mean,
                      d.covariance, d.m, d.worst, bound);
        if (is_right && !(d.worst <= bound))
            fail_msg("the chain is off by %.2f standard errors", d.worst);
        if (!is_right && d.worst <= bound) fail_msg("not found out: %s", at->fault.name);
    }
    temp_dir_remove(&directory);
    tiny_free(&tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_injected),
        cmocka_unit_test(test_injected_wrong),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_one_factor),
        cmocka_unit_test(test_two_factors),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_steps_follow),
        cmocka_unit_test(test_thermostats),
        cmocka_unit_test(test_thermostats_held),
        cmocka_unit_test(test_injected_by_ranks),
        cmocka_unit_test(test_momenta_travel),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
