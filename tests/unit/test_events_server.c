/*
 * The curator's half of `events` on numbers that runs hardly ever meet: features that tell nothing
 * and more of them than are looked at, one item, rounds without any signal, and sums beyond all
 * that noise can make.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mechanisms/events/events.h"

enum { ITEMS = 64, FEATURES_MAX = 48, FACTORS = 4 };

struct bed {
    struct events_rule rule;
    struct public_model model;
    struct events_server *server;
    struct catalogue catalogue;
    double features[ITEMS * FEATURES_MAX], sums[ITEMS * EVENTS_FACTORS_MAX];
};

/* Popularity that falls from item to item, and features that are waves of different lengths. */
static void make(struct bed *bed, size_t n_items, size_t n_features, size_t n_factors) {
    double popularity[ITEMS];
    const struct events_popularity counts = {popularity, 1};
    *bed = (struct bed){.rule = events_rule_make(1)};
    bed->catalogue.n_features = n_features;
    bed->catalogue.features = bed->features;
    for (size_t j = 0; j < n_items; j++) {
        popularity[j] = 100 - (double)j;
        for (size_t f = 0; f < n_features; f++)
            bed->features[j * n_features + f] = sin((double)((f + 1) * (2 * j + 1)) * 0.05);
    }
    events_rule_finish(&bed->rule, 1000, ITEMS);
    bed->rule.factors = n_factors;
    assert_int_equal(public_model_init(&bed->model, n_items, NULL), 0);
    events_popularity_read(&counts, &bed->rule, &bed->model);
}

static void begin(struct bed *bed) {
    assert_int_equal(
        events_server_init(&bed->server, &bed->rule, &bed->catalogue, &bed->model, NULL), 0);
}

/* A round whose noisy sums are all x, or waves of that height where `waves`. */
static void step(struct bed *bed, double x, bool waves) {
    for (size_t i = 0; i < bed->model.n_items * bed->model.K; i++)
        bed->sums[i] = waves ? x * sin((double)(i * i)) : x;
    assert_int_equal(events_server_step(bed->server, bed->sums, 0.1, &bed->model, NULL), 0);
}

static void end(struct bed *bed) {
    events_server_free(bed->server);
    public_model_free(&bed->model);
}

static void check_finite(const struct public_model *model) {
    for (size_t j = 0; j < model->n_items; j++)
        for (size_t a = 0; a < model->K; a++)
            assert_true(isfinite(model->rows[j * model->stride + a]));
}

/* The directions that are looked along first are orthogonal and of length 1, but for those of
 * length 0. @return how many have a length */
static size_t count_directions(const struct public_model *model) {
    size_t n = 0;
    for (size_t a = 0; a < model->K; a++)
        for (size_t b = 0; b <= a; b++) {
            double along = 0;
            for (size_t j = 0; j < model->n_items; j++)
                along += model->rows[j * model->stride + a] * model->rows[j * model->stride + b];
            if (a == b && along > 0.5) n++;
            assert_true(fabs(along - (a == b && along > 0.5)) < 1e-6);
        }
    return n;
}

/* A feature that all items have alike tells nothing apart: as if it were not there. */
static void test_a_constant_feature(void **state) {
    (void)state;
    static struct bed bed;
    for (size_t n_constant = 1; n_constant <= 2; n_constant++) {
        make(&bed, ITEMS, 2, FACTORS);
        for (size_t j = 0; j < ITEMS; j++) {
            bed.features[2 * j] = 3;
            if (n_constant == 2) bed.features[2 * j + 1] = -1;
        }
        begin(&bed);
        assert_int_equal(count_directions(&bed.model), bed.model.K);
        assert_int_equal(bed.model.K, FACTORS);
        step(&bed, 1, true);
        check_finite(&bed.model);
        end(&bed);
    }
}

/* Of more features than are looked along, the strongest. */
static void test_many_features(void **state) {
    (void)state;
    static struct bed bed;
    make(&bed, ITEMS, FEATURES_MAX, FACTORS);
    begin(&bed);
    assert_int_equal(bed.model.K, EVENTS_START_FEATURES);
    assert_int_equal(count_directions(&bed.model), EVENTS_START_FEATURES);
    step(&bed, 1, true);
    assert_int_equal(bed.model.K, FACTORS);
    check_finite(&bed.model);
    end(&bed);
}

