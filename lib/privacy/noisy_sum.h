/*
 * The one way private ratings reach the outside: a sum over users of vectors of L2 norm at most 1,
 * on a grid of integers, with exact Gaussian noise on every coordinate. Every number of a release
 * that depends on ratings comes out of noisy_sum_release; the proof of what that costs is in
 * noisy_sum.c and does not depend on what the mechanism computes.
 */
#ifndef DPMF_PRIVACY_NOISY_SUM_H
#define DPMF_PRIVACY_NOISY_SUM_H

#include <pthread.h>

#include "base/threads.h"
#include "cluster/cluster.h"
#include "privacy/private_ratings.h"
#include "privacy/public_model.h"
#include "privacy/quantise.h"
#include "random/secure_random.h"
#include "statement/statement.h"

/* The contribution of one user: n_blocks blocks of `width` numbers each, block i at the coordinates
 * block[i] * width and after, and `tail` numbers at the coordinates n_rows * width and after.
 * Blocks are strictly increasing. The mechanism fills in `values` (n_blocks * width, then tail) so
 * that the norm is about 1 at most. */
struct contribution {
    size_t n_blocks;
    const uint32_t *block;
    double *values;
};

/* The shape of a release: public. */
struct noisy_sum_shape {
    const char *name; /* for the statement */
    uint64_t n_rows;
    size_t width, tail;
    size_t blocks_max; /* most blocks of one user; 0: one for each of their ratings */
};

/* In any thread, `worker` as in private_ratings_visit: a pure function of the user and of public
 * state, bit for bit. Room for blocks_max * width + tail numbers is in out->values. It does not
 * apply the user's scale. */
typedef void noisy_sum_contribute(void *self, int worker, const struct private_user *user,
                                  struct contribution *out);

struct noisy_sum_context;

/* A round as a watch sees it, while the public state that contributions are made from still
 * stands. */
struct noisy_sum_round {
    const struct noisy_sum_context *context;
    const struct noisy_sum_shape *shape;
    size_t n;          /* coordinates */
    size_t first, end; /* coordinates whose exact sums this process has: all, except in a cluster */
    uint64_t sigma;
    const struct exact_kernels *exact;
    noisy_sum_contribute *contribute;
    void *contribute_self;
};

/* For the audit alone: sees the exact integers of a round, and then the noisy ones, which it may
 * replace by those of another world. A negative code ends the round. A watched run is no release:
 * noisy_sum_release marks its statement NOT PRIVATE, and dpmf_release_make cannot set a watch
 * (release_make.h). */
struct noisy_sum_watch {
    void *self;
    int (*summed)(void *self, const struct noisy_sum_round *round, const int64_t *sums,
                  struct dpmf_error *error);
    int (*published)(void *self, const struct noisy_sum_round *round, int64_t *noisy_sums,
                     struct dpmf_error *error);
};

/* What all releases of a run share. */
struct noisy_sum_context {
    const struct private_ratings *ratings;
    const struct secure_random *random;
    struct thread_pool *pool;
    const struct dpmf_run *run;
    uint64_t memory;             /* most memory for sums, in bytes */
    struct statement *statement; /* every release is listed here */
    pthread_mutex_t progress_lock;
    uint32_t n_passes, total_passes;     /* for progress; total 0: not known yet */
    const struct noisy_sum_watch *watch; /* a watch, in an audit only; else NULL */

    /* For several processes, each with the ratings of its own users; else NULL and 0. */
    const struct dpmf_cluster *cluster;
    uint64_t users;                   /* number of all users */
    const struct public_model *model; /* must be the same in all of them before every release */
};

/* Makes one release of at most mu, all processes of a cluster together. out[i] is the noisy sum of
 * coordinate i, in units of the norm bound; *sigma is the standard deviation of its noise. Adds to
 * the statement what was done. All of it is the same in every process. */
int noisy_sum_release(struct noisy_sum_context *context, const struct noisy_sum_shape *shape,
                      double mu, noisy_sum_contribute *contribute, void *self, double *out,
                      double *sigma, struct dpmf_error *error);

#endif
