/*
 * Reads a checkpoint back, believing nothing: its parts by way of tensor_read.c, which checks each
 * of them, and here that they fit each other and say where a run stands. Feeds the trainer, to
 * resume, and lib/recommend.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "model/checkpoint.h"
#include "model/model_checksum.h"
#include "model/tensor_read.h"

static int other_kind(const struct tensor_source *source, const char *kind) {
    const char *path = safetensors_path(source->file);
    if (kind)
        error_set(source->error, DPMF_ERR_MODEL_KIND, "its kind is \"%.60s\", not \"checkpoint\"",
                  kind);
    else
        error_set(source->error, DPMF_ERR_MODEL_KIND, "it does not say what kind of model it is");
    error_hint(source->error, "give a model that training wrote");
    error_place(source->error, path, 0, 0);
    return DPMF_ERR_MODEL_KIND;
}

static int other_format(const struct tensor_source *source, const char *format) {
    error_set(source->error, DPMF_ERR_MODEL_KIND,
              "this checkpoint is of another format (%.20s) than this version reads (%s)",
              format ? format : "none", CHECKPOINT_FORMAT);
    error_hint(source->error, "use the version of dpmf that wrote it, or train again");
    error_place(source->error, safetensors_path(source->file), 0, 0);
    return DPMF_ERR_MODEL_KIND;
}

/* The first format has no checksum; no flipped bit turns the second format into it. */
static int check_kind(const struct tensor_source *source, bool *is_unchecked) {
    const char *kind = safetensors_metadata(source->file, "dpmf.kind");
    const char *format = safetensors_metadata(source->file, "dpmf.format");
    if (!kind || strcmp(kind, "checkpoint") != 0) return other_kind(source, kind);
    *is_unchecked = format && strcmp(format, CHECKPOINT_FORMAT_FIRST) == 0;
    if (*is_unchecked) return 0;
    if (!format || strcmp(format, CHECKPOINT_FORMAT) != 0) return other_format(source, format);
    int same = model_checksum_verify(source->file, source->error);
    return same == 0 ? tensor_damage_tell(source, "its checksum", "does not fit its contents")
                     : (same < 0 ? same : 0);
}

/* ---- tensors --------------------------------------------------------------------------------- */

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
static int find_factors(const struct tensor_source *source, enum checkpoint_side users_side,
                        const struct safetensors_entry **users,
                        const struct safetensors_entry **items) {
    int code = tensor_entry_find(source, matrix_names[users_side][0], TENSOR_F32, 2, users);
    if (code == 0)
        code = tensor_entry_find(source, matrix_names[users_side + 1][0], TENSOR_F32, 2, items);
    if (code < 0) return code;
    uint64_t k = (*users)->dims[1];
    if (k < 1 || k > CHECKPOINT_K_MAX || (*items)->dims[1] != k)
        return tensor_damage_tell(source, "the factors", "are not of one width that can be used");
    if ((*users)->dims[0] >= UINT32_MAX || (*items)->dims[0] >= UINT32_MAX)
        return tensor_damage_tell(source, "the users or items", "are more than can be counted");
    return 0;
}

/* A sample of what the model has learned, where it is known. */
static int read_learned(const struct tensor_source *source, struct learned_pairs *learned) {
    const struct safetensors_entry *entry;
    if (!safetensors_entry_find(source->file, CHECKPOINT_LEARNED_PAIRS)) return 0;
    int code = tensor_entry_find(source, CHECKPOINT_LEARNED_PAIRS, TENSOR_I64, 1, &entry);
    if (code < 0) return code;
    if (entry->dims[0] < 1 || entry->dims[0] > LEARNED_PAIRS_MAX)
        return tensor_damage_tell(source, CHECKPOINT_LEARNED_PAIRS, "are too few or too many");
    learned->n = learned->capacity = (size_t)entry->dims[0];
    learned->hash = memory_alloc(learned->n, sizeof learned->hash[0]);
    if (!learned->hash) return error_no_memory(source->error);
    code = safetensors_read(source->file, entry, 0, learned->hash, (size_t)entry->bytes,
                            source->error);
    for (size_t i = 1; code == 0 && i < learned->n; i++)
        if (learned->hash[i] <= learned->hash[i - 1])
            code = tensor_damage_tell(source, CHECKPOINT_LEARNED_PAIRS, "are not in order");
    return code;
}

