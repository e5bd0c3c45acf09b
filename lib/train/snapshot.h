/*
 * Snapshots that collect themselves while training continues.
 *
 * A snapshot is of a *cut*: an epoch and a superblock of it, before which everything is done and
 * after which nothing is begun. The rows of a group of items are saved by the worker that is about
 * to make the first visit from after the cut; it holds the group at that time. The rows of a
 * superblock's users are saved by a thread of the snapshot, or by a worker that is about to change
 * them before that thread came by. Rows go straight to their place in a file without a name, so no
 * second copy of the model is needed; when all are there, the thread flushes the file and gives it
 * its name. Updates never wait for that.
 *
 * In the deterministic order a cut is a whole number of rounds of the lanes, and the snapshot is
 * exact: visits to a group come in the order of superblocks. In the free order a superblock from
 * before the cut may still be at work when a group is saved; what it adds to the group afterwards
 * is missing there, a few of the epoch's updates, which learning does not notice.
 */
#ifndef DPMF_TRAIN_SNAPSHOT_H
#define DPMF_TRAIN_SNAPSHOT_H

#include "model/checkpoint.h"
#include "train/best_epoch.h"
#include "train/sgd_epoch.h"

struct snapshot_source {
    const char *path, *provenance;
    const struct factors *factors; /* the model, without the rows of users */
    const struct row_store *users; /* the rows of users */
    const struct tiling *tiling;
    const struct superblock_stream *stream;
    const struct sgd_epoch *epoch;
    const struct best_epoch *best; /* NULL without a validation set */
    double worst_rmse;             /* a larger error so far means that the run has diverged */
    uint64_t every_superblocks;    /* intervals between snapshots; 0: not by this measure */
    double every_seconds;
    uint32_t first_epoch;    /* epoch that the run begins with */
    size_t first_superblock; /* superblock that the run begins with, where no snapshot is needed */
};

struct snapshot;

int snapshot_init(struct snapshot **snapshot, const struct snapshot_source *source,
                  struct dpmf_error *error);

/* What is not whole by then is given up. */
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* Whether one should be begun at this cut: enough has passed since the last, and none is being
 * collected. */
bool snapshot_is_due(struct snapshot *snapshot, uint32_t epoch, size_t superblock);

/* Whether the last one begun is of this cut, or the run began there. */
bool snapshot_is_at(const struct snapshot *snapshot, uint32_t epoch, size_t superblock);

/* Begins one of the cut that the state names, all superblocks before which are begun or done and
 * none after. Its error so far is the one up to `first`, where the epoch was begun. While one is
 * being collected, nothing happens. */
int snapshot_begin(struct snapshot *snapshot, const struct checkpoint_state *state, size_t first,
                   struct dpmf_error *error);

/* The watchers of struct sgd_watch. They also report a snapshot that failed. */
int snapshot_before_users(struct snapshot *snapshot, uint32_t epoch,
                          const struct superblock_view *view, struct dpmf_error *error);
int snapshot_before_group(struct snapshot *snapshot, uint32_t epoch, size_t superblock,
                          size_t group, struct dpmf_error *error);

/* Waits until the best epoch may be written over. */
void snapshot_await_best(struct snapshot *snapshot);

/* When nothing is at work: saves what is missing of the one being collected, if there is one, and
 * waits until it is in its place. @return what failed, now or since the last time */
int snapshot_finish(struct snapshot *snapshot, struct dpmf_error *error);

/* When nothing is at work: gives up the one being collected, if there is one. */
void snapshot_drop(struct snapshot *snapshot);

/* @return 0, or what failed; DPMF_ERR_TRAIN_DIVERGED when a row is not finite or the error so far
 * too large */
int snapshot_check(struct snapshot *snapshot, struct dpmf_error *error);

#endif
