/*
 * Where a run happens: on this machine alone (train_alone.c), or on one rank of a cluster
 * (train_ranks.c). train_prepare.c, sgd_train.c and the samplers go through these operations and
 * never ask which it is. All are called by all ranks, in the same order, and where one fails on any
 * rank it fails on all.
 */
#ifndef DPMF_TRAIN_TRAIN_PLACE_H
#define DPMF_TRAIN_TRAIN_PLACE_H

#include "train/ring.h"
#include "train/train_run.h"

/* Who gets the items that others worked on; for everyone, as part of an epoch, whose bytes are
 * reported. */
enum train_gather { TRAIN_GATHER_FIRST, TRAIN_GATHER_ALL, TRAIN_GATHER_IN_EPOCH };

struct train_place {
    bool may_skip_averages; /* whether a run short of memory may begin without averages as biases */

    /* Refuses what cannot be done here, and has all ranks use the same kernels. `code` and `error`
     * are how the options fared. */
    int (*check)(struct train_run *train, int code, struct dpmf_error *error);

    /* Opens the snapshot to continue from. */
    int (*open_resumed)(struct train_run *train, struct dpmf_error *error);

    /* Before and after the ratings are tiled: what all tilings have in common (whole->item_ratings
     * has to be freed in any case), and from where a snapshot's run continues. `code` and `error`
     * are how tiling fared. */
    int (*begin_tiling)(struct train_run *train, struct tiling_options *options,
                        struct tiling_whole *whole, struct dpmf_error *error);
    int (*end_tiling)(struct train_run *train, int code, struct dpmf_error *error);

    /* Completes what is known of the model beside its rows; then the rows of a run that begins, or
     * continues. */
    int (*describe)(struct train_run *train, struct dpmf_error *error);
    int (*fill)(struct train_run *train, struct dpmf_error *error);

    /* Begins the epochs, when all else is there. `more` is what a sampler has of each item besides
     * rows and biases. */
    int (*begin)(struct train_run *train, const struct ring_array *more, size_t n_more,
                 struct dpmf_error *error);

    /* Runs what is left of an epoch, `*n_updates` ratings; `watch` has a should_stop at least, and
     * the run as its self. */
    int (*run_epoch)(struct train_run *train, const struct sgd_rates *rates,
                     const struct sgd_watch *watch, uint64_t *n_updates, struct dpmf_error *error);
    int (*gather)(struct train_run *train, enum train_gather where, struct dpmf_error *error);

    /* The sum of the squares of an epoch's errors, and of how many ratings. */
    int (*squared_error)(struct train_run *train, double *sum, uint64_t *n,
                         struct dpmf_error *error);

    /* Makes a snapshot after an epoch, one in `every` (0: none for that reason), and the last one
     * of a run. */
    int (*snapshot)(struct train_run *train, uint32_t every, struct dpmf_error *error);
    int (*end_snapshots)(struct train_run *train, struct dpmf_error *error);

    /* Waits until no snapshot reads the copy of the best epoch, which is about to change. */
    void (*await_best)(struct train_run *train);

    /* What all ranks sent, and waited, in the epochs. */
    int (*report)(struct train_run *train, struct dpmf_error *error);
    void (*close)(struct train_run *train); /* also after a failure, or before anything else */
};

extern const struct train_place train_place_alone, train_place_ranks;

#endif
