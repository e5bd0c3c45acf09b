/*
 * What every mechanism must keep: users' contributions within the norm bound on the integers,
 * whatever their ratings; releases that cost no more than the budget; the same model from any
 * number of threads; a model that is better than biases where there is something to learn and
 * little noise; and no crash where there is hardly any data, or none.
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
#include "mechanisms/compared/dpals.h"
#include "mechanisms/compared/gram.h"
#include "mechanisms/compared/langevin.h"
#include "mechanisms/mechanism.h"
#include "numerics/lanczos.h"
#include "random/random.h"
#include "statement/accountant.h"
#include "statement/statement_rounds.h"
#include "store_triples.h"
#include "temp_dir.h"

/* ---- users of every kind
 * ---------------------------------------------------------------------- */

enum { N_ITEMS = 60, MANY = GRAM_RATINGS_MAX + 300 };

/* As the program chooses them; DPMF_KERNELS names others. */
static const struct exact_kernels *exact(void) { return kernel_set_choose(NULL)->exact; }

/* Exact: squares are below 2^49, and the bound keeps their sum far from 2^64. */
static uint64_t squares(const int32_t *q, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((int64_t)q[i] * q[i]);
    return sum;
}

static void check_bounded(const double *values, size_t n) {
    int32_t *q = malloc((n + 1) * sizeof *q);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i] * values[i];
    assert_true(sqrt(sum) <= 1 + 1e-12);
    noisy_sum_quantise(exact(), values, n, 1, q);
    assert_true(squares(q, n) <= (uint64_t)1 << 48);
    free(q);
}

struct made_user {
    uint32_t row[MANY];
    float y[MANY];
    struct private_user user;
};

/* One rating, all items, extremes, all the same, chance. */
static void make_user(struct made_user *made, uint64_t number, uint32_t n_items) {
    static const float extremes[] = {-2, 2, 0, -1e-30f, 1.9999999f};
    struct random_stream random;
    random_stream_init(&random, 11, 2, number);
    size_t n = 0, kind = (size_t)(number % 6);
    double density = kind == 0 ? 1 : random_uniform(&random);
    for (uint32_t j = 0; j < n_items; j++) {
        if (kind == 1 ? n == 1 : random_uniform(&random) >= density) continue;
        made->row[n] = j;
        made->y[n++] = kind == 2   ? extremes[random_below(&random, 5)]
                       : kind == 3 ? 2
                                   : (float)(4 * random_uniform(&random) - 2);
    }
    if (n == 0) made->row[n] = 0, made->y[n++] = -2;
    made->user = (struct private_user){n, made->row, made->y, 1, 0};
}

static void random_model(struct public_model *model, size_t n_items, size_t K, uint64_t number) {
    struct random_stream random;
    random_stream_init(&random, 13, 3, number);
    assert_int_equal(public_model_init(model, n_items, NULL), 0);
    assert_int_equal(public_model_widen(model, K, NULL), 0);
    double size = exp(6 * random_uniform(&random) - 5); /* sane ones and wild ones */
    model->b0 = 2 * random_uniform(&random) - 1;
    model->s2 = 0.05 + random_uniform(&random);
    model->var_a = 0.03 + random_uniform(&random);
    for (size_t j = 0; j < n_items; j++) {
        model->c[j] = random_gaussian(&random);
        model->weight[j] = 0.5 + random_uniform(&random);
        model->bias_weight[j] = 0.2 + 5 * random_uniform(&random);
        for (size_t a = 0; a < K; a++)
            model->rows[j * model->stride + a] = size * random_gaussian(&random);
    }
}

static void test_rounds_are_bounded(void **state) {
    (void)state;
    enum { ROOM = N_ITEMS * (21 * 22 / 2 + 21) + 600 };
    static double values[ROOM], residuals[N_ITEMS];
    static struct made_user made;
    for (uint64_t number = 0; number < 2000; number++) {
        struct public_model model;
        size_t K = 1 + (size_t)(number % RULE_FACTORS_MAX);
        make_user(&made, number, N_ITEMS);
        random_model(&model, N_ITEMS, K, number);
        struct contribution out = {.values = values};

        struct dpals_round round = {&model, number % 2 == 0, 0.1, 0.1, 3, residuals, N_ITEMS};
        dpals_contribute(&round, 0, &made.user, &out);
        size_t n = made.user.n * dpals_width(K) + dpals_tail(K);
        assert_true(n <= ROOM && out.n_blocks == made.user.n && out.block == made.row);
        check_bounded(values, n);

        struct langevin_step step = {&model, 3, 0.1, residuals, N_ITEMS};
        langevin_contribute(&step, 0, &made.user, &out);
        assert_true(out.n_blocks == made.user.n && out.block == made.row);
        check_bounded(values, made.user.n * (K + 1) + LANGEVIN_TAIL);

        struct gram_calibration calibration = {&model, 3, residuals, N_ITEMS};
        gram_contribute_moments(&calibration, 0, &made.user, &out);
        assert_int_equal(out.n_blocks, 0);
        check_bounded(values, user_moments_n(K));
        public_model_free(&model);
    }
}

