/*
 * Writes a store: header, blocks as they come, then items, index and end (docs/formats/dpr.md). The
 * file appears under its name when it is whole, or it has no name at all and is only read back by
 * this process. Fed by the importer, the generator and the splitter.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "files/output_file.h"
#include "store/store_format.h"
#include "store/store_reader.h"

struct store_writer {
    struct output_file *file; /* a store with a name; NULL for one without */
    int fd;                   /* descriptor of a store without a name; -1 for one with */
    bool has_times, lacks_times;
    uint64_t written;
    uint64_t n_users, n_ratings;
    double min, max;
    struct store_index_entry *index;
    size_t n_blocks, index_capacity;
};

static int put(struct store_writer *writer, const void *bytes, size_t n, struct dpmf_error *error) {
    assert(bytes || n == 0);
    int code = writer->file ? output_file_write(writer->file, bytes, n, error)
                            : file_write_all(writer->fd, bytes, n, "temporary store", error);
    if (code == 0) writer->written += n;
    return code;
}

static int put_header(struct store_writer *writer, const struct store_layout *layout,
                      struct dpmf_error *error) {
    const bool is_recorded = layout && layout->origin != STORE_ORIGIN_UNKNOWN;
    uint8_t header[STORE_HEADER_BYTES] = {0};
    memcpy(header, STORE_MAGIC, 8);
    bytes_put_u32(header + 8, STORE_VERSION);
    bytes_put_u32(header + 12, (writer->has_times ? STORE_FLAG_TIMES : 0) |
                                   (is_recorded ? STORE_FLAG_LAYOUT : 0) |
                                   (layout && layout->holds_events ? STORE_FLAG_EVENTS : 0) |
                                   (layout && store_layout_is_half(layout) ? STORE_FLAG_HALF : 0));
    if (layout) store_layout_write(layout, header + STORE_HEADER_LAYOUT);
    bytes_put_u64(header + 56, checksum64(header, 56));
    return put(writer, header, sizeof header, error);
}

int store_writer_open(struct store_writer **out, const char *path, bool has_times,
                      const struct store_layout *layout, struct dpmf_error *error) {
    *out = NULL;
    struct store_writer *writer = memory_alloc_zero(1, sizeof *writer);
    if (!writer) return error_no_memory(error);
    writer->fd = -1;
    writer->has_times = has_times;
    writer->lacks_times = layout && layout->lacks_times;

    int code = path ? output_file_open(&writer->file, path, OUTPUT_PRIVATE, error)
                    : output_file_nameless(NULL, &writer->fd, error);
    if (code == 0) code = put_header(writer, layout, error);
    if (code < 0) {
        store_writer_abandon(writer);
        return code;
    }
    *out = writer;
    return 0;
}

int store_writer_append(struct store_writer *writer, const struct store_encoded *block,
                        struct dpmf_error *error) {
    assert(block);
    /* The first user's number is the writer's to check: it is under the block's checksum. */
    assert(bytes_get_u64(block->bytes.bytes + 16) == writer->n_users);
    if (block->n_users > STORE_MAX_USERS - writer->n_users)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "more than %llu users",
                         (unsigned long long)STORE_MAX_USERS);
    if (!memory_reserve(&writer->index, &writer->index_capacity, writer->n_blocks + 1,
                        sizeof writer->index[0]))
        return error_no_memory(error);
    writer->index[writer->n_blocks] = (struct store_index_entry){
        .offset = writer->written,
        .length = block->bytes.n,
        .first_user = writer->n_users,
        .n_users = block->n_users,
        .n_ratings = block->n_ratings,
    };
    int code = put(writer, block->bytes.bytes, block->bytes.n, error);
    if (code < 0) return code;

    if (writer->n_blocks == 0 || block->min < writer->min) writer->min = block->min;
    if (writer->n_blocks == 0 || block->max > writer->max) writer->max = block->max;
    writer->n_blocks++;
    writer->n_users += block->n_users;
    writer->n_ratings += block->n_ratings;
    return 0;
}

