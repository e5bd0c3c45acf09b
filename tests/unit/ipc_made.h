/*
 * Arrow IPC streams and files made by hand: a schema, dictionaries and batches with whatever is
 * wrong with them. All fields of a flatbuffer's table have 8 bytes here, which readers of narrower
 * ones do not see. Include after cmocka.
 */
#ifndef DPMF_TESTS_IPC_MADE_H
#define DPMF_TESTS_IPC_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

enum { IPC_MADE_BYTES = 1 << 17, IPC_MADE_BUFFERS = 12, IPC_MADE_COUNTS = 4 };

/* Kinds of messages, and types of columns, by their numbers in Arrow's own schema. */
enum { IPC_MADE_SCHEMA = 1, IPC_MADE_DICTIONARY, IPC_MADE_BATCH };

struct ipc_made {
    uint8_t bytes[IPC_MADE_BYTES];
    size_t n, base; /* base: where the flatbuffer begins */
};

struct ipc_made_column {
    const char *name; /* NULL: it has none */
    int type;
    int n_parts;        /* fields of its type's table that are there */
    int64_t part[3];    /* such as the bits and the sign of whole numbers */
    int64_t dictionary; /* id, 0: none */
    int index_bits;     /* of its indices; 0: the usual ones */
    int n_children;
    const struct ipc_made_column *child; /* the same for all */
};

struct ipc_made_batch {
    int64_t length;
    int n_nodes, n_buffers, n_counts;
    int64_t node[IPC_MADE_BUFFERS][2]; /* length and nulls of each column */
    struct {
        const void *bytes;
        int64_t n;
        int64_t later; /* bytes by which the metadata has it after its place */
    } buffer[IPC_MADE_BUFFERS];
    int64_t count[IPC_MADE_COUNTS]; /* of buffers of each column of views */
    bool is_compressed;
    int codec, method;
    int64_t dictionary; /* id, of a dictionary; 0: a batch */
    bool is_growth;
};

/* ---- flatbuffers ----------------------------------------------------------------------------- */

static inline void ipc_made_put(struct ipc_made *made, const void *bytes, size_t n) {
    assert_true(n <= sizeof made->bytes - made->n);
    if (n > 0) memcpy(made->bytes + made->n, bytes, n);
    made->n += n;
}

static inline void ipc_made_align(struct ipc_made *made) {
    while (made->n % 8 != 0) made->bytes[made->n++] = 0;
}

static inline void ipc_made_u32(struct ipc_made *made, uint32_t value) {
    uint8_t bytes[4];
    bytes_put_u32(bytes, value);
    ipc_made_put(made, bytes, sizeof bytes);
}

static inline void ipc_made_i64(struct ipc_made *made, int64_t value) {
    uint8_t bytes[8];
    bytes_put_u64(bytes, (uint64_t)value);
    ipc_made_put(made, bytes, sizeof bytes);
}

/* A table with these fields. @return its place */
static inline size_t ipc_made_table(struct ipc_made *made, int n_fields, const int64_t *value) {
    ipc_made_align(made);
    const size_t vtable = made->n;
    const uint8_t sizes[4] = {(uint8_t)(4 + 2 * n_fields), 0, (uint8_t)(8 + 8 * n_fields), 0};
    ipc_made_put(made, sizes, sizeof sizes);
    for (int i = 0; i < n_fields; i++) {
        const uint8_t place[2] = {(uint8_t)(8 + 8 * i), 0};
        ipc_made_put(made, place, sizeof place);
    }
    ipc_made_align(made);
    const size_t table = made->n;
    ipc_made_i64(made, (int64_t)(uint32_t)(table - vtable));
    for (int i = 0; i < n_fields; i++) ipc_made_i64(made, value ? value[i] : 0);
    return table;
}

/* Field i of a table is what comes next. */
static inline void ipc_made_point(struct ipc_made *made, size_t table, int i, size_t target) {
    const size_t at = table + 8 + 8 * (size_t)i;
    bytes_put_u32(made->bytes + at, (uint32_t)(target - at));
}

