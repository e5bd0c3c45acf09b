/*
 * Ratings out of arrays: the same store as out of the same text, for any number of threads and any
 * memory; ids as text and as numbers; and what is wrong in an array is named with its place.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dpmf.h"
#include "own_directory.h"
#include "store/store.h"

/* Both decoded, block by block: what is in the files is what was encoded. */
static void expect_same_store(const struct dpmf_store *a, const struct dpmf_store *b) {
    const unsigned want = STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS;
    struct store_raw raw_a = {0}, raw_b = {0};
    assert_int_equal(store_n_blocks(a), store_n_blocks(b));
    assert_int_equal(store_n_items(a), store_n_items(b));
    for (uint64_t i = 0; i < store_n_blocks(a); i++) {
        assert_int_equal(store_block_read(a, i, &raw_a, NULL), 0);
        assert_int_equal(store_block_read(b, i, &raw_b, NULL), 0);
        assert_int_equal(raw_a.buffer.n, raw_b.buffer.n);
        assert_memory_equal(raw_a.buffer.bytes, raw_b.buffer.bytes, raw_a.buffer.n);
    }
    for (uint64_t i = 0; i < store_n_items(a); i++) {
        struct store_item x = store_item_at(a, i), y = store_item_at(b, i);
        assert_int_equal(x.id_length, y.id_length);
        assert_memory_equal(x.id, y.id, x.id_length);
        assert_int_equal(x.n_ratings, y.n_ratings);
    }
    struct store_space space = {0};
    struct store_block block;
    assert_int_equal(store_block_decode(a, &raw_a, want, &space, &block, NULL), 0);
    store_space_free(&space);
    free(raw_a.buffer.bytes);
    free(raw_b.buffer.bytes);
}

/* Made-up ratings, a few pairs of them twice; the same in arrays and as text. */
struct made {
    int64_t *users, *items, *times;
    double *ratings;
    float *ratings32;
    struct dpmf_arrays arrays;
};

static struct made make_ratings(uint64_t n, uint64_t n_users, uint64_t n_items) {
    struct made made = {
        .users = malloc(n * sizeof(int64_t)),
        .items = malloc(n * sizeof(int64_t)),
        .times = malloc(n * sizeof(int64_t)),
        .ratings = malloc(n * sizeof(double)),
        .ratings32 = malloc(n * sizeof(float)),
    };
    uint64_t state = 1;
    for (uint64_t i = 0; i < n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        made.users[i] = (int64_t)((state >> 33) % n_users);
        made.items[i] = (int64_t)((state >> 20) % n_items * ((state >> 41) % 4) / 3);
        made.ratings32[i] = (float)(1 + (state >> 50) % 9) / 2;
        made.ratings[i] = (double)made.ratings32[i];
        made.times[i] = (int64_t)(1000000000 + i);
    }
    made.arrays = (struct dpmf_arrays){.size = sizeof(struct dpmf_arrays),
                                       .n = n,
                                       .n_users = n_users,
                                       .n_items = n_items,
                                       .users = made.users,
                                       .items = made.items,
                                       .ratings = made.ratings,
                                       .times = made.times};
    return made;
}

static void free_ratings(struct made *made) {
    free(made->users);
    free(made->items);
    free(made->times);
    free(made->ratings);
    free(made->ratings32);
}

static struct dpmf_store *open_text(const char *path) {
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    return store;
}

static void test_same_as_text(void **state) {
    (void)state;
    enum { RATINGS = 300000 };
    struct made made = make_ratings(RATINGS, 5000, 700);
    FILE *text = fopen("a.csv", "w");
    fprintf(text, "user,item,rating,timestamp\n");
    for (uint64_t i = 0; i < RATINGS; i++)
        fprintf(text, "%lld,%lld,%g,%lld\n", (long long)made.users[i], (long long)made.items[i],
                made.ratings[i], (long long)made.times[i]);
    fclose(text);
    struct dpmf_store *from_text = open_text("a.csv");
    for (int threads = 1; threads < 8; threads += 3) {
        struct dpmf_run run = dpmf_run_default();
        struct dpmf_store *store;
        if (threads == 4) {
            made.arrays.ratings = NULL;
            made.arrays.ratings32 = made.ratings32;
        }
        run.threads = threads;
        run.memory = threads == 1 ? (uint64_t)1 << 30 : (uint64_t)64 << 20;
        assert_int_equal(dpmf_store_from_arrays(&made.arrays, NULL, &run, &store, NULL), 0);
        expect_same_store(store, from_text);
        struct dpmf_store_info info;
        dpmf_store_info(store, &info);
        assert_true(info.is_temporary);
        assert_true(info.has_times);
        dpmf_store_close(store);
    }
    dpmf_store_close(from_text);
    free_ratings(&made);
}

