/*
 * Arrow structs that own copies of what they hold: they are released by whoever reads them, in any
 * thread, with or without the interpreter. Fed by _arrow.py.
 */
#include "native_arrow.h"

#include <Python.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- schemas --------------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i] == NULL) continue;
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary != NULL) {
        if (schema->dictionary->release != NULL) schema->dictionary->release(schema->dictionary);
        free(schema->dictionary);
    }
    free(schema->children);
    free((char *)schema->format);
    free((char *)schema->name);
    schema->release = NULL;
}

/* @return whether there was memory; else it is released again */
static bool begin_schema(struct ArrowSchema *schema, const char *format, const char *name,
                         int64_t n_children) {
    *schema = (struct ArrowSchema){.release = release_schema};
    schema->format = strdup(format);
    schema->name = strdup(name != NULL ? name : "");
    if (n_children > 0) schema->children = calloc((size_t)n_children, sizeof schema->children[0]);
    bool done = schema->format != NULL && schema->name != NULL &&
                (n_children == 0 || schema->children != NULL);
    if (done) schema->n_children = n_children;
    for (int64_t i = 0; done && i < n_children; i++)
        done = (schema->children[i] = calloc(1, sizeof *schema->children[i])) != NULL;
    if (!done) release_schema(schema);
    return done;
}

int native_arrow_schema_copy(const struct ArrowSchema *schema, struct ArrowSchema *out) {
    if (!begin_schema(out, schema->format, schema->name, schema->n_children)) return ENOMEM;
    out->flags = schema->flags;
    int code = 0;
    for (int64_t i = 0; i < schema->n_children && code == 0; i++)
        code = native_arrow_schema_copy(schema->children[i], out->children[i]);
    if (code == 0 && schema->dictionary != NULL) {
        out->dictionary = calloc(1, sizeof *out->dictionary);
        code = out->dictionary == NULL
                   ? ENOMEM
                   : native_arrow_schema_copy(schema->dictionary, out->dictionary);
    }
    if (code != 0) release_schema(out);
    return code;
}

static bool column_schema(const struct native_arrow_column *column, struct ArrowSchema *schema) {
    char list[32];
    if (column->width == 0) return begin_schema(schema, column->format, column->name, 0);
    snprintf(list, sizeof list, "+w:%zu", column->width);
    if (!begin_schema(schema, list, column->name, 1)) return false;
    return begin_schema(schema->children[0], column->format, "item", 0);
}

static int table_schema(const struct native_arrow_column *columns, size_t n,
                        struct ArrowSchema *schema) {
    if (!begin_schema(schema, "+s", "", (int64_t)n)) return ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!column_schema(&columns[i], schema->children[i])) {
            release_schema(schema);
            return ENOMEM;
        }
    return 0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i] == NULL) continue;
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    for (int64_t i = 0; i < array->n_buffers; i++) free((void *)array->buffers[i]);
    free(array->children);
    free((void *)array->buffers);
    array->release = NULL;
}

static bool begin_array(struct ArrowArray *array, size_t rows, int64_t n_buffers,
                        int64_t n_children) {
    *array = (struct ArrowArray){.length = (int64_t)rows, .release = release_array};
    array->buffers = calloc((size_t)n_buffers, sizeof array->buffers[0]);
    if (n_children > 0) array->children = calloc((size_t)n_children, sizeof array->children[0]);
    bool done = array->buffers != NULL && (n_children == 0 || array->children != NULL);
    if (done) {
        array->n_buffers = n_buffers;
        array->n_children = n_children;
    }
    for (int64_t i = 0; done && i < n_children; i++)
        done = (array->children[i] = calloc(1, sizeof *array->children[i])) != NULL;
    if (!done) release_array(array);
    return done;
}

/* 64 bytes more than there are: readers of Arrow may read ahead so far. */
static bool copy_buffer(struct ArrowArray *array, int place, const void *bytes, size_t n) {
    void *copy = calloc(n + 64, 1);
    if (copy != NULL && n > 0) memcpy(copy, bytes, n);
    array->buffers[place] = copy;
    return copy != NULL;
}

