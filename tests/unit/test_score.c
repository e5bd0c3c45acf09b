/*
 * What lists are ordered by: crowd, habit and taste are what score.h and taste.h say, computed anew
 * here in long double by Gauss's elimination; the list is the best by that score, whatever the dial
 * and the kernels; shares add up to taste; counts come back from files; and orders that a model
 * does not have are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_make.h"
#include "recommend/user.h"
#include "whole_checkpoint.h"

enum { ITEMS = 2203, RATINGS = 24, WIDTH_MAX = 160, BLOCK = 64 };

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

static void some_ratings(struct dpmf_own_rating *ratings, size_t n, uint64_t items,
                         uint64_t *random) {
    for (size_t i = 0; i < n; i++)
        ratings[i] =
            (struct dpmf_own_rating){(7 + i * 13) % items, (double)(1 + make_random(random) % 5)};
}

/* ---- the plain way --------------------------------------------------------------------------- */

/* x := A^-1 x for a definite A, n x n, which is destroyed. */
static void solve(long double *A, size_t n, long double *x) {
    for (size_t c = 0; c < n; c++)
        for (size_t r = 0; r < n; r++) {
            if (r == c) continue;
            const long double by = A[r * n + c] / A[c * n + c];
            for (size_t b = c; b < n; b++) A[r * n + b] -= by * A[c * n + b];
            x[r] -= by * x[c];
        }
    for (size_t c = 0; c < n; c++) x[c] /= A[c * n + c];
}

struct plain {
    long double mean[WIDTH_MAX], p[WIDTH_MAX], w[WIDTH_MAX + 1];
    long double average; /* average of the counts */
};

static long double plain_weight(double rating) { /* on the scale of 1 to 5 */
    const long double weight = (long double)rating - 1.5L;
    return weight > 1 ? 1 : weight < -0.5L ? -0.5L : weight;
}

static void plain_block(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                        size_t n_ratings, size_t first, size_t n, struct plain *plain) {
    static long double A[BLOCK * BLOCK];
    long double trace = 0, W = 0, total = plain->average * (long double)model->factors.items.n;
    memset(A, 0, sizeof A);
    for (uint64_t i = 0; i < model->factors.items.n; i++) {
        const float *v = model_item_row(model, i);
        const long double share = (long double)model->factors.item_ids.counts[i] / total;
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                A[a * n + b] += share * ((long double)v[first + a] - plain->mean[first + a]) *
                                ((long double)v[first + b] - plain->mean[first + b]);
    }
    for (size_t h = 0; h < n_ratings; h++) W += fabsl(plain_weight(ratings[h].rating));
    for (size_t a = 0; a < n; a++) trace += A[a * n + a];
    for (size_t i = 0; i < n * n; i++) A[i] *= W;
    for (size_t a = 0; a < n; a++) A[a * n + a] += trace / 2;
    for (size_t h = 0; h < n_ratings; h++)
        for (size_t a = 0; a < n; a++)
            plain->p[first + a] += plain_weight(ratings[h].rating) *
                                   ((long double)model_item_row(model, ratings[h].item)[first + a] -
                                    plain->mean[first + a]);
    solve(A, n, plain->p + first);
}

static void plain_fit(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                      size_t n, struct plain *plain) {
    const struct factors *factors = &model->factors;
    const size_t k = factors->k, blocks = (k + BLOCK - 1) / BLOCK;
    *plain = (struct plain){.average = 0};
    for (uint64_t i = 0; i < factors->items.n; i++)
        plain->average += (long double)factors->item_ids.counts[i] / (long double)factors->items.n;
    for (uint64_t i = 0; i < factors->items.n; i++)
        for (size_t c = 0; c < k; c++)
            plain->mean[c] += (long double)factors->item_ids.counts[i] /
                              (plain->average * (long double)factors->items.n) *
                              (long double)model_item_row(model, i)[c];
    for (size_t first = 0; first < k; first += BLOCK)
        plain_block(model, ratings, n, first, k - first < BLOCK ? k - first : BLOCK, plain);
    for (size_t c = 0; c < k; c++) plain->p[c] /= (long double)blocks;
    client_dense_fit(model, ratings, n, plain->w);
}

