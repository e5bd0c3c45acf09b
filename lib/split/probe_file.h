/*
 * A Netflix probe file: (user, item) pairs that a split puts into the test set. `30878:` on a line
 * names an item; the lines after it name users, one each; what follows a comma is ignored.
 */
#ifndef DPMF_SPLIT_PROBE_FILE_H
#define DPMF_SPLIT_PROBE_FILE_H

#include "dpmf.h"
#include "store/store.h"

struct probe_file;

/* Reads a whole file, which may be compressed. */
int probe_file_read(const char *path, struct probe_file **probe, struct dpmf_error *error);
void probe_file_free(struct probe_file *probe); /* NULL is fine */

/* The same in pieces of any size, from anywhere; `name` is for errors and is not kept. Feed until
 * it fails or all is fed, then end; pairs can be looked up after that. */
int probe_file_init(struct probe_file **probe, struct dpmf_error *error);
int probe_file_feed(struct probe_file *probe, const char *name, const char *bytes, size_t n,
                    struct dpmf_error *error);
int probe_file_end(struct probe_file *probe, const char *name, struct dpmf_error *error);

uint64_t probe_file_n_pairs(const struct probe_file *probe); /* distinct ones */

/* Gives the items their numbers in a store. */
int probe_file_bind(struct probe_file *probe, const struct dpmf_store *store,
                    struct dpmf_error *error);

/* The user's items, increasing numbers of the store it is bound to; any thread.
 * @return how many there are */
struct probe_pair {
    uint32_t user, item; /* numbers in this file; the item's is the store's once bound */
};

size_t probe_file_user(const struct probe_file *probe, const char *id, size_t id_length,
                       const struct probe_pair **pairs);

#endif
