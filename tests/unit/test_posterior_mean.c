/*
 * A mean of samples is one model: it predicts the mean of what its samples predict, its blocks what
 * each of them does, and it is the same wherever the users' rows are. Intervals are quantiles of
 * the mixture of them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/kernels.h"
#include "recommend/model.h"
#include "sample/posterior_mean.h"
#include "temp_dir.h"
#include "whole_checkpoint.h"

enum { USERS = 37, ITEMS = 11, K = 5 };

static struct temp_dir directory;
static char model_file[TEMP_PATH_MAX], other_file[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "model.safetensors", model_file);
    temp_dir_file(&directory, "other.safetensors", other_file);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

struct case_of_samples {
    struct factors factors;
    struct row_store users;
    struct precisions precisions;
};

static void make_ids(struct factor_ids *ids, uint64_t n, char letter) {
    ids->n = n;
    ids->bytes = malloc(4 * n);
    ids->start = malloc((n + 1) * sizeof *ids->start);
    assert_true(ids->bytes && ids->start);
    ids->start[0] = 0;
    for (uint64_t i = 0; i < n; i++) {
        char text[8];
        int length = snprintf(text, sizeof text, "%c%u", letter, (unsigned)i);
        memcpy(ids->bytes + ids->start[i], text, (size_t)length);
        ids->start[i + 1] = ids->start[i] + (uint64_t)length;
    }
}

static void make_case(struct case_of_samples *c, double min, double max) {
    const size_t stride = kernel_set_choose(NULL)->stride(K);
    memset(c, 0, sizeof *c);
    c->factors = (struct factors){.k = K, .offset = (min + max) / 2, .min = min, .max = max};
    assert_int_equal(factor_matrix_init(&c->factors.users, USERS, stride, 0, NULL), 0);
    assert_int_equal(factor_matrix_init(&c->factors.items, ITEMS, stride, 0, NULL), 0);
    make_ids(&c->factors.user_ids, USERS, 'u');
    make_ids(&c->factors.item_ids, ITEMS, 'i');
    assert_int_equal(precisions_init(&c->precisions, K, factors_unit(min, max), NULL), 0);
    c->users = row_store_of(c->factors.users.rows, USERS, stride);
}

static void free_case(struct case_of_samples *c) {
    precisions_free(&c->precisions);
    factors_free(&c->factors);
}

/* The s-th sample, the same in every test. */
static void draw_sample(struct case_of_samples *c, uint32_t s) {
    const struct chain_key key = {.seed = 5, .round = s};
    struct random_stream random;
    random_stream_init(&random, 5, 3, s);
    precisions_begin(&c->precisions);
    for (size_t x = 0; x < K; x++) {
        c->precisions.users[x] *= 1 + random_uniform(&random);
        c->precisions.items[x] *= 1 + random_uniform(&random);
    }
    c->precisions.noise *= 1 + random_uniform(&random);
    precisions_draw_rows(&c->precisions, PRECISIONS_USERS, &c->factors.users, &key);
    precisions_draw_rows(&c->precisions, PRECISIONS_ITEMS, &c->factors.items, &key);
}

static double predict(const struct case_of_samples *c, uint64_t user, uint64_t item) {
    const struct factor_matrix *U = &c->factors.users, *V = &c->factors.items;
    double sum = c->factors.offset + (double)U->biases[user] + (double)V->biases[item];
    for (size_t x = 0; x < K; x++)
        sum += (double)U->rows[user * U->stride + x] * (double)V->rows[item * V->stride + x];
    return sum;
}

static void write_mean(struct case_of_samples *c, const struct row_store *users, uint32_t room,
                       uint32_t n, const char *file, struct checkpoint_state *state) {
    struct posterior_mean *mean;
    uint64_t first_user[] = {0, USERS};
    const struct rank_share share = {.first_user = first_user};
    *state = (struct checkpoint_state){.best_valid = NAN};
    assert_int_equal(posterior_mean_init(&mean, USERS, ITEMS, K, room, n, NULL), 0);
    for (uint32_t s = 1; s <= n; s++) {
        draw_sample(c, s);
        if (!users->rows)
            assert_int_equal(row_store_put(users, 0, USERS, c->factors.users.rows, NULL), 0);
        assert_int_equal(posterior_mean_add(mean, &c->factors, users, &c->precisions, NULL), 0);
    }
    assert_int_equal(posterior_mean_samples(mean), room < n ? room : n);
    assert_int_equal(posterior_mean_write(mean, file, &share, &c->factors, NULL, state, NULL, NULL),
                     0);
    posterior_mean_free(mean);
}