static struct dpmf_score plain_score(const struct dpmf_model *model, const struct plain *plain,
                                     double dial, uint64_t item) {
    const float *v = model_item_row(model, item);
    long double taste = 0, habit = 0.3L * plain->w[0];
    for (size_t c = 0; c < model->factors.k; c++) {
        taste += (plain->p[c] + 0.3L * plain->w[c + 1]) * ((long double)v[c] - plain->mean[c]);
        habit += 0.3L * plain->w[c + 1] * plain->mean[c];
    }
    const long double crowd =
        logl((long double)model->factors.item_ids.counts[item] / plain->average) +
        0.3L * (long double)model->factors.items.biases[item];
    taste *= 2 * (long double)dial;
    return (struct dpmf_score){.total = (double)(crowd + habit + taste),
                               .crowd = (double)crowd,
                               .habit = (double)habit,
                               .taste = (double)taste};
}

/* ---- scores ---------------------------------------------------------------------------------- */

static bool near(double a, double b) { return fabs(a - b) < 1e-6; } /* crowd is kept as a float */

static void check_scores(const struct dpmf_model *model, const struct dpmf_user *user,
                         const struct plain *plain, double dial) {
    const struct dpmf_order order = {.taste = dial};
    static struct dpmf_scored_item best[ITEMS];
    struct dpmf_score score, last = {0};
    int64_t n = dpmf_user_recommend(model, user, &order, NULL, NULL, ITEMS, best, NULL);
    assert_int_equal(n, model->factors.items.n);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t item = best[i].item;
        assert_int_equal(dpmf_user_score(model, user, &order, item, &score, NULL), 0);
        const struct dpmf_score expected = plain_score(model, plain, dial, item);
        assert_true(near(score.total, expected.total) && near(score.crowd, expected.crowd));
        assert_true(near(score.habit, expected.habit) && near(score.taste, expected.taste));
        assert_true(score.total == best[i].score);
        assert_true(score.rating == dpmf_user_predict(model, user, item));
        assert_true(i == 0 || last.total > score.total ||
                    (last.total == score.total && best[i - 1].item < item));
        last = score;
    }
}

/* The first few of a list are the first few of the whole list. */
static void check_short(const struct dpmf_model *model, const struct dpmf_user *user, double dial) {
    const struct dpmf_order order = {.taste = dial};
    static struct dpmf_scored_item all[ITEMS], some[20];
    assert_int_equal(dpmf_user_recommend(model, user, &order, NULL, NULL, ITEMS, all, NULL), ITEMS);
    assert_int_equal(dpmf_user_recommend(model, user, &order, NULL, NULL, 20, some, NULL), 20);
    for (size_t i = 0; i < 20; i++)
        assert_true(all[i].item == some[i].item && all[i].score == some[i].score);
}

static void test_scores(void **state) {
    static const uint32_t some_k[] = {0, 1, 5, 64, 70, 130};
    static struct plain plain;
    for (size_t i = 0; i < sizeof some_k / sizeof some_k[0]; i++) {
        struct dpmf_model *model = client_open_counted(*state, ITEMS, some_k[i], 3 + i);
        struct dpmf_own_rating ratings[RATINGS];
        uint64_t random = i;
        some_ratings(ratings, RATINGS, ITEMS, &random);
        for (size_t n = 0; n <= RATINGS; n += RATINGS / 2) {
            struct dpmf_user *user;
            assert_int_equal(dpmf_user_fold_in(model, ratings, n, &user, NULL), 0);
            plain_fit(model, ratings, n, &plain);
            check_scores(model, user, &plain, 0.5);
            check_scores(model, user, &plain, 0);
            check_scores(model, user, &plain, 1);
            check_short(model, user, 0.5);
            check_short(model, user, 1);
            dpmf_user_free(user);
        }
        dpmf_model_close(model);
    }
}

