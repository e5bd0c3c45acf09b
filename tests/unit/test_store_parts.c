/*
 * Stores put together and cut apart: sets refuse parts that are not of one store, know the files
 * that they are read from, and the packer closes blocks where the format wants it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "store/block_packer.h"
#include "store/id_form.h"
#include "store/store_reader.h"
#include "store/time_ends.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char first_path[TEMP_PATH_MAX], second_path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "first.dpr", first_path);
    temp_dir_file(&directory, "second.dpr", second_path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* A store of one user with a rating of each item, or of nobody: their id is empty. */
struct sketch {
    const char *user;
    size_t n_items;
    const char *items[3];
    bool has_times, holds_events;
    double value;
};

static struct dpmf_store *draw(const char *path, const struct sketch *sketch) {
    const uint32_t item[] = {0, 1, 2};
    const int64_t time[] = {1, 2, 3};
    const double value[] = {sketch->value, sketch->value, sketch->value};
    const uint64_t start[] = {0, sketch->n_items}, id_start[] = {0, strlen(sketch->user)};
    const struct store_block block = {.n_users = 1,
                                      .n_ratings = sketch->n_items,
                                      .start = start,
                                      .item = item,
                                      .value = value,
                                      .time = time,
                                      .id_bytes = sketch->user,
                                      .id_start = id_start};
    struct store_layout layout = store_layout_declared();
    struct store_encoded encoded = {0};
    struct store_item items[3];
    struct store_writer *writer;
    struct dpmf_store *store;
    layout.holds_events = sketch->holds_events;
    for (size_t i = 0; i < sketch->n_items; i++)
        items[i] = (struct store_item){sketch->items[i], (uint32_t)strlen(sketch->items[i]),
                                       sketch->user[0] ? 1 : 0};
    assert_int_equal(store_writer_open(&writer, path, sketch->has_times, &layout, NULL), 0);
    if (sketch->user[0]) {
        assert_int_equal(store_block_encode(&block, sketch->has_times, &encoded, NULL), 0);
        assert_int_equal(store_writer_append(writer, &encoded, NULL), 0);
    }
    assert_int_equal(store_writer_finish(writer, items, sketch->n_items, NULL), 0);
    assert_int_equal(store_writer_commit(writer, NULL, NULL), 0);
    store_encoded_free(&encoded);
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    return store;
}

static const struct sketch ann = {"ann", 2, {"x", "yy"}, true, false, 3};

static int join(const struct sketch *a, const struct sketch *b, struct dpmf_store **set,
                struct dpmf_error *error) {
    struct dpmf_store *parts[] = {draw(first_path, a), draw(second_path, b)};
    return store_set_make(parts, 2, "both", set, error);
}

static void test_parts_of_other_stores(void **state) {
    (void)state;
    static const struct sketch others[] = {
        {"bo", 1, {"x"}, true, false, 3},       {"bo", 2, {"x", "yy"}, false, false, 3},
        {"bo", 2, {"x", "yy"}, true, true, 3},  {"bo", 2, {"xy", "y"}, true, false, 3},
        {"bo", 2, {"x", "yz"}, true, false, 3}, {"bo", 3, {"x", "yy", "z"}, true, false, 3},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct dpmf_store *set;
        struct dpmf_error error = {0};
        assert_int_equal(join(&ann, &others[i], &set, &error), DPMF_ERR_STORE_CORRUPT);
        assert_null(set);
        assert_string_equal(error.file, second_path);
    }
}

