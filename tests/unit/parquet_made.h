/*
 * Small Parquet files made by hand: columns of any physical type, in any row groups and pages, with
 * values as they are or by a dictionary. How a file is cut is drawn, so that the same rows come in
 * files that have no byte in common but their marks. Include after cmocka.
 */
#ifndef DPMF_TESTS_PARQUET_MADE_H
#define DPMF_TESTS_PARQUET_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "insert_made.h"
#include "parquet/parquet_state.h"

enum { PARQUET_MADE_COLUMNS = 4, PARQUET_MADE_ROWS = 16, PARQUET_MADE_BYTES = 1 << 20 };

struct parquet_made_column {
    const char *name; /* NULL: there is none */
    int physical;
    int converted; /* the older annotation; 0: none, else one more than its number */
    int fixed_bytes, scale;
    bool is_uuid, is_required;
};

/* A value as PLAIN has it, a text without its length. */
struct parquet_made_value {
    bool is_null;
    uint32_t n;
    uint8_t bytes[100];
    uint32_t zeros; /* further bytes of a text */
};

struct parquet_made_table {
    struct parquet_made_column column[PARQUET_MADE_COLUMNS];
    struct parquet_made_value value[PARQUET_MADE_ROWS][PARQUET_MADE_COLUMNS];
    int n_columns, n_rows;
};

struct parquet_made {
    uint8_t bytes[PARQUET_MADE_BYTES];
    size_t n;
    int field[8], depth; /* the last field of each struct that is open */
};

/* Where a chunk is, for the footer. */
struct parquet_made_chunk {
    size_t dictionary, data, end; /* dictionary 0: none */
};

/* ---- thrift ---------------------------------------------------------------------------------- */

static inline void parquet_made_put(struct parquet_made *made, const void *bytes, size_t n) {
    assert_true(n <= sizeof made->bytes - made->n);
    memcpy(made->bytes + made->n, bytes, n);
    made->n += n;
}

static inline void parquet_made_byte(struct parquet_made *made, int byte) {
    const uint8_t one = (uint8_t)byte;
    parquet_made_put(made, &one, 1);
}

static inline void parquet_made_varint(struct parquet_made *made, uint64_t value) {
    uint8_t bytes[16];
    parquet_made_put(made, bytes, (size_t)(varint_put(bytes, value) - bytes));
}

static inline void parquet_made_field(struct parquet_made *made, int id, int type) {
    parquet_made_byte(made, (id - made->field[made->depth]) << 4 | type);
    made->field[made->depth] = id;
}

static inline void parquet_made_whole(struct parquet_made *made, int id, int type, int64_t value) {
    parquet_made_field(made, id, type);
    parquet_made_varint(made, zigzag(value));
}

static inline void parquet_made_name(struct parquet_made *made, int id, const char *name) {
    parquet_made_field(made, id, THRIFT_BINARY);
    parquet_made_varint(made, strlen(name));
    parquet_made_put(made, name, strlen(name));
}

static inline void parquet_made_list(struct parquet_made *made, int id, int n) {
    parquet_made_field(made, id, THRIFT_LIST);
    if (n < 15) {
        parquet_made_byte(made, n << 4 | THRIFT_STRUCT);
        return;
    }
    parquet_made_byte(made, 0xf0 | THRIFT_STRUCT);
    parquet_made_varint(made, (uint64_t)n);
}

static inline void parquet_made_begin(struct parquet_made *made) { made->field[++made->depth] = 0; }

static inline void parquet_made_end(struct parquet_made *made) {
    parquet_made_byte(made, 0);
    made->depth--;
}

