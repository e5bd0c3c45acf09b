/*
 * Writes a checkpoint: rows without their padding, piece by piece and in any order, ids, and the
 * state of the run as text before them, which comes last. Fed by the trainer and its snapshots;
 * read by checkpoint_read.c.
 */
#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "model/checkpoint.h"
#include "model/model_checksum.h"
#include "model/safetensors.h"

enum {
    PIECE_FLOATS = 1 << 14, /* packed and written at once, in the heap; never less than a row */
    N_METADATA = 9,
};

/* The tensors in the order of the file: the widest numbers first, so that each lies at a multiple
 * of its numbers' size. Those of the best epoch are left out where there is none. */
enum {
    USER_ID_OFFSETS,
    ITEM_ID_OFFSETS,
    LEARNED_PAIRS,            /* left out where it is not known */
    FACTORS,                  /* users', items', the best epoch's users' and items' */
    BIASES = FACTORS + 4,     /* likewise */
    USER_COUNTS = BIASES + 4, /* left out where they are not known, and so are the items' */
    ITEM_COUNTS,
    USER_ID_BYTES, /* ids */
    ITEM_ID_BYTES,
    N_TENSORS
};

struct checkpoint_draft {
    struct safetensors_draft *file;
    const struct factors *factors;
    bool with_best;
    const char *provenance;
    char offset[DPMF_DOUBLE_TEXT_MAX], min[DPMF_DOUBLE_TEXT_MAX], max[DPMF_DOUBLE_TEXT_MAX];
};

/* ---- the state ------------------------------------------------------------------------------- */

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
    if (state->digest != 0) put_whole(json, "digest", state->digest);
    if (state->valid_digest != 0) put_whole(json, "valid_digest", state->valid_digest);
    dpmf_json_double(json, "best_valid", state->best_valid);
    dpmf_json_uint(json, "best_epoch", state->best_epoch);
    dpmf_json_string(json, "order", state->order);
    put_whole(json, "tiles", state->tiles);
    put_whole(json, "superblock_users", state->superblock_users);
    put_whole(json, "superblocks_done", state->superblocks_done);
    put_whole(json, "ratings_done", state->ratings_done);
    dpmf_json_double(json, "squared_error", state->squared_error);
    if (state->user_bias_hold > 0) {
        dpmf_json_double(json, "user_bias_hold", state->user_bias_hold);
        dpmf_json_double(json, "item_bias_hold", state->item_bias_hold);
    }
    if (state->samples > 0) {
        dpmf_json_uint(json, "samples", state->samples);
        dpmf_json_uint(json, "sample_factors", state->sample_factors);
        dpmf_json_double(json, "noise_precision", state->noise_precision);
        dpmf_json_double(json, "factor_penalty", state->factor_penalty);
        dpmf_json_double(json, "bias_penalty", state->bias_penalty);
    }
    if (state->ranks) {
        dpmf_json_bool(json, "ranks", true);
        dpmf_json_double(json, "unobserved", state->unobserved);
        dpmf_json_double(json, "exponent", state->exponent);
        if (state->has_like) dpmf_json_double(json, "like", state->like);
        if (state->is_of_events) dpmf_json_bool(json, "events", true);
        if (state->count_weight > 0) dpmf_json_double(json, "count_weight", state->count_weight);
        if (state->has_scale) {
            dpmf_json_double(json, "rated_min", state->rated_min);
            dpmf_json_double(json, "rated_max", state->rated_max);
        }
    }
    dpmf_json_end_object(json);
    return json;
}

/* None has a longer text. */
static struct checkpoint_state longest_state(void) {
    const double longest = -DBL_MAX;
    return (struct checkpoint_state){
        .epoch = UINT32_MAX,
        .seed = UINT64_MAX,
        .learning_rate = longest,
        .decay = longest,
        .regularization = longest,
        .user_bias_hold = DBL_MAX,
        .item_bias_hold = longest,
        .n_ratings = UINT64_MAX,
        .fingerprint = UINT64_MAX,
        .digest = UINT64_MAX,
        .valid_digest = UINT64_MAX,
        .best_valid = longest,
        .best_epoch = UINT32_MAX,
        .superblock_users = UINT64_MAX,
        .superblocks_done = UINT64_MAX,
        .ratings_done = UINT64_MAX,
        .squared_error = longest,
        .tiles = UINT64_MAX,
        .order = "a long name ...",
        .samples = UINT32_MAX,
        .sample_factors = UINT32_MAX,
        .noise_precision = longest,
        .factor_penalty = longest,
        .bias_penalty = longest,
        .ranks = true,
        .unobserved = longest,
        .exponent = longest,
        .has_like = true,
        .like = longest,
        .has_scale = true,
        .rated_min = longest,
        .rated_max = longest,
        .is_of_events = true,
        .count_weight = DBL_MAX,
    };
}

