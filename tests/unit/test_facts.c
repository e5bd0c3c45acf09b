/*
 * Years and kinds of items in scores: taste gains what facts.h says, computed anew here from whole
 * columns in long double by Gauss's elimination; parts and shares add up; lists are in the order of
 * scores; what says nothing changes nothing; and what a model has no use for is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_make.h"
#include "recommend/user.h"

enum { ITEMS = 500, K = 6, KINDS = 9, RATINGS = 14, KNOTS = 24, WIDTH = KNOTS + KINDS };

static struct {
    uint16_t years[ITEMS], kinds[3 * ITEMS];
    uint64_t start[ITEMS + 1];
} known;

/* Years from 1880, some of them unknown; 0 to 2 kinds of the first seven; kind 7 of two items
 * alone, kind 8 of none. */
static struct dpmf_item_facts some_facts(void) {
    uint64_t random = 4, at = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        known.years[i] = (uint16_t)(i % 9 == 0 ? 0 : 1880 + make_random(&random) % 121);
        for (uint64_t kind = 0; kind < i % 3; kind++)
            known.kinds[at++] = (uint16_t)((make_random(&random) % 3) + 3 * kind);
        if (i == 20 || i == 40) known.kinds[at++] = 7;
        known.start[i + 1] = at;
    }
    return (struct dpmf_item_facts){
        .years = known.years, .kind_start = known.start, .kinds = known.kinds, .n_kinds = KINDS};
}

static int set_up(void **state) {
    struct temp_dir *dir = malloc(sizeof *dir);
    if (!dir) return -1;
    temp_dir_make(dir);
    *state = dir;
    return 0;
}

static int tear_down(void **state) {
    temp_dir_remove(*state);
    free(*state);
    return 0;
}

static struct dpmf_model *open_release(const struct temp_dir *dir, uint32_t k, bool counted) {
    char path[TEMP_PATH_MAX];
    struct dpmf_model *model;
    temp_dir_file(dir, "r.safetensors", path);
    client_write_release(path, ITEMS, k, 0.6, 0.4, counted, 9);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    unlink(path);
    return model;
}

static void some_ratings(struct dpmf_own_rating ratings[RATINGS]) {
    for (size_t i = 0; i < RATINGS; i++)
        ratings[i] = (struct dpmf_own_rating){(7 + i * 13) % ITEMS, (double)(1 + i * i % 5)};
}

/* ---- the plain way --------------------------------------------------------------------------- */

static long double f[ITEMS][WIDTH], D[WIDTH][WIDTH];

/* X := A^-1 X for a definite A, n x n; X has `columns`. Both are rows after each other. */
static void solve(long double *A, size_t n, long double *X, size_t columns) {
    for (size_t c = 0; c < n; c++)
        for (size_t r = 0; r < n; r++) {
            if (r == c) continue;
            const long double by = A[r * n + c] / A[c * n + c];
            for (size_t b = c; b < n; b++) A[r * n + b] -= by * A[c * n + b];
            for (size_t b = 0; b < columns; b++) X[r * columns + b] -= by * X[c * columns + b];
        }
    for (size_t c = 0; c < n; c++)
        for (size_t b = 0; b < columns; b++) X[c * columns + b] /= A[c * n + c];
}

static long double share_of(const struct dpmf_model *model, uint64_t item) {
    const float *counts = model->factors.item_ids.counts;
    long double total = 0;
    for (uint64_t i = 0; i < ITEMS; i++) total += (long double)counts[i];
    return (long double)counts[item] / total;
}

static bool has_kind(uint64_t item, uint64_t kind) {
    for (uint64_t i = known.start[item]; i < known.start[item + 1]; i++)
        if (known.kinds[i] == kind) return true;
    return false;
}

/* Kind 7 and what only it is of are as if unknown: it is of too few items. */
static bool is_known(uint64_t item, size_t column) {
    if (column < KNOTS) return known.years[item] > 0;
    for (uint64_t kind = 0; kind < 7; kind++)
        if (has_kind(item, kind)) return true;
    return false;
}

static long double raw(uint64_t item, size_t column) {
    const long double age = fminl(2000 - known.years[item], 115);
    if (column < KNOTS) return fmaxl(0, 1 - fabsl(age - 5 * (long double)column) / 10);
    return column - KNOTS < 7 && has_kind(item, column - KNOTS) ? 1 : 0;
}