static int read_tensors(const struct tensor_source *source, size_t (*stride_of)(size_t k),
                        uint64_t spare, struct factors *factors) {
    const struct safetensors_entry *users, *items;
    int code = find_factors(source, CHECKPOINT_USERS, &users, &items);
    if (code < 0) return code;
    uint64_t k = users->dims[1];
    factors->k = (uint32_t)k;
    size_t stride = stride_of((size_t)k);
    assert(stride >= k); /* or rows would overlap */

    code = tensor_ids_read(source, id_names[0], users->dims[0], &factors->user_ids);
    if (code == 0) code = tensor_ids_read(source, id_names[1], items->dims[0], &factors->item_ids);
    if (code == 0 && safetensors_entry_find(source->file, "user_counts"))
        code = tensor_counts_read(source, "user_counts", &factors->user_ids);
    if (code == 0 && safetensors_entry_find(source->file, "item_counts"))
        code = tensor_counts_read(source, "item_counts", &factors->item_ids);
    if (code == 0) code = read_learned(source, &factors->learned);
    if (code == 0)
        code = tensor_matrix_read(source, matrix_names[CHECKPOINT_USERS], users, stride, spare,
                                  &factors->users);
    if (code == 0)
        code = tensor_matrix_read(source, matrix_names[CHECKPOINT_ITEMS], items, stride, spare,
                                  &factors->items);
    return code;
}

/* ---- metadata -------------------------------------------------------------------------------- */

static bool take_double(const struct json_token *token, double *value) {
    return token->kind == JSON_NUMBER &&
           number_parse_double(token->text, token->length, value) == NUMBER_OK;
}

static bool take_flag(const struct json_token *token, bool *value) {
    *value = token->kind == JSON_TRUE;
    return token->kind == JSON_TRUE || token->kind == JSON_FALSE;
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
    assert(token && name);
    if (token->kind != JSON_STRING || token->length >= CHECKPOINT_ORDER_MAX) return false;
    name[json_unescape(token, name)] = '\0';
    return true;
}

/* An unknown key is ignored: a later version may say more. */
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
    if (json_equals(key, "digest")) return take_whole(&token, &state->digest);
    if (json_equals(key, "valid_digest")) return take_whole(&token, &state->valid_digest);
    if (json_equals(key, "best_epoch")) return take_count(&token, &state->best_epoch);
    if (json_equals(key, "best_valid"))
        return token.kind == JSON_NULL || take_double(&token, &state->best_valid);
    if (json_equals(key, "order")) return take_name(&token, state->order);
    if (json_equals(key, "tiles")) return take_whole(&token, &state->tiles);
    if (json_equals(key, "superblock_users")) return take_whole(&token, &state->superblock_users);
    if (json_equals(key, "superblocks_done")) return take_whole(&token, &state->superblocks_done);
    if (json_equals(key, "ratings_done")) return take_whole(&token, &state->ratings_done);
    if (json_equals(key, "squared_error")) return take_double(&token, &state->squared_error);
    if (json_equals(key, "user_bias_hold")) return take_double(&token, &state->user_bias_hold);
    if (json_equals(key, "item_bias_hold")) return take_double(&token, &state->item_bias_hold);
    if (json_equals(key, "samples")) return take_count(&token, &state->samples);
    if (json_equals(key, "sample_factors")) return take_count(&token, &state->sample_factors);
    if (json_equals(key, "noise_precision")) return take_double(&token, &state->noise_precision);
    if (json_equals(key, "factor_penalty")) return take_double(&token, &state->factor_penalty);
    if (json_equals(key, "bias_penalty")) return take_double(&token, &state->bias_penalty);
    if (json_equals(key, "ranks")) return take_flag(&token, &state->ranks);
    if (json_equals(key, "unobserved")) return take_double(&token, &state->unobserved);
    if (json_equals(key, "exponent")) return take_double(&token, &state->exponent);
    if (json_equals(key, "like")) {
        state->has_like = true;
        return take_double(&token, &state->like);
    }
    if (json_equals(key, "events")) return take_flag(&token, &state->is_of_events);
    if (json_equals(key, "count_weight")) return take_double(&token, &state->count_weight);
    if (json_equals(key, "rated_min")) return take_double(&token, &state->rated_min);
    if (json_equals(key, "rated_max")) {
        state->has_scale = true;
        return take_double(&token, &state->rated_max);
    }
    return json_skip(json, token);
}

