/*
 * All users of a history or of a model, scored by all threads: for lists of the n best items,
 * without those a user has rated already, and for anything else that needs scores.
 */
#ifndef DPMF_EVALUATE_RANK_USERS_H
#define DPMF_EVALUATE_RANK_USERS_H

#include "recommend/score.h"
#include "store/store.h"

/* The users of the model that were ranked, without those that features placed. */
struct rank_users_found {
    uint64_t users, without; /* all of them; those of whose items the history has none */
};

struct rank_users {
    const struct dpmf_model *model;   /* without users, those of the history are fitted */
    const struct dpmf_store *history; /* what users have rated; may be NULL */
    struct dpmf_order order;          /* as score_order_find gives it */
    const uint8_t *exclude, *include; /* bitmaps for all users; may be NULL */
    const uint8_t *wanted;            /* a bitmap over the model's users; NULL: all */
    const uint32_t *beyond; /* as model_numbers_beyond gives it, for `seen` alone; may be NULL */
    uint64_t n_beyond;      /* how many numbers after the model's items `seen` has */
    size_t n;               /* the length of the lists; 0: none are made */

    /* In parallel, for different users: the list, with a bitmap of what was left out, and how items
     * are scored. May be NULL. @return 0 or a negative code */
    int (*rank)(void *self, uint64_t user, const struct scorer *scorer, const uint8_t *seen,
                const struct dpmf_scored_item *best, size_t n, struct dpmf_error *error);

    /* Serially: the users of the history in its order, then the others in the model's. May be NULL.
     * @return 0, or anything else to end it with DPMF_ERR_BASE_CANCELLED */
    int (*take)(void *self, const struct dpmf_user_list *list);
    void *self;

    struct rank_users_found *found; /* what is filled in; may be NULL */
};

int rank_users_run(const struct rank_users *ranking, const struct dpmf_run *run,
                   struct dpmf_error *error);

/* Warns of users without a history, whose lists may hold what they have rated: nobody would see
 * that their ids are spelled differently. `what` completes "... 2 of 3 users of", and says what
 * follows from it. */
void rank_users_warn(const struct rank_users_found *found, const struct dpmf_store *history,
                     const char *what, const struct dpmf_run *run);

#endif
