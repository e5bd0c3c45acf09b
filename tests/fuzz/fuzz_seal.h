/*
 * What fuzzers put right in files that they have changed, since no mutation finds a checksum: the
 * checksums of stores, checkpoints and ledgers, and the digests of releases.
 */
#ifndef DPMF_TESTS_FUZZ_SEAL_H
#define DPMF_TESTS_FUZZ_SEAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "ledger/ledger_book.h"
#include "model/checkpoint.h"
#include "model/model_checksum.h"
#include "model/release_parts.h"
#include "store/store_format.h"

/* ---- stores ---------------------------------------------------------------------------------- */

static inline void fuzz_seal_piece(uint8_t *bytes, size_t from, size_t size, size_t n) {
    if (from > n || size > n - from || n - from - size < STORE_CHECKSUM) return;
    bytes_put_u64(bytes + from + size, checksum64(bytes + from, size));
}

/* Puts right checksums wherever the offsets in the file say that there should be one. */
static inline void fuzz_seal_store(uint8_t *bytes, size_t n) {
    if (n < STORE_HEADER_BYTES + STORE_END_BYTES) return;
    uint8_t *end = bytes + n - STORE_END_BYTES;
    bytes_put_u64(end + 88, n);
    fuzz_seal_piece(bytes, 0, 56, n);
    uint64_t items = bytes_get_u64(end + 40), items_length = bytes_get_u64(end + 48);
    uint64_t index = bytes_get_u64(end + 56), index_length = bytes_get_u64(end + 64);
    if (items_length >= STORE_CHECKSUM)
        fuzz_seal_piece(bytes, items, items_length - STORE_CHECKSUM, n);
    for (uint64_t at = index; at <= n && n - at >= STORE_INDEX_ENTRY && at < index + index_length;
         at += STORE_INDEX_ENTRY) {
        uint64_t offset = bytes_get_u64(bytes + at), length = bytes_get_u64(bytes + at + 8);
        if (length >= STORE_CHECKSUM) fuzz_seal_piece(bytes, offset, length - STORE_CHECKSUM, n);
    }
    if (index_length >= STORE_CHECKSUM)
        fuzz_seal_piece(bytes, index, index_length - STORE_CHECKSUM, n);
    fuzz_seal_piece(bytes, n - STORE_END_BYTES, 96, n);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* The checksum of what the bytes are, where they have a place for one: mutations shall get past it.
 */
static inline bool fuzz_seal_checkpoint(uint8_t *bytes, size_t n) {
    struct safetensors *file;
    uint64_t sum;
    if (safetensors_open_memory(bytes, n, "fuzz", &file, NULL) < 0) return false;
    size_t n_header = (size_t)safetensors_header_bytes(file);
    if (model_checksum_sum_file(file, &sum, NULL) < 0) abort();
    safetensors_close(file);
    return model_checksum_seal(bytes, n_header, sum);
}

/* Puts the digest of what is there where it belongs, if all of it is there. */
static inline void fuzz_seal_release(uint8_t *bytes, size_t n) {
    static const char key[] = "\"dpmf.digest\":\"";
    struct safetensors *file;
    uint8_t *at = memmem(bytes, n, key, sizeof key - 1);
    if (!at || (size_t)(bytes + n - at) < sizeof key - 1 + 16) return;
    if (safetensors_open_memory(bytes, n, "fuzz", &file, NULL) != 0) return;
    const struct safetensors_entry *entries[RELEASE_TENSORS] = {NULL};
    const char *values[RELEASE_METADATA];
    bool has_all = true;
    for (size_t i = 0; i < RELEASE_METADATA; i++)
        has_all &= (values[i] = safetensors_metadata(file, release_metadata_keys[i])) != NULL;
    for (size_t i = 0; i < RELEASE_TENSORS; i++) {
        entries[i] = safetensors_entry_find(file, release_tensor_names[i]);
        has_all &= entries[i] != NULL || i == RELEASE_COUNTS;
    }
    has_all = has_all && entries[RELEASE_FACTORS]->n_dims == 2 &&
              entries[RELEASE_BIASES]->n_dims == 1 && entries[RELEASE_ID_OFFSETS]->n_dims == 1 &&
              entries[RELEASE_ID_OFFSETS]->type == TENSOR_I64 &&
              entries[RELEASE_ID_BYTES]->type == TENSOR_U8 &&
              entries[RELEASE_FACTORS]->type == TENSOR_F32 &&
              entries[RELEASE_BIASES]->type == TENSOR_F32 &&
              entries[RELEASE_ID_OFFSETS]->dims[0] >= 1 &&
              entries[RELEASE_FACTORS]->dims[1] <= CHECKPOINT_K_MAX &&
              entries[RELEASE_BIASES]->dims[0] == entries[RELEASE_FACTORS]->dims[0] &&
              entries[RELEASE_ID_OFFSETS]->dims[0] - 1 == entries[RELEASE_FACTORS]->dims[0];
    if (has_all && entries[RELEASE_COUNTS])
        has_all = entries[RELEASE_COUNTS]->type == TENSOR_F32 &&
                  entries[RELEASE_COUNTS]->n_dims == 1 &&
                  entries[RELEASE_COUNTS]->dims[0] == entries[RELEASE_FACTORS]->dims[0];
    uint8_t *data[RELEASE_TENSORS] = {NULL};
    for (size_t i = 0; i < RELEASE_TENSORS && has_all; i++) {
        if (!entries[i]) continue;
        data[i] = malloc((size_t)entries[i]->bytes + 1);
        if (!data[i]) abort();
        if (safetensors_read(file, entries[i], 0, data[i], (size_t)entries[i]->bytes, NULL) != 0)
            abort();
    }
    if (has_all) {
        struct release release = {.statement = NULL};
        char text[RELEASE_DIGEST_TEXT];
        const uint64_t n_items = entries[RELEASE_FACTORS]->dims[0];
        release.factors.k = (uint32_t)entries[RELEASE_FACTORS]->dims[1];
        release.factors.items = (struct factor_matrix){.n = n_items,
                                                       .stride = release.factors.k,
                                                       .rows = (float *)data[RELEASE_FACTORS],
                                                       .biases = (float *)data[RELEASE_BIASES]};
        release.factors.item_ids =
            (struct factor_ids){.n = n_items,
                                .bytes = (char *)data[RELEASE_ID_BYTES],
                                .start = (uint64_t *)data[RELEASE_ID_OFFSETS],
                                .counts = (float *)data[RELEASE_COUNTS]};
        if (release.factors.item_ids.start[n_items] == entries[RELEASE_ID_BYTES]->bytes &&
            release_digest_make(&release, values, text, NULL) == 0)
            memcpy(at + sizeof key - 1, text, 16);
    }
    for (size_t i = 0; i < RELEASE_TENSORS; i++) free(data[i]);
    safetensors_close(file);
}

/* ---- ledgers --------------------------------------------------------------------------------- */

/* Every line up to its last brace, sealed. */
static inline size_t fuzz_seal_ledger(const char *text, size_t n, char *out) {
    static const char mark[] = ",\"check\":\"";
    size_t m = 0;
    uint64_t seal = 0;
    for (const char *at = text, *end = text + n; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        size_t kept = length > 0 && at[length - 1] == '}' ? length - 1 : length;
        const char *sealed = memmem(at, kept, mark, sizeof mark - 1);
        if (sealed) kept = (size_t)(sealed - at);
        seal = ledger_book_seal(at, kept, seal);
        memcpy(out + m, at, kept);
        m += kept;
        m += (size_t)sprintf(out + m, "%s%016llx\"}\n", mark, (unsigned long long)seal);
        at += length + 1;
    }
    return m;
}

#endif
