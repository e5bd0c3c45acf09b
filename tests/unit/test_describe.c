/*
 * describe against the same figures worked out plainly from the list of ratings, for few values,
 * many values and none; the answer does not depend on the threads; the plot is a whole SVG file.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "random/random.h"
#include "store_triples.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char path[TEMP_PATH_MAX], plot_path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    temp_dir_file(&directory, "x.svg", plot_path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* A rating for each pair with some probability, `value` of it given by the test. */
static void make_ratings(struct triples *out, int users, int items, double part,
                         double (*value)(struct random_stream *), bool times) {
    struct random_stream random;
    random_stream_init(&random, 11, 1, (uint64_t)users);
    for (int u = 0; u < users; u++) {
        for (int i = 0; i < items; i++) {
            double p = part * 4 * (u + 1) / users * (items - i) / items;
            if (i != u % items && random_uniform(&random) >= p) continue;
            char user[16], item[16];
            snprintf(user, sizeof user, "u%d", u);
            snprintf(item, sizeof item, "i%d", i);
            bool no_time = !times || random_below(&random, 10) == 0;
            int64_t time = no_time ? STORE_NO_TIME : (int64_t)random_below(&random, 1000) - 500;
            triples_add(out, triple_make(user, item, value(&random), time));
        }
    }
    triples_sort(out);
}

static double stars(struct random_stream *r) { return (double)random_below(r, 10) / 2 + 0.5; }
static double hundred(struct random_stream *r) { return (double)random_below(r, 101); }
static double real(struct random_stream *r) { return random_gaussian(r); }
static double three(struct random_stream *r) { return (double[]){1, 2.5, 3.5}[random_below(r, 3)]; }
static double one(struct random_stream *r) { return (double)(random_u32(r) & 0) + 4; }
static double tenths(struct random_stream *r) { return (double)random_below(r, 11) / 10; }
static double uneven(struct random_stream *r) { return exp((double)random_below(r, 40)); }
static double extreme(struct random_stream *r) { return random_below(r, 2) ? 1.7e308 : -1.7e308; }
static double extremes(struct random_stream *r) {
    return (random_uniform(r) < 0.5 ? 1.7e308 : -1.7e308) * random_uniform(r);
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_percentiles(uint64_t *counts, size_t n, const uint64_t *percentile) {
    qsort(counts, n, sizeof *counts, compare_u64);
    for (int p = 0; p < DPMF_PERCENTILES; p++) {
        size_t rank = (size_t)ceil(dpmf_percentile_levels[p] / 100 * (double)n);
        assert_int_equal(percentile[p], counts[rank > 0 ? rank - 1 : 0]);
    }
}

static struct dpmf_description describe(int threads, const char *plot) {
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    struct dpmf_store *store;
    struct dpmf_description d;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(dpmf_store_describe(store, plot, &run, &d, NULL), 0);
    dpmf_store_close(store);
    return d;
}

static void check(const struct triples *t, const struct dpmf_description *d, int users, int items) {
    size_t n = t->n;
    double *value = malloc(n * sizeof *value), mean = 0, squares = 0;
    uint64_t *per_user = calloc((size_t)users, sizeof *per_user);
    uint64_t *per_item = calloc((size_t)items, sizeof *per_item);
    assert_true(value && per_user && per_item);
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        value[i] = t->at[i].value;
        mean += value[i] / (double)n;
        per_user[atoi(t->at[i].user + 1)]++;
        per_item[atoi(t->at[i].item + 1)]++;
        if (t->at[i].time == STORE_NO_TIME) continue;
        if (t->at[i].time < first) first = t->at[i].time;
        if (t->at[i].time > last) last = t->at[i].time;
    }
    for (size_t i = 0; i < n; i++) squares += (value[i] - mean) * (value[i] - mean) / (double)n;
    qsort(value, n, sizeof *value, compare_double);
    size_t distinct = 1;
    for (size_t i = 1; i < n; i++) distinct += value[i] != value[i - 1];

    assert_int_equal(d->info.users, users);
    assert_int_equal(d->info.items, items);
    assert_int_equal(d->info.ratings, n);
    assert_true(d->info.min == value[0] && d->info.max == value[n - 1]);
    assert_true(fabs(d->mean - mean) <= 1e-9 * fmax(fabs(value[0]), fabs(value[n - 1])));
    if (isfinite(squares))
        assert_true(fabs(d->standard_deviation - sqrt(squares)) <= 1e-9 * (1 + sqrt(squares)));
    assert_int_equal(d->distinct_values, distinct < 4096 ? distinct : 4096);
    check_percentiles(per_user, (size_t)users, d->per_user);
    check_percentiles(per_item, (size_t)items, d->per_item); /* sorts */
    uint64_t top = 0;
    for (int i = 0; i < 500 && i < items; i++) top += per_item[items - 1 - i];
    assert_true(fabs(d->top_500_share - (double)top / (double)n) < 1e-12);
    assert_true(fabs(d->density - (double)n / ((double)users * items)) < 1e-12);
    if (first <= last) {
        assert_int_equal(d->first_time, first);
        assert_int_equal(d->last_time, last);
    }

    uint64_t counted = 0;
    for (size_t b = 0; b < d->n_bars; b++) {
        counted += d->bar[b].count;
        uint64_t within = 0;
        bool half_open = distinct > 20 && !d->has_step && b + 1 < d->n_bars;
        for (size_t i = 0; i < n; i++)
            within += value[i] >= d->bar[b].low &&
                      (half_open ? value[i] < d->bar[b].high : value[i] <= d->bar[b].high);
        if (distinct <= 20 || d->has_step)
            assert_int_equal(d->bar[b].count, within);
        else /* a value at the edge itself may round either way */
            assert_true(fabs((double)d->bar[b].count - (double)within) <= 2);
    }
    assert_int_equal(counted, n);
    assert_in_range(d->n_bars, 1, 20);
    if (distinct <= 20) assert_int_equal(d->n_bars, distinct);
    free(value);
    free(per_user);
    free(per_item);
}

