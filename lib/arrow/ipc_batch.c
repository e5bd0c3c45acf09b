/*
 * The bodies of Arrow's IPC messages: record batches and dictionaries. Only the buffers of the
 * chosen columns are kept, and decompressed where they are compressed with zstd; no buffer is
 * believed to be where, or as long as, the metadata says before that is compared. Fed by
 * ipc_reader.c with the metadata of a message; feeds arrow_source.c with batches of columns.
 */
#include <stdlib.h>
#include <zstd.h>

#include "arrow/ipc_state.h"
#include "base/error.h"
#include "base/memory.h"

enum { GROWTHS_MAX = 1024 /* batches that a dictionary may grow by */ };

/* Values of a dictionary. Shared by batches, and by what it has grown to. */
struct ipc_dictionary {
    struct arrow_column column;
    struct ipc_dictionary *older;
    void **memory; /* buffers of its own */
    size_t n_memory, memory_capacity;
    int growths;
    atomic_int references;
};

struct ipc_batch {
    struct arrow_batch batch;
    struct ipc_dictionary *dictionary[ARROW_CHOSEN];
    void **memory;
    size_t n_memory, memory_capacity;
};

/* ---- buffers --------------------------------------------------------------------------------- */

/* They nearly always come in order. */
static void sort_wanted(struct ipc_body *body) {
    for (int i = 0; i < body->n; i++) {
        int at = i;
        for (; at > 0 && body->wanted[body->order[at - 1]].offset > body->wanted[i].offset; at--)
            body->order[at] = body->order[at - 1];
        body->order[at] = i;
    }
}

/* Memory that belongs to a batch or a dictionary. */
static void *own(void ***memory, size_t *n, size_t *capacity, uint64_t bytes) {
    if (!memory_reserve(memory, capacity, *n + 1, sizeof **memory)) return NULL;
    void *room = memory_alloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (room) (*memory)[(*n)++] = room;
    return room;
}

static int refuse_size(const struct ipc_reader *self, uint64_t bytes, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "a record batch takes %llu MiB, more than a quarter of {memory}",
                         (unsigned long long)(bytes >> 20));
    error_hint(error, "give it {memory %lluMiB}, or write the file in smaller batches",
               (unsigned long long)(5 * (bytes >> 20) + 64));
    error_place(error, self->table.name, 0, 0);
    return code;
}

static int decompress(const struct ipc_reader *self, struct ipc_wanted *wanted,
                      struct ipc_body *body, void ***memory, size_t *n, size_t *capacity,
                      struct dpmf_error *error) {
    if (wanted->n < 8) return ipc_refuse(self, "a compressed buffer is damaged", error);
    const int64_t size = (int64_t)bytes_get_u64(wanted->bytes);
    const uint8_t *packed = wanted->bytes + 8;
    if (size == -1) { /* as it is, because it would have grown */
        wanted->bytes = packed;
        wanted->n -= 8;
        return 0;
    }
    if (size < 0) return ipc_refuse(self, "a compressed buffer is damaged", error);
    body->bytes += (uint64_t)size;
    if ((uint64_t)size > self->limit || body->bytes > self->limit)
        return refuse_size(self, (uint64_t)size + body->bytes, error);
    uint8_t *room = own(memory, n, capacity, (uint64_t)size);
    if (!room) return error_no_memory(error);
    const size_t got = ZSTD_decompress(room, (size_t)size, packed, (size_t)wanted->n - 8);
    if (ZSTD_isError(got) || got != (size_t)size)
        return ipc_refuse(self, "a compressed buffer is damaged", error);
    wanted->bytes = room;
    wanted->n = size;
    return 0;
}

/* Reads the body to its end, and keeps what is wanted. */
static int read_body(struct ipc_reader *self, struct ipc_body *body, void ***memory, size_t *n,
                     size_t *capacity, struct dpmf_error *error) {
    int64_t at = 0;
    int code = 0;
    sort_wanted(body);
    for (int i = 0; i < body->n && code == 0; i++) {
        struct ipc_wanted *wanted = &body->wanted[body->order[i]];
        if (wanted->length == 0) continue;
        if (wanted->offset < at) return ipc_refuse(self, "buffers of a batch overlap", error);
        body->bytes += (uint64_t)wanted->length;
        if (body->bytes > self->limit) return refuse_size(self, body->bytes, error);
        uint8_t *room = own(memory, n, capacity, (uint64_t)wanted->length);
        if (!room) return error_no_memory(error);
        code = ipc_skip(self, (uint64_t)(wanted->offset - at), error);
        if (code == 0) code = ipc_read(self, room, (size_t)wanted->length, error);
        at = wanted->offset + wanted->length;
        wanted->bytes = room;
        wanted->n = wanted->length;
        if (code == 0 && body->is_compressed)
            code = decompress(self, wanted, body, memory, n, capacity, error);
    }
    return code == 0 ? ipc_skip(self, (uint64_t)(body->length - at), error) : code;
}

