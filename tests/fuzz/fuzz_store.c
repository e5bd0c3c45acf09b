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

#include "fuzz_seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    if (data[0] & 1) fuzz_seal_store(bytes, size - 1);

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
