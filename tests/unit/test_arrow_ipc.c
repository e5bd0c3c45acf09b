/*
 * Arrow IPC streams and files, byte by byte: what is whole is read to the last cell, and each fault
 * of a schema, a batch, a dictionary or a footer is refused in words.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "arrow/ipc_reader.h"
#include "arrow_cells.h"
#include "ipc_made.h"
#include "stream_of.h"
#include "temp_dir.h"

enum {
    INT = 2,
    FLOAT,
    BINARY,
    UTF8,
    BOOL,
    DECIMAL,
    DATE,
    TIME,
    TIMESTAMP,
    LIST = 12,
    UNION = 14,
    UTF8_VIEW = 24,
    LIMIT = 1 << 20
};

static struct ipc_made made;
static struct dpmf_error error;
static char text[ARROW_CELLS_TEXT]; /* the cells that were read, a line a row */

/* ---- reading --------------------------------------------------------------------------------- */

static int read_made(void) {
    struct input_stream *stream;
    struct arrow_table *table;
    assert_int_equal(stream_of(made.bytes, made.n, "t", &stream, &error), 0);
    const int code = ipc_reader_open(stream, LIMIT, &table, &error);
    return code < 0 ? code : arrow_cells_read(table, text, &error);
}

/* The same out of a file, which is read by its footer. */
static int read_file(void) {
    struct temp_dir dir;
    char path[TEMP_PATH_MAX];
    struct input_stream *stream;
    struct arrow_table *table;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "t.arrow", path);
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(made.bytes, 1, made.n, file) == made.n && fclose(file) == 0);
    assert_int_equal(input_stream_open(path, NULL, &stream, &error), 0);
    int code = ipc_reader_open(stream, LIMIT, &table, &error);
    if (code == 0) code = arrow_cells_read(table, text, &error);
    temp_dir_remove(&dir);
    return code;
}

static void expect_refused(const char *message) {
    assert_int_equal(read_made(), DPMF_ERR_INPUT_ARROW);
    assert_string_equal(error.message, message);
}

/* ---- what is made ---------------------------------------------------------------------------- */

static const struct ipc_made_column number_column = {
    .name = "n", .type = INT, .n_parts = 2, .part = {32, 1}};
static const struct ipc_made_column text_column = {.name = "t", .type = UTF8};
static const struct ipc_made_column word_column = {
    .name = "w", .type = UTF8, .dictionary = 7, .index_bits = 8};
static const struct ipc_made_column view_column = {.name = "v", .type = UTF8_VIEW};

static const int32_t numbers[] = {5, -6, 7}, offsets[] = {0, 1, 3, 6};
static const uint8_t validity[] = {0x5}, indices[] = {1, 2, 0};
static const char letters[] = "abbccc", more[] = "dd";
static const int32_t more_offsets[] = {0, 2};

static struct ipc_made_batch number_batch(void) {
    return (struct ipc_made_batch){.length = 3,
                                   .n_nodes = 1,
                                   .n_buffers = 2,
                                   .node = {{3, 0}},
                                   .buffer = {{NULL, 0, 0}, {numbers, sizeof numbers, 0}}};
}

static struct ipc_made_batch text_batch(void) {
    return (struct ipc_made_batch){
        .length = 3,
        .n_nodes = 1,
        .n_buffers = 3,
        .node = {{3, 1}},
        .buffer = {{validity, 1, 0}, {offsets, sizeof offsets, 0}, {letters, 6, 0}}};
}

static void put_batch(const struct ipc_made_batch *batch) {
    size_t metadata;
    (void)ipc_made_batch(&made, batch, &metadata);
}

/* A stream of one column and these batches. */
static void make_stream(const struct ipc_made_column *column, const struct ipc_made_batch *first,
                        const struct ipc_made_batch *second) {
    made.n = 0;
    ipc_made_schema(&made, column, 1);
    if (first) put_batch(first);
    if (second) put_batch(second);
    ipc_made_mark_end(&made);
}

/* ---- what is whole --------------------------------------------------------------------------- */

static void whole(void **state) {
    const struct ipc_made_batch numbers_batch = number_batch(), texts = text_batch();
    (void)state;
    make_stream(&number_column, &numbers_batch, &numbers_batch);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "5,\n-6,\n7,\n5,\n-6,\n7,\n");
    make_stream(&text_column, &texts, NULL);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "a,\n-,\nccc,\n");
    make_stream(&number_column, NULL, NULL);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "");
}

