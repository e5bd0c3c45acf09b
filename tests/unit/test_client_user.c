/*
 * A user at home: what is fitted is what a dense solve in long double gives, in whatever order
 * ratings came, changed and went; the list of the best items is that of the dense solve, item by
 * item, whatever the kernels; reasons add up to the prediction; and what is refused changes
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_make.h"
#include "recommend/user.h"

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

static struct dpmf_model *open_checkpoint(const struct temp_dir *dir, uint64_t items, uint32_t k) {
    char path[TEMP_PATH_MAX];
    struct dpmf_model *model;
    temp_dir_file(dir, "c.safetensors", path);
    make_checkpoint(path, 2, items, k, 5);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    unlink(path);
    return model;
}

static float some_rating(uint64_t *random) { return (float)(1 + make_random(random) % 9) / 2; }

/* n different items, in no order. */
static void some_ratings(struct dpmf_own_rating *ratings, size_t n, uint64_t items,
                         uint64_t *random) {
    uint64_t first = make_random(random) % items, step = 1 + make_random(random) % (items - 1);
    while (step > 1 && items % step == 0) step--;
    for (size_t i = 0; i < n; i++)
        ratings[i] = (struct dpmf_own_rating){(first + i * step) % items, some_rating(random)};
}

/* ---- against a dense solve ------------------------------------------------------------------- */

static double distance(const struct dpmf_model *model, const struct dpmf_user *user,
                       const long double *w) {
    long double most = fabsl((long double)dpmf_user_bias(user) - w[0]);
    for (size_t c = 0; c < model->factors.k; c++)
        most = fmaxl(most, fabsl((long double)dpmf_user_vector(user)[c] - w[c + 1]));
    return (double)most;
}

/* How far a user is from the dense solve of the ratings that it says it has. */
static double misfit(const struct dpmf_model *model, const struct dpmf_user *user) {
    const struct dpmf_own_rating *ratings;
    size_t n = dpmf_user_ratings(user, &ratings);
    long double *w = calloc((size_t)model->factors.k + 1, sizeof *w);
    assert_non_null(w);
    client_dense_fit(model, ratings, n, w);
    double most = distance(model, user, w);
    free(w);
    return most;
}

static void check_fits(const struct dpmf_model *model, uint64_t seed) {
    static const size_t some_n[] = {0, 1, 2, 5, 16, 17, 40, 90};
    struct dpmf_own_rating ratings[90];
    uint64_t random = seed;
    for (size_t i = 0; i < sizeof some_n / sizeof some_n[0]; i++) {
        struct dpmf_user *whole, *light, *one_by_one;
        const struct dpmf_own_rating *kept;
        const size_t n = some_n[i];
        some_ratings(ratings, n, model->factors.items.n, &random);
        assert_int_equal(dpmf_user_fold_in(model, ratings, n, &whole, NULL), 0);
        assert_int_equal(user_fold_in_light(model, ratings, n, &light, NULL), 0);
        assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &one_by_one, NULL), 0);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(
                dpmf_user_rate(model, one_by_one, ratings[j].item, ratings[j].rating, NULL), 0);
        assert_int_equal(dpmf_user_ratings(one_by_one, &kept), n);
        for (size_t j = 0; j < n; j++)
            assert_true(kept[j].item == ratings[j].item && kept[j].rating == ratings[j].rating);
        assert_true(misfit(model, whole) < 1e-10);
        assert_true(misfit(model, light) < 1e-10);
        assert_true(misfit(model, one_by_one) < 1e-10);
        dpmf_user_free(whole);
        dpmf_user_free(light);
        dpmf_user_free(one_by_one);
    }
}

static void test_fits(void **state) {
    static const uint32_t some_k[] = {1, 2, 7, 16, 33, 64};
    for (size_t i = 0; i < sizeof some_k / sizeof some_k[0]; i++) {
        static const double penalties[][2] = {{1, 1}, {0.03, 4}, {25, 0.1}};
        for (size_t j = 0; j < 3; j++) {
            struct dpmf_model *model = client_open_release(*state, 97, some_k[i], penalties[j][0],
                                                           penalties[j][1], some_k[i] + j);
            check_fits(model, i);
            dpmf_model_close(model);
        }
        struct dpmf_model *model = open_checkpoint(*state, 97, some_k[i]);
        check_fits(model, i);
        dpmf_model_close(model);
    }
}

