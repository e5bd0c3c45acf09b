/*
 * The footer of a file of Arrow's IPC format. Out of a pipe the file is read as the stream that it
 * holds, and the footer compared with what was read; where the file can be read in any order, the
 * footer says where the messages are, and they must be all that is there. Fed by ipc_reader.c.
 */
#include <stdlib.h>
#include <string.h>

#include "arrow/ipc_state.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    SCHEMA_MAX = 16 << 20, /* a schema's message that does not say how long it is */
    PADDING = 64,          /* messages are padded to a multiple of 8, 32 or 64 bytes */
};

int ipc_footer_check(struct ipc_reader *self, struct dpmf_error *error) {
    size_t n = 0, got = 0, listed = 0;
    int code = 0;
    do {
        if (!memory_reserve(&self->metadata, &self->metadata_capacity, n + IPC_READ_BYTES, 1))
            return error_no_memory(error);
        code = input_stream_read(self->stream, self->metadata + n, IPC_READ_BYTES, &got, error);
        if (code < 0) return code;
        n += got;
    } while (got > 0 && n <= IPC_METADATA_MAX);
    if (n < 10 || n > IPC_METADATA_MAX || memcmp(self->metadata + n - 6, ipc_file_mark, 6) != 0)
        return ipc_refuse_cut(self, error);
    const uint32_t length = bytes_get_u32(self->metadata + n - 10);
    if (length > n - 10) return ipc_refuse(self, "the footer is damaged", error);
    if (n - 10 - length >= PADDING)
        return ipc_refuse(self, "there is something between the last batch and the footer", error);
    struct flat flat = {.bytes = self->metadata + n - 10 - length, .n = length};
    flat_get_vector(&flat, flat_follow(&flat, 0), 3, 24, &listed);
    if (flat.broken || listed != self->n_batches)
        return ipc_refuse(self, "the footer lists the wrong number of batches", error);
    return 0;
}

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
            return ipc_refuse_cut(self, error);
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
        if (*end > SCHEMA_MAX) return ipc_refuse(self, "the schema is too long", error);
        code = ipc_read(self, head, sizeof head, error);
        if (code < 0 || bytes_get_u32(head) != UINT32_MAX) continue;
        if (*end > 8) return ipc_refuse(self, "the footer leaves out a part of the file", error);
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
    return wrong ? ipc_refuse(self, wrong, error) : 0;
}

int ipc_footer_read(struct ipc_reader *self, struct dpmf_error *error) {
    uint8_t end[10];
    if (self->file_bytes < 8 + sizeof end) return ipc_refuse_cut(self, error);
    self->at = self->file_bytes - sizeof end;
    int code = ipc_read(self, end, sizeof end, error);
    if (code < 0) return code;
    const uint32_t n = bytes_get_u32(end);
    if (memcmp(end + 4, ipc_file_mark, 6) != 0) return ipc_refuse_cut(self, error);
    if (n > IPC_METADATA_MAX || n > self->file_bytes - 8 - sizeof end)
        return ipc_refuse(self, "the footer is damaged", error);
    if (!memory_reserve(&self->metadata, &self->metadata_capacity, n > 0 ? n : 1, 1))
        return error_no_memory(error);
    self->at = self->file_bytes - sizeof end - n;
    if ((code = ipc_read(self, self->metadata, n, error)) < 0) return code;
    struct flat flat = {.bytes = self->metadata, .n = n};
    const size_t footer = flat_follow(&flat, 0), schema = flat_get_table(&flat, footer, 1);
    size_t n_dictionaries, n_batches;
    flat_get_vector(&flat, footer, 2, 24, &n_dictionaries);
    flat_get_vector(&flat, footer, 3, 24, &n_batches);
    if (flat.broken || schema == 0) return ipc_refuse(self, "the footer is damaged", error);
    self->version = flat_get_i16(&flat, footer, 0, 0);
    self->blocks = memory_alloc(n_dictionaries + n_batches + 1, sizeof self->blocks[0]);
    if (!self->blocks) return error_no_memory(error);
    code = add_blocks(self, &flat, 2, error);
    if (code == 0) code = add_blocks(self, &flat, 3, error);
    if (code == 0) code = ipc_schema_take(self, &flat, schema, error);
    return code == 0 ? check_blocks(self, self->file_bytes - sizeof end - n, error) : code;
}