/* A dictionary that grows keeps what it had, and one that comes again replaces it. */
static void dictionaries(void **state) {
    struct ipc_made_batch words = text_batch(), grown = text_batch(), batch = number_batch();
    (void)state;
    words.dictionary = grown.dictionary = 7;
    grown.is_growth = true;
    grown.length = grown.node[0][0] = 1;
    grown.node[0][1] = 0;
    grown.buffer[1].bytes = more_offsets;
    grown.buffer[1].n = sizeof more_offsets;
    grown.buffer[2].bytes = more;
    grown.buffer[2].n = 2;
    batch.buffer[1].bytes = indices;
    batch.buffer[1].n = sizeof indices;
    made.n = 0;
    ipc_made_schema(&made, &word_column, 1);
    put_batch(&words);
    put_batch(&batch);
    put_batch(&grown);
    static const uint8_t fourth[] = {3, 0, 9};
    batch.buffer[1].bytes = fourth;
    put_batch(&batch);
    grown.is_growth = false;
    put_batch(&grown);
    put_batch(&batch);
    ipc_made_mark_end(&made);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "-,\nccc,\na,\ndd,\na,\n!,\n!,\ndd,\n!,\n");
    /* Of another column it is passed over. */
    words.dictionary = 8;
    make_stream(&number_column, &words, &batch);
    batch = number_batch();
    make_stream(&number_column, &words, &batch);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "5,\n-6,\n7,\n");
}

/* 1,024 times is the most that one may grow. */
static void much_grown(void **state) {
    struct ipc_made_batch grown = text_batch();
    (void)state;
    grown.dictionary = 7;
    grown.is_growth = true;
    grown.length = grown.node[0][0] = grown.node[0][1] = 0;
    grown.n_buffers = 3;
    for (int i = 0; i < 3; i++) grown.buffer[i].n = 0;
    static struct ipc_made one;
    one.n = 0;
    size_t metadata;
    (void)ipc_made_batch(&one, &grown, &metadata);
    const size_t n = 1026;
    uint8_t *bytes = malloc(n * one.n + 4096);
    assert_non_null(bytes);
    made.n = 0;
    ipc_made_schema(&made, &word_column, 1);
    size_t at = made.n;
    memcpy(bytes, made.bytes, at);
    for (size_t i = 0; i < n; i++, at += one.n) memcpy(bytes + at, one.bytes, one.n);
    struct input_stream *stream;
    struct arrow_table *table;
    assert_int_equal(stream_of(bytes, at, "t", &stream, &error), 0);
    assert_int_equal(ipc_reader_open(stream, LIMIT, &table, &error), 0);
    assert_int_equal(arrow_cells_read(table, text, &error), DPMF_ERR_INPUT_ARROW);
    assert_string_equal(error.message, "a dictionary has grown too often");
    free(bytes);
}

/* Views, of which one goes into the first of two buffers and one is short. */
static void views(void **state) {
    static const char first[] = "thirteen bytes";
    static uint8_t view[3][16];
    (void)state;
    bytes_put_u32(view[0], 13);
    memcpy(view[0] + 4, "thir", 4);
    bytes_put_u32(view[1], 2);
    memcpy(view[1] + 4, "ok", 2);
    bytes_put_u32(view[2], 13);
    bytes_put_u32(view[2] + 8, 1); /* the second buffer, which is empty */
    struct ipc_made_batch batch = {.length = 3,
                                   .n_nodes = 1,
                                   .n_buffers = 4,
                                   .node = {{3, 0}},
                                   .buffer = {{NULL, 0, 0},
                                              {view, sizeof view, 0},
                                              {first, sizeof first - 1, 0},
                                              {NULL, 0, 0}},
                                   .n_counts = 1,
                                   .count = {2}};
    make_stream(&view_column, &batch, NULL);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "thirteen byte,\nok,\n!,\n");
    batch.n_counts = 0;
    make_stream(&view_column, &batch, NULL);
    expect_refused("a batch has too few counts of buffers");
    batch.n_counts = 1;
    batch.count[0] = -1;
    make_stream(&view_column, &batch, NULL);
    expect_refused("a batch's count of buffers makes no sense");
    batch.count[0] = 5;
    make_stream(&view_column, &batch, NULL);
    expect_refused("a batch's count of buffers makes no sense");
    batch.count[0] = 3;
    make_stream(&view_column, &batch, NULL);
    expect_refused("a batch has too few buffers");
    /* Two columns of views, and counts for one, or for none. */
    const struct ipc_made_column two[] = {view_column, view_column, number_column};
    batch.count[0] = 2;
    batch.n_nodes = 3;
    batch.node[1][0] = batch.node[2][0] = 3;
    for (batch.n_counts = 0; batch.n_counts < 2; batch.n_counts++) {
        made.n = 0;
        ipc_made_schema(&made, two, 3);
        put_batch(&batch);
        expect_refused("a batch has too few counts of buffers");
    }
}