static void fill_metadata(const struct checkpoint_draft *draft, const char *state,
                          const char *metadata[2 * N_METADATA]) {
    const char *const pairs[2 * N_METADATA] = {
        "dpmf.kind",        "checkpoint",
        "dpmf.format",      CHECKPOINT_FORMAT,
        "dpmf.version",     dpmf_version(),
        "dpmf.offset",      draft->offset,
        "dpmf.min",         draft->min,
        "dpmf.max",         draft->max,
        "dpmf.state",       state,
        "dpmf.provenance",  draft->provenance,
        MODEL_CHECKSUM_KEY, MODEL_CHECKSUM_ZEROS,
    };
    memcpy(metadata, pairs, sizeof pairs);
}

/* ---- drafts ---------------------------------------------------------------------------------- */

static struct tensor rows_of(const char *name, uint64_t n, uint32_t k) {
    assert(name && k > 0);
    return (struct tensor){.name = name, .type = TENSOR_F32, .n_dims = 2, .dims = {n, k}};
}

static struct tensor list_of(const char *name, enum tensor_type type, uint64_t n) {
    return (struct tensor){.name = name, .type = type, .n_dims = 1, .dims = {n}};
}

static size_t fill_tensors(const struct factors *factors, bool with_best,
                           struct tensor tensors[N_TENSORS]) {
    static const char *const best_rows[] = {"best_user_factors", "best_item_factors"};
    static const char *const best_biases[] = {"best_user_biases", "best_item_biases"};
    const struct factor_ids *users = &factors->user_ids, *items = &factors->item_ids;
    const uint64_t n[2] = {factors->users.n, factors->items.n};
    size_t at = 0;
    tensors[at++] = list_of("user_id_offsets", TENSOR_I64, users->n + 1);
    tensors[at++] = list_of("item_id_offsets", TENSOR_I64, items->n + 1);
    if (factors->learned.n > 0)
        tensors[at++] = list_of(CHECKPOINT_LEARNED_PAIRS, TENSOR_I64, factors->learned.n);
    tensors[at++] = rows_of("user_factors", n[0], factors->k);
    tensors[at++] = rows_of("item_factors", n[1], factors->k);
    for (int i = 0; with_best && i < 2; i++)
        tensors[at++] = rows_of(best_rows[i], n[i], factors->k);
    tensors[at++] = list_of("user_biases", TENSOR_F32, n[0]);
    tensors[at++] = list_of("item_biases", TENSOR_F32, n[1]);
    for (int i = 0; with_best && i < 2; i++)
        tensors[at++] = list_of(best_biases[i], TENSOR_F32, n[i]);
    if (users->counts) tensors[at++] = list_of("user_counts", TENSOR_F32, n[0]);
    if (items->counts) tensors[at++] = list_of("item_counts", TENSOR_F32, n[1]);
    tensors[at++] = list_of("user_id_bytes", TENSOR_U8, users->start[users->n]);
    tensors[at++] = list_of("item_id_bytes", TENSOR_U8, items->start[items->n]);
    return at;
}

/* Where a tensor of the list above is in this file. */
static size_t place_of(const struct checkpoint_draft *draft, size_t tensor) {
    const struct factors *factors = draft->factors;
    size_t missing = 0;
    if (tensor > LEARNED_PAIRS && factors->learned.n == 0) missing++;
    if (tensor > USER_COUNTS && !factors->user_ids.counts) missing++;
    if (tensor > ITEM_COUNTS && !factors->item_ids.counts) missing++;
    if (!draft->with_best && tensor >= FACTORS + 2) missing += tensor < USER_COUNTS ? 2 : 4;
    return tensor - missing;
}

void checkpoint_draft_abandon(struct checkpoint_draft *draft) {
    if (!draft) return;
    safetensors_draft_abandon(draft->file);
    free(draft);
}

int checkpoint_draft_open(struct checkpoint_draft **out, const char *path,
                          const struct factors *factors, bool with_best, const char *provenance,
                          struct dpmf_error *error) {
    assert(out && path && factors);
    *out = NULL;
    struct tensor tensors[N_TENSORS];
    const char *metadata[2 * N_METADATA];
    struct checkpoint_draft *draft = memory_alloc_zero(1, sizeof *draft);
    if (!draft) return error_no_memory(error);
    *draft = (struct checkpoint_draft){
        .factors = factors,
        .with_best = with_best,
        .provenance = provenance ? provenance : "{}",
    };
    dpmf_format_double(factors->offset, draft->offset);
    dpmf_format_double(factors->min, draft->min);
    dpmf_format_double(factors->max, draft->max);
    const struct checkpoint_state longest = longest_state();
    struct dpmf_json *json = state_json(&longest);
    const char *text = dpmf_json_text(json, NULL);
    int code = text ? 0 : error_no_memory(error);
    if (code == 0) {
        fill_metadata(draft, text, metadata);
        code = safetensors_draft_open(&draft->file, path, OUTPUT_PRIVATE, tensors,
                                      fill_tensors(factors, with_best, tensors), metadata,
                                      N_METADATA, error);
    }
    dpmf_json_free(json);
    if (code < 0) {
        checkpoint_draft_abandon(draft);
        return code;
    }
    *out = draft;
    return 0;
}

