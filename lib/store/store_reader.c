/*
 * Opens a store: reads and checks everything but the blocks (header, end, items, index), so that
 * whatever is read later is already known to be inside the file. Blocks are checked as they are
 * decoded. Feeds the stream, store_visit and everything that asks what a store holds.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/error.h"
#include "files/file_identity.h"
#include "files/file_read.h"
#include "files/output_file.h"
#include "store/store_reader.h"

/* Where the parts are: the end record, checked against the file's size. */
enum { MAGIC_BYTES = 8 };

struct layout {
    uint64_t items_offset, items_length, index_offset, index_length;
};

static int damaged(const struct dpmf_store *store, int code, const char *what,
                   struct dpmf_error *error) {
    error_set(error, code, "%s", what);
    error_place(error, store->path, 0, 0);
    if (code == DPMF_ERR_STORE_VERSION)
        error_hint(error, "use the dpmf that wrote it, or import the ratings again");
    else if (code == DPMF_ERR_STORE_NOT_A_STORE)
        error_hint(error, "make a store of the ratings first, with {:import}");
    else
        error_hint(error, "copy the file again, or import the ratings again");
    return code;
}

bool store_has_magic(const void *bytes, size_t n) {
    return n >= MAGIC_BYTES && memcmp(bytes, STORE_MAGIC, MAGIC_BYTES) == 0;
}

int store_file_is(const char *path, bool *is_store, struct dpmf_error *error) {
    struct stat status;
    char magic[MAGIC_BYTES];
    *is_store = false;
    if (strcmp(path, "-") == 0) return 0;
    if (stat(path, &status) < 0) return error_system(error, errno, "open", path);
    if (!S_ISREG(status.st_mode) || status.st_size < MAGIC_BYTES) return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_system(error, errno, "open", path);
    int code = file_read_at(fd, magic, sizeof magic, 0, path, error);
    close(fd);
    *is_store = code == 0 && store_has_magic(magic, sizeof magic);
    return code;
}

/* A store of 0.1.0 has nothing there. @return whether what is there is sound */
static bool read_layout(struct dpmf_store *store, uint32_t flags, const uint8_t *bytes) {
    const bool sound = flags & STORE_FLAG_LAYOUT ? store_layout_read(bytes, &store->layout)
                                                 : store_layout_read_unknown(bytes, &store->layout);
    return sound && store_layout_is_half(&store->layout) == ((flags & STORE_FLAG_HALF) != 0);
}

static int read_header(struct dpmf_store *store, struct dpmf_error *error) {
    uint8_t header[STORE_HEADER_BYTES] = {0};
    size_t size = store->file_bytes < sizeof header ? (size_t)store->file_bytes : sizeof header;
    int code = file_read_at(store->fd, header, size, 0, store->path, error);
    if (code < 0) return code;
    if (!store_has_magic(header, size))
        return damaged(store, DPMF_ERR_STORE_NOT_A_STORE, "this is not a ratings store", error);
    if (size < sizeof header)
        return damaged(store, DPMF_ERR_STORE_TRUNCATED, "the store is cut short", error);
    /* The version comes before the checksum: a later version may place its checksum elsewhere. */
    uint32_t version = bytes_get_u32(header + 8);
    bool sound = checksum64(header, 56) == bytes_get_u64(header + 56);
    if (version != STORE_VERSION) {
        char text[96];
        snprintf(text, sizeof text, "the store is of version %u, this dpmf reads version %d%s",
                 version, STORE_VERSION, sound ? "" : ", unless its header is damaged");
        return damaged(store, DPMF_ERR_STORE_VERSION, text, error);
    }
    if (!sound) return damaged(store, DPMF_ERR_STORE_CORRUPT, "the header is damaged", error);
    uint32_t flags = bytes_get_u32(header + 12);
    if (flags &
        ~(uint32_t)(STORE_FLAG_TIMES | STORE_FLAG_LAYOUT | STORE_FLAG_EVENTS | STORE_FLAG_HALF))
        return damaged(store, DPMF_ERR_STORE_VERSION,
                       "the store uses features this dpmf does not know", error);
    if (!read_layout(store, flags, header + STORE_HEADER_LAYOUT))
        return damaged(store, DPMF_ERR_STORE_CORRUPT, "the header is damaged", error);
    store->has_times = flags & STORE_FLAG_TIMES;
    store->layout.holds_events = flags & STORE_FLAG_EVENTS;
    return 0;
}

