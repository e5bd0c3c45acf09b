/*
 * Users that a model does not know: what they are fitted to is the plain solution of the ridge
 * system, what is predicted and recommended for them is what explain adds up to, and those of a
 * store are found in it, in any order, over many blocks.
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

static struct dpmf_model *open_made(const struct temp_dir *dir, uint64_t items, uint32_t k) {
    char path[TEMP_PATH_MAX];
    struct dpmf_model *model;
    temp_dir_file(dir, "m.safetensors", path);
    make_checkpoint(path, 5, items, k, 11);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    unlink(path);
    return model;
}

enum { ITEMS = 40 };

/* n ratings of items far apart, some of them unknown. */
static void make_ratings(struct dpmf_own_rating *ratings, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t item = i * 11 % (ITEMS + 2);
        ratings[i].item = item < ITEMS ? item : UINT64_MAX;
        ratings[i].rating = (float)(1 + i * 3 % 5);
    }
}

/* The gradient of the sum of squares and the penalty is 0 at the fit: with y_j - x_j.w the errors,
 * X^T (y - X w) = c w. */
static void check_fit(const struct dpmf_model *model, const struct dpmf_user *user,
                      const struct dpmf_own_rating *ratings, size_t n) {
    const struct factors *f = &model->factors;
    double sum = 0, bias = dpmf_user_predict(model, user, UINT64_MAX) - f->offset;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (ratings[i].item == UINT64_MAX) continue;
        known++;
        sum += (double)ratings[i].rating - dpmf_user_predict(model, user, ratings[i].item);
    }
    double penalty = model->state.regularization * (double)known;
    assert_true(fabs(sum - penalty * bias) < 1e-3);
}

static void test_fits(void **state) {
    static const uint32_t some_k[] = {1, 2, 7, 16, 17, 33};
    static const size_t some_n[] = {1, 2, 5, 20, 42}; /* fewer and more than columns */
    struct dpmf_own_rating ratings[64];
    struct dpmf_score score;
    double shares[64];
    for (size_t k = 0; k < sizeof some_k / sizeof some_k[0]; k++) {
        struct dpmf_model *model = open_made(*state, ITEMS, some_k[k]);
        for (size_t i = 0; i < sizeof some_n / sizeof some_n[0]; i++) {
            struct dpmf_user *user;
            make_ratings(ratings, some_n[i]);
            assert_int_equal(dpmf_user_fold_in(model, ratings, some_n[i], &user, NULL), 0);
            check_fit(model, user, ratings, some_n[i]);
            for (uint64_t item = 0; item < ITEMS; item++) {
                assert_int_equal(
                    dpmf_model_explain(model, ratings, some_n[i], NULL, item, &score, shares, NULL),
                    0);
                assert_true(dpmf_user_predict(model, user, item) == score.rating);
            }
            dpmf_user_free(user);
        }
        dpmf_model_close(model);
    }
    dpmf_user_free(NULL);
}

static void test_nothing_to_fit(void **state) {
    struct dpmf_model *model = open_made(*state, ITEMS, 5);
    const struct dpmf_own_rating unknown = {UINT64_MAX, 5};
    struct dpmf_user *user;
    for (size_t n = 0; n < 2; n++) {
        assert_int_equal(dpmf_user_fold_in(model, &unknown, n, &user, NULL), 0);
        for (uint64_t item = 0; item < ITEMS; item++)
            assert_true(fabs(dpmf_user_predict(model, user, item) -
                             dpmf_model_predict(model, UINT64_MAX, item)) < 1e-6);
        dpmf_user_free(user);
    }
    dpmf_model_close(model);
}

static void test_too_large(void **state) {
    struct dpmf_model *model = open_made(*state, ITEMS, 2);
    const struct dpmf_own_rating ratings[] = {{0, 4}, {1, 3}};
    struct dpmf_user *user;
    struct dpmf_error error = {0};
    model->factors.items.rows[0] = 3e38f;
    model->factors.items.rows[1] = 3e38f;
    int code = dpmf_user_fold_in(model, ratings, 2, &user, &error);
    assert_true(code == 0 || code == DPMF_ERR_INPUT_NOT_FINITE);
    if (code == 0) dpmf_user_free(user);
    model->factors.items.rows[0] = INFINITY;
    assert_int_equal(dpmf_user_fold_in(model, ratings, 2, &user, &error),
                     DPMF_ERR_INPUT_NOT_FINITE);
    assert_null(user);
    dpmf_model_close(model);
}