/* ---- record batches -------------------------------------------------------------------------- */

/* The parts of a record batch's table. */
struct parts {
    struct flat *flat;
    int64_t length;
    size_t nodes, n_nodes, buffers, n_buffers, variadic, n_variadic;
};

static const char *find_parts(struct flat *flat, size_t batch, struct parts *parts,
                              struct ipc_body *body) {
    *parts = (struct parts){.flat = flat, .length = flat_get_i64(flat, batch, 0, 0)};
    parts->nodes = flat_get_vector(flat, batch, 1, 16, &parts->n_nodes);
    parts->buffers = flat_get_vector(flat, batch, 2, 16, &parts->n_buffers);
    parts->variadic = flat_get_vector(flat, batch, 4, 8, &parts->n_variadic);
    const size_t compression = flat_get_table(flat, batch, 3);
    body->is_compressed = compression > 0;
    body->n = 0;
    body->bytes = 0;
    if (flat->broken || batch == 0 || parts->length < 0 || parts->length > INT64_MAX / 64)
        return "the metadata of a batch is damaged";
    if (!body->is_compressed) return NULL;
    if (flat_get_u8(flat, compression, 1, 0) != 0) return "it is compressed in an unknown way";
    const int codec = flat_get_u8(flat, compression, 0, 0);
    if (codec == 0)
        return "it is compressed with LZ4, which is not supported: write it with zstd, "
               "or without compression";
    return codec == 1 ? NULL : "it is compressed in an unknown way";
}

static const char *want(struct parts *parts, size_t buffer, struct ipc_body *body) {
    if (buffer >= parts->n_buffers) return "a batch has too few buffers";
    if (body->n == IPC_BUFFERS_MAX) return "a column has too many buffers";
    const size_t at = parts->buffers + 16 * buffer;
    struct ipc_wanted *wanted = &body->wanted[body->n++];
    *wanted =
        (struct ipc_wanted){flat_i64(parts->flat, at), flat_i64(parts->flat, at + 8), NULL, 0};
    if (wanted->offset < 0 || wanted->length < 0 || wanted->offset > body->length ||
        wanted->length > body->length - wanted->offset)
        return "a buffer lies outside of its batch";
    return NULL;
}

/* Where a column's buffers are in the body. */
struct layout {
    int first;       /* place in body->wanted */
    int64_t n_views; /* buffers behind views */
    int64_t length, null_count;
};

static const char *want_column(struct parts *parts, const struct ipc_parts *before,
                               const struct arrow_type *type, struct ipc_body *body,
                               struct layout *layout) {
    const size_t node = parts->nodes + 16 * before->nodes;
    size_t buffer = before->buffers, n = arrow_kind_is_text(type->kind) ? 3 : 2;
    if (before->nodes >= parts->n_nodes) return "a batch has too few columns";
    *layout = (struct layout){.first = body->n,
                              .length = flat_i64(parts->flat, node),
                              .null_count = flat_i64(parts->flat, node + 8)};
    if (layout->length != parts->length) return "a column is of another length than its batch";
    if (type->kind == ARROW_NULL) return NULL;
    for (size_t i = 0; i <= before->variadic; i++) {
        if (i == before->variadic && type->kind != ARROW_TEXT_VIEW) break;
        if (i >= parts->n_variadic) return "a batch has too few counts of buffers";
        const int64_t count = flat_i64(parts->flat, parts->variadic + 8 * i);
        if (count < 0 || (uint64_t)count > parts->n_buffers)
            return "a batch's count of buffers makes no sense";
        if (i < before->variadic)
            buffer += (size_t)count;
        else
            layout->n_views = count, n = 2 + (size_t)count;
    }
    const char *wrong = NULL;
    for (size_t i = 0; i < n && !wrong; i++) wrong = want(parts, buffer + i, body);
    return wrong;
}

