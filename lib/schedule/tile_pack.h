/*
 * The chunks of a tile in about a quarter of their bytes, for tiles that are read from a file in
 * every epoch.
 *
 * A chunk is its resident row (4 bytes), its number of ratings (1), the moving rows, counted from
 * the beginning of their group or superblock (2 bytes each, 4 where 2 are not enough), and the
 * ratings: a byte each that names one of up to 256 values, or the number itself where there are
 * more.
 */
#ifndef DPMF_SCHEDULE_TILE_PACK_H
#define DPMF_SCHEDULE_TILE_PACK_H

#include "base/bytes.h"
#include "kernels/kernels.h"

enum {
    TILE_PACK_VALUES = 256,
    TILE_PACK_SLACK = 64, /* bytes that are read past the last chunk, and mean nothing */
};

/* The different ratings of a superblock, as far as a byte can name them. */
struct tile_values {
    float value[TILE_PACK_VALUES];
    uint32_t n;                           /* number of values; TILE_PACK_VALUES + 1: too many */
    uint16_t slots[4 * TILE_PACK_VALUES]; /* a table by hash of their numbers plus one */
};

void tile_values_clear(struct tile_values *values);
void tile_values_add(struct tile_values *values, float value);

struct tile_pack {
    uint32_t first;      /* the first row of the moving side */
    bool wide;           /* moving rows take 4 bytes */
    uint32_t spare;      /* what lanes not in use name */
    const float *values; /* TILE_PACK_VALUES of them, or NULL when ratings are there themselves */
};

/* Appends n chunks. @return false when there is no memory */
bool tile_pack_append(struct byte_buffer *to, const struct tile_pack *pack,
                      const struct tile_values *values, const struct kernel_chunk *chunks,
                      size_t n);

/* Makes n chunks of what begins at `from`. @return where the next one begins */
const uint8_t *tile_pack_read(const struct tile_pack *pack, const uint8_t *from,
                              struct kernel_chunk *chunks, size_t n);

#endif
