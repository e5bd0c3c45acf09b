/*
 * Property: no bytes, however made, make the reader of safetensors or of checkpoints crash, read
 * out of bounds or take more memory than the file has data for; what they accept obeys their
 * contracts, and is the same from a file and from memory. The first byte of the input chooses
 * whether the rest is the file itself, or two bytes of the header's length, the header, and the
 * data, so that the fuzzer need not learn what lengths are. A checksum that does not fit is put
 * right for a second try.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fuzz_seal.h"
#include "model/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(const struct safetensors *file) {
    uint64_t end = 0;
    const struct safetensors_entry *entry;
    for (size_t i = 0; (entry = safetensors_entry_at(file, i)) != NULL; i++) {
        char last;
        if (entry->offset != end || safetensors_entry_find(file, entry->name) != entry) abort();
        end += entry->bytes;
        if (entry->bytes > 0 && safetensors_read(file, entry, entry->bytes - 1, &last, 1, NULL) < 0)
            abort();
    }
    if (end > safetensors_file_bytes(file)) abort();
}

static size_t stride_of(size_t k) { return (k + 15) / 16 * 16; }

static void check_side(const struct factor_matrix *matrix, const struct factor_ids *ids,
                       uint32_t k) {
    if (matrix->n != ids->n) abort();
    for (uint64_t i = 0; i < matrix->n; i++) {
        size_t length = (size_t)(ids->start[i + 1] - ids->start[i]);
        if (length == 0 || length > CHECKPOINT_ID_MAX) abort();
        if (factor_ids_find(ids, ids->bytes + ids->start[i], length) != i) abort();
        for (uint32_t j = 0; j < k; j++)
            if (!isfinite(matrix->rows[i * matrix->stride + j])) abort();
        if (!isfinite(matrix->biases[i])) abort();
    }
}

static void check_checkpoint(const struct safetensors *file) {
    struct factors factors;
    struct checkpoint_state state;
    if (checkpoint_read_from(file, stride_of, 1, &factors, &state, NULL) < 0) return;
    if (!isfinite(factors.offset) || !(factors.min <= factors.max)) abort();
    check_side(&factors.users, &factors.user_ids, factors.k);
    check_side(&factors.items, &factors.item_ids, factors.k);
    factors_free(&factors);
}

static int file_of(const uint8_t *bytes, size_t n) {
    int fd = memfd_create("model", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n) abort();
    return fd;
}

/* A copy of just these bytes, so that the sanitizer sees any step beyond them. */
static void try_bytes(const uint8_t *bytes, size_t n) {
    struct safetensors *from_file, *from_memory;
    int code = safetensors_open_descriptor(file_of(bytes, n), "fuzz", &from_file, NULL);
    if (safetensors_open_memory(bytes, n, "fuzz", &from_memory, NULL) != code) abort();
    if (code < 0) return;
    check_file(from_file);
    check_file(from_memory);
    check_checkpoint(from_file);
    check_checkpoint(from_memory);
    safetensors_close(from_file);
    safetensors_close(from_memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    const bool is_built = data[0] & 1;
    size_t n = is_built ? size - 3 + 8 : size - 1;
    uint8_t *bytes = malloc(n);
    if (!bytes) abort();
    if (is_built) {
        bytes_put_u64(bytes, (uint64_t)data[1] | (uint64_t)data[2] << 8);
        memcpy(bytes + 8, data + 3, size - 3);
    } else {
        memcpy(bytes, data + 1, n);
    }
    try_bytes(bytes, n);
    if (fuzz_seal_checkpoint(bytes, n)) try_bytes(bytes, n);
    free(bytes);
    return 0;
}
