/*
 * The parts of a model out of a file, believing nothing: shapes must fit each other, numbers must
 * be finite, ids must be where their offsets say and no two the same. What is allocated is never
 * more than the file has data for, but for the padding of rows. Fed by safetensors_reader.c; feeds
 * checkpoint_read.c and release_read.c.
 */
#include "model/tensor_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/checkpoint.h"

/* Read at once; never less than a row. The heap keeps room for so little, and what is new costs a
 * page fault every 4 KiB. */
enum { PIECE_BYTES = 1 << 16 };

int tensor_damage_tell(const struct tensor_source *source, const char *which, const char *what) {
    error_set(source->error, DPMF_ERR_MODEL_CORRUPT, "the model is damaged: %.60s %s", which, what);
    error_hint(source->error, "make the model again, or copy it again");
    error_place(source->error, safetensors_path(source->file), 0, 0);
    return DPMF_ERR_MODEL_CORRUPT;
}

/* ---- finding --------------------------------------------------------------------------------- */

int tensor_entry_find(const struct tensor_source *source, const char *name, enum tensor_type type,
                      int n_dims, const struct safetensors_entry **entry) {
    *entry = safetensors_entry_find(source->file, name);
    if (!*entry) return tensor_damage_tell(source, name, "is missing");
    if ((*entry)->type != type || (*entry)->n_dims != n_dims)
        return tensor_damage_tell(source, name, "has another shape or type than it should");
    return 0;
}

int tensor_list_find(const struct tensor_source *source, const char *name, enum tensor_type type,
                     uint64_t n, const struct safetensors_entry **entry) {
    int code = tensor_entry_find(source, name, type, 1, entry);
    if (code == 0 && (*entry)->dims[0] != n)
        return tensor_damage_tell(source, name, "is not as long as it should be");
    return code;
}

/* ---- matrices -------------------------------------------------------------------------------- */

int tensor_rows_read(const struct tensor_source *source, const struct safetensors_entry *entry,
                     uint64_t first, uint64_t n, size_t k, float *rows, size_t stride) {
    assert(stride >= k);
    assert(rows || n == 0);
    if (n == 0 || k == 0) return 0;
    size_t row_bytes = k * sizeof(float);
    uint64_t at_once = PIECE_BYTES / row_bytes;
    if (at_once > n) at_once = n;
    float *piece = memory_alloc((size_t)at_once, row_bytes);
    if (!piece) return error_no_memory(source->error);
    int code = 0;
    for (uint64_t i = 0; i < n && code == 0; i += at_once) {
        size_t m = (size_t)(n - i < at_once ? n - i : at_once);
        code = safetensors_read(source->file, entry, (first + i) * row_bytes, piece, m * row_bytes,
                                source->error);
        if (code == 0 && !factors_are_finite(piece, m * k))
            code = tensor_damage_tell(source, entry->name, "holds a number that is not finite");
        for (size_t j = 0; j < m && code == 0; j++)
            memcpy(rows + (i + j) * stride, piece + j * k, row_bytes);
    }
    free(piece);
    return code;
}

