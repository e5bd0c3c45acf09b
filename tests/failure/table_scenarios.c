/*
 * Reads tables of Arrow and Parquet, all kinds of pages and buffers that take memory: nulls,
 * dictionaries that grow, texts that are joined, compressed pages, long headers, views.
 */
#define _GNU_SOURCE
#include "table_scenarios.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../unit/arrow_made.h"
#include "../unit/ipc_made.h"
#include "arrow/ipc_reader.h"

#include "../unit/parquet_one.h" /* at the end: names of its own would hide others' */

enum { PARQUET_FILES = 5 };

static char parquet_path[PARQUET_FILES][TEMP_PATH_MAX], arrow_path[TEMP_PATH_MAX];
static struct ipc_made ipc;

/* ---- what is read ---------------------------------------------------------------------------- */

static void make_parquet(void) {
    static const uint8_t words[] = {1, 0, 0, 0, 'a', 1, 0, 0, 0, 'b'};
    static const uint8_t places[] = {LEVELS, 1, 2 << 1, 1};
    static const uint8_t shared[] = {LEVELS, 8, 1, 2, 0, 2, 0, 8, 1, 2, 2, 2, 0, 'a', 'b', 'c'};
    static const uint8_t packed[] = "\x0c\x2c\x01\0\0\0\x02\0\0\0\x03\0\0\0";
    static const uint8_t uuid[16];
    struct file file[PARQUET_FILES] = {
        long_file,
        {.column = {.physical = PARQUET_BYTE_ARRAY, .repetition = 1},
         .page = {{.kind = DICTIONARY, .n_values = 2, .body = words, .n = sizeof words},
                  {.kind = DATA,
                   .encoding = PARQUET_RLE_DICTIONARY,
                   .n_values = 3,
                   .body = places,
                   .n = sizeof places}},
         .n_rows = 3,
         .n_pages = 2},
        {.column = {.physical = PARQUET_BYTE_ARRAY, .repetition = 1},
         .page = ONE_PAGE(shared),
         .n_rows = 3},
        {.column = {.physical = PARQUET_INT32},
         .page =
             {{.kind = DATA, .n_values = 3, .bytes = 12, .body = packed, .n = sizeof packed - 1}},
         .n_rows = 3,
         .codec = PARQUET_SNAPPY},
        {.column = {PARQUET_FIXED, 16, .logical = 14},
         .page = {{.kind = DATA, .n_values = 1, .body = uuid, .n = sizeof uuid}},
         .n_rows = 1},
    };
    file[0].page[0].statistics = 5000;
    file[2].page[0].encoding = PARQUET_DELTA_BYTE_ARRAY;
    for (int i = 0; i < PARQUET_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.parquet", i);
        temp_dir_file(&dir, name, parquet_path[i]);
        memcpy(path, parquet_path[i], sizeof path);
        make_file(&file[i]);
    }
}

/* Texts of a dictionary that has grown, texts that are views, and numbers, in one batch. */
static void make_arrow(void) {
    static const struct ipc_made_column column[] = {
        {.name = "word", .type = 5, .dictionary = 7, .index_bits = 8},
        {.name = "view", .type = 24},
        {.name = "number", .type = 2, .n_parts = 2, .part = {32, 1}},
    };
    static const int32_t offsets[] = {0, 1}, number = 5;
    static const uint8_t view[16] = {2, 0, 0, 0, 'o', 'k'}, index = 1;
    struct ipc_made_batch words = {
        .length = 1,
        .n_nodes = 1,
        .n_buffers = 3,
        .node = {{1, 0}},
        .buffer = {{NULL, 0, 0}, {offsets, sizeof offsets, 0}, {"a", 1, 0}},
        .dictionary = 7};
    const struct ipc_made_batch batch = {.length = 1,
                                         .n_nodes = 3,
                                         .n_buffers = 7,
                                         .node = {{1, 0}, {1, 0}, {1, 0}},
                                         .buffer = {{NULL, 0, 0},
                                                    {&index, 1, 0},
                                                    {NULL, 0, 0},
                                                    {view, sizeof view, 0},
                                                    {"more", 4, 0},
                                                    {NULL, 0, 0},
                                                    {&number, sizeof number, 0}},
                                         .n_counts = 1,
                                         .count = {1}};
    int64_t block[3][3];
    size_t metadata;
    ipc_made_put(&ipc, "ARROW1\0", 8);
    ipc_made_schema(&ipc, column, 3);
    for (int i = 0; i < 3; i++) {
        words.is_growth = i == 1;
        block[i][0] = (int64_t)ipc_made_batch(&ipc, i < 2 ? &words : &batch, &metadata);
        block[i][1] = (int64_t)metadata;
        block[i][2] = (int64_t)ipc.n - block[i][0] - block[i][1];
    }
    ipc_made_mark_end(&ipc);
    ipc_made_footer(&ipc, column, 3, (const int64_t(*)[3])block, 2, 1);
    temp_dir_file(&dir, "t.arrow", arrow_path);
    FILE *out = fopen(arrow_path, "wb");
    assert_true(out && fwrite(ipc.bytes, 1, ipc.n, out) == ipc.n && fclose(out) == 0);
}

void table_scenarios_make(void) {
    temp_dir_make(&dir);
    make_parquet();
    make_arrow();
}

void table_scenarios_remove(void) { temp_dir_remove(&dir); }

/* ---- reading it ------------------------------------------------------------------------------ */

int table_scenarios_parquet(void) {
    int code = 0;
    for (int i = 0; i < PARQUET_FILES && code == 0; i++) {
        memcpy(path, parquet_path[i], sizeof path);
        code = read_path(LIMIT, false);
    }
    return code;
}

static int read_arrow(struct input_stream *stream) {
    struct arrow_table *table;
    int code = ipc_reader_open(stream, LIMIT, &table, &error);
    if (code == 0) code = arrow_cells_read(table, text, &error);
    if (code == 0) assert_string_equal(text, "a,ok,5,\n");
    return code;
}

/* By its footer, and as a stream: under a name that is no file's, it is not opened again. */
int table_scenarios_arrow(void) {
    struct input_stream *stream;
    int code = input_stream_open(arrow_path, NULL, &stream, &error);
    if (code == 0) code = read_arrow(stream);
    if (code < 0) return code;
    const int fd = open(arrow_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return DPMF_ERR_IO_READ;
    code = input_stream_open_fd(fd, "no file", NULL, &stream, &error);
    return code == 0 ? read_arrow(stream) : code;
}

int table_scenarios_arrow_stream(void) {
    static const int64_t numbers[] = {1, 2};
    struct made_table table_made = {.n_columns = 1, .rows = 2};
    struct arrow_table *table;
    table_made.column[0] =
        (struct made_column){.name = "n", .format = "l", .buffer = {NULL, numbers}, .length = 2};
    struct ArrowArrayStream stream = made_stream(&table_made);
    int code = arrow_stream_open(&stream, false, &table, &error);
    if (code == 0) code = arrow_cells_read(table, text, &error);
    assert_int_equal(table_made.n_streams + table_made.n_schemas + table_made.n_arrays, 0);
    return code;
}
