/*
 * What ranks must know of each other's ratings so that together they inject exactly the scheduled
 * noise into every item (noise_schedule.h).
 */
#ifndef DPMF_SAMPLE_NOISE_RANKS_H
#define DPMF_SAMPLE_NOISE_RANKS_H

#include "cluster/cluster.h"
#include "schedule/tiling.h"

/* By all ranks. `ratings` has this rank's numbers of ratings of all n rows of items, and gets those
 * of all ranks; `before` gets those of the ranks that the row has been at before this one, in a
 * round forward (ring.h). */
int noise_ranks_count(const struct dpmf_cluster *cluster, const struct tiling *tiling,
                      uint32_t *ratings, uint32_t *before, size_t n, struct dpmf_error *error);

/* Replaces each number by the largest that any rank has. */
int noise_ranks_max(const struct dpmf_cluster *cluster, uint32_t *values, size_t n,
                    struct dpmf_error *error);

#endif
