/*
 * The mechanism `events`, where its promise could break: contributions of any user within the norm
 * bound on the integers; what a user contributes, the vote with its coins included, bit for bit the
 * same whoever else is there and in whatever order or blocks; shares of the budget that add up
 * whatever the first noisy sum says. And that it learns: groups of people with tastes of their own
 * are told apart, and the vote leaves taste out where there is none.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/kernels.h"
#include "mechanisms/events/events.h"
#include "mechanisms/mechanism.h"
#include "model/release.h"
#include "random/random.h"
#include "store_triples.h"
#include "temp_dir.h"

enum { N_ITEMS = 80, N_USERS = 240, ROOM = N_ITEMS * EVENTS_FACTORS_MAX };

static const double grid = (double)(1 << NOISY_SUM_BITS);

/* ---- users of every kind --------------------------------------------------------------------- */

static uint64_t squares(const int32_t *q, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((int64_t)q[i] * q[i]);
    return sum;
}

static void check_bounded(const double *values, size_t n) {
    static int32_t q[ROOM];
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i] * values[i];
    assert_true(sqrt(sum) <= 1 + 1e-12);
    noisy_sum_quantise(kernel_set_choose(NULL)->exact, values, n, 1, q);
    assert_true(squares(q, n) <= (uint64_t)1 << 48);
}

struct made_user {
    uint32_t row[N_ITEMS];
    float y[N_ITEMS];
    struct private_user user;
};

/* Everything, one item, two, three, and what chance gives. */
static void make_user(struct made_user *made, uint64_t number) {
    struct random_stream random;
    random_stream_init(&random, 31, 2, number);
    const size_t kind = (size_t)(number % 6), most = kind > 0 && kind < 4 ? kind : N_ITEMS;
    const double density = kind == 0 ? 1 : random_uniform(&random);
    size_t n = 0;
    for (uint32_t j = 0; j < N_ITEMS && n < most; j++) {
        if (kind > 3 && random_uniform(&random) >= density) continue;
        made->row[n] = j;
        made->y[n++] = 1;
    }
    if (n == 0) made->row[n] = 7, made->y[n++] = 1;
    made->user = (struct private_user){n, made->row, made->y, 1, random_u64(&random)};
}

static void random_model(struct public_model *model, size_t K, uint64_t number) {
    struct random_stream random;
    random_stream_init(&random, 33, 3, number);
    assert_int_equal(public_model_init(model, N_ITEMS, NULL), 0);
    assert_int_equal(public_model_widen(model, K, NULL), 0);
    const double size = exp(12 * random_uniform(&random) - 8); /* sane ones and wild ones */
    for (size_t j = 0; j < N_ITEMS; j++) {
        model->c[j] = random_gaussian(&random);
        model->counts[j] = exp(model->c[j]);
        model->weight[j] = 1 + 9 * random_uniform(&random);
        for (size_t a = 0; a < K; a++)
            model->rows[j * model->stride + a] = size * random_gaussian(&random);
    }
}

static void test_contributions_are_bounded(void **state) {
    (void)state;
    static double values[ROOM], z[N_ITEMS];
    static struct made_user made;
    const struct events_rule rule = events_rule_make(1);
    for (uint64_t number = 0; number < 2000; number++) {
        struct public_model model;
        struct events_score score;
        struct contribution out = {.values = values};
        make_user(&made, number);
        random_model(&model, 1 + (size_t)(number % EVENTS_FACTORS_MAX), number);

        events_contribute_popularity(NULL, 0, &made.user, &out);
        assert_true(out.n_blocks == made.user.n && out.block == made.row);
        check_bounded(values, made.user.n);

        struct events_round round = {&model, &rule, z, N_ITEMS};
        events_contribute_round(&round, 0, &made.user, &out);
        assert_true(out.n_blocks == made.user.n && out.block == made.row);
        check_bounded(values, made.user.n * model.K);

        events_score_init(&score, &model, &rule);
        struct vote vote = {EVENTS_WEIGHTS, rule.vote_bound, events_score_gains, &score};
        vote_contribute(&vote, 0, &made.user, &out);
        assert_int_equal(out.n_blocks, 0);
        check_bounded(values, EVENTS_WEIGHTS);
        public_model_free(&model);
    }
}

/* Who has one event, or two of which one is left out, has nothing that goes together; and one who
 * has it all finds nothing to compare with. */
