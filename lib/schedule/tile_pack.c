/*
 * Packs and unpacks the chunks of tile_pack.h. Unpacking is done in every epoch and has no branches
 * within a chunk: it always reads eight lanes, and puts the spare row where there are fewer. Fed by
 * tile_build.c and by files that it wrote; feeds the epochs of lib/train.
 */
#include "schedule/tile_pack.h"

#include <string.h>

void tile_values_clear(struct tile_values *values) { memset(values, 0, sizeof *values); }

static uint32_t slot_of(const struct tile_values *values, float value) {
    const uint32_t mask = sizeof values->slots / sizeof values->slots[0] - 1;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t slot = bits * 2654435761u >> 16 & mask;
    while (values->slots[slot] != 0) {
        uint32_t there;
        memcpy(&there, &values->value[values->slots[slot] - 1], sizeof there);
        if (there == bits) break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

void tile_values_add(struct tile_values *values, float value) {
    if (values->n > TILE_PACK_VALUES) return;
    uint32_t slot = slot_of(values, value);
    if (values->slots[slot] != 0) return;
    if (values->n < TILE_PACK_VALUES) {
        values->value[values->n] = value;
        values->slots[slot] = (uint16_t)(values->n + 1);
    }
    values->n++;
}

bool tile_pack_append(struct byte_buffer *to, const struct tile_pack *pack,
                      const struct tile_values *values, const struct kernel_chunk *chunks,
                      size_t n) {
    for (size_t c = 0; c < n; c++) {
        const struct kernel_chunk *chunk = &chunks[c];
        uint8_t *at = byte_buffer_room(to, 5 + 8 * KERNEL_LANES), *begin = at;
        if (!at) return false;
        memcpy(at, &chunk->resident, 4);
        at[4] = (uint8_t)chunk->n;
        at += 5;
        for (uint32_t i = 0; i < chunk->n; i++) {
            uint32_t row = chunk->moving[i] - pack->first;
            uint16_t narrow = (uint16_t)row;
            if (pack->wide)
                memcpy(at, &row, 4), at += 4;
            else
                memcpy(at, &narrow, 2), at += 2;
        }
        for (uint32_t i = 0; i < chunk->n; i++) {
            if (pack->values)
                *at++ = (uint8_t)(values->slots[slot_of(values, chunk->rating[i])] - 1);
            else
                memcpy(at, &chunk->rating[i], 4), at += 4;
        }
        to->n += (size_t)(at - begin);
    }
    return true;
}

/* The lanes of a chunk. Written as vectors, since compilers make the same loops a ladder of
 * branches, which no processor can guess, or go by way of the stack. */
typedef uint32_t lanes __attribute__((vector_size(4 * KERNEL_LANES)));
typedef uint16_t narrow_lanes __attribute__((vector_size(2 * KERNEL_LANES)));

/* From KERNEL_LANES - m on: all bits where a lane is in use. */
static const uint32_t in_use[2 * KERNEL_LANES] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

static inline __attribute__((always_inline)) const uint8_t *
read_chunks(const struct tile_pack *pack, const uint8_t *at, struct kernel_chunk *chunks, size_t n,
            const bool wide, const bool named) {
    const uint32_t first = pack->first, spare = pack->spare;
    uint32_t values[TILE_PACK_VALUES]; /* the bits of the ratings */
    if (named) memcpy(values, pack->values, sizeof values);
    for (size_t c = 0; c < n; c++) {
        struct kernel_chunk *chunk = &chunks[c];
        uint32_t m = at[4] < KERNEL_LANES ? at[4] : KERNEL_LANES;
        lanes mask, rows, ratings;
        memcpy(&mask, in_use + KERNEL_LANES - m, sizeof mask);
        memcpy(&chunk->resident, at, 4);
        chunk->n = m;
        at += 5;
        if (wide) {
            memcpy(&rows, at, sizeof rows);
        } else {
            narrow_lanes narrow;
            memcpy(&narrow, at, sizeof narrow);
            rows = __builtin_convertvector(narrow, lanes);
        }
        at += (wide ? 4 : 2) * (size_t)m;
        rows = ((rows + first) & mask) | (spare & ~mask);
        memcpy(chunk->moving, &rows, sizeof rows);
        if (named)
            ratings = (lanes){values[at[0]], values[at[1]], values[at[2]], values[at[3]],
                              values[at[4]], values[at[5]], values[at[6]], values[at[7]]};
        else
            memcpy(&ratings, at, sizeof ratings);
        at += (named ? 1 : 4) * (size_t)m;
        ratings &= mask;
        memcpy(chunk->rating, &ratings, sizeof ratings);
    }
    return at;
}

const uint8_t *tile_pack_read(const struct tile_pack *pack, const uint8_t *from,
                              struct kernel_chunk *chunks, size_t n) {
    if (pack->values)
        return pack->wide ? read_chunks(pack, from, chunks, n, true, true)
                          : read_chunks(pack, from, chunks, n, false, true);
    return pack->wide ? read_chunks(pack, from, chunks, n, true, false)
                      : read_chunks(pack, from, chunks, n, false, false);
}