static bool values_array(const struct native_arrow_column *column, size_t n,
                         struct ArrowArray *array) {
    bool is_text = column->format[0] == 'U' || column->format[0] == 'Z';
    return begin_array(array, n, is_text ? 3 : 2, 0) &&
           copy_buffer(array, 1, column->values, column->value_bytes) &&
           (!is_text || copy_buffer(array, 2, column->data, column->data_bytes));
}

static bool column_array(const struct native_arrow_column *column, size_t rows,
                         struct ArrowArray *array) {
    if (column->width == 0) return values_array(column, rows, array);
    return begin_array(array, rows, 1, 1) &&
           values_array(column, rows * column->width, array->children[0]);
}

static int table_array(const struct native_arrow_column *columns, size_t n, size_t rows,
                       struct ArrowArray *array) {
    if (!begin_array(array, rows, 1, (int64_t)n)) return ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!column_array(&columns[i], rows, array->children[i])) {
            release_array(array);
            return ENOMEM;
        }
    return 0;
}

int native_arrow_export(const struct native_arrow_column *columns, size_t n, size_t rows,
                        struct ArrowSchema *schema, struct ArrowArray *array) {
    int code = schema != NULL ? table_schema(columns, n, schema) : 0;
    return code == 0 && array != NULL ? table_array(columns, n, rows, array) : code;
}

/* ---- a stream of one batch ------------------------------------------------------------------- */

struct one_batch {
    struct ArrowSchema schema;
    struct ArrowArray array;
};

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    return native_arrow_schema_copy(&((struct one_batch *)stream->private_data)->schema, out);
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct one_batch *batch = stream->private_data;
    *out = batch->array;
    batch->array.release = NULL;
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return NULL;
}

static void stream_release(struct ArrowArrayStream *stream) {
    struct one_batch *batch = stream->private_data;
    if (batch->schema.release != NULL) batch->schema.release(&batch->schema);
    if (batch->array.release != NULL) batch->array.release(&batch->array);
    free(batch);
    stream->release = NULL;
}

int native_arrow_export_stream(const struct native_arrow_column *columns, size_t n, size_t rows,
                               struct ArrowArrayStream *stream) {
    struct one_batch *batch = calloc(1, sizeof *batch);
    if (batch == NULL) return ENOMEM;
    *stream =
        (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, batch};
    int code = native_arrow_export(columns, n, rows, &batch->schema, &batch->array);
    if (code != 0) stream_release(stream);
    return code;
}

/* ---- capsules -------------------------------------------------------------------------------- */

void *native_arrow_new(int kind) {
    return calloc(1, kind == NATIVE_ARROW_SCHEMA  ? sizeof(struct ArrowSchema)
                     : kind == NATIVE_ARROW_ARRAY ? sizeof(struct ArrowArray)
                                                  : sizeof(struct ArrowArrayStream));
}

void native_arrow_free(int kind, void *pointer) {
    struct ArrowSchema *schema = pointer;
    struct ArrowArray *array = pointer;
    struct ArrowArrayStream *stream = pointer;
    if (pointer == NULL) return;
    if (kind == NATIVE_ARROW_SCHEMA && schema->release != NULL) schema->release(schema);
    if (kind == NATIVE_ARROW_ARRAY && array->release != NULL) array->release(array);
    if (kind == NATIVE_ARROW_STREAM && stream->release != NULL) stream->release(stream);
    free(pointer);
}

static void free_schema(PyObject *capsule) {
    native_arrow_free(NATIVE_ARROW_SCHEMA, PyCapsule_GetPointer(capsule, "arrow_schema"));
}

static void free_array(PyObject *capsule) {
    native_arrow_free(NATIVE_ARROW_ARRAY, PyCapsule_GetPointer(capsule, "arrow_array"));
}

static void free_stream(PyObject *capsule) {
    native_arrow_free(NATIVE_ARROW_STREAM, PyCapsule_GetPointer(capsule, "arrow_array_stream"));
}

void *native_arrow_destructor(int kind) {
    void (*const destructors[])(PyObject *) = {free_schema, free_array, free_stream};
    void *address;
    memcpy(&address, &destructors[kind], sizeof address);
    return address;
}