static void test_nothing_to_say(void **state) {
    (void)state;
    static double values[ROOM], z[N_ITEMS], gains[EVENTS_WEIGHTS];
    static struct made_user made;
    const struct events_rule rule = events_rule_make(1);
    struct public_model model;
    struct events_score score;
    struct contribution out = {.values = values};
    random_model(&model, 4, 5);
    events_score_init(&score, &model, &rule);
    make_user(&made, 1); /* one item */
    assert_int_equal(made.user.n, 1);
    struct events_round round = {&model, &rule, z, N_ITEMS};
    events_contribute_round(&round, 0, &made.user, &out);
    for (size_t a = 0; a < model.K; a++) assert_true(values[a] == 0);
    assert_false(events_score_gains(&score, 0, &made.user, gains));
    make_user(&made, 0); /* all items */
    assert_int_equal(made.user.n, N_ITEMS);
    assert_false(events_score_gains(&score, 0, &made.user, gains));
    make_user(&made, 3);
    assert_int_equal(made.user.n, 3);
    assert_true(events_score_gains(&score, 0, &made.user, gains));
    public_model_free(&model);
}

/* ---- the event that is left out -------------------------------------------------------------- */

static void test_left_out(void **state) {
    (void)state;
    static struct made_user made;
    size_t found[3] = {0};
    make_user(&made, 3);
    for (uint64_t i = 0; i < 3000; i++) {
        struct random_stream random;
        random_stream_init(&random, 35, 4, i);
        made.user.coin = random_u64(&random);
        const size_t place = vote_left_out(&made.user, EVENTS_VOTE_LEAST);
        assert_true(place < 3);
        found[place]++;
    }
    for (size_t i = 0; i < 3; i++) assert_true(found[i] > 850 && found[i] < 1150);
    made.user.n = 2;
    assert_true(vote_left_out(&made.user, EVENTS_VOTE_LEAST) == SIZE_MAX);
    made.user.n = 3;
    made.user.coin = UINT64_MAX;
    assert_int_equal(vote_left_out(&made.user, EVENTS_VOTE_LEAST), 2);
}

/* What is contributed to a round does not depend on the event that is left out. */
static void test_left_out_is_left_out(void **state) {
    (void)state;
    static double values[ROOM], z[N_ITEMS];
    static struct made_user made;
    const struct events_rule rule = events_rule_make(1);
    struct public_model model;
    struct contribution out = {.values = values};
    random_model(&model, 4, 9);
    struct events_round round = {&model, &rule, z, N_ITEMS};
    make_user(&made, 5);
    assert_true(made.user.n > 3);
    const size_t place = vote_left_out(&made.user, EVENTS_VOTE_LEAST);
    events_contribute_round(&round, 0, &made.user, &out);
    for (size_t a = 0; a < model.K; a++) assert_true(values[place * model.K + a] == 0);
    const double before = values[(place == 0) * model.K];
    model.rows[made.row[place] * model.stride] *= 7;
    events_contribute_round(&round, 0, &made.user, &out);
    assert_true(values[(place == 0) * model.K] == before);
    public_model_free(&model);
}

/* ---- the rule -------------------------------------------------------------------------------- */

static void test_shares_add_up(void **state) {
    (void)state;
    const double odd[] = {NAN, -1, 0, INFINITY, 1e300};
    for (int i = 0; i < 400; i++)
        for (size_t n_items = 1; n_items < 2000; n_items = n_items * 3 + 1) {
            struct events_rule rule = events_rule_make(1);
            const double snr = i < 5 ? odd[i] : exp(0.1 * i - 10);
            events_rule_finish(&rule, snr, n_items);
            double whole = rule.popularity_share;
            for (size_t t = 0; t < rule.rounds; t++) whole += events_rule_round_share(&rule, t);
            if (rule.factors > 0) whole += rule.vote_share;
            assert_true(fabs(whole - 1) < 1e-12);
            assert_true(rule.popularity_share > rule.first_share);
            assert_true(rule.factors <= EVENTS_FACTORS_MAX && rule.factors * 8 <= n_items);
            assert_int_equal(rule.rounds > 0, rule.factors > 0);
            assert_int_equal(rule.factors > 0, snr >= rule.snr_least && n_items >= 16);
        }
    for (size_t k = 1; k <= EVENTS_FACTORS_MAX; k++)
        for (size_t directions = 0; directions <= 200; directions++) {
            const size_t width = events_rule_start_width(k, directions);
            assert_true(width >= k && width <= EVENTS_FACTORS_MAX);
        }
}

