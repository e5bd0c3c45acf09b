/*
 * What one does with a model, against the plain way of doing it: every item scored and sorted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checkpoint_make.h"
#include "recommend/model.h"
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

static struct dpmf_model *open_made(const struct temp_dir *dir, uint64_t users, uint64_t items,
                                    uint32_t k, uint64_t seed) {
    char path[TEMP_PATH_MAX];
    struct dpmf_model *model;
    temp_dir_file(dir, "m.safetensors", path);
    make_checkpoint(path, users, items, k, seed);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    return model;
}

/* As the header says it, in double. */
static double plain_prediction(const struct dpmf_model *model, uint64_t user, uint64_t item) {
    const struct factors *f = &model->factors;
    double sum = f->offset;
    if (user < f->users.n) sum += (double)f->users.biases[user];
    if (item < f->items.n) sum += (double)f->items.biases[item];
    if (user < f->users.n && item < f->items.n)
        for (uint32_t c = 0; c < f->k; c++)
            sum += (double)f->users.rows[user * f->users.stride + c] *
                   (double)f->items.rows[item * f->items.stride + c];
    return sum;
}

static const uint32_t some_k[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100};
enum { N_SOME_K = sizeof some_k / sizeof some_k[0] };

/* ---- opening --------------------------------------------------------------------------------- */

static void test_open(void **state) {
    struct dpmf_model *model = open_made(*state, 5, 7, 3, 1);
    struct dpmf_model_info info;
    size_t length;
    dpmf_model_info(model, &info);
    assert_string_equal(info.kind, "checkpoint");
    assert_int_equal(info.users, 5);
    assert_int_equal(info.items, 7);
    assert_int_equal(info.factors, 3);
    assert_int_equal(info.epochs, 7);
    assert_int_equal(info.ratings, 123456789012);
    assert_true(info.offset == 3.25 && info.min == 1 && info.max == 5 && isnan(info.best_valid));
    assert_string_equal(info.provenance, "{\"made\":\"by a test\"}");
    assert_true(info.file_bytes > 0);
    assert_int_equal(dpmf_model_find_user(model, "u4", 2), 4);
    assert_int_equal(dpmf_model_find_item(model, "i6", 2), 6);
    assert_true(dpmf_model_find_user(model, "i6", 2) == UINT64_MAX);
    assert_memory_equal(dpmf_model_user_id(model, 3, &length), "u3", 2);
    assert_int_equal(length, 2);
    assert_memory_equal(dpmf_model_item_id(model, 0, &length), "i0", 2);
    assert_null(dpmf_model_item_id(model, 7, &length));
    dpmf_model_close(model);
    dpmf_model_close(NULL);

    struct dpmf_error error;
    assert_int_equal(dpmf_model_open("/nowhere/m", &model, &error), DPMF_ERR_IO_MISSING);
    assert_null(model);
}

static void test_predict(void **state) {
    for (int i = 0; i < N_SOME_K; i++) {
        struct dpmf_model *model = open_made(*state, 4, 6, some_k[i], 2);
        for (uint64_t user = 0; user < 5; user++)
            for (uint64_t item = 0; item < 7; item++) {
                uint64_t u = user < 4 ? user : UINT64_MAX, v = item < 6 ? item : UINT64_MAX;
                assert_true(fabs(dpmf_model_predict(model, u, v) - plain_prediction(model, u, v)) <
                            1e-5);
            }
        assert_true(dpmf_model_predict(model, UINT64_MAX, UINT64_MAX) == 3.25);
        dpmf_model_close(model);
    }
}

/* ---- the best items -------------------------------------------------------------------------- */

static int compare_scored(const void *a, const void *b) {
    const struct dpmf_scored_item *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->item < y->item ? -1 : 1;
}

static bool has_bit(const uint8_t *bitmap, uint64_t i) { return bitmap[i / 8] >> (i % 8) & 1; }

/* All items scored one by one by the same kernel, and sorted. */
static size_t plain_top(const struct dpmf_model *model, uint64_t user, const uint8_t *exclude,
                        const uint8_t *include, struct dpmf_scored_item *out) {
    const struct factor_matrix *items = &model->factors.items;
    const float *u = model_user_row(model, user);
    size_t n = 0;
    for (uint64_t i = 0; i < items->n; i++) {
        float score = items->biases[i];
        if (u)
            model->kernels->scores(u, items->rows + i * items->stride, items->stride,
                                   items->biases + i, 1, model->padded_k, &score);
        if ((exclude && has_bit(exclude, i)) || (include && !has_bit(include, i))) continue;
        out[n++] = (struct dpmf_scored_item){i, score};
    }
    qsort(out, n, sizeof *out, compare_scored);
    return n;
}

