/*
 * The store as bytes; docs/formats/dpr.md is the specification and this is its drawing.
 *
 *     header 64 | block, block, ... | items | index, 40 a block | end 104
 *
 *     block   "BLOK" u32 users  u64 ratings  u64 first user  u64 payload | payload | u64 checksum
 *     payload users (id length, count) | ids | item gaps | values | times
 *     items   "ITEM" u32 0  u64 items  u64 payload | payload | u64 checksum
 *
 * No gaps, and every byte is under one checksum.
 */
#ifndef DPMF_STORE_FORMAT_H
#define DPMF_STORE_FORMAT_H

#include <assert.h>

#include "store/store.h"

enum {
    STORE_VERSION = 1,
    STORE_FLAG_TIMES = 1,
    STORE_FLAG_LAYOUT = 2, /* the header says how the records were read */
    STORE_FLAG_EVENTS = 4, /* the values are counts of events */
    STORE_FLAG_HALF = 8,   /* the header says which half of which split this is */

    STORE_HEADER_BYTES = 64,
    STORE_HEADER_LAYOUT = 16, /* offset of the layout in the header */
    STORE_BLOCK_HEADER = 32,
    STORE_ITEMS_HEADER = 24,
    STORE_INDEX_ENTRY = 40,
    STORE_END_BYTES = 104,
    STORE_CHECKSUM = 8,

    STORE_MIN_USER =
        5, /* the least a user takes in a payload: two counts, an id, an item, a value */

    STORE_VALUES_TABLE = 0,
    STORE_VALUES_F32 = 1,
    STORE_VALUES_F64 = 2,
    STORE_TABLE_MAX = 256,
};

#define STORE_MAGIC                                                                                \
    "\x89"                                                                                         \
    "DPR\r\n\x1a\n"
#define STORE_MAGIC_BLOCK "BLOK"
#define STORE_MAGIC_ITEMS "ITEM"
#define STORE_MAGIC_END "DPR END\n"

/* Where a block stands and what it holds. */
struct store_index_entry {
    uint64_t offset, length;
    uint64_t first_user, n_users, n_ratings;
    /* The first user, and the block itself, as its file counts them: others where it is one of
     * several. */
    uint64_t written_first, written_block;
    int fd; /* the file of an open store */
    const char *path;
};

/* Bits of a code into a table of n values: a power of two, so that no code straddles two bytes. */
static inline int store_code_bits(size_t n_values) {
    assert(n_values <= STORE_TABLE_MAX);
    return n_values <= 1 ? 0 : n_values <= 2 ? 1 : n_values <= 4 ? 2 : n_values <= 16 ? 4 : 8;
}

/* Opens what is behind a descriptor, which it owns from then on, in any case. */
int store_open_descriptor(int fd, const char *path, struct dpmf_store **store,
                          struct dpmf_error *error);

#endif
