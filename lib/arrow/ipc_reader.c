/*
 * Arrow's IPC format: messages of metadata, each with a body of buffers. In a stream they are read
 * one after the other, in a file where its footer says that they are; a file that comes through a
 * pipe is read as the stream that it holds, and its footer compared with what was read. Nothing is
 * trusted: lengths are compared with what they must hold before anything is read by them. Fed by
 * input_stream and files; feeds arrow_source.c.
 */
#define _GNU_SOURCE
#include "arrow/ipc_reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrow/ipc_state.h"
#include "base/error.h"
#include "base/memory.h"

enum { VERSION_MIN = 3 /* 4, of Arrow 0.8 */ };

enum message { MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY, MESSAGE_BATCH };

const char ipc_file_mark[8] = "ARROW1\0";

bool ipc_has_magic(const void *bytes, size_t n) {
    const uint8_t *b = bytes;
    if (n >= 8 && memcmp(bytes, ipc_file_mark, 8) == 0) return true;
    /* A continuation mark, the length of a schema's message, and an offset into it. */
    return n >= 12 && bytes_get_u32(b) == UINT32_MAX && bytes_get_u32(b + 4) > 0 &&
           bytes_get_u32(b + 4) <= IPC_METADATA_MAX && bytes_get_u32(b + 4) % 8 == 0 &&
           bytes_get_u32(b + 8) < bytes_get_u32(b + 4);
}

/* After the mark of its end a stream has nothing. */
static int check_end(struct ipc_reader *self, struct dpmf_error *error) {
    uint8_t byte;
    if (!self->stream) return 0;
    if (self->is_file) return ipc_footer_check(self, error);
    int code = ipc_read_some(self, &byte, 1, error);
    if (code <= 0) return code;
    ipc_refuse(self, "there is something after the end of the Arrow stream", error);
    error_hint(error, "several streams in one file are not one table: import each on its own");
    return DPMF_ERR_INPUT_ARROW;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The next message: of a file, where its footer says; else the one that follows. */
static int next_message(struct ipc_reader *self, struct flat *flat, struct dpmf_error *error) {
    if (self->stream) return ipc_read_message(self, flat, error);
    if (self->next_block == self->n_blocks) return 0;
    const struct ipc_block *block = &self->blocks[self->next_block++];
    self->at = (uint64_t)block->offset;
    int code = ipc_read_message(self, flat, error);
    if (code == 0) return ipc_refuse(self, "the footer does not point to a message", error);
    if (code < 0) return code;
    const int64_t body = flat_get_i64(flat, flat_follow(flat, 0), 3, 0);
    if (body != block->body || self->at != (uint64_t)(block->offset + block->metadata))
        return ipc_refuse(self, "the footer and a message differ about its length", error);
    return 1;
}

static int next_batch(struct arrow_table *table, struct arrow_batch **out,
                      struct dpmf_error *error) {
    struct ipc_reader *self = (struct ipc_reader *)table;
    struct flat flat;
    int code = 0;
    if (self->ended) return 0;
    struct ipc_body *body = memory_alloc(1, sizeof *body);
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
            code = ipc_refuse(self, "a message is damaged", error);
        else if (kind == MESSAGE_BATCH)
            code = ipc_batch_take(self, &flat, header, body, out, error);
        else if (kind == MESSAGE_DICTIONARY)
            code = ipc_dictionary_take(self, &flat, header, body, error);
        else
            code = ipc_refuse(self, "a message is neither a batch nor a dictionary", error);
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
    for (int i = 0; i < ARROW_CHOSEN; i++) ipc_dictionary_release(self->dictionary[i]);
    input_stream_close(self->stream);
    if (self->fd >= 0) close(self->fd);
    free(self->blocks);
    free(self->columns);
    free(self->metadata);
    arrow_table_end(table);
    free(self);
}

int ipc_schema_take(struct ipc_reader *self, struct flat *flat, size_t schema,
                    struct dpmf_error *error) {
    int code = 0;
    if (self->version < VERSION_MIN)
        return ipc_refuse(self, "it was written by Arrow before 0.8", error);
    const char *wrong = ipc_schema_read(flat, schema, self->version, &self->table, &self->columns,
                                        &self->all, &code, error);
    return code < 0 ? code : wrong ? ipc_refuse(self, wrong, error) : 0;
}

/* Begins a stream; a file that is read as one has a mark before it. */
static int begin_stream(struct ipc_reader *self, struct dpmf_error *error) {
    struct flat flat;
    int code = ipc_read(self, self->head, sizeof self->head, error);
    if (code < 0) return code;
    self->is_file = memcmp(self->head, ipc_file_mark, sizeof self->head) == 0;
    self->n_head = self->is_file ? 0 : sizeof self->head;
    code = ipc_read_message(self, &flat, error);
    if (code < 0 && self->is_file)
        error_hint(error, "files of some writers can only be read from a disk, not from a pipe");
    if (code <= 0) return code < 0 ? code : ipc_refuse_cut(self, error);
    const size_t message = flat_follow(&flat, 0), header = flat_get_table(&flat, message, 2);
    self->version = flat_get_i16(&flat, message, 0, 0);
    if (flat_get_u8(&flat, message, 1, 0) != MESSAGE_SCHEMA || header == 0 ||
        flat_get_i64(&flat, message, 3, 0) != 0)
        return ipc_refuse(self, "it does not begin with a schema", error);
    return ipc_schema_take(self, &flat, header, error);
}

/* Whether the stream is an uncompressed file that can be read in any order: then its descriptor. */
static int open_file(const char *name, const void *head, size_t n_head, struct stat *status) {
    if (n_head < sizeof ipc_file_mark || memcmp(head, ipc_file_mark, sizeof ipc_file_mark) != 0)
        return -1;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

int ipc_reader_open(struct input_stream *stream, uint64_t limit, struct arrow_table **table,
                    struct dpmf_error *error) {
    static const struct arrow_table_ops ops = {
        .next = next_batch, .bytes_read = bytes_read, .close = close_reader};
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
    int code = self->stream ? begin_stream(self, error) : ipc_footer_read(self, error);
    if (code < 0)
        close_reader(&self->table);
    else
        *table = &self->table;
    return code;
}
