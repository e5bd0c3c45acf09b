/*
 * The whitelist of a release, its header, and the digest over all of it. The digest chains XXH3
 * through the parts in one fixed order; it notices damage, and is no signature: whoever changes a
 * release on purpose can compute it again. Feeds release_write.c and release_read.c.
 */
#include "model/release_parts.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"

enum { PIECE_BYTES = 1 << 20 }; /* bytes of a tensor that are summed at once: part of the format */

const char *const release_tensor_names[RELEASE_TENSORS] = {
    [RELEASE_ID_OFFSETS] = "item_id_offsets", [RELEASE_FACTORS] = "item_factors",
    [RELEASE_BIASES] = "item_biases",         [RELEASE_ID_BYTES] = "item_id_bytes",
    [RELEASE_COUNTS] = "item_counts",
};

const char *const release_metadata_keys[RELEASE_METADATA] = {
    "dpmf.kind",           "dpmf.format",       "dpmf.version",
    "dpmf.offset",         "dpmf.min",          "dpmf.max",
    "dpmf.factor_penalty", "dpmf.bias_penalty", [RELEASE_TASTE_WEIGHT] = "dpmf.taste_weight",
    "dpmf.statement",      "dpmf.digest",
};

/* ---- the tensors ----------------------------------------------------------------------------- */

static struct tensor list_of(enum release_tensor which, enum tensor_type type, uint64_t n,
                             const void *data) {
    return (struct tensor){
        .name = release_tensor_names[which], .type = type, .n_dims = 1, .dims = {n}, .data = data};
}

size_t release_tensors_list(const struct release *release, struct tensor tensors[RELEASE_TENSORS]) {
    const struct factor_matrix *items = &release->factors.items;
    const struct factor_ids *ids = &release->factors.item_ids;
    tensors[RELEASE_ID_OFFSETS] = list_of(RELEASE_ID_OFFSETS, TENSOR_I64, ids->n + 1, ids->start);
    tensors[RELEASE_FACTORS] = (struct tensor){.name = release_tensor_names[RELEASE_FACTORS],
                                               .type = TENSOR_F32,
                                               .n_dims = 2,
                                               .dims = {items->n, release->factors.k},
                                               .data = items->rows,
                                               .stride = items->stride * sizeof(float)};
    tensors[RELEASE_BIASES] = list_of(RELEASE_BIASES, TENSOR_F32, items->n, items->biases);
    tensors[RELEASE_ID_BYTES] =
        list_of(RELEASE_ID_BYTES, TENSOR_U8, ids->start[ids->n], ids->bytes);
    if (!ids->counts) return RELEASE_COUNTS;
    tensors[RELEASE_COUNTS] = list_of(RELEASE_COUNTS, TENSOR_F32, ids->n, ids->counts);
    return RELEASE_TENSORS;
}

/* ---- the header ------------------------------------------------------------------------------ */

size_t release_metadata_list(const char *const values[RELEASE_METADATA],
                             const char *metadata[2 * RELEASE_METADATA]) {
    size_t n = 0;
    for (size_t i = 0; i < RELEASE_METADATA; i++) {
        if (!values[i]) continue;
        metadata[2 * n] = release_metadata_keys[i];
        metadata[2 * n++ + 1] = values[i];
    }
    return n;
}

int release_header_make(const struct release *release, const char *const values[RELEASE_METADATA],
                        uint8_t **header, size_t *n, struct dpmf_error *error) {
    assert(release && values && header && n);
    struct tensor tensors[RELEASE_TENSORS];
    const char *metadata[2 * RELEASE_METADATA];
    const size_t n_tensors = release_tensors_list(release, tensors);
    const size_t n_metadata = release_metadata_list(values, metadata);
    return safetensors_header_make(tensors, n_tensors, metadata, n_metadata, header, n, error);
}

/* ---- the digest ------------------------------------------------------------------------------ */

struct digest {
    uint64_t sum;
    uint8_t *piece;
    size_t n;
};

static void end_piece(struct digest *digest) {
    if (digest->n > 0) digest->sum = checksum64_seeded(digest->piece, digest->n, digest->sum);
    digest->n = 0;
}

static void add_bytes(struct digest *digest, const void *bytes, size_t n) {
    assert(bytes || n == 0);
    const uint8_t *from = bytes;
    while (n > 0) {
        size_t room = PIECE_BYTES - digest->n, m = n < room ? n : room;
        memcpy(digest->piece + digest->n, from, m);
        digest->n += m;
        from += m;
        n -= m;
        if (digest->n == PIECE_BYTES) end_piece(digest);
    }
}

static void add_text(struct digest *digest, const char *key, const char *value) {
    add_bytes(digest, key, strlen(key));
    add_bytes(digest, "=", 1);
    add_bytes(digest, value, strlen(value));
    end_piece(digest);
}

static void add_tensor(struct digest *digest, const struct tensor *tensor) {
    static const size_t sizes[] = {
        [TENSOR_U8] = 1, [TENSOR_F32] = 4, [TENSOR_F64] = 8, [TENSOR_I64] = 8};
    const size_t columns = tensor->n_dims == 2 ? (size_t)tensor->dims[1] : 1;
    const size_t row_bytes = columns * sizes[tensor->type];
    const size_t stride = tensor->stride ? tensor->stride : row_bytes;
    char shape[48];
    int n = snprintf(shape, sizeof shape, "%" PRIu64, tensor->dims[0]);
    if (tensor->n_dims == 2)
        snprintf(shape + n, sizeof shape - (size_t)n, "x%" PRIu64, tensor->dims[1]);
    add_text(digest, tensor->name, shape);
    if (row_bytes == 0) return;
    for (uint64_t i = 0; i < tensor->dims[0]; i++)
        add_bytes(digest, (const char *)tensor->data + i * stride, row_bytes);
    end_piece(digest);
}

