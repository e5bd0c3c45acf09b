/*
 * The parts of a model out of a file, believing nothing: shapes must fit each other, numbers must be
 * finite, ids must be where their offsets say and no two the same. What is allocated is never more than
 * the file has data for, but for the padding of rows. Fed by safetensors_reader.c; feeds
 * release_read.c.
 */
#include "model/tensor_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/checkpoint.h"

enum { PIECE_BYTES = 1 << 20 }; /* read at once; never less than a row */

int tensor_damage_tell(const struct tensor_source *source, const char *which, const char *what) {
    error_set(source->error, DPMF_ERR_MODEL_CORRUPT, "the model is damaged: %.60s %s", which, what);
    error_hint(source->error, "make the model again, or copy it anew");
    error_place(source->error, safetensors_path(source->file), 0, 0);
    return DPMF_ERR_MODEL_CORRUPT;
}

/* ---- finding ---------------------------------------------------------------------------------- */

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

/* ---- matrices --------------------------------------------------------------------------------- */

/* Without a branch a number: an exponent of ones is what infinities and NaNs have in common. */
static bool all_finite(const float *values, size_t n) {
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        found |= (uint32_t)((bits & 0x7f800000u) == 0x7f800000u);
    }
    return found == 0;
}

/* Rows of k numbers in the file to rows `stride` apart in memory. */
static int read_rows(const struct tensor_source *source, const struct safetensors_entry *entry,
                     uint64_t n, size_t k, float *rows, size_t stride) {
    if (n == 0 || k == 0) return 0;
    size_t row_bytes = k * sizeof(float);
    uint64_t at_once = PIECE_BYTES / row_bytes;
    if (at_once > n) at_once = n;
    float *piece = memory_alloc((size_t)at_once, row_bytes);
    if (!piece) return error_no_memory(source->error);
    int code = 0;
    for (uint64_t i = 0; i < n && code == 0; i += at_once) {
        size_t m = (size_t)(n - i < at_once ? n - i : at_once);
        code = safetensors_read(source->file, entry, i * row_bytes, piece, m * row_bytes,
                                source->error);
        if (code == 0 && !all_finite(piece, m * k))
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
    const struct safetensors_entry *biases;
    uint64_t n = rows->dims[0];
    size_t k = (size_t)rows->dims[1];
    if (k > CHECKPOINT_K_MAX)
        return tensor_damage_tell(source, names[0], "has more columns than can be used");
    if (stride < k) return error_set(source->error, DPMF_ERR_BASE_BUG, "rows would overlap");
    int code = tensor_list_find(source, names[1], TENSOR_F32, n, &biases);
    if (code == 0) code = factor_matrix_init(matrix, n, stride, spare, source->error);
    if (code == 0) code = read_rows(source, rows, n, k, matrix->rows, stride);
    if (code == 0) code = read_rows(source, biases, n, 1, matrix->biases, 1);
    return code;
}

/* ---- ids -------------------------------------------------------------------------------------- */

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
    const struct safetensors_entry *bytes, *offsets;
    if (n >= UINT32_MAX)
        return tensor_damage_tell(source, names[1], "are more than can be counted");
    int code = tensor_entry_find(source, names[0], TENSOR_U8, 1, &bytes);
    if (code == 0) code = tensor_list_find(source, names[1], TENSOR_I64, n + 1, &offsets);
    if (code < 0) return code;
    ids->n = n;
    ids->bytes = memory_alloc((size_t)bytes->bytes, 1);
    ids->start = memory_alloc((size_t)n + 1, sizeof ids->start[0]);
    if (!ids->bytes || !ids->start) return error_no_memory(source->error);
    code =
        safetensors_read(source->file, bytes, 0, ids->bytes, (size_t)bytes->bytes, source->error);
    if (code == 0)
        code = safetensors_read(source->file, offsets, 0, ids->start, (size_t)offsets->bytes,
                                source->error);
    if (code < 0) return code;
    if (!has_sound_offsets(ids, bytes->bytes))
        return tensor_damage_tell(source, names[1], "are not the beginnings and ends of ids");
    code = factor_ids_index(ids, source->error);
    if (code == DPMF_ERR_MODEL_CORRUPT)
        return tensor_damage_tell(source, names[0], "hold the same id twice");
    return code;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

int tensor_number_read(const struct tensor_source *source, const char *key, double *value) {
    const char *text = safetensors_metadata(source->file, key);
    char again[DPMF_DOUBLE_TEXT_MAX];
    if (!text) return tensor_damage_tell(source, key, "is missing");
    if (number_parse_double(text, strlen(text), value) != NUMBER_OK)
        return tensor_damage_tell(source, key, "is not a number");
    dpmf_format_double(*value, again);
    return strcmp(text, again) == 0
               ? 0
               : tensor_damage_tell(source, key, "is not spelt as numbers are here");
}
