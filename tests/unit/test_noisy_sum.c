/*
 * The promise that everything private rests on, tested on the integers: whatever a user's ratings
 * are, their contribution stays within the norm bound; and what one user contributes depends on
 * nobody else: others may be removed, permuted, cut into other blocks or numbered otherwise. With
 * the same (predictable) noise two releases differ by exactly the integers of the users they differ
 * in.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "kernels/kernels.h"
#include "mechanisms/bias_release.h"
#include "mechanisms/residual_user.h"
#include "privacy/noisy_sum.h"
#include "random/random.h"
#include "store_triples.h"
#include "temp_dir.h"
#include "thread_cluster.h"

enum { N_ITEMS = 60, N_USERS = 300 };

static const double grid = (double)(1 << NOISY_SUM_BITS);

/* As the program chooses them; DPMF_KERNELS names others. */
static const struct exact_kernels *exact(void) { return kernel_set_choose(NULL)->exact; }

/* Exact: squares are below 2^49 and there are fewer than 2^14 of them. */
static uint64_t squares(const int32_t *q, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((int64_t)q[i] * q[i]);
    return sum;
}

/* ---- quantising ------------------------------------------------------------------------------ */

static void check_quantised(const double *values, size_t n, double scale) {
    int32_t q[512];
    uint64_t limit = (uint64_t)(scale * grid);
    noisy_sum_quantise(exact(), values, n, scale, q);
    assert_true(squares(q, n) <= limit * limit);
}

static void test_bound_always_holds(void **state) {
    (void)state;
    double values[512];
    for (uint64_t trial = 0; trial < 20000; trial++) {
        struct random_stream random;
        random_stream_init(&random, 7, 1, trial);
        size_t n = 1 + (size_t)random_below(&random, 512);
        double norm = 0, scale = trial % 3 ? 1 : random_uniform_open(&random);
        for (size_t i = 0; i < n; i++) {
            values[i] = random_gaussian(&random) * (trial % 7 == 0 ? 1e-5 : 1);
            norm += values[i] * values[i];
        }
        /* Norms of exactly 1 up to rounding are the hard ones; some are far too large. */
        double target = trial % 5 == 0 ? exp(20 * random_uniform(&random)) : 1;
        for (size_t i = 0; i < n; i++) values[i] *= target / sqrt(norm);
        check_quantised(values, n, scale);
    }
}

static void test_equal_values_round_up_together(void **state) {
    (void)state;
    double values[512];
    int32_t q[512];
    for (size_t n = 1; n <= 512; n++) {
        for (size_t i = 0; i < n; i++) values[i] = 1 / sqrt((double)n);
        check_quantised(values, n, 1);
        noisy_sum_quantise(exact(), values, n, 1, q); /* and nearly all of the bound is used */
        assert_true((double)squares(q, n) > 0.99999 * grid * grid);
    }
}

static void test_nonsense_becomes_nothing(void **state) {
    (void)state;
    const double values[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0.1, -0.0};
    int32_t q[7];
    noisy_sum_quantise(exact(), values, 7, 1, q);
    assert_int_equal(q[0], 0);
    assert_true(squares(q, 7) <= (uint64_t)1 << 48);
    const double nans[] = {NAN, NAN};
    noisy_sum_quantise(exact(), nans, 2, 1, q);
    assert_true(q[0] == 0 && q[1] == 0);
    const double small[] = {0.5, -0.5};
    noisy_sum_quantise(exact(), small, 2, 1e-9, q); /* a scale below the grid leaves nothing */
    assert_true(q[0] == 0 && q[1] == 0);
    noisy_sum_quantise(exact(), small, 2, 1, q);
    assert_true(q[0] == 1 << 23 && q[1] == -(1 << 23));
}

/* ---- users of every kind --------------------------------------------------------------------- */

struct made_user {
    uint32_t row[N_ITEMS];
    float y[N_ITEMS];
    struct private_user user;
};

static void make_user(struct made_user *made, uint64_t number) {
    static const float extremes[] = {-2, 2, 0, -1e-30f, 1.9999999f};
    struct random_stream random;
    random_stream_init(&random, 11, 2, number);
    size_t n = 0, kind = (size_t)(number % 6);
    double density = kind == 0 ? 1 : random_uniform(&random);
    for (uint32_t j = 0; j < N_ITEMS; j++) {
        if (kind == 1 ? n == 1 : random_uniform(&random) >= density) continue;
        made->row[n] = j;
        made->y[n++] = kind == 2   ? extremes[random_below(&random, 5)]
                       : kind == 3 ? 2
                                   : (float)(4 * random_uniform(&random) - 2);
    }
    if (n == 0) {
        made->row[0] = 3;
        made->y[0] = -2;
        n = 1;
    }
    made->user = (struct private_user){n, made->row, made->y, 1, 0};
}

