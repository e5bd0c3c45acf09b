/*
 * Implicit least squares by several ranks. A rank has its own users with all their events, and all
 * items; it solves for its users as one machine does. For the items, conjugate gradients of all of
 * them go in step: each rank adds up what the events that it has pull with, the sums of a range of
 * items come together on one rank, which takes their steps, and the next directions are given to
 * all. Exact rows go by pieces of items, and blocks of columns: sums of equations come together on
 * the owners, and solutions are given to all (ials_ranks_exact.c). Gramians of users are sums over
 * ranks. All that the number of ranks changes is how sums are rounded. On one machine (a cluster
 * that is NULL, or of one rank) it is a sweep of ials.h.
 */
#ifndef DPMF_RANK_IALS_RANKS_H
#define DPMF_RANK_IALS_RANKS_H

#include "cluster/cluster.h"
#include "rank/ials.h"

/* Totals over all ranks: the events of each item, and the number of users. */
struct ials_totals {
    const uint64_t *item_events;
    uint64_t n_users;
};

/* Solves for all items; by all ranks. *squares becomes the sum over all events, as of
 * ials_sweep. */
int ials_ranks_sweep_items(struct ials *ials, const struct event_side *events,
                           struct factor_matrix *items, struct factor_matrix *users,
                           const struct ials_totals *totals, const struct dpmf_cluster *cluster,
                           bool (*stop)(void *self), void *self, double *squares,
                           struct dpmf_error *error);

/* The same of exact rows, once ials_begin has been called. */
int ials_ranks_solve_items(struct ials *ials, const struct event_side *events,
                           const struct ials_totals *totals, const struct dpmf_cluster *cluster,
                           double *squares, struct dpmf_error *error);

/* Bytes that it takes beside the solver, at most, of a rank with so many events; `block` as in
 * ials_rule, where steps are 0. */
uint64_t ials_ranks_bytes(const struct dpmf_cluster *cluster, const struct kernel_set *kernels,
                          uint32_t k, uint64_t n_items);
uint64_t ials_ranks_exact_bytes(const struct dpmf_cluster *cluster,
                                const struct kernel_set *kernels, uint32_t k, uint32_t block,
                                uint64_t n_items, uint64_t n_events);

#endif