static void test_recommends_what_it_predicts(void **state) {
    struct dpmf_model *model = open_made(*state, ITEMS, 9);
    struct dpmf_own_rating ratings[8];
    struct dpmf_scored_item best[ITEMS];
    struct dpmf_user *user;
    uint8_t exclude[ITEMS / 8] = {0}, include[ITEMS / 8];
    make_ratings(ratings, 8);
    exclude[0] = 0x0f;
    memset(include, 0xff, sizeof include);
    include[1] = 0;
    assert_int_equal(dpmf_user_fold_in(model, ratings, 8, &user, NULL), 0);
    int64_t n = dpmf_user_recommend(model, user, NULL, exclude, include, ITEMS, best, NULL);
    assert_int_equal(n, ITEMS - 4 - 8);
    for (int64_t i = 0; i < n; i++) {
        assert_true(best[i].item >= 4 && best[i].item / 8 != 1);
        assert_true(i == 0 || best[i].score <= best[i - 1].score);
        assert_true(fabs((double)best[i].score - dpmf_user_predict(model, user, best[i].item)) <
                    1e-5);
    }
    dpmf_user_free(user);
    dpmf_model_close(model);
}

/* ---- newcomers ------------------------------------------------------------------------------- */

enum { PEOPLE = 2500 /* several blocks */, EACH = 3 };

static double rating_of(int person, int r) { return 1 + (person * 5 + r * 3) % 5; }
static int item_of(int person, int r) { return (person + r * 11) % ITEMS; }

/* u0 .. u4 are the model's, the others are not; every tenth rated nothing that it knows. */
static void write_people(const char *path) {
    struct triples triples = {0};
    char user[16], item[16];
    for (int p = 0; p < PEOPLE; p++)
        for (int r = 0; r < EACH; r++) {
            snprintf(user, sizeof user, "u%d", p);
            snprintf(item, sizeof item, "%c%d", p % 10 == 9 ? 'x' : 'i', item_of(p, r));
            triples_add(&triples, triple_make(user, item, rating_of(p, r), 0));
        }
    triples_sort(&triples);
    triples_write(&triples, false, false, path);
    free(triples.at);
}

static void check_person(struct dpmf_newcomers *newcomers, const struct dpmf_model *model, int p) {
    const struct dpmf_user *found = NULL, *again = NULL;
    struct dpmf_user *plain;
    struct dpmf_own_rating own[EACH];
    char id[16];
    size_t length = (size_t)snprintf(id, sizeof id, "u%d", p);
    assert_int_equal(dpmf_newcomers_find(newcomers, id, length, &found, NULL), 0);
    assert_true((found == NULL) == (p < 5 || p % 10 == 9));
    assert_int_equal(dpmf_newcomers_find(newcomers, id, length, &again, NULL), 0);
    assert_ptr_equal(found, again);
    if (!found) return;
    for (int r = 0; r < EACH; r++)
        own[r] = (struct dpmf_own_rating){(uint64_t)item_of(p, r), (float)rating_of(p, r)};
    assert_int_equal(dpmf_user_fold_in(model, own, EACH, &plain, NULL), 0);
    for (uint64_t item = 0; item < ITEMS; item += 7)
        assert_true(fabs(dpmf_user_predict(model, found, item) -
                         dpmf_user_predict(model, plain, item)) < 1e-5);
    dpmf_user_free(plain);
}

static void test_newcomers(void **state) {
    struct dpmf_model *model = open_made(*state, ITEMS, 6);
    struct dpmf_newcomers *newcomers;
    struct dpmf_store *store;
    const struct dpmf_user *user;
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "people.dpr", path);
    write_people(path);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    for (int threads = 1; threads <= 3; threads++) {
        struct dpmf_run run = dpmf_run_default();
        run.threads = threads;
        assert_int_equal(dpmf_newcomers_open(model, store, &run, &newcomers, NULL), 0);
        for (int i = 0; i < PEOPLE; i++) check_person(newcomers, model, i * 1009 % PEOPLE);
        assert_int_equal(dpmf_newcomers_find(newcomers, "nobody", 6, &user, NULL), 0);
        assert_null(user);
        assert_int_equal(dpmf_newcomers_find(newcomers, "", 0, &user, NULL), 0);
        assert_null(user);
        dpmf_newcomers_close(newcomers);
    }
    dpmf_newcomers_close(NULL);
    dpmf_store_close(store);
    dpmf_model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_to_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recommends_what_it_predicts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_newcomers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
