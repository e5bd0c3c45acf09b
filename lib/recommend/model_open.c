/*
 * Opens a model for use and tells what it is: reads the checkpoint or the release into rows laid
 * out for the best kernels of this machine. Feeds everything else in this folder and the commands.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "recommend/model.h"
#include "recommend/score.h"

enum { SPARE_ROWS = 1 }; /* kernels may read a row ahead */

static int copy_provenance(struct dpmf_model *model, const struct safetensors *file,
                           struct dpmf_error *error) {
    const char *text = safetensors_metadata(file, "dpmf.provenance");
    if (!text) text = "{}";
    size_t n = strlen(text) + 1;
    model->provenance = memory_alloc(n, 1);
    if (!model->provenance) return error_no_memory(error);
    memcpy(model->provenance, text, n);
    return 0;
}

/* By columns of both halves, in the order of items: the same bits everywhere. */
static int sum_gramian(struct dpmf_model *model, struct dpmf_error *error) {
    const struct factor_matrix *items = &model->factors.items;
    const size_t k = model->factors.k;
    model->gramian = memory_alloc_zero(k * k, sizeof(double));
    if (!model->gramian) return error_no_memory(error);
    for (uint64_t i = 0; i < items->n; i++) {
        const float *v = items->rows + i * items->stride;
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b <= a; b++)
                model->gramian[a * k + b] += (double)v[a] * (double)v[b];
    }
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < a; b++) model->gramian[b * k + a] = model->gramian[a * k + b];
    return 0;
}

static int read_checkpoint(struct dpmf_model *model, const struct safetensors *file,
                           struct dpmf_error *error) {
    int code = copy_provenance(model, file, error);
    if (code < 0) return code;
    code = checkpoint_read_from(file, model->kernels->stride, SPARE_ROWS, &model->factors,
                                &model->state, error);
    if (code < 0) return code;
    model->factor_penalty = model->state.factor_penalty;
    model->bias_penalty = model->state.bias_penalty;
    return model->state.ranks ? sum_gramian(model, error) : 0;
}

/* The statement of a release of events says from which rating on something was one: at home the
 * same is. A word there is no threshold, and nothing means that there were no ratings. */
static void take_like(struct dpmf_model *model) {
    struct checkpoint_state *state = &model->state;
    struct json_reader json;
    json_reader_init(&json, model->statement, strlen(model->statement));
    if (json_next(&json).kind != JSON_OBJECT_BEGIN) return;
    state->is_of_events = true;
    for (struct json_token key; (key = json_next(&json)).kind == JSON_KEY;) {
        const struct json_token value = json_next(&json);
        if (json_equals(&key, "like")) state->is_of_events = false;
        if (!json_equals(&key, "like") || value.kind != JSON_NUMBER) {
            if (!json_skip(&json, value)) return;
            continue;
        }
        state->has_like = number_parse_double(value.text, value.length, &state->like) == NUMBER_OK;
        return;
    }
}

static int read_release(struct dpmf_model *model, const struct safetensors *file,
                        struct dpmf_error *error) {
    struct release release;
    int code = release_read_from(file, model->kernels->stride, SPARE_ROWS, &release, error);
    if (code < 0) return code;
    model->kind = MODEL_RELEASE;
    model->factors = release.factors;
    model->factor_penalty = release.factor_penalty;
    model->bias_penalty = release.bias_penalty;
    model->of_events = release.ranks;
    if (release.ranks) model->taste_weight = release.taste_weight;
    model->statement = release.statement;
    model->state.best_valid = NAN;
    if (release.ranks) take_like(model);
    return 0;
}

int model_items_measure(struct dpmf_model *model, struct dpmf_error *error) {
    const struct factor_matrix *items = &model->factors.items;
    if (!model->item_norms) model->item_norms = memory_alloc((size_t)items->n, sizeof(double));
    if (!model->item_norms) return error_no_memory(error);
    model->item_norm_max = model->item_bias_max = 0;
    for (uint64_t i = 0; i < items->n; i++) {
        const float *v = items->rows + i * items->stride;
        double norm = sqrt(model_dot(v, v, model->factors.k));
        double bias = fabs((double)items->biases[i]);
        model->item_norms[i] = norm;
        if (!(norm <= model->item_norm_max)) model->item_norm_max = norm;
        if (!(bias <= model->item_bias_max)) model->item_bias_max = bias;
    }
    return 0;
}

static int read_model(struct dpmf_model *model, const struct safetensors *file,
                      struct dpmf_error *error) {
    model->kernels = score_kernels_choose(NULL);
    if (!model->kernels)
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "this machine has no kernels of the name in $DPMF_KERNELS");
    model->file_bytes = safetensors_file_bytes(file);
    int code = release_is_kind(file) ? read_release(model, file, error)
                                     : read_checkpoint(model, file, error);
    if (code < 0) return code;
    /* A release of biases alone has rows of one zero. */
    model->padded_k = model->kernels->padded_k(model->factors.k > 0 ? model->factors.k : 1);
    code = model_items_measure(model, error);
    return code < 0 ? code : score_prepare(model, error);
}