static void test_what_a_set_is(void **state) {
    (void)state;
    const struct sketch bo = {"bo", 2, {"x", "yy"}, true, false, 5},
                        cy = {"cy", 2, {"x", "yy"}, true, false, 1};
    struct dpmf_store *set, *share;
    struct dpmf_store_info info;
    char other[TEMP_PATH_MAX];
    assert_int_equal(join(&ann, &bo, &set, NULL), 0);
    dpmf_store_info(set, &info);
    assert_int_equal(info.users, 2);
    assert_int_equal(info.ratings, 4);
    assert_true(info.min == 3 && info.max == 5);
    assert_int_equal(store_item_at(set, 1).n_ratings, 2);

    temp_dir_file(&directory, "other", other);
    assert_true(store_is_read_from(set, first_path) && store_is_read_from(set, second_path));
    assert_false(store_is_read_from(set, other)); /* nothing is there */
    temp_dir_write(other, "x", 1);
    assert_false(store_is_read_from(set, other));
    unlink(other);

    /* the second block, as a store of its own: no file is its */
    assert_int_equal(store_share_make(set, 1, 1, &share, NULL), 0);
    assert_int_equal(store_n_users(share), 1);
    assert_int_equal(store_index_at(share, 0)->first_user, 0);
    assert_false(store_is_read_from(share, second_path));
    dpmf_store_close(share);
    assert_int_equal(store_share_make(set, 2, 0, &share, NULL), 0);
    assert_int_equal(store_n_users(share), 0);
    dpmf_store_close(share);
    dpmf_store_close(set);

    /* the least and the largest rating are those of any part */
    assert_int_equal(join(&bo, &cy, &set, NULL), 0);
    dpmf_store_info(set, &info);
    assert_true(info.min == 1 && info.max == 5);
    dpmf_store_close(set);

    /* a part of nobody has neither, wherever it is */
    const struct sketch nobody = {"", 2, {"x", "yy"}, true, false, 0},
                        low = {"dee", 2, {"x", "yy"}, true, false, -3};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? join(&nobody, &low, &set, NULL) : join(&low, &nobody, &set, NULL), 0);
        dpmf_store_info(set, &info);
        assert_true(info.users == 1 && info.min == -3 && info.max == -3);
        dpmf_store_close(set);
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

enum { MANY = STORE_BLOCK_RATINGS + 1000 };

static struct dpmf_store *pack(const uint64_t *ratings, uint32_t n_users) {
    struct store_item *items = calloc(MANY, sizeof *items);
    uint32_t *item = malloc(MANY * sizeof *item);
    double *value = malloc(MANY * sizeof *value);
    struct block_packer packer;
    struct store_writer *writer;
    struct dpmf_store *store;
    assert_true(items && item && value);
    for (uint32_t i = 0; i < MANY; i++) {
        item[i] = i;
        value[i] = 1;
        items[i] = (struct store_item){"x", 1, 0};
    }
    assert_int_equal(store_writer_open(&writer, NULL, false, NULL, NULL), 0);
    block_packer_init(&packer, writer, false);
    for (uint32_t u = 0; u < n_users; u++) {
        const uint64_t start[] = {0, ratings[u]}, id_start[] = {0, 1};
        const struct store_block block = {.n_users = 1,
                                          .n_ratings = ratings[u],
                                          .start = start,
                                          .item = item,
                                          .value = value,
                                          .id_bytes = "u",
                                          .id_start = id_start};
        for (uint64_t i = 0; i < ratings[u]; i++) items[i].n_ratings++;
        assert_int_equal(block_packer_add(&packer, &block, NULL), 0);
    }
    assert_int_equal(block_packer_flush(&packer, NULL), 0);
    assert_int_equal(block_packer_flush(&packer, NULL), 0); /* nothing is left */
    assert_int_equal(packer.n_users, n_users);
    assert_int_equal(store_writer_finish(writer, items, MANY, NULL), 0);
    assert_int_equal(store_writer_prepare(writer, NULL), 0); /* no file that could be flushed */
    assert_int_equal(store_writer_commit_open(writer, "packed", &store, NULL), 0);
    block_packer_free(&packer);
    free(value);
    free(item);
    free(items);
    return store;
}

/* As many ratings as a block has and not one more, unless they are of one user. */
static void test_where_blocks_end(void **state) {
    (void)state;
    static const uint64_t ratings[] = {STORE_BLOCK_RATINGS,    1, STORE_BLOCK_RATINGS - 1, MANY, 2,
                                       STORE_BLOCK_RATINGS - 1};
    static const uint64_t expected[] = {STORE_BLOCK_RATINGS, STORE_BLOCK_RATINGS, MANY, 2,
                                        STORE_BLOCK_RATINGS - 1};
    struct dpmf_store *store = pack(ratings, 6);
    assert_int_equal(store_n_blocks(store), 5);
    for (uint64_t b = 0; b < 5; b++) {
        uint32_t n_users;
        uint64_t n_ratings;
        store_block_size(store, b, &n_users, &n_ratings);
        assert_int_equal(n_users, b == 1 ? 2 : 1);
        assert_int_equal(n_ratings, expected[b]);
    }
    assert_int_equal(store_largest_block(store), MANY);
    dpmf_store_close(store);
}

