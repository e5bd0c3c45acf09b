/*
 * All events in memory, twice: each user's one after the other, and each item's. An event is a pair
 * of a user and an item; of ratings, those that are likes. What implicit least squares goes
 * through.
 */
#ifndef DPMF_RANK_EVENT_ROWS_H
#define DPMF_RANK_EVENT_ROWS_H

#include "dpmf.h"
#include "store/store.h"

/* Row i's events are start[i] .. start[i + 1] - 1, in increasing order of the rows of the other
 * side. */
struct event_side {
    uint64_t n;
    uint64_t *start;
    uint32_t *other;
    float *weight; /* confidence in each event; NULL: 1 */
};

struct event_rows {
    uint64_t n_events;
    struct event_side users, items; /* both sides, numbered as in the store */
};

/* Ratings of at least `like` are events: all of them for -INFINITY and in a store of events. With a
 * `count_weight` above 0, which is for a store of events, they are weighed by their counts. */
int event_rows_read(struct event_rows *rows, const struct dpmf_store *store, double like,
                    double count_weight, const struct dpmf_run *run, struct dpmf_error *error);
void event_rows_free(struct event_rows *rows); /* a zeroed one is fine */

/* The same by someone who looks at the blocks too; all events weigh 1. */
struct event_reader {
    double like;
    bool users_alone; /* there are no lists of items then */
    unsigned want;    /* what `see` needs of a block, a mask of enum store_want */
    int (*see)(void *self, const struct store_block *block, struct dpmf_error *error);
    void *self;
};

int event_rows_read_by(struct event_rows *rows, const struct dpmf_store *store,
                       const struct event_reader *reader, const struct dpmf_run *run,
                       struct dpmf_error *error);

/* Another numbering of one side: `row` of each, by its number here, all different and below n. */
struct event_numbers {
    const uint32_t *row;
    uint64_t n;
};

/* Lets `other` of both sides be rows of other numberings, in increasing order. The lists
 * themselves stay where they are. For events without weights. */
int event_rows_renumber(struct event_rows *rows, const struct event_numbers *users,
                        const struct event_numbers *items, struct dpmf_error *error);

/* Counts the events, without keeping them. */
int event_rows_count(const struct dpmf_store *store, double like, const struct dpmf_run *run,
                     uint64_t *n_events, struct dpmf_error *error);

/* An upper bound of the bytes it takes. */
uint64_t event_rows_bytes(const struct dpmf_store *store, bool is_weighed);

#endif
