/*
 * A directory of shards: stores with the same items, and a list of them that says exactly which.
 * dpmf shard writes it; whatever takes ratings takes it. docs/cluster.md describes the list.
 */
#ifndef DPMF_STORE_SHARD_SET_H
#define DPMF_STORE_SHARD_SET_H

#include "dpmf.h"

#define SHARD_LIST "shards.json"

enum { SHARDS_MAX = 4096, SHARD_NAME_MAX = 32 };

/* What the list records of a shard. */
struct shard_entry {
    char file[SHARD_NAME_MAX];
    uint64_t users, ratings, digest; /* see store_digest */
};

/* Whether a path is such a directory: it has a list, sound or not. */
bool shard_set_is(const char *path);

/* Opens all shards of a directory as one store. A shard that is missing, or is not the one that the
 * list was made for, is refused: a user who was in two of them would count twice. */
int shard_set_open(const char *directory, struct dpmf_store **store, struct dpmf_error *error);

/* Writes the list: the last step of making a set. */
int shard_list_write(const char *directory, const struct shard_entry *entries, size_t n,
                     struct dpmf_error *error);

/* What the text of a list says: at most SHARDS_MAX shards, none of them twice, all of one cut.
 * @return how many; 0: it is no such list, and `fault` says why */
size_t shard_list_parse(const char *text, size_t n, struct shard_entry *entries,
                        const char **fault);

/* directory/name, to be freed; NULL without memory. */
char *shard_path(const char *directory, const char *name);

#endif