/* ---- what is asked of no store --------------------------------------------------------------- */

static void test_without_a_store(void **state) {
    (void)state;
    struct dpmf_store_info info = {.users = 1};
    struct dpmf_error error = {0};
    size_t length = 1;
    uint64_t n_ratings = 1;
    dpmf_store_info(NULL, NULL);
    dpmf_store_info(NULL, &info);
    assert_int_equal(info.users, 0);
    assert_null(dpmf_store_item(NULL, 0, &length, &n_ratings));
    assert_true(length == 0 && n_ratings == 0);
    assert_int_equal(dpmf_store_check_apart(NULL, NULL, &error), DPMF_ERR_USAGE_NULL);

    struct dpmf_store *store = draw(first_path, &ann);
    dpmf_store_info(store, NULL);
    assert_null(dpmf_store_item(store, 2, NULL, NULL));
    assert_memory_equal(dpmf_store_item(store, 1, &length, &n_ratings), "yy", 2);
    assert_true(length == 2 && n_ratings == 1);
    dpmf_store_close(store);
    dpmf_store_close(NULL);
}

static void count_warning(void *self, const char *text) {
    (void)text;
    ++*(int *)self;
}

static void test_warnings_of_times(void **state) {
    (void)state;
    enum { N = 20, FAR = 1700000000 };
    int64_t same[N], mixed[N], spread[N];
    int n = 0;
    struct dpmf_run run = dpmf_run_default();
    struct time_ends ends = {0}, none = {0};
    for (int i = 0; i < N; i++) {
        same[i] = FAR;
        spread[i] = FAR + i;
        mixed[i] = i < 5 ? INT64_C(1000) * FAR : FAR + i;
    }
    time_ends_add(&ends, same, N);
    time_ends_merge(&ends, &none); /* nothing changes */
    time_ends_warn(&ends, NULL);
    time_ends_warn(&ends, &run);
    run.warn = count_warning;
    run.warn_self = &n;
    time_ends_warn(&ends, &run);
    assert_int_equal(n, 1);
    memset(&ends, 0, sizeof ends);
    time_ends_add(&ends, mixed, N);
    time_ends_warn(&ends, &run);
    assert_int_equal(n, 2);
    memset(&ends, 0, sizeof ends);
    time_ends_add(&ends, spread, N);
    time_ends_warn(&ends, &run); /* nothing to warn of */
    assert_int_equal(n, 2);
}

/* ---- layouts and the ids that they mean ------------------------------------------------------ */

static void test_formats_that_are_not_known(void **state) {
    (void)state;
    enum store_ids ids;
    assert_int_equal(store_layout_format("parchment"), 0);
    assert_int_equal(store_layout_format_of_ids("parchment", STORE_IDS_WHOLE), 0);
    for (int i = 0; i < 32; i++) {
        const char *name = store_layout_bit(UINT32_C(1) << i, &ids);
        if (name) assert_int_not_equal(store_layout_format(name), 0);
    }
    /* bits of later versions are no reason to think that ids are of two forms */
    struct store_layout layout = store_layout_declared();
    layout.formats = store_layout_format("csv");
    for (int i = 0; i < 32; i++)
        if (!store_layout_bit(UINT32_C(1) << i, &ids)) layout.formats |= UINT32_C(1) << i;
    assert_int_not_equal(layout.formats, store_layout_format("csv"));
    assert_false(store_layout_mixes_ids(&layout));
    const struct dpmf_store store = {.layout = layout};
    const struct id_form form = store_id_form(&store);
    assert_true(form.takes_text && !form.takes_whole && !form.is_uuid);
}

static struct store_layout read_as(const char *format, enum store_ids ids) {
    struct store_layout layout = store_layout_declared();
    layout.formats = store_layout_format_of_ids(format, ids);
    assert_int_not_equal(layout.formats, 0);
    return layout;
}