static void plain_columns(const struct dpmf_model *model) {
    long double variance[2] = {0, 0}, known_mass[2] = {0, 0};
    for (size_t c = 0; c < WIDTH; c++) {
        long double mean = 0, mass = 0;
        for (uint64_t i = 0; i < ITEMS; i++) {
            if (!is_known(i, c)) continue;
            mean += share_of(model, i) * raw(i, c);
            mass += share_of(model, i);
        }
        for (uint64_t i = 0; i < ITEMS; i++) {
            f[i][c] = is_known(i, c) ? raw(i, c) - mean / mass : 0;
            variance[c >= KNOTS] += share_of(model, i) * f[i][c] * f[i][c];
        }
        known_mass[c >= KNOTS] = mass;
    }
    for (uint64_t i = 0; i < ITEMS; i++)
        for (size_t c = 0; c < WIDTH; c++)
            f[i][c] *= known_mass[c >= KNOTS] * sqrtl((c < KNOTS ? 2 : 1) / variance[c >= KNOTS]);
}

static long double centred(const struct dpmf_model *model, uint64_t item, size_t c) {
    return (long double)model_item_row(model, item)[c] - (long double)model->taste.mean[c];
}

/* f := d, and its covariance. */
static void plain_rest(const struct dpmf_model *model) {
    long double C[K * K] = {0}, B[K * WIDTH] = {0}, trace = 0;
    for (uint64_t i = 0; i < ITEMS; i++)
        for (size_t a = 0; a < K; a++) {
            const long double y = share_of(model, i) * centred(model, i, a);
            for (size_t b = 0; b < K; b++) C[a * K + b] += y * centred(model, i, b);
            for (size_t c = 0; c < WIDTH; c++) B[a * WIDTH + c] += y * f[i][c];
        }
    for (size_t a = 0; a < K; a++) trace += C[a * K + a];
    for (size_t a = 0; a < K; a++) C[a * K + a] += 1e-6L * trace / K;
    solve(C, K, B, WIDTH);
    memset(D, 0, sizeof D);
    for (uint64_t i = 0; i < ITEMS; i++) {
        for (size_t c = 0; c < WIDTH; c++)
            for (size_t a = 0; a < K; a++) f[i][c] -= B[a * WIDTH + c] * centred(model, i, a);
        for (size_t a = 0; a < WIDTH; a++)
            for (size_t b = 0; b < WIDTH; b++) D[a][b] += share_of(model, i) * f[i][a] * f[i][b];
    }
}

static void plain_person(const struct dpmf_own_rating *ratings, long double q[WIDTH]) {
    static long double A[WIDTH * WIDTH];
    long double W = 0;
    memset(q, 0, WIDTH * sizeof *q);
    for (size_t h = 0; h < RATINGS; h++) {
        const long double weight = fminl(1, fmaxl(-0.5L, (long double)ratings[h].rating - 1.5L));
        W += fabsl(weight);
        for (size_t c = 0; c < WIDTH; c++) q[c] += weight * f[ratings[h].item][c];
    }
    for (size_t a = 0; a < WIDTH; a++)
        for (size_t b = 0; b < WIDTH; b++) A[a * WIDTH + b] = W * D[a][b] + (a == b);
    solve(A, WIDTH, q, 1);
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* Where years are known of one item in `of` alone, and kinds of all. */
static void check_scores(const struct temp_dir *dir, uint64_t of) {
    struct dpmf_model *model = open_release(dir, K, true);
    const struct dpmf_item_facts facts = some_facts();
    struct dpmf_own_rating ratings[RATINGS];
    struct dpmf_user *before, *user;
    struct dpmf_score old, now;
    long double q[WIDTH], largest = 0;
    some_ratings(ratings);
    for (uint64_t i = 0; i < ITEMS; i++)
        if (i % of != 0) known.years[i] = 0;
    known.years[of] = 2000; /* newest, and of so few none is stray */
    known.years[2 * of] = 2000;
    known.years[3 * of] = 1880;
    assert_int_equal(dpmf_user_fold_in(model, ratings, RATINGS, &before, NULL), 0);
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), 0);
    assert_int_equal(model->facts.width, KNOTS + 6);
    assert_int_equal(dpmf_user_fold_in(model, ratings, RATINGS, &user, NULL), 0);
    plain_columns(model);
    plain_rest(model);
    plain_person(ratings, q);
    const struct dpmf_order order = {.taste = 0.8};
    for (uint64_t item = 0; item < ITEMS; item++) {
        long double gain = 0;
        for (size_t c = 0; c < WIDTH; c++) gain += q[c] * f[item][c];
        assert_int_equal(dpmf_user_score(model, before, &order, item, &old, NULL), 0);
        assert_int_equal(dpmf_user_score(model, user, &order, item, &now, NULL), 0);
        assert_true(fabsl((long double)now.taste - (long double)old.taste - 1.6L * gain) < 1e-7L);
        assert_true(fabs(now.crowd + now.habit + now.taste - now.total) < 1e-9);
        assert_true(now.crowd == old.crowd && now.habit == old.habit && now.rating == old.rating);
        largest = fmaxl(largest, fabsl(gain));
    }
    assert_true(largest > 0.3L && largest < 3);
    dpmf_user_free(before);
    dpmf_user_free(user);
    dpmf_model_close(model);
}

