/*
 * What tiling.c, which decides on the shape, and tile_build.c, which cuts the ratings into it,
 * share.
 */
#ifndef DPMF_SCHEDULE_TILE_BUILD_H
#define DPMF_SCHEDULE_TILE_BUILD_H

#include "schedule/tile_pack.h"
#include "schedule/tiling.h"

struct superblock {
    uint64_t first_user, n_users, n_ratings;
    struct kernel_chunk *chunks; /* chunks in memory, or NULL */
    uint64_t n_chunks;           /* without the KERNEL_AHEAD past the end */
    uint64_t offset, bytes;      /* in the file */
};

struct group {
    uint64_t first_row, n_rows, n_ratings;
    bool user_resident;
};

struct tiling {
    uint64_t n_users, n_items, n_ratings;
    size_t n_superblocks, n_groups, n_batches;
    uint64_t superblock_users, batch_users;
    uint32_t far_lead; /* chunks ahead, of rows from afar (tiling_far_lead) */
    uint32_t lanes;    /* ratings a chunk, at most */
    bool zip;          /* neighbouring chunks from different halves of a tile */
    struct superblock *superblocks;
    struct group *groups;
    struct tiling_part *parts;
    size_t n_parts;
    uint16_t *group_of_row;
    uint32_t *row_of_item, *item_of_row;
    struct tile *tiles;
    bool streamed;
    int file;
    uint64_t bytes, most_bytes;
    double base, mean;
};

/* A packed superblock begins with whether its ratings are named, and their values. */
enum { TILE_BUILD_HEAD = 16 };

struct tile_build {
    struct tiling *tiling;
    const struct dpmf_store *store;
    const struct dpmf_run *run;
    int threads;
    size_t n_jobs;
    uint64_t most_bytes; /* limit for all superblocks in memory, or for each of those in the file */
    uint64_t most_ratings; /* limit for what is sorted at once */
};

/* Fills the tiling's superblocks and tiles; what it has of them is the caller's also after a
 * failure. With *too_large the failure is that the bounds above do not hold. */
int tile_build_run(const struct tile_build *options, bool *too_large, struct dpmf_error *error);

/* How the moving side of a tile is packed; `values` is left to the caller. */
struct tile_pack tile_build_pack(const struct tiling *tiling, size_t superblock, size_t group);

#endif
