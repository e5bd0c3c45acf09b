/*
 * Evaluation, ranking of many users and histories, against the plain definitions and for any number
 * of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checkpoint_make.h"
#include "dpmf_text.h"
#include "recommend/model.h"
#include "store_triples.h"
#include "temp_dir.h"

enum { USERS = 1500, NEWCOMERS = 5 /* whom the model does not know */, ITEMS = 60, K = 5 };

/* A model of users u0.. and items i0..; stores that hold most of them and some that it does not
 * know. */
struct fixture {
    struct temp_dir dir;
    struct dpmf_model *model;
    struct dpmf_store *test, *history;
    struct triples test_triples, history_triples;
};

static void fill(struct triples *triples, uint64_t seed, unsigned one_in) {
    uint64_t state = seed;
    for (int u = 0; u < USERS + NEWCOMERS; u++)
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

/* ---- errors ---------------------------------------------------------------------------------- */

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

/* ---- ranking --------------------------------------------------------------------------------- */

/* Newcomers come after the model's own users: u1500 is user 1500. */
static uint64_t place_of(const struct fixture *fixture, const struct triple *t) {
    char id[TRIPLE_ID_MAX + 1] = "";
    const uint64_t user = user_of(fixture, t);
    memcpy(id, t->user, t->user_length);
    return user != UINT64_MAX ? user : strtoul(id + 1, NULL, 10);
}

/* For all pairs: 1 in the test set, 2 in the history, by which newcomers are known; without it they
 * are not. Items past the model's are there too. */
static uint8_t *mark_pairs(const struct fixture *fixture, bool with_history) {
    uint8_t *marks = calloc(USERS + NEWCOMERS, ITEMS + 3);
    assert_non_null(marks);
    for (int side = 0; side < 1 + with_history; side++) {
        const struct triples *t = side ? &fixture->history_triples : &fixture->test_triples;
        for (size_t i = 0; i < t->n; i++) {
            const uint64_t user = place_of(fixture, &t->at[i]);
            char id[TRIPLE_ID_MAX + 1] = "";
            memcpy(id, t->at[i].item, t->at[i].item_length);
            if (user < USERS || with_history)
                marks[user * (ITEMS + 3) + strtoul(id + 1, NULL, 10)] |= (uint8_t)(1 << side);
        }
    }
    return marks;
}

/* The ratings of each item in the history, and which fifth of the items it is in: from 1 on, the
 * most popular first. */
struct plain_items {
    uint64_t count[ITEMS];
    int part[ITEMS];
};

static struct plain_items plain_popularity(const struct fixture *fixture) {
    struct plain_items items = {0};
    const struct triples *t = &fixture->history_triples;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t item = item_of(fixture, &t->at[i]);
        if (item != UINT64_MAX) items.count[item]++;
    }
    for (int i = 0; i < ITEMS; i++) {
        int before = 0;
        for (int j = 0; j < ITEMS; j++)
            before +=
                items.count[j] > items.count[i] || (items.count[j] == items.count[i] && j < i);
        items.part[i] = 1 + before * DPMF_POPULARITY_PARTS / ITEMS;
    }
    return items;
}

/* A newcomer as they would be at home, fitted to what the history has of them. */
static struct dpmf_user *fit_newcomer(const struct fixture *fixture, uint64_t place) {
    const struct triples *t = &fixture->history_triples;
    struct dpmf_own_rating ratings[ITEMS];
    struct dpmf_user *user = NULL;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t item = item_of(fixture, &t->at[i]);
        if (item == UINT64_MAX || place_of(fixture, &t->at[i]) != place) continue;
        ratings[n++] = (struct dpmf_own_rating){item, t->at[i].value};
    }
    assert_true(n > 0);
    assert_int_equal(dpmf_user_fold_in(fixture->model, ratings, n, &user, NULL), 0);
    return user;
}