/* Every other item is in the matrix; ranks run against the rows, or along them. */
static void check_pairs(uint64_t number, uint32_t n_items, uint32_t in_matrix, bool along) {
    static struct made_user made;
    static struct gram_space space;
    static uint32_t position[MANY], rank[MANY];
    struct public_model model;
    struct gram_items items = {in_matrix, position, rank};
    double *values = malloc((gram_pairs(GRAM_RATINGS_MAX) + GRAM_TAIL) * sizeof *values);
    uint32_t skip = n_items - in_matrix, next = 0;
    for (uint32_t j = 0; j < n_items; j++) {
        position[j] = j < skip * 2 && j % 2 ? UINT32_MAX : next++;
        rank[j] = along ? j : n_items - j;
    }
    assert_int_equal(next, in_matrix);
    make_user(&made, number, n_items);
    random_model(&model, n_items, 0, number);
    space.pairs = malloc(gram_pairs(GRAM_RATINGS_MAX) * sizeof *space.pairs);
    space.residuals = malloc(n_items * sizeof *space.residuals);
    struct gram_user user = {&model, &items, 10, &space};
    struct contribution out = {.values = values};
    gram_contribute(&user, 0, &made.user, &out);
    assert_true(out.n_blocks <= gram_pairs(GRAM_RATINGS_MAX));
    if (number % 6 == 0 && in_matrix >= GRAM_RATINGS_MAX) /* as many as allowed, not one less */
        assert_int_equal(out.n_blocks, gram_pairs(GRAM_RATINGS_MAX));
    for (size_t i = 0; i < out.n_blocks; i++)
        assert_true(out.block[i] < gram_pairs(in_matrix) &&
                    (i == 0 || out.block[i] > out.block[i - 1]));
    check_bounded(values, out.n_blocks + GRAM_TAIL);
    free(space.pairs);
    free(space.residuals);
    free(values);
    public_model_free(&model);
}

static void test_pairs_are_bounded(void **state) {
    (void)state;
    for (uint64_t number = 0; number < 2000; number++)
        check_pairs(number, N_ITEMS, N_ITEMS - (uint32_t)(number % 20), number % 2);
    check_pairs(0, MANY, MANY, false);       /* everything, more than may be contributed */
    check_pairs(0, MANY, MANY, true);        /* the first rows of it */
    check_pairs(6, MANY, MANY - 100, false); /* the same, some of it not in the matrix */
    check_pairs(3, MANY, MANY, false);
}

/* The most popular first, and of equals the first row, so that the order is one in every run. */
static void test_order_of_counts(void **state) {
    (void)state;
    const struct gram_counted sorted[] = {{9, 4}, {9, 7}, {2, 1}, {2, 3}, {-1, 0}};
    enum { N = sizeof sorted / sizeof sorted[0] };
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++) {
            const int order = gram_compare_counts(&sorted[a], &sorted[b]);
            assert_int_equal((order > 0) - (order < 0), (a > b) - (a < b));
        }
}

static void test_pairs_have_coordinates_of_their_own(void **state) {
    (void)state;
    for (size_t n = 0; n < 30; n++) {
        uint32_t next = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t k = j + 1; k < n; k++) assert_int_equal(gram_pair(n, j, k), next++);
        assert_int_equal(next, gram_pairs(n));
    }
}

/* ---- eigenvectors
 * ----------------------------------------------------------------------------- */

static void test_lanczos_finds_the_largest(void **state) {
    (void)state;
    enum { N = 200, WANTED = 3 };
    static double A[N * N], start[N], values[WANTED], vectors[WANTED * N], e[WANTED][N];
    struct thread_pool *pool;
    for (size_t k = 0; k < WANTED; k++) /* three waves, orthogonal */
        for (size_t i = 0; i < N; i++)
            e[k][i] = sqrt(2.0 / N) * cos((double)(k + 1) * acos(-1) * ((double)i + 0.5) / N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            A[i * N + j] = i == j ? 1 : 0;
            for (size_t k = 0; k < WANTED; k++)
                A[i * N + j] += (double)(9 - 2 * k) * e[k][i] * e[k][j];
        }
    for (int threads = 1; threads <= 3; threads++) {
        struct random_stream random;
        random_stream_init(&random, 3, 3, 3);
        for (size_t i = 0; i < N; i++) start[i] = random_gaussian(&random);
        assert_int_equal(thread_pool_init(&pool, threads, NULL), 0);
        assert_int_equal(lanczos_top(A, N, WANTED, start, pool, values, vectors, NULL), 0);
        thread_pool_free(pool);
        for (size_t k = 0; k < WANTED; k++) {
            double along = 0;
            for (size_t i = 0; i < N; i++) along += e[k][i] * vectors[k * N + i];
            assert_true(fabs(values[k] - (double)(10 - 2 * k)) < 1e-9);
            assert_true(fabs(fabs(along) - 1) < 1e-9);
        }
    }
}