static int read_end(struct dpmf_store *store, struct layout *layout, struct dpmf_error *error) {
    uint8_t end[STORE_END_BYTES];
    if (store->file_bytes < STORE_HEADER_BYTES + sizeof end)
        return damaged(store, DPMF_ERR_STORE_TRUNCATED, "the store is cut short", error);
    int code = file_read_at(store->fd, end, sizeof end, store->file_bytes - sizeof end, store->path,
                            error);
    if (code < 0) return code;
    if (memcmp(end, STORE_MAGIC_END, 8) != 0 || checksum64(end, 96) != bytes_get_u64(end + 96) ||
        bytes_get_u64(end + 88) != store->file_bytes)
        return damaged(store, DPMF_ERR_STORE_TRUNCATED,
                       "the store is cut short or its end is damaged", error);
    uint64_t *fields[] = {
        &store->n_users,       &store->n_items,       &store->n_ratings,     &store->n_blocks,
        &layout->items_offset, &layout->items_length, &layout->index_offset, &layout->index_length,
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = bytes_get_u64(end + 8 + 8 * i);
    store->min = bytes_to_double(bytes_get_u64(end + 72));
    store->max = bytes_to_double(bytes_get_u64(end + 80));

    /* The parts tile the file: each begins where the one before ends. */
    uint64_t body = store->file_bytes - STORE_END_BYTES;
    bool sound = layout->items_offset >= STORE_HEADER_BYTES && layout->items_offset <= body &&
                 layout->items_length <= body - layout->items_offset &&
                 layout->index_offset == layout->items_offset + layout->items_length &&
                 layout->index_length == body - layout->index_offset &&
                 layout->items_length >= STORE_ITEMS_HEADER + STORE_CHECKSUM &&
                 layout->index_length >= STORE_CHECKSUM &&
                 (layout->index_length - STORE_CHECKSUM) % STORE_INDEX_ENTRY == 0 &&
                 (layout->index_length - STORE_CHECKSUM) / STORE_INDEX_ENTRY == store->n_blocks &&
                 store->n_users <= STORE_MAX_USERS && store->n_items <= STORE_MAX_ITEMS &&
                 isfinite(store->min) && isfinite(store->max) && store->min <= store->max;
    if (!sound)
        return damaged(store, DPMF_ERR_STORE_CORRUPT, "the end record is inconsistent", error);
    return 0;
}

/* Reads a part that ends in its checksum. @return malloc'ed bytes in *part */
static int read_part(struct dpmf_store *store, uint64_t offset, uint64_t length, const char *what,
                     uint8_t **part, struct dpmf_error *error) {
    assert(part);
    if (length > SIZE_MAX) return error_no_memory(error);
    uint8_t *bytes = memory_alloc((size_t)length, 1);
    if (!bytes) return error_no_memory(error);
    int code = file_read_at(store->fd, bytes, (size_t)length, offset, store->path, error);
    size_t body = (size_t)length - STORE_CHECKSUM;
    if (code == 0 && checksum64(bytes, body) != bytes_get_u64(bytes + body))
        code = damaged(store, DPMF_ERR_STORE_CORRUPT, what, error);
    if (code < 0) {
        free(bytes);
        return code;
    }
    *part = bytes;
    return 0;
}

/* Blocks follow each other from the header to the items, users and ratings add up, and no block
 * claims more than its bytes could hold. */
static bool index_is_sound(const struct dpmf_store *store, const struct layout *layout) {
    uint64_t offset = STORE_HEADER_BYTES, users = 0, ratings = 0;
    for (uint64_t b = 0; b < store->n_blocks; b++) {
        const struct store_index_entry *entry = &store->index[b];
        if (entry->offset != offset || entry->first_user != users) return false;
        if (entry->length < STORE_BLOCK_HEADER + STORE_CHECKSUM ||
            entry->length > layout->items_offset - offset)
            return false;
        if (entry->n_users == 0 || entry->n_users > entry->length / STORE_MIN_USER ||
            entry->n_users > store->n_users - users)
            return false;
        if (entry->n_ratings < entry->n_users || entry->n_ratings > entry->length ||
            entry->n_ratings > store->n_ratings - ratings)
            return false;
        offset += entry->length;
        users += entry->n_users;
        ratings += entry->n_ratings;
    }
    return offset == layout->items_offset && users == store->n_users && ratings == store->n_ratings;
}

static int read_index(struct dpmf_store *store, const struct layout *layout,
                      struct dpmf_error *error) {
    uint8_t *part = NULL;
    int code = read_part(store, layout->index_offset, layout->index_length, "the index is damaged",
                         &part, error);
    if (code < 0) return code;
    store->index = memory_alloc((size_t)store->n_blocks, sizeof store->index[0]);
    if (!store->index) code = error_no_memory(error);
    for (uint64_t b = 0; code == 0 && b < store->n_blocks; b++) {
        const uint8_t *at = part + b * STORE_INDEX_ENTRY;
        store->index[b] = (struct store_index_entry){
            .offset = bytes_get_u64(at),
            .length = bytes_get_u64(at + 8),
            .first_user = bytes_get_u64(at + 16),
            .n_users = bytes_get_u64(at + 24),
            .n_ratings = bytes_get_u64(at + 32),
            .written_first = bytes_get_u64(at + 16),
            .written_block = b,
            .fd = store->fd,
            .path = store->path,
        };
    }
    free(part);
    if (code == 0 && !index_is_sound(store, layout))
        code = damaged(store, DPMF_ERR_STORE_CORRUPT, "the index is inconsistent", error);
    return code;
}

static bool items_are_sound(struct dpmf_store *store, const uint8_t *at, const uint8_t *end) {
    uint64_t bytes = 0, ratings = 0;
    for (uint64_t i = 0; i < store->n_items; i++) {
        uint64_t length, count;
        at = varint_get(at, end, &length);
        if (!at) return false;
        at = varint_get(at, end, &count);
        if (!at) return false;
        if (length == 0 || length > STORE_ID_MAX || count > store->n_ratings - ratings)
            return false;
        store->item_start[i] = bytes;
        store->item_ratings[i] = count;
        bytes += length;
        ratings += count;
    }
    store->item_start[store->n_items] = bytes;
    store->item_bytes = (const char *)at;
    return bytes == (uint64_t)(end - at) && ratings == store->n_ratings;
}

static int read_items(struct dpmf_store *store, const struct layout *layout,
                      struct dpmf_error *error) {
    int code = read_part(store, layout->items_offset, layout->items_length,
                         "the dictionary of items is damaged", &store->items, error);
    if (code < 0) return code;
    uint64_t payload = layout->items_length - STORE_ITEMS_HEADER - STORE_CHECKSUM;
    if (memcmp(store->items, STORE_MAGIC_ITEMS, 4) != 0 || bytes_get_u32(store->items + 4) != 0 ||
        bytes_get_u64(store->items + 8) != store->n_items ||
        bytes_get_u64(store->items + 16) != payload || store->n_items > payload / 3)
        return damaged(store, DPMF_ERR_STORE_CORRUPT, "the dictionary of items is inconsistent",
                       error);
    store->item_start = memory_alloc((size_t)store->n_items + 1, sizeof store->item_start[0]);
    store->item_ratings = memory_alloc((size_t)store->n_items, sizeof store->item_ratings[0]);
    if (!store->item_start || !store->item_ratings) return error_no_memory(error);
    const uint8_t *at = store->items + STORE_ITEMS_HEADER;
    if (!items_are_sound(store, at, at + payload))
        return damaged(store, DPMF_ERR_STORE_CORRUPT, "the dictionary of items is inconsistent",
                       error);
    return 0;
}

int store_open_descriptor(int fd, const char *path, struct dpmf_store **out,
                          struct dpmf_error *error) {
    assert(fd >= 0 && out);
    *out = NULL;
    int code = 0;
    struct stat status;
    struct layout layout;
    struct dpmf_store *store = memory_alloc_zero(1, sizeof *store);
    if (!store) {
        close(fd);
        return error_no_memory(error);
    }
    store->fd = fd;
    store->path = strdup(path);
    if (!store->path) {
        code = error_no_memory(error);
        goto out;
    }
    if (fstat(fd, &status) < 0) {
        code = error_system(error, errno, "read", path);
        goto out;
    }
    if (S_ISDIR(status.st_mode)) {
        code = error_system(error, EISDIR, "read", path);
        goto out;
    }
    store->file_bytes = (uint64_t)status.st_size;
    store->is_temporary = status.st_nlink == 0; /* it never had a name */
    if ((code = read_header(store, error)) < 0) goto out;
    if ((code = read_end(store, &layout, error)) < 0) goto out;
    if ((code = read_index(store, &layout, error)) < 0) goto out;
    if ((code = read_items(store, &layout, error)) < 0) goto out;
    *out = store;
    store = NULL;
out:
    dpmf_store_close(store);
    return code;
}

int store_open_file(const char *path, struct dpmf_store **store, struct dpmf_error *error) {
    *store = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_system(error, errno, "open", path);
    return store_open_descriptor(fd, path, store, error);
}

void dpmf_store_close(struct dpmf_store *store) {
    if (!store) return;
    if (store->fd >= 0) close(store->fd);
    free(store->path);
    free(store->index);
    free(store->items);
    if (!store->is_share && !store->parts) free(store->item_start);
    if (!store->is_share) free(store->item_ratings);
    for (size_t i = 0; i < store->n_parts; i++) dpmf_store_close(store->parts[i]);
    free(store->parts);
    free(store);
}

int store_block_read(const struct dpmf_store *store, uint64_t b, struct store_raw *raw,
                     struct dpmf_error *error) {
    assert(b < store->n_blocks);
    const struct store_index_entry *entry = &store->index[b];
    raw->block = b;
    raw->buffer.n = 0;
    uint8_t *room = byte_buffer_room(&raw->buffer, (size_t)entry->length);
    if (!room) return error_no_memory(error);
    int code =
        file_read_at(entry->fd, room, (size_t)entry->length, entry->offset, entry->path, error);
    if (code == 0) raw->buffer.n = (size_t)entry->length;
    return code;
}

/* ---- what it holds --------------------------------------------------------------------------- */

uint64_t store_n_users(const struct dpmf_store *store) { return store->n_users; }
uint64_t store_n_items(const struct dpmf_store *store) { return store->n_items; }
uint64_t store_n_ratings(const struct dpmf_store *store) { return store->n_ratings; }
uint64_t store_n_blocks(const struct dpmf_store *store) { return store->n_blocks; }
bool store_has_times(const struct dpmf_store *store) { return store->has_times; }
const struct store_layout *store_layout_of(const struct dpmf_store *store) {
    return &store->layout;
}
int dpmf_store_check_apart(const struct dpmf_store *training, const struct dpmf_store *test,
                           struct dpmf_error *error) {
    int code = arguments_check(error, "training test", training, test);
    if (code < 0) return code;
    const enum store_kin kin = store_layout_kin(&training->layout, &test->layout);
    if (kin == STORE_KIN_UNKNOWN || kin == STORE_KIN_APART) return 0;
    code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                     kin == STORE_KIN_WITHIN
                         ? "these ratings and %s come from one split, and share ratings"
                         : "these ratings and %s come from different splits, and may share ratings",
                     training->path);
    error_hint(error, "give both halves of one {:split}; if one is lost, split again");
    error_place(error, test->path, 0, 0);
    return code;
}
bool store_holds_events(const struct dpmf_store *store) { return store->layout.holds_events; }
double store_least_event(const struct dpmf_store *store, double like) {
    return store->layout.holds_events ? -INFINITY : like;
}
void store_set_losses(struct dpmf_store *store, const struct dpmf_import_report *report) {
    assert(store && report);
    store->n_bad = report->skipped;
    store->n_not_liked = report->not_liked;
    store->first_line_contradicts = report->first_line_contradicts;
    store->n_other_headers = report->other_headers;
}
void store_set_made_from(struct dpmf_store *store, const struct file_identity *input) {
    assert(store && input);
    store->made_from = *input;
}
static bool is_file_of(const struct dpmf_store *store, const struct file_identity *file) {
    struct stat status;
    if (store->fd < 0 || fstat(store->fd, &status) < 0) return false;
    const struct file_identity own = {
        .is_known = true, .device = (uint64_t)status.st_dev, .inode = (uint64_t)status.st_ino};
    return file_identity_equal(&own, file);
}