/* All items, best first. */
static void rank_all(const struct fixture *fixture, uint64_t user, struct dpmf_scored_item *all) {
    if (user < USERS) {
        assert_int_equal(
            dpmf_model_recommend(fixture->model, user, NULL, NULL, NULL, ITEMS, all, NULL), ITEMS);
        return;
    }
    struct dpmf_user *newcomer = fit_newcomer(fixture, user);
    assert_int_equal(
        dpmf_user_recommend(fixture->model, newcomer, NULL, NULL, NULL, ITEMS, all, NULL), ITEMS);
    dpmf_user_free(newcomer);
}

/* One part of the items (0: all of them) by the definitions. `list_popularity` and the other are
 * sums over users. */
static struct dpmf_ranking_part plain_part(const struct fixture *fixture, const uint8_t *marks,
                                           const struct plain_items *items, int part, size_t n,
                                           double popularity[2]) {
    struct dpmf_ranking_part p = {0};
    bool used[ITEMS] = {false};
    uint64_t listed = 0, listed_here = 0;
    for (uint64_t user = 0; user < USERS + NEWCOMERS; user++) {
        const uint8_t *mark = marks + user * (ITEMS + 3);
        size_t relevant = 0, relevant_here = 0, rank = 0, hits = 0;
        double wanted_sum = 0, list_sum = 0, dcg = 0, ideal = 0, precision = 0, first = 0;
        for (int i = 0; i < ITEMS + 3; i++) {
            relevant += mark[i] == 1;
            relevant_here += mark[i] == 1 && (part == 0 || (i < ITEMS && items->part[i] == part));
            if (mark[i] == 1 && i < ITEMS) wanted_sum += (double)items->count[i];
        }
        if (relevant == 0) continue;
        struct dpmf_scored_item all[ITEMS];
        rank_all(fixture, user, all);
        for (size_t i = 0; i < ITEMS && rank < n; i++) {
            if (mark[all[i].item] & 2) continue;
            rank++;
            list_sum += (double)items->count[all[i].item];
            if (part != 0 && items->part[all[i].item] != part) continue;
            used[all[i].item] = true;
            listed_here++;
            if (mark[all[i].item] != 1) continue;
            hits++;
            dcg += 1 / log2((double)rank + 1);
            precision += (double)hits / (double)rank;
            if (first == 0) first = 1 / (double)rank;
        }
        listed += rank;
        popularity[0] += rank > 0 ? list_sum / (double)rank : 0;
        popularity[1] += wanted_sum / (double)relevant;
        if (relevant_here == 0) continue;
        const size_t most = relevant_here < n ? relevant_here : n;
        for (size_t r = 1; r <= most; r++) ideal += 1 / log2((double)r + 1);
        p.users++;
        p.wanted += relevant_here;
        p.recall += (double)hits / (double)relevant_here;
        p.recall_capped += (double)hits / (double)most;
        p.precision += (double)hits / (double)n;
        p.ndcg += dcg / ideal;
        p.map += precision / (double)most;
        p.mrr += first;
    }
    for (int i = 0; i < ITEMS; i++) {
        p.items += part == 0 || items->part[i] == part;
        p.coverage += used[i];
    }
    p.coverage /= (double)p.items;
    p.list_share = (double)listed_here / (double)listed;
    double *averages[] = {&p.recall, &p.recall_capped, &p.precision, &p.ndcg, &p.map, &p.mrr};
    for (size_t i = 0; i < sizeof averages / sizeof averages[0]; i++)
        *averages[i] /= (double)p.users;
    return p;
}

static void assert_close(double a, double b) { assert_true(fabs(a - b) < 1e-12); }

static void assert_same_part(const struct dpmf_ranking_part *a, const struct dpmf_ranking_part *b) {
    assert_true(a->items == b->items && a->users == b->users && a->wanted == b->wanted);
    assert_close(a->recall, b->recall);
    assert_close(a->recall_capped, b->recall_capped);
    assert_close(a->precision, b->precision);
    assert_close(a->ndcg, b->ndcg);
    assert_close(a->map, b->map);
    assert_close(a->mrr, b->mrr);
    assert_close(a->coverage, b->coverage);
    assert_close(a->list_share, b->list_share);
}

