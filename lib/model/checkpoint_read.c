/*
 * Reads a checkpoint back, believing nothing: shapes must fit each other, numbers must be finite, ids
 * must be where their offsets say and no two the same. What is allocated is never more than the file
 * has data for, but for the padding of rows. Feeds the trainer, to resume, and lib/recommend.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/checkpoint.h"
#include "model/safetensors_reader.h"

enum { PIECE_BYTES = 1 << 20 }; /* read at once; never less than a row */

struct reading {
    const struct safetensors *file;
    struct dpmf_error *error;
};

/* ---- errors ----------------------------------------------------------------------------------- */

static int corrupt(const struct reading *reading, const char *what, const char *which) {
    error_set(reading->error, DPMF_ERR_MODEL_CORRUPT, "the model is damaged: %s %s", which, what);
    error_hint(reading->error, "make the model again, or copy it anew");
    error_place(reading->error, safetensors_path(reading->file), 0, 0);
    return DPMF_ERR_MODEL_CORRUPT;
}

static int other_kind(const struct reading *reading, const char *kind) {
    const char *path = safetensors_path(reading->file);
    if (kind)
        error_set(reading->error, DPMF_ERR_MODEL_KIND, "its kind is \"%.60s\", not \"checkpoint\"",
                  kind);
    else
        error_set(reading->error, DPMF_ERR_MODEL_KIND, "it does not say what kind of model it is");
    error_hint(reading->error, "give a model that dpmf train wrote");
    error_place(reading->error, path, 0, 0);
    return DPMF_ERR_MODEL_KIND;
}

static int check_kind(const struct reading *reading) {
    const char *kind = safetensors_metadata(reading->file, "dpmf.kind");
    const char *format = safetensors_metadata(reading->file, "dpmf.format");
    if (!kind || strcmp(kind, "checkpoint") != 0) return other_kind(reading, kind);
    if (format && strcmp(format, CHECKPOINT_FORMAT) == 0) return 0;
    error_set(reading->error, DPMF_ERR_MODEL_KIND,
              "this checkpoint is of another format (%.20s) than this version reads (%s)",
              format ? format : "none", CHECKPOINT_FORMAT);
    error_hint(reading->error, "use the version of dpmf that wrote it, or train anew");
    error_place(reading->error, safetensors_path(reading->file), 0, 0);
    return DPMF_ERR_MODEL_KIND;
}

/* ---- tensors ---------------------------------------------------------------------------------- */

static int find(const struct reading *reading, const char *name, enum tensor_type type, int n_dims,
                const struct safetensors_entry **entry) {
    *entry = safetensors_entry_find(reading->file, name);
    if (!*entry) return corrupt(reading, "is missing", name);
    if ((*entry)->type != type || (*entry)->n_dims != n_dims)
        return corrupt(reading, "has another shape or type than it should", name);
    return 0;
}

static int find_list(const struct reading *reading, const char *name, enum tensor_type type,
                     uint64_t n, const struct safetensors_entry **entry) {
    int code = find(reading, name, type, 1, entry);
    if (code == 0 && (*entry)->dims[0] != n)
        return corrupt(reading, "is not as long as it should be", name);
    return code;
}

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
static int read_rows(const struct reading *reading, const char *name,
                     const struct safetensors_entry *entry, uint64_t n, size_t k, float *rows,
                     size_t stride) {
    if (n == 0) return 0;
    size_t row_bytes = k * sizeof(float);
    uint64_t at_once = PIECE_BYTES / row_bytes;
    if (at_once > n) at_once = n;
    float *piece = memory_alloc((size_t)at_once, row_bytes);
    if (!piece) return error_no_memory(reading->error);
    int code = 0;
    for (uint64_t i = 0; i < n && code == 0; i += at_once) {
        size_t m = (size_t)(n - i < at_once ? n - i : at_once);
        code = safetensors_read(reading->file, entry, i * row_bytes, piece, m * row_bytes,
                                reading->error);
        if (code == 0 && !all_finite(piece, m * k))
            code = corrupt(reading, "holds a number that is not finite", name);
        for (size_t j = 0; j < m && code == 0; j++)
            memcpy(rows + (i + j) * stride, piece + j * k, row_bytes);
    }
    free(piece);
    return code;
}