/* Biases alone: the user's bias is a shrunken mean. */
static void test_no_factors(void **state) {
    struct dpmf_model *model = client_open_release(*state, 20, 0, 0, 2, 3);
    struct dpmf_user *user;
    const float *biases = dpmf_model_item_biases(model);
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    assert_int_equal(dpmf_user_rate(model, user, 3, 5, NULL), 0);
    assert_int_equal(dpmf_user_rate(model, user, 4, 2, NULL), 0);
    double sum = (5 - 3.25 - (double)biases[3]) + (2 - 3.25 - (double)biases[4]);
    assert_true(fabs(dpmf_user_bias(user) - sum / (2 + 2)) < 1e-14);
    dpmf_user_free(user);
    dpmf_model_close(model);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* A random walk through ratings that come, change and go; now and then all go. @return how often
 * the factor was made from the sums for it */
static uint64_t walk(const struct dpmf_model *model, int changes, int check_every,
                     uint64_t most_items, double tolerance) {
    struct dpmf_user *user, *fresh;
    const struct dpmf_own_rating *ratings;
    uint64_t random = (uint64_t)changes + model->factors.k;
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    for (int i = 1; i <= changes; i++) {
        size_t n = dpmf_user_ratings(user, &ratings);
        uint64_t item = make_random(&random) % most_items;
        float rating = some_rating(&random);
        if (n > 0 && make_random(&random) % 2 == 0) {
            item = ratings[make_random(&random) % n].item;
            if (make_random(&random) % 2 == 0) rating = NAN;
        }
        assert_int_equal(dpmf_user_rate(model, user, item, rating, NULL), 0);
        if (i % 1777 == 0)
            while ((n = dpmf_user_ratings(user, &ratings)) > 0)
                assert_int_equal(dpmf_user_rate(model, user, ratings[n / 2].item, NAN, NULL), 0);
        if (i % check_every != 0) continue;
        n = dpmf_user_ratings(user, &ratings);
        assert_int_equal(dpmf_user_fold_in(model, ratings, n, &fresh, NULL), 0);
        double most = fabs(dpmf_user_bias(user) - dpmf_user_bias(fresh));
        for (size_t c = 0; c < model->factors.k; c++)
            most = fmax(most, fabs(dpmf_user_vector(user)[c] - dpmf_user_vector(fresh)[c]));
        if (!(most < tolerance)) fail_msg("after %d changes %g off", i, most);
        assert_true(misfit(model, user) < tolerance);
        dpmf_user_free(fresh);
    }
    uint64_t n_factored = user->equations.n_factored;
    dpmf_user_free(user);
    return n_factored;
}

/* Ten thousand changes; few ratings and many; and penalties so small that a rating that goes takes
 * nearly all of a direction with it. */
static void test_many_changes(void **state) {
    struct dpmf_model *model = client_open_release(*state, 400, 16, 0.5, 0.25, 1);
    assert_true(walk(model, 10000, 100, 400, 1e-9) < 20); /* once to begin with, and when all go */
    assert_true(walk(model, 2000, 50, 10, 1e-9) < 60);
    dpmf_model_close(model);
    model = client_open_release(*state, 300, 40, 1e-4, 1e-2, 2);
    assert_true(walk(model, 4000, 200, 300, 1e-9) < 200);
    assert_true(walk(model, 1000, 50, 30, 1e-9) > 20); /* what is left would be too little */
    dpmf_model_close(model);
    model = open_checkpoint(*state, 200, 8);
    walk(model, 2000, 50, 200, 1e-9);
    dpmf_model_close(model);
}

/* All gone: exactly nothing is left. */
static void test_back_to_nothing(void **state) {
    struct dpmf_model *models[] = {client_open_release(*state, 50, 5, 0.5, 0.25, 1),
                                   open_checkpoint(*state, 50, 5)};
    for (size_t m = 0; m < 2; m++) {
        const struct dpmf_own_rating *ratings;
        struct dpmf_user *user;
        assert_int_equal(dpmf_user_fold_in(models[m], NULL, 0, &user, NULL), 0);
        for (uint64_t i = 0; i < 9; i++)
            assert_int_equal(dpmf_user_rate(models[m], user, i * 5, (float)i / 3, NULL), 0);
        for (uint64_t i = 0; i < 9; i++)
            assert_int_equal(dpmf_user_rate(models[m], user, i * 5, NAN, NULL), 0);
        assert_int_equal(dpmf_user_ratings(user, &ratings), 0);
        assert_true(dpmf_user_bias(user) == 0);
        for (size_t c = 0; c < 5; c++) assert_true(dpmf_user_vector(user)[c] == 0);
        for (uint64_t i = 0; i < 50; i++)
            assert_true(dpmf_user_predict(models[m], user, i) ==
                        dpmf_model_predict(models[m], UINT64_MAX, i));
        dpmf_user_free(user);
        dpmf_model_close(models[m]);
    }
}

/* Given twice is changed; the order is that of the first time. */
static void test_given_twice(void **state) {
    struct dpmf_model *model = client_open_release(*state, 50, 3, 0.5, 0.25, 1);
    const struct dpmf_own_rating given[] = {{7, 1},  {UINT64_MAX, 2}, {9, 3}, {7, 4},
                                            {50, 5}, {2, 2},          {9, 1}, {7, 5}};
    const struct dpmf_own_rating *ratings;
    struct dpmf_user *user, *plain;
    struct dpmf_score score, plain_score;
    double shares[8], plain_shares[3];
    assert_int_equal(dpmf_user_fold_in(model, given, 8, &user, NULL), 0);
    assert_int_equal(dpmf_user_ratings(user, &ratings), 3);
    assert_true(ratings[0].item == 7 && ratings[0].rating == 5);
    assert_true(ratings[1].item == 9 && ratings[1].rating == 1);
    assert_true(ratings[2].item == 2 && ratings[2].rating == 2);
    const struct dpmf_own_rating once[] = {{7, 5}, {9, 1}, {2, 2}};
    assert_int_equal(dpmf_user_fold_in(model, once, 3, &plain, NULL), 0);
    assert_true(dpmf_user_predict(model, user, 11) == dpmf_user_predict(model, plain, 11));
    assert_int_equal(dpmf_model_explain(model, given, 8, NULL, 11, &score, shares, NULL), 0);
    assert_int_equal(dpmf_model_explain(model, once, 3, NULL, 11, &plain_score, plain_shares, NULL),
                     0);
    assert_true(score.total == plain_score.total && shares[7] == plain_shares[0]);
    assert_true(shares[6] == plain_shares[1] && shares[5] == plain_shares[2]);
    for (size_t i = 0; i < 5; i++) assert_true(shares[i] == 0);
    dpmf_user_free(user);
    dpmf_user_free(plain);
    dpmf_model_close(model);
}

static void test_refused(void **state) {
    struct dpmf_model *model = client_open_release(*state, 50, 3, 0.5, 0.25, 1);
    const struct dpmf_own_rating bad[] = {{3, 4}, {4, NAN}};
    const struct dpmf_own_rating *ratings;
    struct dpmf_error error = {0};
    struct dpmf_user *user;
    struct dpmf_score score;
    double shares[2];
    assert_int_equal(dpmf_user_fold_in(model, bad, 2, &user, &error), DPMF_ERR_INPUT_NOT_FINITE);
    assert_null(user);
    assert_true(error.message[0] && error.hint[0]);
    assert_int_equal(dpmf_model_explain(model, bad, 2, NULL, 1, &score, shares, NULL),
                     DPMF_ERR_INPUT_NOT_FINITE);
    assert_int_equal(dpmf_user_fold_in(model, bad, 1, &user, &error), 0);
    const double before = dpmf_user_bias(user);
    assert_int_equal(dpmf_user_rate(model, user, 50, 3, &error), DPMF_ERR_MODEL_UNKNOWN_ID);
    assert_int_equal(dpmf_user_rate(model, user, UINT64_MAX, NAN, NULL), DPMF_ERR_MODEL_UNKNOWN_ID);
    assert_int_equal(dpmf_user_rate(model, user, 5, INFINITY, &error), DPMF_ERR_INPUT_NOT_FINITE);
    assert_int_equal(dpmf_user_rate(model, user, 5, -INFINITY, NULL), DPMF_ERR_INPUT_NOT_FINITE);
    assert_int_equal(dpmf_user_rate(model, user, 5, NAN, &error), 0); /* there is none to take */
    assert_int_equal(dpmf_user_explain(model, user, NULL, 50, &score, shares, &error),
                     DPMF_ERR_MODEL_UNKNOWN_ID);
    assert_int_equal(dpmf_user_ratings(user, &ratings), 1);
    assert_true(dpmf_user_bias(user) == before);
    dpmf_user_free(user);
    dpmf_model_close(model);
}

/* Numbers that cannot be fitted leave the user as before, and able to go on. */
static void test_too_large(void **state) {
    struct dpmf_model *model = client_open_release(*state, 50, 3, 0.5, 0.25, 1);
    const struct dpmf_own_rating *ratings;
    struct dpmf_error error = {0};
    struct dpmf_user *user;
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    assert_int_equal(dpmf_user_rate(model, user, 1, 4, NULL), 0);
    const double bias = dpmf_user_bias(user), first = dpmf_user_vector(user)[0];
    float *row = model->factors.items.rows + 9 * model->factors.items.stride, kept = row[0];
    row[0] = INFINITY; /* no file has it: it stands for whatever cannot be solved */
    assert_int_equal(dpmf_user_rate(model, user, 9, 4, &error), DPMF_ERR_INPUT_NOT_FINITE);
    row[0] = kept;
    assert_true(dpmf_user_bias(user) == bias && dpmf_user_vector(user)[0] == first);
    assert_int_equal(dpmf_user_ratings(user, &ratings), 1);
    assert_int_equal(dpmf_user_rate(model, user, 9, 2, NULL), 0);
    assert_true(misfit(model, user) < 1e-10);
    dpmf_user_free(user);
    dpmf_model_close(model);

    /* Penalties whose ratio is beyond double, which no file has either. */
    model = client_open_release(*state, 5, 2, 1, 1, 1);
    model->factor_penalty = 1e300;
    model->bias_penalty = 1e-300;
    const struct dpmf_own_rating one = {0, 4};
    assert_int_equal(dpmf_user_fold_in(model, &one, 1, &user, &error), DPMF_ERR_INPUT_NOT_FINITE);
    assert_int_equal(error.code, DPMF_ERR_INPUT_NOT_FINITE);
    assert_null(user);
    dpmf_model_close(model);
}

/* More columns than equations are kept for from the start. */
static void test_many_columns(void **state) {
    struct dpmf_model *model = client_open_release(*state, 30, 300, 0.5, 0.25, 1);
    struct dpmf_own_rating ratings[9];
    struct dpmf_user *user;
    uint64_t random = 3;
    struct dpmf_score score;
    double shares[9];
    some_ratings(ratings, 8, 30, &random);
    assert_int_equal(dpmf_user_fold_in(model, ratings, 8, &user, NULL), 0);
    assert_int_equal(user->equations.width, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(misfit(model, user) < 1e-10);
        assert_int_equal(dpmf_user_explain(model, user, NULL, 29, &score, shares, NULL), 0);
        assert_true(score.rating == dpmf_user_predict(model, user, 29));
        ratings[8] = (struct dpmf_own_rating){ratings[2].item, NAN};
        assert_int_equal(dpmf_user_rate(model, user, ratings[8].item, ratings[8].rating, NULL), 0);
        assert_int_equal(user->equations.width, 301);
    }
    dpmf_user_free(user);
    dpmf_model_close(model);
}

/* ---- the best items -------------------------------------------------------------------------- */

struct ranked {
    uint64_t item;
    long double score;
};

static int compare_ranked(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->item < y->item ? -1 : 1;
}

static bool has_bit(const uint8_t *bitmap, uint64_t i) { return bitmap[i / 8] >> (i % 8) & 1; }

enum { MANY = 3001 };

/* The first n by the dense solve, which these must be, in this order. */
static void check_best(const struct dpmf_model *model, const struct dpmf_user *user, size_t n,
                       const uint8_t *exclude, const uint8_t *include) {
    static struct ranked ranked[MANY];
    static struct dpmf_scored_item best[MANY];
    const struct dpmf_own_rating *ratings;
    const size_t n_ratings = dpmf_user_ratings(user, &ratings);
    long double *w = calloc((size_t)model->factors.k + 1, sizeof *w);
    size_t all = 0;
    assert_non_null(w);
    client_dense_fit(model, ratings, n_ratings, w);
    for (uint64_t i = 0; i < model->factors.items.n; i++)
        if (!(exclude && has_bit(exclude, i)) && !(include && !has_bit(include, i)))
            ranked[all++] = (struct ranked){i, client_dense_score(model, w, i)};
    qsort(ranked, all, sizeof ranked[0], compare_ranked);
    int64_t got = dpmf_user_recommend(model, user, NULL, exclude, include, n, best, NULL);
    assert_int_equal(got, n < all ? n : all);
    for (int64_t i = 0; i < got; i++) {
        assert_int_equal(best[i].item, ranked[i].item);
        assert_true(fabs(best[i].score - (double)ranked[i].score) < 1e-9);
        assert_true(best[i].score == dpmf_user_predict(model, user, best[i].item));
    }
    free(w);
}

static void fill_bits(uint8_t *bitmap, uint64_t *random, unsigned one_in) {
    memset(bitmap, 0, MANY / 8 + 1);
    for (size_t i = 0; i < MANY; i++)
        if (make_random(random) % one_in == 0) bitmap[i / 8] |= (uint8_t)(1 << i % 8);
}

static void check_lists(const struct dpmf_model *model) {
    static uint8_t exclude[MANY / 8 + 1], include[MANY / 8 + 1];
    struct dpmf_own_rating ratings[30];
    uint64_t random = 8;
    for (size_t n = 0; n <= 30; n += 10) {
        struct dpmf_user *user;
        some_ratings(ratings, n, model->factors.items.n, &random);
        assert_int_equal(dpmf_user_fold_in(model, ratings, n, &user, NULL), 0);
        fill_bits(exclude, &random, 2);
        fill_bits(include, &random, 40);
        check_best(model, user, 20, NULL, NULL);
        check_best(model, user, 20, exclude, NULL);
        check_best(model, user, 20, NULL, include);
        check_best(model, user, 3000, exclude, include);
        check_best(model, user, 1, NULL, NULL);
        check_best(model, user, MANY, NULL, NULL);
        check_best(model, user, 0, NULL, NULL);
        dpmf_user_free(user);
    }
}

static void test_best_items(void **state) {
    static const uint32_t some_k[] = {0, 1, 5, 16, 33, 64, 100};
    for (size_t i = 0; i < sizeof some_k / sizeof some_k[0]; i++) {
        struct dpmf_model *model = client_open_release(*state, MANY, some_k[i], 0.5, 0.25, i);
        check_lists(model);
        dpmf_model_close(model);
    }
}

/* Best first, of equal ones the first; by insertion, which shares nothing with the library. */
static void sort_plainly(struct dpmf_scored_item *items, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct dpmf_scored_item moved = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].score < moved.score; at--) items[at] = items[at - 1];
        items[at] = moved;
    }
}