/* ---- who wins -------------------------------------------------------------------------------- */

static void test_winner(void **state) {
    (void)state;
    const double clear[] = {0, 9, 3, 1}, close[] = {3, 5.7, 3, 4}, noise[] = {NAN, NAN, 1, NAN};
    assert_int_equal(vote_winner(clear, 4, 1, 3, 2), 1);
    assert_int_equal(vote_winner(close, 4, 1, 2, 2), 2); /* a lead of 2.7 is not 2.83 deviations */
    assert_int_equal(vote_winner(close, 4, 0.9, 2, 2), 1);
    assert_int_equal(vote_winner(close, 4, 1, 1, 2), 1);
    assert_int_equal(vote_winner(noise, 4, 1, 2, 2), 2);
}

/* ---- users do not see each other ------------------------------------------------------------- */

struct world {
    struct temp_dir dir;
    struct catalogue catalogue;
    struct public_model model;
    struct events_rule rule;
    struct events_score score;
};

static int make_world(void **state) {
    struct world *world = calloc(1, sizeof *world);
    char path[TEMP_PATH_MAX], text[N_ITEMS * 8];
    size_t n = 0;
    temp_dir_make(&world->dir);
    for (int j = 0; j < N_ITEMS; j++)
        n += (size_t)snprintf(text + n, sizeof text - n, "i%02d\n", (j * 17) % N_ITEMS);
    temp_dir_file(&world->dir, "items", path);
    temp_dir_write(path, text, n);
    assert_int_equal(catalogue_read(path, NULL, &world->catalogue, NULL), 0);
    random_model(&world->model, 5, 99);
    world->rule = events_rule_make(1);
    events_score_init(&world->score, &world->model, &world->rule);
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

/* What user i has depends on their number alone: two kinds of people, each with a half of the
 * items, or no taste at all. */
static bool has_item(int i, int j, bool has_tastes) {
    struct random_stream random;
    random_stream_init(&random, 37, 5, (uint64_t)(i * N_ITEMS + j));
    const double mine = (i + j) % 2 == 0 ? 0.5 : 0.02;
    return random_uniform(&random) < (has_tastes ? mine : 0.3) || j == i % N_ITEMS;
}

static void write_store(const struct world *world, const int *order, int n, bool has_tastes,
                        bool backwards, char path[TEMP_PATH_MAX]) {
    struct triples triples = {0};
    char user[16], item[16];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < N_ITEMS; j++) {
            if (!has_item(order[i], j, has_tastes)) continue;
            snprintf(user, sizeof user, "u%d", order[i]);
            snprintf(item, sizeof item, "i%02d", j);
            triples_add(&triples, triple_make(user, item, 1 + (order[i] + j) % 5, 0));
        }
    temp_dir_file(&world->dir, "x.dpr", path);
    triples_write(&triples, false, backwards, path);
    free(triples.at);
}

static struct private_ratings *pack(const struct world *world, const int *order, int n,
                                    bool has_tastes, bool backwards, uint64_t memory) {
    struct dpmf_store *store;
    struct private_ratings *ratings;
    struct private_ratings_report report;
    struct secure_random coins;
    char path[TEMP_PATH_MAX];
    write_store(world, order, n, has_tastes, backwards, path);
    secure_random_init_insecure(&coins, 3);
    const struct private_ratings_options options = {.range_min = -INFINITY,
                                                    .range_max = INFINITY,
                                                    .are_events = true,
                                                    .catalogue = &world->catalogue,
                                                    .epsilon = 1,
                                                    .delta = 1e-5,
                                                    .coins = &coins,
                                                    .toss = true,
                                                    .memory = memory,
                                                    .threads = 2};
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(private_ratings_build(store, &options, NULL, &ratings, &report, NULL), 0);
    assert_int_equal(report.users, n);
    assert_int_equal(report.out_of_range, 0);
    dpmf_store_close(store);
    return ratings;
}

enum { POPULARITY, ROUND, VOTE, KINDS, COORDINATES = N_ITEMS * 5 };

