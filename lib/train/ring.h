/*
 * The ring of ranks: users stay where they are, items travel.
 *
 * Items are dealt into parts, two for each rank (schedule/tiling.h). In a round every part visits
 * every rank. A rank works on one of the two parts it has with all its threads; meanwhile the other
 * one, which it worked on before, travels to the next rank, and the one that takes its place comes
 * from the rank before. So messages are hidden behind the work as long as a part travels no longer
 * than it takes to work on one, and no row is ever written by two ranks.
 *
 *     rank 0   work on 0   work on 1   work on 6   work on 7   ...          4 ranks, 8 parts
 *              .           0 leaves    1 leaves    6 leaves
 *              .           6 arrives   7 arrives   4 arrives
 *
 * A round ends where the last parts are, without sending them home: the next one begins there and
 * goes back the same way, from the last part to the first. So in every two rounds whatever comes
 * before something else comes after it as well, which is what keeps samplers from favouring either.
 * Parts lie in the rows where the tiling has them, on every rank; what a rank has of the others in
 * between is old.
 */
#ifndef DPMF_TRAIN_RING_H
#define DPMF_TRAIN_RING_H

#include "cluster/cluster.h"
#include "schedule/tiling.h"

/* An array whose elements travel with their rows. */
struct ring_array {
    void *rows;
    size_t row_bytes;
    bool stays; /* whether it stays with whoever has the part, and is not gathered */
};

enum { RING_ARRAYS_MAX = 4 };

struct ring;

/* `first_round` is the number of the next round: which parts a rank begins a round with follows
 * from its number. All ranks must have all rows. */
int ring_init(struct ring **ring, const struct dpmf_cluster *cluster, const struct tiling *tiling,
              uint32_t first_round, const struct ring_array *arrays, size_t n_arrays,
              struct dpmf_error *error);
void ring_free(struct ring *ring); /* NULL is fine */

/* Works on a part; `last`: all others have been worked on in this round. Called by one thread, not
 * the caller's. */
typedef int ring_work(void *self, const struct tiling_part *part, bool last,
                      struct dpmf_error *error);

/* One round, by all ranks. When `work` fails anywhere, the others hear of it with the next part
 * that comes by, nobody works on, and all ranks get that failure. */
int ring_round(struct ring *ring, ring_work *work, void *self, struct dpmf_error *error);

/* Between rounds, by all ranks: everyone, or rank 0 alone, gets all rows as they are now, but for
 * arrays that stay. */
int ring_gather_all(struct ring *ring, struct dpmf_error *error);
int ring_gather_first(struct ring *ring, struct dpmf_error *error);

/* Seconds in which a rank had nothing to work on because its next part was still under way, of all
 * rounds so far. */
double ring_seconds_waited(const struct ring *ring);

#endif