/* A user who rates one by one, and changes their mind, has the scores of one who is fitted at
 * once. */
static void test_rating_on(void **state) {
    struct dpmf_model *model = client_open_counted(*state, ITEMS, 33, 5);
    struct dpmf_own_rating ratings[RATINGS];
    struct dpmf_user *one, *all;
    struct dpmf_score a, b;
    uint64_t random = 4;
    some_ratings(ratings, RATINGS, ITEMS, &random);
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &one, NULL), 0);
    for (size_t i = 0; i < RATINGS; i++) {
        assert_int_equal(dpmf_user_rate(model, one, ratings[i].item, 3, NULL), 0);
        assert_int_equal(dpmf_user_rate(model, one, ITEMS - 1, 5, NULL), 0);
        assert_int_equal(dpmf_user_rate(model, one, ratings[i].item, ratings[i].rating, NULL), 0);
        assert_int_equal(dpmf_user_rate(model, one, ITEMS - 1, NAN, NULL), 0);
    }
    assert_int_equal(dpmf_user_fold_in(model, ratings, RATINGS, &all, NULL), 0);
    for (uint64_t item = 0; item < ITEMS; item++) {
        assert_int_equal(dpmf_user_score(model, one, NULL, item, &a, NULL), 0);
        assert_int_equal(dpmf_user_score(model, all, NULL, item, &b, NULL), 0);
        assert_true(fabs(a.total - b.total) < 1e-9 && fabs(a.taste - b.taste) < 1e-9);
    }
    dpmf_user_free(one);
    dpmf_user_free(all);
    dpmf_model_close(model);
}

/* The same list and the same scores, bit for bit, by every set of kernels. */
static void test_kernels_agree(void **state) {
    static struct dpmf_scored_item first[50], best[50];
    char path[TEMP_PATH_MAX];
    struct dpmf_own_rating ratings[RATINGS];
    uint64_t random = 1;
    size_t met = 0;
    temp_dir_file(*state, "r.safetensors", path);
    client_write_release(path, ITEMS, 40, 0.6, 0.4, true, 9);
    some_ratings(ratings, RATINGS, ITEMS, &random);
    for (size_t i = 0; kernel_set_at(i); i++) {
        struct dpmf_model *model;
        struct dpmf_user *user;
        if (!kernel_set_at(i)->is_supported()) continue;
        setenv("DPMF_KERNELS", kernel_set_at(i)->name, 1);
        assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, ratings, RATINGS, &user, NULL), 0);
        assert_int_equal(dpmf_user_recommend(model, user, NULL, NULL, NULL, 50, best, NULL), 50);
        if (met++ == 0) memcpy(first, best, sizeof first);
        for (size_t j = 0; j < 50; j++)
            assert_true(first[j].item == best[j].item && first[j].score == best[j].score);
        dpmf_user_free(user);
        dpmf_model_close(model);
    }
    unsetenv("DPMF_KERNELS");
    assert_true(met > 0);
}

/* ---- reasons --------------------------------------------------------------------------------- */

static void check_shares(const struct dpmf_model *model, const struct dpmf_user *user,
                         const struct dpmf_order *order) {
    const struct dpmf_own_rating *ratings;
    const size_t n = dpmf_user_ratings(user, &ratings);
    double shares[RATINGS], plain[RATINGS];
    struct dpmf_score score, again;
    for (uint64_t item = 0; item < model->factors.items.n; item += 31) {
        double sum = 0;
        assert_int_equal(dpmf_user_explain(model, user, order, item, &score, shares, NULL), 0);
        assert_int_equal(dpmf_model_explain(model, ratings, n, order, item, &again, plain, NULL),
                         0);
        for (size_t i = 0; i < n; i++) {
            sum += shares[i];
            assert_true(fabs(shares[i] - plain[i]) < 1e-9);
        }
        assert_true(fabs(sum - score.taste) < 1e-9);
        assert_true(fabs(score.crowd + score.habit + score.taste - score.total) < 1e-9);
        assert_true(fabs(again.total - score.total) < 1e-9);
    }
}

