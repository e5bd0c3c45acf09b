/*
 * The biases that SGD begins with: on ratings drawn from known variances the estimates are near
 * these, each bias solves its own equation, and sets that tell nothing give numbers to go on with.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dpmf.h"
#include "random/random.h"
#include "store/store.h"
#include "temp_dir.h"
#include "train/first_biases.h"

enum { USERS = 600, ITEMS = 150, EACH = 30 };

static struct temp_dir dir;

static struct dpmf_store *import(const char *text_path) {
    struct dpmf_store *store = NULL;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_store_open(text_path, NULL, NULL, &store, &error), 0);
    return store;
}

/* Of all ratings, less store_base. */
static double mean_of(const struct dpmf_store *store) {
    struct store_raw raw = {0};
    struct store_space space = {0};
    double sum = 0;
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw, STORE_WANT_VALUE32, &space, &block, NULL),
                         0);
        for (uint64_t r = 0; r < block.n_ratings; r++) sum += (double)block.value32[r];
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    return sum / (double)store_n_ratings(store);
}

/* Ratings 3 + b_i + b_j + e with variances .5, .25 and 1, each user's items without order. */
static struct dpmf_store *drawn(void) {
    struct random_stream random;
    double items[ITEMS];
    char path[TEMP_PATH_MAX];
    temp_dir_file(&dir, "drawn.csv", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    random_stream_init(&random, 7, 1, 0);
    for (int j = 0; j < ITEMS; j++) items[j] = 0.5 * random_gaussian(&random);
    fprintf(file, "user,item,rating\n");
    for (int i = 0; i < USERS; i++) {
        const double bias = sqrt(0.5) * random_gaussian(&random);
        for (int r = 0; r < EACH; r++) {
            const int j = (i * 37 + r * 7) % ITEMS; /* different ones: 7 does not divide 150 */
            fprintf(file, "u%d,i%d,%.6f\n", i, j, 3 + bias + items[j] + random_gaussian(&random));
        }
    }
    fclose(file);
    return import(path);
}

static void test_variances(void **state) {
    (void)state;
    struct dpmf_store *store = drawn();
    float *users = calloc(USERS, sizeof(float)), *items = calloc(ITEMS, sizeof(float));
    struct first_biases found;
    assert_true(users && items);
    assert_int_equal(
        first_biases_find(store, store, mean_of(store), NULL, users, items, &found, NULL), 0);
    assert_true(fabs(found.noise - 1) < 0.05);
    assert_true(fabs(found.users - 0.5) < 0.1);
    assert_true(fabs(found.items - 0.25) < 0.08);
    const double penalty = first_biases_user_penalty(&found);
    assert_true(fabs(penalty - found.noise / found.users) < 1e-12);
    free(users);
    free(items);
    dpmf_store_close(store);
}

/* What is left of an item's ratings, summed and shrunk, is its bias. */
static void test_equations(void **state) {
    (void)state;
    struct dpmf_store *store = drawn();
    struct store_raw raw = {0};
    struct store_space space = {0};
    float users[USERS], items[ITEMS];
    double left[ITEMS] = {0};
    struct first_biases found;
    const double mean = mean_of(store);
    assert_int_equal(first_biases_find(store, store, mean, NULL, users, items, &found, NULL), 0);
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw, STORE_WANT_VALUE32, &space, &block, NULL),
                         0);
        for (uint32_t u = 0; u < block.n_users; u++)
            for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++)
                left[block.item[r]] +=
                    (double)block.value32[r] - mean - (double)users[block.first_user + u];
    }
    for (uint64_t j = 0; j < ITEMS; j++) {
        const double n = (double)store_item_at(store, j).n_ratings;
        assert_true(fabs(left[j] / (n + first_biases_item_penalty(&found)) - (double)items[j]) <
                    1e-5);
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(store);
}

static void check_finite(const char *name, const char *text) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(&dir, name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    struct dpmf_store *store = import(path);
    float users[8] = {0}, items[8] = {0};
    struct first_biases found;
    assert_int_equal(
        first_biases_find(store, store, mean_of(store), NULL, users, items, &found, NULL), 0);
    assert_true(found.noise > 0 && found.users > 0 && found.items > 0);
    for (int i = 0; i < 8; i++) assert_true(isfinite(users[i]) && isfinite(items[i]));
    dpmf_store_close(store);
}

static void test_nothing_to_tell(void **state) {
    (void)state;
    check_finite("one.csv", "user,item,rating\na,x,3\n");
    check_finite("equal.csv", "user,item,rating\na,x,3\nb,x,3\na,y,3\n");
    check_finite("user.csv", "user,item,rating\na,x,1\na,y,5\na,z,2\n");
    check_finite("item.csv", "user,item,rating\na,x,1\nb,x,5\nc,x,2\n");
    check_finite("apart.csv", "user,item,rating\na,x,1\nb,y,5\nc,z,2\n");
}

static int set_up(void **state) {
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variances),
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_nothing_to_tell),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
