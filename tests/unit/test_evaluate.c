/*
 * Evaluation, ranking of many users and histories, against the plain definitions and for any number of
 * threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checkpoint_make.h"
#include "recommend/model.h"
#include "store_triples.h"
#include "temp_dir.h"

enum { USERS = 1500, ITEMS = 60, K = 5 };

/* A model of users u0.. and items i0..; stores that hold most of them and some that it does not know. */
struct fixture {
    struct temp_dir dir;
    struct dpmf_model *model;
    struct dpmf_store *test, *history;
    struct triples test_triples, history_triples;
};

static void fill(struct triples *triples, uint64_t seed, unsigned one_in) {
    uint64_t state = seed;
    for (int u = 0; u < USERS + 5; u++)
        for (int i = 0; i < ITEMS + 3; i++) {
            char user[TRIPLE_ID_MAX], item[TRIPLE_ID_MAX];
            if (make_random(&state) % one_in != 0) continue;
            snprintf(user, sizeof user, "u%d", u);
            snprintf(item, sizeof item, "i%d", i);
            triples_add(triples, triple_make(user, item, 1 + make_random(&state) % 5, 0));
        }
    triples_sort(triples);
}

static struct dpmf_store *write_store(const struct temp_dir *dir, const char *name,
                                      const struct triples *triples, bool backwards) {
    char path[TEMP_PATH_MAX];
    struct dpmf_store *store;
    temp_dir_file(dir, name, path);
    triples_write(triples, false, backwards, path);
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    return store;
}

static int set_up(void **state) {
    static struct fixture fixture;
    char path[TEMP_PATH_MAX];
    fixture = (struct fixture){0};
    temp_dir_make(&fixture.dir);
    temp_dir_file(&fixture.dir, "m.safetensors", path);
    make_checkpoint(path, USERS, ITEMS, K, 11);
    assert_int_equal(dpmf_model_open(path, &fixture.model, NULL), 0);
    fill(&fixture.test_triples, 1, 12);
    fill(&fixture.history_triples, 2, 7);
    fixture.test = write_store(&fixture.dir, "test.dpr", &fixture.test_triples, true);
    fixture.history = write_store(&fixture.dir, "history.dpr", &fixture.history_triples, false);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    dpmf_model_close(fixture->model);
    dpmf_store_close(fixture->test);
    dpmf_store_close(fixture->history);
    free(fixture->test_triples.at);
    free(fixture->history_triples.at);
    temp_dir_remove(&fixture->dir);
    return 0;
}

static struct dpmf_run run_with(int threads) {
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    return run;
}

static uint64_t user_of(const struct fixture *fixture, const struct triple *t) {
    return dpmf_model_find_user(fixture->model, t->user, t->user_length);
}

static uint64_t item_of(const struct fixture *fixture, const struct triple *t) {
    return dpmf_model_find_item(fixture->model, t->item, t->item_length);
}

/* ---- errors ----------------------------------------------------------------------------------- */

static void test_errors(void **state) {
    struct fixture *fixture = *state;
    double squares = 0, absolutes = 0;
    uint64_t unknown_users = 0, unknown_items = 0;
    const struct triples *test = &fixture->test_triples;
    for (size_t i = 0; i < test->n; i++) {
        uint64_t user = user_of(fixture, &test->at[i]), item = item_of(fixture, &test->at[i]);
        double prediction = fmin(fmax(dpmf_model_predict(fixture->model, user, item), 1), 5);
        squares += pow(test->at[i].value - prediction, 2);
        absolutes += fabs(test->at[i].value - prediction);
        unknown_users += user == UINT64_MAX;
        unknown_items += item == UINT64_MAX;
    }
    struct dpmf_evaluation first = {0};
    for (int threads = 1; threads <= 4; threads++) {
        const struct dpmf_run run = run_with(threads);
        struct dpmf_evaluation e;
        assert_int_equal(
            dpmf_model_evaluate(fixture->model, fixture->test, NULL, NULL, &run, &e, NULL), 0);
        assert_int_equal(e.n, test->n);
        assert_true(fabs(e.rmse - sqrt(squares / (double)test->n)) < 1e-9);
        assert_true(fabs(e.mae - absolutes / (double)test->n) < 1e-9);
        assert_true(unknown_users > 0 && unknown_items > 0);
        assert_int_equal(e.unknown_users, unknown_users);
        assert_int_equal(e.unknown_items, unknown_items);
        assert_int_equal(e.ranked_users, 0);
        if (threads == 1) first = e;
        assert_memory_equal(&e, &first, sizeof e);
    }
}