static void random_model(struct public_model *model, size_t K, uint64_t number) {
    struct random_stream random;
    random_stream_init(&random, 13, 3, number);
    assert_int_equal(public_model_init(model, N_ITEMS, NULL), 0);
    assert_int_equal(public_model_widen(model, K, NULL), 0);
    double size = exp(6 * random_uniform(&random) - 5); /* sane ones and wild ones */
    model->b0 = 2 * random_uniform(&random) - 1;
    model->s2 = 0.05 + random_uniform(&random);
    model->var_a = 0.03 + random_uniform(&random);
    for (size_t j = 0; j < N_ITEMS; j++) {
        model->c[j] = random_gaussian(&random);
        model->weight[j] = 0.5 + random_uniform(&random);
        model->bias_weight[j] = 0.2 + 5 * random_uniform(&random);
        for (size_t a = 0; a < K; a++)
            model->rows[j * model->stride + a] = size * random_gaussian(&random);
    }
}

static double norm_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i] * values[i];
    return sqrt(sum);
}

static void test_every_user_is_bounded(void **state) {
    (void)state;
    enum { ROOM = N_ITEMS * (RULE_FACTORS_MAX + 1) + 600 };
    static double values[ROOM], residuals[N_ITEMS];
    static int32_t q[ROOM];
    static struct made_user made;
    struct residual_rule rule = residual_rule_make(1, false);
    for (uint64_t number = 0; number < 4000; number++) {
        struct public_model model;
        size_t K = 1 + (size_t)(number % RULE_FACTORS_MAX);
        make_user(&made, number);
        random_model(&model, K, number);
        rule.free_columns = number % 3 * K / 3;
        residual_rule_finish(&rule, K - rule.free_columns);
        struct contribution first = {.values = values}, second = {.values = values};
        bias_release_contribute(&rule, 0, &made.user, &first);
        size_t n = first.n_blocks * BIAS_RELEASE_WIDTH + BIAS_RELEASE_TAIL;
        assert_int_equal(first.n_blocks, made.user.n);
        assert_true(norm_of(values, n) <= 1 + 1e-12);
        noisy_sum_quantise(exact(), values, n, 1, q);
        assert_true(squares(q, n) <= (uint64_t)1 << 48);

        struct residual_round round = {&model, &rule, number % 2 == 0, residuals, N_ITEMS};
        residual_user_contribute(&round, 0, &made.user, &second);
        n = second.n_blocks * (rule.factors + 1) + residual_moments_n(K);
        assert_true(n <= ROOM && norm_of(values, n) <= 1 + 1e-12);
        noisy_sum_quantise(exact(), values, n, 1, q);
        assert_true(squares(q, n) <= (uint64_t)1 << 48);
        public_model_free(&model);
    }
}

/* ---- users do not see each other ------------------------------------------------------------- */

struct world {
    struct temp_dir dir;
    struct catalogue catalogue;
    struct public_model model;
    struct residual_rule rule;
};

static int make_world(void **state) {
    struct world *world = calloc(1, sizeof *world);
    char path[TEMP_PATH_MAX], text[N_ITEMS * 8];
    size_t n = 0;
    temp_dir_make(&world->dir);
    for (int j = 0; j < N_ITEMS; j++)
        n += (size_t)snprintf(text + n, sizeof text - n, "i%d\n", (j * 17) % N_ITEMS);
    temp_dir_file(&world->dir, "items", path);
    temp_dir_write(path, text, n);
    assert_int_equal(catalogue_read(path, NULL, &world->catalogue, NULL), 0);
    random_model(&world->model, 5, 99);
    world->rule = residual_rule_make(1, false);
    residual_rule_finish(&world->rule, 5);
    *state = world;
    return 0;
}

static int end_world(void **state) {
    struct world *world = *state;
    temp_dir_remove(&world->dir);
    catalogue_free(&world->catalogue);
    public_model_free(&world->model);
    free(world);
    return 0;
}