/* A rating is kept as it is: 3.7 is not the nearest float, and a float is what its text says. */
static void test_doubles_are_exact(void **state) {
    (void)state;
    static const int64_t users[] = {0}, items[] = {0};
    static const double ratings[] = {3.7};
    static const float ratings32[] = {3.7F};
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n = 1,
                                 .n_users = 1,
                                 .n_items = 1,
                                 .users = users,
                                 .items = items,
                                 .ratings = ratings};
    for (int is_short = 0; is_short < 2; is_short++) {
        struct dpmf_store *store;
        if (is_short) {
            arrays.ratings = NULL;
            arrays.ratings32 = ratings32;
        }
        assert_int_equal(dpmf_store_from_arrays(&arrays, NULL, NULL, &store, NULL), 0);
        assert_int_equal(dpmf_store_export_csv(store, "exact.csv", -1, NULL, NULL, NULL), 0);
        dpmf_store_close(store);
        size_t n;
        char *text = temp_dir_read("exact.csv", &n);
        assert_string_equal(text, "user,item,rating\n0,0,3.7\n");
        free(text);
        assert_int_equal(remove("exact.csv"), 0);
    }
}

static void test_ids_of_any_text(void **state) {
    (void)state;
    static const int64_t users[] = {1, 0, 1, 1}, items[] = {0, 2, 2, 0};
    static const double ratings[] = {1, 2, 3, 4.5};
    static const int64_t user_offsets[] = {0, 3, 9}, item_offsets[] = {0, 1, 1, 7};
    const struct dpmf_arrays arrays = {.size = sizeof arrays,
                                       .n = 4,
                                       .n_users = 2,
                                       .n_items = 3,
                                       .users = users,
                                       .items = items,
                                       .ratings = ratings,
                                       .user_id_bytes = "annna\xc3\xafve",
                                       .user_id_offsets = user_offsets,
                                       .item_id_bytes = "xa, \"b\"",
                                       .item_id_offsets = item_offsets};
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_from_arrays(&arrays, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_store_export_csv(store, "out.csv", -1, NULL, NULL, NULL), 0);
    dpmf_store_close(store);
    size_t n;
    char *text = temp_dir_read("out.csv", &n);
    assert_string_equal(text, "user,item,rating\n"
                              "na\xc3\xafve,x,4.5\n"
                              "na\xc3\xafve,\"a, \"\"b\"\"\",3\n"
                              "ann,\"a, \"\"b\"\"\",2\n");
    free(text);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void refuse(const struct dpmf_arrays *arrays, const struct dpmf_input_options *options,
                   int code, const char *message) {
    struct dpmf_store *store;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_store_from_arrays(arrays, options, NULL, &store, &error), code);
    assert_null(store);
    assert_string_equal(error.message, message);
}

static void count_warning(void *self, const char *message) {
    char *last = self;
    snprintf(last, DPMF_ERROR_TEXT_MAX, "%s", message);
}