/* ---- schemas --------------------------------------------------------------------------------- */

static const char *described(struct ipc_made_column column) {
    struct input_stream *stream;
    struct arrow_table *table;
    static const char *is;
    make_stream(&column, NULL, NULL);
    assert_int_equal(stream_of(made.bytes, made.n, "t", &stream, &error), 0);
    if (ipc_reader_open(stream, LIMIT, &table, &error) < 0) return error.message;
    is = table->fields[0].type.described;
    arrow_table_release(table);
    return is;
}

static void types(void **state) {
    static const struct {
        int type, n_parts;
        int64_t part[3];
        const char *described;
    } cases[] = {
        {INT, 2, {24, 1}, "whole numbers of an unusual size"},
        {INT, 2, {64, 0}, "whole numbers"},
        {FLOAT, 1, {2}, "real numbers"},
        {FLOAT, 1, {3}, "floats of an unusual size"},
        {FLOAT, 1, {-1}, "floats of an unusual size"},
        {DECIMAL, 3, {9, 2, 128}, "decimal numbers"},
        {DECIMAL, 2, {9, 2}, "decimal numbers"},
        {DECIMAL, 3, {9, 2, 12}, "decimals of an unusual size"},
        {DECIMAL, 3, {9, 2, -8}, "decimals of an unusual size"},
        {DATE, 1, {0}, "dates"},
        {DATE, 1, {1}, "timestamps"},
        {DATE, 0, {0}, "timestamps"},
        {TIMESTAMP, 1, {3}, "timestamps"},
        {TIMESTAMP, 1, {4}, "timestamps of an unusual unit"},
        {TIMESTAMP, 1, {-1}, "timestamps of an unusual unit"},
        {TIME, 0, {0}, "times of day"},
        {BOOL, 0, {0}, "truth values"},
        {UNION, 1, {1}, "a union"},
        {0, 0, {0}, "a column has an unknown type"},
        {99, 0, {0}, "a column has an unknown type"},
        {BINARY, 0, {0}, "text"},
        {20, 0, {0}, "text"},
        {23, 0, {0}, "text"},
        {1, 0, {0}, "a column of nulls"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ipc_made_column column = {
            .name = i % 2 ? "c" : NULL, .type = cases[i].type, .n_parts = cases[i].n_parts};
        memcpy(column.part, cases[i].part, sizeof column.part);
        assert_string_equal(described(column), cases[i].described);
    }
    struct ipc_made_column column = word_column;
    column.index_bits = 0; /* 32 bits, with a sign */
    assert_string_equal(described(column), "text");
}

static void nested(void **state) {
    enum { DEEP = 70 };
    static struct ipc_made_column deep[DEEP];
    struct ipc_made_column list = {
        .name = "l", .type = LIST, .n_children = 1, .child = &number_column};
    (void)state;
    assert_string_equal(described(list), "a list");
    deep[0] = number_column;
    for (int i = 1; i < DEEP; i++)
        deep[i] = (struct ipc_made_column){
            .name = "l", .type = LIST, .n_children = 1, .child = &deep[i - 1]};
    assert_string_equal(described(deep[64]), "a list");
    assert_string_equal(described(deep[65]), "the schema is nested too deeply");
    /* A child that is nowhere. */
    make_stream(&list, NULL, NULL);
    const size_t schema = made.base;
    for (size_t at = schema; at + 8 <= made.n; at += 4) {
        struct ipc_made before = made;
        bytes_put_u32(made.bytes + at, 0x7fffffff); /* each word of the schema, one by one */
        const int code = read_made();
        assert_true(code == 0 || code == DPMF_ERR_INPUT_ARROW);
        made = before;
    }
}

static void schemas(void **state) {
    (void)state;
    made.n = 0;
    size_t message = ipc_made_begin(&made, 4, IPC_MADE_SCHEMA, 0);
    ipc_made_point(&made, message, 2, ipc_made_schema_table(&made, &number_column, 1, 1));
    ipc_made_end(&made);
    expect_refused("it was written on a big-endian machine");
    made.n = 0;
    message = ipc_made_begin(&made, 2, IPC_MADE_SCHEMA, 0);
    ipc_made_point(&made, message, 2, ipc_made_schema_table(&made, &number_column, 1, 0));
    ipc_made_end(&made);
    expect_refused("it was written by Arrow before 0.8");
    const struct ipc_made_column old_union = {.name = "u", .type = UNION, .n_parts = 1};
    made.n = 0;
    message = ipc_made_begin(&made, 3, IPC_MADE_SCHEMA, 0);
    ipc_made_point(&made, message, 2, ipc_made_schema_table(&made, &old_union, 1, 0));
    ipc_made_end(&made);
    expect_refused("unions of Arrow before 1.0 are not supported");
    made.n = 0;
    message = ipc_made_begin(&made, 4, IPC_MADE_SCHEMA, 8);
    ipc_made_point(&made, message, 2, ipc_made_schema_table(&made, &number_column, 1, 0));
    ipc_made_end(&made);
    expect_refused("it does not begin with a schema");
    made.n = 0;
    put_batch(&(struct ipc_made_batch){.length = 0});
    expect_refused("it does not begin with a schema");
    made.n = 0;
    ipc_made_begin(&made, 4, IPC_MADE_SCHEMA, 0);
    ipc_made_end(&made);
    expect_refused("it does not begin with a schema");
    made.n = 0;
    ipc_made_mark_end(&made);
    expect_refused("the Arrow data is cut off");
}

/* ---- batches --------------------------------------------------------------------------------- */

static void batches(void **state) {
    static const char outside[] = "a buffer lies outside of its batch",
                      damaged[] = "the metadata of a batch is damaged";
    const struct ipc_made_batch good = number_batch();
    struct ipc_made_batch batch = good;
    (void)state;
    batch.length = -1;
    make_stream(&number_column, &batch, NULL);
    expect_refused(damaged);
    batch.length = INT64_MAX / 64 + 1;
    make_stream(&number_column, &batch, NULL);
    expect_refused(damaged);
    batch.length = 4;
    make_stream(&number_column, &batch, NULL);
    expect_refused("a column is of another length than its batch");
    batch.node[0][0] = 4;
    make_stream(&number_column, &batch, NULL);
    expect_refused("a column's buffer is too short");
    batch = good;
    batch.n_nodes = 0;
    make_stream(&number_column, &batch, NULL);
    expect_refused("a batch has too few columns");
    batch.n_nodes = 2;
    make_stream(&number_column, &batch, NULL);
    expect_refused("a batch does not have as many columns as the schema");
    batch = good;
    batch.n_buffers = 1;
    make_stream(&number_column, &batch, NULL);
    expect_refused("a batch has too few buffers");
    batch = good;
    batch.node[0][1] = 1;
    make_stream(&number_column, &batch, NULL);
    expect_refused("a column has nulls and does not say which");
    batch = good;
    batch.buffer[1].later = 8;
    make_stream(&number_column, &batch, NULL);
    expect_refused(outside);
    batch.buffer[1].later = 1 << 20;
    make_stream(&number_column, &batch, NULL);
    expect_refused(outside);
    batch.buffer[1].later = -1;
    make_stream(&number_column, &batch, NULL);
    expect_refused(outside);
    /* Nulls of nine rows need two bytes. */
    static const int32_t nine[9];
    batch = good;
    batch.length = batch.node[0][0] = 9;
    batch.buffer[0].bytes = validity;
    batch.buffer[0].n = 1;
    batch.buffer[1].bytes = nine;
    batch.buffer[1].n = sizeof nine;
    make_stream(&number_column, &batch, NULL);
    expect_refused("a validity buffer is too short");
    batch = text_batch();
    batch.buffer[2].later = -16;
    make_stream(&text_column, &batch, NULL);
    expect_refused("buffers of a batch overlap");
    /* A column of nulls has no buffers, and is not looked at further. */
    const struct ipc_made_column nulls = {.name = "n", .type = 1};
    batch = (struct ipc_made_batch){.length = 2, .n_nodes = 1, .node = {{2, 2}}};
    make_stream(&nulls, &batch, NULL);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "-,\n-,\n");
}