/* Newcomers of the test set: fitted with a history, and unknown without one. */
static void check_newcomers(const struct fixture *fixture, bool with_history,
                            const struct dpmf_evaluation *e) {
    const struct triples *t = &fixture->test_triples;
    bool is_there[NEWCOMERS] = {false};
    uint64_t n = 0, n_ratings = 0;
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t place = place_of(fixture, &t->at[i]);
        if (place < USERS) continue;
        n += !is_there[place - USERS];
        n_ratings++;
        is_there[place - USERS] = true;
    }
    assert_true(n > 1);
    assert_int_equal(e->fitted_users, with_history ? n : 0);
    assert_int_equal(e->unknown_users, with_history ? 0 : n_ratings);
}

static void check_ranking(const struct fixture *fixture, bool with_history, size_t n,
                          const struct dpmf_evaluation *e) {
    uint8_t *marks = mark_pairs(fixture, with_history);
    const struct plain_items items = plain_popularity(fixture);
    double popularity[2] = {0, 0}, ignored[2];
    struct dpmf_ranking_part part = plain_part(fixture, marks, &items, 0, n, popularity);
    assert_true(part.recall > 0 && part.users > 100);
    assert_same_part(&e->ranking, &part);
    assert_true(e->ranked_users == part.users && e->recall == e->ranking.recall);
    assert_true(e->ndcg == e->ranking.ndcg && e->map == e->ranking.map);
    assert_int_equal(e->has_popularity, with_history);
    if (with_history) assert_close(e->popularity_bias, popularity[0] / popularity[1]);
    for (int p = 0; with_history && p < DPMF_POPULARITY_PARTS; p++) {
        part = plain_part(fixture, marks, &items, p + 1, n, ignored);
        assert_same_part(&e->by_popularity[p], &part);
    }
    free(marks);
}

static void test_ranking(void **state) {
    struct fixture *fixture = *state;
    static const uint32_t some_n[] = {1, 5, 10, 1000};
    for (size_t i = 0; i < 2 * sizeof some_n / sizeof some_n[0]; i++) {
        bool with_history = i % 2;
        const struct dpmf_evaluate_options options = {.size = sizeof options,
                                                      .ranking = some_n[i / 2]};
        struct dpmf_evaluation first = {0};
        for (int threads = 1; threads <= 3; threads++) {
            const struct dpmf_run run = run_with(threads);
            struct dpmf_evaluation e;
            assert_int_equal(dpmf_model_evaluate(fixture->model, fixture->test,
                                                 with_history ? fixture->history : NULL, &options,
                                                 &run, &e, NULL),
                             0);
            if (threads == 1) {
                check_ranking(fixture, with_history, options.ranking, &e);
                check_newcomers(fixture, with_history, &e);
                first = e;
            }
            assert_memory_equal(&e, &first, sizeof e);
        }
    }
    const struct dpmf_evaluate_options too_many = {.size = sizeof too_many, .ranking = UINT32_MAX};
    struct dpmf_evaluation e;
    assert_int_equal(
        dpmf_model_evaluate(fixture->model, fixture->test, NULL, &too_many, NULL, &e, NULL),
        DPMF_ERR_USAGE_VALUE);
}

/* ---- candidates ------------------------------------------------------------------------------ */

static struct dpmf_table_record row_of(const char *const *ids, struct dpmf_field *fields) {
    size_t n = 0;
    for (; ids[n]; n++) fields[n] = (struct dpmf_field){ids[n], strlen(ids[n]), (int64_t)n + 1};
    return (struct dpmf_table_record){.file = "rows", .line = 2, .field = fields, .n = n};
}

