/*
 * The read and write halves of the paper's Algorithm 2, around the updates of an epoch. A reader
 * thread fills free slots with the superblocks of an epoch in their order (chunks, user rows and
 * biases); workers take superblocks and give them back; a writer thread puts the user rows back and
 * frees the slot. The number of slots bounds what is in flight. Where everything is in memory there
 * are no threads and no slots, and nothing is copied.
 */
#ifndef DPMF_TRAIN_SUPERBLOCK_STREAM_H
#define DPMF_TRAIN_SUPERBLOCK_STREAM_H

#include "model/factors.h"
#include "schedule/tiling.h"
#include "train/row_store.h"

/* A superblock at work. Of chunks and packed, one is NULL. */
struct superblock_view {
    size_t superblock;
    const struct kernel_chunk *chunks;
    const uint8_t *packed;
    float *rows; /* rows of its users, in order */
    float *biases;
};

struct superblock_stream;

/* `rows` are the vectors and `biases` the biases of all users; with them in memory, so is the
 * tiling. */
int superblock_stream_init(struct superblock_stream **stream, const struct tiling *tiling,
                           const struct row_store *rows, float *biases, size_t n_slots,
                           struct dpmf_error *error);
void superblock_stream_free(struct superblock_stream *stream); /* NULL is fine */

/* Begins epoch number `epoch` (epochs done before it) at superblock `first`. */
int superblock_stream_begin(struct superblock_stream *stream, uint32_t epoch, size_t first,
                            struct dpmf_error *error);

/* Waits until the superblock is there. Superblocks may be asked for in any order that never leaves
 * out more of them than there are slots to spare. From any thread. */
int superblock_stream_take(struct superblock_stream *stream, size_t superblock,
                           struct superblock_view *view, struct dpmf_error *error);
void superblock_stream_give_back(struct superblock_stream *stream,
                                 const struct superblock_view *view);

/* Ends the stream: whoever waits for a superblock gets DPMF_ERR_BASE_CANCELLED. From any thread. */
void superblock_stream_cancel(struct superblock_stream *stream);

/* Ends the epoch, also in its middle: what was given back is put back. @return what failed on the
 * way */
int superblock_stream_end(struct superblock_stream *stream, struct dpmf_error *error);

/* Epochs that are done with a superblock, its rows being back in their place. From any thread. */
uint32_t superblock_stream_epochs(const struct superblock_stream *stream, size_t superblock);

#endif