static size_t release(struct world *world, const struct private_ratings *ratings, int kind,
                      int threads, double *out) {
    static struct statement statement;
    struct secure_random random;
    struct noisy_sum_context context = {
        .ratings = ratings, .random = &random, .memory = 1 << 28, .statement = &statement};
    double *z = calloc((size_t)threads * N_ITEMS, sizeof *z), sigma;
    struct events_round round = {&world->model, &world->rule, z, N_ITEMS};
    struct vote vote = {EVENTS_WEIGHTS, 0.5, events_score_gains, &world->score};
    const struct noisy_sum_shape shapes[KINDS] = {{"popularity", N_ITEMS, 1, 0, 0},
                                                  {"round 1", N_ITEMS, 5, 0, 0},
                                                  {"vote", 0, 0, EVENTS_WEIGHTS, 0}};
    noisy_sum_contribute *const contribute[KINDS] = {events_contribute_popularity,
                                                     events_contribute_round, vote_contribute};
    void *const self[KINDS] = {NULL, &round, &vote};
    memset(&statement, 0, sizeof statement);
    secure_random_init_insecure(&random, 5);
    pthread_mutex_init(&context.progress_lock, NULL);
    assert_int_equal(thread_pool_init(&context.pool, threads, NULL), 0);
    assert_int_equal(noisy_sum_release(&context, &shapes[kind], 0.5, contribute[kind], self[kind],
                                       out, &sigma, NULL),
                     0);
    thread_pool_free(context.pool);
    pthread_mutex_destroy(&context.progress_lock);
    free(z);
    return (size_t)statement.releases[0].coordinates;
}

static void test_others_do_not_matter(void **state) {
    struct world *world = *state;
    static double all[COORDINATES], other[COORDINATES];
    int order[N_USERS], shuffled[N_USERS];
    for (int i = 0; i < N_USERS; i++) order[i] = i, shuffled[i] = (i * 77 + 5) % N_USERS;
    for (int kind = 0; kind < KINDS; kind++) {
        struct private_ratings *ratings = pack(world, order, N_USERS, true, false, 1 << 30);
        size_t n = release(world, ratings, kind, 1, all);
        release(world, ratings, kind, 3, other);
        assert_memory_equal(all, other, n * sizeof *all);
        private_ratings_free(ratings);
        ratings = pack(world, shuffled, N_USERS, true, true, 0); /* order, item numbers, on disk */
        release(world, ratings, kind, 2, other);
        assert_memory_equal(all, other, n * sizeof *all);
        private_ratings_free(ratings);
    }
}

static void test_one_user_is_one_contribution(void **state) {
    struct world *world = *state;
    static double all[COORDINATES], without[COORDINATES], alone[COORDINATES], nobody[COORDINATES];
    int order[N_USERS], rest[N_USERS];
    for (int i = 0; i < N_USERS; i++) order[i] = i;
    for (int kind = 0; kind < KINDS; kind++) {
        struct private_ratings *ratings = pack(world, order, N_USERS, true, false, 1 << 30);
        size_t n = release(world, ratings, kind, 2, all);
        private_ratings_free(ratings);
        ratings = pack(world, order, 2, true, false, 1 << 30);
        release(world, ratings, kind, 2, nobody); /* users 0 and 1: noise plus them */
        private_ratings_free(ratings);
        double whole = 0;
        for (int removed = 2; removed < N_USERS; removed += 61) {
            const int three[] = {0, 1, removed};
            for (int i = 0, k = 0; i < N_USERS; i++)
                if (i != removed) rest[k++] = i;
            ratings = pack(world, rest, N_USERS - 1, true, removed % 2 == 0, 1 << 30);
            release(world, ratings, kind, 2, without);
            private_ratings_free(ratings);
            ratings = pack(world, three, 3, true, false, 1 << 30);
            release(world, ratings, kind, 1, alone); /* a release with only them */
            private_ratings_free(ratings);
            double sum = 0;
            for (size_t i = 0; i < n; i++) {
                const double many = (all[i] - without[i]) * grid;
                assert_true(many == (alone[i] - nobody[i]) * grid); /* the same integers */
                sum += many * many;
            }
            assert_true(sum <= grid * grid);
            whole += sum;
        }
        assert_true(whole > 0);
    }
}

/* ---- whole runs ------------------------------------------------------------------------------ */