static void check_equal(const struct dpmf_scored_item *a, const struct dpmf_scored_item *b,
                        size_t n) {
    for (size_t i = 0; i < n; i++) assert_true(a[i].item == b[i].item && a[i].score == b[i].score);
}

/* Vectors of all directions, and biases that make all their scores the same but for what floats
 * cannot see: what decides is beyond the kernels. Some are equal to the bit. */
static void test_nearly_ties(void **state) {
    static struct dpmf_scored_item best[MANY], all[MANY];
    struct dpmf_model *model = client_open_release(*state, MANY, 24, 0.5, 0.25, 9);
    struct factor_matrix *items = &model->factors.items;
    const struct dpmf_own_rating ratings[] = {{0, 5}, {1, 1}, {2, 4.5f}, {3, 2}};
    struct dpmf_user *user;
    uint64_t random = 4;
    assert_int_equal(dpmf_user_fold_in(model, ratings, 4, &user, NULL), 0);
    for (uint64_t i = 4; i < items->n; i++) {
        float *row = items->rows + i * items->stride;
        for (size_t c = 0; c < 24; c++) row[c] = 100 * make_uniform(&random);
        items->biases[i] = (float)(1.5 - model_dot_double(user->vector, row, 24));
        if (i % 5 == 0 && i > 4) {
            memcpy(row, row - items->stride, 24 * sizeof(float));
            items->biases[i] = items->biases[i - 1];
        }
    }
    assert_int_equal(model_items_measure(model, NULL), 0);
    for (uint64_t i = 0; i < MANY; i++)
        all[i] = (struct dpmf_scored_item){i, dpmf_user_predict(model, user, i)};
    sort_plainly(all, MANY);
    for (size_t n = 1; n < MANY; n = n * 3 + 1) {
        assert_int_equal(dpmf_user_recommend(model, user, NULL, NULL, NULL, n, best, NULL), n);
        check_equal(best, all, n);
    }
    dpmf_user_free(user);
    dpmf_model_close(model);
}