/* The ratings of users `order[0 .. n)`; what a user rates depends on their number alone. */
static void add_users(struct triples *triples, const int *order, int n) {
    for (int i = 0; i < n; i++) {
        struct random_stream random;
        random_stream_init(&random, 17, 4, (uint64_t)order[i]);
        double density = random_uniform(&random);
        for (int j = 0; j < N_ITEMS; j++) {
            char user[16], item[16];
            if (random_uniform(&random) > density && j != order[i] % N_ITEMS) continue;
            snprintf(user, sizeof user, "u%d", order[i]);
            snprintf(item, sizeof item, "i%02d", j);
            if (j < 10) snprintf(item, sizeof item, "i%d", j);
            triples_add(triples, triple_make(user, item, 1 + (double)random_below(&random, 5), 0));
        }
    }
}

static int compare_item_of_user(const void *a, const void *b) {
    const struct triple *x = a, *y = b;
    if (strcmp(x->user, y->user) != 0) return 0;
    return memcmp(x->item, y->item, TRIPLE_ID_MAX);
}

/* Users in the order given; their items in the order of ids, as the writer wants them. */
static struct private_ratings *pack(const struct world *world, const int *order, int n,
                                    bool backwards, uint64_t memory) {
    struct triples triples = {0};
    struct dpmf_store *store;
    struct private_ratings *ratings;
    struct private_ratings_report report;
    char path[TEMP_PATH_MAX];
    add_users(&triples, order, n);
    for (size_t i = 0, end; i < triples.n; i = end) {
        for (end = i; end < triples.n && strcmp(triples.at[end].user, triples.at[i].user) == 0;)
            end++;
        qsort(triples.at + i, end - i, sizeof *triples.at, compare_item_of_user);
    }
    temp_dir_file(&world->dir, "x.dpr", path);
    triples_write(&triples, false, backwards, path);
    const struct private_ratings_options options = {.range_min = 1,
                                                    .range_max = 5,
                                                    .catalogue = &world->catalogue,
                                                    .epsilon = 1,
                                                    .delta = 1e-5,
                                                    .memory = memory,
                                                    .threads = 2};
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(private_ratings_build(store, &options, NULL, &ratings, &report, NULL), 0);
    assert_int_equal(report.users, n);
    assert_int_equal(report.ratings, triples.n);
    assert_int_equal(report.on_disk, memory == 0);
    dpmf_store_close(store);
    free(triples.at);
    return ratings;
}

enum { WIDTH = 6, COORDINATES = N_ITEMS * WIDTH + 64 };

static size_t release(const struct world *world, const struct private_ratings *ratings, int threads,
                      uint64_t memory, double *out) {
    struct statement statement = {0};
    struct secure_random random;
    struct noisy_sum_context context = {
        .ratings = ratings, .random = &random, .memory = memory, .statement = &statement};
    double *residuals = calloc((size_t)threads * N_ITEMS, sizeof *residuals), sigma;
    struct residual_round round = {&world->model, &world->rule, false, residuals, N_ITEMS};
    const struct noisy_sum_shape shape = {"round 1", N_ITEMS, WIDTH, residual_moments_n(5), 0};
    size_t n = N_ITEMS * WIDTH + shape.tail;
    assert_true(n <= COORDINATES);
    secure_random_init_insecure(&random, 5);
    pthread_mutex_init(&context.progress_lock, NULL);
    assert_int_equal(thread_pool_init(&context.pool, threads, NULL), 0);
    assert_int_equal(noisy_sum_release(&context, &shape, 0.5, residual_user_contribute, &round, out,
                                       &sigma, NULL),
                     0);
    assert_int_equal(statement.n_releases, 1);
    assert_int_equal(statement.releases[0].coordinates, n);
    assert_int_equal(statement.releases[0].draws, n);
    assert_true(grid / (double)statement.releases[0].sigma <= 0.5);
    assert_true(sigma >= 2 && sigma < 2.000001);
    thread_pool_free(context.pool);
    pthread_mutex_destroy(&context.progress_lock);
    free(residuals);
    return n;
}

static void test_others_do_not_matter(void **state) {
    const struct world *world = *state;
    static double all[COORDINATES], other[COORDINATES];
    int order[N_USERS], shuffled[N_USERS];
    for (int i = 0; i < N_USERS; i++) order[i] = i;
    for (int i = 0; i < N_USERS; i++) shuffled[i] = (i * 77 + 5) % N_USERS;
    struct private_ratings *ratings = pack(world, order, N_USERS, false, 1 << 30);
    size_t n = release(world, ratings, 1, 1 << 30, all);
    release(world, ratings, 3, 1 << 30, other); /* threads */
    assert_memory_equal(all, other, n * sizeof *all);
    release(world, ratings, 3, 0, other); /* one array of sums for all of them */
    assert_memory_equal(all, other, n * sizeof *all);
    private_ratings_free(ratings);

    ratings = pack(world, shuffled, N_USERS, true, 0); /* order, item numbers, on disk */
    release(world, ratings, 2, 1 << 30, other);
    assert_memory_equal(all, other, n * sizeof *all);
    private_ratings_free(ratings);
}

