/*
 * One person's own ratings, read by dpmf_own_read: as pairs, as tables, as an input of the
 * importer; and how it refuses what is not one person's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_make.h"
#include "own/own.h"

enum { ITEMS = 9 };

struct bed {
    struct temp_dir dir;
    struct dpmf_model *model;
    struct dpmf_input_options options;
    struct dpmf_own *own;
    struct dpmf_own_info info;
    struct dpmf_error error;
};

static void bed_make(struct bed *bed) {
    *bed = (struct bed){.options = dpmf_input_options_default()};
    temp_dir_make(&bed->dir);
    bed->model = client_open_release(&bed->dir, ITEMS, 2, 1, 1, 3);
}

static void bed_free(struct bed *bed) {
    dpmf_own_free(bed->own);
    dpmf_model_close(bed->model);
    temp_dir_remove(&bed->dir);
}

static int read_mine(struct bed *bed, const char *mine) {
    dpmf_own_free(bed->own);
    bed->error = (struct dpmf_error){0};
    int code = dpmf_own_read(bed->model, mine, NULL, &bed->options, NULL, &bed->own, &bed->error);
    dpmf_own_info(bed->own, &bed->info);
    assert_int_equal(bed->own == NULL, code < 0);
    assert_int_equal(bed->error.code, code);
    return code;
}

static int read_text(struct bed *bed, const char *text) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(&bed->dir, "mine", path);
    temp_dir_write(path, text, strlen(text));
    return read_mine(bed, path);
}

static void expect_rating(const struct bed *bed, size_t i, uint64_t item, double rating) {
    assert_true(i < bed->info.n);
    assert_int_equal(bed->info.ratings[i].item, item);
    assert_true(bed->info.ratings[i].rating == rating);
}

static uint64_t item_of(const struct bed *bed, const char *id) {
    return dpmf_model_find_item(bed->model, id, strlen(id));
}

static void reads_pairs(void **state) {
    struct bed bed;
    (void)state;
    bed_make(&bed);
    assert_int_equal(read_mine(&bed, "i2:5,nowhere:1,i1:3.5,i2:4"), 0);
    assert_int_equal(bed.info.n, 2);
    expect_rating(&bed, 0, item_of(&bed, "i1"), 3.5);
    expect_rating(&bed, 1, item_of(&bed, "i2"), 4);
    assert_int_equal(bed.info.replaced, 1);
    assert_int_equal(bed.info.unknown, 1);
    assert_string_equal(bed.info.first_unknown, "nowhere");
    assert_int_equal(read_mine(&bed, "i2"), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(read_mine(&bed, "no-such-file"), DPMF_ERR_IO_MISSING);
    assert_int_equal(read_mine(&bed, "i2:x"), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(read_mine(&bed, "i2:5 i1:3"), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(read_mine(&bed, "i2:5000"), DPMF_ERR_INPUT_OUT_OF_RANGE);
    assert_int_equal(read_mine(&bed, "i2:1e300"), DPMF_ERR_USAGE_VALUE);
    bed.options.skip_bad = true;
    assert_int_equal(read_mine(&bed, "i2:x,i1:6"), 0);
    assert_int_equal(bed.info.skipped, 1);
    assert_int_equal(bed.info.outside, 1);
    bed_free(&bed);
}

static void reads_tables(void **state) {
    struct bed bed;
    uint8_t seen[ITEMS / 8 + 1] = {0};
    (void)state;
    bed_make(&bed);
    assert_int_equal(read_text(&bed, "rating,item\n5,i3\n1,i4\n"), 0);
    assert_int_equal(bed.info.n, 2);
    expect_rating(&bed, 0, item_of(&bed, "i3"), 5);
    dpmf_own_mark(bed.own, seen);
    for (uint64_t i = 0; i < ITEMS; i++)
        assert_int_equal(seen[i / 8] >> i % 8 & 1,
                         i == item_of(&bed, "i3") || i == item_of(&bed, "i4"));
    assert_int_equal(read_text(&bed, "i3,5\ni4,1\n"), 0);
    assert_int_equal(bed.info.n, 2);
    assert_int_equal(read_text(&bed, "i3,5,881250949\n"), 0);
    assert_true(bed.info.is_item_first);
    assert_int_equal(read_text(&bed, "ann,i3,5\nann,i4,1\n"), 0);
    assert_false(bed.info.is_item_first);
    assert_int_equal(bed.info.n, 2);
    assert_int_equal(read_text(&bed, ""), 0);
    assert_int_equal(bed.info.n, 0);
    bed_free(&bed);
}

/* The same formula and the same limits as in an import. */
static void rescales(void **state) {
    struct bed bed;
    (void)state;
    bed_make(&bed);
    bed.options.rescale = true;
    bed.options.from_max = 100;
    bed.options.to_max = 5;
    assert_int_equal(read_text(&bed, "i3,90\n"), 0);
    expect_rating(&bed, 0, item_of(&bed, "i3"), 4.5);
    assert_int_equal(read_mine(&bed, "i3:90"), 0);
    expect_rating(&bed, 0, item_of(&bed, "i3"), 4.5);
    bed.options.has_range = true;
    bed.options.range_max = 4;
    assert_int_equal(read_text(&bed, "i2,1\ni3,90\n"), DPMF_ERR_INPUT_OUT_OF_RANGE);
    assert_int_equal(bed.error.line, 2);
    assert_non_null(strstr(bed.error.message, "{rating-range}"));
    bed_free(&bed);
}

static void refuses_others(void **state) {
    struct bed bed;
    (void)state;
    bed_make(&bed);
    assert_int_equal(read_text(&bed, "ann,i3,5\nbob,i4,1\n"), DPMF_ERR_INPUT_COUNT);
    assert_int_equal(read_text(&bed, "rater,item,rating\nann,i3,5\nbob,i4,1\n"),
                     DPMF_ERR_INPUT_COUNT);
    assert_int_equal(bed.error.line, 3);
    assert_int_equal(read_text(&bed, "item,rating\ni3,five\n"), DPMF_ERR_INPUT_NUMBER);
    assert_int_equal(bed.error.column, 4);
    assert_int_equal(read_mine(&bed, bed.dir.path), DPMF_ERR_INPUT_UNKNOWN_FORMAT);
    bed_free(&bed);
}

/* A pipe is copied first; nothing is left behind, and errors do not name the copy. */
static void reads_pipes(void **state) {
    struct bed bed;
    char path[TEMP_PATH_MAX];
    int ends[2];
    (void)state;
    bed_make(&bed);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "i3,5\ni4,x\n", 10), 10);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(read_mine(&bed, path), DPMF_ERR_INPUT_NUMBER);
    assert_string_equal(bed.error.file, path);
    close(ends[0]);
    bed_free(&bed);
}

static void is_empty_for_nothing(void **state) {
    struct dpmf_own_info info;
    uint8_t seen = 0;
    (void)state;
    dpmf_own_info(NULL, &info);
    assert_int_equal(info.n, 0);
    assert_string_equal(info.first_unknown, "");
    dpmf_own_mark(NULL, &seen);
    assert_int_equal(seen, 0);
    dpmf_own_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_pairs), cmocka_unit_test(reads_tables),
        cmocka_unit_test(rescales),    cmocka_unit_test(refuses_others),
        cmocka_unit_test(reads_pipes), cmocka_unit_test(is_empty_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