bool store_is_read_from(const struct dpmf_store *store, const char *path) {
    assert(store && path);
    const struct file_identity file = file_identity_of(path);
    if (!file.is_known) return false;
    for (size_t i = 0; i < store->n_parts; i++)
        if (is_file_of(store->parts[i], &file)) return true;
    return is_file_of(store, &file) || file_identity_equal(&store->made_from, &file);
}

const struct file_identity *store_made_from(const struct dpmf_store *store) {
    return &store->made_from;
}
const char *store_path(const struct dpmf_store *store) { return store->path; }

const struct store_index_entry *store_index_at(const struct dpmf_store *store, uint64_t block) {
    assert(block < store->n_blocks);
    return &store->index[block];
}

struct store_item store_item_at(const struct dpmf_store *store, uint64_t item) {
    assert(item < store->n_items);
    return (struct store_item){
        .id = store->item_bytes + store->item_start[item],
        .id_length = (uint32_t)(store->item_start[item + 1] - store->item_start[item]),
        .n_ratings = store->item_ratings[item],
    };
}

uint64_t store_largest_block(const struct dpmf_store *store) {
    uint64_t most = 0;
    for (uint64_t b = 0; b < store->n_blocks; b++)
        if (store->index[b].n_ratings > most) most = store->index[b].n_ratings;
    return most;
}

