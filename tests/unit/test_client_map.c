/*
 * The map: directions are those of a plain power iteration, coordinates lie within the picture, the
 * same model gives the same map, and where there is nothing to see everything is at its centre.
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

/* Items that differ much in one direction, less in a second, and little in all others. */
static struct dpmf_model *open_flat(const struct temp_dir *dir, uint64_t items, uint32_t k) {
    struct dpmf_model *model = client_open_release(dir, items, k, 0.5, 0.25, 1);
    uint64_t random = 5;
    for (uint64_t i = 0; i < items; i++) {
        float *row = model->factors.items.rows + i * model->factors.items.stride;
        const float x = 3 * make_uniform(&random), y = make_uniform(&random);
        for (uint32_t c = 0; c < k; c++)
            row[c] = 0.5f + 0.01f * make_uniform(&random) + x * (c % 2 ? 0.5f : 1) +
                     y * (c % 3 ? 1 : -0.7f);
    }
    assert_int_equal(model_items_measure(model, NULL), 0);
    return model;
}

/* The first two eigenvectors of the covariance, by iteration, each without those before it. */
static void plain_axes(const struct dpmf_model *model, double *mean, double *axes) {
    const struct factor_matrix *items = &model->factors.items;
    const size_t k = model->factors.k;
    double *next = calloc(k, sizeof *next);
    assert_non_null(next);
    for (size_t c = 0; c < k; c++) {
        mean[c] = 0;
        for (uint64_t i = 0; i < items->n; i++)
            mean[c] += (double)items->rows[i * items->stride + c] / (double)items->n;
    }
    for (size_t a = 0; a < 2 && a < k; a++) {
        double *axis = axes + a * k;
        for (size_t c = 0; c < k; c++) axis[c] = 1 + (double)(c * 7 % 5);
        for (int step = 0; step < 300; step++) {
            double along = 0, square = 0;
            for (size_t c = 0; c < k; c++) next[c] = 0;
            for (uint64_t i = 0; i < items->n; i++) {
                const float *row = items->rows + i * items->stride;
                double product = 0;
                for (size_t c = 0; c < k; c++) product += ((double)row[c] - mean[c]) * axis[c];
                for (size_t c = 0; c < k; c++) next[c] += product * ((double)row[c] - mean[c]);
            }
            for (size_t c = 0; a == 1 && c < k; c++) along += next[c] * axes[c];
            for (size_t c = 0; a == 1 && c < k; c++) next[c] -= along * axes[c];
            for (size_t c = 0; c < k; c++) square += next[c] * next[c];
            for (size_t c = 0; c < k; c++) axis[c] = next[c] / sqrt(square);
        }
    }
    free(next);
}

/* An item along a plain axis, and where the map has it. */
struct spot {
    double plain, place;
};

static struct spot find_spot(const struct dpmf_model *model, const struct dpmf_map *map,
                             const double *axis, size_t a, uint64_t item) {
    const float *row = model_item_row(model, item);
    struct spot spot = {0, 0};
    float xy[2];
    for (size_t c = 0; c < model->factors.k; c++) spot.plain += axis[c] * (double)row[c];
    dpmf_map_item(map, item, xy);
    assert_true(fabsf(xy[a]) <= 1);
    spot.place = (double)xy[a];
    return spot;
}

/* Places are a linear function of the plain ones, the same for all items within the borders, at
 * which few are; half of the items are on either side of the middle. */
static void check_axis(const struct dpmf_model *model, const struct dpmf_map *map,
                       const double *axis, size_t a, double tolerance) {
    const uint64_t n = model->factors.items.n;
    struct spot low = {INFINITY, 0}, high = {-INFINITY, 0};
    uint64_t at_border = 0, below = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct spot spot = find_spot(model, map, axis, a, i);
        at_border += fabs(spot.place) == 1;
        below += spot.place < 0;
        if (fabs(spot.place) == 1) continue;
        if (spot.plain < low.plain) low = spot;
        if (spot.plain > high.plain) high = spot;
    }
    assert_true(at_border >= 1 && at_border <= n / 50 + 1);
    assert_true(below > n * 2 / 5 && below < n * 3 / 5);
    const double factor = (high.place - low.place) / (high.plain - low.plain);
    for (uint64_t i = 0; i < n; i++) {
        struct spot spot = find_spot(model, map, axis, a, i);
        if (fabs(spot.place) == 1) continue;
        const double expected = low.place + factor * (spot.plain - low.plain);
        if (!(fabs(spot.place - expected) < tolerance))
            fail_msg("axis %zu: %g and not %g", a, spot.place, expected);
    }
}

static void check_directions(const struct dpmf_model *model, double tolerance) {
    const size_t k = model->factors.k;
    double *mean = calloc(k, sizeof *mean), *axes = calloc(2 * k, sizeof *axes);
    struct dpmf_map *map;
    assert_true(mean && axes);
    plain_axes(model, mean, axes);
    assert_int_equal(dpmf_map_make(model, &map, NULL), 0);
    for (size_t a = 0; a < 2; a++) check_axis(model, map, axes + a * k, a, tolerance);
    dpmf_map_free(map);
    free(mean);
    free(axes);
}

static void test_directions(void **state) {
    struct dpmf_model *model = open_flat(*state, 500, 8);
    check_directions(model, 1e-4);
    dpmf_model_close(model);
    model = open_flat(*state, 300, 128);
    check_directions(model, 1e-4);
    dpmf_model_close(model);
    /* More columns than are decomposed: by way of some of the items, so nearly. */
    model = open_flat(*state, 300, 200);
    check_directions(model, 0.2);
    dpmf_model_close(model);
    /* More items than are looked at for directions. */
    model = open_flat(*state, 40000, 4);
    check_directions(model, 0.05);
    dpmf_model_close(model);
}