static int put_list(struct checkpoint_draft *draft, size_t tensor, const void *bytes, uint64_t n,
                    struct dpmf_error *error) {
    return safetensors_draft_put(draft->file, place_of(draft, tensor), 0, bytes, (size_t)n, error);
}

int checkpoint_draft_put_ids(struct checkpoint_draft *draft, struct dpmf_error *error) {
    const struct factor_ids *users = &draft->factors->user_ids, *items = &draft->factors->item_ids;
    int code = put_list(draft, USER_ID_OFFSETS, users->start, (users->n + 1) * 8, error);
    if (code == 0) code = put_list(draft, ITEM_ID_OFFSETS, items->start, (items->n + 1) * 8, error);
    if (code == 0)
        code = put_list(draft, USER_ID_BYTES, users->bytes, users->start[users->n], error);
    if (code == 0)
        code = put_list(draft, ITEM_ID_BYTES, items->bytes, items->start[items->n], error);
    const struct learned_pairs *learned = &draft->factors->learned;
    if (code == 0 && learned->n > 0)
        code = put_list(draft, LEARNED_PAIRS, learned->hash, learned->n * sizeof(uint64_t), error);
    if (code == 0 && users->counts)
        code = put_list(draft, USER_COUNTS, users->counts, users->n * sizeof(float), error);
    if (code == 0 && items->counts)
        code = put_list(draft, ITEM_COUNTS, items->counts, items->n * sizeof(float), error);
    return code;
}

static int check_finite(const float *values, size_t n, struct dpmf_error *error) {
    if (factors_are_finite(values, n)) return 0;
    error_set(error, DPMF_ERR_TRAIN_DIVERGED, "a number of the model is not finite");
    error_hint(error, "use a smaller {learning-rate}, or a larger {reg}");
    return DPMF_ERR_TRAIN_DIVERGED;
}

/* n rows of k floats, the first of them the tensor's `first`, by way of a copy: what is checked,
 * what is written and what the checksum is of are the same numbers, even where others go on
 * changing the model meanwhile (Hogwild does). */
static int put_rows(struct checkpoint_draft *draft, size_t tensor, uint64_t first, uint64_t n,
                    size_t k, const float *rows, size_t stride, struct dpmf_error *error) {
    assert(stride >= k);
    assert(rows || n == 0);
    size_t most = PIECE_FLOATS / k;
    if (most > n) most = (size_t)n;
    float *piece = memory_alloc(most * k, sizeof piece[0]);
    if (!piece) return error_no_memory(error);
    int code = 0;
    for (uint64_t i = 0; i < n && code == 0; i += most) {
        size_t m = (size_t)(n - i < most ? n - i : most);
        for (size_t j = 0; j < m; j++)
            memcpy(piece + j * k, rows + (i + j) * stride, k * sizeof piece[0]);
        code = check_finite(piece, m * k, error);
        if (code == 0)
            code = safetensors_draft_put(draft->file, place_of(draft, tensor),
                                         (first + i) * k * sizeof piece[0], piece,
                                         m * k * sizeof piece[0], error);
    }
    free(piece);
    return code;
}

int checkpoint_draft_put_rows(struct checkpoint_draft *draft, enum checkpoint_side side,
                              uint64_t first, uint64_t n, const float *rows, size_t stride,
                              const float *biases, struct dpmf_error *error) {
    assert(draft && stride >= draft->factors->k);
    size_t k = draft->factors->k, i = (size_t)side;
    if (n == 0) return 0;
    int code = put_rows(draft, FACTORS + i, first, n, k, rows, stride, error);
    if (code == 0) code = put_rows(draft, BIASES + i, first, n, 1, biases, 1, error);
    return code;
}

int checkpoint_draft_commit(struct checkpoint_draft *draft, const struct checkpoint_state *state,
                            struct dpmf_error *error) {
    assert(draft && state);
    const char *metadata[2 * N_METADATA];
    struct dpmf_json *json = state_json(state);
    const char *text = dpmf_json_text(json, NULL);
    int code = text ? 0 : error_no_memory(error);
    if (code == 0) {
        fill_metadata(draft, text, metadata);
        code = safetensors_draft_commit(draft->file, metadata, N_METADATA, error);
        draft->file = NULL;
    }
    dpmf_json_free(json);
    checkpoint_draft_abandon(draft);
    return code;
}