static void test_lanczos_on_little(void **state) {
    (void)state;
    double one[] = {-3}, zeros[4] = {0}, start[] = {1, 2}, values[3], vectors[6];
    struct thread_pool *pool;
    assert_int_equal(thread_pool_init(&pool, 2, NULL), 0);
    assert_int_equal(lanczos_top(one, 1, 3, start, pool, values, vectors, NULL), 0);
    assert_true(values[0] == -3 && values[1] == 0 && fabs(vectors[0]) == 1);
    start[0] = 1;
    assert_int_equal(lanczos_top(zeros, 2, 3, start, pool, values, vectors, NULL), 0);
    assert_true(values[0] == 0 && values[2] == 0);
    start[0] = start[1] = 0; /* nothing to begin with */
    one[0] = 5;
    assert_int_equal(lanczos_top(one, 1, 3, start, pool, values, vectors, NULL), 0);
    assert_true(values[0] == 0 && vectors[0] == 0);
    thread_pool_free(pool);
}

/* What is not finite comes to an end, and is never taken for an eigenvalue that stands out. */
static void test_lanczos_without_numbers(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY};
    struct thread_pool *pool;
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        double A[4] = {bad[i], 1, 1, bad[i]}, start[2] = {1, 2}, values[2], vectors[4];
        assert_int_equal(lanczos_top(A, 2, 2, start, pool, values, vectors, NULL), 0);
        for (size_t k = 0; k < 2; k++) assert_true(values[k] == 0 || !isfinite(values[k]));
        A[0] = A[3] = 1;
        start[0] = bad[i];
        assert_int_equal(lanczos_top(A, 2, 2, start, pool, values, vectors, NULL), 0);
        assert_true(values[0] == 0 && values[1] == 0);
    }
    thread_pool_free(pool);
}

/* ---- whole runs
 * ------------------------------------------------------------------------------- */

enum { USERS = 600, ITEMS = 48, ITEMS_MAX = 100, TASTES = 2 };

struct world {
    struct temp_dir dir;
    struct catalogue catalogue;
    struct private_ratings *ratings;
    size_t n_items;
};

/* What user i thinks of item j, on the scale 1 .. 5. */
static double taste(int i, int j) {
    double sum = 3;
    for (int k = 0; k < TASTES; k++) {
        struct random_stream user, item;
        random_stream_init(&user, 21, (uint32_t)k, (uint64_t)i);
        random_stream_init(&item, 22, (uint32_t)k, (uint64_t)j);
        sum += 0.7 * random_gaussian(&user) * random_gaussian(&item);
    }
    return fmin(fmax(sum, 1), 5);
}

static bool is_rated(int i, int j) { return (i * 7 + j * 13 + i * j) % 3 != 0; }

static void write_catalogue(struct world *world, int n_items) {
    char path[TEMP_PATH_MAX], text[16 * ITEMS_MAX];
    size_t n = 0;
    for (int j = 0; j < n_items; j++) n += (size_t)snprintf(text + n, 16, "i%02d\n", j);
    temp_dir_file(&world->dir, "items", path);
    temp_dir_write(path, text, n);
    assert_int_equal(catalogue_read(path, NULL, &world->catalogue, NULL), 0);
    world->n_items = (size_t)n_items;
}

/* `out_of_range`: ratings that do not count, so that nobody is left. */
static void write_ratings(struct world *world, int n_users, int n_items, bool out_of_range) {
    struct triples triples = {0};
    struct dpmf_store *store;
    struct private_ratings_report report;
    char path[TEMP_PATH_MAX], user[16], item[16];
    for (int i = 0; i < n_users; i++)
        for (int j = 0; j < n_items; j++) {
            if (!is_rated(i, j) && n_items > 2) continue;
            snprintf(user, sizeof user, "u%03d", i);
            snprintf(item, sizeof item, "i%02d", j);
            triples_add(&triples, triple_make(user, item, out_of_range ? 9 : taste(i, j), 0));
        }
    triples_sort(&triples);
    temp_dir_file(&world->dir, "x.dpr", path);
    triples_write(&triples, false, false, path);
    free(triples.at);
    const struct private_ratings_options options = {.range_min = 1,
                                                    .range_max = 5,
                                                    .catalogue = &world->catalogue,
                                                    .epsilon = 1,
                                                    .delta = 1e-5,
                                                    .memory = 1 << 30,
                                                    .threads = 2};
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(private_ratings_build(store, &options, NULL, &world->ratings, &report, NULL),
                     0);
    assert_int_equal(report.users, out_of_range ? 0 : n_users);
    dpmf_store_close(store);
}

