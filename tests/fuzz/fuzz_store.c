/*
 * Property: no bytes, however made, make the store reader crash, hang or read out of bounds; what
 * it accepts obeys the contract of struct store_block. So that the fuzzer gets past the checksums,
 * they are made right before reading: the first byte of the input chooses whether.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checksum.h"
#include "store/store_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(uint8_t *bytes, size_t from, size_t size, size_t n) {
    if (from > n || size > n - from || n - from - size < STORE_CHECKSUM) return;
    bytes_put_u64(bytes + from + size, checksum64(bytes + from, size));
}

/* Puts right checksums wherever the offsets in the file say that there should be one. */
static void seal_all(uint8_t *bytes, size_t n) {
    if (n < STORE_HEADER_BYTES + STORE_END_BYTES) return;
    uint8_t *end = bytes + n - STORE_END_BYTES;
    bytes_put_u64(end + 88, n);
    seal(bytes, 0, 56, n);
    uint64_t items = bytes_get_u64(end + 40), items_length = bytes_get_u64(end + 48);
    uint64_t index = bytes_get_u64(end + 56), index_length = bytes_get_u64(end + 64);
    if (items_length >= STORE_CHECKSUM) seal(bytes, items, items_length - STORE_CHECKSUM, n);
    for (uint64_t at = index; at <= n && n - at >= STORE_INDEX_ENTRY && at < index + index_length;
         at += STORE_INDEX_ENTRY) {
        uint64_t offset = bytes_get_u64(bytes + at), length = bytes_get_u64(bytes + at + 8);
        if (length >= STORE_CHECKSUM) seal(bytes, offset, length - STORE_CHECKSUM, n);
    }
    if (index_length >= STORE_CHECKSUM) seal(bytes, index, index_length - STORE_CHECKSUM, n);
    seal(bytes, n - STORE_END_BYTES, 96, n);
}

static void check_block(const struct dpmf_store *store, const struct store_block *block) {
    for (uint32_t u = 0; u < block->n_users; u++) {
        if (block->start[u] >= block->start[u + 1]) abort();
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            if (block->item[r] >= store_n_items(store)) abort();
            if (r > block->start[u] && block->item[r] <= block->item[r - 1]) abort();
            if (!isfinite(block->value[r])) abort();
        }
        uint64_t id_length = block->id_start[u + 1] - block->id_start[u];
        if (id_length == 0 || id_length > STORE_ID_MAX) abort();
        volatile char last = block->id_bytes[block->id_start[u + 1] - 1];
        (void)last;
    }
}

static void read_store(struct dpmf_store *store) {
    struct store_raw raw = {0};
    struct store_space space = {0};
    for (uint64_t i = 0; i < store_n_items(store); i++) {
        struct store_item item = store_item_at(store, i);
        volatile char last = item.id[item.id_length - 1];
        (void)last;
    }
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        if (store_block_read(store, b, &raw, NULL) < 0) abort(); /* the index was checked */
        if (store_block_decode(store, &raw, STORE_WANT_VALUE | STORE_WANT_VALUE32 | STORE_WANT_TIME,
                               &space, &block, NULL) == 0)
            check_block(store, &block);
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    uint8_t *bytes = malloc(size);
    if (!bytes) return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1) seal_all(bytes, size - 1);

    int fd = memfd_create("store", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size - 1) != (ssize_t)(size - 1)) abort();
    free(bytes);
    struct dpmf_store *store;
    if (store_open_descriptor(fd, "fuzz", &store, NULL) == 0) {
        read_store(store);
        dpmf_store_close(store);
    }
    return 0;
}
