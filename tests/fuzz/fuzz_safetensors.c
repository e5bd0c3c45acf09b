/*
 * Property: no bytes, however made, make the reader of safetensors or of checkpoints crash, read out of
 * bounds or take more memory than the file has data for; what they accept obeys their contracts. The
 * first byte of the input chooses whether the rest is the file itself, or two bytes of the header's
 * length, the header, and the data, so that the fuzzer need not learn what lengths are.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
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

/* A length in front of the header. @return false when there is no room for one */
static bool build(int fd, const uint8_t *data, size_t size) {
    uint8_t length[8];
    if (size < 2) return false;
    bytes_put_u64(length, (uint64_t)data[0] | (uint64_t)data[1] << 8);
    return write(fd, length, sizeof length) == (ssize_t)sizeof length &&
           write(fd, data + 2, size - 2) == (ssize_t)(size - 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct safetensors *file;
    int fd = memfd_create("model", MFD_CLOEXEC);
    if (fd < 0) abort();
    bool made = data[0] & 1 ? build(fd, data + 1, size - 1)
                            : write(fd, data + 1, size - 1) == (ssize_t)(size - 1);
    if (!made) {
        close(fd);
        return 0;
    }
    if (safetensors_open_descriptor(fd, "fuzz", &file, NULL) == 0) {
        check_file(file);
        check_checkpoint(file);
        safetensors_close(file);
    }
    return 0;
}