static void make_world(struct world *world, int n_users, int n_items, bool out_of_range) {
    *world = (struct world){0};
    temp_dir_make(&world->dir);
    write_catalogue(world, n_items);
    write_ratings(world, n_users, n_items, out_of_range);
}

static void end_world(struct world *world) {
    temp_dir_remove(&world->dir);
    catalogue_free(&world->catalogue);
    private_ratings_free(world->ratings);
}

static struct statement listed; /* of the last run */

/* Runs a mechanism and checks what it says it spent. */
static void run(const struct world *world, const struct mechanism *mechanism, double mu,
                int threads, struct public_model *model) {
    struct secure_random random;
    struct noisy_sum_context context = {
        .ratings = world->ratings, .random = &random, .memory = 1 << 28, .statement = &listed};
    memset(&listed, 0, sizeof listed);
    secure_random_init_insecure(&random, 5);
    pthread_mutex_init(&context.progress_lock, NULL);
    assert_int_equal(thread_pool_init(&context.pool, threads, NULL), 0);
    assert_int_equal(public_model_init(model, world->n_items, NULL), 0);
    /* A user's loss is bounded by far more than there is, and a comes out as at an epsilon of some
     * size. */
    const struct posterior_rule rule = {.epsilon = 1000 * mu,
                                        .range = 4,
                                        .kappa = 1,
                                        .rho = 1,
                                        .max_ratings = 1000,
                                        .factors = 3,
                                        .rounds = 60,
                                        .chains = 1};
    const struct mechanism_input input = {
        .sums = &context, .catalogue = &world->catalogue, .mu = mu, .posterior = &rule};
    assert_int_equal(mechanism->run(&input, model, NULL), 0);
    if (!mechanism->is_conditional)
        assert_true(statement_mu(&listed) <= mu && statement_mu(&listed) > 0.999 * mu);
    assert_int_equal(context.n_passes, listed.n_releases);
    for (size_t i = 0; i < listed.n_releases; i++)
        assert_true(listed.releases[i].draws == listed.releases[i].coordinates);
    thread_pool_free(context.pool);
    pthread_mutex_destroy(&context.progress_lock);
}

static void check_finite(const struct public_model *model) {
    assert_true(isfinite(model->b0) && model->s2 > 0 && model->var_a > 0);
    for (size_t j = 0; j < model->n_items; j++) {
        assert_true(isfinite(model->c[j]));
        for (size_t a = 0; a < model->K; a++)
            assert_true(isfinite(model->rows[j * model->stride + a]));
    }
}

static void check_same(const struct public_model *a, const struct public_model *b) {
    assert_int_equal(a->K, b->K);
    assert_memory_equal(a->c, b->c, a->n_items * sizeof *a->c);
    assert_memory_equal(a->rows, b->rows, a->n_items * a->stride * sizeof *a->rows);
    assert_true(a->b0 == b->b0 && a->s2 == b->s2 && a->var_a == b->var_a);
}

static void test_threads_leave_no_trace(void **state) {
    (void)state;
    struct world world;
    make_world(&world, USERS, ITEMS, false);
    for (size_t i = 0; mechanism_at(i); i++) {
        struct public_model one, three;
        run(&world, mechanism_at(i), 1, 1, &one);
        run(&world, mechanism_at(i), 1, 3, &three);
        check_same(&one, &three);
        public_model_free(&one);
        public_model_free(&three);
    }
    end_world(&world);
}

/* Nor do they where each takes more items than it works on at once. */
static void test_many_items(void **state) {
    (void)state;
    struct world world;
    struct public_model one, three;
    make_world(&world, 200, ITEMS_MAX, false);
    run(&world, &mechanism_dpals, 20, 1, &one);
    run(&world, &mechanism_dpals, 20, 3, &three);
    assert_true(one.K > 0);
    check_same(&one, &three);
    public_model_free(&one);
    public_model_free(&three);
    end_world(&world);
}

/* Runs it with the kernels of that name. */
static void run_with(const char *kernels, const struct world *world,
                     const struct mechanism *mechanism, struct public_model *model) {
    assert_int_equal(setenv("DPMF_KERNELS", kernels, 1), 0);
    run(world, mechanism, 1, 1, model);
}

