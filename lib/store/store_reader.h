/*
 * What the files of lib/store share about an open store.
 */
#ifndef DPMF_STORE_READER_H
#define DPMF_STORE_READER_H

#include "files/file_identity.h"
#include "store/store_format.h"

struct dpmf_store {
    int fd; /* descriptor of the file; -1 where other stores hold the files: in a set or a share */
    char *path;
    uint64_t file_bytes;
    bool has_times, is_temporary;
    uint64_t n_users, n_items, n_ratings, n_blocks;
    double min, max;
    struct store_layout layout;
    struct store_index_entry *index;
    uint8_t *items;         /* the items part of the file, unchanged */
    const char *item_bytes; /* ids of the items, within `items` */
    uint64_t *item_start;   /* n_items + 1, into item_bytes */
    uint64_t *item_ratings;
    struct dpmf_store **parts; /* stores of a set, closed with it; NULL in others */
    size_t n_parts;
    uint64_t n_bad, n_not_liked;    /* what was dropped when it was packed for this use */
    uint64_t n_other_headers;       /* those of it that are headers of other tables */
    bool first_line_contradicts;    /* whether its first line contradicted the declared columns */
    struct file_identity made_from; /* the file it was made from; unknown: it was not made */
    bool is_share;                  /* a part of another store, whose items it points to */
};

const struct store_index_entry *store_index_at(const struct dpmf_store *store, uint64_t block);

#endif
