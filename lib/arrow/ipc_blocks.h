/*
 * What the footer of an Arrow file lists: where its messages are. Together they must be all of the
 * file, so that no footer leaves out or repeats what the file holds.
 */
#ifndef DPMF_ARROW_IPC_BLOCKS_H
#define DPMF_ARROW_IPC_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct ipc_block {
    int64_t offset, body;
    int32_t metadata;
};

/* What is wrong with the blocks of a file whose schema ends at `begin` and whose footer begins at
 * `end`, or NULL. Each lies within the file. `sorted` has room for them all. */
const char *ipc_blocks_check(const struct ipc_block *blocks, size_t n, uint64_t begin, uint64_t end,
                             struct ipc_block *sorted);

#endif
