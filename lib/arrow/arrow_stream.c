/*
 * Tables out of the Arrow C stream interface: arrays that another library has in memory, read where
 * they are. What can be checked is checked: counts of children and buffers, signs and sums of
 * lengths and offsets, that there is a buffer where one is needed, that texts end within the last
 * offset of their column and views within their buffers, whose lengths the interface gives. It does
 * not say how long any other buffer is: that they hold `length` values is the producer's word.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_table.h"
#include "base/error.h"
#include "base/memory.h"

enum { SAID_MAX = 200 }; /* bytes of what a stream says about a failure */

struct stream_table {
    struct arrow_table table; /* first: this is what others see */
    struct ArrowArrayStream stream;
    bool is_private, ended;
};

struct stream_batch {
    struct arrow_batch batch;
    struct ArrowArray array;
    struct arrow_column dictionary[ARROW_CHOSEN];
};

/* ---- failures -------------------------------------------------------------------------------- */

static int fail(struct stream_table *self, int number, struct dpmf_error *error) {
    const char *said = NULL;
    if (!self->is_private && self->stream.get_last_error)
        said = self->stream.get_last_error(&self->stream);
    if (number == ENOMEM) return error_no_memory(error);
    if (number == ECANCELED || number == EINTR)
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    error_set(error, DPMF_ERR_IO_READ,
              said && *said ? "the Arrow stream failed: %.*s" : "the Arrow stream failed%.*s",
              SAID_MAX, said ? said : "");
    error_hint(error, "the error comes from the program that made the stream: check it there");
    return DPMF_ERR_IO_READ;
}

static int refuse(const struct stream_table *self, const char *why, struct dpmf_error *error) {
    return arrow_table_refuse(&self->table, why, error);
}

/* ---- the schema ------------------------------------------------------------------------------ */

static int add_child(struct stream_table *self, const struct ArrowSchema *child,
                     struct dpmf_error *error) {
    struct arrow_type type, indices = arrow_type_of(ARROW_NULL);
    if (!child || !child->format) return refuse(self, "a column of the schema is missing", error);
    if (!arrow_type_parse(child->format, &type))
        return refuse(self, "a column is of a type that Arrow does not have", error);
    if (child->dictionary) {
        indices = type;
        if (!child->dictionary->format || !arrow_type_parse(child->dictionary->format, &type))
            return refuse(self, "a dictionary is of a type that Arrow does not have", error);
        if (child->dictionary->dictionary)
            return refuse(self, "a dictionary's values are in a dictionary themselves", error);
        if (!arrow_kind_is_whole(indices.kind))
            return refuse(self, "the indices of a dictionary are not whole numbers", error);
    }
    return arrow_table_add_field(&self->table, child->name, child->name ? strlen(child->name) : 0,
                                 type, indices, error);
}

