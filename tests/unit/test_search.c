/*
 * The search finds the bottom of bowls in few steps, from any seed, and better than chance; it
 * keeps to its bounds and steps, stretches the box where the bottom lies outside, passes over what
 * diverges, ends where there is nothing left to try, and asks the same questions again for the same
 * answers. The surface under it goes through the values it was given.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dpmf_text.h"
#include "random/random.h"
#include "tune/search.h"
#include "tune/surface.h"

enum { N_AXES = 4, TRIALS = 25 };

static const struct search_axis axes[N_AXES] = {
    {.start = 128, .low = 16, .high = 256, .least = 1, .most = 4096, .step = 8},
    {.start = 0.03, .low = 0.005, .high = 0.12, .least = 1e-6, .most = 10},
    {.start = 0.05, .low = 0.01, .high = 0.25, .least = 1e-6, .most = 10},
    {.start = 20, .low = 8, .high = 60, .least = 1, .most = 1000, .step = 1},
};

/* A bowl with a slope between its second and fourth axis, as a rate and a number of epochs have. */
static double bowl(const double *x, const double *bottom) {
    double d[N_AXES];
    for (size_t i = 0; i < N_AXES; i++) d[i] = log(x[i] / bottom[i]);
    return 0.8 + 0.01 * d[0] * d[0] + 0.05 * d[1] * d[1] + 0.04 * d[2] * d[2] + 0.03 * d[3] * d[3] +
           0.02 * d[1] * d[3];
}

static double search_bowl(const double *bottom, uint64_t seed, int trials, double *best) {
    struct search *search = NULL;
    double least = INFINITY, x[N_AXES];
    assert_int_equal(search_init(&search, axes, N_AXES, seed, NULL), 0);
    for (int t = 0; t < trials; t++) {
        assert_int_equal(search_next(search, x, NULL), 1);
        double value = bowl(x, bottom);
        if (value < least) {
            least = value;
            memcpy(best, x, sizeof x);
        }
        assert_int_equal(search_tell(search, x, value, NULL), 0);
    }
    search_free(search);
    return least;
}

static void test_finds_the_bottom(void **state) {
    (void)state;
    const double bottom[N_AXES] = {64, 0.012, 0.11, 35};
    double x[N_AXES];
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double least = search_bowl(bottom, seed, TRIALS, x);
        assert_true(bowl((double[]){128, 0.03, 0.05, 20}, bottom) - 0.8 > 0.05);
        assert_true(least - 0.8 < 0.002);
    }
}

static void test_is_better_than_chance(void **state) {
    (void)state;
    const double bottom[N_AXES] = {64, 0.012, 0.11, 35};
    double searched = 0, drawn = 0, x[N_AXES];
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct random_stream random;
        double least = INFINITY;
        random_stream_init(&random, seed, 1, 0);
        for (int t = 0; t < TRIALS; t++) {
            for (size_t i = 0; i < N_AXES; i++)
                x[i] = axes[i].low * pow(axes[i].high / axes[i].low, random_uniform(&random));
            least = fmin(least, bowl(x, bottom));
        }
        drawn += least - 0.8;
        searched += search_bowl(bottom, seed, TRIALS, x) - 0.8;
    }
    assert_true(searched < 0.2 * drawn);
}

/* The rates' bottom lies below where the search begins to look. */
static void test_stretches_the_box(void **state) {
    (void)state;
    const double bottom[N_AXES] = {128, 0.001, 0.05, 20};
    double x[N_AXES];
    assert_true(search_bowl(bottom, 1, 40, x) - 0.8 < 0.02);
    assert_true(x[1] < axes[1].low);
}

static void test_begins_with_the_start_and_keeps_to_steps(void **state) {
    (void)state;
    struct search *search = NULL;
    double x[N_AXES];
    assert_int_equal(search_init(&search, axes, N_AXES, 7, NULL), 0);
    for (int t = 0; t < 30; t++) {
        assert_int_equal(search_next(search, x, NULL), 1);
        for (size_t i = 0; i < N_AXES; i++) {
            if (t == 0) assert_true(x[i] == axes[i].start);
            assert_true(x[i] >= axes[i].least && x[i] <= axes[i].most);
            if (axes[i].step > 0) assert_true(fmod(x[i], axes[i].step) == 0);
        }
        char text[32];
        double read;
        snprintf(text, sizeof text, "%.3g", x[1]);
        assert_int_equal(dpmf_parse_double(text, &read), 0);
        assert_true(read == x[1]); /* what is printed is what was tried */
        assert_int_equal(search_tell(search, x, bowl(x, x), NULL), 0); /* flat */
    }
    search_free(search);
}