/* The bytes that `length` values need in the second buffer. */
static int64_t values_needed(const struct arrow_type *type, int64_t length) {
    const bool has_offsets = type->kind == ARROW_TEXT || type->kind == ARROW_TEXT_LONG;
    return length == 0 ? 0 : (length + has_offsets) * (int64_t)type->bytes;
}

/* After the body was read. `room` is for views: pointers, then lengths. */
static const char *view_column(const struct ipc_body *body, const struct layout *layout,
                               const struct arrow_type *type, void *room,
                               struct arrow_column *column) {
    *column = (struct arrow_column){.type = *type, .length = layout->length};
    if (type->kind == ARROW_NULL || layout->length == 0) return NULL;
    const struct ipc_wanted *wanted = &body->wanted[layout->first];
    if (wanted[0].n > 0 && wanted[0].n < (layout->length + 7) / 8)
        return "a validity buffer is too short";
    if (wanted[0].n == 0 && layout->null_count != 0)
        return "a column has nulls and does not say which";
    column->validity = layout->null_count != 0 ? wanted[0].bytes : NULL;
    if (wanted[1].n < values_needed(type, layout->length)) return "a column's buffer is too short";
    column->values = wanted[1].bytes;
    if (type->kind == ARROW_TEXT || type->kind == ARROW_TEXT_LONG) {
        column->data = (const char *)wanted[2].bytes;
        column->data_bytes = wanted[2].n;
    } else if (type->kind == ARROW_TEXT_VIEW) {
        const void **pointers = room;
        int64_t *lengths = (int64_t *)(void *)(pointers + layout->n_views);
        for (int64_t i = 0; i < layout->n_views; i++) {
            pointers[i] = wanted[2 + i].bytes;
            lengths[i] = wanted[2 + i].n;
        }
        column->view_data = pointers;
        column->view_data_bytes = lengths;
        column->n_view_data = layout->n_views;
    }
    return NULL;
}

static uint64_t view_room(const struct layout *layout) {
    return (uint64_t)layout->n_views * (sizeof(void *) + sizeof(int64_t));
}

/* ---- dictionaries ---------------------------------------------------------------------------- */

static void free_memory(void **memory, size_t n) {
    for (size_t i = 0; i < n; i++) free(memory[i]);
    free(memory);
}

void ipc_dictionary_release(struct ipc_dictionary *dictionary) {
    while (dictionary &&
           atomic_fetch_sub_explicit(&dictionary->references, 1, memory_order_acq_rel) == 1) {
        struct ipc_dictionary *older = dictionary->older;
        free_memory(dictionary->memory, dictionary->n_memory);
        free(dictionary);
        dictionary = older;
    }
}

static struct ipc_dictionary *dictionary_share(struct ipc_dictionary *dictionary) {
    if (dictionary) atomic_fetch_add_explicit(&dictionary->references, 1, memory_order_relaxed);
    return dictionary;
}

static int read_dictionary(struct ipc_reader *self, struct parts *parts, struct ipc_body *body,
                           const struct arrow_type *type, struct ipc_dictionary **out,
                           struct dpmf_error *error) {
    static const struct ipc_parts first = {0, 0, 0};
    struct layout layout;
    const char *wrong = want_column(parts, &first, type, body, &layout);
    if (wrong) return ipc_refuse(self, wrong, error);
    struct ipc_dictionary *made = memory_alloc_zero(1, sizeof *made);
    if (!made) return error_no_memory(error);
    atomic_init(&made->references, 1);
    int code = read_body(self, body, &made->memory, &made->n_memory, &made->memory_capacity, error);
    void *room =
        code == 0 ? own(&made->memory, &made->n_memory, &made->memory_capacity, view_room(&layout))
                  : NULL;
    if (code == 0 && !room) code = error_no_memory(error);
    if (code == 0 && (wrong = view_column(body, &layout, type, room, &made->column)))
        code = ipc_refuse(self, wrong, error);
    if (code == 0)
        *out = made;
    else
        ipc_dictionary_release(made);
    return code;
}

/* Replaces the one before, or appends to it. */
static int keep_dictionary(struct ipc_reader *self, int chosen, struct ipc_dictionary *made,
                           bool is_growth, struct dpmf_error *error) {
    struct ipc_dictionary *before = self->dictionary[chosen];
    if (is_growth && before) {
        if (before->growths == GROWTHS_MAX)
            return ipc_refuse(self, "a dictionary has grown too often", error);
        made->growths = before->growths + 1;
        made->older = before;
        made->column.older = &before->column;
        made->column.n_older = before->column.n_older + before->column.length;
    } else {
        ipc_dictionary_release(before);
    }
    self->dictionary[chosen] = made;
    return 0;
}

