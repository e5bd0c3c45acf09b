/*
 * Ids as they come, each kept once, at its first place: how catalogues and lists of users are
 * read. What has been gathered is handed over as the factor_ids that the rest of the library
 * knows.
 */
#ifndef DPMF_PRIVACY_ID_GATHER_H
#define DPMF_PRIVACY_ID_GATHER_H

#include "model/factors.h"

/* Zero-initialise; end with id_gather_finish or id_gather_free. */
struct id_gather {
    struct factor_ids ids; /* not indexed; `start` is NULL before the first */
    size_t bytes_capacity, start_capacity;
    uint32_t *slots; /* by hash: a number plus one, 0 where there is none */
    uint64_t n_slots;
};

/* @return the number of the id, which is gather->ids.n - 1 when it is a new one, or a negative
 * code */
int64_t id_gather_add(struct id_gather *gather, const char *id, size_t length,
                      struct dpmf_error *error);

/* Moves the ids to `ids`, indexed, and frees the rest, in case of an error everything. */
int id_gather_finish(struct id_gather *gather, struct factor_ids *ids, struct dpmf_error *error);

void id_gather_free(struct id_gather *gather);

#endif