void store_block_size(const struct dpmf_store *store, uint64_t b, uint32_t *n_users,
                      uint64_t *n_ratings) {
    assert(b < store->n_blocks);
    const struct store_index_entry *entry = store_index_at(store, b);
    *n_users = (uint32_t)entry->n_users;
    *n_ratings = entry->n_ratings;
}

void dpmf_store_info(const struct dpmf_store *store, struct dpmf_store_info *info) {
    if (!info) return;
    if (!store) {
        *info = (struct dpmf_store_info){0};
        return;
    }
    *info = (struct dpmf_store_info){
        .users = store->n_users,
        .items = store->n_items,
        .ratings = store->n_ratings,
        .blocks = store->n_blocks,
        .min = store->min,
        .max = store->max,
        .has_times = store->has_times,
        .holds_events = store->layout.holds_events,
        .is_temporary = store->is_temporary,
        .file_bytes = store->file_bytes,
        .layout = store_layout_shown(&store->layout),
        .bad_records = store->n_bad,
        .not_liked = store->n_not_liked,
        .first_line_contradicts = store->first_line_contradicts,
        .other_headers = store->n_other_headers,
    };
}

const char *dpmf_store_item(const struct dpmf_store *store, uint64_t i, size_t *length,
                            uint64_t *n_ratings) {
    struct store_item item = {0};
    if (store && i < store->n_items) item = store_item_at(store, i);
    if (length) *length = item.id_length;
    if (n_ratings) *n_ratings = item.n_ratings;
    return item.id;
}

/* Up to 64 times their range away from 0, floats still tell ratings apart to a few millionths of
 * that range. */
double store_base(const struct dpmf_store *store) {
    const double half =
        store->max / 2 - store->min / 2; /* half of the range, which itself may overflow */
    const double most = fmax(fabs(store->min), fabs(store->max));
    return most / 128 > half ? store->min + half : 0;
}