static inline void ipc_made_no_field(struct ipc_made *made, size_t table, int i) {
    const size_t vtable = table - bytes_get_u32(made->bytes + table);
    memset(made->bytes + vtable + 4 + 2 * i, 0, 2);
}

/* A vector of n elements, aligned so that they are. @return its place */
static inline size_t ipc_made_vector(struct ipc_made *made, uint32_t n) {
    ipc_made_align(made);
    ipc_made_u32(made, 0);
    const size_t at = made->n;
    ipc_made_u32(made, n);
    return at;
}

/* ---- messages -------------------------------------------------------------------------------- */

static inline size_t ipc_made_field(struct ipc_made *made, const struct ipc_made_column *column) {
    const size_t field = ipc_made_table(made, 6, (const int64_t[6]){0, 1, column->type});
    if (column->name) {
        ipc_made_point(made, field, 0, ipc_made_vector(made, (uint32_t)strlen(column->name)));
        ipc_made_put(made, column->name, strlen(column->name));
    } else {
        ipc_made_no_field(made, field, 0);
    }
    ipc_made_point(made, field, 3, ipc_made_table(made, column->n_parts, column->part));
    if (column->dictionary != 0) {
        const size_t encoding = ipc_made_table(made, 2, (const int64_t[2]){column->dictionary, 0});
        ipc_made_point(made, field, 4, encoding);
        if (column->index_bits != 0)
            ipc_made_point(made, encoding, 1,
                           ipc_made_table(made, 2, (const int64_t[2]){column->index_bits, 1}));
        else
            ipc_made_no_field(made, encoding, 1);
    } else {
        ipc_made_no_field(made, field, 4);
    }
    const size_t children = ipc_made_vector(made, (uint32_t)column->n_children);
    ipc_made_point(made, field, 5, children);
    made->n += 4 * (size_t)column->n_children;
    for (int i = 0; i < column->n_children; i++) {
        const size_t at = children + 4 + 4 * (size_t)i, child = ipc_made_field(made, column->child);
        bytes_put_u32(made->bytes + at, (uint32_t)(child - at));
    }
    return field;
}

static inline size_t ipc_made_schema_table(struct ipc_made *made,
                                           const struct ipc_made_column *column, int n,
                                           int endianness) {
    const size_t schema = ipc_made_table(made, 2, (const int64_t[2]){endianness});
    const size_t fields = ipc_made_vector(made, (uint32_t)n);
    ipc_made_point(made, schema, 1, fields);
    made->n += 4 * (size_t)n;
    for (int i = 0; i < n; i++) {
        const size_t at = fields + 4 + 4 * (size_t)i, field = ipc_made_field(made, &column[i]);
        bytes_put_u32(made->bytes + at, (uint32_t)(field - at));
    }
    return schema;
}

/* Where a message begins and what is in it; its metadata is ended by ipc_made_end. */
static inline size_t ipc_made_begin(struct ipc_made *made, int version, int kind, int64_t body) {
    ipc_made_align(made);
    ipc_made_u32(made, UINT32_MAX);
    ipc_made_u32(made, 0);
    made->base = made->n;
    ipc_made_i64(made, 0);
    const size_t message = ipc_made_table(made, 4, (const int64_t[4]){version, kind, 0, body});
    bytes_put_u32(made->bytes + made->base, (uint32_t)(message - made->base));
    return message;
}

static inline void ipc_made_end(struct ipc_made *made) {
    ipc_made_align(made);
    bytes_put_u32(made->bytes + made->base - 4, (uint32_t)(made->n - made->base));
}

/* Version 4 is Arrow's 5th, of all that is written today. */
static inline void ipc_made_schema(struct ipc_made *made, const struct ipc_made_column *column,
                                   int n) {
    const size_t message = ipc_made_begin(made, 4, IPC_MADE_SCHEMA, 0);
    ipc_made_point(made, message, 2, ipc_made_schema_table(made, column, n, 0));
    ipc_made_end(made);
}