/* One row and its wanted item's place by the model's scores; 0: not found. */
static double gain_of(const struct fixture *fixture, const char *const *ids, uint32_t n) {
    struct dpmf_candidates *candidates;
    struct dpmf_candidates_evaluation found;
    struct dpmf_field fields[16];
    const struct dpmf_table_record row = row_of(ids, fields);
    assert_int_equal(dpmf_candidates_new(&candidates, NULL), 0);
    assert_int_equal(dpmf_candidates_add(candidates, &row, NULL), 0);
    assert_int_equal(
        dpmf_model_rank_candidates(fixture->model, candidates, NULL, NULL, n, NULL, &found, NULL),
        0);
    assert_int_equal(found.rows, 1);
    dpmf_candidates_free(candidates);
    assert_true(found.hr == (found.mrr > 0));
    if (found.hr > 0) assert_close(found.ndcg, 1 / log2(1 / found.mrr + 1));
    return found.mrr;
}

static void test_candidate_rows(void **state) {
    const struct fixture *fixture = *state;
    struct dpmf_scored_item all[ITEMS];
    char id[4][16];
    assert_int_equal(dpmf_model_recommend(fixture->model, 7, NULL, NULL, NULL, ITEMS, all, NULL),
                     ITEMS);
    const size_t places[] = {0, 9, 20, 59};
    for (int i = 0; i < 4; i++) {
        size_t length;
        const char *text = dpmf_model_item_id(fixture->model, all[places[i]].item, &length);
        snprintf(id[i], sizeof id[i], "%.*s", (int)length, text);
    }
    size_t length;
    char user[16];
    const char *text = dpmf_model_user_id(fixture->model, 7, &length);
    snprintf(user, sizeof user, "%.*s", (int)length, text);

    assert_close(gain_of(fixture, (const char *[]){user, id[0], id[1], id[2], id[3], NULL}, 10), 1);
    assert_close(gain_of(fixture, (const char *[]){user, id[2], id[1], id[0], id[3], NULL}, 10),
                 1 / 3.0);
    assert_close(gain_of(fixture, (const char *[]){user, id[2], id[1], id[0], id[3], NULL}, 2), 0);
    /* Given twice, the wanted item among them: once. Unknown: behind. */
    assert_close(
        gain_of(fixture, (const char *[]){user, id[2], id[0], id[0], id[2], id[3], "who", NULL}, 5),
        1 / 2.0);
    assert_close(gain_of(fixture, (const char *[]){user, "who", id[3], NULL}, 10), 0);
}

/* Everything has the same score for users whose vectors are 0: the wanted item must not gain by
 * that. */
static void test_candidate_ties(void **state) {
    struct fixture *fixture = *state;
    struct factors *factors = &fixture->model->factors;
    memset(factors->items.biases, 0, ITEMS * sizeof(float));
    assert_close(gain_of(fixture, (const char *[]){"nobody", "i1", "i2", "i3", NULL}, 2), 0);
    assert_close(gain_of(fixture, (const char *[]){"nobody", "i1", "i2", "i3", NULL}, 3), 1 / 3.0);
    factors->items.biases[1] = 1;
    assert_close(gain_of(fixture, (const char *[]){"nobody", "i1", "i2", "i3", NULL}, 1), 1);
}

static void test_candidate_errors(void **state) {
    const struct fixture *fixture = *state;
    struct dpmf_candidates *candidates;
    struct dpmf_candidates_evaluation found;
    struct dpmf_field fields[4];
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_candidates_new(&candidates, NULL), 0);
    assert_int_equal(
        dpmf_model_rank_candidates(fixture->model, candidates, NULL, NULL, 10, NULL, &found, NULL),
        DPMF_ERR_INPUT_EMPTY);
    struct dpmf_table_record row = row_of((const char *[]){"u1", "i1", NULL}, fields);
    assert_int_equal(dpmf_candidates_add(candidates, &row, &error), DPMF_ERR_INPUT_COLUMNS);
    assert_int_equal(error.line, 2);
    row = row_of((const char *[]){"u1", "i1", "", NULL}, fields);
    assert_int_equal(dpmf_candidates_add(candidates, &row, &error), DPMF_ERR_INPUT_ID);
    assert_int_equal(error.column, 3);
    row = row_of((const char *[]){"u1", "i1", "i2", NULL}, fields);
    assert_int_equal(dpmf_candidates_add(candidates, &row, NULL), 0);
    assert_int_equal(
        dpmf_model_rank_candidates(fixture->model, candidates, NULL, NULL, 0, NULL, &found, NULL),
        DPMF_ERR_USAGE_VALUE);
    dpmf_candidates_free(candidates);
    dpmf_candidates_free(NULL);
}