static void test_shares(void **state) {
    static const uint32_t some_k[] = {0, 3, 20, 100, 300};
    const struct dpmf_order orders[] = {
        {.taste = 0.5}, {.taste = 1}, {.taste = 0}, {.by_rating = true}};
    for (size_t i = 0; i < sizeof some_k / sizeof some_k[0]; i++) {
        struct dpmf_model *model = client_open_counted(*state, 400, some_k[i], 8);
        struct dpmf_own_rating ratings[RATINGS];
        struct dpmf_user *user;
        uint64_t random = i;
        some_ratings(ratings, RATINGS, 400, &random);
        assert_int_equal(dpmf_user_fold_in(model, ratings, RATINGS, &user, NULL), 0);
        for (size_t o = 0; o < 4; o++) check_shares(model, user, &orders[o]);
        dpmf_user_free(user);
        dpmf_model_close(model);
    }
}

/* What is liked pulls towards it, what is rated lowest pushes away; someone without ratings has no
 * taste. */
static void test_reason(void **state) {
    struct dpmf_model *model = client_open_counted(*state, 300, 8, 2);
    struct dpmf_own_rating like = {5, 5}, dislike = {5, 1};
    struct dpmf_user *liker, *hater, *anyone;
    struct dpmf_score score;
    assert_int_equal(dpmf_user_fold_in(model, &like, 1, &liker, NULL), 0);
    assert_int_equal(dpmf_user_fold_in(model, &dislike, 1, &hater, NULL), 0);
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &anyone, NULL), 0);
    const struct dpmf_order mine = {.taste = 1};
    assert_int_equal(dpmf_user_score(model, liker, &mine, 5, &score, NULL), 0);
    assert_true(score.taste > 0.3);
    assert_int_equal(score.reason, DPMF_REASON_TASTE);
    assert_int_equal(dpmf_user_score(model, hater, &mine, 5, &score, NULL), 0);
    assert_true(score.taste < 0);
    for (uint64_t item = 0; item < 300; item++) {
        assert_int_equal(dpmf_user_score(model, anyone, NULL, item, &score, NULL), 0);
        assert_true(score.taste == 0 && score.habit == 0 && score.total == score.crowd);
        assert_int_equal(score.reason, score.crowd > 0.3 ? DPMF_REASON_CROWD : DPMF_REASON_NEITHER);
    }
    assert_int_equal(dpmf_user_score(model, anyone, NULL, UINT64_MAX, &score, NULL), 0);
    assert_true(score.total == 0);
    dpmf_user_free(liker);
    dpmf_user_free(hater);
    dpmf_user_free(anyone);
    dpmf_model_close(model);
}

/* ---- users of the model ---------------------------------------------------------------------- */

static struct dpmf_model *open_checkpoint(const struct temp_dir *dir, bool counted, bool ranks) {
    char path[TEMP_PATH_MAX];
    struct factors factors;
    struct dpmf_model *model;
    struct checkpoint_state run = make_state();
    temp_dir_file(dir, "c.safetensors", path);
    make_factors(&factors, 7, 200, 6, 5);
    if (counted) {
        factors.item_ids.counts = calloc(200, sizeof(float));
        assert_non_null(factors.item_ids.counts);
        for (size_t i = 0; i < 200; i++) factors.item_ids.counts[i] = (float)(1 + i % 17);
    }
    if (ranks) {
        run.ranks = true;
        run.unobserved = 0.1;
        run.exponent = 1;
        run.regularization = 0.1;
        factors.offset = 0;
        for (size_t i = 0; i < 200; i++) factors.items.biases[i] = 0;
        for (size_t i = 0; i < 7; i++) factors.users.biases[i] = 0;
    }
    assert_int_equal(whole_checkpoint_write(path, &factors, &run, "{}", NULL), 0);
    factors_free(&factors);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    unlink(path);
    return model;
}