static void test_one_user_is_one_contribution(void **state) {
    const struct world *world = *state;
    static double all[COORDINATES], without[COORDINATES], alone[COORDINATES], nobody[COORDINATES];
    int order[N_USERS], rest[N_USERS];
    for (int i = 0; i < N_USERS; i++) order[i] = i;
    struct private_ratings *ratings = pack(world, order, N_USERS, false, 1 << 30);
    size_t n = release(world, ratings, 2, 1 << 30, all);
    private_ratings_free(ratings);
    ratings = pack(world, order, 2, false, 1 << 30);
    release(world, ratings, 2, 1 << 30, nobody); /* users 0 and 1: noise plus them */
    private_ratings_free(ratings);
    for (int removed = 2; removed < N_USERS; removed += 43) {
        const int three[] = {0, 1, removed};
        for (int i = 0, k = 0; i < N_USERS; i++)
            if (i != removed) rest[k++] = i;
        ratings = pack(world, rest, N_USERS - 1, removed % 2 == 0, 1 << 30);
        release(world, ratings, 2, 1 << 30, without);
        private_ratings_free(ratings);
        ratings = pack(world, three, 3, false, 1 << 30);
        release(world, ratings, 1, 1 << 30, alone); /* a release with only them */
        private_ratings_free(ratings);
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double among_many = (all[i] - without[i]) * grid,
                   among_few = (alone[i] - nobody[i]) * grid;
            assert_true(among_many == among_few); /* the same integers */
            sum += among_many * among_many;
        }
        assert_true(sum > 0 && sum <= grid * grid);
    }
}

/* ---- sums beyond 32 bits --------------------------------------------------------------------- */

/* All of a user's norm in one number, up or down. */
static void contribute_all(void *self, int worker, const struct private_user *user,
                           struct contribution *out) {
    static const uint32_t block[] = {1};
    (void)worker, (void)user;
    out->n_blocks = 1;
    out->block = block;
    out->values[0] = *(const double *)self;
    out->values[1] = out->values[2] = 0;
}

/* So many users that parts of the sums have to be moved on several times, where that is worth it
 * (few numbers) and where it is not; memory 0 has no such parts. */