static void test_same_answers_same_questions(void **state) {
    (void)state;
    const double bottom[N_AXES] = {64, 0.012, 0.11, 35};
    struct search *a = NULL, *b = NULL;
    double x[N_AXES], y[N_AXES];
    bool differs = false;
    struct search *other = NULL;
    assert_int_equal(search_init(&a, axes, N_AXES, 3, NULL), 0);
    assert_int_equal(search_init(&b, axes, N_AXES, 3, NULL), 0);
    assert_int_equal(search_init(&other, axes, N_AXES, 4, NULL), 0);
    for (int t = 0; t < 15; t++) {
        assert_int_equal(search_next(a, x, NULL), 1);
        assert_int_equal(search_next(b, y, NULL), 1);
        assert_memory_equal(x, y, sizeof x);
        search_tell(a, x, bowl(x, bottom), NULL);
        search_tell(b, y, bowl(y, bottom), NULL);
        assert_int_equal(search_next(other, y, NULL), 1);
        search_tell(other, y, bowl(y, bottom), NULL);
        differs |= memcmp(x, y, sizeof x) != 0;
    }
    assert_true(differs);
    search_free(a);
    search_free(b);
    search_free(other);
}

/* Rates above 0.02 diverge, the start among them. */
static void test_gets_away_from_what_diverges(void **state) {
    (void)state;
    const double bottom[N_AXES] = {64, 0.012, 0.11, 35};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct search *search = NULL;
        double x[N_AXES], least = INFINITY;
        assert_int_equal(search_init(&search, axes, N_AXES, seed, NULL), 0);
        for (int t = 0; t < 35; t++) {
            assert_int_equal(search_next(search, x, NULL), 1);
            double value = x[1] > 0.02 ? (t % 2 ? (double)NAN : (double)INFINITY) : bowl(x, bottom);
            if (value < least) least = value;
            search_tell(search, x, value, NULL);
        }
        assert_true(least - 0.8 < 0.005);
        search_free(search);
    }
}

/* Everything in the box diverges, and what does not lies far below it. */
static void test_retreats(void **state) {
    (void)state;
    const double bottom[N_AXES] = {64, 0.0002, 0.05, 20};
    struct search_axis risky[N_AXES];
    memcpy(risky, axes, sizeof risky);
    risky[1].is_risky = true;
    struct search *search = NULL;
    double x[N_AXES], least = INFINITY;
    assert_int_equal(search_init(&search, risky, N_AXES, 1, NULL), 0);
    for (int t = 0; t < 35; t++) {
        assert_int_equal(search_next(search, x, NULL), 1);
        double value = x[1] > 0.001 ? (double)NAN : bowl(x, bottom);
        if (value < least) least = value;
        search_tell(search, x, value, NULL);
    }
    assert_true(least - 0.8 < 0.01);
    search_free(search);
}

static void test_all_diverge(void **state) {
    (void)state;
    struct search *search = NULL;
    double x[N_AXES];
    assert_int_equal(search_init(&search, axes, N_AXES, 1, NULL), 0);
    for (int t = 0; t < 20; t++) {
        assert_int_equal(search_next(search, x, NULL), 1);
        search_tell(search, x, NAN, NULL);
    }
    search_free(search);
}

static void test_what_is_held_stays(void **state) {
    (void)state;
    const double bottom[N_AXES] = {64, 0.012, 0.11, 35};
    struct search_axis some[N_AXES];
    struct search *search = NULL;
    double x[N_AXES];
    memcpy(some, axes, sizeof some);
    some[0].is_held = some[2].is_held = true;
    some[2].start = 0; /* a penalty of nothing can be held, though not looked for */
    assert_int_equal(search_init(&search, some, N_AXES, 1, NULL), 0);
    for (int t = 0; t < 20; t++) {
        assert_int_equal(search_next(search, x, NULL), 1);
        assert_true(x[0] == 128 && x[2] == 0);
        x[2] = bottom[2];
        double value = bowl(x, bottom);
        x[2] = 0;
        search_tell(search, x, value, NULL);
    }
    search_free(search);
}