/* A batch that is larger than what may be held is refused before it is read. */
static void large_batches(void **state) {
    static const uint8_t zeros[1 << 16];
    struct ipc_made_batch batch = number_batch();
    struct input_stream *stream;
    struct arrow_table *table;
    (void)state;
    batch.buffer[1].bytes = zeros;
    batch.buffer[1].n = sizeof zeros;
    make_stream(&number_column, &batch, NULL);
    assert_int_equal(stream_of(made.bytes, made.n, "t", &stream, &error), 0);
    assert_int_equal(ipc_reader_open(stream, sizeof zeros - 1, &table, &error), 0);
    assert_int_equal(arrow_cells_read(table, text, &error), DPMF_ERR_USAGE_MEMORY);
    assert_string_equal(error.message,
                        "a record batch takes 0 MiB, more than a quarter of {memory}");
}

/* ---- compression ----------------------------------------------------------------------------- */

static uint8_t packed[4096];

/* @return a buffer of a length and what zstd makes of it */
static int64_t pack(const void *bytes, size_t n, int64_t length) {
    bytes_put_u64(packed, (uint64_t)length);
    const size_t got = ZSTD_compress(packed + 8, sizeof packed - 8, bytes, n, 3);
    assert_false(ZSTD_isError(got));
    return (int64_t)(8 + got);
}