static void assert_same(const struct dpmf_description *a, const struct dpmf_description *b) {
    assert_memory_equal(a, b, sizeof *a);
}

static void run_case(double (*value)(struct random_stream *), int users, int items, double part,
                     bool times, bool has_step, double step) {
    struct triples t = {0};
    make_ratings(&t, users, items, part, value, times);
    triples_write(&t, times, false, path);
    struct dpmf_description d = describe(1, NULL);
    check(&t, &d, users, items);
    assert_int_equal(d.has_step, has_step);
    if (has_step) assert_true(fabs(d.step - step) < 1e-12);
    for (int threads = 2; threads <= 8; threads += 3) {
        struct dpmf_description again = describe(threads, NULL);
        assert_same(&d, &again);
    }
    free(t.at);
}

static void test_few_values(void **state) {
    (void)state;
    run_case(stars, 3000, 60, 0.2, true, true, 0.5);
    run_case(three, 200, 60, 0.2, false, false, 0);
    run_case(one, 30, 20, 0.2, false, false, 0);
    run_case(tenths, 300, 40, 0.2, false, true, 0.1);
    run_case(extreme, 30, 20, 0.5, false, false, 0);
}

static void test_many_values(void **state) {
    (void)state;
    run_case(hundred, 2500, 700, 0.02, true, true, 1);
    run_case(real, 2500, 40, 0.2, false, false, 0);
    run_case(real, 50, 40, 0.2, false, false, 0); /* fewer than 4096 distinct */
    run_case(uneven, 500, 40, 0.2, false, false, 0);
    run_case(extremes, 500, 40, 0.5, false, false, 0);
}

/* A user with more ratings than the small degrees are counted by. */
static void test_large_degree(void **state) {
    (void)state;
    struct triples t = {0};
    for (int i = 0; i < 70000; i++) {
        char item[16];
        snprintf(item, sizeof item, "i%d", i);
        triples_add(&t, triple_make("u0", item, 3, STORE_NO_TIME));
        if (i < 66000) triples_add(&t, triple_make("u1", item, 2, STORE_NO_TIME));
        if (i < 3) triples_add(&t, triple_make("u2", item, 1, STORE_NO_TIME));
    }
    triples_sort(&t);
    triples_write(&t, false, false, path);
    struct dpmf_description d = describe(2, NULL);
    check(&t, &d, 3, 70000);
    free(t.at);
}

static void test_empty(void **state) {
    (void)state;
    struct triples t = {0};
    triples_write(&t, false, false, path);
    struct dpmf_description d = describe(2, plot_path);
    assert_int_equal(d.info.ratings, 0);
    assert_int_equal(d.n_bars, 0);
    assert_true(d.mean == 0 && d.density == 0);
}

static void test_plot(void **state) {
    (void)state;
    struct triples t = {0};
    make_ratings(&t, 2000, 300, 0.1, stars, false);
    triples_write(&t, false, false, path);
    describe(2, plot_path);
    struct stat status;
    assert_int_equal(stat(plot_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    size_t n;
    char *svg = temp_dir_read(plot_path, &n);
    assert_memory_equal(svg, "<svg ", 5);
    assert_string_equal(svg + n - 7, "</svg>\n");
    assert_non_null(strstr(svg, "number of items</text>"));
    assert_non_null(strstr(svg, "prefers-color-scheme"));
    assert_true(n < 100000);
    free(svg);
    free(t.at);

    struct dpmf_store *store;
    struct dpmf_description d;
    struct dpmf_error error;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_true(dpmf_store_describe(store, "/no/such/place/x.svg", NULL, &d, &error) < 0);
    assert_int_equal(error.code / 100, -3);
    dpmf_store_close(store);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(test_few_values), TEST(test_many_values), TEST(test_large_degree),
        TEST(test_empty),      TEST(test_plot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