static void test_kernels_leave_no_trace(void **state) {
    (void)state;
    struct world world;
    const char *before = getenv("DPMF_KERNELS");
    char *kept = before ? strdup(before) : NULL;
    make_world(&world, USERS, ITEMS, false);
    for (size_t i = 0; mechanism_at(i); i++) {
        struct public_model plain, fast;
        const struct kernel_set *set;
        run_with("ref", &world, mechanism_at(i), &plain);
        for (size_t s = 0; (set = kernel_set_at(s)) != NULL; s++) {
            if (!set->is_supported() || strcmp(set->name, "ref") == 0) continue;
            run_with(set->name, &world, mechanism_at(i), &fast);
            check_same(&plain, &fast);
            public_model_free(&fast);
        }
        public_model_free(&plain);
    }
    struct public_model model;
    struct dpmf_error error = {0};
    setenv("DPMF_KERNELS", "abacus", 1);
    assert_int_equal(public_model_init(&model, 1, &error), DPMF_ERR_USAGE_VALUE);
    public_model_free(&model);
    kept ? setenv("DPMF_KERNELS", kept, 1) : unsetenv("DPMF_KERNELS");
    free(kept);
    end_world(&world);
}

/* Error of predictions for what was not rated, each user's vector from what they rated. */
static double held_out_error(const struct public_model *model) {
    double sum = 0, n = 0;
    for (int i = 0; i < USERS; i++) {
        uint32_t row[ITEMS];
        float y[ITEMS];
        double residuals[ITEMS];
        struct user_solution solution;
        struct private_user user = {0, row, y, 1, 0};
        for (int j = 0; j < ITEMS; j++) {
            if (!is_rated(i, j)) continue;
            row[user.n] = (uint32_t)j;
            y[user.n++] = (float)(taste(i, j) - 3);
        }
        assert_true(user_solve(model, &user, &solution, residuals));
        for (size_t j = 0; j < ITEMS; j++) {
            if (is_rated(i, (int)j)) continue;
            double e = taste(i, (int)j) - 3 - model->b0 - model->c[j];
            for (size_t a = 0; a <= model->K; a++)
                e -= solution.x[a] * model->rows[j * model->stride + a];
            sum += e * e;
            n += 1;
        }
    }
    return sqrt(sum / n);
}

static void test_something_is_learned(void **state) {
    (void)state;
    struct world world;
    struct public_model model;
    make_world(&world, USERS, ITEMS, false);
    run(&world, mechanism_find("biases"), 20, 2, &model);
    const double biases = held_out_error(&model);
    assert_int_equal(model.K, 0);
    public_model_free(&model);
    for (size_t i = 0; mechanism_at(i); i++) {
        if (mechanism_at(i) == &mechanism_biases || mechanism_at(i)->ranks) continue;
        run(&world, mechanism_at(i), 20, 2, &model);
        check_finite(&model);
        assert_true(model.K > 0);
        double error = held_out_error(&model);
        if (error >= 0.7 * biases)
            fail_msg("%s: %g, biases: %g", mechanism_at(i)->name, error, biases);
        public_model_free(&model);
    }
    end_world(&world);
}

/* ---- rounds by the rule ---------------------------------------------------------------------- */

/* What a mechanism does is what `privacy verify` expects of it, with factors and without, and
 * nothing else is: no other noise, no round less, none of another name. */
static void check_rounds(const struct world *world, const struct mechanism *mechanism,
                         double epsilon) {
    struct public_model model;
    run(world, mechanism, accountant_mu(epsilon, 1e-5), 2, &model);
    listed.mechanism = mechanism->name;
    listed.epsilon = epsilon;
    listed.delta = 1e-5;
    listed.items = world->n_items;
    listed.rule_version = RESIDUAL_RULE_VERSION;
    const uint32_t k = (uint32_t)model.K;
    const size_t n = listed.n_releases;
    struct dpmf_error error = {0};
    if (statement_rounds_check(&listed, k, &error) != 0)
        fail_msg("%s at %g: %s", mechanism->name, epsilon, error.message);
    for (size_t i = 0; i < n; i++) {
        const struct statement_release kept = listed.releases[i];
        listed.releases[i].sigma += 1 + kept.sigma / 100;
        assert_true(statement_rounds_check(&listed, k, NULL) < 0);
        listed.releases[i] = kept;
        snprintf(listed.releases[i].name, sizeof kept.name, "sum");
        assert_true(statement_rounds_check(&listed, k, NULL) < 0);
        listed.releases[i] = kept;
    }
    listed.n_releases = n - 1;
    assert_true(statement_rounds_check(&listed, k, NULL) < 0);
    listed.n_releases = n;
    assert_int_equal(statement_rounds_check(&listed, k, NULL), 0);
    public_model_free(&model);
}