static void test_same_again(void **state) {
    struct dpmf_model *model = client_open_release(*state, 700, 12, 0.5, 0.25, 3);
    struct dpmf_map *map, *again;
    assert_int_equal(dpmf_map_make(model, &map, NULL), 0);
    assert_int_equal(dpmf_map_make(model, &again, NULL), 0);
    for (uint64_t i = 0; i < 700; i++) {
        float xy[2], same[2];
        dpmf_map_item(map, i, xy);
        dpmf_map_item(again, i, same);
        assert_memory_equal(xy, same, sizeof xy);
    }
    dpmf_map_free(map);
    dpmf_map_free(again);
    dpmf_map_free(NULL);
    dpmf_model_close(model);
}

/* Whoever likes just one item, and has no bias to speak of, points where that item is. */
static void test_users(void **state) {
    struct dpmf_model *model = client_open_release(*state, 60, 6, 1e-6, 1e6, 3);
    struct dpmf_map *map;
    struct dpmf_user *user;
    float xy[2], place[2];
    assert_int_equal(dpmf_map_make(model, &map, NULL), 0);
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    dpmf_map_user(map, user, xy);
    assert_true(xy[0] == 0 && xy[1] == 0);
    for (uint64_t i = 0; i < 60; i++) {
        assert_int_equal(dpmf_user_rate(model, user, i, 5, NULL), 0);
        const float *v = model_item_row(model, i);
        double product = model_dot_double(dpmf_user_vector(user), v, 6), square = 0, sum = 0;
        for (size_t c = 0; c < 6; c++)
            square += dpmf_user_vector(user)[c] * dpmf_user_vector(user)[c];
        assert_true(product / sqrt(square * model_dot(v, v, 6)) > 0.999);
        for (uint64_t j = 0; j < 60; j++)
            sum += model_dot(model_item_row(model, j), model_item_row(model, j), 6);
        /* An item that is as long as items are in the mean is where the user is. */
        const double stretch = sqrt(sum / 60) / sqrt(model_dot(v, v, 6));
        dpmf_map_user(map, user, xy);
        dpmf_map_item(map, i, place);
        for (size_t a = 0; a < 2; a++) {
            assert_true(fabsf(xy[a]) <= 1);
            if (stretch > 0.99 && stretch < 1.01 && fabsf(place[a]) < 0.9f)
                assert_true(fabsf(xy[a] - place[a]) < 0.05f);
        }
        assert_int_equal(dpmf_user_rate(model, user, i, NAN, NULL), 0);
    }
    dpmf_user_free(user);
    dpmf_map_free(map);
    dpmf_model_close(model);
}

static void check_centre(const struct dpmf_model *model, bool with_first) {
    struct dpmf_map *map;
    assert_int_equal(dpmf_map_make(model, &map, NULL), 0);
    for (uint64_t i = 0; i <= model->factors.items.n; i++) {
        float xy[2] = {7, 7};
        dpmf_map_item(map, i, xy);
        assert_true(fabsf(xy[0]) <= 1 && xy[1] == 0 && (with_first || xy[0] == 0));
    }
    float xy[2] = {7, 7};
    dpmf_map_item(map, UINT64_MAX, xy);
    assert_true(xy[0] == 0 && xy[1] == 0);
    struct dpmf_user *user;
    assert_int_equal(dpmf_user_fold_in(model, NULL, 0, &user, NULL), 0);
    dpmf_map_user(map, user, xy);
    assert_true(xy[0] == 0 && xy[1] == 0);
    dpmf_user_free(user);
    dpmf_map_free(map);
}

/* No factors, no items, one item, all items alike, a single direction. */
static void test_nothing_to_see(void **state) {
    struct dpmf_model *model = client_open_release(*state, 9, 0, 0, 1, 1);
    check_centre(model, false);
    dpmf_model_close(model);
    model = client_open_release(*state, 0, 3, 1, 1, 1);
    check_centre(model, false);
    dpmf_model_close(model);
    model = client_open_release(*state, 1, 3, 1, 1, 1);
    check_centre(model, false);
    dpmf_model_close(model);
    model = client_open_release(*state, 9, 3, 1, 1, 1);
    for (uint64_t i = 0; i < 9; i++)
        for (size_t c = 0; c < 3; c++)
            model->factors.items.rows[i * model->factors.items.stride + c] = 0.25f;
    assert_int_equal(model_items_measure(model, NULL), 0);
    check_centre(model, false);
    dpmf_model_close(model);
    model = client_open_release(*state, 9, 1, 1, 1, 1);
    check_centre(model, true);
    dpmf_model_close(model);
}

/* Nearly all items at one point: the others are still to be seen, and within the picture. */
static void test_few_apart(void **state) {
    struct dpmf_model *model = client_open_release(*state, 1000, 2, 1, 1, 1);
    struct dpmf_map *map;
    float xy[2], far[2];
    memset(model->factors.items.rows, 0, 1000 * model->factors.items.stride * sizeof(float));
    model->factors.items.rows[0] = 3e38f;
    model->factors.items.rows[1] = -3e38f;
    assert_int_equal(model_items_measure(model, NULL), 0);
    assert_int_equal(dpmf_map_make(model, &map, NULL), 0);
    dpmf_map_item(map, 0, far);
    dpmf_map_item(map, 1, xy);
    assert_true(fabsf(far[0]) == 1 && fabsf(far[1]) <= 1 && xy[0] == 0 && xy[1] == 0);
    dpmf_map_free(map);
    dpmf_model_close(model);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_directions),     TEST(test_same_again), TEST(test_users),
        TEST(test_nothing_to_see), TEST(test_few_apart),
    };
    return cmocka_run_group_tests_name("client_map", tests, NULL, NULL);
}