static void test_what_is_wrong_is_named(void **state) {
    (void)state;
    int64_t users[] = {0, 1, 2}, items[] = {0, 1, 0}, offsets[] = {0, 1, 1, 2};
    double ratings[] = {1, 2, 3};
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n = 3,
                                 .n_users = 3,
                                 .n_items = 2,
                                 .users = users,
                                 .items = items,
                                 .ratings = ratings};

    users[1] = 3;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_ID, "users[1] is 3, which is not in 0 .. 2");
    users[1] = -1;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_ID, "users[1] is -1, which is not in 0 .. 2");
    users[1] = 1;
    items[2] = INT64_MAX;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_ID,
           "items[2] is 9223372036854775807, which is not in 0 .. 1");
    items[2] = 0;
    ratings[0] = NAN;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_NOT_FINITE, "ratings[0] is not finite");
    ratings[0] = INFINITY;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_NOT_FINITE, "ratings[0] is not finite");
    ratings[0] = 1;
    struct dpmf_input_options options = dpmf_input_options_default();
    options.has_range = true;
    options.range_max = 2.5;
    refuse(&arrays, &options, DPMF_ERR_INPUT_OUT_OF_RANGE,
           "ratings[2] is 3, outside the range 0:2.5");

    arrays.user_id_bytes = "ab";
    arrays.user_id_offsets = offsets;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_ID, "the id of users[1] is empty");
    offsets[2] = (int64_t)1 << 40;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_ID_TOO_LONG,
           "the id of users[1] goes from byte 1 to 1099511627776: an id has 1 to 65536 bytes");
    offsets[2] = INT64_MIN;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_ID_TOO_LONG,
           "the id of users[1] goes from byte 1 to -9223372036854775808: an id has 1 to 65536 "
           "bytes");
    arrays.user_id_offsets = NULL;

    arrays.item_id_bytes = "ab\0c";
    arrays.item_id_offsets = (const int64_t[]){0, 1, 4};
    refuse(&arrays, NULL, DPMF_ERR_INPUT_ID, "the id of items[1] holds a NUL byte");
    arrays.item_id_offsets = NULL;

    arrays.n = 0;
    refuse(&arrays, NULL, DPMF_ERR_INPUT_EMPTY, "there are no ratings to import");
    arrays.n = 3;
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_store *store;
    run.memory = 1 << 20;
    assert_int_equal(dpmf_store_from_arrays(&arrays, NULL, &run, &store, NULL),
                     DPMF_ERR_USAGE_MEMORY);
}

static void test_options(void **state) {
    (void)state;
    static const int64_t users[] = {0, 1, 2, 2}, items[] = {0, 1, 0, 0};
    static const double ratings[] = {1, NAN, 9, 3};
    const struct dpmf_arrays arrays = {.size = sizeof arrays,
                                       .n = 4,
                                       .n_users = 3,
                                       .n_items = 2,
                                       .users = users,
                                       .items = items,
                                       .ratings = ratings};
    struct dpmf_input_options options = dpmf_input_options_default();
    options.has_range = true;
    options.range_min = 1;
    options.range_max = 5;
    refuse(&arrays, &options, DPMF_ERR_INPUT_NOT_FINITE, "ratings[1] is not finite");
    options.skip_bad = true;
    char warning[DPMF_ERROR_TEXT_MAX] = "";
    struct dpmf_run run = dpmf_run_default();
    run.warn = count_warning;
    run.warn_self = warning;
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, &run, &store, NULL), 0);
    assert_int_equal(store_n_ratings(store), 2);
    assert_string_equal(warning, "bad records skipped: 2, the first: ratings[1] is not finite");
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    assert_int_equal(info.bad_records, 2);
    assert_int_equal(info.not_liked, 0);
    dpmf_store_close(store);
    options.has_range = false;
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, &run, &store, NULL), 0);
    assert_string_equal(warning, "repeated pairs of a user and an item: 1; the last rating counts");
    dpmf_store_close(store);
}

static int stop_at_once(void *self, const struct dpmf_progress *progress) {
    (void)progress;
    ++*(int *)self;
    return 1;
}

static void test_interrupted(void **state) {
    (void)state;
    struct made made = make_ratings(200000, 100, 50);
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_store *store;
    int calls = 0;
    run.progress = stop_at_once;
    run.progress_self = &calls;
    assert_int_equal(dpmf_store_from_arrays(&made.arrays, NULL, &run, &store, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(calls, 1);
    free_ratings(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_text),    cmocka_unit_test(test_doubles_are_exact),
        cmocka_unit_test(test_ids_of_any_text), cmocka_unit_test(test_what_is_wrong_is_named),
        cmocka_unit_test(test_options),         cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