static void test_rounds_are_the_rule(void **state) {
    (void)state;
    static const int sizes[][2] = {{USERS, ITEMS}, {20, 5}, {3, 1}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct world world;
        make_world(&world, sizes[s][0], sizes[s][1], false);
        for (size_t i = 0; mechanism_at(i); i++) {
            if (mechanism_at(i)->is_conditional) continue;
            check_rounds(&world, mechanism_at(i), 0.1);
            check_rounds(&world, mechanism_at(i), 20);
        }
        end_world(&world);
    }
}

/* ---- public features ------------------------------------------------------------------------- */

enum { FEATURES = 3 };

/* What is publicly known: the items' own tastes, and a column of chance. */
static void add_features(struct world *world) {
    world->catalogue.n_features = FEATURES;
    world->catalogue.features = malloc(world->n_items * FEATURES * sizeof(double));
    assert_non_null(world->catalogue.features);
    for (size_t f = 0; f < FEATURES; f++) {
        double mean = 0, squares = 0, *column = world->catalogue.features + f;
        for (size_t j = 0; j < world->n_items; j++) {
            struct random_stream item;
            random_stream_init(&item, 22, (uint32_t)f, (uint64_t)j);
            column[j * FEATURES] = random_gaussian(&item);
            mean += column[j * FEATURES] / (double)world->n_items;
        }
        for (size_t j = 0; j < world->n_items; j++) {
            column[j * FEATURES] -= mean;
            squares += column[j * FEATURES] * column[j * FEATURES] / (double)world->n_items;
        }
        for (size_t j = 0; j < world->n_items; j++) column[j * FEATURES] /= sqrt(squares);
    }
}

/* ---- the numbers themselves ------------------------------------------------------------------ */

static void leave_features(struct world *world, size_t n_features) {
    double *features = world->catalogue.features;
    for (size_t j = 0; j < world->n_items; j++)
        memmove(features + j * n_features, features + j * world->catalogue.n_features,
                n_features * sizeof *features);
    world->catalogue.n_features = n_features;
}

/* With the noise of a seed every mechanism gives what it always gave, up to what the logarithms of
 * another machine may change: whatever else changes a number changes what is released, and has to
 * be meant. DPMF_WRITE_EXAMPLES=1 prints them anew. */
static void check_numbers(const struct world *world, size_t which,
                          const struct mechanism *mechanism) {
    static const struct numbers {
        size_t K;
        double rows, alternating, c, b0, s2, var_a, weight, counts;
    } expected[] = {
        /* without features */
        {8, 37.8430059, 299.617805, -3.57653327, 0.0484350088, 0.05, 0.0422171432, 37.3384537,
         9322.89702}, /* residual */
        {0, 0, 0, -0.141831046, -0.00289518667, 0.646095519, 0.0322596112, 48,
         9337.40272}, /* biases */
        {6, 43.1180336, 291.525018, 0.760106543, 0.00775685361, 0.05, 0.03, 37.8257164,
         9328.50494}, /* dpals */
        {5, 38.1605328, 281.222283, -0.559889382, -0.00965804122, 0.05, 0.03, 51.2984245,
         9332.43357}, /* gram */
        {6, 29.674223, 353.233253, 1.9896224, -0.00649332198, 0.05, 0.03, 37.8257164,
         9328.50494},                                                               /* langevin */
        {6, 55.2833685, 340.67166, -1.81331041, 0, 0.9, 0.3, 50.084309, 10821.175}, /* events */
        /* three features */
        {11, 46.9111124, 344.563792, -0.0623966395, -0.0159418645, 0.05, 0.03, 37.3384537,
         9322.89702}, /* residual */
        {0, 0, 0, -0.140299899, -0.00289518667, 0.646095519, 0.0322596112, 48,
         9337.40272}, /* biases */
        {6, 42.3605541, 290.322458, 0.589795249, 0.00929104678, 0.05, 0.03, 37.8257164,
         9328.50494}, /* dpals */
        {5, 37.0193617, 270.991793, -0.56653229, -0.00969424468, 0.05, 0.03, 51.2984245,
         9332.43357}, /* gram */
        {6, 33.4238833, 380.670937, 1.09494608, 0.00268378409, 0.05, 0.03, 37.8257164,
         9328.50494},                                                                /* langevin */
        {6, 55.1847805, 333.106336, -1.81331041, 0, 0.9, 0.3, 50.084309, 10821.175}, /* events */
        /* one */
        {35, 45.6697841, 423.446881, -2.35212235, -0.0111850253, 0.05, 0.055690777, 37.3384537,
         9322.89702}, /* residual */
        {0, 0, 0, -0.14003718, -0.00289518667, 0.646095519, 0.0322596112, 48,
         9337.40272}, /* biases */
        {6, 42.9718082, 293.351764, -0.000216912281, 0.00930746497, 0.05, 0.03, 37.8257164,
         9328.50494}, /* dpals */
        {5, 37.9786711, 284.905051, -0.565385903, -0.00965607472, 0.05, 0.03, 51.2984245,
         9332.43357}, /* gram */
        {6, 31.1067122, 380.797932, 1.36562669, 9.54071711e-05, 0.05, 0.03, 37.8257164,
         9328.50494},                                                                /* langevin */
        {6, 55.2438009, 347.671305, -1.81331041, 0, 0.9, 0.3, 50.084309, 10821.175}, /* events */
    };
    struct public_model model;
    struct numbers got = {0};
    run(world, mechanism, 3, 2, &model);
    got.K = model.K;
    for (size_t j = 0; j < model.n_items; j++) {
        for (size_t a = 0; a < model.K; a++) {
            const double x = model.rows[j * model.stride + a];
            got.rows += x * x;
            got.alternating += fabs(x) * (double)((j * 7 + a * 3) % 11);
        }
        got.c += model.c[j] * (double)(j % 5);
        got.weight += model.weight[j] * (double)(j % 3);
        got.counts += model.counts[j] * (double)(j % 7);
    }
    got.b0 = model.b0, got.s2 = model.s2, got.var_a = model.var_a;
    if (getenv("DPMF_WRITE_EXAMPLES")) {
        printf("{%zu, %.9g, %.9g, %.9g, %.9g, %.9g, %.9g, %.9g, %.9g}, /"
               "* %s *"
               "/\n",
               got.K, got.rows, got.alternating, got.c, got.b0, got.s2, got.var_a, got.weight,
               got.counts, mechanism->name);
    } else {
        assert_true(which < sizeof expected / sizeof expected[0]);
        const double *was = &expected[which].rows, *is = &got.rows;
        assert_int_equal(got.K, expected[which].K);
        for (size_t i = 0; i < (sizeof got - offsetof(struct numbers, rows)) / sizeof *is; i++)
            if (!(fabs(is[i] - was[i]) <= 1e-6 * fmax(1, fabs(was[i]))))
                fail_msg("%s, set %zu, number %zu: %.9g for %.9g", mechanism->name, which, i, is[i],
                         was[i]);
    }
    public_model_free(&model);
}