static int read_matrix(const struct reading *reading, const char *const names[2],
                       const struct safetensors_entry *rows, size_t stride, uint64_t spare,
                       struct factor_matrix *matrix) {
    const struct safetensors_entry *biases;
    uint64_t n = rows->dims[0];
    size_t k = (size_t)rows->dims[1];
    int code = find_list(reading, names[1], TENSOR_F32, n, &biases);
    if (code == 0) code = factor_matrix_init(matrix, n, stride, spare, reading->error);
    if (code == 0) code = read_rows(reading, names[0], rows, n, k, matrix->rows, stride);
    if (code == 0) code = read_rows(reading, names[1], biases, n, 1, matrix->biases, 1);
    return code;
}

static bool has_sound_offsets(const struct factor_ids *ids, uint64_t n_bytes) {
    if (ids->start[0] != 0 || ids->start[ids->n] != n_bytes) return false;
    for (uint64_t i = 0; i < ids->n; i++) {
        uint64_t from = ids->start[i], to = ids->start[i + 1];
        if (to <= from || to > n_bytes || to - from > CHECKPOINT_ID_MAX) return false;
    }
    return true;
}

static int read_ids(const struct reading *reading, const char *const names[2], uint64_t n,
                    struct factor_ids *ids) {
    const struct safetensors_entry *bytes, *offsets;
    int code = find(reading, names[0], TENSOR_U8, 1, &bytes);
    if (code == 0) code = find_list(reading, names[1], TENSOR_I64, n + 1, &offsets);
    if (code < 0) return code;
    ids->n = n;
    ids->bytes = memory_alloc((size_t)bytes->bytes, 1);
    ids->start = memory_alloc((size_t)n + 1, sizeof ids->start[0]);
    if (!ids->bytes || !ids->start) return error_no_memory(reading->error);
    code =
        safetensors_read(reading->file, bytes, 0, ids->bytes, (size_t)bytes->bytes, reading->error);
    if (code == 0)
        code = safetensors_read(reading->file, offsets, 0, ids->start, (size_t)offsets->bytes,
                                reading->error);
    if (code < 0) return code;
    if (!has_sound_offsets(ids, bytes->bytes))
        return corrupt(reading, "are not the beginnings and ends of ids", names[1]);
    code = factor_ids_index(ids, reading->error);
    if (code == DPMF_ERR_MODEL_CORRUPT) return corrupt(reading, "hold the same id twice", names[0]);
    return code;
}

static int read_tensors(const struct reading *reading, size_t (*stride_of)(size_t k),
                        uint64_t spare, struct factors *factors) {
    static const char *const user_names[] = {"user_factors", "user_biases"};
    static const char *const item_names[] = {"item_factors", "item_biases"};
    static const char *const user_ids[] = {"user_id_bytes", "user_id_offsets"};
    static const char *const item_ids[] = {"item_id_bytes", "item_id_offsets"};
    const struct safetensors_entry *users, *items;
    int code = find(reading, user_names[0], TENSOR_F32, 2, &users);
    if (code == 0) code = find(reading, item_names[0], TENSOR_F32, 2, &items);
    if (code < 0) return code;

    uint64_t k = users->dims[1];
    if (k < 1 || k > CHECKPOINT_K_MAX || items->dims[1] != k)
        return corrupt(reading, "are not of one width that can be used", "the factors");
    if (users->dims[0] >= UINT32_MAX || items->dims[0] >= UINT32_MAX)
        return corrupt(reading, "are more than can be counted", "the users or items");
    factors->k = (uint32_t)k;
    size_t stride = stride_of((size_t)k);
    if (stride < k) return error_set(reading->error, DPMF_ERR_BASE_BUG, "rows would overlap");

    code = read_ids(reading, user_ids, users->dims[0], &factors->user_ids);
    if (code == 0) code = read_ids(reading, item_ids, items->dims[0], &factors->item_ids);
    if (code == 0) code = read_matrix(reading, user_names, users, stride, spare, &factors->users);
    if (code == 0) code = read_matrix(reading, item_names, items, stride, spare, &factors->items);
    return code;
}

/* ---- metadata --------------------------------------------------------------------------------- */

static int read_number(const struct reading *reading, const char *key, double *value) {
    const char *text = safetensors_metadata(reading->file, key);
    if (text && number_parse_double(text, strlen(text), value) == NUMBER_OK) return 0;
    return corrupt(reading, "is not a number", key);
}

