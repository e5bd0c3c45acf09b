/*
 * Makes and compares the checksums of checkpoints. Fed by safetensors_writer.c with pieces as they
 * are written, and by checkpoint_read.c with a file before anything of it is believed.
 */
#include "model/model_checksum.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parts.h"

enum {
    UNIT_BYTES = 1 << 16,       /* bytes of a unit that is no row and no bias */
    PIECE_BYTES = UNIT_BYTES,   /* the most that is read at once: whole units, which the heap has */
    PART_BYTES_LEAST = 1 << 25, /* less is not worth a thread */
};

size_t model_checksum_unit(enum tensor_type type, int n_dims, const uint64_t *dims) {
    assert(n_dims >= 0 && (dims || n_dims == 0));
    if (type != TENSOR_F32) return UNIT_BYTES;
    if (n_dims == 1) return sizeof(float);
    if (n_dims != 2 || dims[1] == 0 || dims[1] > UNIT_BYTES / sizeof(float)) return UNIT_BYTES;
    return (size_t)dims[1] * sizeof(float);
}

uint64_t model_checksum_sum(size_t unit, uint64_t place, const void *bytes, size_t n) {
    assert(unit > 0);
    assert(bytes || n == 0);
    const uint8_t *at = bytes;
    uint64_t sum = 0;
    for (; n > unit; n -= unit, at += unit, place += unit)
        sum += checksum64_seeded(at, unit, place);
    return n > 0 ? sum + checksum64_seeded(at, n, place) : sum;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* The place of the digits; NULL: there is none. A quote within a text of JSON is written with a
 * backslash before it: nothing but the key itself looks like this. */
static uint8_t *find_digits(uint8_t *header, size_t n) {
    static const char before[] = "\"" MODEL_CHECKSUM_KEY "\":\"";
    const size_t length = sizeof before - 1;
    for (size_t i = 0; i + length + MODEL_CHECKSUM_DIGITS <= n; i++)
        if (header[i] == '"' && memcmp(header + i, before, length) == 0) return header + i + length;
    return NULL;
}

static void put_digits(uint8_t *place, uint64_t value) {
    assert(place);
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < MODEL_CHECKSUM_DIGITS; i++)
        place[i] = (uint8_t)digits[value >> (60 - 4 * i) & 15];
}

bool model_checksum_seal(uint8_t *header, size_t n, uint64_t sum) {
    uint8_t *place = find_digits(header, n);
    if (!place) return false;
    put_digits(place, 0);
    put_digits(place, checksum64_seeded(header, n, sum));
    return true;
}

/* ---- a whole file ---------------------------------------------------------------------------- */

struct reading {
    const struct safetensors *file;
    uint64_t sums[PARTS_MAX];
    int codes[PARTS_MAX];
    struct dpmf_error errors[PARTS_MAX];
};

/* Every n-th piece of every tensor, from the i-th on. */
static int sum_part(const struct safetensors *file, size_t i, size_t n, uint64_t *sum,
                    struct dpmf_error *error) {
    const struct safetensors_entry *entry;
    uint8_t *piece = memory_alloc(PIECE_BYTES, 1);
    int code = piece ? 0 : error_no_memory(error);
    uint64_t number = 0;
    for (size_t t = 0; code == 0 && (entry = safetensors_entry_at(file, t)) != NULL; t++) {
        size_t unit = model_checksum_unit(entry->type, entry->n_dims, entry->dims);
        size_t most = PIECE_BYTES / unit * unit;
        for (uint64_t at = 0; code == 0 && at < entry->bytes; at += most) {
            if (number++ % n != i) continue;
            size_t m = entry->bytes - at < most ? (size_t)(entry->bytes - at) : most;
            code = safetensors_read(file, entry, at, piece, m, error);
            if (code == 0) *sum += model_checksum_sum(unit, entry->offset + at, piece, m);
        }
    }
    free(piece);
    return code;
}

static void run_part(void *self, size_t i, size_t n) {
    assert(i < n);
    struct reading *reading = self;
    reading->codes[i] = sum_part(reading->file, i, n, &reading->sums[i], &reading->errors[i]);
}

/* Sums of any parts add up to the same. */
int model_checksum_sum_file(const struct safetensors *file, uint64_t *sum,
                            struct dpmf_error *error) {
    struct reading *reading = memory_alloc_zero(1, sizeof *reading);
    if (!reading) return error_no_memory(error);
    reading->file = file;
    uint64_t parts = safetensors_file_bytes(file) / PART_BYTES_LEAST;
    parts_run(run_part, reading, parts < PARTS_MAX ? (size_t)parts : PARTS_MAX);
    int code = 0;
    *sum = 0;
    for (size_t i = 0; i < PARTS_MAX; i++) {
        *sum += reading->sums[i];
        if (code == 0 && reading->codes[i] < 0) {
            code = reading->codes[i];
            if (error) *error = reading->errors[i];
        }
    }
    free(reading);
    return code;
}

int model_checksum_verify(const struct safetensors *file, struct dpmf_error *error) {
    uint64_t sum = 0;
    uint8_t was[MODEL_CHECKSUM_DIGITS];
    int code = model_checksum_sum_file(file, &sum, error);
    if (code < 0) return code;
    size_t n = (size_t)safetensors_header_bytes(file);
    uint8_t *header = memory_alloc(n, 1);
    if (!header) return error_no_memory(error);
    code = safetensors_header_read(file, header, error);
    uint8_t *place = code == 0 ? find_digits(header, n) : NULL;
    if (place) {
        memcpy(was, place, sizeof was);
        model_checksum_seal(header, n, sum);
        code = memcmp(was, place, sizeof was) == 0;
    }
    free(header);
    return code;
}