/* ---- ranking ---------------------------------------------------------------------------------- */

/* For all pairs: 1 in the test set, 2 in the history. Items past the model's are there too, but no
 * history leaves them out. */
static uint8_t *mark_pairs(const struct fixture *fixture, bool with_history) {
    uint8_t *marks = calloc(USERS, ITEMS + 3);
    assert_non_null(marks);
    for (int side = 0; side < 1 + with_history; side++) {
        const struct triples *t = side ? &fixture->history_triples : &fixture->test_triples;
        for (size_t i = 0; i < t->n; i++) {
            uint64_t user = user_of(fixture, &t->at[i]);
            if (side == 1 && item_of(fixture, &t->at[i]) == UINT64_MAX) continue;
            char id[TRIPLE_ID_MAX + 1] = "";
            memcpy(id, t->at[i].item, t->at[i].item_length);
            if (user != UINT64_MAX)
                marks[user * (ITEMS + 3) + strtoul(id + 1, NULL, 10)] |= (uint8_t)(1 << side);
        }
    }
    return marks;
}

static void plain_ranking(const struct fixture *fixture, bool with_history, size_t n,
                          struct dpmf_evaluation *e) {
    uint8_t *marks = mark_pairs(fixture, with_history);
    *e = (struct dpmf_evaluation){0};
    for (uint64_t user = 0; user < USERS; user++) {
        const uint8_t *mark = marks + user * (ITEMS + 3);
        size_t relevant = 0, rank = 0, hits = 0;
        for (int i = 0; i < ITEMS + 3; i++) relevant += mark[i] == 1;
        if (relevant == 0) continue;
        struct dpmf_scored_item all[ITEMS];
        assert_int_equal(dpmf_model_recommend(fixture->model, user, NULL, NULL, ITEMS, all, NULL),
                         ITEMS);
        double dcg = 0, ideal = 0, precision = 0;
        for (size_t i = 0; i < ITEMS && rank < n; i++) {
            if (mark[all[i].item] & 2) continue;
            rank++;
            if (mark[all[i].item] != 1) continue;
            hits++;
            dcg += 1 / log2((double)rank + 1);
            precision += (double)hits / (double)rank;
        }
        for (size_t r = 1; r <= n && r <= relevant; r++) ideal += 1 / log2((double)r + 1);
        e->ranked_users++;
        e->recall += (double)hits / (double)relevant;
        e->ndcg += dcg / ideal;
        e->map += precision / (double)(relevant < n ? relevant : n);
    }
    e->recall /= (double)e->ranked_users;
    e->ndcg /= (double)e->ranked_users;
    e->map /= (double)e->ranked_users;
    free(marks);
}

static void test_ranking(void **state) {
    struct fixture *fixture = *state;
    static const uint32_t some_n[] = {1, 5, 10, 1000};
    for (size_t i = 0; i < 2 * sizeof some_n / sizeof some_n[0]; i++) {
        bool with_history = i % 2;
        const struct dpmf_evaluate_options options = {.ranking = some_n[i / 2]};
        struct dpmf_evaluation plain, first = {0};
        plain_ranking(fixture, with_history, options.ranking, &plain);
        assert_true(plain.recall > 0 && plain.ranked_users > 100);
        for (int threads = 1; threads <= 3; threads++) {
            const struct dpmf_run run = run_with(threads);
            struct dpmf_evaluation e;
            assert_int_equal(dpmf_model_evaluate(fixture->model, fixture->test,
                                                 with_history ? fixture->history : NULL, &options,
                                                 &run, &e, NULL),
                             0);
            assert_int_equal(e.ranked_users, plain.ranked_users);
            assert_true(fabs(e.recall - plain.recall) < 1e-12);
            assert_true(fabs(e.ndcg - plain.ndcg) < 1e-12);
            assert_true(fabs(e.map - plain.map) < 1e-12);
            if (threads == 1) first = e;
            assert_memory_equal(&e, &first, sizeof e);
        }
    }
    const struct dpmf_evaluate_options too_many = {.ranking = UINT32_MAX};
    struct dpmf_evaluation e;
    assert_int_equal(
        dpmf_model_evaluate(fixture->model, fixture->test, NULL, &too_many, NULL, &e, NULL),
        DPMF_ERR_USAGE_VALUE);
}

