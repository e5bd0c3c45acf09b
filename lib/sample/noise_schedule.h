/*
 * When the rows of a model get the noise that they are owed.
 *
 * Time passes for a row with its own ratings: an epoch has one unit of time, and each of a row's n
 * ratings 1/n of it. A row is paid q times an epoch, 1/q of a unit each time, after (i + 1/2) n/q
 * of its ratings, i = 0 .. q-1, in the order in which one thread goes through the tiles. So
 *
 *  - noise and ratings take turns evenly, and evenly around each payment, which makes the error of
 *    the splitting one of second order in what is paid at once;
 *  - after a whole epoch every row has got exactly what it was owed and nothing is left to flush,
 *    whoever visited the tiles and in whatever order, since every payment belongs to a tile and is
 *    made when that is visited.
 *
 * Of several ranks each has a schedule of its own tiles. An item's ratings are numbered through all
 * ranks, in the order in which it visits them in a round forward (ring.h), and a payment belongs to
 * the rank that has the rating at which it falls due. So what an item is owed goes with it round
 * the ring without a word said: whatever is not due at one rank is at another, and after a round
 * all of it is paid. A user's ratings are numbered in the order in which the parts of the items
 * come by. On the way back everyone is paid at the same ratings.
 *
 * A tile's chunks are cut into slices; payments come between them. A slice ends when its rows fill
 * a part of a cache or when a row is to be paid a second time.
 */
#ifndef DPMF_SAMPLE_NOISE_SCHEDULE_H
#define DPMF_SAMPLE_NOISE_SCHEDULE_H

#include "cluster/cluster.h"
#include "schedule/tiling.h"
#include "train/sgd_epoch.h"

struct noise_schedule;

/* A row is paid after every so many of its ratings: so often that the row with the most ratings is
 * paid NOISE_PAYMENTS times an epoch, for then noise is not what bounds the step (langevin_step.c),
 * and more of it would only cost time; but no more often than after NOISE_EVERY_LEAST. */
enum { NOISE_PAYMENTS = 32, NOISE_EVERY_LEAST = 8 };

/* Reads all chunks, twice. By all ranks of a cluster; NULL is one machine. */
int noise_schedule_build(struct noise_schedule **schedule, const struct tiling *tiling,
                         uint64_t n_users, uint64_t n_items, size_t row_bytes,
                         const struct dpmf_cluster *cluster, struct dpmf_error *error);
void noise_schedule_free(struct noise_schedule *schedule); /* NULL is fine */

/* About how many bytes it takes. */
uint64_t noise_schedule_bytes(uint64_t n_ratings, uint64_t n_users, uint64_t n_items);

/* Chunks in a slice. None reaches over a multiple of SGD_UNPACK_CHUNKS. */
uint32_t noise_schedule_chunks(const struct noise_schedule *schedule, size_t superblock,
                               size_t group, size_t slice);

/* Who is to be paid after a slice of a tile: users, numbered from the superblock's first, and item
 * rows. A row may be there twice. */
struct noise_payments {
    const uint32_t *users, *items;
    size_t n_users, n_items;
};

struct noise_payments noise_schedule_payments(const struct noise_schedule *schedule,
                                              size_t superblock, size_t group, size_t slice);
size_t noise_schedule_most(const struct noise_schedule *schedule); /* rows of a side in a slice */

/* 1/q of every row; of an item without ratings, 1: it is paid once an epoch by whoever ends
 * that. */
const float *noise_schedule_user_shares(const struct noise_schedule *schedule);
const float *noise_schedule_item_shares(const struct noise_schedule *schedule);
const uint32_t *noise_schedule_idle_items(const struct noise_schedule *schedule, size_t *n);

/* What the step size depends on, of all ranks. */
struct noise_extremes {
    uint32_t user_ratings, item_ratings; /* of the row with the most */
    uint32_t user_lump, item_lump;       /* that a payment stands for, at most */
};

struct noise_extremes noise_schedule_extremes(const struct noise_schedule *schedule);

/* Ratings of each row: of an item, those that all ranks have. */
const uint32_t *noise_schedule_user_ratings(const struct noise_schedule *schedule);
const uint32_t *noise_schedule_item_ratings(const struct noise_schedule *schedule);

#endif
