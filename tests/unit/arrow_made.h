/*
 * Arrow tables made by hand, as another library would pass them: columns, slices, dictionaries, and
 * whatever is wrong with them.
 */
#ifndef DPMF_TESTS_ARROW_MADE_H
#define DPMF_TESTS_ARROW_MADE_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf.h"

enum { MADE_COLUMNS = 6 };

struct made_column {
    const char *name, *format;
    const void *buffer[4]; /* validity, values, data, lengths of views' data */
    int64_t n_buffers;     /* 0: as many as the format has */
    int64_t length, offset, null_count;
    const struct made_column *dictionary;
};

/* A table of n columns, the same batch so many times. Nothing in it has to be released. */
struct made_table {
    struct made_column column[MADE_COLUMNS];
    int64_t n_columns, rows, offset, null_count, batches;
    const uint8_t *validity;
    int fails_at; /* the call of get_next that fails; 0: none */
    const char *top_format;
    int schema_code; /* what get_schema returns */
    bool is_silent;  /* whether there is no word about a failure */
    void (*spoil_schema)(struct ArrowSchema *top);
    void (*spoil_batch)(struct ArrowArray *top);

    struct ArrowSchema schema[MADE_COLUMNS], dictionary_schema[MADE_COLUMNS],
        *schemas[MADE_COLUMNS];
    struct ArrowArray array[MADE_COLUMNS], dictionary[MADE_COLUMNS], *arrays[MADE_COLUMNS];
    const void *buffers[2 * MADE_COLUMNS + 1][4];
    int64_t given;
    int n_streams, n_schemas, n_arrays; /* that are not released */
};

static inline int64_t made_buffers(const struct made_column *column) {
    if (column->n_buffers > 0) return column->n_buffers;
    const char c = column->format[0];
    if (c == 'n') return 0;
    return c == 'v' ? 4 : strchr("uUzZ", c) ? 3 : 2;
}

static inline void made_release_schema(struct ArrowSchema *schema) {
    ((struct made_table *)schema->private_data)->n_schemas--;
    schema->release = NULL;
}

static inline void made_release_array(struct ArrowArray *array) {
    ((struct made_table *)array->private_data)->n_arrays--;
    array->release = NULL;
}

static inline int made_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    struct made_table *made = stream->private_data;
    if (made->schema_code != 0) return made->schema_code;
    for (int64_t i = 0; i < made->n_columns; i++) {
        const struct made_column *column = &made->column[i];
        made->schemas[i] = &made->schema[i];
        made->schema[i] = (struct ArrowSchema){.format = column->format, .name = column->name};
        if (!column->dictionary) continue;
        made->dictionary_schema[i] = (struct ArrowSchema){.format = column->dictionary->format};
        made->schema[i].dictionary = &made->dictionary_schema[i];
    }
    *out = (struct ArrowSchema){.format = made->top_format ? made->top_format : "+s",
                                .n_children = made->n_columns,
                                .children = made->schemas,
                                .release = made_release_schema,
                                .private_data = made};
    made->n_schemas++;
    if (made->spoil_schema) made->spoil_schema(out);
    return 0;
}

static inline void made_fill(const struct made_column *column, struct ArrowArray *array,
                             const void **buffers) {
    memcpy(buffers, column->buffer, sizeof column->buffer);
    *array = (struct ArrowArray){.length = column->length,
                                 .offset = column->offset,
                                 .null_count = column->null_count,
                                 .n_buffers = made_buffers(column),
                                 .buffers = buffers};
}

static inline int made_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct made_table *made = stream->private_data;
    out->release = NULL;
    if (made->fails_at && made->given + 1 == made->fails_at) {
        /* What a failure leaves there is nobody's. */
        *out = (struct ArrowArray){.release = made_release_array, .private_data = made};
        return EIO;
    }
    if (made->given++ >= made->batches) return 0;
    for (int64_t i = 0; i < made->n_columns; i++) {
        const struct made_column *column = &made->column[i];
        made->arrays[i] = &made->array[i];
        made_fill(column, &made->array[i], made->buffers[2 * i]);
        if (!column->dictionary) continue;
        made_fill(column->dictionary, &made->dictionary[i], made->buffers[2 * i + 1]);
        made->array[i].dictionary = &made->dictionary[i];
    }
    made->buffers[2 * MADE_COLUMNS][0] = made->validity;
    *out = (struct ArrowArray){.length = made->rows,
                               .offset = made->offset,
                               .null_count = made->null_count,
                               .n_buffers = 1,
                               .n_children = made->n_columns,
                               .buffers = made->buffers[2 * MADE_COLUMNS],
                               .children = made->arrays,
                               .release = made_release_array,
                               .private_data = made};
    made->n_arrays++;
    if (made->spoil_batch) made->spoil_batch(out);
    return 0;
}

static inline const char *made_error(struct ArrowArrayStream *stream) {
    return ((struct made_table *)stream->private_data)->is_silent ? "" : "the row of ann is broken";
}

static inline void made_release(struct ArrowArrayStream *stream) {
    ((struct made_table *)stream->private_data)->n_streams--;
    stream->release = NULL;
}

static inline struct ArrowArrayStream made_stream(struct made_table *made) {
    if (made->batches == 0) made->batches = 1;
    made->given = 0;
    made->n_streams++;
    return (struct ArrowArrayStream){made_schema, made_next, made_error, made_release, made};
}

#endif
