/*
 * A set of ids that grows while a file is read. The index of factor_ids is made once and for ids
 * that are known to differ; this one finds out whether they do. Fed by catalogue.c and
 * user_wishes.c, feeds factor_ids.
 */
#include "privacy/id_gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"

static uint64_t slot_of(const struct id_gather *gather, const char *id, size_t length) {
    const struct factor_ids *ids = &gather->ids;
    uint64_t mask = gather->n_slots - 1, slot = checksum64(id, length) & mask;
    for (; gather->slots[slot] != 0; slot = (slot + 1) & mask) {
        uint64_t i = gather->slots[slot] - 1;
        if (ids->start[i + 1] - ids->start[i] == length &&
            memcmp(ids->bytes + ids->start[i], id, length) == 0)
            break;
    }
    return slot;
}

/* Twice the slots, so that at least half of them are empty. */
static bool grow_slots(struct id_gather *gather) {
    uint64_t n_slots = gather->n_slots > 0 ? 2 * gather->n_slots : 64;
    uint32_t *slots = memory_alloc_zero((size_t)n_slots, sizeof slots[0]);
    if (!slots) return false;
    free(gather->slots);
    gather->slots = slots;
    gather->n_slots = n_slots;
    for (uint64_t i = 0; i < gather->ids.n; i++) {
        const uint64_t *start = gather->ids.start + i;
        slots[slot_of(gather, gather->ids.bytes + start[0], (size_t)(start[1] - start[0]))] =
            (uint32_t)(i + 1);
    }
    return true;
}

static bool has_room(struct id_gather *gather, size_t length) {
    struct factor_ids *ids = &gather->ids;
    size_t used = ids->start ? (size_t)ids->start[ids->n] : 0;
    if (2 * (ids->n + 1) > gather->n_slots && !grow_slots(gather)) return false;
    if (!memory_reserve(&ids->bytes, &gather->bytes_capacity, used + length, 1)) return false;
    if (!memory_reserve(&ids->start, &gather->start_capacity, (size_t)ids->n + 2,
                        sizeof ids->start[0]))
        return false;
    ids->start[ids->n] = used;
    return true;
}

int64_t id_gather_add(struct id_gather *gather, const char *id, size_t length,
                      struct dpmf_error *error) {
    struct factor_ids *ids = &gather->ids;
    if (ids->n >= UINT32_MAX - 1)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "%s",
                         dpmf_error_sentence(DPMF_ERR_INPUT_TOO_MANY));
    if (!has_room(gather, length)) return error_no_memory(error);
    uint64_t slot = slot_of(gather, id, length);
    if (gather->slots[slot] != 0) return (int64_t)gather->slots[slot] - 1;
    memcpy(ids->bytes + ids->start[ids->n], id, length);
    ids->start[ids->n + 1] = ids->start[ids->n] + length;
    gather->slots[slot] = (uint32_t)(++ids->n);
    return (int64_t)(ids->n - 1);
}

int id_gather_finish(struct id_gather *gather, struct factor_ids *ids, struct dpmf_error *error) {
    bool has_start = has_room(gather, 0); /* also where there are no ids */
    *ids = gather->ids;
    gather->ids = (struct factor_ids){0};
    id_gather_free(gather);
    int code = has_start ? factor_ids_index(ids, error) : error_no_memory(error);
    if (code < 0) factor_ids_free(ids);
    return code;
}

void id_gather_free(struct id_gather *gather) {
    factor_ids_free(&gather->ids);
    free(gather->slots);
    *gather = (struct id_gather){0};
}
