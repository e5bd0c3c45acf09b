/*
 * When noise is injected into the rows of a model.
 *
 * Time passes for a row with its own ratings: an epoch has one unit of time, and each of a row's n
 * ratings 1/n of it. A row gets noise q times an epoch, 1/q of a unit each time, after (i + 1/2)
 * n/q of its ratings, i = 0 .. q-1, in the order in which one thread goes through the tiles. So
 *
 *  - noise and ratings take turns evenly, and evenly around each injection, which makes the error
 *    of the splitting one of second order in what is injected at once;
 *  - after a whole epoch every row has got exactly what was due to it and nothing is left to flush,
 *    whoever visited the tiles and in whatever order, since every injection belongs to a tile and
 *    is made when that is visited.
 *
 * Of several ranks each has a schedule of its own tiles. An item's ratings are numbered through all
 * ranks, in the order in which it visits them in a round forward (ring.h), and an injection belongs
 * to the rank that has the rating at which it falls due. So what an item is due goes with it round
 * the ring without a word said: whatever is not due at one rank is at another, and after a round
 * all of it is injected. A user's ratings are numbered in the order in which the parts of the items
 * come by. On the way back every row gets its noise at the same ratings.
 *
 * A tile's chunks are cut into slices; injections come between them. A slice ends when its rows
 * fill a part of a cache or when a row would get noise a second time.
 */
#ifndef DPMF_SAMPLE_NOISE_SCHEDULE_H
#define DPMF_SAMPLE_NOISE_SCHEDULE_H

#include "cluster/cluster.h"
#include "schedule/tiling.h"
#include "train/sgd_epoch.h"

struct noise_schedule;

/* A row gets noise after a fixed number of its ratings: so often that the row with the most ratings
 * gets it NOISE_INJECTIONS times an epoch, for then noise is not what bounds the step
 * (langevin_step.c), and more of it would only cost time; but no more often than after
 * NOISE_EVERY_LEAST. */
enum { NOISE_INJECTIONS = 32, NOISE_EVERY_LEAST = 8 };

/* Reads all chunks, twice. By all ranks of a cluster; NULL is one machine. */
int noise_schedule_build(struct noise_schedule **schedule, const struct tiling *tiling,
                         uint64_t n_users, uint64_t n_items, size_t row_bytes,
                         const struct dpmf_cluster *cluster, struct dpmf_error *error);
void noise_schedule_free(struct noise_schedule *schedule); /* NULL is fine */

/* The bytes it takes, approximately. */
uint64_t noise_schedule_bytes(uint64_t n_ratings, uint64_t n_users, uint64_t n_items);

/* Chunks in a slice. None reaches over a multiple of SGD_UNPACK_CHUNKS. */
uint32_t noise_schedule_chunks(const struct noise_schedule *schedule, size_t superblock,
                               size_t group, size_t slice);

/* The rows that get noise after a slice of a tile: users, numbered from the superblock's first, and
 * item rows. A row may be there twice. */
struct noise_injections {
    const uint32_t *users, *items;
    size_t n_users, n_items;
};

struct noise_injections noise_schedule_injections(const struct noise_schedule *schedule,
                                                  size_t superblock, size_t group, size_t slice);
size_t noise_schedule_most(const struct noise_schedule *schedule); /* rows of a side in a slice */

/* 1/q of every row; of an item without ratings, 1: it gets noise once an epoch by whoever ends
 * that. */
const float *noise_schedule_user_shares(const struct noise_schedule *schedule);
const float *noise_schedule_item_shares(const struct noise_schedule *schedule);
const uint32_t *noise_schedule_idle_items(const struct noise_schedule *schedule, size_t *n);

/* What the step size depends on, of all ranks. */
struct noise_extremes {
    uint32_t user_ratings, item_ratings; /* ratings of the row with the most */
    uint32_t user_portion, item_portion; /* most ratings that an injection stands for */
};

struct noise_extremes noise_schedule_extremes(const struct noise_schedule *schedule);

/* Ratings of each row: of an item, those that all ranks have. */
const uint32_t *noise_schedule_user_ratings(const struct noise_schedule *schedule);
const uint32_t *noise_schedule_item_ratings(const struct noise_schedule *schedule);

#endif
