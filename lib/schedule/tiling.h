/*
 * The order of training: ratings cut into tiles that fit the caches, once a run, so that every epoch is one
 * sequential stream.
 *
 *     superblock of users (its vectors fit a share of L3)
 *       item group (its vectors fit a smaller share; by falling popularity: the paper's tiers, generalised)
 *         batch of users (half of L2)
 *           item -> the batch's users who rated it, in chunks of a few
 *
 * A superblock belongs to one thread at a time and so does a group, so no two threads ever write one row. In
 * groups whose items meet a batch too rarely, users are resident instead and their items move by. Fed by a
 * store; feeds lib/train.
 */
#ifndef DPMF_SCHEDULE_TILING_H
#define DPMF_SCHEDULE_TILING_H

#include "dpmf.h"
#include "kernels/kernels.h"

enum { TILING_SPARE_ROWS = 64 }; /* past the last row of either side, for lanes not in use */

struct tiling_options {
    const struct kernel_set *kernels;
    size_t k;
    int threads;
    int lanes;                 /* superblocks that are worked on at once: they share L3 */
    uint64_t memory;           /* bytes for tiles; more than that goes to a nameless file */
    const uint64_t *tier_ends; /* NULL, or the paper's tiers: numbers of items, increasing */
    size_t n_tiers;
};

/* The chunks of one (superblock, group). */
struct tile {
    uint64_t first; /* chunk, within the superblock */
    uint64_t n;
    uint64_t n_ratings;
};

struct tiling;

int tiling_build(const struct dpmf_store *store, const struct tiling_options *options,
                 const struct dpmf_run *run, struct tiling **tiling, struct dpmf_error *error);
void tiling_free(struct tiling *tiling);

size_t tiling_n_superblocks(const struct tiling *tiling);
size_t tiling_n_groups(const struct tiling *tiling);
bool tiling_is_on_disk(const struct tiling *tiling);
uint64_t tiling_bytes(const struct tiling *tiling); /* of all chunks */
double tiling_mean_rating(const struct tiling *tiling);
double tiling_mean_lanes(const struct tiling *tiling); /* ratings a chunk */

/* Which users a superblock holds: user numbers are those of the store. */
void tiling_superblock_users(const struct tiling *tiling, size_t superblock, uint64_t *first,
                             uint64_t *n);

/* Which item rows a group holds, and whether its chunks keep users resident. */
void tiling_group(const struct tiling *tiling, size_t group, uint64_t *first_row, uint64_t *n_rows,
                  bool *user_resident);

struct tile tiling_tile(const struct tiling *tiling, size_t superblock, size_t group);

/* Item rows are in order of popularity. */
uint32_t tiling_row_of_item(const struct tiling *tiling, uint64_t item);
uint32_t tiling_item_of_row(const struct tiling *tiling, uint64_t row);

/* A superblock's chunks, in memory or read into `buffer` (room for tiling_buffer_chunks of them, or NULL
 * when the tiling is not on disk). Row numbers of users count from the superblock's first user; lanes not in
 * use name spare rows. KERNEL_AHEAD more chunks may be read past the end. */
const struct kernel_chunk *tiling_chunks(const struct tiling *tiling, size_t superblock,
                                         struct kernel_chunk *buffer, struct dpmf_error *error);
size_t tiling_buffer_chunks(const struct tiling *tiling);

#endif