static struct dpmf_model *open_model(const char *file) {
    struct dpmf_model *model;
    struct dpmf_error error = {0};
    if (dpmf_model_open(file, &model, &error) != 0) fail_msg("%s", error.message);
    return model;
}

/* ---- the mean -------------------------------------------------------------------------------- */

/* On other scales than that of 1 to 5 as well. */
static void test_mean_of_predictions(void **state) {
    (void)state;
    static const double scales[][2] = {{1, 5}, {0, 100}, {0, 0.02}};
    enum { N = 6 };
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct case_of_samples c;
        struct checkpoint_state told;
        struct dpmf_model_info info;
        make_case(&c, scales[i][0], scales[i][1]);
        const double unit = c.precisions.unit;
        write_mean(&c, &c.users, N, N, model_file, &told);
        struct dpmf_model *model = open_model(model_file);
        dpmf_model_info(model, &info);
        assert_int_equal(info.samples, N);
        assert_int_equal(info.factors, N * (K + POSTERIOR_MEAN_MORE));
        double noise = 0;
        for (uint32_t s = 1; s <= N; s++) {
            draw_sample(&c, s);
            noise += c.precisions.noise / N;
        }
        assert_true(fabs(info.noise_precision / noise - 1) < 1e-12);
        assert_true(fabs(told.factor_penalty * noise - 1) < 1e-12);
        for (uint64_t user = 0; user < USERS; user++)
            for (uint64_t item = 0; item < ITEMS; item++) {
                double sum = 0;
                for (uint32_t s = 1; s <= N; s++) {
                    draw_sample(&c, s);
                    double wanted = predict(&c, user, item);
                    /* the block of this sample, and what all have in common */
                    const size_t width = K + POSTERIOR_MEAN_MORE;
                    const float *u = model_user_row(model, user) + (s - 1) * width;
                    const float *v = model_item_row(model, item) + (s - 1) * width;
                    double own = model_user_base(model, user) +
                                 (double)model->factors.items.biases[item] +
                                 N * model_dot(u, v, width);
                    assert_true(fabs(own - wanted) < 1e-5 * unit);
                    sum += wanted;
                }
                double found = dpmf_model_predict(model, user, item);
                assert_true(fabs(found - sum / N) < 1e-5 * unit);
            }
        dpmf_model_close(model);
        free_case(&c);
    }
}

/* The two columns that carry biases do not turn items around. */
static void test_items_are_alike(void **state) {
    (void)state;
    struct case_of_samples c;
    struct checkpoint_state told;
    make_case(&c, 1, 5);
    write_mean(&c, &c.users, 4, 4, model_file, &told);
    struct dpmf_model *model = open_model(model_file);
    const size_t width = K + POSTERIOR_MEAN_MORE;
    for (uint64_t a = 0; a < ITEMS; a++)
        for (uint64_t b = 0; b < a; b++) {
            double all[3] = {0}, bare[3] = {0};
            const float *x = model_item_row(model, a), *y = model_item_row(model, b);
            for (size_t i = 0; i < 4 * width; i++) {
                double *sums[] = {all, bare};
                for (int j = 0; j < (i % width < K ? 2 : 1); j++) {
                    sums[j][0] += (double)x[i] * (double)y[i];
                    sums[j][1] += (double)x[i] * (double)x[i];
                    sums[j][2] += (double)y[i] * (double)y[i];
                }
            }
            double cosine = all[0] / sqrt(all[1] * all[2]);
            assert_true(fabs(cosine - bare[0] / sqrt(bare[1] * bare[2])) < 0.02);
        }
    dpmf_model_close(model);
    free_case(&c);
}

/* Where there is not room for all samples, as many as fit, evenly spaced. */
static void test_thinning(void **state) {
    (void)state;
    struct case_of_samples c;
    struct checkpoint_state told;
    make_case(&c, 1, 5);
    write_mean(&c, &c.users, 3, 10, model_file, &told);
    assert_int_equal(told.samples, 3);
    struct dpmf_model *model = open_model(model_file);
    static const uint32_t kept[] = {4, 7, 10};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        draw_sample(&c, kept[i]);
        sum += predict(&c, 7, 3);
    }
    assert_true(fabs(dpmf_model_predict(model, 7, 3) - sum / 3) < 1e-5);
    dpmf_model_close(model);
    free_case(&c);
}

