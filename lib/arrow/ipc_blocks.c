/*
 * The messages of a file, one behind the other from its schema to its footer. Fed by ipc_reader.c.
 */
#include "arrow/ipc_blocks.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that pad a message; a message itself is longer. After the last is the mark of the end. */
enum { PADDING_MAX = 63, END_MARK = 8 };

static int compare(const void *a, const void *b) {
    const int64_t x = ((const struct ipc_block *)a)->offset;
    const int64_t y = ((const struct ipc_block *)b)->offset;
    return (x > y) - (x < y);
}

const char *ipc_blocks_check(const struct ipc_block *blocks, size_t n, uint64_t begin, uint64_t end,
                             struct ipc_block *sorted) {
    static const char left_out[] = "the footer leaves out a part of the file";
    uint64_t at = begin;
    if (n > 0) memcpy(sorted, blocks, n * sizeof *blocks);
    if (n > 0) qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; i < n; i++) {
        const uint64_t offset = (uint64_t)sorted[i].offset;
        if (offset < at) return "the footer lists a part of the file twice";
        if (offset - at > PADDING_MAX) return left_out;
        at = offset + (uint64_t)sorted[i].metadata + (uint64_t)sorted[i].body;
    }
    if (at > end) return "the footer lists a part of itself";
    return end - at > PADDING_MAX + END_MARK ? left_out : NULL;
}