static void run(struct world *world, bool has_tastes, double mu, struct public_model *model,
                struct statement *statement) {
    int order[N_USERS];
    for (int i = 0; i < N_USERS; i++) order[i] = i;
    struct private_ratings *ratings = pack(world, order, N_USERS, has_tastes, false, 1 << 30);
    struct secure_random random;
    struct noisy_sum_context context = {
        .ratings = ratings, .random = &random, .memory = 1 << 28, .statement = statement};
    memset(statement, 0, sizeof *statement);
    secure_random_init_insecure(&random, 5);
    pthread_mutex_init(&context.progress_lock, NULL);
    assert_int_equal(thread_pool_init(&context.pool, 2, NULL), 0);
    assert_int_equal(public_model_init(model, N_ITEMS, NULL), 0);
    const struct mechanism_input input = {
        .sums = &context, .catalogue = &world->catalogue, .mu = mu};
    assert_int_equal(mechanism_events.run(&input, model, NULL), 0);
    assert_true(statement_mu(statement) <= mu && statement_mu(statement) > 0.999 * mu);
    statement->mechanism = mechanism_events.name;
    statement->items = N_ITEMS;
    assert_int_equal(statement_shape_check(statement, N_ITEMS, (uint32_t)model->K, NULL), 0);
    assert_int_equal(statement_shape_check(statement, N_ITEMS, (uint32_t)model->K + 1, NULL),
                     DPMF_ERR_PRIVACY_NOT_VERIFIED);
    thread_pool_free(context.pool);
    pthread_mutex_destroy(&context.progress_lock);
    private_ratings_free(ratings);
}

/* How often an item of one's own kind comes first among those that one does not have. */
static double told_apart(const struct world *world, const struct public_model *model) {
    struct events_score score;
    double right = 0, all = 0;
    events_score_init(&score, model, &world->rule);
    for (int i = 0; i < N_USERS; i++) {
        struct made_user made = {.user = {0, made.row, made.y, 1, 0}};
        double p[EVENTS_FACTORS_MAX];
        for (uint32_t j = 0; j < N_ITEMS; j++)
            if (has_item(i, ((int)j * 17) % N_ITEMS, true)) made.row[made.user.n++] = j;
        events_score_person(&score, &made.user, SIZE_MAX, p);
        for (uint32_t a = 0; a < N_ITEMS; a++)
            for (uint32_t b = 0; b < N_ITEMS; b++) {
                const int x = ((int)a * 17) % N_ITEMS, y = ((int)b * 17) % N_ITEMS;
                if ((i + x) % 2 != 0 || (i + y) % 2 == 0) continue;
                if (has_item(i, x, true) || has_item(i, y, true)) continue;
                right += events_score_taste(&score, p, a) > events_score_taste(&score, p, b);
                all += 1;
            }
    }
    return right / all;
}

static void test_tastes_are_learned(void **state) {
    struct world *world = *state;
    static struct statement statement;
    struct public_model model;
    run(world, true, 20, &model, &statement);
    assert_true(model.K >= 2 && model.taste_weight > 0);
    const double apart = told_apart(world, &model);
    if (apart < 0.95) fail_msg("told apart: %g", apart);
    public_model_free(&model);
}

/* As release_make.c writes it. */
static void write_release(struct world *world, const struct public_model *model, double weight,
                          struct statement *statement, char path[TEMP_PATH_MAX]) {
    struct release release = {.ranks = true,
                              .taste_weight = weight,
                              .factor_penalty = 1,
                              .bias_penalty = 1,
                              .factors = {.k = (uint32_t)model->K, .max = 1}};
    float counts[N_ITEMS];
    for (size_t j = 0; j < N_ITEMS; j++) counts[j] = (float)model->counts[j];
    assert_int_equal(factor_matrix_init(&release.factors.items, N_ITEMS, model->K, 0, NULL), 0);
    for (size_t j = 0; j < N_ITEMS; j++) {
        release.factors.items.biases[j] = 0;
        for (size_t a = 0; a < model->K; a++)
            release.factors.items.rows[j * release.factors.items.stride + a] =
                (float)model->rows[j * model->stride + a];
    }
    statement->epsilon = 1e6, statement->delta = 1e-5, statement->range_max = 1;
    release.statement = statement_to_json(statement);
    release.factors.item_ids = world->catalogue.ids;
    release.factors.item_ids.counts = counts;
    temp_dir_file(&world->dir, "r.safetensors", path);
    assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
    release.factors.item_ids = (struct factor_ids){0};
    release_free(&release);
}

