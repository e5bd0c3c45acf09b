/*
 * Parquet files of one column, page by page: values of every type and encoding with nulls, and each
 * fault of a page or a dictionary, refused in words.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "parquet_one.h"

/* ---- values ---------------------------------------------------------------------------------- */

static const char misfit[] = "column 1 is damaged: its values do not fit in their page";

static const uint8_t halves[] = {LEVELS, 0, 0x3c, 0, 0xc0};
static const uint8_t wide[] = {
    LEVELS, 0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,      0,   0,   0,   0,   1,   0,   255, 255, 255, 255, 255, 255, 255,
    255,    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 254,
};
static const uint8_t sixteen[] = {LEVELS, 0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                                  0,      0,   0,   0,   0,   7,   255, 255, 255, 255, 255,
                                  255,    255, 255, 255, 255, 255, 255, 255, 255, 255, 249};
static const uint8_t uuids[] = {LEVELS, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,  10, 11, 12, 13, 14, 15,
                                255,    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t moments[] = {LEVELS, /* a second before 1970, and a day after */
                                  0,      54, 101, 196, 255, 255, 255, 255, 140, 61, 37, 0,
                                  0,      0,  0,   0,   0,   0,   0,   0,   141, 61, 37, 0};

static const struct file half_file = {
    .column = {PARQUET_FIXED, 2, 1, .logical = 15}, .page = ONE_PAGE(halves), .n_rows = 3};
static const struct file wide_file = {
    .column = {PARQUET_FIXED, 20, 1, .logical = 5}, .page = ONE_PAGE(wide), .n_rows = 3};
static const struct file sixteen_file = {
    .column = {PARQUET_FIXED, 16, 1, .converted = 6}, .page = ONE_PAGE(sixteen), .n_rows = 3};
static const struct file uuid_file = {
    .column = {PARQUET_FIXED, 16, 1, .logical = 14}, .page = ONE_PAGE(uuids), .n_rows = 3};
static const struct file moment_file = {
    .column = {.physical = PARQUET_INT96, .repetition = 1}, .page = ONE_PAGE(moments), .n_rows = 3};

static void fixed_values(void **state) {
    (void)state;
    expect_limits(&half_file, "1,\n-,\n-2,\n");
    expect_limits(&wide_file, "256,\n-,\n-2,\n");
    expect_limits(&sixteen_file, "7,\n-,\n-7,\n");
    expect_limits(&uuid_file, "00010203-0405-0607-0809-0a0b0c0d0e0f,\n-,\n"
                              "ff010203-0405-0607-0809-0a0b0c0d0e0f,\n");
    expect_limits(&long_file, "1,\n-,\n-1,\n");
    expect_limits(&moment_file, "-1,\n-,\n86400,\n");
    struct file file = long_file;
    file.page[0].n -= 1;
    expect_refused(&file, misfit);
}

/* The bytes of all values, first by first. */
static void split_values(void **state) {
    static const uint8_t split[] = {LEVELS, 1, 255, 0, 255, 0, 255, 0, 255};
    struct file file = {.column = {.physical = PARQUET_INT32, .repetition = 1},
                        .page = ONE_PAGE(split),
                        .n_rows = 3};
    (void)state;
    file.page[0].encoding = PARQUET_BYTE_STREAM_SPLIT;
    expect_limits(&file, "1,\n-,\n-1,\n");
    file.page[0].n -= 1;
    expect_refused(&file, misfit);
    file.column.physical = PARQUET_BYTE_ARRAY;
    expect_refused(&file, "column 1 is encoded as BYTE_STREAM_SPLIT, which is not supported for "
                          "its type");
}

static void encodings(void **state) {
    static const struct {
        int physical, encoding;
        const char *message;
    } cases[] = {
        {PARQUET_FLOAT, PARQUET_DELTA_BINARY_PACKED, "DELTA_BINARY_PACKED"},
        {PARQUET_INT32, PARQUET_DELTA_LENGTH_BYTE_ARRAY, "DELTA_LENGTH_BYTE_ARRAY"},
        {PARQUET_INT32, PARQUET_DELTA_BYTE_ARRAY, "DELTA_BYTE_ARRAY"},
        {PARQUET_INT32, PARQUET_RLE, "RLE"},
        {PARQUET_INT32, 1, "GROUP_VAR_INT"},
        {PARQUET_INT32, 99, "an unknown encoding"},
        {PARQUET_INT32, -1, "an unknown encoding"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file file = {.column = {.physical = cases[i].physical, .repetition = 1},
                            .page = ONE_PAGE(longs),
                            .n_rows = 3};
        char message[128];
        file.page[0].encoding = cases[i].encoding;
        snprintf(message, sizeof message,
                 "column 1 is encoded as %s, which is not supported for its type",
                 cases[i].message);
        expect_refused(&file, message);
    }
}

/* Differences of blocks of 8 numbers. The first is 5; then one of 2. */
static void differences(void **state) {
    static const uint8_t deltas[] = {LEVELS, 8, 1, 2, 10, 4, 0};
    struct file file = {.column = {.physical = PARQUET_INT32, .repetition = 1},
                        .page = ONE_PAGE(deltas),
                        .n_rows = 3};
    (void)state;
    file.page[0].encoding = PARQUET_DELTA_BINARY_PACKED;
    expect_limits(&file, "5,\n-,\n7,\n");
    file.column.physical = PARQUET_INT64;
    expect_limits(&file, "5,\n-,\n7,\n");
    file.page[0].n -= 1;
    expect_refused(&file, misfit);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void texts(void **state) {
    static const uint8_t plain[] = {LEVELS, 1,   0,   0,   0,   'a', 14,  0,   0,   0,   'f', 'o',
                                    'u',    'r', 't', 'e', 'e', 'n', ' ', 'b', 'y', 't', 'e', 's'};
    static const uint8_t lengths[] = {LEVELS, 8, 1, 2, 2, 2, 0, 'a', 'b', 'c'};
    static const uint8_t shared[] = {LEVELS, 8, 1, 2, 0, 2, 0, 8, 1, 2, 2, 2, 0, 'a', 'b', 'c'};
    struct file file = {.column = {.physical = PARQUET_BYTE_ARRAY, .repetition = 1},
                        .page = ONE_PAGE(plain),
                        .n_rows = 3};
    (void)state;
    expect_limits(&file, "a,\n-,\nfourteen bytes,\n");
    for (size_t n = 7; n < sizeof plain; n++) {
        file.page[0].n = n;
        expect_refused(&file, misfit);
    }
    file.page[0] = (struct page){.kind = DATA,
                                 .encoding = PARQUET_DELTA_LENGTH_BYTE_ARRAY,
                                 .n_values = 3,
                                 .body = lengths,
                                 .n = sizeof lengths};
    expect_limits(&file, "a,\n-,\nbc,\n");
    for (size_t n = 6; n < sizeof lengths; n++) {
        file.page[0].n = n;
        expect_refused(&file, misfit);
    }
    file.page[0].encoding = PARQUET_DELTA_BYTE_ARRAY;
    file.page[0].body = shared;
    file.page[0].n = sizeof shared;
    expect_limits(&file, "a,\n-,\nabc,\n");
    for (size_t n = 6; n < sizeof shared; n++) {
        file.page[0].n = n;
        expect_refused(&file, misfit);
    }
    /* A length below 0, one above all, and more of the text before than there is. */
    uint8_t odd[sizeof shared];
    file.page[0].n = sizeof shared;
    file.page[0].body = odd;
    memcpy(odd, shared, sizeof odd);
    odd[15 - 1] = 0;
    memcpy(odd, shared, sizeof odd);
    odd[9] = 1; /* the first shares a byte with nothing */
    odd[10] = 1;
    expect_refused(&file, misfit);
    memcpy(odd, shared, sizeof odd);
    odd[9] = 1; /* -1 */
    expect_refused(&file, misfit);
    memcpy(odd, shared, sizeof odd);
    odd[9] = 2; /* 1 */
    expect_refused(&file, misfit);
    static const uint8_t huge[] = {LEVELS, 8, 1, 2, 0, 0xfe, 0xff, 0xff, 0xff, 0x1f,
                                   0,      8, 1, 2, 2, 2,    0,    'a',  'b',  'c'};
    file.page[0].body = huge;
    file.page[0].n = sizeof huge;
    expect_refused(&file, misfit);
    file.page[0].encoding = PARQUET_DELTA_LENGTH_BYTE_ARRAY;
    expect_refused(&file, misfit);
}

/* Each text is one longer than the one before: together they are more than a page. */
static void joined_texts(void **state) {
    static const uint8_t grown[] = {8, 1, 6, 0,   2,   0,   8,   1,   6,
                                    2, 0, 0, 'a', 'b', 'c', 'd', 'e', 'f'};
    struct file file = {.column = {.physical = PARQUET_BYTE_ARRAY},
                        .page = {{.kind = DATA,
                                  .encoding = PARQUET_DELTA_BYTE_ARRAY,
                                  .n_values = 6,
                                  .body = grown,
                                  .n = sizeof grown}},
                        .n_rows = 6};
    (void)state;
    expect_limits(&file, "a,\nab,\nabc,\nabcd,\nabcde,\nabcdef,\n");
}

/* ---- nulls ----------------------------------------------------------------------------------- */

static void levels(void **state) {
    static const char nulls[] = "column 1 is damaged: its nulls do not fit in their page";
    static const uint8_t too_long[] = {9, 0, 0, 0, 1 << 1 | 1, 5, 1, 0, 0, 0};
    struct file file = long_file;
    (void)state;
    file.page[0].level_encoding = PARQUET_BIT_PACKED;
    expect_refused(&file, "column 1 has its nulls encoded as BIT_PACKED, which is not supported");
    file = long_file;
    file.page[0].n = 3;
    expect_refused(&file, nulls);
    file.page[0].body = too_long;
    file.page[0].n = sizeof too_long;
    expect_refused(&file, nulls);
    file = long_file;
    file.page[0].n_values = file.n_rows = 9; /* levels of eight */
    expect_refused(&file, nulls);
    /* All are there, and all are null: then nothing is looked at. */
    static const uint8_t all[] = {2, 0, 0, 0, 2 << 1, 1, 1, 0, 0, 0, 2, 0, 0, 0};
    static const uint8_t none[] = {2, 0, 0, 0, 2 << 1, 0};
    file = (struct file){.column = {.physical = PARQUET_INT32, .repetition = 1},
                         .page = {{.kind = DATA, .n_values = 2, .body = all, .n = sizeof all}},
                         .n_rows = 2};
    expect(&file, "1,\n2,\n");
    file.page[0].body = none;
    file.page[0].n = sizeof none;
    expect(&file, "-,\n-,\n");
}

/* A run of nulls costs two bytes: how many there may be is bounded before they are noted. */
static void many_levels(void **state) {
    static const uint8_t run[] = {4, 0, 0, 0, 0x80, 0x89, 0x7a, 0};
    struct file file = {.column = {.physical = PARQUET_INT32, .repetition = 1},
                        .page = {{.kind = DATA, .n_values = 1000000, .body = run, .n = sizeof run}},
                        .n_rows = 1000000};
    struct arrow_table *table;
    struct arrow_batch *batch;
    (void)state;
    make_file(&file);
    assert_int_equal(read_path(1000, false), DPMF_ERR_USAGE_MEMORY);
    assert_string_equal(error.message,
                        "a page of column 1 takes 1 MiB, more than a sixteenth of {memory}");
    assert_string_equal(error.hint, "give it {memory 80MiB}, or write the file with smaller pages");
    /* Such a page comes in several batches. */
    int64_t rows = 0;
    int n_batches = 0;
    assert_int_equal(parquet_reader_open(path, LIMIT, false, &table, &error), 0);
    table->chosen[0] = 0;
    while (table->ops->next(table, &batch, &error) == 1) {
        assert_int_equal(batch->load(batch, &error), 0);
        rows += batch->n_rows;
        n_batches++;
        arrow_batch_release(batch);
    }
    assert_int_equal(rows, 1000000);
    assert_true(n_batches > 1);
    assert_true(table->ops->bytes_held(table) > 0);
    arrow_table_release(table);
}

static void second_version(void **state) {
    static const uint8_t values[] = {1 << 1 | 1, 5, 1, 0, 0, 0, 2, 0, 0, 0};
    static const uint8_t repeated[] = {9, 9, 1 << 1 | 1, 5, 1, 0, 0, 0, 2, 0, 0, 0};
    struct file file = {.column = {.physical = PARQUET_INT32, .repetition = 1},
                        .page = {{.kind = DATA_V2,
                                  .n_values = 3,
                                  .n_nulls = 1,
                                  .level_bytes = 2,
                                  .body = values,
                                  .n = sizeof values}},
                        .n_rows = 3};
    const struct file good = file;
    (void)state;
    expect(&file, "1,\n-,\n2,\n");
    file.page[0].body = repeated;
    file.page[0].n = sizeof repeated;
    file.page[0].repeat_bytes = 2;
    expect(&file, "1,\n-,\n2,\n");
    file = good;
    file.page[0].n_nulls = 2;
    expect_refused(&file, "column 1 is damaged: its nulls do not fit in their page");
    file = good;
    file.page[0].level_bytes = 11;
    expect_refused(&file, "column 1 is damaged: a page's lengths make no sense");
    file = good;
    file.page[0].level_bytes = file.page[0].repeat_bytes = INT32_MAX;
    expect_refused(&file, "column 1 is damaged: a page's lengths make no sense");
    file = good;
    file.page[0].n_rows = 2;
    expect_refused(&file, "column 1 is damaged: a page has more values than there are rows");
    /* Of nulls alone nothing is compressed, and nothing need be there. */
    static const uint8_t nothing[] = {3 << 1, 0};
    file = good;
    file.codec = PARQUET_SNAPPY;
    file.page[0] = (struct page){.kind = DATA_V2,
                                 .n_values = 3,
                                 .n_nulls = 3,
                                 .level_bytes = 2,
                                 .is_packed = true,
                                 .body = nothing,
                                 .n = sizeof nothing};
    expect(&file, "-,\n-,\n-,\n");
    file.page[0].bytes = 3; /* a byte that is not there */
    expect_refused(&file, "column 1 is damaged: a page cannot be decompressed");
    file.page[0].bytes = 1; /* fewer bytes than its levels */
    expect_refused(&file, "column 1 is damaged: a page's lengths make no sense");
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void headers(void **state) {
    static const char malformed[] = "column 1 is damaged: a page's header is malformed";
    struct file file = long_file;
    (void)state;
    file.page[0].statistics = 5000; /* more than is read at first, and more than after that */
    expect(&file, "1,\n-,\n-1,\n");
    file.page[0].statistics = 3000;
    expect(&file, "1,\n-,\n-1,\n");
    file = long_file;
    file.page[0].has_checksum = true;
    file.page[0].checksum = (uint32_t)crc32(0, longs, sizeof longs);
    expect(&file, "1,\n-,\n-1,\n");
    file.page[0].checksum ^= 1;
    expect_refused(&file, "column 1 is damaged: a page's checksum is not that of its bytes");
    file = long_file;
    file.page[0].bytes = sizeof longs + 1;
    expect_refused(&file, "column 1 is damaged: a page's lengths make no sense");
    file.page[0].bytes = -1;
    expect_refused(&file, malformed);
    file.page[0].bytes = 0;
    file.page[0].kind = 9; /* of no kind that has a header of its own */
    expect_refused(&file, malformed);
    file.page[0].kind = DATA;
    file.page[0].n_values = 4;
    expect_refused(&file, "column 1 is damaged: a page has more values than there are rows");
    file.page[0].n_values = 2;
    expect_refused(&file, "column 1 is damaged: it has fewer values than there are rows");
    /* Pages of an index, and pages without rows, are passed over. */
    file = long_file;
    file.n_pages = 3;
    file.page[2] = file.page[0];
    file.page[0] = (struct page){.kind = INDEX, .body = longs, .n = 3};
    file.page[1] = (struct page){.kind = DATA};
    expect(&file, "1,\n-,\n-1,\n");
    /* What comes after the last value, and a header that ends where the chunk does. */
    file = long_file;
    file.n_pages = 2;
    file.page[1] = (struct page){.kind = INDEX, .body = longs, .n = 3};
    expect_refused(&file, "column 1 is damaged: it continues after its last value");
}

/* A header that is never whole: the reader looks further up to the end of the chunk. */
static void endless_header(void **state) {
    struct file file = long_file;
    (void)state;
    file.page[0].statistics = 20000;
    make_file(&file);
    uint8_t *at = memmem(made.bytes, made.n, "xxxx", 4);
    assert_non_null(at);
    at[-1] |= 0x7f; /* it is said to be longer than the file */
    write_made();
    assert_int_equal(read_path(LIMIT, false), DPMF_ERR_INPUT_PARQUET);
    assert_string_equal(error.message, "column 1 is damaged: a page's header is malformed");
}

static void dictionaries(void **state) {
    static const uint8_t words[] = {1, 0, 0, 0, 'a', 1, 0, 0, 0, 'b'};
    static const uint8_t places[] = {LEVELS, 1, 2 << 1, 1};
    static const uint8_t outside[] = {LEVELS, 2, 2 << 1, 2};
    static const uint8_t widest[] = {LEVELS, 33, 2 << 1, 1};
    struct file file = {
        .column = {.physical = PARQUET_BYTE_ARRAY, .repetition = 1},
        .page = {{.kind = DICTIONARY, .n_values = 2, .body = words, .n = sizeof words},
                 {.kind = DATA,
                  .encoding = PARQUET_RLE_DICTIONARY,
                  .n_values = 3,
                  .body = places,
                  .n = sizeof places}},
        .n_rows = 3,
        .n_pages = 2};
    const struct file good = file;
    (void)state;
    expect_limits(&file, "b,\n-,\nb,\n");
    file.page[1].encoding = PARQUET_PLAIN_DICTIONARY;
    expect(&file, "b,\n-,\nb,\n");
    file.page[1].body = outside;
    expect_refused(&file, "column 1 is damaged: an index points outside of its dictionary");
    file.page[1].body = widest;
    expect_refused(&file, misfit);
    file.page[1].n = 6; /* not even a width */
    expect_refused(&file, misfit);
    file = good;
    file.page[0].encoding = PARQUET_RLE;
    expect_refused(&file, "column 1 has a dictionary in an encoding that is not supported");
    file.page[0].encoding = PARQUET_PLAIN_DICTIONARY;
    expect(&file, "b,\n-,\nb,\n");
    file = good;
    file.page[0].n -= 1;
    expect_refused(&file, misfit);
    file = good;
    file.page[0].bytes = 3;
    expect_refused(&file, "column 1 is damaged: a page's lengths make no sense");
    file = good;
    file.n_pages = 3;
    file.page[2] = file.page[1];
    file.page[1] = file.page[0]; /* twice */
    expect_refused(&file, "column 1 is damaged: its dictionary is not at its beginning");
    file = good;
    file.page[0] = file.page[1];
    file.page[1] = good.page[0];
    expect_refused(&file, "column 1 is damaged: a page needs a dictionary that is not there");
    static const uint8_t plain_one[] = {2, 0, 0, 0, 1 << 1, 1, 1, 0, 0, 0, 'c'};
    file = good;
    file.n_pages = 3;
    file.page[0] =
        (struct page){.kind = DATA, .n_values = 1, .body = plain_one, .n = sizeof plain_one};
    file.page[1] = good.page[0];
    file.page[2] = good.page[1];
    expect_refused(&file, "column 1 is damaged: its dictionary is not at its beginning");
    /* More values than its bytes hold. */
    file = good;
    file.page[0].n_values = 3;
    expect_refused(&file, misfit);
}

/* A page that failed has failed for whoever asks again. */
static void failed_twice(void **state) {
    struct file file = long_file;
    struct arrow_table *table;
    struct arrow_batch *batch;
    (void)state;
    file.page[0].n -= 1;
    make_file(&file);
    assert_int_equal(parquet_reader_open(path, LIMIT, false, &table, &error), 0);
    table->chosen[0] = 0;
    assert_int_equal(table->ops->next(table, &batch, &error), 1);
    for (int i = 0; i < 2; i++) {
        error.message[0] = '\0';
        assert_int_equal(batch->load(batch, &error), DPMF_ERR_INPUT_PARQUET);
        assert_string_equal(error.message, misfit);
        assert_int_equal(batch->load(batch, NULL), DPMF_ERR_INPUT_PARQUET);
    }
    arrow_batch_release(batch);
    arrow_table_release(table);
}

/* ---- compression ----------------------------------------------------------------------------- */

static void compressed_pages(void **state) {
    static const uint8_t packed[] = "\x0c\x2c\x01\0\0\0\x02\0\0\0\x03\0\0\0";
    struct file file = {
        .column = {.physical = PARQUET_INT32},
        .page =
            {{.kind = DATA, .n_values = 3, .bytes = 12, .body = packed, .n = sizeof packed - 1}},
        .n_rows = 3,
        .codec = PARQUET_SNAPPY};
    (void)state;
    expect_limits(&file, "1,\n2,\n3,\n");
    file.codec = PARQUET_LZ4_RAW;
    expect_refused(&file, "column 1 is damaged: a page cannot be decompressed");
    file.codec = PARQUET_BROTLI;
    expect_refused(&file, "column 1 is compressed with Brotli, which is not supported");
    file.codec = 99;
    expect_refused(&file, "column 1 is compressed with something unknown, which is not supported");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_values),   cmocka_unit_test(split_values),
        cmocka_unit_test(encodings),      cmocka_unit_test(differences),
        cmocka_unit_test(texts),          cmocka_unit_test(joined_texts),
        cmocka_unit_test(levels),         cmocka_unit_test(many_levels),
        cmocka_unit_test(second_version), cmocka_unit_test(headers),
        cmocka_unit_test(endless_header), cmocka_unit_test(dictionaries),
        cmocka_unit_test(failed_twice),   cmocka_unit_test(compressed_pages),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
