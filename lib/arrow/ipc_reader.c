/*
 * Arrow's IPC format: messages of metadata, each with a body of buffers. Of a stream they are read
 * one after the other, of a file where its footer says that they are; a file that comes through a
 * pipe is read as the stream that it holds, and its footer compared with what was read. Of a body
 * only the buffers of the chosen columns are kept, and decompressed where they are compressed with
 * zstd. Nothing is trusted: lengths are compared with what they must hold before anything is read
 * by them. Fed by input_stream and files; feeds arrow_source.c.
 */
#define _GNU_SOURCE
#include "arrow/ipc_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "arrow/ipc_blocks.h"
#include "arrow/ipc_schema.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    METADATA_MAX = 64 << 20,
    SCHEMA_MAX = 16 << 20, /* a schema's message that does not say how long it is */
    SKIP_BYTES = 1 << 16,
    PADDING = 64,       /* messages are padded to a multiple of 8, 32 or 64 bytes */
    BUFFERS_MAX = 4096, /* buffers of the columns that are read */
    GROWTHS_MAX = 1024, /* batches that a dictionary may grow by */
    VERSION_MIN = 3,    /* 4, of Arrow 0.8 */
};

enum message { MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY, MESSAGE_BATCH };

static const char file_mark[8] = "ARROW1\0";

/* Values of a dictionary. Shared by batches, and by what it has grown to. */
struct dictionary {
    struct arrow_column column;
    struct dictionary *older;
    void **memory; /* buffers of its own */
    size_t n_memory, memory_capacity;
    int growths;
    atomic_int references;
};

struct ipc_reader {
    struct arrow_table table;    /* first: this is what others see */
    struct input_stream *stream; /* NULL of a file that is read by its footer */
    int fd;                      /* descriptor of that file, or -1 */
    uint64_t file_bytes;
    _Atomic uint64_t at;      /* place in it */
    struct ipc_block *blocks; /* messages of that file, in the order of reading */
    size_t n_blocks, next_block;
    uint8_t head[8]; /* bytes of a stream that were read to see what it is */
    size_t n_head;
    uint64_t limit;
    bool is_file, ended;
    int version;
    struct ipc_column *columns;
    struct ipc_parts all;
    uint64_t n_batches;
    uint8_t *metadata;
    size_t metadata_capacity;
    struct dictionary *dictionary[ARROW_CHOSEN]; /* those of the chosen columns, or NULL */
};

struct ipc_batch {
    struct arrow_batch batch;
    struct dictionary *dictionary[ARROW_CHOSEN];
    void **memory;
    size_t n_memory, memory_capacity;
};

bool ipc_has_magic(const void *bytes, size_t n) {
    const uint8_t *b = bytes;
    if (n >= 8 && memcmp(bytes, file_mark, 8) == 0) return true;
    /* A continuation mark, the length of a schema's message, and an offset into it. */
    return n >= 12 && bytes_get_u32(b) == UINT32_MAX && bytes_get_u32(b + 4) > 0 &&
           bytes_get_u32(b + 4) <= METADATA_MAX && bytes_get_u32(b + 4) % 8 == 0 &&
           bytes_get_u32(b + 8) < bytes_get_u32(b + 4);
}

static int refuse(const struct ipc_reader *self, const char *why, struct dpmf_error *error) {
    return arrow_table_refuse(&self->table, why, error);
}

static int refuse_cut(const struct ipc_reader *self, struct dpmf_error *error) {
    refuse(self, "the Arrow data is cut off", error);
    error_hint(error, "copy or write the file again");
    return DPMF_ERR_INPUT_ARROW;
}