static int read_state(const struct tensor_source *source, struct checkpoint_state *state) {
    const char *text = safetensors_metadata(source->file, "dpmf.state");
    struct json_reader json;
    *state = (struct checkpoint_state){.best_valid = NAN};
    if (!text) return tensor_damage_tell(source, "dpmf.state", "is missing");
    json_reader_init(&json, text, strlen(text));
    if (json_next(&json).kind != JSON_OBJECT_BEGIN)
        return tensor_damage_tell(source, "dpmf.state", "is not a JSON object");
    for (;;) {
        struct json_token key = json_next(&json);
        if (key.kind == JSON_OBJECT_END) break;
        if (key.kind != JSON_KEY || !take_field(&json, &key, state))
            return tensor_damage_tell(source, "dpmf.state", "does not say where the run stands");
    }
    if (state->ranks && (!(state->unobserved > 0) || !(state->regularization > 0)))
        return tensor_damage_tell(source, "dpmf.state", "does not say how users are fitted");
    if (!(state->count_weight >= 0))
        return tensor_damage_tell(source, "dpmf.state", "does not say how counts weigh");
    if (state->has_scale && !(state->rated_min <= state->rated_max))
        return tensor_damage_tell(source, "dpmf.state", "has no scale of ratings");
    const bool is_held = state->user_bias_hold > 0 && state->item_bias_hold > 0;
    if (!is_held && (state->user_bias_hold != 0 || state->item_bias_hold != 0))
        return tensor_damage_tell(source, "dpmf.state", "does not say how biases are held");
    return json_next(&json).kind == JSON_END
               ? 0
               : tensor_damage_tell(source, "dpmf.state", "is more than a JSON object");
}

/* What is said of samples must fit the rows, and be something to divide by. */
static int check_samples(const struct tensor_source *source, const struct checkpoint_state *state,
                         uint32_t k) {
    bool none = state->samples == 0 && state->sample_factors == 0 && state->noise_precision == 0 &&
                state->factor_penalty == 0 && state->bias_penalty == 0;
    bool good = state->samples > 0 && (uint64_t)state->samples * state->sample_factors == k &&
                state->noise_precision > 0 && state->factor_penalty > 0 && state->bias_penalty > 0;
    return none || good ? 0 : tensor_damage_tell(source, "dpmf.state", "does not fit the samples");
}