static int put_items(struct store_writer *writer, const struct store_item *items, size_t n_items,
                     struct dpmf_error *error) {
    assert(items || n_items == 0);
    struct byte_buffer buffer = {0};
    size_t bound = STORE_ITEMS_HEADER + STORE_CHECKSUM;
    for (size_t i = 0; i < n_items; i++) bound += 2 * VARINT_MAX + items[i].id_length;
    uint8_t *start = byte_buffer_room(&buffer, bound);
    if (!start) return error_no_memory(error);

    uint8_t *at = start + STORE_ITEMS_HEADER;
    for (size_t i = 0; i < n_items; i++) {
        assert(items[i].id_length > 0 && items[i].id_length <= STORE_ID_MAX);
        at = varint_put(at, items[i].id_length);
        at = varint_put(at, items[i].n_ratings);
    }
    for (size_t i = 0; i < n_items; i++) {
        memcpy(at, items[i].id, items[i].id_length);
        at += items[i].id_length;
    }
    memcpy(start, STORE_MAGIC_ITEMS, 4);
    bytes_put_u32(start + 4, 0);
    bytes_put_u64(start + 8, n_items);
    bytes_put_u64(start + 16, (uint64_t)(at - start) - STORE_ITEMS_HEADER);
    bytes_put_u64(at, checksum64(start, (size_t)(at - start)));
    int code = put(writer, start, (size_t)(at - start) + STORE_CHECKSUM, error);
    free(buffer.bytes);
    return code;
}

static int put_index(struct store_writer *writer, struct dpmf_error *error) {
    struct byte_buffer buffer = {0};
    size_t size = writer->n_blocks * STORE_INDEX_ENTRY;
    uint8_t *start = byte_buffer_room(&buffer, size + STORE_CHECKSUM);
    if (!start) return error_no_memory(error);
    uint8_t *at = start;
    for (size_t b = 0; b < writer->n_blocks; b++, at += STORE_INDEX_ENTRY) {
        bytes_put_u64(at, writer->index[b].offset);
        bytes_put_u64(at + 8, writer->index[b].length);
        bytes_put_u64(at + 16, writer->index[b].first_user);
        bytes_put_u64(at + 24, writer->index[b].n_users);
        bytes_put_u64(at + 32, writer->index[b].n_ratings);
    }
    bytes_put_u64(at, checksum64(start, size));
    int code = put(writer, start, size + STORE_CHECKSUM, error);
    free(buffer.bytes);
    return code;
}

void store_writer_range(const struct store_writer *writer, double *min, double *max) {
    assert(writer && min && max);
    *min = writer->min;
    *max = writer->max;
}

int store_writer_finish(struct store_writer *writer, const struct store_item *items, size_t n_items,
                        struct dpmf_error *error) {
    uint64_t items_offset = writer->written;
    int code = put_items(writer, items, n_items, error);
    if (code < 0) return code;
    uint64_t index_offset = writer->written;
    code = put_index(writer, error);
    if (code < 0) return code;

    uint8_t end[STORE_END_BYTES];
    memcpy(end, STORE_MAGIC_END, 8);
    const uint64_t fields[] = {
        writer->n_users,
        n_items,
        writer->n_ratings,
        writer->n_blocks,
        items_offset,
        index_offset - items_offset,
        index_offset,
        writer->written - index_offset,
        bytes_of_double(writer->min),
        bytes_of_double(writer->max),
        writer->written + STORE_END_BYTES,
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        bytes_put_u64(end + 8 + 8 * i, fields[i]);
    bytes_put_u64(end + 96, checksum64(end, 96));
    return put(writer, end, sizeof end, error);
}

int store_writer_prepare(struct store_writer *writer, struct dpmf_error *error) {
    return writer->file ? output_file_prepare(writer->file, error) : 0;
}

int store_writer_clear(struct store_writer *writer, struct dpmf_error *error) {
    assert(writer->file);
    return output_file_clear(writer->file, error);
}

int store_writer_commit(struct store_writer *writer, uint64_t *file_bytes,
                        struct dpmf_error *error) {
    assert(writer->file);
    struct output_file *file = writer->file;
    writer->file = NULL;
    if (file_bytes) *file_bytes = writer->written;
    int code = output_file_commit(file, error);
    store_writer_abandon(writer);
    return code;
}

int store_writer_commit_open(struct store_writer *writer, const char *name,
                             struct dpmf_store **store, struct dpmf_error *error) {
    assert(store);
    assert(!writer->file);
    const int fd = writer->fd;
    const bool lacks_times = writer->lacks_times;
    writer->fd = -1;
    store_writer_abandon(writer);
    int code = store_open_descriptor(fd, name, store, error);
    if (code == 0) (*store)->layout.lacks_times = lacks_times; /* the file has no place for it */
    return code;
}

void store_writer_abandon(struct store_writer *writer) {
    if (!writer) return;
    output_file_abandon(writer->file);
    if (writer->fd >= 0) close(writer->fd);
    free(writer->index);
    free(writer);
}