static int refuse_without_end(const struct ipc_reader *self, struct dpmf_error *error) {
    refuse(self, "the Arrow stream ends without the mark of its end, as one that is cut off",
           error);
    error_hint(error, "write it again, and close its writer");
    return DPMF_ERR_INPUT_ARROW;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int read_file(struct ipc_reader *self, uint8_t *bytes, size_t n, size_t *got,
                     struct dpmf_error *error) {
    while (*got < n) {
        const ssize_t part = pread(self->fd, bytes + *got, n - *got, (off_t)self->at);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return error_system(error, errno, "read", self->table.name);
        if (part == 0) break;
        *got += (size_t)part;
        self->at += (uint64_t)part;
    }
    return 0;
}

/* @return 1, 0 at the end with nothing read, or a negative code */
static int read_exactly(struct ipc_reader *self, void *bytes, size_t n, struct dpmf_error *error) {
    uint8_t *room = bytes;
    size_t got = 0, more = 0;
    for (; self->n_head > 0 && got < n; got++, self->n_head--)
        room[got] = self->head[sizeof self->head - self->n_head];
    int code = self->stream ? input_stream_read(self->stream, room + got, n - got, &more, error)
                            : read_file(self, room, n, &more, error);
    if (code < 0) return code;
    got += more;
    if (got == n) return 1;
    return got == 0 ? 0 : refuse_cut(self, error);
}

static int read_all(struct ipc_reader *self, void *bytes, size_t n, struct dpmf_error *error) {
    int code = n > 0 ? read_exactly(self, bytes, n, error) : 1;
    return code == 0 ? refuse_cut(self, error) : code < 0 ? code : 0;
}

static int skip(struct ipc_reader *self, uint64_t n, struct dpmf_error *error) {
    uint8_t room[SKIP_BYTES];
    int code = 0;
    if (!self->stream) { /* a block's end was compared with the file's */
        self->at += n;
        return 0;
    }
    while (n > 0 && code == 0) {
        const size_t part = n < sizeof room ? (size_t)n : sizeof room;
        code = read_all(self, room, part, error);
        n -= part;
    }
    return code;
}

/* The metadata of the next message. @return 1, 0 after the last, or a negative code */
static int read_message(struct ipc_reader *self, struct flat *flat, struct dpmf_error *error) {
    uint8_t head[8];
    int code = read_exactly(self, head, 4, error);
    if (code == 0 && self->is_file) return refuse_cut(self, error);
    if (code == 0 && self->stream) return refuse_without_end(self, error);
    if (code != 1) return code;
    if (bytes_get_u32(head) != UINT32_MAX)
        return refuse(self,
                      "it is damaged, or of Arrow before 0.15: a message does not begin as it "
                      "should",
                      error);
    if ((code = read_all(self, head + 4, 4, error)) < 0) return code;
    const uint32_t n = bytes_get_u32(head + 4);
    if (n == 0) return 0;
    if (n > METADATA_MAX) return refuse(self, "a message is too long to be one", error);
    if (!memory_reserve(&self->metadata, &self->metadata_capacity, n, 1))
        return error_no_memory(error);
    if ((code = read_all(self, self->metadata, n, error)) < 0) return code;
    *flat = (struct flat){.bytes = self->metadata, .n = n};
    return 1;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* A buffer of the body that is wanted, and what becomes of it. */
struct wanted {
    int64_t offset, length;
    const uint8_t *bytes; /* once read; NULL when it is empty */
    int64_t n;
};

struct body {
    struct wanted wanted[BUFFERS_MAX];
    int order[BUFFERS_MAX];
    int n;
    int64_t length;
    bool is_compressed;
    uint64_t bytes; /* memory taken */
};

/* They nearly always come in order. */
static void sort_wanted(struct body *body) {
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

static int decompress(const struct ipc_reader *self, struct wanted *wanted, struct body *body,
                      void ***memory, size_t *n, size_t *capacity, struct dpmf_error *error) {
    if (wanted->n < 8) return refuse(self, "a compressed buffer is damaged", error);
    const int64_t size = (int64_t)bytes_get_u64(wanted->bytes);
    const uint8_t *packed = wanted->bytes + 8;
    if (size == -1) { /* as it is, because it would have grown */
        wanted->bytes = packed;
        wanted->n -= 8;
        return 0;
    }
    if (size < 0) return refuse(self, "a compressed buffer is damaged", error);
    body->bytes += (uint64_t)size;
    if ((uint64_t)size > self->limit || body->bytes > self->limit)
        return refuse_size(self, (uint64_t)size + body->bytes, error);
    uint8_t *room = own(memory, n, capacity, (uint64_t)size);
    if (!room) return error_no_memory(error);
    const size_t got = ZSTD_decompress(room, (size_t)size, packed, (size_t)wanted->n - 8);
    if (ZSTD_isError(got) || got != (size_t)size)
        return refuse(self, "a compressed buffer is damaged", error);
    wanted->bytes = room;
    wanted->n = size;
    return 0;
}

/* Reads the body to its end, and keeps what is wanted. */
static int read_body(struct ipc_reader *self, struct body *body, void ***memory, size_t *n,
                     size_t *capacity, struct dpmf_error *error) {
    int64_t at = 0;
    int code = 0;
    sort_wanted(body);
    for (int i = 0; i < body->n && code == 0; i++) {
        struct wanted *wanted = &body->wanted[body->order[i]];
        if (wanted->length == 0) continue;
        if (wanted->offset < at) return refuse(self, "buffers of a batch overlap", error);
        body->bytes += (uint64_t)wanted->length;
        if (body->bytes > self->limit) return refuse_size(self, body->bytes, error);
        uint8_t *room = own(memory, n, capacity, (uint64_t)wanted->length);
        if (!room) return error_no_memory(error);
        code = skip(self, (uint64_t)(wanted->offset - at), error);
        if (code == 0) code = read_all(self, room, (size_t)wanted->length, error);
        at = wanted->offset + wanted->length;
        wanted->bytes = room;
        wanted->n = wanted->length;
        if (code == 0 && body->is_compressed)
            code = decompress(self, wanted, body, memory, n, capacity, error);
    }
    return code == 0 ? skip(self, (uint64_t)(body->length - at), error) : code;
}

/* ---- record batches -------------------------------------------------------------------------- */

/* The parts of a record batch's table. */
struct parts {
    struct flat *flat;
    int64_t length;
    size_t nodes, n_nodes, buffers, n_buffers, variadic, n_variadic;
};

static const char *find_parts(struct flat *flat, size_t batch, struct parts *parts,
                              struct body *body) {
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

static const char *want(struct parts *parts, size_t buffer, struct body *body) {
    if (buffer >= parts->n_buffers) return "a batch has too few buffers";
    if (body->n == BUFFERS_MAX) return "a column has too many buffers";
    const size_t at = parts->buffers + 16 * buffer;
    struct wanted *wanted = &body->wanted[body->n++];
    *wanted = (struct wanted){flat_i64(parts->flat, at), flat_i64(parts->flat, at + 8), NULL, 0};
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
                               const struct arrow_type *type, struct body *body,
                               struct layout *layout) {
    const size_t node = parts->nodes + 16 * before->nodes;
    size_t buffer = before->buffers, n = arrow_kind_is_text(type->kind) ? 3 : 2;
    if (before->nodes >= parts->n_nodes) return "a batch has too few columns";
    *layout = (struct layout){.first = body->n,
                              .length = flat_i64(parts->flat, node),
                              .null_count = flat_i64(parts->flat, node + 8)};
    if (layout->length != parts->length) return "a column is of another length than its batch";
    if (type->kind == ARROW_NULL) return NULL;
    if (before->variadic > parts->n_variadic) return "a batch has too few counts of buffers";
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
static const char *view_column(const struct body *body, const struct layout *layout,
                               const struct arrow_type *type, void *room,
                               struct arrow_column *column) {
    *column = (struct arrow_column){.type = *type, .length = layout->length};
    if (type->kind == ARROW_NULL || layout->length == 0) return NULL;
    const struct wanted *wanted = &body->wanted[layout->first];
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

static void dictionary_release(struct dictionary *dictionary) {
    while (dictionary &&
           atomic_fetch_sub_explicit(&dictionary->references, 1, memory_order_acq_rel) == 1) {
        struct dictionary *older = dictionary->older;
        free_memory(dictionary->memory, dictionary->n_memory);
        free(dictionary);
        dictionary = older;
    }
}

static struct dictionary *dictionary_share(struct dictionary *dictionary) {
    if (dictionary) atomic_fetch_add_explicit(&dictionary->references, 1, memory_order_relaxed);
    return dictionary;
}

static int read_dictionary(struct ipc_reader *self, struct parts *parts, struct body *body,
                           const struct arrow_type *type, struct dictionary **out,
                           struct dpmf_error *error) {
    static const struct ipc_parts first = {0, 0, 0};
    struct layout layout;
    const char *wrong = want_column(parts, &first, type, body, &layout);
    if (wrong) return refuse(self, wrong, error);
    struct dictionary *made = memory_alloc_zero(1, sizeof *made);
    if (!made) return error_no_memory(error);
    atomic_init(&made->references, 1);
    int code = read_body(self, body, &made->memory, &made->n_memory, &made->memory_capacity, error);
    void *room =
        code == 0 ? own(&made->memory, &made->n_memory, &made->memory_capacity, view_room(&layout))
                  : NULL;
    if (code == 0 && !room) code = error_no_memory(error);
    if (code == 0 && (wrong = view_column(body, &layout, type, room, &made->column)))
        code = refuse(self, wrong, error);
    if (code == 0)
        *out = made;
    else
        dictionary_release(made);
    return code;
}

/* Puts it in the place of the one before, or behind it. */
static int keep_dictionary(struct ipc_reader *self, int chosen, struct dictionary *made,
                           bool is_growth, struct dpmf_error *error) {
    struct dictionary *before = self->dictionary[chosen];
    if (is_growth && before) {
        if (before->growths == GROWTHS_MAX)
            return refuse(self, "a dictionary has grown too often", error);
        made->growths = before->growths + 1;
        made->older = before;
        made->column.older = &before->column;
        made->column.n_older = before->column.n_older + before->column.length;
    } else {
        dictionary_release(before);
    }
    self->dictionary[chosen] = made;
    return 0;
}

static int take_dictionary(struct ipc_reader *self, struct flat *flat, size_t message,
                           struct body *body, struct dpmf_error *error) {
    const int64_t id = flat_get_i64(flat, message, 0, 0);
    const bool is_growth = flat_get_u8(flat, message, 2, 0) != 0;
    struct dictionary *made = NULL;
    struct parts parts;
    int user = ARROW_NONE, n_users = 0;
    for (int i = 0; i < ARROW_CHOSEN; i++)
        if (self->table.chosen[i] >= 0 && self->columns[self->table.chosen[i]].dictionary == id)
            user = i, n_users++;
    if (flat->broken) return refuse(self, "the metadata of a dictionary is damaged", error);
    if (n_users == 0) return skip(self, (uint64_t)body->length, error);
    if (n_users > 1) return refuse(self, "two columns share a dictionary", error);
    const char *wrong = find_parts(flat, flat_get_table(flat, message, 1), &parts, body);
    if (wrong) return refuse(self, wrong, error);
    int code = read_dictionary(self, &parts, body,
                               &self->table.fields[self->table.chosen[user]].type, &made, error);
    if (code == 0 && (code = keep_dictionary(self, user, made, is_growth, error)) < 0)
        dictionary_release(made);
    return code;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void free_batch(struct arrow_batch *pointer) {
    struct ipc_batch *batch = (struct ipc_batch *)pointer;
    for (int i = 0; i < ARROW_CHOSEN; i++) dictionary_release(batch->dictionary[i]);
    free_memory(batch->memory, batch->n_memory);
    free(batch);
}

static const struct arrow_type *type_in_batch(const struct arrow_field *field) {
    return field->indices.kind == ARROW_NULL ? &field->type : &field->indices;
}

static int view_batch(struct ipc_reader *self, const struct body *body, const struct layout *layout,
                      struct ipc_batch *batch, struct dpmf_error *error) {
    for (int i = 0; i < ARROW_CHOSEN; i++) {
        const int32_t place = self->table.chosen[i];
        if (place < 0) continue;
        const struct arrow_field *field = &self->table.fields[place];
        void *room =
            own(&batch->memory, &batch->n_memory, &batch->memory_capacity, view_room(&layout[i]));
        if (!room) return error_no_memory(error);
        const char *wrong =
            view_column(body, &layout[i], type_in_batch(field), room, &batch->batch.column[i]);
        if (wrong) return refuse(self, wrong, error);
        if (self->columns[place].dictionary < 0) continue;
        if (!self->dictionary[i])
            return refuse(self, "a batch needs a dictionary that comes later, or not at all",
                          error);
        batch->dictionary[i] = dictionary_share(self->dictionary[i]);
        batch->batch.column[i].dictionary = &batch->dictionary[i]->column;
    }
    return 0;
}

static int take_batch(struct ipc_reader *self, struct flat *flat, size_t message, struct body *body,
                      struct arrow_batch **out, struct dpmf_error *error) {
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
        wrong = "a batch has another number of columns than the schema";
    if (wrong) return refuse(self, wrong, error);
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

/* ---- the end of a file ----------------------------------------------------------------------- */

/* The footer, its length and the mark. It lists the batches: as many must have been read. */
static int check_footer(struct ipc_reader *self, struct dpmf_error *error) {
    size_t n = 0, got = 0, listed = 0;
    int code = 0;
    do {
        if (!memory_reserve(&self->metadata, &self->metadata_capacity, n + SKIP_BYTES, 1))
            return error_no_memory(error);
        code = input_stream_read(self->stream, self->metadata + n, SKIP_BYTES, &got, error);
        if (code < 0) return code;
        n += got;
    } while (got > 0 && n <= METADATA_MAX);
    if (n < 10 || n > METADATA_MAX || memcmp(self->metadata + n - 6, file_mark, 6) != 0)
        return refuse_cut(self, error);
    const uint32_t length = bytes_get_u32(self->metadata + n - 10);
    if (length > n - 10) return refuse(self, "the footer is damaged", error);
    if (n - 10 - length >= PADDING)
        return refuse(self, "there is something between the last batch and the footer", error);
    struct flat flat = {.bytes = self->metadata + n - 10 - length, .n = length};
    flat_get_vector(&flat, flat_follow(&flat, 0), 3, 24, &listed);
    if (flat.broken || listed != self->n_batches)
        return refuse(self, "the footer lists another number of batches than there are", error);
    return 0;
}

/* After the mark of its end a stream has nothing. */
static int check_end(struct ipc_reader *self, struct dpmf_error *error) {
    uint8_t byte;
    if (!self->stream) return 0;
    if (self->is_file) return check_footer(self, error);
    int code = read_exactly(self, &byte, 1, error);
    if (code <= 0) return code;
    refuse(self, "there is something after the end of the Arrow stream", error);
    error_hint(error, "streams that were put together are not one table: import each by itself");
    return DPMF_ERR_INPUT_ARROW;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The next message: of a file, where its footer says; else the one that follows. */
static int next_message(struct ipc_reader *self, struct flat *flat, struct dpmf_error *error) {
    if (self->stream) return read_message(self, flat, error);
    if (self->next_block == self->n_blocks) return 0;
    const struct ipc_block *block = &self->blocks[self->next_block++];
    self->at = (uint64_t)block->offset;
    int code = read_message(self, flat, error);
    if (code == 0) return refuse(self, "the footer points at no message", error);
    if (code < 0) return code;
    const int64_t body = flat_get_i64(flat, flat_follow(flat, 0), 3, 0);
    if (body != block->body || self->at != (uint64_t)(block->offset + block->metadata))
        return refuse(self, "the footer and a message differ about its length", error);
    return 1;
}

static int next_batch(struct arrow_table *table, struct arrow_batch **out,
                      struct dpmf_error *error) {
    struct ipc_reader *self = (struct ipc_reader *)table;
    struct flat flat;
    int code = 0;
    if (self->ended) return 0;
    struct body *body = memory_alloc(1, sizeof *body);
    if (!body) return error_no_memory(error);
    while (code == 0 && !self->ended) {
        code = next_message(self, &flat, error);
        if (code == 0) {
            self->ended = true;
            code = check_end(self, error);
            break;
        }
        if (code < 0) break;
        const size_t message = flat_follow(&flat, 0), header = flat_get_table(&flat, message, 2);
        const int kind = flat_get_u8(&flat, message, 1, 0);
        body->length = flat_get_i64(&flat, message, 3, 0);
        if (flat.broken || header == 0 || body->length < 0)
            code = refuse(self, "a message is damaged", error);
        else if (kind == MESSAGE_BATCH)
            code = take_batch(self, &flat, header, body, out, error);
        else if (kind == MESSAGE_DICTIONARY)
            code = take_dictionary(self, &flat, header, body, error);
        else
            code = refuse(self, "a message is neither a batch nor a dictionary", error);
    }
    free(body);
    return code;
}

static uint64_t bytes_read(const struct arrow_table *table) {
    const struct ipc_reader *self = (const struct ipc_reader *)table;
    return self->stream ? input_stream_bytes_read(self->stream) : self->at;
}

static void close_reader(struct arrow_table *table) {
    struct ipc_reader *self = (struct ipc_reader *)table;
    for (int i = 0; i < ARROW_CHOSEN; i++) dictionary_release(self->dictionary[i]);
    input_stream_close(self->stream);
    if (self->fd >= 0) close(self->fd);
    free(self->blocks);
    free(self->columns);
    free(self->metadata);
    arrow_table_end(table);
    free(self);
}

static int take_schema(struct ipc_reader *self, struct flat *flat, size_t schema,
                       struct dpmf_error *error) {
    int code = 0;
    if (self->version < VERSION_MIN) return refuse(self, "it is of an Arrow before 0.8", error);
    const char *wrong = ipc_schema_read(flat, schema, self->version, &self->table, &self->columns,
                                        &self->all, &code, error);
    return code < 0 ? code : wrong ? refuse(self, wrong, error) : 0;
}

/* Begins a stream; a file that is read as one has a mark before it. */
static int begin_stream(struct ipc_reader *self, struct dpmf_error *error) {
    struct flat flat;
    int code = read_all(self, self->head, sizeof self->head, error);
    if (code < 0) return code;
    self->is_file = memcmp(self->head, file_mark, sizeof self->head) == 0;
    self->n_head = self->is_file ? 0 : sizeof self->head;
    code = read_message(self, &flat, error);
    if (code < 0 && self->is_file)
        error_hint(error, "files of some writers can only be read from a disk, not from a pipe");
    if (code <= 0) return code < 0 ? code : refuse_cut(self, error);
    const size_t message = flat_follow(&flat, 0), header = flat_get_table(&flat, message, 2);
    self->version = flat_get_i16(&flat, message, 0, 0);
    if (flat_get_u8(&flat, message, 1, 0) != MESSAGE_SCHEMA || header == 0 ||
        flat_get_i64(&flat, message, 3, 0) != 0)
        return refuse(self, "it does not begin with a schema", error);
    return take_schema(self, &flat, header, error);
}

/* ---- by the footer --------------------------------------------------------------------------- */

/* Messages of one kind, behind those that are there. */
static int add_blocks(struct ipc_reader *self, struct flat *flat, int field,
                      struct dpmf_error *error) {
    size_t n, at = flat_get_vector(flat, flat_follow(flat, 0), field, 24, &n);
    for (size_t i = 0; i < n; i++, at += 24) {
        struct ipc_block *block = &self->blocks[self->n_blocks++];
        *block = (struct ipc_block){flat_i64(flat, at), flat_i64(flat, at + 16),
                                    (int32_t)flat_u32(flat, at + 8)};
        if (block->offset < 8 || block->metadata < 8 || block->body < 0 ||
            (uint64_t)block->offset > self->file_bytes ||
            (uint64_t)block->metadata > self->file_bytes - (uint64_t)block->offset ||
            (uint64_t)block->body >
                self->file_bytes - (uint64_t)block->offset - (uint64_t)block->metadata)
            return refuse_cut(self, error);
    }
    return 0;
}

/* Where the schema's message ends, which is before all blocks. Some writers of files leave out how
 * long it is: then nothing up to the first block may begin as another message does. */
static int find_schema_end(struct ipc_reader *self, uint64_t first, uint64_t *end,
                           struct dpmf_error *error) {
    uint8_t head[8];
    bool has_length = false;
    int code = 0;
    for (self->at = *end = 8; code == 0 && !has_length && *end + sizeof head <= first; *end += 8) {
        if (*end > SCHEMA_MAX) return refuse(self, "the schema is too long to be one", error);
        code = read_all(self, head, sizeof head, error);
        if (code < 0 || bytes_get_u32(head) != UINT32_MAX) continue;
        if (*end > 8) return refuse(self, "the footer leaves out a part of the file", error);
        has_length = true;
        *end += bytes_get_u32(head + 4);
    }
    if (!has_length) *end = first;
    return code;
}

/* The blocks must be all that is between the schema and the footer. */
static int check_blocks(struct ipc_reader *self, uint64_t footer, struct dpmf_error *error) {
    uint64_t first = footer, schema_end;
    for (size_t i = 0; i < self->n_blocks; i++)
        if ((uint64_t)self->blocks[i].offset < first) first = (uint64_t)self->blocks[i].offset;
    int code = find_schema_end(self, first, &schema_end, error);
    if (code < 0) return code;
    struct ipc_block *sorted = memory_alloc(self->n_blocks + 1, sizeof *sorted);
    if (!sorted) return error_no_memory(error);
    const char *wrong = ipc_blocks_check(self->blocks, self->n_blocks, schema_end, footer, sorted);
    free(sorted);
    return wrong ? refuse(self, wrong, error) : 0;
}

static int read_footer(struct ipc_reader *self, struct dpmf_error *error) {
    uint8_t end[10];
    if (self->file_bytes < 8 + sizeof end) return refuse_cut(self, error);
    self->at = self->file_bytes - sizeof end;
    int code = read_all(self, end, sizeof end, error);
    if (code < 0) return code;
    const uint32_t n = bytes_get_u32(end);
    if (memcmp(end + 4, file_mark, 6) != 0) return refuse_cut(self, error);
    if (n > METADATA_MAX || n > self->file_bytes - 8 - sizeof end)
        return refuse(self, "the footer is damaged", error);
    if (!memory_reserve(&self->metadata, &self->metadata_capacity, n > 0 ? n : 1, 1))
        return error_no_memory(error);
    self->at = self->file_bytes - sizeof end - n;
    if ((code = read_all(self, self->metadata, n, error)) < 0) return code;
    struct flat flat = {.bytes = self->metadata, .n = n};
    const size_t footer = flat_follow(&flat, 0), schema = flat_get_table(&flat, footer, 1);
    size_t n_dictionaries, n_batches;
    flat_get_vector(&flat, footer, 2, 24, &n_dictionaries);
    flat_get_vector(&flat, footer, 3, 24, &n_batches);
    if (flat.broken || schema == 0) return refuse(self, "the footer is damaged", error);
    self->version = flat_get_i16(&flat, footer, 0, 0);
    self->blocks = memory_alloc(n_dictionaries + n_batches + 1, sizeof self->blocks[0]);
    if (!self->blocks) return error_no_memory(error);
    code = add_blocks(self, &flat, 2, error);
    if (code == 0) code = add_blocks(self, &flat, 3, error);
    if (code == 0) code = take_schema(self, &flat, schema, error);
    return code == 0 ? check_blocks(self, self->file_bytes - sizeof end - n, error) : code;
}

/* Whether the stream is an uncompressed file that can be read in any order: then its descriptor. */
static int open_file(const char *name, const void *head, size_t n_head, struct stat *status) {
    if (n_head < sizeof file_mark || memcmp(head, file_mark, sizeof file_mark) != 0) return -1;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

int ipc_reader_open(struct input_stream *stream, uint64_t limit, struct arrow_table **table,
                    struct dpmf_error *error) {
    static const struct arrow_table_ops ops = {next_batch, bytes_read, close_reader};
    const void *head;
    struct stat status;
    *table = NULL;
    struct ipc_reader *self = memory_alloc_zero(1, sizeof *self);
    char *name = self ? strdup(input_stream_name(stream)) : NULL;
    if (!name) {
        free(self);
        input_stream_close(stream);
        return error_no_memory(error);
    }
    arrow_table_begin(&self->table, &ops, "arrow");
    self->table.name = name;
    self->table.total_bytes = input_stream_total(stream);
    self->limit = limit;
    const size_t n_head = input_stream_head(stream, &head);
    self->fd = open_file(name, head, n_head, &status);
    self->stream = stream;
    if (self->fd >= 0) {
        input_stream_close(stream);
        self->stream = NULL;
        self->file_bytes = (uint64_t)status.st_size;
    }
    int code = self->stream ? begin_stream(self, error) : read_footer(self, error);
    if (code < 0)
        close_reader(&self->table);
    else
        *table = &self->table;
    return code;
}
