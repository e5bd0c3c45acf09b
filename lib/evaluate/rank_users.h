/*
 * The n best items for many users with all threads, what each has rated already left out.
 */
#ifndef DPMF_EVALUATE_RANK_USERS_H
#define DPMF_EVALUATE_RANK_USERS_H

#include "recommend/model.h"
#include "store/store.h"

struct rank_users {
    const struct dpmf_model *model;
    const struct dpmf_store *history; /* what users have rated; may be NULL */
    const uint8_t *exclude, *include; /* bitmaps for all users; may be NULL */
    const uint8_t *wanted;            /* a bitmap over users; NULL: all */
    size_t n;

    /* In parallel, for different users; `seen` is a bitmap of what was left out. May be NULL. */
    void (*rank)(void *self, uint64_t user, const uint8_t *seen,
                 const struct dpmf_scored_item *best, size_t n);

    /* Serially: the users of the history in its order, then the others in the model's. May be NULL.
     * @return 0, or anything else to end it with DPMF_ERR_BASE_CANCELLED */
    int (*take)(void *self, uint64_t user, const struct dpmf_scored_item *best, size_t n);
    void *self;
};

int rank_users_run(const struct rank_users *ranking, const struct dpmf_run *run,
                   struct dpmf_error *error);

#endif
