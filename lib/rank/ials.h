/*
 * Implicit alternating least squares. With S the events, w their weights, and n_u, n_i the events
 * of a user and an item,
 *
 *     sum_S w (1 - u.v)^2  +  alpha sum over all pairs of (u.v)^2
 *         +  lambda sum_u (n_u + alpha items)^nu |u|^2 +  lambda sum_i (n_i + alpha users)^nu |v|^2
 *
 * is made small, one side at a time: the loss and the frequency-scaled penalty of S. Rendle, W.
 * Krichene, L. Zhang and Y. Koren, "Revisiting the Performance of iALS on Item Recommendation
 * Benchmarks" (RecSys 2022). Given the other side, a row is the solution of
 *
 *     (sum of w v v^T over its events + alpha G + penalty) u = sum of w v,      G = V^T V,
 *
 * which a few steps of conjugate gradients from where the row is come near enough, or Cholesky
 * solves exactly. Rows are independent given G, which is summed in an order of its own: the results
 * do not depend on the threads.
 */
#ifndef DPMF_RANK_IALS_H
#define DPMF_RANK_IALS_H

#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/factors.h"
#include "rank/event_rows.h"

struct ials_rule {
    double unobserved; /* alpha: the weight of a pair without an event */
    double penalty;    /* lambda */
    double exponent;   /* nu: 1 scales the penalty with a row's events, 0 not at all */
    uint32_t steps;    /* of conjugate gradients a row and sweep; 0: exact */
};

struct ials;

int ials_init(struct ials **ials, const struct kernel_set *kernels, uint32_t k,
              const struct ials_rule *rule, struct thread_pool *pool, struct dpmf_error *error);
void ials_free(struct ials *ials); /* NULL is fine */
uint64_t ials_bytes(const struct kernel_set *kernels, uint32_t k, int threads);

/* Solves all rows of `own` for the rows of `other`. *squares (may be NULL) becomes the sum over
 * events of w (1 - u.v)^2 as it was before. `stop` (may be NULL) is asked now and then. @return 0
 * or DPMF_ERR_BASE_CANCELLED */
int ials_sweep(struct ials *ials, const struct event_side *events, struct factor_matrix *own,
               const struct factor_matrix *other, bool (*stop)(void *self), void *self,
               double *squares, struct dpmf_error *error);

/* G of all rows, k x k padded and whole, in double. */
void ials_gramian(struct ials *ials, const struct factor_matrix *rows, double *gramian);

#endif
