/*
 * The memory of a model: matrices straight from the kernel, so that a large one costs only the
 * pages it touches, and an index from ids to rows. Filled by the trainer or by checkpoint_read.c;
 * read by lib/recommend and written by checkpoint_write.c.
 */
#include "model/factors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"

/* ---- matrices -------------------------------------------------------------------------------- */

static bool count_bytes(uint64_t n, uint64_t spare, size_t width, size_t *bytes) {
    uint64_t rows;
    return !__builtin_add_overflow(n, spare, &rows) &&
           !__builtin_mul_overflow(rows, width, bytes) && *bytes <= PTRDIFF_MAX / sizeof(float) &&
           !__builtin_mul_overflow(*bytes, sizeof(float), bytes);
}

int factor_matrix_init(struct factor_matrix *matrix, uint64_t n, size_t stride, uint64_t spare,
                       struct dpmf_error *error) {
    assert(matrix);
    size_t row_bytes, bias_bytes;
    *matrix = (struct factor_matrix){.n = n, .stride = stride, .spare = spare};
    if (!count_bytes(n, spare, stride, &row_bytes) || !count_bytes(n, spare, 1, &bias_bytes))
        return error_no_memory(error);
    matrix->rows = memory_map(row_bytes);
    matrix->biases = memory_map(bias_bytes);
    if (matrix->rows && matrix->biases) return 0;
    factor_matrix_free(matrix);
    return error_no_memory(error);
}

void factor_matrix_free(struct factor_matrix *matrix) {
    size_t rows = (size_t)(matrix->n + matrix->spare);
    memory_unmap(matrix->rows, rows * matrix->stride * sizeof(float));
    memory_unmap(matrix->biases, rows * sizeof(float));
    *matrix = (struct factor_matrix){0};
}

/* ---- ids ------------------------------------------------------------------------------------- */

static size_t id_length(const struct factor_ids *ids, uint64_t i) {
    assert(i < ids->n);
    assert(ids->start[i] <= ids->start[i + 1]);
    return (size_t)(ids->start[i + 1] - ids->start[i]);
}

static bool id_equals(const struct factor_ids *ids, uint64_t i, const char *id, size_t length) {
    return id_length(ids, i) == length && memcmp(ids->bytes + ids->start[i], id, length) == 0;
}

/* Slots hold the row's number plus one; 0 is an empty one. Half of them at least are empty.
 * @return the slot with this id, or the empty one where it belongs */
static uint64_t slot_of(const struct factor_ids *ids, const char *id, size_t length) {
    uint64_t mask = ids->n_slots - 1, slot = checksum64(id, length) & mask;
    while (ids->slots[slot] != 0 && !id_equals(ids, ids->slots[slot] - 1, id, length))
        slot = (slot + 1) & mask;
    return slot;
}

int factor_ids_index(struct factor_ids *ids, struct dpmf_error *error) {
    uint64_t n_slots = 8;
    if (ids->slots) return 0;
    if (ids->n >= UINT32_MAX)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "%s",
                         dpmf_error_sentence(DPMF_ERR_INPUT_TOO_MANY));
    while (n_slots < 2 * ids->n) n_slots *= 2;
    ids->slots = memory_alloc_zero((size_t)n_slots, sizeof ids->slots[0]);
    if (!ids->slots) return error_no_memory(error);
    ids->n_slots = n_slots;
    for (uint64_t i = 0; i < ids->n; i++) {
        uint64_t slot = slot_of(ids, ids->bytes + ids->start[i], id_length(ids, i));
        if (ids->slots[slot] != 0) {
            free(ids->slots);
            ids->slots = NULL;
            ids->n_slots = 0;
            return error_set(error, DPMF_ERR_MODEL_CORRUPT, "an id occurs twice");
        }
        ids->slots[slot] = (uint32_t)(i + 1);
    }
    return 0;
}

uint64_t factor_ids_find(const struct factor_ids *ids, const char *id, size_t length) {
    assert(ids && (id || length == 0));
    if (!ids->slots) return UINT64_MAX;
    uint32_t found = ids->slots[slot_of(ids, id, length)];
    return found != 0 ? found - 1 : UINT64_MAX;
}

void factor_ids_free(struct factor_ids *ids) {
    free(ids->bytes);
    free(ids->start);
    free(ids->slots);
    free(ids->counts);
    *ids = (struct factor_ids){0};
}

void factors_free(struct factors *factors) {
    factor_matrix_free(&factors->users);
    factor_matrix_free(&factors->items);
    factor_ids_free(&factors->user_ids);
    factor_ids_free(&factors->item_ids);
    learned_pairs_free(&factors->learned);
}

/* Without a branch a number: an exponent of ones is what infinities and NaNs have in common. */
bool factors_are_finite(const float *values, size_t n) {
    assert(values || n == 0);
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        found |= (uint32_t)((bits & 0x7f800000u) == 0x7f800000u);
    }
    return found == 0;
}
