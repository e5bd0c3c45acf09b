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

/* Rows `first` to first + n - 1 of k numbers in the file to rows `stride` apart in memory. */
static int read_rows(const struct reading *reading, const char *name,
                     const struct safetensors_entry *entry, uint64_t first, uint64_t n, size_t k,
                     float *rows, size_t stride) {
    if (n == 0) return 0;
    size_t row_bytes = k * sizeof(float);
    uint64_t at_once = PIECE_BYTES / row_bytes;
    if (at_once > n) at_once = n;
    float *piece = memory_alloc((size_t)at_once, row_bytes);
    if (!piece) return error_no_memory(reading->error);
    int code = 0;
    for (uint64_t i = 0; i < n && code == 0; i += at_once) {
        size_t m = (size_t)(n - i < at_once ? n - i : at_once);
        code = safetensors_read(reading->file, entry, (first + i) * row_bytes, piece, m * row_bytes,
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
    if (code == 0) code = read_rows(reading, names[0], rows, 0, n, k, matrix->rows, stride);
    if (code == 0) code = read_rows(reading, names[1], biases, 0, n, 1, matrix->biases, 1);
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

/* By enum checkpoint_side. */
static const char *const matrix_names[CHECKPOINT_SIDES][2] = {
    {"user_factors", "user_biases"},
    {"item_factors", "item_biases"},
    {"best_user_factors", "best_user_biases"},
    {"best_item_factors", "best_item_biases"},
};

static const char *const id_names[2][2] = {
    {"user_id_bytes", "user_id_offsets"},
    {"item_id_bytes", "item_id_offsets"},
};

/* The factors of users and items, or of the best epoch's: of one width, and not too many. */
static int find_factors(const struct reading *reading, enum checkpoint_side users_side,
                        const struct safetensors_entry **users,
                        const struct safetensors_entry **items) {
    int code = find(reading, matrix_names[users_side][0], TENSOR_F32, 2, users);
    if (code == 0) code = find(reading, matrix_names[users_side + 1][0], TENSOR_F32, 2, items);
    if (code < 0) return code;
    uint64_t k = (*users)->dims[1];
    if (k < 1 || k > CHECKPOINT_K_MAX || (*items)->dims[1] != k)
        return corrupt(reading, "are not of one width that can be used", "the factors");
    if ((*users)->dims[0] >= UINT32_MAX || (*items)->dims[0] >= UINT32_MAX)
        return corrupt(reading, "are more than can be counted", "the users or items");
    return 0;
}

static int read_tensors(const struct reading *reading, size_t (*stride_of)(size_t k),
                        uint64_t spare, struct factors *factors) {
    const struct safetensors_entry *users, *items;
    int code = find_factors(reading, CHECKPOINT_USERS, &users, &items);
    if (code < 0) return code;
    uint64_t k = users->dims[1];
    factors->k = (uint32_t)k;
    size_t stride = stride_of((size_t)k);
    if (stride < k) return error_set(reading->error, DPMF_ERR_BASE_BUG, "rows would overlap");

    code = read_ids(reading, id_names[0], users->dims[0], &factors->user_ids);
    if (code == 0) code = read_ids(reading, id_names[1], items->dims[0], &factors->item_ids);
    if (code == 0)
        code = read_matrix(reading, matrix_names[CHECKPOINT_USERS], users, stride, spare,
                           &factors->users);
    if (code == 0)
        code = read_matrix(reading, matrix_names[CHECKPOINT_ITEMS], items, stride, spare,
                           &factors->items);
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

static bool take_name(const struct json_token *token, char name[CHECKPOINT_ORDER_MAX]) {
    if (token->kind != JSON_STRING || token->length >= CHECKPOINT_ORDER_MAX) return false;
    name[json_unescape(token, name)] = '\0';
    return true;
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
    if (json_equals(key, "order")) return take_name(&token, state->order);
    if (json_equals(key, "tiles")) return take_whole(&token, &state->tiles);
    if (json_equals(key, "superblock_users")) return take_whole(&token, &state->superblock_users);
    if (json_equals(key, "superblocks_done")) return take_whole(&token, &state->superblocks_done);
    if (json_equals(key, "ratings_done")) return take_whole(&token, &state->ratings_done);
    if (json_equals(key, "squared_error")) return take_double(&token, &state->squared_error);
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

/* ---- in pieces -------------------------------------------------------------------------------- */

static int open_in_pieces(struct checkpoint_file *file, struct dpmf_error *error) {
    const struct reading reading = {file->file, error};
    const struct safetensors_entry *users, *items, *best_users, *best_items;
    struct factors scale = {0};
    int code = check_kind(&reading);
    if (code == 0) code = read_scale(&reading, &scale);
    if (code == 0) code = read_state(&reading, &file->state);
    if (code == 0) code = find_factors(&reading, CHECKPOINT_USERS, &users, &items);
    if (code < 0) return code;
    file->offset = scale.offset;
    file->min = scale.min;
    file->max = scale.max;
    file->k = (uint32_t)users->dims[1];
    file->n_users = users->dims[0];
    file->n_items = items->dims[0];
    file->has_best = safetensors_entry_find(file->file, "best_user_factors") != NULL;
    if (!file->has_best) return 0;
    code = find_factors(&reading, CHECKPOINT_BEST_USERS, &best_users, &best_items);
    if (code == 0 && (best_users->dims[0] != file->n_users ||
                      best_items->dims[0] != file->n_items || best_users->dims[1] != file->k))
        code = corrupt(&reading, "are not as many as the others", "the best epoch's factors");
    return code;
}

int checkpoint_file_open(struct checkpoint_file *file, const char *path, struct dpmf_error *error) {
    *file = (struct checkpoint_file){0};
    int code = safetensors_open(path, &file->file, error);
    if (code == 0) code = open_in_pieces(file, error);
    if (code < 0) checkpoint_file_close(file);
    return code;
}

void checkpoint_file_close(struct checkpoint_file *file) {
    safetensors_close(file->file);
    file->file = NULL;
}

/* @return 1 when the tensor's bytes are these, 0 or a negative code */
static int equals(const struct reading *reading, const struct safetensors_entry *entry,
                  const void *bytes, uint64_t n) {
    enum { PIECE = 1 << 16 };
    if (entry->bytes != n) return 0;
    char *piece = memory_alloc(PIECE, 1);
    if (!piece) return error_no_memory(reading->error);
    int code = 1;
    for (uint64_t at = 0; at < n && code == 1; at += PIECE) {
        size_t m = n - at < PIECE ? (size_t)(n - at) : PIECE;
        code = safetensors_read(reading->file, entry, at, piece, m, reading->error);
        if (code == 0) code = memcmp(piece, (const char *)bytes + at, m) == 0;
    }
    free(piece);
    return code;
}

int checkpoint_file_has_ids(const struct checkpoint_file *file, enum checkpoint_side side,
                            const struct factor_ids *ids, struct dpmf_error *error) {
    const struct reading reading = {file->file, error};
    const char *const *names = id_names[side == CHECKPOINT_ITEMS];
    const struct safetensors_entry *bytes, *offsets;
    int code = find(&reading, names[0], TENSOR_U8, 1, &bytes);
    if (code == 0) code = find(&reading, names[1], TENSOR_I64, 1, &offsets);
    if (code < 0) return code;
    code = equals(&reading, offsets, ids->start, (ids->n + 1) * sizeof ids->start[0]);
    return code == 1 ? equals(&reading, bytes, ids->bytes, ids->start[ids->n]) : code;
}

int checkpoint_file_read_rows(const struct checkpoint_file *file, enum checkpoint_side side,
                              uint64_t first, uint64_t n, float *rows, size_t stride, float *biases,
                              struct dpmf_error *error) {
    const struct reading reading = {file->file, error};
    const struct safetensors_entry *entry;
    uint64_t all =
        side == CHECKPOINT_USERS || side == CHECKPOINT_BEST_USERS ? file->n_users : file->n_items;
    if (first > all || n > all - first || (rows && stride < file->k))
        return error_set(error, DPMF_ERR_BASE_BUG, "rows past the end of a checkpoint");
    int code = find(&reading, matrix_names[side][0], TENSOR_F32, 2, &entry);
    if (code == 0 && rows)
        code = read_rows(&reading, matrix_names[side][0], entry, first, n, file->k, rows, stride);
    if (code == 0) code = find_list(&reading, matrix_names[side][1], TENSOR_F32, all, &entry);
    if (code == 0 && biases)
        code = read_rows(&reading, matrix_names[side][1], entry, first, n, 1, biases, 1);
    return code;
}