/* Of one item, nothing is left beside popularity. */
static void test_one_item(void **state) {
    (void)state;
    static struct bed bed;
    make(&bed, 1, 0, 1);
    begin(&bed);
    assert_int_equal(bed.model.K, 1);
    assert_true(fabs(bed.model.rows[0]) <= 1);
    step(&bed, 1, false);
    check_finite(&bed.model);
    assert_int_equal(events_server_finish(bed.server, &bed.model, NULL), 0);
    check_finite(&bed.model);
    end(&bed);
}

/* Rounds that say nothing make a release of popularity alone; so do sums that are not finite, or
 * whose squares are not. */
static void test_no_signal(void **state) {
    (void)state;
    static struct bed bed;
    static const double sums[] = {0, NAN, INFINITY, 1e200};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        for (size_t n_features = 0; n_features < 2; n_features++) {
            make(&bed, ITEMS, n_features, FACTORS);
            begin(&bed);
            step(&bed, sums[i], sums[i] != 0);
            assert_int_equal(events_server_finish(bed.server, &bed.model, NULL), 0);
            assert_int_equal(bed.model.K, 0);
            end(&bed);
        }
}

/* Popularity next to nothing makes vectors whose squares are beyond all numbers. */
static void test_squares_beyond_numbers(void **state) {
    (void)state;
    static struct bed bed;
    make(&bed, ITEMS, 0, FACTORS);
    begin(&bed);
    for (size_t j = 0; j < ITEMS; j++) bed.model.counts[j] = 1e-312;
    assert_int_equal(events_server_finish(bed.server, &bed.model, NULL), 0);
    assert_int_equal(bed.model.K, 0);
    end(&bed);
}

/* With a signal there are factors, of total variance 1 by popularity. */
static void test_signal(void **state) {
    (void)state;
    static struct bed bed;
    make(&bed, ITEMS, 0, FACTORS);
    begin(&bed);
    for (int t = 0; t < 2; t++) step(&bed, 100, true);
    assert_int_equal(events_server_finish(bed.server, &bed.model, NULL), 0);
    assert_int_equal(bed.model.K, FACTORS);
    double total = 0, variance = 0;
    for (size_t j = 0; j < ITEMS; j++) total += bed.model.counts[j];
    for (size_t j = 0; j < ITEMS; j++)
        for (size_t a = 0; a < FACTORS; a++)
            variance +=
                bed.model.counts[j] / total * pow(bed.model.rows[j * bed.model.stride + a], 2);
    assert_true(fabs(variance - 1) < 1e-9);
    end(&bed);
}

/* ---- at home --------------------------------------------------------------------------------- */

/* Where items have no vectors, nobody has a taste, and items of equal popularity tie: a tie counts
 * as half a rank. */
static void test_nobody_has_a_taste(void **state) {
    (void)state;
    static struct bed bed;
    static const uint32_t row[] = {1, 2, 5};
    static const float y[] = {1, 1, 1};
    const struct private_user user = {3, row, y, 1, 0};
    struct events_score score;
    double p[2], gains[EVENTS_WEIGHTS];
    make(&bed, ITEMS, 0, FACTORS);
    assert_int_equal(public_model_widen(&bed.model, 2, NULL), 0);
    for (size_t j = 0; j < ITEMS; j++) {
        bed.model.c[j] = 0.5;
        for (size_t a = 0; a < 2; a++) bed.model.rows[j * bed.model.stride + a] = 0;
    }
    events_score_init(&score, &bed.model, &bed.rule);
    assert_true(score.penalty == 0);
    events_score_person(&score, &user, SIZE_MAX, p);
    assert_true(p[0] == 0 && p[1] == 0);
    assert_true(events_score_gains(&score, 0, &user, gains));
    const double rank = EVENTS_NEGATIVES / 2.0 / bed.rule.vote_rank;
    for (size_t w = 0; w < EVENTS_WEIGHTS; w++)
        assert_true(fabs(gains[w] - 1 / (1 + rank * rank)) < 1e-12);
    end(&bed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_constant_feature),
        cmocka_unit_test(test_many_features),
        cmocka_unit_test(test_one_item),
        cmocka_unit_test(test_no_signal),
        cmocka_unit_test(test_squares_beyond_numbers),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_nobody_has_a_taste),
    };
    return cmocka_run_group_tests_name("events server", tests, NULL, NULL);
}