/* The taste in all items of someone who has these ratings; how many of them are events. */
static size_t find_taste(const struct dpmf_model *model, const struct dpmf_own_rating *own,
                         size_t n, double taste[N_ITEMS]) {
    const struct dpmf_own_rating *kept;
    struct dpmf_user *user;
    struct dpmf_score score;
    assert_int_equal(dpmf_user_fold_in(model, own, n, &user, NULL), 0);
    for (uint32_t j = 0; j < N_ITEMS; j++) {
        assert_int_equal(dpmf_user_score(model, user, NULL, j, &score, NULL), 0);
        taste[j] = score.taste;
    }
    n = dpmf_user_ratings(user, &kept);
    dpmf_user_free(user);
    return n;
}

/* Where events were ratings of 4 and more, those below are none at home either. */
static void test_only_likes_are_events(void **state) {
    struct world *world = *state;
    static struct statement statement;
    const struct dpmf_own_rating both[] = {{1, 5}, {7, 3.5}}, one[] = {{1, 4}},
                                 two[] = {{1, 4}, {7, 4}};
    double a[N_ITEMS], b[N_ITEMS], c[N_ITEMS];
    struct public_model model;
    struct dpmf_model *opened;
    struct dpmf_model_info info;
    char path[TEMP_PATH_MAX];
    run(world, true, 20, &model, &statement);
    statement.liked = STATEMENT_LIKED_FROM, statement.like = 4;
    write_release(world, &model, 1, &statement, path);
    assert_int_equal(dpmf_model_open(path, &opened, NULL), 0);
    dpmf_model_info(opened, &info);
    assert_true(info.like == 4);
    assert_int_equal(find_taste(opened, both, 2, a), 1);
    assert_int_equal(find_taste(opened, one, 1, b), 1);
    assert_int_equal(find_taste(opened, two, 2, c), 2);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    dpmf_model_close(opened);
    statement.liked = STATEMENT_LIKED_ANY, statement.like = 0;
    write_release(world, &model, 1, &statement, path);
    assert_int_equal(dpmf_model_open(path, &opened, NULL), 0);
    assert_int_equal(find_taste(opened, both, 2, a), 2);
    assert_memory_equal(a, c, sizeof a);
    dpmf_model_close(opened);
    public_model_free(&model);
}

/* What the vote measured is what people get: the two copies of the score agree, up to floats. */
static void test_home_scores_alike(void **state) {
    struct world *world = *state;
    static struct statement statement;
    struct public_model model;
    struct dpmf_model *opened;
    struct dpmf_model_info info;
    struct events_score score;
    const double weight = 0.65;
    char path[TEMP_PATH_MAX];
    run(world, true, 20, &model, &statement);
    write_release(world, &model, weight, &statement, path);
    events_score_init(&score, &model, &world->rule);
    assert_int_equal(dpmf_model_open(path, &opened, NULL), 0);
    dpmf_model_info(opened, &info);
    assert_string_equal(info.goal, "ranking");
    assert_true(info.taste_weight == weight);
    for (uint64_t number = 2; number < 30; number++) {
        struct made_user made;
        struct dpmf_own_rating own[N_ITEMS];
        struct dpmf_user *user;
        double p[EVENTS_FACTORS_MAX];
        make_user(&made, number);
        for (size_t i = 0; i < made.user.n; i++) /* whatever the count is, if it is one */
            own[i] = (struct dpmf_own_rating){made.row[i], i % 2 ? 1e15 : -3};
        events_score_person(&score, &made.user, SIZE_MAX, p);
        assert_int_equal(dpmf_user_fold_in(opened, own, made.user.n, &user, NULL),
                         DPMF_ERR_INPUT_OUT_OF_RANGE);
        for (size_t i = 0; i < made.user.n; i += 2) own[i].rating = 3;
        assert_int_equal(dpmf_user_fold_in(opened, own, made.user.n, &user, NULL), 0);
        for (uint32_t j = 0; j < N_ITEMS; j++) {
            struct dpmf_score home;
            assert_int_equal(dpmf_user_score(opened, user, NULL, j, &home, NULL), 0);
            assert_true(fabs(home.crowd - model.c[j]) < 1e-5 && home.habit == 0);
            assert_true(fabs(home.taste - weight * events_score_taste(&score, p, j)) < 1e-4);
            assert_true(isnan(home.rating));
        }
        dpmf_user_free(user);
    }
    dpmf_model_close(opened);
    public_model_free(&model);
}