static void test_sums_beyond_32_bits(void **state) {
    const struct world *world = *state;
    enum { ROWS_MAX = 5000 };
    static double out[2][ROWS_MAX + 2];
    int order[N_USERS];
    for (int i = 0; i < N_USERS; i++) order[i] = i;
    assert_true(N_USERS * grid > 2 * 0x1p31);
    struct private_ratings *ratings = pack(world, order, N_USERS, false, 1 << 30);
    struct secure_random random;
    secure_random_init_insecure(&random, 5);
    for (int i = 0; i < 8; i++) {
        const struct noisy_sum_shape shape = {"x", i % 2 ? ROWS_MAX : 2, 1, 2, 1};
        double all = i & 2 ? -1 : 1, sigma;
        for (int k = 0; k < 2; k++) {
            struct statement statement = {0};
            struct noisy_sum_context context = {.ratings = ratings,
                                                .random = &random,
                                                .memory = k == 0 ? 1 << 30 : 0,
                                                .statement = &statement};
            pthread_mutex_init(&context.progress_lock, NULL);
            assert_int_equal(thread_pool_init(&context.pool, i < 4 ? 1 : 3, NULL), 0);
            assert_int_equal(
                noisy_sum_release(&context, &shape, 1, contribute_all, &all, out[k], &sigma, NULL),
                0);
            thread_pool_free(context.pool);
            pthread_mutex_destroy(&context.progress_lock);
        }
        assert_memory_equal(out[0], out[1], (shape.n_rows + 2) * sizeof **out);
        assert_true(fabs(out[0][1] - all * N_USERS) < 12 * sigma);
    }
    private_ratings_free(ratings);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refusals(void **state) {
    const struct world *world = *state;
    const int order[] = {0, 1, 2};
    struct private_ratings *ratings = pack(world, order, 3, false, 1 << 30);
    static struct statement statement;
    struct secure_random random;
    static double out[COORDINATES];
    double sigma;
    struct residual_rule rule = world->rule;
    struct noisy_sum_context context = {
        .ratings = ratings, .random = &random, .memory = 1 << 20, .statement = &statement};
    const struct noisy_sum_shape shape = {"x", N_ITEMS, BIAS_RELEASE_WIDTH, BIAS_RELEASE_TAIL, 0};
    secure_random_init_insecure(&random, 5);
    assert_int_equal(thread_pool_init(&context.pool, 1, NULL), 0);
    const double bad[] = {0, -1, NAN, 1e-12};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(noisy_sum_release(&context, &shape, bad[i], bias_release_contribute, &rule,
                                           out, &sigma, NULL),
                         DPMF_ERR_PRIVACY_REFUSED);
    statement.n_releases = STATEMENT_RELEASES_MAX;
    assert_int_equal(
        noisy_sum_release(&context, &shape, 1, bias_release_contribute, &rule, out, &sigma, NULL),
        DPMF_ERR_BASE_BUG);
    thread_pool_free(context.pool);
    private_ratings_free(ratings);
}

/* What is refused before anything is summed. */
static void test_what_exact_sums_cannot_hold(void **state) {
    const struct world *world = *state;
    const int order[] = {0, 1, 2};
    struct private_ratings *ratings = pack(world, order, 3, false, 1 << 30);
    static const struct {
        struct noisy_sum_shape shape;
        uint64_t users;
        double mu;
        int code;
    } cases[] = {
        {{"x", 2, 1, 2, 1}, 0, 1, 0},
        {{"x", 2, 1, 2, 1}, (UINT64_C(1) << 37) - 100, 1, 0},
        {{"x", 2, 1, 2, 1}, UINT64_C(1) << 38, 1, DPMF_ERR_PRIVACY_REFUSED}, /* 2^62 and more */
        {{"x", 2, 1, 2, 1}, UINT64_MAX, 1, DPMF_ERR_PRIVACY_REFUSED},
        {{"x", 2, 1, 2, 1}, 0, 0x1p24, 0}, /* sigma 1, the least */
        {{"x", 2, 1, 2, 1}, 0, 0x1p25, 0}, /* and so is more: it pays for noise that is there */
        {{"x", 2, 1, 2, 1}, 0, INFINITY, DPMF_ERR_PRIVACY_REFUSED},
        {{"x", UINT64_C(1) << 40, (size_t)1 << 30, 2, 1}, 0, 1, DPMF_ERR_BASE_NO_MEMORY},
        {{"x", UINT64_MAX, 1, 2, 1}, 0, 1, DPMF_ERR_BASE_NO_MEMORY},
        {{"x", 2, 2, 2, SIZE_MAX}, 0, 1, DPMF_ERR_BASE_NO_MEMORY},
        {{"x", 2, 1, 2, SIZE_MAX}, 0, 1, DPMF_ERR_BASE_NO_MEMORY},
    };
    struct secure_random random;
    double out[4], all = 1, sigma;
    secure_random_init_insecure(&random, 5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct statement statement = {0};
        struct noisy_sum_context context = {.ratings = ratings,
                                            .random = &random,
                                            .memory = 1 << 20,
                                            .statement = &statement,
                                            .users = cases[i].users};
        assert_int_equal(thread_pool_init(&context.pool, 1, NULL), 0);
        assert_int_equal(noisy_sum_release(&context, &cases[i].shape, cases[i].mu, contribute_all,
                                           &all, out, &sigma, NULL),
                         cases[i].code);
        assert_int_equal(statement.n_releases, cases[i].code == 0);
        thread_pool_free(context.pool);
    }
    private_ratings_free(ratings);
}

/* ---- what ends a round ------------------------------------------------------------------------ */

struct watched {
    int n_progress, stop_at; /* calls of the progress function */
    int summed_code, published_code;
    int n_summed, n_published;
    int64_t difference; /* between the noisy sum of the first row and the exact one */
};

static int count_progress(void *self, const struct dpmf_progress *progress) {
    struct watched *watched = self;
    assert_string_equal(progress->unit, "releases");
    return ++watched->n_progress == watched->stop_at;
}

static int see_sums(void *self, const struct noisy_sum_round *round, const int64_t *sums,
                    struct dpmf_error *error) {
    struct watched *watched = self;
    (void)error;
    assert_true(round->first == 0 && round->end == round->n);
    watched->n_summed++;
    watched->difference = -sums[1];
    return watched->summed_code;
}

static int see_published(void *self, const struct noisy_sum_round *round, int64_t *sums,
                         struct dpmf_error *error) {
    struct watched *watched = self;
    (void)round, (void)error;
    watched->n_published++;
    watched->difference += sums[1];
    sums[0] = (int64_t)(7 * grid); /* of another world */
    return watched->published_code;
}

/* A round that its user interrupts, or that an audit ends, before the noise or after it, is listed
 * nowhere; a watched one is marked, whatever becomes of it. */
static void test_ended_rounds(void **state) {
    const struct world *world = *state;
    enum { MANY = 200 };
    int order[MANY];
    for (int i = 0; i < MANY; i++) order[i] = i;
    struct private_ratings *ratings = pack(world, order, MANY, false, 1 << 30);
    static const struct {
        struct watched watched;
        bool is_watched;
        int code;
    } cases[] = {
        {{.stop_at = 0}, false, 0},
        {{.stop_at = 1}, false, DPMF_ERR_BASE_CANCELLED},
        {{.stop_at = 0}, true, 0},
        {{.summed_code = DPMF_ERR_BASE_CANCELLED}, true, DPMF_ERR_BASE_CANCELLED},
        {{.published_code = DPMF_ERR_BASE_NO_MEMORY}, true, DPMF_ERR_BASE_NO_MEMORY},
    };
    struct secure_random random;
    double out[4], all = 1, sigma;
    secure_random_init_insecure(&random, 5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct watched watched = cases[i].watched;
        struct statement statement = {0};
        const struct noisy_sum_shape shape = {"x", 2, 1, 2, 1};
        const struct noisy_sum_watch watch = {&watched, see_sums, see_published};
        struct dpmf_run run = dpmf_run_default();
        run.progress = count_progress;
        run.progress_self = &watched;
        struct noisy_sum_context context = {.ratings = ratings,
                                            .random = &random,
                                            .memory = 1 << 20,
                                            .run = &run,
                                            .statement = &statement,
                                            .watch = cases[i].is_watched ? &watch : NULL};
        pthread_mutex_init(&context.progress_lock, NULL);
        assert_int_equal(thread_pool_init(&context.pool, 1, NULL), 0);
        assert_int_equal(
            noisy_sum_release(&context, &shape, 1, contribute_all, &all, out, &sigma, NULL),
            cases[i].code);
        assert_int_equal(statement.n_releases, cases[i].code == 0);
        assert_int_equal(context.n_passes, cases[i].code == 0);
        assert_int_equal(statement.is_insecure, cases[i].is_watched);
        assert_true(watched.n_progress > 0);
        assert_int_equal(watched.n_summed, cases[i].is_watched);
        assert_int_equal(watched.n_published, cases[i].is_watched && !watched.summed_code);
        if (cases[i].is_watched && cases[i].code == 0) {
            assert_true(out[0] == 7);
            assert_true(watched.difference != 0 && fabs((double)watched.difference / grid) < 12);
        }
        thread_pool_free(context.pool);
        pthread_mutex_destroy(&context.progress_lock);
    }
    private_ratings_free(ratings);
}

/* Progress that another thread is reporting is not waited for; kernels that this machine lacks are
 * refused before anything is summed; and sums that no cache holds need no parts in 32 bits. */
static void test_other_circumstances(void **state) {
    const struct world *world = *state;
    enum { LARGE = (1 << 22) + 1 };
    const int order[] = {0, 1, 2};
    struct private_ratings *ratings = pack(world, order, 3, false, 1 << 30);
    struct secure_random random;
    struct watched watched = {.stop_at = 1, .summed_code = DPMF_ERR_BASE_CANCELLED};
    const struct noisy_sum_watch watch = {&watched, see_sums, see_published};
    struct statement statement = {0};
    struct dpmf_run run = dpmf_run_default();
    struct noisy_sum_context context = {.ratings = ratings,
                                        .random = &random,
                                        .memory = UINT64_C(1) << 40,
                                        .run = &run,
                                        .statement = &statement};
    const struct noisy_sum_shape small = {"x", 2, 1, 2, 1}, large = {"x", LARGE, 1, 2, 1};
    double out[4], all = 1, sigma;
    run.progress = count_progress;
    run.progress_self = &watched;
    secure_random_init_insecure(&random, 5);
    pthread_mutex_init(&context.progress_lock, NULL);
    assert_int_equal(thread_pool_init(&context.pool, 1, NULL), 0);
    pthread_mutex_lock(&context.progress_lock);
    assert_int_equal(
        noisy_sum_release(&context, &small, 1, contribute_all, &all, out, &sigma, NULL), 0);
    assert_int_equal(watched.n_progress, 0);
    pthread_mutex_unlock(&context.progress_lock);

    const char *before = getenv("DPMF_KERNELS");
    char *kept = before ? strdup(before) : NULL;
    setenv("DPMF_KERNELS", "abacus", 1);
    assert_int_equal(
        noisy_sum_release(&context, &small, 1, contribute_all, &all, out, &sigma, NULL),
        DPMF_ERR_USAGE_VALUE);
    kept ? setenv("DPMF_KERNELS", kept, 1) : unsetenv("DPMF_KERNELS");
    free(kept);

    run.progress = NULL;
    context.watch = &watch; /* its 4 million draws are not waited for */
    assert_int_equal(
        noisy_sum_release(&context, &large, 1, contribute_all, &all, out, &sigma, NULL),
        DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(watched.difference, -3 * (int64_t)grid); /* three users, exactly */
    assert_int_equal(statement.n_releases, 1);
    thread_pool_free(context.pool);
    pthread_mutex_destroy(&context.progress_lock);
    private_ratings_free(ratings);
}

/* ---- several processes ------------------------------------------------------------------------ */

/* What two ranks do, of whom the second loses its connection at one of its messages. */
struct ranks {
    const struct private_ratings *ratings;
    double mu[2];
    size_t fail_at, n_messages; /* of the second */
    int code[2];
    size_t n_releases[2];
};

struct connection {
    const struct dpmf_cluster *inner;
    struct ranks *ranks;
};

static int is_lost(struct connection *connection, struct dpmf_error *error) {
    struct ranks *ranks = connection->ranks;
    if (connection->inner->rank != 1 || ++ranks->n_messages != ranks->fail_at) return 0;
    return error_set(error, DPMF_ERR_CLUSTER_LOST, "the connection is lost");
}

static int lossy_send(void *self, int to, int tag, const void *bytes, size_t n,
                      struct cluster_request **request, struct dpmf_error *error) {
    struct connection *connection = self;
    const struct dpmf_cluster *inner = connection->inner;
    int code = is_lost(connection, error);
    return code < 0 ? code : inner->ops->begin_send(inner->self, to, tag, bytes, n, request, error);
}

static int lossy_receive(void *self, int from, int tag, void *bytes, size_t n,
                         struct cluster_request **request, struct dpmf_error *error) {
    struct connection *connection = self;
    const struct dpmf_cluster *inner = connection->inner;
    int code = is_lost(connection, error);
    return code < 0 ? code
                    : inner->ops->begin_receive(inner->self, from, tag, bytes, n, request, error);
}

static int lossy_test(void *self, struct cluster_request **request, struct dpmf_error *error) {
    const struct dpmf_cluster *inner = ((struct connection *)self)->inner;
    return inner->ops->test(inner->self, request, error);
}

static int lossy_wait(void *self, struct cluster_request **request, struct dpmf_error *error) {
    const struct dpmf_cluster *inner = ((struct connection *)self)->inner;
    return inner->ops->wait(inner->self, request, error);
}

static const char *lossy_host(void *self, int rank) {
    const struct dpmf_cluster *inner = ((struct connection *)self)->inner;
    return inner->ops->host(inner->self, rank);
}

static void release_as_rank(void *self, const struct dpmf_cluster *inner) {
    static const struct cluster_ops lossy = {.begin_send = lossy_send,
                                             .begin_receive = lossy_receive,
                                             .test = lossy_test,
                                             .wait = lossy_wait,
                                             .host = lossy_host};
    struct ranks *ranks = self;
    struct connection connection = {inner, ranks};
    struct dpmf_cluster cluster = *inner;
    struct statement statement = {0};
    struct secure_random random;
    const struct noisy_sum_shape shape = {"x", 200, 1, 2, 1};
    struct noisy_sum_context context = {.ratings = ranks->ratings,
                                        .random = &random,
                                        .memory = 1 << 20,
                                        .statement = &statement,
                                        .cluster = &cluster};
    double out[202], all = 1, sigma;
    cluster.ops = &lossy;
    cluster.self = &connection;
    secure_random_init_insecure(&random, 5 + (uint64_t)inner->rank);
    if (thread_pool_init(&context.pool, 1, NULL) != 0) return;
    ranks->code[inner->rank] = noisy_sum_release(&context, &shape, ranks->mu[inner->rank],
                                                 contribute_all, &all, out, &sigma, NULL);
    ranks->n_releases[inner->rank] = statement.n_releases;
    thread_pool_free(context.pool);
}

/* A rank that loses its connection, at any message of a release, lists no release; nor do ranks
 * that do not agree on what is to be released. */
static void test_ranks_that_fail(void **state) {
    const struct world *world = *state;
    const int order[] = {0, 1, 2};
    struct ranks whole = {.ratings = pack(world, order, 3, false, 1 << 30), .mu = {1, 1}};
    assert_int_equal(thread_cluster_run(2, 60, release_as_rank, &whole), 0);
    assert_true(whole.code[0] == 0 && whole.code[1] == 0);
    assert_true(whole.n_releases[0] == 1 && whole.n_releases[1] == 1);
    assert_true(whole.n_messages > 6);
    for (size_t i = 1; i <= whole.n_messages; i++) {
        struct ranks ranks = {.ratings = whole.ratings, .mu = {1, 1}, .fail_at = i};
        assert_int_equal(thread_cluster_run(2, 0.05, release_as_rank, &ranks), 0);
        assert_true(ranks.code[1] < 0);
        assert_int_equal(ranks.n_releases[1], 0);
        assert_int_equal(ranks.n_releases[0], ranks.code[0] == 0);
    }
    struct ranks unlike = {.ratings = whole.ratings, .mu = {1, 2}};
    assert_int_equal(thread_cluster_run(2, 60, release_as_rank, &unlike), 0);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(unlike.code[r], DPMF_ERR_PRIVACY_REFUSED);
        assert_int_equal(unlike.n_releases[r], 0);
    }
    struct private_ratings *ratings = (struct private_ratings *)(uintptr_t)whole.ratings;
    private_ratings_free(ratings);
}

/* A mechanism whose rows are not what it promised: in order, in range, as many as there is room
 * for. */
struct wrong_rows {
    size_t n_blocks;
    uint32_t block[N_ITEMS + 1];
};

static void contribute_wrong(void *self, int worker, const struct private_user *user,
                             struct contribution *out) {
    const struct wrong_rows *rows = self;
    (void)worker, (void)user;
    out->n_blocks = rows->n_blocks;
    out->block = rows->block;
    memset(out->values, 0, (2 * 2 + 1) * sizeof *out->values);
}

static void test_rows_are_checked(void **state) {
    const struct world *world = *state;
    const int order[] = {0, 1, 2};
    static const struct {
        struct wrong_rows rows;
        int code;
    } cases[] = {
        {{0, {0}}, 0},
        {{2, {0, N_ITEMS - 1}}, 0},
        {{2, {3, 3}}, DPMF_ERR_BASE_BUG},          /* met twice */
        {{2, {4, 3}}, DPMF_ERR_BASE_BUG},          /* out of order */
        {{1, {N_ITEMS}}, DPMF_ERR_BASE_BUG},       /* where the tail is */
        {{2, {1, UINT32_MAX}}, DPMF_ERR_BASE_BUG}, /* far outside */
        {{3, {1, 2, 3}}, DPMF_ERR_BASE_BUG},       /* more than blocks_max */
    };
    struct private_ratings *ratings = pack(world, order, 3, false, 1 << 30);
    struct secure_random random;
    static double out[COORDINATES];
    const struct noisy_sum_shape shape = {"x", N_ITEMS, 2, 1, 2};
    secure_random_init_insecure(&random, 5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct statement statement = {0};
        struct noisy_sum_context context = {
            .ratings = ratings, .random = &random, .memory = 1 << 20, .statement = &statement};
        struct wrong_rows rows = cases[i].rows;
        double sigma;
        assert_int_equal(thread_pool_init(&context.pool, 2, NULL), 0);
        assert_int_equal(
            noisy_sum_release(&context, &shape, 1, contribute_wrong, &rows, out, &sigma, NULL),
            cases[i].code);
        assert_int_equal(statement.n_releases, cases[i].code == 0);
        thread_pool_free(context.pool);
    }
    private_ratings_free(ratings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_always_holds),
        cmocka_unit_test(test_equal_values_round_up_together),
        cmocka_unit_test(test_nonsense_becomes_nothing),
        cmocka_unit_test(test_every_user_is_bounded),
        cmocka_unit_test(test_others_do_not_matter),
        cmocka_unit_test(test_one_user_is_one_contribution),
        cmocka_unit_test(test_sums_beyond_32_bits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_what_exact_sums_cannot_hold),
        cmocka_unit_test(test_ended_rounds),
        cmocka_unit_test(test_other_circumstances),
        cmocka_unit_test(test_ranks_that_fail),
        cmocka_unit_test(test_rows_are_checked),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}