static void test_known(void **state) {
    struct dpmf_model *model = open_checkpoint(*state, true, false);
    const float *counts = dpmf_model_item_counts(model);
    struct dpmf_own_rating ratings[] = {{3, 5}, {9, 4}, {50, 1}};
    struct dpmf_user *user = NULL;
    struct dpmf_score score;
    double shares[3];
    assert_non_null(counts);
    for (size_t i = 0; i < 200; i++) assert_true(counts[i] == (float)(1 + i % 17));
    assert_int_equal(dpmf_user_known(model, 7, ratings, 3, &user, NULL), DPMF_ERR_MODEL_UNKNOWN_ID);
    assert_null(user);
    assert_int_equal(dpmf_user_known(model, 4, ratings, 3, &user, NULL), 0);
    for (uint64_t item = 0; item < 200; item++) {
        double sum = 0;
        assert_true(dpmf_user_predict(model, user, item) == dpmf_model_predict(model, 4, item));
        assert_int_equal(dpmf_user_explain(model, user, NULL, item, &score, shares, NULL), 0);
        assert_true(score.rating == dpmf_model_predict(model, 4, item));
        for (size_t i = 0; i < 3; i++) sum += shares[i];
        for (size_t c = 0; c < 6; c++) /* the vector's part is no rating's */
            sum += 0.3 * user->vector[c] *
                   ((double)model_item_row(model, item)[c] - model->taste.mean[c]);
        assert_true(fabs(sum - score.taste) < 1e-9);
    }
    dpmf_user_free(user);

    /* Without a history the vector is all there is, and counts in full. */
    struct dpmf_scored_item best[200], same[200];
    assert_int_equal(dpmf_model_recommend(model, 4, NULL, NULL, NULL, 200, best, NULL), 200);
    assert_int_equal(dpmf_user_known(model, 4, NULL, 0, &user, NULL), 0);
    assert_int_equal(dpmf_user_recommend(model, user, NULL, NULL, NULL, 200, same, NULL), 200);
    for (size_t i = 0; i < 200; i++) {
        const uint64_t item = best[i].item;
        double expected = (double)model->crowd[item] + 0.3 * dpmf_user_bias(user);
        for (size_t c = 0; c < 6; c++)
            expected += user->vector[c] *
                        ((double)model_item_row(model, item)[c] - 0.7 * model->taste.mean[c]);
        assert_true(same[i].item == item && same[i].score == best[i].score);
        assert_true(fabs(best[i].score - expected) < 1e-9);
    }
    dpmf_user_free(user);
    dpmf_model_close(model);
}