static int read_schema(struct stream_table *self, const struct ArrowSchema *schema,
                       struct dpmf_error *error) {
    if (!schema->release || !schema->format || strcmp(schema->format, "+s") != 0)
        return refuse(self, "the Arrow stream is not a table: its arrays are not structs", error);
    if (schema->n_children < 0 || schema->n_children > ARROW_FIELDS_MAX ||
        (schema->n_children > 0 && !schema->children))
        return refuse(self, "the schema's number of columns makes no sense", error);
    int code = 0;
    for (int64_t i = 0; i < schema->n_children && code == 0; i++)
        code = add_child(self, schema->children[i], error);
    return code;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Buffers that an array of this type has; of views, the least. */
static int64_t buffers_of(enum arrow_kind kind) { return arrow_kind_is_text(kind) ? 3 : 2; }

/* The ends of texts, by the last offset: no text of the column goes beyond. */
static int64_t text_bytes(const struct arrow_column *column) {
    int32_t narrow;
    int64_t wide;
    const char *at = (const char *)column->values +
                     (column->offset + column->length) * (int64_t)column->type.bytes;
    if (column->type.kind == ARROW_TEXT_LONG) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

/* `least` is how many values there must be. @return what is wrong, or NULL */
static const char *view_array(const struct ArrowArray *array, struct arrow_type type, int64_t least,
                              struct arrow_column *column) {
    const bool is_view = type.kind == ARROW_TEXT_VIEW;
    if (!array) return "a column is missing";
    if (array->length < least || array->offset < 0 ||
        array->offset > INT64_MAX / 32 - array->length)
        return "the length or the offset of a column makes no sense";
    if (type.kind ==
        ARROW_NULL) { /* some producers give it a validity buffer, which means nothing */
        *column = (struct arrow_column){.type = type, .length = array->length};
        return NULL;
    }
    if (is_view ? array->n_buffers < 3 : array->n_buffers != buffers_of(type.kind))
        return "a column does not have as many buffers as its type";
    *column = (struct arrow_column){.type = type, .length = array->length, .offset = array->offset};
    if (!array->buffers) return "a column has no buffers";
    column->validity = array->null_count == 0 ? NULL : array->buffers[0];
    column->values = array->buffers[1];
    if (array->null_count > 0 && !column->validity && array->length > 0)
        return "a column has nulls and does not say which";
    if (array->length == 0) return NULL;
    if (!column->values) return "a column has no values";
    if (is_view) {
        column->n_view_data = array->n_buffers - 3;
        column->view_data = array->buffers + 2;
        column->view_data_bytes = array->buffers[array->n_buffers - 1];
        if (column->n_view_data > 0 && !column->view_data_bytes)
            return "a column of views does not say how long its buffers are";
    } else if (arrow_kind_is_text(type.kind)) {
        column->data = array->buffers[2];
        column->data_bytes = text_bytes(column);
        if (column->data_bytes < 0) return "an offset into texts is below 0";
    }
    return NULL;
}

static const char *view_child(const struct stream_table *self, struct stream_batch *batch,
                              int chosen) {
    const int32_t place = self->table.chosen[chosen];
    const struct arrow_field *field = &self->table.fields[place];
    const struct ArrowArray *top = &batch->array, *child = top->children[place];
    struct arrow_column *column = &batch->batch.column[chosen];
    const bool is_dictionary = field->indices.kind != ARROW_NULL;
    const char *wrong = view_array(child, is_dictionary ? field->indices : field->type,
                                   top->offset + top->length, column);
    if (wrong) return wrong;
    if (is_dictionary != (child->dictionary != NULL))
        return "a column has a dictionary where its type has none, or none where it has one";
    if (is_dictionary) {
        column->dictionary = &batch->dictionary[chosen];
        wrong = view_array(child->dictionary, field->type, 0, &batch->dictionary[chosen]);
    }
    column->offset += top->offset;
    column->length = top->length;
    return wrong;
}

static const char *view_batch(const struct stream_table *self, struct stream_batch *batch) {
    const struct ArrowArray *top = &batch->array;
    if (top->length < 0 || top->offset < 0 || top->offset > INT64_MAX / 64 ||
        top->length > INT64_MAX / 64)
        return "the length or the offset of a batch makes no sense";
    if ((uint64_t)top->n_children != self->table.n_fields ||
        (top->n_children > 0 && !top->children))
        return "a batch does not have as many columns as the schema";
    if (top->n_buffers != 1 && top->n_buffers != 0) return "a batch is not a struct";
    batch->batch.n_rows = top->length;
    if (top->null_count != 0 && top->n_buffers == 1 && top->buffers)
        batch->batch.validity = top->buffers[0];
    if (top->null_count > 0 && !batch->batch.validity)
        return "a batch has rows that are null and does not say which";
    batch->batch.validity_offset = top->offset;
    for (int i = 0; i < ARROW_CHOSEN; i++) {
        if (self->table.chosen[i] == ARROW_NONE) continue;
        const char *wrong = view_child(self, batch, i);
        if (wrong) return wrong;
    }
    return NULL;
}

static void free_batch(struct arrow_batch *pointer) {
    struct stream_batch *batch = (struct stream_batch *)pointer;
    if (batch->array.release) batch->array.release(&batch->array);
    free(batch);
}

static int next_batch(struct arrow_table *table, struct arrow_batch **out,
                      struct dpmf_error *error) {
    struct stream_table *self = (struct stream_table *)table;
    if (self->ended) return 0;
    struct stream_batch *batch = arrow_batch_new(table, sizeof *batch, free_batch);
    if (!batch) return error_no_memory(error);
    int code = self->stream.get_next(&self->stream, &batch->array);
    if (code != 0) {
        batch->array.release = NULL;
        code = fail(self, code, error);
    } else if (!batch->array.release) {
        self->ended = true;
    } else {
        const char *wrong = view_batch(self, batch);
        code = wrong ? refuse(self, wrong, error) : 1;
    }
    if (code == 1)
        *out = &batch->batch;
    else
        arrow_batch_release(&batch->batch);
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void close_stream(struct arrow_table *table) {
    struct stream_table *self = (struct stream_table *)table;
    if (self->stream.release) self->stream.release(&self->stream);
    arrow_table_end(table);
    free(self);
}

int arrow_stream_open(struct ArrowArrayStream *stream, bool is_private, struct arrow_table **table,
                      struct dpmf_error *error) {
    static const struct arrow_table_ops ops = {.next = next_batch, .close = close_stream};
    struct ArrowSchema schema = {0};
    *table = NULL;
    if (!stream->release) {
        error_set(error, DPMF_ERR_INPUT_ARROW, "the Arrow stream was read already");
        error_hint(error, "a stream can be read only once: make a new one");
        return DPMF_ERR_INPUT_ARROW;
    }
    struct stream_table *self = memory_alloc_zero(1, sizeof *self);
    if (!self) {
        stream->release(stream);
        return error_no_memory(error);
    }
    arrow_table_begin(&self->table, &ops, "arrow");
    self->stream = *stream;
    self->is_private = is_private;
    stream->release = NULL;
    int code = 0;
    if (!self->stream.get_schema || !self->stream.get_next)
        code = refuse(self, "the Arrow stream has no functions", error);
    else if ((code = self->stream.get_schema(&self->stream, &schema)) != 0)
        code = fail(self, code, error);
    else
        code = read_schema(self, &schema, error);
    if (schema.release) schema.release(&schema);
    if (code < 0)
        close_stream(&self->table);
    else
        *table = &self->table;
    return code;
}
