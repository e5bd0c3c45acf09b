/*
 * Writes a checkpoint: the model's tensors as they lie in memory, row by row without their padding,
 * and the state of the run as text beside them. Fed by the trainer; read by checkpoint_read.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"

/* Whole numbers of 64 bits are texts: most readers of JSON would round them. */
static void put_whole(struct dpmf_json *json, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    dpmf_json_string(json, key, text);
}

static struct dpmf_json *state_json(const struct checkpoint_state *state) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_uint(json, "epoch", state->epoch);
    put_whole(json, "seed", state->seed);
    dpmf_json_double(json, "learning_rate", state->learning_rate);
    dpmf_json_double(json, "decay", state->decay);
    dpmf_json_double(json, "regularization", state->regularization);
    put_whole(json, "ratings", state->n_ratings);
    put_whole(json, "fingerprint", state->fingerprint);
    dpmf_json_double(json, "best_valid", state->best_valid);
    dpmf_json_uint(json, "best_epoch", state->best_epoch);
    dpmf_json_end_object(json);
    return json;
}

static struct tensor rows_of(const char *name, const struct factor_matrix *matrix, uint32_t k) {
    return (struct tensor){.name = name,
                           .type = TENSOR_F32,
                           .n_dims = 2,
                           .dims = {matrix->n, k},
                           .data = matrix->rows,
                           .stride = matrix->stride * sizeof(float)};
}

static struct tensor list_of(const char *name, enum tensor_type type, uint64_t n,
                             const void *data) {
    return (struct tensor){.name = name, .type = type, .n_dims = 1, .dims = {n}, .data = data};
}

static int write_with_state(const char *path, const struct factors *factors, const char *state,
                            const char *provenance, struct dpmf_error *error) {
    const struct factor_ids *users = &factors->user_ids, *items = &factors->item_ids;
    /* The widest numbers first: each tensor then lies at a multiple of its numbers' size. */
    const struct tensor tensors[] = {
        list_of("user_id_offsets", TENSOR_I64, users->n + 1, users->start),
        list_of("item_id_offsets", TENSOR_I64, items->n + 1, items->start),
        rows_of("user_factors", &factors->users, factors->k),
        rows_of("item_factors", &factors->items, factors->k),
        list_of("user_biases", TENSOR_F32, factors->users.n, factors->users.biases),
        list_of("item_biases", TENSOR_F32, factors->items.n, factors->items.biases),
        list_of("user_id_bytes", TENSOR_U8, users->start[users->n], users->bytes),
        list_of("item_id_bytes", TENSOR_U8, items->start[items->n], items->bytes),
    };
    char offset[DPMF_DOUBLE_TEXT_MAX], min[DPMF_DOUBLE_TEXT_MAX], max[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(factors->offset, offset);
    dpmf_format_double(factors->min, min);
    dpmf_format_double(factors->max, max);
    const char *const metadata[] = {
        "dpmf.kind",       "checkpoint",
        "dpmf.format",     CHECKPOINT_FORMAT,
        "dpmf.version",    dpmf_version(),
        "dpmf.offset",     offset,
        "dpmf.min",        min,
        "dpmf.max",        max,
        "dpmf.state",      state,
        "dpmf.provenance", provenance,
    };
    return safetensors_write(path, OUTPUT_PRIVATE, tensors, sizeof tensors / sizeof tensors[0],
                             metadata, sizeof metadata / sizeof metadata[0] / 2, error);
}

int checkpoint_write(const char *path, const struct factors *factors,
                     const struct checkpoint_state *state, const char *provenance,
                     struct dpmf_error *error) {
    struct dpmf_json *json = state_json(state);
    const char *text = dpmf_json_text(json, NULL);
    int code = text ? write_with_state(path, factors, text, provenance ? provenance : "{}", error)
                    : error_no_memory(error);
    dpmf_json_free(json);
    return code;
}