/* ---- all users -------------------------------------------------------------------------------- */

struct collected {
    const struct fixture *fixture;
    const uint8_t *marks;
    const uint8_t *exclude;
    uint64_t order[USERS];
    size_t n, stop_at;
};

static int collect(void *self, uint64_t user, const struct dpmf_scored_item *items, size_t n) {
    struct collected *c = self;
    uint8_t seen[ITEMS / 8 + 1] = {0};
    struct dpmf_scored_item alone[4];
    for (int i = 0; i < ITEMS; i++)
        if (c->marks[user * (ITEMS + 3) + (uint64_t)i] & 2 || c->exclude[i / 8] >> i % 8 & 1)
            seen[i / 8] |= (uint8_t)(1 << i % 8);
    int64_t m = dpmf_model_recommend(c->fixture->model, user, seen, NULL, 4, alone, NULL);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(items[i].item, alone[i].item);
        assert_true(items[i].score == alone[i].score);
    }
    assert_true(c->n < USERS);
    c->order[c->n++] = user;
    return c->n == c->stop_at;
}

static void test_all_users(void **state) {
    struct fixture *fixture = *state;
    static struct collected one, many;
    uint8_t *marks = mark_pairs(fixture, true), exclude[ITEMS / 8 + 1] = {0x81, 3};
    one = many = (struct collected){.fixture = fixture, .marks = marks, .exclude = exclude};
    struct dpmf_run run = run_with(1);
    assert_int_equal(dpmf_model_recommend_all(fixture->model, fixture->history, exclude, NULL, 4,
                                              &run, collect, &one, NULL),
                     0);
    assert_int_equal(one.n, USERS);
    run.threads = 4;
    assert_int_equal(dpmf_model_recommend_all(fixture->model, fixture->history, exclude, NULL, 4,
                                              &run, collect, &many, NULL),
                     0);
    assert_memory_equal(one.order, many.order, sizeof one.order);
    many.n = 0;
    many.stop_at = 7;
    assert_int_equal(dpmf_model_recommend_all(fixture->model, fixture->history, exclude, NULL, 4,
                                              &run, collect, &many, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    free(marks);
}

static void test_history(void **state) {
    struct fixture *fixture = *state;
    struct dpmf_history history;
    const struct dpmf_run run = run_with(2);
    for (int u = 0; u < USERS + 5; u += 301) {
        char id[16];
        size_t length = (size_t)snprintf(id, sizeof id, "u%d", u), n = 0, unknown = 0;
        assert_int_equal(
            dpmf_model_history(fixture->model, fixture->history, id, length, &run, &history, NULL),
            0);
        for (size_t i = 0; i < fixture->history_triples.n; i++) {
            const struct triple *t = &fixture->history_triples.at[i];
            if (t->user_length != length || memcmp(t->user, id, length) != 0) continue;
            uint64_t item = item_of(fixture, t);
            if (item == UINT64_MAX) {
                unknown++;
                continue;
            }
            bool found = false;
            for (size_t j = 0; j < history.n; j++)
                found |=
                    history.ratings[j].item == item && history.ratings[j].rating == (float)t->value;
            assert_true(found);
            n++;
        }
        assert_int_equal(history.n, n);
        assert_int_equal(history.unknown_items, unknown);
        assert_true(history.found == (n + unknown > 0));
        dpmf_history_free(&history);
    }
    assert_int_equal(
        dpmf_model_history(fixture->model, fixture->history, "nobody", 6, &run, &history, NULL), 0);
    assert_false(history.found);
    dpmf_history_free(&history);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_errors), TEST(test_ranking), TEST(test_all_users),
                                       TEST(test_history)};
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
