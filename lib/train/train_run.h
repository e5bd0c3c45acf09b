/*
 * A run of dpmf_train, as train_prepare.c sets it up and sgd_train.c goes through with it.
 */
#ifndef DPMF_TRAIN_TRAIN_RUN_H
#define DPMF_TRAIN_TRAIN_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/threads.h"
#include "model/checkpoint.h"
#include "train/best_epoch.h"
#include "train/memory_plan.h"
#include "train/rank_share.h"
#include "train/ring.h"
#include "train/sgd_epoch.h"
#include "train/snapshot.h"
#include "train/valid_set.h"

struct train_run {
    const struct dpmf_store *whole; /* all ratings ... */
    const struct dpmf_store
        *store; /* ... and those of the users that are here: in a cluster, a share */
    const struct dpmf_cluster *cluster; /* NULL: one machine */
    struct dpmf_store *valid_store;
    const struct dpmf_train_options *options;
    const struct dpmf_run *run;
    struct dpmf_train_report *report;
    const void *sampler; /* NULL: this is SGD, and what only SGD needs is prepared too */
    uint64_t (*sampler_bytes)(const void *sampler, const struct train_run *train, bool streamed);
    const struct kernel_set *kernels;
    struct host_caches caches;
    uint32_t lanes; /* moving rows of a chunk, at most */
    enum sgd_order order;
    int threads;
    struct memory_plan plan;
    struct thread_pool *pool;
    struct tiling *tiling;
    struct factors factors; /* the rows of users may be elsewhere: ... */
    struct row_store users; /* ... wherever they are, here */
    struct superblock_stream *stream;
    struct sgd_epoch *epoch;
    struct valid_set *valid;
    struct best_epoch best;
    struct checkpoint_file resumed;
    struct snapshot *snapshot;
    struct rank_share share; /* of this rank, in a cluster, ... */
    struct ring *ring;       /* ... and how items come by */
    uint64_t bytes_sent;     /* by this rank, in epochs */
    uint32_t snapshot_epoch; /* of a cluster's last snapshot, or where the run began, ... */
    double snapshot_time;    /* ... and when that was */
    struct checkpoint_state state;
    size_t first;       /* superblock at which the epoch was begun: 0 but after a resume */
    uint64_t n_updates; /* of this run */
    double unit;        /* of the ratings: factors_unit */
    double worst_rmse;
    char *provenance; /* a sampler writes its own */

    pthread_mutex_t progress_lock;
    _Atomic bool stopped;
};

/* Everything up to the first epoch, or up to where a snapshot left off. What is there is to be freed also
 * after a failure. */
int train_run_prepare(struct train_run *train, struct dpmf_error *error);
void train_run_free(struct train_run *train);

#endif