static inline void parquet_made_struct(struct parquet_made *made, int id) {
    parquet_made_field(made, id, THRIFT_STRUCT);
    parquet_made_begin(made);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Numbers of `width` bits as runs, each of one number or packed in groups of eight. */
static inline void parquet_made_runs(struct parquet_made *made, const uint32_t *number, int n,
                                     int width, uint64_t *random) {
    for (int i = 0; i < n;) {
        if (below(random, 2)) {
            int same = 1;
            while (i + same < n && number[i + same] == number[i] && below(random, 8)) same++;
            parquet_made_varint(made, (uint64_t)same << 1);
            uint8_t bytes[4];
            bytes_put_u32(bytes, number[i]);
            parquet_made_put(made, bytes, (size_t)(width + 7) / 8);
            i += same;
            continue;
        }
        uint8_t packed[32] = {0};
        for (int k = 0; k < 8 * width; k++)
            if (i + k / width < n && number[i + k / width] >> k % width & 1)
                packed[k / 8] |= (uint8_t)(1 << k % 8);
        parquet_made_byte(made, 1 << 1 | 1);
        parquet_made_put(made, packed, (size_t)width);
        i += 8;
    }
}

static inline void parquet_made_plain(struct parquet_made *made, int physical,
                                      const struct parquet_made_value *value) {
    static const uint8_t zeros[1 << 17];
    uint8_t length[4];
    bytes_put_u32(length, value->n + value->zeros);
    if (physical == PARQUET_BYTE_ARRAY) parquet_made_put(made, length, sizeof length);
    parquet_made_put(made, value->bytes, value->n);
    parquet_made_put(made, zeros, value->zeros);
}

/* The first bytes of all values, then the second, ... */
static inline void parquet_made_split(struct parquet_made *made,
                                      const struct parquet_made_value *const *value, int n) {
    for (uint32_t b = 0; n > 0 && b < value[0]->n; b++)
        for (int i = 0; i < n; i++) parquet_made_byte(made, value[i]->bytes[b]);
}

static inline void parquet_made_header(struct parquet_made *made, int kind, int encoding, int n,
                                       int nulls, size_t level_bytes,
                                       const struct parquet_made *body) {
    parquet_made_begin(made);
    parquet_made_whole(made, 1, THRIFT_I32, kind);
    parquet_made_whole(made, 2, THRIFT_I32, (int64_t)body->n);
    parquet_made_whole(made, 3, THRIFT_I32, (int64_t)body->n);
    parquet_made_struct(made, kind == 0 ? 5 : kind == 2 ? 7 : 8);
    parquet_made_whole(made, 1, THRIFT_I32, n);
    if (kind == 3) {
        parquet_made_whole(made, 2, THRIFT_I32, nulls);
        parquet_made_whole(made, 3, THRIFT_I32, n);
        parquet_made_whole(made, 4, THRIFT_I32, encoding);
        parquet_made_whole(made, 5, THRIFT_I32, (int64_t)level_bytes);
        parquet_made_whole(made, 6, THRIFT_I32, 0);
    } else {
        parquet_made_whole(made, 2, THRIFT_I32, encoding);
        if (kind == 0) parquet_made_whole(made, 3, THRIFT_I32, PARQUET_RLE);
        if (kind == 0) parquet_made_whole(made, 4, THRIFT_I32, PARQUET_RLE);
    }
    parquet_made_end(made);
    parquet_made_end(made);
    parquet_made_put(made, body->bytes, body->n);
}

/* Which values are null. @return bytes of the levels */
static inline size_t parquet_made_levels(struct parquet_made *body, const uint32_t *is_there, int n,
                                         bool has_length, uint64_t *random) {
    const size_t begin = body->n;
    if (has_length) parquet_made_put(body, "\0\0\0", 4);
    const size_t at = body->n;
    parquet_made_runs(body, is_there, n, 1, random);
    if (has_length) bytes_put_u32(body->bytes + begin, (uint32_t)(body->n - at));
    return body->n - at;
}

/* A page of n rows; `index` of each row's value in the dictionary, NULL without one. */
static inline void parquet_made_page(struct parquet_made *made,
                                     const struct parquet_made_table *table, int c, int row, int n,
                                     const uint32_t *index, int width, uint64_t *random) {
    static struct parquet_made body;
    const struct parquet_made_column *column = &table->column[c];
    const struct parquet_made_value *value[PARQUET_MADE_ROWS];
    uint32_t is_there[PARQUET_MADE_ROWS], number[PARQUET_MADE_ROWS];
    const int kind = below(random, 2) ? 0 : 3;
    int there = 0, encoding = index ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN;
    size_t level_bytes = 0;
    body.n = 0;
    for (int i = 0; i < n; i++) {
        const struct parquet_made_value *one = &table->value[row + i][c];
        is_there[i] = !one->is_null;
        if (one->is_null) continue;
        if (index) number[there] = index[row + i];
        value[there++] = one;
    }
    if (!column->is_required)
        level_bytes = parquet_made_levels(&body, is_there, n, kind == 0, random);
    if (index) {
        parquet_made_byte(&body, width);
        parquet_made_runs(&body, number, there, width, random);
    } else if (column->physical != PARQUET_BYTE_ARRAY && below(random, 4) == 0) {
        encoding = PARQUET_BYTE_STREAM_SPLIT;
        parquet_made_split(&body, value, there);
    } else {
        for (int i = 0; i < there; i++) parquet_made_plain(&body, column->physical, value[i]);
    }
    parquet_made_header(made, kind, encoding, n, n - there, level_bytes, &body);
}

static inline bool parquet_made_same(const struct parquet_made_value *a,
                                     const struct parquet_made_value *b) {
    return a->n == b->n && a->zeros == b->zeros && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* The values of the rows in the order in which they come first, and the index of each row's. */
static inline int parquet_made_dictionary(struct parquet_made *made,
                                          const struct parquet_made_table *table, int c, int row,
                                          int n, uint32_t *index) {
    static struct parquet_made body;
    const struct parquet_made_value *first[PARQUET_MADE_ROWS];
    int n_values = 0, width = 0;
    body.n = 0;
    for (int i = row; i < row + n; i++) {
        const struct parquet_made_value *value = &table->value[i][c];
        int at = 0;
        if (value->is_null) continue;
        while (at < n_values && !parquet_made_same(first[at], value)) at++;
        index[i] = (uint32_t)at;
        if (at < n_values) continue;
        first[n_values++] = value;
        parquet_made_plain(&body, table->column[c].physical, value);
    }
    parquet_made_header(made, 2, PARQUET_PLAIN, n_values, 0, 0, &body);
    while (1 << width < n_values) width++;
    return width;
}

/* Where a column's pages are, and what they hold, as the footer says it. */
static inline void parquet_made_metadata(struct parquet_made *made,
                                         const struct parquet_made_column *column, int rows,
                                         const struct parquet_made_chunk *chunk) {
    const size_t begin = chunk->dictionary ? chunk->dictionary : chunk->data;
    parquet_made_whole(made, 1, THRIFT_I32, column->physical);
    parquet_made_whole(made, 4, THRIFT_I32, PARQUET_UNCOMPRESSED);
    parquet_made_whole(made, 5, THRIFT_I64, rows);
    parquet_made_whole(made, 6, THRIFT_I64, (int64_t)(chunk->end - begin));
    parquet_made_whole(made, 7, THRIFT_I64, (int64_t)(chunk->end - begin));
    parquet_made_whole(made, 9, THRIFT_I64, (int64_t)chunk->data);
    if (chunk->dictionary) parquet_made_whole(made, 11, THRIFT_I64, (int64_t)chunk->dictionary);
    parquet_made_end(made);
}

static inline void parquet_made_place(struct parquet_made *made,
                                      const struct parquet_made_column *column, int rows,
                                      const struct parquet_made_chunk *chunk) {
    parquet_made_begin(made);
    parquet_made_whole(made, 2, THRIFT_I64, (int64_t)chunk->end);
    parquet_made_struct(made, 3);
    parquet_made_metadata(made, column, rows, chunk);
    parquet_made_end(made);
}

/* What writers put behind a column's pages: nothing, zeros, a copy of what the footer will say of
 * these, or (Arrow up to version 16) of the column. */
static inline void parquet_made_copy(struct parquet_made *made,
                                     const struct parquet_made_column *column, int rows,
                                     const struct parquet_made_chunk *chunk, uint64_t *random) {
    const size_t kind = below(random, 4);
    if (kind == 1) parquet_made_put(made, "\0\0\0\0\0", 5);
    if (kind == 2) {
        parquet_made_begin(made);
        parquet_made_metadata(made, column, rows, chunk);
    }
    if (kind == 3) parquet_made_place(made, column, rows, chunk);
}

/* A column's values of n rows, in pages that are drawn. */
static inline void parquet_made_column_put(struct parquet_made *made,
                                           const struct parquet_made_table *table, int c, int row,
                                           int n, struct parquet_made_chunk *chunk,
                                           uint64_t *random) {
    uint32_t index[PARQUET_MADE_ROWS];
    const bool has_dictionary = n > 0 && below(random, 2);
    int width = 0;
    chunk->dictionary = has_dictionary ? made->n : 0;
    if (has_dictionary) width = parquet_made_dictionary(made, table, c, row, n, index);
    chunk->data = made->n;
    for (int i = 0; i < n;) {
        int rows = 1;
        while (i + rows < n && below(random, 3)) rows++;
        /* A writer falls back to plain pages when its dictionary has become too long. */
        const bool by_index = has_dictionary && (i == 0 || below(random, 4));
        parquet_made_page(made, table, c, row + i, rows, by_index ? index : NULL, width, random);
        i += rows;
    }
    chunk->end = made->n;
    if (n > 0) parquet_made_copy(made, &table->column[c], n, chunk, random);
}

/* ---- the footer ------------------------------------------------------------------------------ */

static inline void parquet_made_schema(struct parquet_made *made,
                                       const struct parquet_made_table *table) {
    parquet_made_list(made, 2, 1 + table->n_columns);
    parquet_made_begin(made);
    parquet_made_name(made, 4, "all");
    parquet_made_whole(made, 5, THRIFT_I32, table->n_columns);
    parquet_made_end(made);
    for (int c = 0; c < table->n_columns; c++) {
        const struct parquet_made_column *column = &table->column[c];
        parquet_made_begin(made);
        parquet_made_whole(made, 1, THRIFT_I32, column->physical);
        if (column->fixed_bytes) parquet_made_whole(made, 2, THRIFT_I32, column->fixed_bytes);
        parquet_made_whole(made, 3, THRIFT_I32, !column->is_required);
        parquet_made_name(made, 4, column->name);
        if (column->converted) parquet_made_whole(made, 6, THRIFT_I32, column->converted - 1);
        if (column->scale) parquet_made_whole(made, 7, THRIFT_I32, column->scale);
        if (column->is_uuid) {
            parquet_made_struct(made, 10);
            parquet_made_struct(made, 14);
            parquet_made_end(made);
            parquet_made_end(made);
        }
        parquet_made_end(made);
    }
}

static inline void parquet_made_group(struct parquet_made *made,
                                      const struct parquet_made_table *table, int rows,
                                      const struct parquet_made_chunk *chunk) {
    parquet_made_begin(made);
    parquet_made_list(made, 1, table->n_columns);
    for (int c = 0; c < table->n_columns; c++)
        parquet_made_place(made, &table->column[c], rows, &chunk[c]);
    parquet_made_whole(made, 2, THRIFT_I64, 0);
    parquet_made_whole(made, 3, THRIFT_I64, rows);
    parquet_made_end(made);
}

/* The table as a file, cut into row groups and pages and encoded as `random` draws it. */
static inline void parquet_made_file(struct parquet_made *made,
                                     const struct parquet_made_table *table, uint64_t *random) {
    struct parquet_made_chunk chunk[2 * PARQUET_MADE_ROWS][PARQUET_MADE_COLUMNS];
    int rows[2 * PARQUET_MADE_ROWS], n_groups = 0;
    made->n = 0;
    made->depth = -1;
    parquet_made_put(made, "PAR1", 4);
    for (int row = 0; row < table->n_rows; row += rows[n_groups++]) {
        int n = below(random, 16) > 0 || n_groups >= PARQUET_MADE_ROWS; /* or one without rows */
        while (n > 0 && row + n < table->n_rows && below(random, 3)) n++;
        rows[n_groups] = n;
        for (int c = 0; c < table->n_columns; c++)
            parquet_made_column_put(made, table, c, row, n, &chunk[n_groups][c], random);
    }
    const size_t footer = made->n;
    uint8_t length[4];
    parquet_made_begin(made);
    parquet_made_whole(made, 1, THRIFT_I32, 1);
    parquet_made_schema(made, table);
    parquet_made_whole(made, 3, THRIFT_I64, table->n_rows);
    parquet_made_list(made, 4, n_groups);
    for (int g = 0; g < n_groups; g++) parquet_made_group(made, table, rows[g], chunk[g]);
    parquet_made_end(made);
    bytes_put_u32(length, (uint32_t)(made->n - footer));
    parquet_made_put(made, length, sizeof length);
    parquet_made_put(made, "PAR1", 4);
}

#endif