int release_digest_make(const struct release *release,
                        const char *const values[RELEASE_METADATA - 1],
                        char text[RELEASE_DIGEST_TEXT], struct dpmf_error *error) {
    struct tensor tensors[RELEASE_TENSORS];
    struct digest digest = {.piece = memory_alloc(PIECE_BYTES, 1)};
    if (!digest.piece) return error_no_memory(error);
    for (size_t i = 0; i < RELEASE_METADATA - 1; i++)
        if (values[i]) add_text(&digest, release_metadata_keys[i], values[i]);
    const size_t n_tensors = release_tensors_list(release, tensors);
    for (size_t i = 0; i < n_tensors; i++) add_tensor(&digest, &tensors[i]);
    snprintf(text, RELEASE_DIGEST_TEXT, "%016" PRIx64, digest.sum);
    free(digest.piece);
    return 0;
}

/* ---- what its numbers may be ----------------------------------------------------------------- */

static const double FAR_SPANS = 1000, PENALTY_MIN = 1e-9, PENALTY_MAX = 1e9, FACTOR_MAX = 1e6;
static const double WEIGHT_MAX = 1000;
static const float COUNT_MIN = 1e-30f, COUNT_MAX = 1e15f;

static bool is_penalty(double penalty, double unit) {
    assert(unit > 0);
    return penalty >= PENALTY_MIN * unit && penalty <= PENALTY_MAX * unit;
}

/* What is not a number is not within anything. */
static bool all_within(const float *values, size_t n, double most) {
    assert(values || n == 0);
    bool is_within = true;
    for (size_t i = 0; i < n; i++) is_within &= fabs((double)values[i]) <= most;
    return is_within;
}

static const char *matrix_fault(const struct factors *factors, double span, const char **which) {
    const struct factor_matrix *items = &factors->items;
    *which = release_tensor_names[RELEASE_BIASES];
    if (!all_within(items->biases, (size_t)items->n, FAR_SPANS * span))
        return "has a number that is too far off the scale of ratings";
    *which = release_tensor_names[RELEASE_FACTORS];
    for (uint64_t i = 0; factors->k > 0 && i < items->n; i++)
        if (!all_within(items->rows + i * items->stride, factors->k, FACTOR_MAX * fmax(1, span)))
            return "has a number that is too large";
    *which = release_tensor_names[RELEASE_COUNTS];
    for (uint64_t i = 0; factors->item_ids.counts && i < items->n; i++)
        if (!(factors->item_ids.counts[i] >= COUNT_MIN && factors->item_ids.counts[i] <= COUNT_MAX))
            return "has a number that is not a count";
    return NULL;
}

/* Not -0, whose sign could carry something. */
static bool is_plain_zero(double value) { return value == 0 && !signbit(value); }

static bool all_plain_zeros(const float *values, size_t n) {
    bool are_zeros = true;
    for (size_t i = 0; i < n; i++) are_zeros &= is_plain_zero((double)values[i]);
    return are_zeros;
}

/* What has no meaning in a release of events has one value, so that it says nothing. */
static const char *ranking_fault(const struct release *release, const char **which) {
    const struct factors *factors = &release->factors;
    *which = "dpmf.taste_weight";
    if (!(release->taste_weight >= 0 && release->taste_weight <= WEIGHT_MAX))
        return "is not a weight that makes sense";
    *which = release_tensor_names[RELEASE_COUNTS];
    if (!factors->item_ids.counts) return "is missing";
    *which = release_tensor_names[RELEASE_BIASES];
    if (!all_plain_zeros(factors->items.biases, (size_t)factors->items.n))
        return "is not 0 in a release of events";
    *which = "a number";
    return is_plain_zero(factors->offset) && is_plain_zero(factors->min) && factors->max == 1 &&
                   release->factor_penalty == 1 && release->bias_penalty == 1
               ? NULL
               : "has a value that means nothing in a release of events";
}

const char *release_fault_find(const struct release *release, const char **which) {
    const struct factors *factors = &release->factors;
    const double span = factors->max - factors->min, far = FAR_SPANS * span;
    *which = "dpmf.min to dpmf.max";
    if (!(span > 0) || !(fabs(factors->min) <= (double)FLT_MAX) ||
        !(fabs(factors->max) <= (double)FLT_MAX))
        return "is not a scale";
    *which = "dpmf.offset";
    if (!(factors->offset >= factors->min - far && factors->offset <= factors->max + far))
        return "is too far off the scale of ratings";
    *which = "dpmf.factor_penalty";
    if (!(release->factor_penalty == 0 && factors->k == 0) &&
        !is_penalty(release->factor_penalty, span * span))
        return "is not a penalty that makes sense";
    *which = "dpmf.bias_penalty";
    if (!is_penalty(release->bias_penalty, 1)) return "is not a penalty that makes sense";
    const char *fault = release->ranks ? ranking_fault(release, which) : NULL;
    if (fault) return fault;
    return matrix_fault(factors, span, which);
}

/* ---- the version ----------------------------------------------------------------------------- */

bool release_version_is_sound(const char *version) {
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyz.-+";
    size_t n = strlen(version);
    return n > 0 && n <= RELEASE_VERSION_MAX && strspn(version, allowed) == n;
}

void release_free(struct release *release) {
    factors_free(&release->factors);
    free(release->statement);
    *release = (struct release){0};
}