static void test_ends_when_all_is_tried(void **state) {
    (void)state;
    struct search_axis held = axes[1];
    const struct search_axis few = {
        .start = 2, .low = 1, .high = 4, .least = 1, .most = 4, .step = 1};
    struct search *search = NULL;
    double x;
    held.is_held = true;
    assert_int_equal(search_init(&search, &held, 1, 1, NULL), 0);
    assert_int_equal(search_next(search, &x, NULL), 1);
    search_tell(search, &x, 1, NULL);
    assert_int_equal(search_next(search, &x, NULL), 0);
    search_free(search);
    assert_int_equal(search_init(&search, &few, 1, 1, NULL), 0);
    for (int t = 0; t < 4; t++) {
        assert_int_equal(search_next(search, &x, NULL), 1);
        search_tell(search, &x, x, NULL);
    }
    assert_int_equal(search_next(search, &x, NULL), 0);
    search_free(search);
}

static void test_many_points(void **state) {
    (void)state;
    const double bottom[N_AXES] = {64, 0.012, 0.11, 35};
    struct search *search = NULL;
    double x[N_AXES];
    assert_int_equal(search_init(&search, axes, N_AXES, 1, NULL), 0);
    struct random_stream random;
    random_stream_init(&random, 1, 2, 0);
    for (int t = 0; t < SURFACE_POINTS_MAX + 40; t++) {
        for (size_t i = 0; i < N_AXES; i++)
            x[i] = axes[i].low * pow(axes[i].high / axes[i].low, random_uniform(&random));
        search_tell(search, x, t % 3 == 0 ? (double)NAN : bowl(x, bottom), NULL);
    }
    assert_int_equal(search_next(search, x, NULL), 1);
    search_free(search);
}

static void test_bad_axes(void **state) {
    (void)state;
    struct search *search = NULL;
    struct search_axis bad = axes[0];
    bad.low = 0;
    assert_int_equal(search_init(&search, &bad, 1, 1, NULL), DPMF_ERR_BASE_BUG);
    bad = axes[0];
    bad.start = 1000;
    assert_int_equal(search_init(&search, &bad, 1, 1, NULL), DPMF_ERR_BASE_BUG);
    assert_int_equal(search_init(&search, axes, 0, 1, NULL), DPMF_ERR_BASE_BUG);
    assert_null(search);
}

/* The expected value at a point: against a `best` far above it, what is expected to be gained is
 * the whole distance. */
static double value_at(struct surface *surface, const double *point) {
    const double far = 1000;
    return far - surface_improvement(surface, point, far);
}

static void test_surface_goes_through_its_points(void **state) {
    (void)state;
    enum { N = 9 };
    double at[N], values[N];
    struct surface *surface = NULL;
    for (int i = 0; i < N; i++) {
        at[i] = i / 8.0;
        values[i] = 3 + (at[i] - 0.3) * (at[i] - 0.3);
    }
    assert_int_equal(surface_fit(&surface, at, values, N, 1, NULL), 0);
    for (int i = 0; i < N; i++) assert_true(fabs(value_at(surface, &at[i]) - values[i]) < 0.002);
    assert_true(fabs(value_at(surface, &(double){0.3}) - 3) < 0.005);
    /* More is to be had near the bottom than at the top, and never less than nothing. */
    double near = surface_improvement(surface, &(double){0.31}, values[2]);
    double far = surface_improvement(surface, &(double){0.95}, values[2]);
    assert_true(near > far && far >= 0);
    surface_free(surface);
    assert_int_equal(surface_fit(&surface, at, (double[]){2, 2, 2}, 3, 1, NULL), 0);
    assert_true(fabs(value_at(surface, &(double){0.7}) - 2) < 1e-9);
    surface_free(surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_bottom),
        cmocka_unit_test(test_is_better_than_chance),
        cmocka_unit_test(test_stretches_the_box),
        cmocka_unit_test(test_begins_with_the_start_and_keeps_to_steps),
        cmocka_unit_test(test_same_answers_same_questions),
        cmocka_unit_test(test_gets_away_from_what_diverges),
        cmocka_unit_test(test_retreats),
        cmocka_unit_test(test_all_diverge),
        cmocka_unit_test(test_what_is_held_stays),
        cmocka_unit_test(test_ends_when_all_is_tried),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_bad_axes),
        cmocka_unit_test(test_surface_goes_through_its_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