/* The crowd of a model that ranks is its average user; in the middle of the dial scores are u.v. */
static void test_ranks(void **state) {
    struct dpmf_model *model = open_checkpoint(*state, false, true);
    const struct dpmf_order crowd = {.taste = 0}, mine = {.taste = 1}, rating = {.by_rating = true};
    struct dpmf_scored_item best[200];
    struct dpmf_error error = {0};
    for (uint64_t user = 0; user < 7; user++) {
        assert_int_equal(dpmf_model_recommend(model, user, NULL, NULL, NULL, 200, best, NULL), 200);
        for (size_t i = 0; i < 200; i++)
            assert_true(best[i].score == dpmf_model_predict(model, user, best[i].item));
        for (int dial = 0; dial < 2; dial++) {
            assert_int_equal(dpmf_model_recommend(model, user, dial ? &mine : &crowd, NULL, NULL,
                                                  200, best, NULL),
                             200);
            for (size_t i = 0; i < 200; i++) {
                double average = 0, own = dpmf_model_predict(model, user, best[i].item);
                for (uint64_t u = 0; u < 7; u++)
                    average += dpmf_model_predict(model, u, best[i].item) / 7;
                assert_true(near(best[i].score, dial ? 2 * own - average : average));
            }
        }
    }
    assert_int_equal(dpmf_model_recommend(model, 0, &rating, NULL, NULL, 5, best, &error),
                     DPMF_ERR_MODEL_KIND);
    dpmf_model_close(model);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void test_orders(void **state) {
    struct dpmf_model *old = open_checkpoint(*state, false, false);
    struct dpmf_model *model = open_checkpoint(*state, true, false);
    struct dpmf_scored_item best[5];
    struct dpmf_model_info info;
    struct dpmf_order order = dpmf_order_default();
    assert_true(order.taste == 0.5 && !order.by_rating);
    dpmf_model_info(old, &info);
    assert_false(info.has_counts);
    assert_null(dpmf_model_item_counts(old));
    dpmf_model_info(model, &info);
    assert_true(info.has_counts);
    assert_int_equal(dpmf_model_recommend(old, 1, &order, NULL, NULL, 5, best, NULL),
                     DPMF_ERR_MODEL_KIND);
    assert_int_equal(dpmf_model_recommend(old, 1, NULL, NULL, NULL, 5, best, NULL), 5);
    assert_true(best[0].score == dpmf_model_predict(old, 1, best[0].item));
    order.by_rating = true;
    assert_int_equal(dpmf_model_recommend(old, 1, &order, NULL, NULL, 5, best, NULL), 5);
    assert_true(best[0].score == dpmf_model_predict(old, 1, best[0].item));
    static const double bad[] = {-0.01, 1.01, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        order = (struct dpmf_order){.taste = bad[i]};
        assert_int_equal(dpmf_model_recommend(model, 1, &order, NULL, NULL, 5, best, NULL),
                         DPMF_ERR_USAGE_VALUE);
    }
    order = dpmf_order_default();
    order.spare[2] = 1;
    assert_int_equal(dpmf_model_recommend(model, 1, &order, NULL, NULL, 5, best, NULL),
                     DPMF_ERR_USAGE_STRUCT);
    dpmf_model_close(old);
    dpmf_model_close(model);
}

/* Vectors that are all the same say nothing about taste, and all zeros neither. */
static void test_no_taste(void **state) {
    char path[TEMP_PATH_MAX];
    struct factors factors;
    struct checkpoint_state run = make_state();
    for (int zero = 0; zero < 2; zero++) {
        const struct dpmf_own_rating mine[] = {{1, 5}, {2, 1}};
        struct dpmf_model *model;
        struct dpmf_user *user;
        struct dpmf_score score;
        temp_dir_file(*state, "c.safetensors", path);
        make_factors(&factors, 2, 30, 4, 5);
        factors.item_ids.counts = calloc(30, sizeof(float));
        assert_non_null(factors.item_ids.counts);
        for (size_t i = 0; i < 30; i++) {
            factors.item_ids.counts[i] = 3;
            for (size_t c = 0; c < 4; c++)
                factors.items.rows[i * factors.items.stride + c] = zero ? 0 : 0.5f;
        }
        assert_int_equal(whole_checkpoint_write(path, &factors, &run, "{}", NULL), 0);
        factors_free(&factors);
        assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, mine, 2, &user, NULL), 0);
        for (uint64_t i = 0; i < 30; i++) {
            assert_int_equal(dpmf_user_score(model, user, NULL, i, &score, NULL), 0);
            assert_true(fabs(score.taste) < 1e-9);
        }
        dpmf_user_free(user);
        dpmf_model_close(model);
        unlink(path);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_scores), TEST(test_rating_on), TEST(test_kernels_agree),
        TEST(test_shares), TEST(test_reason),    TEST(test_known),
        TEST(test_ranks),  TEST(test_orders),    TEST(test_no_taste)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