static double plain_cosine(const float *a, const float *b, size_t k) {
    return model_dot(a, b, k) / (sqrt(model_dot(a, a, k)) * sqrt(model_dot(b, b, k)));
}

/* The same of similar items: all at one angle but for what floats cannot see, and of very different
 * lengths. */
static void test_nearly_similar(void **state) {
    enum { K = 24 };
    static struct dpmf_scored_item best[MANY], all[MANY];
    struct dpmf_model *model = client_open_release(*state, MANY, K, 0.5, 0.25, 9);
    struct factor_matrix *items = &model->factors.items;
    float *first = items->rows;
    uint64_t random = 4;
    for (size_t c = 0; c < K; c++) first[c] *= 1e-3f;
    for (uint64_t i = 1; i < MANY; i++) {
        float *row = items->rows + i * items->stride;
        const double length = pow(10, (double)(i % 75) - 37) * (i % 7 == 0 ? -1 : 1);
        double other[K], product = 0, square = 0;
        for (size_t c = 0; c < K; c++) other[c] = (double)make_uniform(&random);
        for (size_t c = 0; c < K; c++) product += other[c] * (double)first[c];
        product /= model_dot(first, first, K);
        for (size_t c = 0; c < K; c++) other[c] -= product * (double)first[c];
        for (size_t c = 0; c < K; c++) square += other[c] * other[c];
        for (size_t c = 0; c < K; c++)
            row[c] = (float)(length * (0.6 * (double)first[c] / sqrt(model_dot(first, first, K)) +
                                       0.8 * other[c] / sqrt(square)));
        if (i % 50 == 0) memset(row, 0, K * sizeof(float)); /* points nowhere */
    }
    assert_int_equal(model_items_measure(model, NULL), 0);
    for (uint64_t i = 1; i < MANY; i++)
        all[i - 1] = (struct dpmf_scored_item){
            i, i % 50 == 0 ? 0 : plain_cosine(first, items->rows + i * items->stride, K)};
    sort_plainly(all, MANY - 1);
    for (size_t n = 1; n < MANY; n = n * 3 + 1) {
        assert_int_equal(dpmf_model_similar(model, 0, n, best, NULL), n);
        check_equal(best, all, n);
    }
    /* As many as reach into those that point away. */
    assert_int_equal(dpmf_model_similar(model, 0, 2700, best, NULL), 2700);
    check_equal(best, all, 2700);
    assert_int_equal(dpmf_model_similar(model, 0, MANY, best, NULL), MANY - 1);
    dpmf_model_close(model);
}