int tensor_matrix_read(const struct tensor_source *source, const char *const names[2],
                       const struct safetensors_entry *rows, size_t stride, uint64_t spare,
                       struct factor_matrix *matrix) {
    assert(matrix);
    const struct safetensors_entry *biases;
    uint64_t n = rows->dims[0];
    size_t k = (size_t)rows->dims[1];
    if (k > CHECKPOINT_K_MAX)
        return tensor_damage_tell(source, names[0], "has more columns than can be used");
    assert(stride >= k); /* or rows would overlap */
    int code = tensor_list_find(source, names[1], TENSOR_F32, n, &biases);
    if (code == 0) code = factor_matrix_init(matrix, n, stride, spare, source->error);
    if (code == 0) code = tensor_rows_read(source, rows, 0, n, k, matrix->rows, stride);
    if (code == 0) code = tensor_rows_read(source, biases, 0, n, 1, matrix->biases, 1);
    return code;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A whole tensor into new memory, for free(): where a size has 32 bits, files can have more. */
static int read_whole(const struct tensor_source *source, const struct safetensors_entry *entry,
                      void **bytes) {
    *bytes = entry->bytes <= PTRDIFF_MAX ? memory_alloc((size_t)entry->bytes, 1) : NULL;
    if (!*bytes) return error_no_memory(source->error);
    return safetensors_read(source->file, entry, 0, *bytes, (size_t)entry->bytes, source->error);
}

int tensor_bytes_equal(const struct tensor_source *source, const struct safetensors_entry *entry,
                       const void *bytes, uint64_t n) {
    enum { COMPARED_BYTES = 1 << 16 };
    if (entry->bytes != n) return 0;
    char *piece = memory_alloc(COMPARED_BYTES, 1);
    if (!piece) return error_no_memory(source->error);
    int code = 1;
    for (uint64_t at = 0; at < n && code == 1; at += COMPARED_BYTES) {
        size_t m = n - at < COMPARED_BYTES ? (size_t)(n - at) : COMPARED_BYTES;
        code = safetensors_read(source->file, entry, at, piece, m, source->error);
        if (code == 0) code = memcmp(piece, (const char *)bytes + at, m) == 0;
    }
    free(piece);
    return code;
}

/* ---- ids ------------------------------------------------------------------------------------- */

static bool has_sound_offsets(const struct factor_ids *ids, uint64_t n_bytes) {
    if (ids->start[0] != 0 || ids->start[ids->n] != n_bytes) return false;
    for (uint64_t i = 0; i < ids->n; i++) {
        uint64_t from = ids->start[i], to = ids->start[i + 1];
        if (to <= from || to > n_bytes || to - from > CHECKPOINT_ID_MAX) return false;
    }
    return true;
}

int tensor_ids_read(const struct tensor_source *source, const char *const names[2], uint64_t n,
                    struct factor_ids *ids) {
    assert(ids);
    const struct safetensors_entry *bytes, *offsets;
    if (n >= UINT32_MAX)
        return tensor_damage_tell(source, names[1], "are more than can be counted");
    int code = tensor_entry_find(source, names[0], TENSOR_U8, 1, &bytes);
    if (code == 0) code = tensor_list_find(source, names[1], TENSOR_I64, n + 1, &offsets);
    if (code < 0) return code;
    void *id_bytes = NULL, *id_start = NULL;
    code = read_whole(source, bytes, &id_bytes);
    ids->bytes = id_bytes;
    if (code == 0) code = read_whole(source, offsets, &id_start);
    ids->start = id_start;
    if (code < 0) return code;
    ids->n = n;
    if (!has_sound_offsets(ids, bytes->bytes))
        return tensor_damage_tell(source, names[1], "are not the beginnings and ends of ids");
    code = factor_ids_index(ids, source->error);
    if (code == DPMF_ERR_MODEL_CORRUPT)
        return tensor_damage_tell(source, names[0], "hold the same id twice");
    return code;
}

int tensor_counts_read(const struct tensor_source *source, const char *name,
                       struct factor_ids *items) {
    const struct safetensors_entry *entry;
    int code = tensor_list_find(source, name, TENSOR_F32, items->n, &entry);
    if (code < 0) return code;
    items->counts = memory_alloc((size_t)items->n, sizeof *items->counts);
    if (!items->counts) return error_no_memory(source->error);
    code = tensor_rows_read(source, entry, 0, items->n, 1, items->counts, 1);
    for (uint64_t i = 0; code == 0 && i < items->n; i++)
        if (!(items->counts[i] > 0)) code = tensor_damage_tell(source, name, "are not above 0");
    return code;
}

/* ---- numbers --------------------------------------------------------------------------------- */

int tensor_number_read(const struct tensor_source *source, const char *key, double *value) {
    const char *text = safetensors_metadata(source->file, key);
    if (!text) return tensor_damage_tell(source, key, "is missing");
    return number_parse_double(text, strlen(text), value) == NUMBER_OK
               ? 0
               : tensor_damage_tell(source, key, "is not a number");
}