/* ---- all users ------------------------------------------------------------------------------- */

struct collected {
    const struct fixture *fixture;
    const uint8_t *marks;
    const uint8_t *exclude;
    uint64_t order[USERS];
    size_t n, stop_at;
};

/* What one user has rated, out of the history, as a list of one's own has it. */
static int64_t recommend_alone(const struct fixture *fixture, uint64_t user, const uint8_t *seen,
                               struct dpmf_scored_item alone[4]) {
    struct dpmf_history history;
    struct dpmf_user *known = NULL;
    size_t length;
    const char *id = dpmf_model_user_id(fixture->model, user, &length);
    assert_int_equal(
        dpmf_model_history(fixture->model, fixture->history, id, length, NULL, &history, NULL), 0);
    assert_int_equal(
        dpmf_user_known(fixture->model, user, history.ratings, history.n, &known, NULL), 0);
    int64_t n = dpmf_user_recommend(fixture->model, known, NULL, seen, NULL, 4, alone, NULL);
    dpmf_user_free(known);
    dpmf_history_free(&history);
    return n;
}

static int collect(void *self, const struct dpmf_user_list *list) {
    struct collected *c = self;
    const struct dpmf_scored_item *items = list->items;
    uint8_t seen[ITEMS / 8 + 1] = {0};
    struct dpmf_scored_item alone[4];
    for (int i = 0; i < ITEMS; i++)
        if (c->marks[list->user * (ITEMS + 3) + (uint64_t)i] & 2 || c->exclude[i / 8] >> i % 8 & 1)
            seen[i / 8] |= (uint8_t)(1 << i % 8);
    int64_t m = recommend_alone(c->fixture, list->user, seen, alone);
    assert_int_equal(list->n, m);
    for (size_t i = 0; i < list->n; i++) {
        assert_int_equal(items[i].item, alone[i].item);
        assert_true(items[i].score == alone[i].score);
        assert_true(list->ratings[i] ==
                    dpmf_model_predict(c->fixture->model, list->user, items[i].item));
    }
    assert_true(c->n < USERS);
    c->order[c->n++] = list->user;
    return c->n == c->stop_at;
}

static void test_all_users(void **state) {
    struct fixture *fixture = *state;
    static struct collected one, many;
    uint8_t *marks = mark_pairs(fixture, true), exclude[ITEMS / 8 + 1] = {0x81, 3};
    one = many = (struct collected){.fixture = fixture, .marks = marks, .exclude = exclude};
    struct dpmf_run run = run_with(1);
    assert_int_equal(dpmf_model_recommend_all(fixture->model, fixture->history, NULL, exclude, NULL,
                                              4, &run, collect, &one, NULL),
                     0);
    assert_int_equal(one.n, USERS);
    run.threads = 4;
    assert_int_equal(dpmf_model_recommend_all(fixture->model, fixture->history, NULL, exclude, NULL,
                                              4, &run, collect, &many, NULL),
                     0);
    assert_memory_equal(one.order, many.order, sizeof one.order);
    many.n = 0;
    many.stop_at = 7;
    assert_int_equal(dpmf_model_recommend_all(fixture->model, fixture->history, NULL, exclude, NULL,
                                              4, &run, collect, &many, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    free(marks);
}

static void test_history(void **state) {
    struct fixture *fixture = *state;
    struct dpmf_history history;
    const struct dpmf_run run = run_with(2);
    for (int u = 0; u < USERS + NEWCOMERS; u += 301) {
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
    const struct CMUnitTest tests[] = {TEST(test_errors),          TEST(test_ranking),
                                       TEST(test_all_users),       TEST(test_history),
                                       TEST(test_candidate_rows),  TEST(test_candidate_ties),
                                       TEST(test_candidate_errors)};
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
