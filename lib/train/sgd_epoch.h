/*
 * One epoch of SGD over a tiling: who works on which tile when.
 */
#ifndef DPMF_TRAIN_SGD_EPOCH_H
#define DPMF_TRAIN_SGD_EPOCH_H

#include "base/threads.h"
#include "model/factors.h"
#include "schedule/tiling.h"

enum sgd_order {
    SGD_FREE,          /* groups are taken by try-lock: the fastest */
    SGD_DETERMINISTIC, /* a fixed order of visits to every row: the same bits for any number of threads */
    SGD_HOGWILD,       /* no locks: the paper's, for comparison */
};

/* Superblocks that are worked on at once. A fixed number where results must not depend on threads. */
int sgd_lanes(enum sgd_order order, int threads);

struct sgd_epoch;

int sgd_epoch_init(struct sgd_epoch **epoch, const struct tiling *tiling,
                   const struct kernel_set *kernels, struct factors *factors, enum sgd_order order,
                   struct thread_pool *pool, struct dpmf_error *error);
void sgd_epoch_free(struct sgd_epoch *epoch);

struct sgd_rates {
    float rate, reg;           /* eta and lambda of the factors ... */
    float bias_rate, bias_reg; /* ... and of the biases */
};

/* Runs one epoch. *squared_error is the sum over all ratings, each as it was just before its update.
 * `should_stop` (may be NULL) is asked between tiles, from any thread; when it says so the epoch ends early
 * with DPMF_ERR_BASE_CANCELLED. */
int sgd_epoch_run(struct sgd_epoch *epoch, const struct sgd_rates *rates,
                  bool (*should_stop)(void *self), void *self, double *squared_error,
                  struct dpmf_error *error);

#endif