static void test_scores(void **state) {
    check_scores(*state, 1);
    check_scores(*state, 25); /* nothing is worth more because others have no year */
}

/* One year in the far future leaves all other ages as they are. */
static void test_stray_year(void **state) {
    struct dpmf_own_rating ratings[RATINGS];
    static struct dpmf_scored_item lists[2][ITEMS];
    some_ratings(ratings);
    for (int stray = 0; stray < 2; stray++) {
        struct dpmf_model *model = open_release(*state, K, true);
        const struct dpmf_item_facts facts = some_facts();
        struct dpmf_user *user;
        known.years[1] = stray ? 2199 : 2000;
        known.years[2] = 2000;
        assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, ratings, RATINGS, &user, NULL), 0);
        assert_int_equal(
            dpmf_user_recommend(model, user, NULL, NULL, NULL, ITEMS, lists[stray], NULL), ITEMS);
        dpmf_user_free(user);
        dpmf_model_close(model);
    }
    assert_memory_equal(lists[0], lists[1], sizeof lists[0]);
}

/* Shares add up, of someone who is fitted at once and of someone who rates on; the list is the best
 * by the scores. */
static void test_shares_and_lists(void **state) {
    struct dpmf_model *model = open_release(*state, K, true);
    const struct dpmf_item_facts facts = some_facts();
    struct dpmf_own_rating ratings[RATINGS];
    static struct dpmf_scored_item list[ITEMS];
    double shares[RATINGS];
    struct dpmf_user *user;
    struct dpmf_score score;
    some_ratings(ratings);
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), 0);
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    for (size_t i = 0; i < RATINGS; i++)
        assert_int_equal(dpmf_user_rate(model, user, ratings[i].item, ratings[i].rating, NULL), 0);
    assert_int_equal(dpmf_user_recommend(model, user, NULL, NULL, NULL, ITEMS, list, NULL), ITEMS);
    for (size_t i = 0; i < ITEMS; i++) {
        double sum = 0;
        assert_int_equal(dpmf_user_explain(model, user, NULL, list[i].item, &score, shares, NULL),
                         0);
        assert_true(score.total == list[i].score);
        assert_true(i == 0 || list[i].score <= list[i - 1].score);
        for (size_t h = 0; h < RATINGS; h++) sum += shares[h];
        assert_true(fabs(sum - score.taste) < 1e-9);
    }
    dpmf_user_free(user);
    dpmf_model_close(model);
}

/* Without ratings, and with facts that do not differ, lists are as before. */
static void test_nothing_to_tell(void **state) {
    struct dpmf_model *model = open_release(*state, K, true);
    struct dpmf_item_facts facts = some_facts();
    static struct dpmf_scored_item before[ITEMS], after[ITEMS];
    struct dpmf_user *user;
    for (size_t i = 0; i < ITEMS; i++) known.years[i] = 1999;
    facts.n_kinds = 0;
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), 0);
    assert_int_equal(model->facts.width, 0);
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    assert_int_equal(dpmf_user_recommend(model, user, NULL, NULL, NULL, ITEMS, before, NULL),
                     ITEMS);
    dpmf_user_free(user);
    facts = some_facts();
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), 0);
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    assert_int_equal(dpmf_user_recommend(model, user, NULL, NULL, NULL, ITEMS, after, NULL), ITEMS);
    assert_memory_equal(before, after, sizeof after);
    dpmf_user_free(user);
    dpmf_model_close(model);
}

static void test_refused(void **state) {
    struct dpmf_item_facts facts = some_facts();
    struct dpmf_model *model = open_release(*state, K, false);
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), DPMF_ERR_MODEL_KIND);
    dpmf_model_close(model);
    model = open_release(*state, 65, true);
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), DPMF_ERR_MODEL_KIND);
    dpmf_model_close(model);
    model = open_release(*state, K, true);
    facts.spare[3] = 1;
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), DPMF_ERR_USAGE_STRUCT);
    facts = some_facts();
    facts.n_kinds = 3;
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), DPMF_ERR_USAGE_VALUE);
    facts = some_facts();
    known.start[5] = known.start[6] + 1;
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), DPMF_ERR_USAGE_VALUE);
    facts = some_facts();
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), 0);
    assert_int_equal(dpmf_model_set_facts(model, &facts, NULL), DPMF_ERR_USAGE_VALUE);
    dpmf_model_close(model);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_scores), TEST(test_stray_year),
                                       TEST(test_shares_and_lists), TEST(test_nothing_to_tell),
                                       TEST(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