static void compression(void **state) {
    static const char damaged[] = "a compressed buffer is damaged",
                      unknown[] = "it is compressed in an unknown way";
    struct ipc_made_batch batch = number_batch();
    (void)state;
    batch.is_compressed = true;
    batch.codec = 1;
    batch.buffer[1].bytes = packed;
    batch.buffer[1].n = pack(numbers, sizeof numbers, sizeof numbers);
    make_stream(&number_column, &batch, NULL);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "5,\n-6,\n7,\n");
    batch.codec = 0;
    make_stream(&number_column, &batch, NULL);
    expect_refused("it is compressed with LZ4, which is not supported: write it with zstd, or "
                   "without compression");
    batch.codec = 2;
    make_stream(&number_column, &batch, NULL);
    expect_refused(unknown);
    batch.codec = 1;
    batch.method = 1;
    make_stream(&number_column, &batch, NULL);
    expect_refused(unknown);
    batch.method = 0;
    /* As it is, shorter than a length, of a wrong length, and no zstd. */
    bytes_put_u64(packed, UINT64_MAX);
    memcpy(packed + 8, numbers, sizeof numbers);
    batch.buffer[1].n = 8 + sizeof numbers;
    make_stream(&number_column, &batch, NULL);
    assert_int_equal(read_made(), 0);
    assert_string_equal(text, "5,\n-6,\n7,\n");
    batch.buffer[1].n = 7;
    make_stream(&number_column, &batch, NULL);
    expect_refused(damaged);
    batch.buffer[1].n = pack(numbers, sizeof numbers, -2);
    make_stream(&number_column, &batch, NULL);
    expect_refused(damaged);
    batch.buffer[1].n = pack(numbers, sizeof numbers, sizeof numbers + 1);
    make_stream(&number_column, &batch, NULL);
    expect_refused(damaged);
    bytes_put_u64(packed, 12);
    memset(packed + 8, 7, 12);
    batch.buffer[1].n = 20;
    make_stream(&number_column, &batch, NULL);
    expect_refused(damaged);
    /* More than may be held, alone or with what is held already. */
    batch.buffer[1].n = pack(numbers, sizeof numbers, LIMIT + 1);
    make_stream(&number_column, &batch, NULL);
    assert_int_equal(read_made(), DPMF_ERR_USAGE_MEMORY);
    batch.buffer[1].n = pack(numbers, sizeof numbers, LIMIT);
    make_stream(&number_column, &batch, NULL);
    assert_int_equal(read_made(), DPMF_ERR_USAGE_MEMORY);
}

