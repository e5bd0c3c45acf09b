/*
 * Groups ratings by user within a bound of memory. Ratings come in any order, in small compact
 * records that are scattered over buckets of neighbouring users; what memory cannot hold is spilled
 * to a nameless file, bucket by bucket. Then slices of users, each one a block of the store to be,
 * are taken out sorted, by any number of threads.
 */
#ifndef DPMF_STORE_RATING_SORTER_H
#define DPMF_STORE_RATING_SORTER_H

#include "store/store.h"

struct rating_sorter;

/* `beside`: the spill file is made in that file's directory (NULL: in $TMPDIR). */
int rating_sorter_init(struct rating_sorter **sorter, uint64_t memory, const char *beside,
                       struct dpmf_error *error);
void rating_sorter_free(struct rating_sorter *sorter); /* NULL is fine */

/* Limits the memory of records from now on; what exceeds it is spilled. */
void rating_sorter_set_memory(struct rating_sorter *sorter, uint64_t memory);

/* The values are counts of events: those of a pair add up, to STORE_COUNT_MAX at most, and its time
 * is the latest. Both are the same in any order: min(a + b, max) of whole numbers is associative,
 * and exact in doubles up to twice the bound. */
void rating_sorter_add_up(struct rating_sorter *sorter);

/* Keeps the rating of a pair that has the latest time and, where times are equal, the highest: it
 * does not depend on their order, which may follow from other people's records. */
void rating_sorter_keep_latest(struct rating_sorter *sorter);

/* Adds n ratings, in the order that decides between duplicates. `time` may be NULL. Serial. */
int rating_sorter_add(struct rating_sorter *sorter, const uint32_t *user, const uint32_t *item,
                      const double *value, const int64_t *time, size_t n, struct dpmf_error *error);

bool rating_sorter_has_times(const struct rating_sorter *sorter);
uint64_t rating_sorter_spilled(const struct rating_sorter *sorter); /* bytes spilled so far */

/* No more ratings: cuts users 0 .. n_users-1 into slices. Every user has at least one rating. */
int rating_sorter_finish(struct rating_sorter *sorter, uint64_t n_users, struct dpmf_error *error);
uint64_t rating_sorter_n_slices(const struct rating_sorter *sorter);

/* The memory a worker sorts in; zero-initialise, reuse, free. */
struct sorter_space {
    struct sorter_column *columns;
    uint8_t *read;
    uint64_t *start;
};

void sorter_space_free(struct sorter_space *space);

/* Called for each duplicate that lost, or was added to another, from the thread that sorts. */
typedef void sorter_on_duplicate(void *self, uint32_t item);

/* Slice s, by user and by rank[item], a (user, item) pair once, the last added winning or all added
 * up. `out` has no ids; its items are the ranks; it points into `space`. In any thread. */
int rating_sorter_slice(const struct rating_sorter *sorter, uint64_t s, const uint32_t *rank,
                        struct sorter_space *space, sorter_on_duplicate *on_duplicate, void *self,
                        struct store_block *out, struct dpmf_error *error);

#endif