int ipc_dictionary_take(struct ipc_reader *self, struct flat *flat, size_t message,
                        struct ipc_body *body, struct dpmf_error *error) {
    const int64_t id = flat_get_i64(flat, message, 0, 0);
    const bool is_growth = flat_get_u8(flat, message, 2, 0) != 0;
    struct ipc_dictionary *made = NULL;
    struct parts parts;
    int user = ARROW_NONE, n_users = 0;
    for (int i = 0; i < ARROW_CHOSEN; i++)
        if (self->table.chosen[i] >= 0 && self->columns[self->table.chosen[i]].dictionary == id)
            user = i, n_users++;
    if (flat->broken) return ipc_refuse(self, "the metadata of a dictionary is damaged", error);
    if (n_users == 0) return ipc_skip(self, (uint64_t)body->length, error);
    if (n_users > 1) return ipc_refuse(self, "two columns share a dictionary", error);
    const char *wrong = find_parts(flat, flat_get_table(flat, message, 1), &parts, body);
    if (wrong) return ipc_refuse(self, wrong, error);
    int code = read_dictionary(self, &parts, body,
                               &self->table.fields[self->table.chosen[user]].type, &made, error);
    if (code == 0 && (code = keep_dictionary(self, user, made, is_growth, error)) < 0)
        ipc_dictionary_release(made);
    return code;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void free_batch(struct arrow_batch *pointer) {
    struct ipc_batch *batch = (struct ipc_batch *)pointer;
    for (int i = 0; i < ARROW_CHOSEN; i++) ipc_dictionary_release(batch->dictionary[i]);
    free_memory(batch->memory, batch->n_memory);
    free(batch);
}

static const struct arrow_type *type_in_batch(const struct arrow_field *field) {
    return field->indices.kind == ARROW_NULL ? &field->type : &field->indices;
}

static int view_batch(struct ipc_reader *self, const struct ipc_body *body,
                      const struct layout *layout, struct ipc_batch *batch,
                      struct dpmf_error *error) {
    for (int i = 0; i < ARROW_CHOSEN; i++) {
        const int32_t place = self->table.chosen[i];
        if (place < 0) continue;
        const struct arrow_field *field = &self->table.fields[place];
        void *room =
            own(&batch->memory, &batch->n_memory, &batch->memory_capacity, view_room(&layout[i]));
        if (!room) return error_no_memory(error);
        const char *wrong =
            view_column(body, &layout[i], type_in_batch(field), room, &batch->batch.column[i]);
        if (wrong) return ipc_refuse(self, wrong, error);
        if (self->columns[place].dictionary < 0) continue;
        if (!self->dictionary[i])
            return ipc_refuse(self, "a batch needs a dictionary that comes later, or not at all",
                              error);
        batch->dictionary[i] = dictionary_share(self->dictionary[i]);
        batch->batch.column[i].dictionary = &batch->dictionary[i]->column;
    }
    return 0;
}

int ipc_batch_take(struct ipc_reader *self, struct flat *flat, size_t message,
                   struct ipc_body *body, struct arrow_batch **out, struct dpmf_error *error) {
    struct layout layout[ARROW_CHOSEN] = {{0}};
    struct parts parts;
    const char *wrong = find_parts(flat, message, &parts, body);
    for (int i = 0; i < ARROW_CHOSEN && !wrong; i++) {
        const int32_t place = self->table.chosen[i];
        if (place >= 0)
            wrong = want_column(&parts, &self->columns[place].before,
                                type_in_batch(&self->table.fields[place]), body, &layout[i]);
    }
    if (!wrong && parts.n_nodes != self->all.nodes)
        wrong = "a batch does not have as many columns as the schema";
    if (wrong) return ipc_refuse(self, wrong, error);
    struct ipc_batch *batch = arrow_batch_new(&self->table, sizeof *batch, free_batch);
    if (!batch) return error_no_memory(error);
    batch->batch.n_rows = parts.length;
    int code =
        read_body(self, body, &batch->memory, &batch->n_memory, &batch->memory_capacity, error);
    if (code == 0) code = view_batch(self, body, layout, batch, error);
    batch->batch.bytes = body->bytes;
    self->n_batches++;
    if (code == 0)
        *out = &batch->batch;
    else
        arrow_batch_release(&batch->batch);
    return code == 0 ? 1 : code;
}
