/*
 * One epoch of SGD over a tiling: who works on which tile when.
 */
#ifndef DPMF_TRAIN_SGD_EPOCH_H
#define DPMF_TRAIN_SGD_EPOCH_H

#include "base/threads.h"
#include "model/factors.h"
#include "schedule/tiling.h"
#include "train/superblock_stream.h"

enum sgd_order {
    SGD_FREE, /* groups are taken by try-lock: the fastest */
    /* a fixed order of visits to every row: the same bits for any number of threads */
    SGD_DETERMINISTIC,
    SGD_HOGWILD, /* no locks: the paper's, for comparison */
};

enum {
    SGD_UNPACK_CHUNKS = 512
}; /* chunks of a stream unpacked at once, to be read from a near cache */

/* How many superblocks are worked on at once, at most, and how many of them are to share L3. Fixed
 * numbers where results must not depend on threads. */
int sgd_at_once(enum sgd_order order, int threads);
int sgd_shares(enum sgd_order order, int threads);

/* Bytes that each thread needs for itself, where tiles are streamed. */
size_t sgd_epoch_thread_bytes(void);

struct sgd_epoch;

/* `stream` has the users' rows, `factors` the items' and the scale. */
int sgd_epoch_init(struct sgd_epoch **epoch, const struct tiling *tiling,
                   struct superblock_stream *stream, const struct kernel_set *kernels,
                   struct factors *factors, enum sgd_order order, struct thread_pool *pool,
                   struct dpmf_error *error);
void sgd_epoch_free(struct sgd_epoch *epoch);

struct sgd_rates {
    float rate, reg;            /* eta and lambda of the factors */
    float bias_rate, bias_reg;  /* eta and lambda of the biases */
    float user_hold, item_hold; /* relative change of each bias once an epoch: 0 or negative */
};

/* What a sampler does on the way; called by any worker, each with its own number. */
struct sgd_noise {
    void *self;

    /* How many chunks a slice of a tile has. In a stream no slice may reach over a multiple of
     * SGD_UNPACK_CHUNKS. */
    uint32_t (*slice_chunks)(void *self, size_t superblock, size_t group, size_t slice);

    /* Before and after each slice of a tile, which is this worker's, with the rows of users that
     * view has. */
    void (*before_slice)(void *self, int worker, const struct superblock_view *view, size_t group,
                         size_t slice);
    void (*after_slice)(void *self, int worker, const struct superblock_view *view, size_t group,
                        size_t slice);

    /* When all tiles of a superblock are visited. */
    void (*after_users)(void *self, int worker, const struct superblock_view *view);
};

/* Who watches an epoch; all may be NULL, and are called from any thread. A position is the number
 * of an epoch (epochs done before it) and a superblock of it. A negative code ends the epoch. */
struct sgd_watch {
    void *self;

    /* Asked between tiles. When it says so the epoch ends early with DPMF_ERR_BASE_CANCELLED: at
     * once, or with `whole` when the superblocks that were begun are done. */
    bool (*should_stop)(void *self);
    bool whole;

    /* Before the superblock is begun, when all before it are begun and none after it. One call at a
     * time. */
    int (*before_superblock)(void *self, uint32_t epoch, size_t superblock,
                             struct dpmf_error *error);

    /* Called before the superblock's user rows are written for the first time. */
    int (*before_users)(void *self, uint32_t epoch, const struct superblock_view *view,
                        struct dpmf_error *error);

    /* Called before a superblock's tile writes the item rows of a group, which (but for Hogwild)
     * nobody else does at that time. */
    int (*before_group)(void *self, uint32_t epoch, size_t superblock, size_t group,
                        struct dpmf_error *error);

    const struct sgd_noise *noise; /* a sampler's noise; NULL for SGD */
};

/* Runs epoch number `number`, from superblock `first` on. *done is the number of superblocks that
 * are done in the end, whatever the result. After a failure, or when it was stopped at once, the
 * state of those after them is unknown. */
int sgd_epoch_run(struct sgd_epoch *epoch, uint32_t number, size_t first,
                  const struct sgd_rates *rates, const struct sgd_watch *watch, size_t *done,
                  struct dpmf_error *error);

/* Some groups that follow each other: a piece of an epoch in which all superblocks visit these and
 * no others. With `last`, all others have been visited before. */
struct sgd_groups {
    size_t first, n;
    bool last;
};

/* Runs such a piece of an epoch, of a tiling that is in memory; the pieces of an epoch come in any
 * order. */
int sgd_epoch_run_groups(struct sgd_epoch *epoch, uint32_t number, const struct sgd_groups *groups,
                         const struct sgd_rates *rates, const struct sgd_watch *watch,
                         struct dpmf_error *error);

/* The sum of the squared errors of a superblock's ratings in the last epoch it was visited in, each
 * as it was just before its update. From any thread, once the stream says that the superblock is
 * done. */
double sgd_epoch_squared_error(const struct sgd_epoch *epoch, size_t superblock);

#endif
