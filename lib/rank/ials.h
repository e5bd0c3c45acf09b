/*
 * Implicit alternating least squares. With S the events, w their weights, and n_u, n_i the events
 * of a user and an item,
 *
 *     sum_S w (1 - u.v)^2  +  alpha sum over all pairs of (u.v)^2
 *         +  lambda sum_u (n_u + alpha items)^nu |u|^2 +  lambda sum_i (n_i + alpha users)^nu |v|^2
 *
 * is minimised, one side at a time: the loss and the frequency-scaled penalty of S. Rendle, W.
 * Krichene, L. Zhang and Y. Koren, "Revisiting the Performance of iALS on Item Recommendation
 * Benchmarks" (RecSys 2022). Given the other side, a row is the solution of
 *
 *     (sum of w v v^T over its events + alpha G + penalty) u = sum of w v,      G = V^T V,
 *
 * which a few steps of conjugate gradients from the current row approximate, or Cholesky solves
 * exactly: for all columns at once, or for one block of them after the other, given the rest
 * (iALS++: S. Rendle, W. Krichene, L. Zhang and Y. Koren, "iALS++: Speeding up Matrix Factorization
 * with Subspace Optimization", 2021). Rows are independent given G, which is summed in an order of
 * its own: the results do not depend on the threads.
 */
#ifndef DPMF_RANK_IALS_H
#define DPMF_RANK_IALS_H

#include "base/threads.h"
#include "cluster/cluster.h"
#include "kernels/kernels.h"
#include "model/factors.h"
#include "rank/event_rows.h"

struct ials_rule {
    double unobserved;   /* alpha: the weight of a pair without an event */
    double penalty;      /* lambda */
    double exponent;     /* nu: 1 scales the penalty with a row's events, 0 not at all */
    uint32_t steps;      /* steps of conjugate gradients a row and sweep; 0: by Cholesky */
    uint32_t block;      /* columns that Cholesky solves for at a time; 0: all, which is exact */
    bool stays;          /* rows stay in the basis that they are in, at some cost */
    double events_share; /* share of all events that each of several ranks has, so that all of
                          * them go through a sweep in the same way; 0: there is one */
};

struct ials;

int ials_init(struct ials **ials, const struct kernel_set *kernels, uint32_t k,
              const struct ials_rule *rule, struct thread_pool *pool, struct dpmf_error *error);
void ials_free(struct ials *ials); /* NULL is fine */
uint64_t ials_bytes(const struct kernel_set *kernels, uint32_t k, int threads);

/* Solves all rows of `own` for the rows of `other`. Unless the rule says that they stay, both may
 * come to be in another orthogonal basis, the same for both, also where the sweep was stopped:
 * products of rows of the two sides stay what they are. *squares (may be NULL) becomes the sum over
 * events of w (1 - u.v)^2 as it was before. `stop` (may be NULL) is asked now and then. @return 0
 * or DPMF_ERR_BASE_CANCELLED */
int ials_sweep(struct ials *ials, const struct event_side *events, struct factor_matrix *own,
               struct factor_matrix *other, bool (*stop)(void *self), void *self, double *squares,
               struct dpmf_error *error);

/* ---- parts of a sweep, for ials_ranks.c, by way of rows that are a padded k apart ------------ */

size_t ials_width(const struct ials *ials); /* k padded */
const struct ials_rule *ials_rule(const struct ials *ials);
double ials_penalty(const struct ials_rule *rule, uint64_t n_events, uint64_t n_other);

/* Begins a sweep: the Gramian is that of the rows of `other` on all ranks. */
int ials_begin(struct ials *ials, const struct event_side *events, struct factor_matrix *own,
               const struct factor_matrix *other, const struct dpmf_cluster *cluster,
               bool (*stop)(void *self), void *self, struct dpmf_error *error);

/* The events' part, for all rows: out += sum of w (target - v.x) v, unless out is NULL; sums
 * becomes that of w (target - v.x)^2. */
int ials_pull_all(struct ials *ials, const float *vectors, float target, float *out, float *sums,
                  struct dpmf_error *error);

/* The rest, for n vectors: out := -(alpha G + penalty) x. */
void ials_apply_all(struct ials *ials, const float *vectors, const float *penalties, size_t n,
                    float *out);
float ials_dot(const struct ials *ials, const float *a, const float *b);

/* r.r, or 0 where it is only rounding error; `first` is r.r of the first residual. */
float ials_residual(const struct ials *ials, const float *r, float first);

/* Exact rows, or blocks of their columns (ials_exact.h), of rows `first` to first + n - 1. */
struct ials_block {
    uint64_t first, n;
    uint64_t own_first, n_own; /* those that this rank solves for */
    size_t at, columns;
    float *misses;           /* 1 - u.v of all rows' events, one after the other */
    double *sums;            /* ials_exact_size(columns) numbers a row */
    float *moves;            /* how far a row goes: `columns` numbers each */
    const double *penalties; /* one a row */
};

/* What there is to do, in this order; the last three for one block of columns after the other:
 * misses; what the events that are here add to the sums; of sums over all ranks, this rank's moves;
 * all moves taken. */
enum ials_block_part { IALS_BLOCK_MEASURE, IALS_BLOCK_SUM, IALS_BLOCK_SOLVE, IALS_BLOCK_MOVE };
int ials_block_do(struct ials *ials, const struct ials_block *block, enum ials_block_part what,
                  struct dpmf_error *error);

/* The sum over the events that are here of w (1 - u.v)^2, as it was before the sweep. */
double ials_squares(const struct ials *ials);

/* G of all rows, k x k padded and whole, in double. */
void ials_gramian(struct ials *ials, const struct factor_matrix *rows, double *gramian);

#endif