/* Every set of kernels gives the same lists, to the bit. */
static void test_any_kernels(void **state) {
    static struct dpmf_scored_item first[50], best[50], alike[50], first_alike[50];
    struct dpmf_own_rating ratings[30];
    char path[TEMP_PATH_MAX];
    uint64_t random = 6;
    size_t met = 0;
    temp_dir_file(*state, "r.safetensors", path);
    client_make_release(path, MANY, 48, 0.5, 0.25, 7);
    some_ratings(ratings, 30, MANY, &random);
    for (size_t i = 0; kernel_set_at(i); i++) {
        if (!kernel_set_at(i)->is_supported()) continue;
        struct dpmf_model *model;
        struct dpmf_user *user;
        setenv("DPMF_KERNELS", kernel_set_at(i)->name, 1);
        assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
        assert_string_equal(model->kernels->name, kernel_set_at(i)->name);
        assert_int_equal(dpmf_user_fold_in(model, ratings, 30, &user, NULL), 0);
        assert_int_equal(dpmf_user_recommend(model, user, NULL, NULL, NULL, 50, best, NULL), 50);
        assert_int_equal(dpmf_model_similar(model, 17, 50, alike, NULL), 50);
        if (met++ == 0) {
            memcpy(first, best, sizeof best);
            memcpy(first_alike, alike, sizeof alike);
        }
        for (size_t j = 0; j < 50; j++) {
            assert_true(first[j].item == best[j].item && first[j].score == best[j].score);
            assert_true(first_alike[j].item == alike[j].item &&
                        first_alike[j].score == alike[j].score);
        }
        dpmf_user_free(user);
        dpmf_model_close(model);
    }
    unsetenv("DPMF_KERNELS");
    assert_true(met > 0);
}

