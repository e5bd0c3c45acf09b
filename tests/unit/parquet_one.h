/*
 * Parquet files of one column, made page by page, with whatever is wrong with them; and reading
 * them.
 * What is made is in static variables of the test that includes this. Include after cmocka.
 */
#ifndef DPMF_TESTS_PARQUET_ONE_H
#define DPMF_TESTS_PARQUET_ONE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_cells.h"
#include "base/bytes.h"
#include "parquet_made.h"
#include "temp_dir.h"

enum { DATA, INDEX, DICTIONARY, DATA_V2, PAGES = 4, LIMIT = 1 << 20 };

static struct parquet_made made;
static struct temp_dir dir;
static char path[TEMP_PATH_MAX], text[ARROW_CELLS_TEXT];
static struct dpmf_error error;

/* ---- files ----------------------------------------------------------------------------------- */

struct page {
    int kind, encoding, n_values, n_nulls, level_bytes, repeat_bytes;
    int n_rows;         /* of the second kind; 0: as many as values */
    int level_encoding; /* 0: RLE */
    int64_t bytes;      /* what the header says, 0: what there is */
    bool is_packed, has_checksum;
    uint32_t checksum;
    size_t statistics; /* bytes of a field that makes the header longer */
    const void *body;
    size_t n;
};

/* Fields of the schema that a column has besides its name and its type. */
struct column {
    int physical, fixed_bytes, repetition;
    int converted; /* one more than it is; 0: none */
    int scale;
    int logical;         /* field of the newer annotation; 0: none */
    int unit;            /* of a timestamp: field of its unit; 0: none */
    int sign;            /* of a whole number: 1 has one, 2 has none; 0: it does not say */
    int annotated_scale; /* of a decimal */
    bool is_union_whole; /* the annotation is no struct, but a number */
};

struct file {
    struct column column;
    struct page page[PAGES];
    int n_rows, codec;
    int n_pages;
};

static inline void put_page(const struct page *page) {
    const int64_t bytes = page->bytes != 0 ? page->bytes : (int64_t)page->n;
    const bool is_v2 = page->kind == DATA_V2;
    parquet_made_begin(&made);
    parquet_made_whole(&made, 1, THRIFT_I32, page->kind);
    parquet_made_whole(&made, 2, THRIFT_I32, bytes);
    parquet_made_whole(&made, 3, THRIFT_I32, (int64_t)page->n);
    if (page->has_checksum) parquet_made_whole(&made, 4, THRIFT_I32, (int32_t)page->checksum);
    if (page->kind != INDEX) {
        parquet_made_struct(&made, is_v2 ? 8 : page->kind == DICTIONARY ? 7 : 5);
        parquet_made_whole(&made, 1, THRIFT_I32, page->n_values);
        if (is_v2) {
            parquet_made_whole(&made, 2, THRIFT_I32, page->n_nulls);
            parquet_made_whole(&made, 3, THRIFT_I32, page->n_rows ? page->n_rows : page->n_values);
            parquet_made_whole(&made, 4, THRIFT_I32, page->encoding);
            parquet_made_whole(&made, 5, THRIFT_I32, page->level_bytes);
            parquet_made_whole(&made, 6, THRIFT_I32, page->repeat_bytes);
            parquet_made_field(&made, 7, page->is_packed ? 1 : 2);
        } else {
            parquet_made_whole(&made, 2, THRIFT_I32, page->encoding);
            parquet_made_whole(&made, 3, THRIFT_I32,
                               page->level_encoding ? page->level_encoding : PARQUET_RLE);
            parquet_made_whole(&made, 4, THRIFT_I32, PARQUET_RLE);
        }
        parquet_made_end(&made);
    }
    if (page->statistics > 0) {
        parquet_made_field(&made, 12, THRIFT_BINARY);
        parquet_made_varint(&made, page->statistics);
        assert_true(page->statistics <= sizeof made.bytes - made.n);
        memset(made.bytes + made.n, 'x', page->statistics);
        made.n += page->statistics;
    }
    parquet_made_end(&made);
    if (page->n > 0) parquet_made_put(&made, page->body, page->n);
}

static inline void put_schema(const struct column *column) {
    parquet_made_list(&made, 2, 2);
    parquet_made_begin(&made);
    parquet_made_name(&made, 4, "all");
    parquet_made_whole(&made, 5, THRIFT_I32, 1);
    parquet_made_end(&made);
    parquet_made_begin(&made);
    parquet_made_whole(&made, 1, THRIFT_I32, column->physical);
    if (column->fixed_bytes) parquet_made_whole(&made, 2, THRIFT_I32, column->fixed_bytes);
    parquet_made_whole(&made, 3, THRIFT_I32, column->repetition);
    parquet_made_name(&made, 4, "c");
    if (column->converted) parquet_made_whole(&made, 6, THRIFT_I32, column->converted - 1);
    if (column->scale) parquet_made_whole(&made, 7, THRIFT_I32, column->scale);
    if (column->logical && column->is_union_whole) {
        parquet_made_struct(&made, 10);
        parquet_made_whole(&made, column->logical, THRIFT_I32, 1);
        parquet_made_end(&made);
    } else if (column->logical) {
        parquet_made_struct(&made, 10);
        parquet_made_struct(&made, column->logical);
        if (column->annotated_scale)
            parquet_made_whole(&made, 1, THRIFT_I32, column->annotated_scale);
        if (column->unit) {
            parquet_made_field(&made, 1, 1);
            parquet_made_struct(&made, 2);
            parquet_made_struct(&made, column->unit);
            parquet_made_end(&made);
            parquet_made_end(&made);
        }
        if (column->sign) {
            parquet_made_field(&made, 1, 3); /* a byte: how many bits, which is not asked */
            parquet_made_byte(&made, 32);
            parquet_made_field(&made, 2, column->sign);
        }
        parquet_made_end(&made);
        parquet_made_end(&made);
    }
    parquet_made_end(&made);
}

