/*
 * The time that separates the latest ratings from the rest.
 */
#ifndef DPMF_SPLIT_TIME_CUT_H
#define DPMF_SPLIT_TIME_CUT_H

#include "dpmf.h"
#include "store/store.h"

/* A rating is late when (time, coin) is at or after this; the coin separates ratings of the same
 * time. A rating without a time is never late. */
struct time_cut {
    int64_t time;
    uint64_t coin;
};

static inline bool time_cut_is_late(const struct time_cut *cut, int64_t time, uint64_t coin) {
    if (time == STORE_NO_TIME || time < cut->time) return false;
    return time > cut->time || coin >= cut->coin;
}

enum { TIME_CUT_COLLECT = 1 << 20 };

/* Finds the cut with which `fraction` of all ratings (to the nearest one, but at least one, and at
 * most those that have a time) are late. `item_hash` is of split_coin_items;
 * `collect` is how many ratings may be held in memory, TIME_CUT_COLLECT except in tests.
 * @return 0, or a negative code: DPMF_ERR_RATINGS_NO_TIMES when no rating has a time */
int time_cut_find(const struct dpmf_store *store, double fraction, uint64_t seed,
                  const uint64_t *item_hash, size_t collect, const struct dpmf_run *run,
                  struct time_cut *cut, struct dpmf_error *error);

#endif