/* Scores in blocks may differ from scores one by one in their last bits, and so may near ties. */
static void check_top(const struct dpmf_model *model, uint64_t user, const uint8_t *exclude,
                      const uint8_t *include, size_t n, bool has_ties) {
    uint64_t n_items = model->factors.items.n;
    struct dpmf_scored_item *plain = calloc(n_items + 1, sizeof *plain);
    struct dpmf_scored_item *best = calloc(n + 1, sizeof *best);
    assert_true(plain && best);
    size_t all = plain_top(model, user, exclude, include, plain);
    best[n].item = 12345;
    int64_t got = dpmf_model_recommend(model, user, NULL, exclude, include, n, best, NULL);
    assert_int_equal(got, all < n ? all : n);
    assert_int_equal(best[n].item, 12345);
    for (int64_t i = 0; i < got; i++) {
        assert_true(fabs((double)best[i].score - plain_prediction(model, user, best[i].item)) <
                    1e-4);
        assert_true(fabs((double)best[i].score - plain_prediction(model, user, plain[i].item)) <
                    1e-4);
        if (exclude) assert_false(has_bit(exclude, best[i].item));
        if (include) assert_true(has_bit(include, best[i].item));
        if (has_ties) assert_int_equal(best[i].item, plain[i].item);
        if (i > 0) assert_true(best[i - 1].score >= best[i].score);
    }
    free(plain);
    free(best);
}

static void fill_bits(uint8_t *bitmap, size_t n, uint64_t *state, unsigned one_in) {
    memset(bitmap, 0, n / 8 + 1);
    for (size_t i = 0; i < n; i++)
        if (make_random(state) % one_in == 0) bitmap[i / 8] |= (uint8_t)(1 << i % 8);
}

static void test_top_n(void **state) {
    static const size_t some_n[] = {0, 1, 2, 10, 100, 5000};
    uint64_t random = 7;
    for (int i = 0; i < N_SOME_K; i++) {
        uint64_t n_items = i % 3 == 0 ? 4500 : i % 3 == 1 ? 2048 : 37;
        struct dpmf_model *model = open_made(*state, 3, n_items, some_k[i], 3);
        uint8_t exclude[4500 / 8 + 1], include[4500 / 8 + 1];
        for (size_t j = 0; j < sizeof some_n / sizeof some_n[0]; j++) {
            fill_bits(exclude, (size_t)n_items, &random, 2);
            fill_bits(include, (size_t)n_items, &random, 3);
            check_top(model, 1, NULL, NULL, some_n[j], false);
            check_top(model, 2, exclude, NULL, some_n[j], false);
            check_top(model, 0, NULL, include, some_n[j], false);
            check_top(model, 0, exclude, include, some_n[j], false);
            check_top(model, UINT64_MAX, exclude, NULL, some_n[j], true);
        }
        dpmf_model_close(model);
    }
}

/* Few different scores: whole blocks of ties, in the order of their numbers. */
static void test_ties(void **state) {
    struct dpmf_model *model = open_made(*state, 2, 5000, 5, 4);
    struct factor_matrix *items = &model->factors.items;
    uint64_t random = 9;
    for (uint64_t i = 0; i < items->n; i++) {
        for (uint32_t c = 0; c < 5; c++) items->rows[i * items->stride + c] = 0;
        items->biases[i] = (float)(make_random(&random) % 3);
    }
    for (size_t n = 1; n < 5000; n = 3 * n + 1) {
        check_top(model, 0, NULL, NULL, n, true);
        check_top(model, UINT64_MAX, NULL, NULL, n, true);
    }
    dpmf_model_close(model);
}

/* Finite factors whose products are not: ranked last, and no crash. */
static void test_overflow(void **state) {
    struct dpmf_model *model = open_made(*state, 1, 20, 2, 4);
    struct dpmf_scored_item best[20];
    model->factors.users.rows[0] = model->factors.users.rows[1] = 3e38f;
    for (int i = 5; i < 10; i++) {
        model->factors.items.rows[(size_t)i * model->factors.items.stride] = 3e38f;
        model->factors.items.rows[(size_t)i * model->factors.items.stride + 1] = -3e38f;
    }
    assert_int_equal(dpmf_model_recommend(model, 0, NULL, NULL, NULL, 20, best, NULL), 20);
    uint32_t met = 0;
    for (int i = 0; i < 20; i++) met |= 1u << best[i].item;
    assert_int_equal(met, (1u << 20) - 1);
    assert_int_equal(dpmf_model_similar(model, 5, 20, best, NULL), 19);
    dpmf_model_close(model);
}

/* ---- similar --------------------------------------------------------------------------------- */