static bool take_double(const struct json_token *token, double *value) {
    return token->kind == JSON_NUMBER &&
           number_parse_double(token->text, token->length, value) == NUMBER_OK;
}

static bool take_count(const struct json_token *token, uint32_t *value) {
    int64_t number;
    if (token->kind != JSON_NUMBER ||
        number_parse_int64(token->text, token->length, &number) != NUMBER_OK || number < 0 ||
        number > UINT32_MAX)
        return false;
    *value = (uint32_t)number;
    return true;
}

/* A text of digits, see checkpoint_write.c. */
static bool take_whole(const struct json_token *token, uint64_t *value) {
    char text[24];
    if (token->kind != JSON_STRING || token->length >= sizeof text) return false;
    text[json_unescape(token, text)] = '\0';
    return dpmf_parse_uint64(text, value) == 0;
}

/* A key that is not known is passed over: a later version may say more. */
static bool take_field(struct json_reader *json, const struct json_token *key,
                       struct checkpoint_state *state) {
    struct json_token token = json_next(json);
    if (json_equals(key, "epoch")) return take_count(&token, &state->epoch);
    if (json_equals(key, "seed")) return take_whole(&token, &state->seed);
    if (json_equals(key, "learning_rate")) return take_double(&token, &state->learning_rate);
    if (json_equals(key, "decay")) return take_double(&token, &state->decay);
    if (json_equals(key, "regularization")) return take_double(&token, &state->regularization);
    if (json_equals(key, "ratings")) return take_whole(&token, &state->n_ratings);
    if (json_equals(key, "fingerprint")) return take_whole(&token, &state->fingerprint);
    if (json_equals(key, "best_epoch")) return take_count(&token, &state->best_epoch);
    if (json_equals(key, "best_valid"))
        return token.kind == JSON_NULL || take_double(&token, &state->best_valid);
    return json_skip(json, token);
}

static int read_state(const struct reading *reading, struct checkpoint_state *state) {
    const char *text = safetensors_metadata(reading->file, "dpmf.state");
    struct json_reader json;
    *state = (struct checkpoint_state){.best_valid = NAN};
    if (!text) return corrupt(reading, "is missing", "dpmf.state");
    json_reader_init(&json, text, strlen(text));
    if (json_next(&json).kind != JSON_OBJECT_BEGIN)
        return corrupt(reading, "is not a JSON object", "dpmf.state");
    for (;;) {
        struct json_token key = json_next(&json);
        if (key.kind == JSON_OBJECT_END) break;
        if (key.kind != JSON_KEY || !take_field(&json, &key, state))
            return corrupt(reading, "does not say where the run stands", "dpmf.state");
    }
    return json_next(&json).kind == JSON_END
               ? 0
               : corrupt(reading, "is more than a JSON object", "dpmf.state");
}

static int read_scale(const struct reading *reading, struct factors *factors) {
    int code = read_number(reading, "dpmf.offset", &factors->offset);
    if (code == 0) code = read_number(reading, "dpmf.min", &factors->min);
    if (code == 0) code = read_number(reading, "dpmf.max", &factors->max);
    if (code == 0 && factors->min > factors->max)
        return corrupt(reading, "is not a scale", "dpmf.min to dpmf.max");
    return code;
}

/* ---- all of it -------------------------------------------------------------------------------- */

int checkpoint_read_from(const struct safetensors *file, size_t (*stride_of)(size_t k),
                         uint64_t spare, struct factors *factors, struct checkpoint_state *state,
                         struct dpmf_error *error) {
    const struct reading reading = {file, error};
    *factors = (struct factors){0};
    int code = check_kind(&reading);
    if (code == 0) code = read_scale(&reading, factors);
    if (code == 0) code = read_state(&reading, state);
    if (code == 0) code = read_tensors(&reading, stride_of, spare, factors);
    if (code < 0) factors_free(factors);
    return code;
}

int checkpoint_read(const char *path, size_t (*stride_of)(size_t k), uint64_t spare,
                    struct factors *factors, struct checkpoint_state *state,
                    struct dpmf_error *error) {
    struct safetensors *file;
    *factors = (struct factors){0};
    int code = safetensors_open(path, &file, error);
    if (code == 0) code = checkpoint_read_from(file, stride_of, spare, factors, state, error);
    safetensors_close(file);
    return code;
}
