/*
 * A run of dpmf_train: what SGD and all samplers have in common. solve.c begins one;
 * train_prepare.c sets up what goes through tiles (SGD, Langevin dynamics), and block Gibbs sets up
 * its own.
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
#include "train/sgd_epoch.h"
#include "train/valid_set.h"

struct train_place;

/* What features a run has: hashes of their tables; 0: none. */
struct feature_digests {
    uint64_t items, users;
};

/* A last change of the rows, when the best epoch is there and before the model is written. */
struct train_finish {
    bool needs_users; /* the rows of users, which then have to be in memory */
    int (*run)(void *self, struct factors *factors, const struct checkpoint_state *state,
               struct dpmf_error *error);
    void *self;
    struct feature_digests digests;
};

struct train_run {
    const struct dpmf_store *whole; /* all ratings */
    const struct dpmf_store *store; /* those of the users that are here: in a cluster, a share */
    const struct dpmf_cluster *cluster; /* NULL: one machine */
    const struct train_place *place;    /* train_place.h */
    void *here;                         /* what only the place knows */
    struct rank_share share;
    struct dpmf_store *valid_store; /* NULL without */
    const struct dpmf_train_options *options;
    bool averages_first; /* as the options say, where the memory suffices */
    const struct dpmf_run *run;
    int (*on_epoch)(void *self, const struct dpmf_epoch *epoch); /* NULL without */
    void *on_epoch_self;
    struct dpmf_train_report *report;
    const struct train_finish *finish; /* NULL without */
    const void *sampler; /* NULL: this is SGD, and what only SGD needs is prepared too */
    uint64_t (*sampler_bytes)(const void *sampler, const struct train_run *train, bool streamed);
    const struct kernel_set *kernels;
    struct host_caches caches;
    uint32_t lanes; /* moving rows of a chunk, at most */
    enum sgd_order order;
    int threads;
    struct memory_plan plan;
    struct thread_pool *pool;
    struct tiling *tiling;  /* NULL: ratings are not tiled */
    struct factors factors; /* but for the rows of users, which may be elsewhere */
    struct row_store users; /* the rows of users, wherever they are */
    struct superblock_stream *stream;
    struct sgd_epoch *epoch;
    struct valid_set *valid; /* NULL without */
    struct best_epoch best;
    struct checkpoint_file resumed;
    struct checkpoint_state state;
    uint64_t n_updates; /* updates of this run */
    double started;     /* when the first epoch began */
    double unit;        /* unit of the ratings: factors_unit */
    double worst_rmse;
    char *provenance; /* a sampler writes its own */

    struct dpmf_progress progress; /* as it is reported next */
    pthread_mutex_t progress_lock;
    _Atomic bool stopped;
};

enum { FEATURE_DIGEST_TEXT = 17 }; /* 16 digits and NUL */

/* @return the features of the run, never NULL */
static inline const struct feature_digests *train_features(const struct train_run *train) {
    static const struct feature_digests none = {0, 0};
    return train->finish ? &train->finish->digests : &none;
}

/* Begins a run on the cluster that `run` names, or alone. To be freed, unless this fails. */
int train_run_init(struct train_run *train, struct dpmf_error *error);
void train_run_free(struct train_run *train);

/* Checks the options that all solvers have, finds kernels, and takes the users that are here.
 * `code` and `error` are how the solver's own options fared. */
int train_run_open(struct train_run *train, int code, struct dpmf_error *error);

/* Everything up to the first epoch, or up to where a snapshot left off, of a run that goes through
 * tiles. */
int train_run_prepare(struct train_run *train, struct dpmf_error *error);

/* Looks up the validation set's ids, once. Before the model's large parts are there. */
int train_run_make_valid_set(struct train_run *train, struct dpmf_error *error);

/* Reports progress, by one thread at a time: the should_stop of whatever runs an epoch, whose self
 * is the run. */
bool train_run_should_stop(void *train);

/* Reports an epoch that is done; `*wanted` is whether another one is. */
int train_run_end_epoch(struct train_run *train, const struct dpmf_epoch *epoch, bool *wanted,
                        struct dpmf_error *error);

struct dpmf_json;

/* Ends the object of a run's provenance with what every solver records, and frees `json`. */
int train_run_take_provenance(struct train_run *train, struct dpmf_json *json,
                              struct dpmf_error *error);

#endif
