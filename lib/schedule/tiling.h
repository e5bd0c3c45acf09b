/*
 * The order of training: ratings cut into tiles that fit the caches, once a run, so that every
 * epoch is one sequential stream.
 *
 *     superblock of users (its vectors fit a share of L3)
 *       item group (its vectors fit a smaller share; by falling popularity: the paper's tiers,
 *       generalised)
 *         batch of users (half of L2)
 *           item -> the batch's users who rated it, in chunks of a few
 *
 * A superblock belongs to one thread at a time and so does a group, so no two threads ever write
 * one row. In groups whose items meet a batch too rarely, users are resident instead and their
 * items move by. Fed by a store; feeds lib/train.
 *
 * Where several machines have a share of the users each, items are dealt into parts first, like
 * cards by falling popularity, so that all parts have about as many rows and as many ratings; a
 * part's rows follow each other, and it has groups of its own. The same on every machine, so that
 * parts can travel between them.
 */
#ifndef DPMF_SCHEDULE_TILING_H
#define DPMF_SCHEDULE_TILING_H

#include "dpmf.h"
#include "kernels/kernels.h"

enum { TILING_SPARE_ROWS = 64 }; /* past the last row of either side, for lanes not in use */

struct tiling_options {
    const struct kernel_set *kernels;
    size_t k;
    struct host_caches caches;
    uint32_t chunk_rows; /* moving rows of a chunk; 0: as the kernels have it for these caches */
    int threads;
    int lanes;                 /* superblocks that are worked on at once: they share L3 */
    const uint64_t *tier_ends; /* NULL, or the paper's tiers: numbers of items, increasing */
    size_t n_tiers;
    uint64_t superblock_users; /* users of a snapshot's superblocks, if they fit; 0: chosen here */
    uint64_t memory_whole;     /* bytes for all chunks: what needs more is streamed */
    /* Bytes of a streamed run for its slots and for what grows with superblocks */
    uint64_t memory_streamed;
    size_t slots;          /* number of slots, each with a superblock and its user rows */
    uint64_t memory_build; /* bytes for building; chunks that stay in memory count in it */
    uint64_t *missing;     /* receives the missing bytes with DPMF_ERR_USAGE_MEMORY; or NULL */
    const struct tiling_whole *whole; /* NULL: the store has all ratings */
};

/* What must be the same on all machines, where a store holds only a share of the ratings. */
struct tiling_whole {
    uint64_t n_ratings;
    uint64_t *item_ratings;             /* ratings of each item */
    size_t n_parts;                     /* number of parts of the items, 1 or more */
    uint64_t group_rows, group_ratings; /* limits of a group: see tiling_group_bounds */
};

/* Sets the limits of groups in `whole`, from its other fields, the caches and the lanes. */
void tiling_group_bounds(const struct tiling_options *options, struct tiling_whole *whole);

/* The chunks of one (superblock, group). */
struct tile {
    uint64_t first; /* chunk within the superblock; in a stream, byte of the packed superblock */
    uint64_t n;
    uint64_t n_ratings;
};

struct tiling;

int tiling_build(const struct dpmf_store *store, const struct tiling_options *options,
                 const struct dpmf_run *run, struct tiling **tiling, struct dpmf_error *error);
void tiling_free(struct tiling *tiling);

size_t tiling_n_superblocks(const struct tiling *tiling);
size_t tiling_n_groups(const struct tiling *tiling);
bool tiling_is_streamed(const struct tiling *tiling);
uint64_t tiling_bytes(const struct tiling *tiling); /* bytes of all chunks, in memory or packed */

/* What was subtracted from the ratings of all chunks (store_base), and the mean of what is left. */
double tiling_base(const struct tiling *tiling);
double tiling_mean_rating(const struct tiling *tiling);

/* The moving rows that a chunk has at most. */
uint32_t tiling_chunk_rows(const struct tiling *tiling);

/* How many chunks ahead rows are prefetched that are not in the second-level cache: those of a
 * group that the users of a superblock visit first, or whose users are resident. */
uint32_t tiling_far_lead(const struct tiling *tiling);

/* A checksum of everything that decides in which order ratings are visited. */
uint64_t tiling_checksum(const struct tiling *tiling);

/* Which users a superblock holds: user numbers are those of the store. */
void tiling_superblock_users(const struct tiling *tiling, size_t superblock, uint64_t *first,
                             uint64_t *n);
uint64_t tiling_superblock_ratings(const struct tiling *tiling, size_t superblock);
/* Users of every superblock but the last */
uint64_t tiling_users_a_superblock(const struct tiling *tiling);

/* Which item rows a group holds, and whether its chunks keep users resident. */
void tiling_group(const struct tiling *tiling, size_t group, uint64_t *first_row, uint64_t *n_rows,
                  bool *user_resident);

struct tile tiling_tile(const struct tiling *tiling, size_t superblock, size_t group);

/* Which groups, and which item rows, a part has; there is one part unless tiling_whole says
 * otherwise. */
struct tiling_part {
    size_t first_group, n_groups;
    uint64_t first_row, n_rows;
};

size_t tiling_n_parts(const struct tiling *tiling);
struct tiling_part tiling_part(const struct tiling *tiling, size_t part);

/* Item rows are in order of popularity, within a part. */
uint32_t tiling_item_of_row(const struct tiling *tiling, uint64_t row);

/* The place of a row among all items by falling popularity: the row itself, where there is one
 * part. */
uint64_t tiling_place_of_row(const struct tiling *tiling, uint64_t row);

/* Row numbers of users in chunks count from the superblock's first user; lanes not in use name
 * spare rows: of items, one of TILING_SPARE_ROWS after the last; of users likewise, but in a stream
 * the one row after tiling_users_a_superblock of them. KERNEL_AHEAD more chunks may be read past
 * the end. */

/* A superblock's chunks, of a tiling that is in memory. */
const struct kernel_chunk *tiling_chunks(const struct tiling *tiling, size_t superblock);

/* A packed superblock is read into a buffer of tiling_packed_bytes, of a tiling that is
 * streamed. */
size_t tiling_packed_bytes(const struct tiling *tiling);
int tiling_packed_read(const struct tiling *tiling, size_t superblock, uint8_t *packed,
                       struct dpmf_error *error);

/* Unpacks n chunks of a tile from *at on: NULL for its first ones, and then what the call before
 * left there. KERNEL_AHEAD more are filled with something that may be looked at. */
void tiling_unpack(const struct tiling *tiling, size_t superblock, size_t group,
                   const uint8_t *packed, const uint8_t **at, size_t n,
                   struct kernel_chunk *chunks);

#endif