static double plain_cosine(const struct dpmf_model *model, uint64_t a, uint64_t b) {
    const float *x = model_item_row(model, a), *y = model_item_row(model, b);
    double xx = 0, yy = 0, xy = 0;
    for (uint32_t c = 0; c < model->factors.k; c++) {
        xx += (double)x[c] * (double)x[c];
        yy += (double)y[c] * (double)y[c];
        xy += (double)x[c] * (double)y[c];
    }
    return xx * yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static void test_similar(void **state) {
    for (int i = 1; i < N_SOME_K; i++) {
        struct dpmf_model *model = open_made(*state, 1, 2100, some_k[i], 5);
        struct dpmf_scored_item best[50];
        memset(model->factors.items.rows + 3 * model->factors.items.stride, 0,
               some_k[i] * sizeof(float)); /* item 3 points nowhere */
        for (uint64_t item = 0; item < 2100; item += 700) {
            assert_int_equal(dpmf_model_similar(model, item, 50, best, NULL), 50);
            double least = plain_cosine(model, item, best[49].item);
            size_t above = 0;
            for (uint64_t other = 0; other < 2100; other++)
                above += other != item && plain_cosine(model, item, other) > least + 1e-5;
            assert_true(above < 50);
            for (int j = 0; j < 50; j++) {
                assert_true(best[j].item != item);
                assert_true(fabs((double)best[j].score - plain_cosine(model, item, best[j].item)) <
                            1e-5);
                if (j > 0) assert_true(best[j - 1].score >= best[j].score);
            }
        }
        assert_int_equal(dpmf_model_similar(model, 2100, 5, best, NULL), DPMF_ERR_MODEL_UNKNOWN_ID);
        dpmf_model_close(model);
    }
}

/* ---- explain --------------------------------------------------------------------------------- */

/* The fit by steepest descent's fixed point: the gradient of the penalised squares must vanish at
 * the weights that the shares imply, which is checked by predicting the ratings themselves. */
static void check_explain(const struct dpmf_model *model, size_t n, uint64_t seed) {
    const struct factors *f = &model->factors;
    struct dpmf_own_rating *ratings = calloc(n + 1, sizeof *ratings);
    double *shares = calloc(n + 1, sizeof *shares), *residual = calloc(n + 1, sizeof *residual);
    assert_true(ratings && shares && residual);
    uint64_t random = seed;
    for (size_t j = 0; j < n; j++)
        ratings[j] = (struct dpmf_own_rating){(j * 7 + 1) % f->items.n,
                                              (float)(1 + make_random(&random) % 5)};
    struct dpmf_score score;
    const struct dpmf_order by_rating = {.by_rating = true};
    /* residual_j = r_j - prediction of item j by the same fit */
    for (size_t j = 0; j < n; j++) {
        assert_int_equal(dpmf_model_explain(model, ratings, n, &by_rating, ratings[j].item, &score,
                                            shares, NULL),
                         0);
        residual[j] = (double)ratings[j].rating - score.total;
    }
    /* At the minimum X^T residual = c w, so the fit of any item is x^T X^T residual / c. */
    double c = 0.05 * (double)n;
    for (uint64_t item = 0; item < f->items.n; item += 3) {
        assert_int_equal(
            dpmf_model_explain(model, ratings, n, &by_rating, item, &score, shares, NULL), 0);
        double fit = 0, sum = f->offset + (double)f->items.biases[item] + score.habit;
        for (size_t j = 0; j < n; j++) {
            const float *x = model_item_row(model, item),
                        *y = model_item_row(model, ratings[j].item);
            double dot = 1;
            for (uint32_t i = 0; i < f->k; i++) dot += (double)x[i] * (double)y[i];
            fit += dot * residual[j] / c;
        }
        for (size_t j = 0; j < n; j++) sum += shares[j];
        assert_true(fabs(sum - score.total) < 1e-9);
        assert_true(fabs(score.total - f->offset - (double)f->items.biases[item] - fit) < 1e-7);
    }
    free(ratings);
    free(shares);
    free(residual);
}

static void test_explain(void **state) {
    static const uint32_t widths[] = {1, 2, 5, 16, 33};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        struct dpmf_model *model = open_made(*state, 1, 101, widths[i], 6);
        check_explain(model, 1, 1);
        check_explain(model, 6, 2); /* on both sides of the choice of system */
        check_explain(model, 50, 3);
        dpmf_model_close(model);
    }
}

static void test_explain_unknown(void **state) {
    struct dpmf_model *model = open_made(*state, 1, 10, 4, 6);
    const struct dpmf_own_rating ratings[] = {{1, 5}, {UINT64_MAX, 5}, {10, 1}, {3, 2}};
    const struct dpmf_own_rating known[] = {{1, 5}, {3, 2}};
    struct dpmf_score with, without;
    double shares[4], known_shares[2];
    assert_int_equal(dpmf_model_explain(model, ratings, 4, NULL, 2, &with, shares, NULL), 0);
    assert_int_equal(dpmf_model_explain(model, known, 2, NULL, 2, &without, known_shares, NULL), 0);
    assert_true(with.total == without.total && shares[1] == 0 && shares[2] == 0);
    assert_true(shares[0] == known_shares[0] && shares[3] == known_shares[1]);
    assert_int_equal(dpmf_model_explain(model, ratings, 0, NULL, 2, &with, shares, NULL), 0);
    assert_true(with.rating == dpmf_model_predict(model, UINT64_MAX, 2));
    assert_int_equal(dpmf_model_explain(model, ratings, 4, NULL, 10, &with, shares, NULL),
                     DPMF_ERR_MODEL_UNKNOWN_ID);
    dpmf_model_close(model);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_open),     TEST(test_predict), TEST(test_top_n),   TEST(test_ties),
        TEST(test_overflow), TEST(test_similar), TEST(test_explain), TEST(test_explain_unknown),
    };
    return cmocka_run_group_tests_name("recommend", tests, NULL, NULL);
}