static inline size_t ipc_made_batch_table(struct ipc_made *made,
                                          const struct ipc_made_batch *batch) {
    const size_t table = ipc_made_table(made, 5, (const int64_t[5]){batch->length});
    ipc_made_point(made, table, 1, ipc_made_vector(made, (uint32_t)batch->n_nodes));
    for (int i = 0; i < batch->n_nodes; i++) {
        ipc_made_i64(made, batch->node[i][0]);
        ipc_made_i64(made, batch->node[i][1]);
    }
    ipc_made_point(made, table, 2, ipc_made_vector(made, (uint32_t)batch->n_buffers));
    int64_t at = 0;
    for (int i = 0; i < batch->n_buffers; i++) {
        ipc_made_i64(made, at + batch->buffer[i].later);
        ipc_made_i64(made, batch->buffer[i].n);
        at += (batch->buffer[i].n + 7) / 8 * 8;
    }
    if (batch->is_compressed)
        ipc_made_point(made, table, 3,
                       ipc_made_table(made, 2, (const int64_t[2]){batch->codec, batch->method}));
    else
        ipc_made_no_field(made, table, 3);
    ipc_made_point(made, table, 4, ipc_made_vector(made, (uint32_t)batch->n_counts));
    for (int i = 0; i < batch->n_counts; i++) ipc_made_i64(made, batch->count[i]);
    return table;
}

/* A batch, or a dictionary. @return where its message begins, and the length of its metadata */
static inline size_t ipc_made_batch(struct ipc_made *made, const struct ipc_made_batch *batch,
                                    size_t *metadata) {
    int64_t body = 0;
    for (int i = 0; i < batch->n_buffers; i++) body += (batch->buffer[i].n + 7) / 8 * 8;
    ipc_made_align(made);
    const size_t begin = made->n;
    const bool is_dictionary = batch->dictionary != 0;
    const size_t message =
        ipc_made_begin(made, 4, is_dictionary ? IPC_MADE_DICTIONARY : IPC_MADE_BATCH, body);
    if (is_dictionary) {
        const size_t header =
            ipc_made_table(made, 3, (const int64_t[3]){batch->dictionary, 0, batch->is_growth});
        ipc_made_point(made, message, 2, header);
        ipc_made_point(made, header, 1, ipc_made_batch_table(made, batch));
    } else {
        ipc_made_point(made, message, 2, ipc_made_batch_table(made, batch));
    }
    ipc_made_end(made);
    *metadata = made->n - begin;
    for (int i = 0; i < batch->n_buffers; i++) {
        ipc_made_put(made, batch->buffer[i].bytes, (size_t)batch->buffer[i].n);
        ipc_made_align(made);
    }
    return begin;
}

static inline void ipc_made_mark_end(struct ipc_made *made) {
    ipc_made_align(made);
    ipc_made_u32(made, UINT32_MAX);
    ipc_made_u32(made, 0);
}

/* The footer of a file; blocks of 24 bytes each: offset, metadata, body. */
static inline void ipc_made_footer(struct ipc_made *made, const struct ipc_made_column *column,
                                   int n, const int64_t (*block)[3], int n_dictionaries,
                                   int n_batches) {
    const size_t begin = made->n;
    ipc_made_i64(made, 0);
    const size_t footer = ipc_made_table(made, 4, (const int64_t[4]){4});
    bytes_put_u32(made->bytes + begin, (uint32_t)(footer - begin));
    for (int kind = 0, at = 0; kind < 2; kind++) {
        const int n_blocks = kind == 0 ? n_dictionaries : n_batches;
        ipc_made_point(made, footer, 2 + kind, ipc_made_vector(made, (uint32_t)n_blocks));
        for (int i = 0; i < n_blocks; i++, at++)
            for (int part = 0; part < 3; part++) ipc_made_i64(made, block[at][part]);
    }
    ipc_made_point(made, footer, 1, ipc_made_schema_table(made, column, n, 0));
    ipc_made_u32(made, (uint32_t)(made->n - begin));
    ipc_made_put(made, "ARROW1", 6);
}

#endif
