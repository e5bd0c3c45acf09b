/*
 * Ids of any text to numbers 0, 1, 2, ... in the order they were added. One thread adds, any number
 * look up at the same time without locks: parsers resolve the ids they find while the importer adds
 * the new ones, in order, so that numbers never depend on threads.
 */
#ifndef DPMF_RATINGS_ID_MAP_H
#define DPMF_RATINGS_ID_MAP_H

#include "dpmf.h"

#define ID_MAP_NONE UINT32_MAX

struct id_map;

int id_map_init(struct id_map **map, struct dpmf_error *error);
void id_map_free(struct id_map *map); /* NULL is fine */

/* What an id is looked up by; made once and used for prefetch, find and add. */
struct id_key {
    uint64_t word; /* the id itself when it is short, else its hash */
    uint32_t tag;  /* its length, and whether `word` is a hash */
    uint64_t hash;
};

struct id_key id_map_key(const struct id_map *map, const char *id, uint32_t length);

/* Any thread. @return the id's number, or ID_MAP_NONE when it is not there (yet) */
uint32_t id_map_find(const struct id_map *map, struct id_key key, const char *id, uint32_t length);
void id_map_prefetch(const struct id_map *map, struct id_key key);

/* The adding thread: the id's number, a new one if need be. */
int id_map_add(struct id_map *map, struct id_key key, const char *id, uint32_t length,
               uint32_t *number, struct dpmf_error *error);

/* The adding thread, or any once adding is over. */
uint64_t id_map_size(const struct id_map *map);
const char *id_map_id(const struct id_map *map, uint64_t number, uint32_t *length);
uint64_t id_map_bytes(const struct id_map *map); /* of memory */

#endif