/* ---- dictionaries that are wrong ------------------------------------------------------------- */

static void wrong_dictionaries(void **state) {
    struct ipc_made_batch words = text_batch(), batch = number_batch();
    const struct ipc_made_column two[] = {word_column, word_column};
    (void)state;
    batch.buffer[1].bytes = indices;
    batch.buffer[1].n = sizeof indices;
    make_stream(&word_column, &batch, NULL);
    expect_refused("a batch needs a dictionary that comes later, or not at all");
    words.dictionary = 7;
    words.n_nodes = 0;
    make_stream(&word_column, &words, NULL);
    expect_refused("a batch has too few columns");
    words.n_nodes = 1;
    words.length = -1;
    make_stream(&word_column, &words, NULL);
    expect_refused("the metadata of a batch is damaged");
    words.length = words.node[0][0] = 4;
    make_stream(&word_column, &words, NULL);
    expect_refused("a column's buffer is too short");
    words.length = words.node[0][0] = 3;
    made.n = 0;
    ipc_made_schema(&made, two, 2);
    put_batch(&words);
    expect_refused("two columns share a dictionary");
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void ends(void **state) {
    const struct ipc_made_batch batch = number_batch();
    (void)state;
    make_stream(&number_column, &batch, NULL);
    made.n -= 8;
    expect_refused("the Arrow stream ends without its end marker: it may be cut off");
    make_stream(&number_column, &batch, NULL);
    ipc_made_u32(&made, 0);
    expect_refused("there is something after the end of the Arrow stream");
    assert_true(strlen(error.hint) > 0);
    /* Every cut is refused. */
    make_stream(&number_column, &batch, NULL);
    for (const size_t n = made.n; made.n > 0;) {
        made.n--;
        assert_int_equal(read_made(), DPMF_ERR_INPUT_ARROW);
        assert_true(made.n < n);
    }
    make_stream(&number_column, NULL, NULL);
    made.n -= 8;
    ipc_made_u32(&made, 7);
    ipc_made_u32(&made, 7);
    expect_refused("it is damaged, or was written by Arrow before 0.15: a message does not begin "
                   "as it should");
    make_stream(&number_column, NULL, NULL);
    bytes_put_u32(made.bytes + made.n - 4, (64u << 20) + 8);
    expect_refused("a message is too long");
    make_stream(&number_column, NULL, NULL);
    made.n -= 8;
    ipc_made_begin(&made, 4, 5, 0);
    ipc_made_end(&made);
    expect_refused("a message is damaged");
    made.n = 0;
    ipc_made_schema(&made, &number_column, 1);
    ipc_made_schema(&made, &number_column, 1);
    expect_refused("a message is neither a batch nor a dictionary");
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file with one batch; block: what its footer says of it, added to what is so. */
static void make_file(const int64_t block[3], int n_listed) {
    const struct ipc_made_batch batch = number_batch();
    int64_t blocks[2][3];
    size_t metadata;
    made.n = 0;
    ipc_made_put(&made, "ARROW1\0", 8);
    ipc_made_schema(&made, &number_column, 1);
    blocks[0][0] = (int64_t)ipc_made_batch(&made, &batch, &metadata) + block[0];
    blocks[0][1] = (int64_t)metadata + block[1];
    blocks[0][2] = 16 + block[2];
    memcpy(blocks[1], blocks[0], sizeof blocks[0]);
    ipc_made_mark_end(&made);
    ipc_made_footer(&made, &number_column, 1, (const int64_t(*)[3])blocks, 0, n_listed);
}

static void expect_file_refused(const char *message) {
    assert_int_equal(read_file(), DPMF_ERR_INPUT_ARROW);
    assert_string_equal(error.message, message);
}

static void files(void **state) {
    static const char cut[] = "the Arrow data is cut off", damaged[] = "the footer is damaged",
                      differ[] = "the footer and a message differ about its length";
    static const int64_t as_it_is[3] = {0};
    (void)state;
    make_file(as_it_is, 1);
    assert_int_equal(read_file(), 0);
    assert_string_equal(text, "5,\n-6,\n7,\n");
    assert_int_equal(read_made(), 0); /* and as a stream */
    assert_string_equal(text, "5,\n-6,\n7,\n");
    const uint64_t body = made.n;
    for (made.n = 16; made.n < body; made.n++) assert_int_equal(read_made(), DPMF_ERR_INPUT_ARROW);
    make_file(as_it_is, 0);
    expect_file_refused("the footer leaves out a part of the file");
    expect_refused("the footer lists the wrong number of batches");
    make_file(as_it_is, 2);
    expect_file_refused("the footer lists a part of the file twice");
    make_file((const int64_t[3]){1 << 20, 0, 0}, 1);
    expect_file_refused(cut);
    make_file((const int64_t[3]){-(1 << 20), 0, 0}, 1);
    expect_file_refused(cut);
    make_file((const int64_t[3]){0, 1 << 20, 0}, 1);
    expect_file_refused(cut);
    make_file((const int64_t[3]){0, -(1 << 20), 0}, 1);
    expect_file_refused(cut);
    make_file((const int64_t[3]){0, 0, 1 << 20}, 1);
    expect_file_refused(cut);
    make_file((const int64_t[3]){0, 0, -17}, 1);
    expect_file_refused(cut);
    make_file((const int64_t[3]){0, 8, -8}, 1);
    expect_file_refused(differ);
    make_file((const int64_t[3]){0, 8, 0}, 1);
    expect_file_refused(differ);
    make_file(as_it_is, 1);
    const size_t n = made.n;
    bytes_put_u32(made.bytes + n - 10, (uint32_t)n);
    expect_file_refused(damaged);
    expect_refused(damaged);
    bytes_put_u32(made.bytes + n - 10, (64u << 20) + 1);
    expect_file_refused(damaged);
    bytes_put_u32(made.bytes + n - 10, 0);
    expect_file_refused(damaged);
    expect_refused("there is something between the last batch and the footer");
    made.bytes[n - 1] = '2';
    expect_file_refused(cut);
    expect_refused(cut);
    made.n = 17;
    expect_file_refused(cut);
    /* Where the footer points, there is the mark of the end. */
    make_file(as_it_is, 1);
    for (size_t at = 8; at + 8 <= made.n; at += 8) {
        const struct ipc_made before = made;
        bytes_put_u64(made.bytes + at, UINT32_MAX);
        const int code = read_file();
        assert_true(code == 0 || code == DPMF_ERR_INPUT_ARROW);
        made = before;
    }
}

/* Files of some writers have a schema without its length: all up to the first batch is one. */
static void schema_without_length(void **state) {
    static const int64_t as_it_is[3] = {0};
    (void)state;
    make_file(as_it_is, 1);
    bytes_put_u64(made.bytes + 8, 0);
    assert_int_equal(read_file(), 0);
    assert_string_equal(text, "5,\n-6,\n7,\n");
    bytes_put_u32(made.bytes + 16, UINT32_MAX); /* as another message begins */
    expect_file_refused("the footer leaves out a part of the file");
}

static void magic(void **state) {
    uint8_t head[12] = {0xff, 0xff, 0xff, 0xff, 16, 0, 0, 0, 8, 0, 0, 0};
    (void)state;
    assert_true(ipc_has_magic(head, 12));
    assert_false(ipc_has_magic(head, 11));
    head[8] = 16; /* an offset behind the message */
    assert_false(ipc_has_magic(head, 12));
    head[8] = 8;
    head[4] = 12; /* no multiple of 8 */
    assert_false(ipc_has_magic(head, 12));
    head[4] = 0;
    assert_false(ipc_has_magic(head, 12));
    head[7] = 0x40; /* too long */
    assert_false(ipc_has_magic(head, 12));
    assert_true(ipc_has_magic("ARROW1\0", 8));
    assert_false(ipc_has_magic("ARROW1\0", 7));
    assert_false(ipc_has_magic("ARROW2\0", 8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(dictionaries),
        cmocka_unit_test(much_grown),
        cmocka_unit_test(views),
        cmocka_unit_test(types),
        cmocka_unit_test(nested),
        cmocka_unit_test(schemas),
        cmocka_unit_test(batches),
        cmocka_unit_test(large_batches),
        cmocka_unit_test(compression),
        cmocka_unit_test(wrong_dictionaries),
        cmocka_unit_test(ends),
        cmocka_unit_test(files),
        cmocka_unit_test(schema_without_length),
        cmocka_unit_test(magic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