static int read_scale(const struct tensor_source *source, struct factors *factors) {
    int code = tensor_number_read(source, "dpmf.offset", &factors->offset);
    if (code == 0) code = tensor_number_read(source, "dpmf.min", &factors->min);
    if (code == 0) code = tensor_number_read(source, "dpmf.max", &factors->max);
    if (code == 0 && factors->min > factors->max)
        return tensor_damage_tell(source, "dpmf.min to dpmf.max", "is not a scale");
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int checkpoint_read_from(const struct safetensors *file, size_t (*stride_of)(size_t k),
                         uint64_t spare, struct factors *factors, struct checkpoint_state *state,
                         struct dpmf_error *error) {
    assert(file && stride_of && factors);
    const struct tensor_source source = {file, error};
    bool is_unchecked;
    *factors = (struct factors){0};
    int code = check_kind(&source, &is_unchecked);
    if (code == 0) code = read_scale(&source, factors);
    if (code == 0) code = read_state(&source, state);
    if (code == 0) state->is_unchecked = is_unchecked;
    if (code == 0) code = read_tensors(&source, stride_of, spare, factors);
    if (code == 0) code = check_samples(&source, state, factors->k);
    if (code < 0) factors_free(factors);
    return code;
}

/* ---- in pieces ------------------------------------------------------------------------------- */

static int open_in_pieces(struct checkpoint_file *file, struct dpmf_error *error) {
    const struct tensor_source source = {file->file, error};
    const struct safetensors_entry *users, *items, *best_users, *best_items;
    struct factors scale = {0};
    bool is_unchecked;
    int code = check_kind(&source, &is_unchecked);
    if (code == 0) code = read_scale(&source, &scale);
    if (code == 0) code = read_state(&source, &file->state);
    if (code == 0) file->state.is_unchecked = is_unchecked;
    if (code == 0) code = find_factors(&source, CHECKPOINT_USERS, &users, &items);
    if (code < 0) return code;
    file->offset = scale.offset;
    file->min = scale.min;
    file->max = scale.max;
    file->k = (uint32_t)users->dims[1];
    file->n_users = users->dims[0];
    file->n_items = items->dims[0];
    file->has_best = safetensors_entry_find(file->file, "best_user_factors") != NULL;
    if (!file->has_best) return 0;
    code = find_factors(&source, CHECKPOINT_BEST_USERS, &best_users, &best_items);
    if (code == 0 && (best_users->dims[0] != file->n_users ||
                      best_items->dims[0] != file->n_items || best_users->dims[1] != file->k))
        code = tensor_damage_tell(&source, "the best epoch's factors",
                                  "are not as many as the others");
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

int checkpoint_file_has_ids(const struct checkpoint_file *file, enum checkpoint_side side,
                            const struct factor_ids *ids, struct dpmf_error *error) {
    const struct tensor_source source = {file->file, error};
    const char *const *names = id_names[side == CHECKPOINT_ITEMS];
    const struct safetensors_entry *bytes = NULL, *offsets = NULL;
    int code = tensor_entry_find(&source, names[0], TENSOR_U8, 1, &bytes);
    if (code == 0) code = tensor_entry_find(&source, names[1], TENSOR_I64, 1, &offsets);
    if (code < 0) return code;
    code = tensor_bytes_equal(&source, offsets, ids->start, (ids->n + 1) * sizeof ids->start[0]);
    return code == 1 ? tensor_bytes_equal(&source, bytes, ids->bytes, ids->start[ids->n]) : code;
}

int checkpoint_file_read_rows(const struct checkpoint_file *file, enum checkpoint_side side,
                              uint64_t first, uint64_t n, float *rows, size_t stride, float *biases,
                              struct dpmf_error *error) {
    assert(rows && biases);
    const struct tensor_source source = {file->file, error};
    const struct safetensors_entry *entry;
    uint64_t all =
        side == CHECKPOINT_USERS || side == CHECKPOINT_BEST_USERS ? file->n_users : file->n_items;
    if (first > all || n > all - first || (rows && stride < file->k))
        return error_set(error, DPMF_ERR_BASE_BUG, "rows past the end of a checkpoint");
    int code = tensor_entry_find(&source, matrix_names[side][0], TENSOR_F32, 2, &entry);
    if (code == 0 && rows) code = tensor_rows_read(&source, entry, first, n, file->k, rows, stride);
    if (code == 0) code = tensor_list_find(&source, matrix_names[side][1], TENSOR_F32, all, &entry);
    if (code == 0 && biases) code = tensor_rows_read(&source, entry, first, n, 1, biases, 1);
    return code;
}