static void test_numbers_stay(void **state) {
    (void)state;
    struct world world;
    size_t which = 0;
    make_world(&world, USERS, ITEMS, false);
    for (size_t features = 0; features < 3; features++) {
        if (features == 1) add_features(&world); /* of three columns, and then of one alone */
        if (features == 2) leave_features(&world, 1);
        for (size_t i = 0; mechanism_at(i); i++)
            if (!mechanism_at(i)->is_conditional) check_numbers(&world, which++, mechanism_at(i));
    }
    end_world(&world);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Ends the run before a round's noise or after it. */
struct ender {
    size_t n_seen, end_at;
};

static int see_sums(void *self, const struct noisy_sum_round *round, const int64_t *sums,
                    struct dpmf_error *error) {
    struct ender *ender = self;
    (void)round, (void)sums, (void)error;
    return ++ender->n_seen == ender->end_at ? DPMF_ERR_BASE_CANCELLED : 0;
}

static int see_noisy_sums(void *self, const struct noisy_sum_round *round, int64_t *sums,
                          struct dpmf_error *error) {
    return see_sums(self, round, sums, error);
}

/* @return the code of a run that ends after so many steps; *n_releases is what it lists */
static int run_until(const struct world *world, const struct mechanism *mechanism, size_t end_at,
                     size_t *n_releases, size_t *n_seen) {
    struct secure_random random;
    struct public_model model;
    struct ender ender = {.end_at = end_at};
    const struct noisy_sum_watch watch = {&ender, see_sums, see_noisy_sums};
    struct noisy_sum_context context = {.ratings = world->ratings,
                                        .random = &random,
                                        .memory = 1 << 28,
                                        .statement = &listed,
                                        .watch = &watch};
    memset(&listed, 0, sizeof listed);
    secure_random_init_insecure(&random, 5);
    pthread_mutex_init(&context.progress_lock, NULL);
    assert_int_equal(thread_pool_init(&context.pool, 1, NULL), 0);
    assert_int_equal(public_model_init(&model, world->n_items, NULL), 0);
    const struct mechanism_input input = {
        .sums = &context, .catalogue = &world->catalogue, .mu = 20};
    int code = mechanism->run(&input, &model, NULL);
    *n_releases = listed.n_releases;
    *n_seen = ender.n_seen;
    public_model_free(&model);
    thread_pool_free(context.pool);
    pthread_mutex_destroy(&context.progress_lock);
    return code;
}

/* Wherever a run is ended, it says so, and lists the rounds before and no other. */
static void test_ended_anywhere(void **state) {
    (void)state;
    struct world world;
    make_world(&world, USERS, ITEMS, false);
    for (size_t i = 0; mechanism_at(i); i++) {
        const struct mechanism *mechanism = mechanism_at(i);
        size_t n_releases, n_seen, n_steps;
        if (mechanism->is_conditional) continue; /* it has no rounds */
        assert_int_equal(run_until(&world, mechanism, SIZE_MAX, &n_releases, &n_steps), 0);
        assert_true(n_releases > 0 && n_steps == 2 * n_releases);
        for (size_t step = 1; step <= n_steps; step++) {
            if (step > 4 && step + 4 < n_steps) continue; /* the middle is like its ends */
            assert_int_equal(run_until(&world, mechanism, step, &n_releases, &n_seen),
                             DPMF_ERR_BASE_CANCELLED);
            assert_int_equal(n_seen, step);
            assert_int_equal(n_releases, (step - 1) / 2);
        }
    }
    end_world(&world);
}

/* A mechanism that uses features has the same model from any number of threads, and a better one
 * where they say what people like. */
static void test_features_help(void **state) {
    (void)state;
    struct world world;
    struct public_model plain, informed, again;
    make_world(&world, USERS, ITEMS, false);
    run(&world, &mechanism_residual, 2, 2, &plain);
    const double without = held_out_error(&plain);
    add_features(&world);
    run(&world, &mechanism_residual, 2, 2, &informed);
    run(&world, &mechanism_residual, 2, 1, &again);
    check_finite(&informed);
    check_same(&informed, &again);
    assert_true(informed.n_free == 2 + FEATURES && plain.n_free == 2);
    const double with = held_out_error(&informed);
    if (with >= without) fail_msg("with features %g, without %g", with, without);
    public_model_free(&plain);
    public_model_free(&informed);
    public_model_free(&again);
    end_world(&world);
}

static void test_little_data(void **state) {
    (void)state;
    static const struct {
        int users, items;
        bool none;
    } sizes[] = {{1, 1, false},  {1, 2, false},  {1, 5, false},  {3, 1, false}, {20, 2, false},
                 {20, 5, false}, {1, 48, false}, {9, 17, false}, {5, 48, true}, {2, 1, true}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct world world;
        make_world(&world, sizes[s].users, sizes[s].items, sizes[s].none);
        for (size_t i = 0; mechanism_at(i); i++)
            for (double mu = 0.01; mu < 1000; mu *= 30) {
                struct public_model model;
                run(&world, mechanism_at(i), mu, 2, &model);
                check_finite(&model);
                public_model_free(&model);
            }
        end_world(&world);
    }
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"residual", "biases",    "dpals", "gram",
                                        "langevin", "posterior", "events"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_non_null(mechanism_find(names[i]));
        assert_string_equal(mechanism_find(names[i])->name, names[i]);
        assert_non_null(statement_mechanism_find(names[i]));
        assert_ptr_equal(mechanism_at(i), mechanism_find(names[i]));
        struct statement statement = {.mechanism = names[i]};
        assert_int_equal(mechanism_at(i)->is_conditional, strcmp(names[i], "posterior") == 0);
        assert_int_equal(statement_is_conditional(&statement), mechanism_at(i)->is_conditional);
        assert_int_equal(dpmf_mechanism_is_conditional(names[i]), mechanism_at(i)->is_conditional);
    }
    assert_null(mechanism_at(sizeof names / sizeof names[0]));
    assert_null(mechanism_find("posteriors"));
    assert_false(dpmf_mechanism_is_conditional(NULL));
    assert_false(dpmf_mechanism_is_conditional("posteriors"));
    assert_ptr_equal(mechanism_find("auto"), &mechanism_residual);
    assert_ptr_equal(mechanism_find(NULL), &mechanism_residual);
    assert_ptr_equal(mechanism_for("auto", true), &mechanism_events);
    assert_ptr_equal(mechanism_for("biases", true), &mechanism_biases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_are_bounded),
        cmocka_unit_test(test_pairs_are_bounded),
        cmocka_unit_test(test_order_of_counts),
        cmocka_unit_test(test_pairs_have_coordinates_of_their_own),
        cmocka_unit_test(test_lanczos_finds_the_largest),
        cmocka_unit_test(test_lanczos_on_little),
        cmocka_unit_test(test_lanczos_without_numbers),
        cmocka_unit_test(test_threads_leave_no_trace),
        cmocka_unit_test(test_many_items),
        cmocka_unit_test(test_kernels_leave_no_trace),
        cmocka_unit_test(test_something_is_learned),
        cmocka_unit_test(test_rounds_are_the_rule),
        cmocka_unit_test(test_numbers_stay),
        cmocka_unit_test(test_ended_anywhere),
        cmocka_unit_test(test_features_help),
        cmocka_unit_test(test_little_data),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