/* Users' rows in a file give the same bytes. */
static void test_rows_in_a_file(void **state) {
    (void)state;
    struct case_of_samples c;
    struct checkpoint_state told;
    struct row_store file;
    size_t n_a, n_b;
    make_case(&c, 1, 5);
    assert_int_equal(row_store_open(&file, model_file, USERS, c.factors.users.stride, NULL), 0);
    write_mean(&c, &c.users, 4, 4, model_file, &told);
    write_mean(&c, &file, 4, 4, other_file, &told);
    char *a = temp_dir_read(model_file, &n_a), *b = temp_dir_read(other_file, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(a, b, n_a);
    free(a);
    free(b);

    /* and so does one sample, scaled where it is */
    const size_t bytes = USERS * c.factors.users.stride * sizeof(float);
    float *rows = malloc(bytes);
    assert_non_null(rows);
    draw_sample(&c, 1);
    assert_int_equal(row_store_put(&file, 0, USERS, c.factors.users.rows, NULL), 0);
    double before = predict(&c, 3, 4);
    assert_int_equal(posterior_sample_scale(&c.factors, &c.users, &c.precisions, &told, NULL), 0);
    assert_true(fabs(predict(&c, 3, 4) - before) < 1e-5);
    assert_int_equal(told.samples, 1);
    assert_int_equal(posterior_sample_scale(&c.factors, &file, &c.precisions, &told, NULL), 0);
    const float *scaled = row_store_look(&file, 0, USERS, rows, NULL);
    assert_memory_equal(scaled, c.factors.users.rows, bytes);
    free(rows);
    row_store_close(&file);
    free_case(&c);
}

/* After scaling, users' vectors have unit variance, which is what the penalty for new users takes
 * for granted. */
static void test_prior_of_users(void **state) {
    (void)state;
    struct case_of_samples c;
    struct checkpoint_state told;
    double sum = 0;
    uint64_t n = 0;
    make_case(&c, 0, 100);
    for (uint32_t s = 1; s <= 40; s++) {
        draw_sample(&c, s);
        assert_int_equal(posterior_sample_scale(&c.factors, &c.users, &c.precisions, &told, NULL),
                         0);
        assert_true(fabs(told.bias_penalty - c.precisions.user_bias / c.precisions.noise) < 1e-12);
        for (uint64_t i = 0; i < USERS; i++)
            for (size_t x = 0; x < K; x++, n++) {
                double u = (double)c.factors.users.rows[i * c.factors.users.stride + x];
                sum += u * u;
            }
    }
    assert_true(fabs(sum / (double)n - 1) < 5 * sqrt(2 / (double)n));
    free_case(&c);
}

/* ---- how many samples there is room for ------------------------------------------------------ */

static void test_plan(void **state) {
    (void)state;
    struct dpmf_train_options options = dpmf_train_options_default();
    const uint64_t each = posterior_mean_bytes(1000, 100, 14, 1);
    uint64_t bytes = 1000 * each;
    uint32_t samples = 77;
    options.factors = 14;
    assert_int_equal(posterior_mean_plan(&options, 1000, 100, 500, &bytes, &samples), 0);
    assert_int_equal(samples, 0); /* no mean is wanted */
    options.sampler.average = true;
    assert_int_equal(posterior_mean_plan(&options, 1000, 100, 500, &bytes, &samples), 0);
    assert_int_equal(samples, 100);
    assert_int_equal(posterior_mean_plan(&options, 1000, 100, 20, &bytes, &samples), 0);
    assert_int_equal(samples, 20);
    bytes = 7 * each + each / 2;
    assert_int_equal(posterior_mean_plan(&options, 1000, 100, 500, &bytes, &samples), 0);
    assert_int_equal(samples, 7);
    options.sampler.samples = 8;
    assert_int_equal(posterior_mean_plan(&options, 1000, 100, 500, &bytes, &samples),
                     DPMF_ERR_USAGE_MEMORY);
    assert_int_equal(bytes, 8 * each);
    options.sampler.samples = 0;
    bytes = 2 * each - 1;
    assert_int_equal(posterior_mean_plan(&options, 1000, 100, 500, &bytes, &samples),
                     DPMF_ERR_USAGE_MEMORY);
    assert_int_equal(bytes, 2 * each);
    options.factors = 510;
    bytes = UINT64_C(1) << 40;
    assert_int_equal(posterior_mean_plan(&options, 1000, 100, 500, &bytes, &samples), 0);
    assert_int_equal(samples, 8); /* 512 columns each, 4096 in all */
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* The probability that the mixture gives an interval is its level, on both sides the same. */
static void test_intervals(void **state) {
    (void)state;
    enum { N = 5 };
    struct case_of_samples c;
    struct checkpoint_state told;
    make_case(&c, 1, 5);
    write_mean(&c, &c.users, N, N, model_file, &told);
    struct dpmf_model *model = open_model(model_file);
    const double noise = sqrt(told.noise_precision);
    static const double levels[] = {0.01, 0.5, 0.9, 0.999};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        double low, high, below = 0, above = 0;
        assert_int_equal(dpmf_model_interval(model, 3, 4, levels[i], &low, &high, NULL), 0);
        assert_true(low < high);
        for (uint32_t s = 1; s <= N; s++) {
            draw_sample(&c, s);
            double p = predict(&c, 3, 4);
            below += 0.5 * erfc((p - low) * noise / sqrt(2)) / N;
            above += 0.5 * erfc((high - p) * noise / sqrt(2)) / N;
        }
        assert_true(fabs(below - (1 - levels[i]) / 2) < 1e-5);
        assert_true(fabs(above - (1 - levels[i]) / 2) < 1e-5);
    }
    double low = 0, high = 0;
    assert_int_equal(dpmf_model_interval(model, UINT64_MAX, 4, 0.5, &low, &high, NULL), 0);
    assert_true(isnan(low) && isnan(high));
    assert_int_equal(dpmf_model_interval(model, 3, ITEMS, 0.5, &low, &high, NULL), 0);
    assert_true(isnan(low) && isnan(high));
    static const double wrong[] = {0, 1, -1, 2, NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(dpmf_model_interval(model, 3, 4, wrong[i], &low, &high, NULL),
                         DPMF_ERR_USAGE_VALUE);
    dpmf_model_close(model);

    /* one sample has no spread, and what is no sampler's has none either */
    draw_sample(&c, 1);
    assert_int_equal(posterior_sample_scale(&c.factors, &c.users, &c.precisions, &told, NULL), 0);
    for (int i = 0; i < 2; i++) {
        struct dpmf_error error = {0};
        assert_int_equal(whole_checkpoint_write(model_file, &c.factors, &told, NULL, NULL), 0);
        model = open_model(model_file);
        assert_int_equal(dpmf_model_interval(model, 3, 4, 0.5, &low, &high, &error),
                         DPMF_ERR_MODEL_KIND);
        assert_non_null(strstr(error.message, i == 0 ? "one sample" : "no samples"));
        assert_true(isnan(low) && isnan(high));
        dpmf_model_close(model);
        told = (struct checkpoint_state){.best_valid = NAN};
    }
    free_case(&c);
}

/* What the state says of samples must fit the rows. */
static void test_damaged_state(void **state) {
    (void)state;
    struct case_of_samples c;
    const struct checkpoint_state good = {.best_valid = NAN,
                                          .samples = 1,
                                          .sample_factors = K,
                                          .noise_precision = 2,
                                          .factor_penalty = 0.5,
                                          .bias_penalty = 0.4};
    make_case(&c, 1, 5);
    draw_sample(&c, 1);
    for (int i = 0; i < 8; i++) {
        struct checkpoint_state wrong = good;
        struct dpmf_model *model = NULL;
        struct dpmf_error error = {0};
        if (i == 1) wrong.samples = 2;
        if (i == 2) wrong.sample_factors = K + 1;
        if (i == 3) wrong.noise_precision = 0;
        if (i == 4) wrong.noise_precision = -1;
        if (i == 5) wrong.factor_penalty = 0;
        if (i == 6) wrong.bias_penalty = -0.1;
        if (i == 7) wrong.samples = wrong.sample_factors = UINT32_MAX;
        assert_int_equal(whole_checkpoint_write(model_file, &c.factors, &wrong, NULL, NULL), 0);
        int code = dpmf_model_open(model_file, &model, &error);
        assert_int_equal(code, i == 0 ? 0 : DPMF_ERR_MODEL_CORRUPT);
        dpmf_model_close(model);
    }
    free_case(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_of_predictions),
        cmocka_unit_test(test_items_are_alike),
        cmocka_unit_test(test_thinning),
        cmocka_unit_test(test_rows_in_a_file),
        cmocka_unit_test(test_prior_of_users),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_damaged_state),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
