/*
 * Block Gibbs by several ranks. A rank draws its own users, given all items. For an item each rank
 * adds up A and c over the ratings that it has (gibbs.h); the sums of a range of items come
 * together on one rank, which draws them and gives them to all. What is drawn depends on the item
 * and the round alone, so all that the number of ranks changes is how sums are rounded. On one
 * machine (a cluster that is NULL) an item's ratings are all here, and it is a sweep of gibbs.h.
 */
#ifndef DPMF_SAMPLE_GIBBS_RANKS_H
#define DPMF_SAMPLE_GIBBS_RANKS_H

#include "cluster/cluster.h"
#include "sample/gibbs.h"

/* Draws every item, in pieces; side->squares receives the squared errors of this rank's ratings.
 * Called by all ranks. */
int gibbs_ranks_draw_items(struct gibbs *gibbs, const struct gibbs_side *side,
                           const struct chain_key *key, const struct dpmf_cluster *cluster,
                           bool (*should_stop)(void *self), void *self, struct dpmf_error *error);

/* Bytes that it takes beside the sampler. */
uint64_t gibbs_ranks_bytes(const struct dpmf_cluster *cluster, size_t k);

#endif