/* A weight that no vote chooses from could carry something. */
static void test_weights_are_the_rule_s(void **state) {
    struct world *world = *state;
    static struct statement statement;
    struct public_model model;
    struct dpmf_verification verification;
    char path[TEMP_PATH_MAX];
    run(world, true, 20, &model, &statement);
    const double weights[] = {0.65, 0.1234567890123};
    for (size_t i = 0; i < 2; i++) {
        struct dpmf_error error = {0};
        write_release(world, &model, weights[i], &statement, path);
        dpmf_release_verify(path, 0, &verification, &error);
        assert_true((strstr(error.message, "weight of taste") != NULL) == (i == 1));
    }
    public_model_free(&model);
}

/* A release of events holds no number that means nothing. */
static void test_nothing_else_fits_in(void **state) {
    struct world *world = *state;
    struct release release = {.ranks = true,
                              .taste_weight = 1,
                              .factor_penalty = 1,
                              .bias_penalty = 1,
                              .factors = {.k = 0, .max = 1}};
    char path[TEMP_PATH_MAX], text[] = "{}";
    float counts[N_ITEMS];
    for (size_t j = 0; j < N_ITEMS; j++) counts[j] = 1;
    assert_int_equal(factor_matrix_init(&release.factors.items, N_ITEMS, 1, 0, NULL), 0);
    for (size_t j = 0; j < N_ITEMS; j++) release.factors.items.biases[j] = 0;
    release.statement = text;
    release.factors.item_ids = world->catalogue.ids;
    release.factors.item_ids.counts = counts;
    temp_dir_file(&world->dir, "r.safetensors", path);
    assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
    double *const numbers[] = {&release.factors.offset, &release.factors.min,
                               &release.factors.max,    &release.factor_penalty,
                               &release.bias_penalty,   &release.taste_weight};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const double before = *numbers[i];
        *numbers[i] = i == 5 ? NAN : before + 0.25;
        assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), DPMF_ERR_BASE_BUG);
        *numbers[i] = before;
    }
    const float biases[] = {0.5f, -0.0f};
    for (size_t i = 0; i < sizeof biases / sizeof biases[0]; i++) {
        release.factors.items.biases[3] = biases[i];
        assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), DPMF_ERR_BASE_BUG);
    }
    release.factors.items.biases[3] = 0;
    release.factors.offset = -0.0;
    assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), DPMF_ERR_BASE_BUG);
    release.factors.offset = 0;
    release.factors.item_ids.counts = NULL;
    assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), DPMF_ERR_BASE_BUG);
    release.statement = NULL;
    release.factors.item_ids = (struct factor_ids){0};
    release_free(&release);
}

static void test_no_taste_no_weight(void **state) {
    struct world *world = *state;
    static struct statement statement;
    struct public_model model;
    run(world, false, 100, &model, &statement);
    assert_true(model.K >= 2);
    assert_true(model.taste_weight < 1);
    public_model_free(&model);
}

static void test_little_budget_buys_popularity(void **state) {
    struct world *world = *state;
    static struct statement statement;
    struct public_model model;
    run(world, true, 0.05, &model, &statement);
    assert_int_equal(model.K, 0);
    assert_int_equal(statement.n_releases, 2);
    for (size_t j = 0; j < N_ITEMS; j++)
        assert_true(model.counts[j] > 0 && isfinite(model.c[j]) && isfinite(model.counts[j]));
    public_model_free(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contributions_are_bounded),
        cmocka_unit_test(test_nothing_to_say),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_left_out_is_left_out),
        cmocka_unit_test(test_shares_add_up),
        cmocka_unit_test(test_winner),
        cmocka_unit_test_setup_teardown(test_others_do_not_matter, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_one_user_is_one_contribution, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_tastes_are_learned, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_home_scores_alike, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_only_likes_are_events, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_weights_are_the_rule_s, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_nothing_else_fits_in, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_no_taste_no_weight, make_world, end_world),
        cmocka_unit_test_setup_teardown(test_little_budget_buys_popularity, make_world, end_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