static void test_ids_by_schema(void **state) {
    (void)state;
    struct dpmf_store store = {.layout = read_as("arrow", STORE_IDS_WHOLE)};
    struct id_form form = store_id_form(&store);
    assert_true(form.takes_whole && form.is_signed && !form.is_64 && !form.takes_text);
    store.layout = read_as("parquet", STORE_IDS_WHOLE);
    form = store_id_form(&store);
    assert_true(form.takes_whole && form.is_signed && !form.is_64 && !form.takes_text);
    store.layout = read_as("postgres", STORE_IDS_WHOLE);
    form = store_id_form(&store);
    assert_true(form.takes_whole && form.is_signed && form.is_64 && !form.takes_text);
    store.layout = read_as("sqlite", STORE_IDS_WHOLE);
    form = store_id_form(&store);
    assert_true(form.takes_whole && form.is_signed && form.is_64 && !form.takes_text);
    store.layout = read_as("inter", STORE_IDS_WHOLE);
    form = store_id_form(&store);
    assert_true(form.is_float && !form.takes_text);
    store.layout = read_as("sqlite", STORE_IDS_NUMERIC);
    form = store_id_form(&store);
    assert_true(form.takes_text && form.takes_whole && form.is_trimmed);
    store.layout = read_as("postgres", STORE_IDS_PADDED);
    form = store_id_form(&store);
    assert_true(form.takes_text && form.is_padded);
    store.layout = read_as("postgres", STORE_IDS_UUID);
    form = store_id_form(&store);
    assert_true(form.is_uuid && !form.takes_text);
    store.layout.is_queried = true; /* a cast of the query's may have made it text */
    form = store_id_form(&store);
    assert_true(form.is_uuid && form.takes_text);
    store.layout = read_as("parquet", STORE_IDS_UUID);
    store.layout.formats |= store_layout_format_of_ids("arrow", STORE_IDS_WHOLE);
    form = store_id_form(&store);
    assert_true(form.is_uuid && form.takes_whole && form.takes_text);
    store.layout.origin = STORE_ORIGIN_UNKNOWN; /* then any */
    form = store_id_form(&store);
    assert_true(form.takes_text && form.takes_whole && !form.is_uuid);
}

/* Two inputs as one: what either does is done, and what only one has is not there. */
static void test_layouts_joined(void **state) {
    (void)state;
    const uint32_t csv = store_layout_format("csv");
    struct store_layout all = {0}, one = store_layout_declared();
    one.formats = csv;
    one.n_columns = 3;
    one.column[0] = 1;
    one.lacks_times = true;
    one.origin = STORE_ORIGIN_DECLARED;
    store_layout_join(&all, &one);
    assert_true(all.lacks_times && store_layout_has_no_times(&all));
    assert_int_equal(all.n_columns, 3);

    struct store_layout other = one;
    other.column[0] = 2; /* another column of users */
    other.is_ranged = other.has_half = other.is_unordered = true;
    store_layout_join(&all, &other);
    assert_int_equal(all.n_columns, 0);
    assert_true(all.is_ranged && all.has_half && all.is_unordered && all.lacks_times);

    other = one;
    other.lacks_times = false;
    store_layout_join(&all, &other);
    assert_false(all.lacks_times);
    assert_false(store_layout_has_no_times(&all));

    other = one;
    other.liked = STORE_LIKED_FROM;
    other.like = 4;
    store_layout_join(&all, &other);
    assert_int_equal(all.liked, STORE_LIKED_SEVERAL);
    struct store_layout from_4 = {0};
    store_layout_join(&from_4, &other);
    other.like = 3;
    store_layout_join(&from_4, &other);
    assert_int_equal(from_4.liked, STORE_LIKED_SEVERAL);

    /* columns are known, and none of them is a time */
    one.lacks_times = false;
    assert_true(store_layout_has_no_times(&one));
    one.column[STORE_ROLES - 1] = 3;
    assert_false(store_layout_has_no_times(&one));
    one.n_columns = 0;
    assert_false(store_layout_has_no_times(&one));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_other_stores),
        cmocka_unit_test(test_what_a_set_is),
        cmocka_unit_test(test_where_blocks_end),
        cmocka_unit_test(test_without_a_store),
        cmocka_unit_test(test_warnings_of_times),
        cmocka_unit_test(test_formats_that_are_not_known),
        cmocka_unit_test(test_ids_by_schema),
        cmocka_unit_test(test_layouts_joined),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
