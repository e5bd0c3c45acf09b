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

struct id_text {
    const char *bytes; /* not terminated by NUL */
    uint32_t length;   /* at least 1 */
};

/* Any thread. @return the id's number, or ID_MAP_NONE when it is not there (yet) */
uint32_t id_map_find(const struct id_map *map, struct id_text id);

/* The same for n ids at once, n at most ID_MAP_MANY: the cache misses overlap. */
enum { ID_MAP_MANY = 128 };
void id_map_find_many(const struct id_map *map, const struct id_text *ids, int n,
                      uint32_t *numbers);

/* The same for ids that are whole numbers, without making texts of them. Those are found that
 * id_map_add_whole has added. */
void id_map_find_wholes(const struct id_map *map, const int64_t *wholes, int n, uint32_t *numbers);

/* The adding thread: the id's number, a new one if need be. */
int id_map_add(struct id_map *map, struct id_text id, uint32_t *number, struct dpmf_error *error);

/* The same for a whole number and its text, which is found by either from then on. */
int id_map_add_whole(struct id_map *map, int64_t whole, struct id_text id, uint32_t *number,
                     struct dpmf_error *error);

/* The adding thread, or any once adding is over. */
uint64_t id_map_size(const struct id_map *map);
struct id_text id_map_id(const struct id_map *map, uint64_t number);
uint64_t id_map_bytes(const struct id_map *map); /* bytes of memory in use */

#endif