static inline void put_footer(const struct file *file, size_t pages_end) {
    const size_t footer = made.n;
    const struct parquet_made_column column = {.physical = file->column.physical};
    uint8_t length[4];
    parquet_made_begin(&made);
    parquet_made_whole(&made, 1, THRIFT_I32, 1);
    put_schema(&file->column);
    parquet_made_whole(&made, 3, THRIFT_I64, file->n_rows);
    parquet_made_list(&made, 4, 1);
    parquet_made_begin(&made);
    parquet_made_list(&made, 1, 1);
    parquet_made_begin(&made);
    parquet_made_whole(&made, 2, THRIFT_I64, 0);
    parquet_made_struct(&made, 3);
    parquet_made_whole(&made, 1, THRIFT_I32, column.physical);
    parquet_made_whole(&made, 4, THRIFT_I32, file->codec);
    parquet_made_whole(&made, 5, THRIFT_I64, file->n_rows);
    parquet_made_whole(&made, 7, THRIFT_I64, (int64_t)pages_end - 4);
    parquet_made_whole(&made, 9, THRIFT_I64, 4);
    parquet_made_end(&made);
    parquet_made_end(&made);
    parquet_made_whole(&made, 3, THRIFT_I64, file->n_rows);
    parquet_made_end(&made);
    parquet_made_end(&made);
    bytes_put_u32(length, (uint32_t)(made.n - footer));
    parquet_made_put(&made, length, sizeof length);
    parquet_made_put(&made, "PAR1", 4);
}

static inline void write_made(void) {
    FILE *out = fopen(path, "wb");
    assert_true(out && fwrite(made.bytes, 1, made.n, out) == made.n && fclose(out) == 0);
}

static inline void make_file(const struct file *file) {
    made.n = 0;
    made.depth = -1;
    parquet_made_put(&made, "PAR1", 4);
    for (int i = 0; i < (file->n_pages ? file->n_pages : 1); i++) put_page(&file->page[i]);
    put_footer(file, made.n);
    write_made();
}

static inline int read_path(uint64_t limit, bool any_length) {
    struct arrow_table *table;
    error = (struct dpmf_error){.code = 0};
    const int code = parquet_reader_open(path, limit, any_length, &table, &error);
    return code < 0 ? code : arrow_cells_read(table, text, &error);
}

static inline void expect(const struct file *file, const char *cells) {
    make_file(file);
    const int code = read_path(LIMIT, false);
    if (code != 0) print_message("%s\n", error.message);
    assert_int_equal(code, 0);
    assert_string_equal(text, cells);
}

static inline void expect_refused(const struct file *file, const char *message) {
    make_file(file);
    assert_int_equal(read_path(LIMIT, false), DPMF_ERR_INPUT_PARQUET);
    assert_string_equal(error.message, message);
}

/* Refused for memory, with limits too small, up to the first that is enough. */
static inline void expect_limits(const struct file *file, const char *cells) {
    make_file(file);
    int n_refused = 0;
    for (uint64_t limit = 0; limit < LIMIT; limit += limit < 400 ? 1 : 100) {
        const int code = read_path(limit, false);
        if (code == 0) {
            assert_string_equal(text, cells);
            assert_true(n_refused > 0);
            return;
        }
        assert_int_equal(code, DPMF_ERR_USAGE_MEMORY);
        n_refused++;
    }
    fail();
}

/* ---- three rows, of which the second is null ------------------------------------------------- */

/* Rows 1 and 3 of three are there. */
#define LEVELS 2, 0, 0, 0, 1 << 1 | 1, 5
static const uint8_t longs[] = {LEVELS, 1,   0,   0,   0,   0,   0,   0,  0,
                                255,    255, 255, 255, 255, 255, 255, 255};

#define ONE_PAGE(values)                                                                           \
    {                                                                                              \
        { .kind = DATA, .n_values = 3, .body = (values), .n = sizeof(values) }                     \
    }

static const struct file long_file = {
    .column = {.physical = PARQUET_INT64, .repetition = 1}, .page = ONE_PAGE(longs), .n_rows = 3};

static inline int make_dir(void **state) {
    (void)state;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "t.parquet", path);
    return 0;
}

static inline int remove_dir(void **state) {
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

#endif