/* ---- reasons --------------------------------------------------------------------------------- */

static void check_reasons(const struct dpmf_model *model, const struct dpmf_user *user) {
    const struct dpmf_own_rating *ratings;
    const size_t n = dpmf_user_ratings(user, &ratings);
    double shares[64], plain[64];
    struct dpmf_score score, other;
    assert_true(n <= 64);
    for (uint64_t item = 0; item < model->factors.items.n; item += 5) {
        double sum = 0;
        assert_int_equal(dpmf_user_explain(model, user, NULL, item, &score, shares, NULL), 0);
        assert_int_equal(dpmf_model_explain(model, ratings, n, NULL, item, &other, plain, NULL), 0);
        for (size_t j = 0; j < n; j++) {
            sum += shares[j];
            assert_true(fabs(shares[j] - plain[j]) < 1e-10);
        }
        assert_true(fabs(score.crowd + score.habit + sum - score.total) < 1e-10);
        assert_true(fabs(sum - score.taste) < 1e-10);
        assert_true(fabs(score.total - other.total) < 1e-10);
        assert_true(score.rating == dpmf_user_predict(model, user, item));
    }
}

static void test_reasons(void **state) {
    static const uint32_t some_k[] = {0, 1, 6, 20, 64};
    for (size_t i = 0; i < 2 * sizeof some_k / sizeof some_k[0]; i++) {
        const uint32_t k = some_k[i / 2];
        if (i % 2 == 1 && k == 0) continue;
        struct dpmf_model *model = i % 2 == 0 ? client_open_release(*state, 101, k, 0.3, 0.7, 2)
                                              : open_checkpoint(*state, 101, k);
        struct dpmf_own_rating ratings[40];
        struct dpmf_user *user;
        uint64_t random = 12;
        for (size_t n = 0; n <= 40; n += 8) {
            some_ratings(ratings, n, 101, &random);
            assert_int_equal(dpmf_user_fold_in(model, ratings, n, &user, NULL), 0);
            check_reasons(model, user);
            for (uint64_t j = 0; j < 60; j++)
                assert_int_equal(dpmf_user_rate(model, user, make_random(&random) % 101,
                                                j % 3 == 0 ? NAN : some_rating(&random), NULL),
                                 0);
            check_reasons(model, user);
            dpmf_user_free(user);
        }
        dpmf_model_close(model);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_fits),           TEST(test_no_factors),
        TEST(test_many_changes),   TEST(test_back_to_nothing),
        TEST(test_given_twice),    TEST(test_refused),
        TEST(test_too_large),      TEST(test_many_columns),
        TEST(test_best_items),     TEST(test_nearly_ties),
        TEST(test_nearly_similar), TEST(test_any_kernels),
        TEST(test_reasons),
    };
    return cmocka_run_group_tests_name("client_user", tests, NULL, NULL);
}