/* Closes the file in any case; `code` says whether it could be opened. */
static int open_file(struct safetensors *file, int code, struct dpmf_model **out,
                     struct dpmf_error *error) {
    struct dpmf_model *model = NULL;
    if (code < 0) goto out;
    model = memory_alloc_zero(1, sizeof *model);
    if (model) model->taste_weight = 1;
    code = model ? read_model(model, file, error) : error_no_memory(error);
    if (code < 0) goto out;
    *out = model;
    model = NULL;
out:
    dpmf_model_close(model);
    safetensors_close(file);
    return code;
}

int dpmf_model_open(const char *path, struct dpmf_model **model, struct dpmf_error *error) {
    struct safetensors *file = NULL;
    int code = arguments_check(error, "path model", path, model);
    if (model) *model = NULL;
    if (code < 0) return code;
    code = safetensors_open(path, &file, error);
    return open_file(file, code, model, error);
}

int dpmf_model_open_memory(const void *bytes, size_t n, const char *name, struct dpmf_model **model,
                           struct dpmf_error *error) {
    struct safetensors *file = NULL;
    int code =
        arguments_check(error, n > 0 ? "name model bytes" : "name model", name, model, bytes);
    if (model) *model = NULL;
    if (code < 0) return code;
    code = safetensors_open_memory(bytes, n, name, &file, error);
    return open_file(file, code, model, error);
}

void dpmf_model_close(struct dpmf_model *model) {
    if (!model) return;
    score_free(model);
    factors_free(&model->factors);
    free(model->item_norms);
    free(model->gramian);
    free(model->provenance);
    free(model->statement);
    free(model);
}

void dpmf_model_info(const struct dpmf_model *model, struct dpmf_model_info *info) {
    if (!info) return;
    if (!model) {
        *info = (struct dpmf_model_info){0};
        return;
    }
    const struct checkpoint_state *state = &model->state;
    *info = (struct dpmf_model_info){
        .kind = model->kind == MODEL_RELEASE ? "release" : "checkpoint",
        .users = model->factors.users.n,
        .items = model->factors.items.n,
        .factors = model->factors.k,
        .offset = model->factors.offset,
        .min = model->factors.min,
        .max = model->factors.max,
        .epochs = state->epoch,
        .file_bytes = model->file_bytes,
        .ratings = state->n_ratings,
        .seed = state->seed,
        .learning_rate = state->learning_rate,
        .decay = state->decay,
        .regularization = state->regularization,
        .best_valid = state->best_valid,
        .best_epoch = state->best_epoch,
        .provenance = model->provenance,
        .samples = state->samples,
        .noise_precision = state->noise_precision,
        .statement = model->statement,
        .factor_penalty = model->factor_penalty,
        .bias_penalty = model->bias_penalty,
        .goal = model_predicts_ratings(model) ? "rating" : "ranking",
        .unobserved = state->unobserved,
        .exponent = state->exponent,
        .like = state->has_like ? state->like : -INFINITY,
        .rated_min = state->has_like && state->has_scale ? state->rated_min : 0,
        .rated_max = state->has_like && state->has_scale ? state->rated_max : 0,
        .is_unchecked = state->is_unchecked,
        .taste_weight = model->taste_weight,
        .count_weight = state->count_weight,
        .is_of_events = state->is_of_events,
        .has_counts = model->factors.item_ids.counts != NULL,
    };
}

uint64_t dpmf_model_find_user(const struct dpmf_model *model, const char *id, size_t length) {
    return model && id ? factor_ids_find(&model->factors.user_ids, id, length) : UINT64_MAX;
}

uint64_t dpmf_model_find_item(const struct dpmf_model *model, const char *id, size_t length) {
    return model && id ? factor_ids_find(&model->factors.item_ids, id, length) : UINT64_MAX;
}

static const char *id_at(const struct factor_ids *ids, uint64_t i, size_t *length) {
    size_t unwanted;
    if (!length) length = &unwanted;
    *length = 0;
    if (!ids || i >= ids->n) return NULL;
    *length = (size_t)(ids->start[i + 1] - ids->start[i]);
    return ids->bytes + ids->start[i];
}

const char *dpmf_model_user_id(const struct dpmf_model *model, uint64_t user, size_t *length) {
    return id_at(model ? &model->factors.user_ids : NULL, user, length);
}

const char *dpmf_model_item_id(const struct dpmf_model *model, uint64_t item, size_t *length) {
    return id_at(model ? &model->factors.item_ids : NULL, item, length);
}

static const float *rows_of(const struct factor_matrix *matrix, size_t *stride) {
    if (stride) *stride = matrix ? matrix->stride : 0;
    return matrix ? matrix->rows : NULL;
}

const float *dpmf_model_item_factors(const struct dpmf_model *model, size_t *stride) {
    return rows_of(model ? &model->factors.items : NULL, stride);
}

const float *dpmf_model_item_biases(const struct dpmf_model *model) {
    return model ? model->factors.items.biases : NULL;
}

const float *dpmf_model_item_counts(const struct dpmf_model *model) {
    return model ? model->factors.item_ids.counts : NULL;
}

const float *dpmf_model_user_factors(const struct dpmf_model *model, size_t *stride) {
    return rows_of(model ? &model->factors.users : NULL, stride);
}

const float *dpmf_model_user_biases(const struct dpmf_model *model) {
    return model ? model->factors.users.biases : NULL;
}
