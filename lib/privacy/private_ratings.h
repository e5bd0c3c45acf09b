/*
 * The ratings of a private run as each user has them: in the order of the catalogue, on the
 * standard scale, with the user's share of the budget. A user's contribution is computed from this
 * and nothing else, so that it is a pure function of that user's own data and of public state.
 *
 * Ratings outside the catalogue or the declared range are left out one by one. Made once a run from
 * the store, in memory or in a nameless file where memory does not allow it; every release is one
 * pass over it.
 */
#ifndef DPMF_PRIVACY_PRIVATE_RATINGS_H
#define DPMF_PRIVACY_PRIVATE_RATINGS_H

#include "base/threads.h"
#include "numerics/exact_arithmetic.h"
#include "privacy/catalogue.h"
#include "random/secure_random.h"
#include "statement/cohort.h"

struct private_user {
    size_t n;            /* ratings, at least 1 */
    const uint32_t *row; /* rows of the catalogue, strictly increasing */
    const float *y;      /* (rating - middle of the range) / (a quarter of it): -2 .. 2 */
    double scale;        /* 0 < scale <= 1: this user's share of what others may contribute */
    /* Random bits of their own, by their id and a secret key; 0 where none are asked for */
    uint64_t coin;
};

struct private_ratings_options {
    double range_min, range_max; /* range of ratings that count; all y are 1 where `are_events` */
    bool are_events;             /* whether records are events: only their presence counts */
    const struct catalogue *catalogue;
    const struct user_wishes *wishes; /* NULL: everyone has the whole epsilon */
    const struct cohort *cohort;      /* users by their first record; NULL: everyone */
    double epsilon, delta; /* delta 0: epsilon alone is what everyone has a share of, not mu */
    size_t max_ratings;    /* most ratings of a user, the others left out by coins; 0: all count */
    const struct secure_random *coins; /* generator of these coins, and of users' coins */
    bool toss;                         /* whether every user gets a coin */
    /* number of ratings of a user to make room for, even when nobody has as many; 0: as needed */
    size_t longest;
    uint64_t memory; /* bytes to use; what exceeds them goes to a nameless file */
    int threads;
    /* By id of the wishes: set to 0 by the caller, counted here; may be NULL */
    uint64_t *users_of_id;
};

enum { RANGE_PARTS = 20 };

/* For the curator's eyes alone: none of it may reach a release. */
struct private_ratings_report {
    uint64_t users, ratings;
    uint64_t not_in_catalogue, out_of_range;
    uint64_t users_left_out; /* asked for epsilon 0, could not ask, or have no ratings left */
    uint64_t users_of_other_periods; /* users not in the cohort; not among those left out */
    uint64_t users_without_time;     /* users who have a record without a time; neither are these */
    uint64_t firsts,
        doubtful_firsts; /* users looked at for their first record, and those whose time
                                         is more likely none */
    uint64_t users_with_a_wish;
    uint64_t trimmed; /* ratings beyond max_ratings */
    /* Users whose id is that of an item that nobody rated, with letters in it or of digits alone,
     * or is a category of the features, or a number of them */
    uint64_t users_as_items, users_as_numbered_items, users_as_categories, users_as_numbers;
    uint64_t items_rated; /* items of the catalogue that anyone rated */
    /* Ratings of these items within the range, by the equal part of it that they lie in; all 0 of
     * events */
    uint64_t in_part[RANGE_PARTS];
    bool on_disk;
};

struct private_ratings;

int private_ratings_build(const struct dpmf_store *store,
                          const struct private_ratings_options *options, const struct dpmf_run *run,
                          struct private_ratings **ratings, struct private_ratings_report *report,
                          struct dpmf_error *error);
void private_ratings_free(struct private_ratings *ratings);

uint64_t private_ratings_users(const struct private_ratings *ratings);
size_t private_ratings_longest(
    const struct private_ratings *ratings); /* ratings of one user: for buffers */

/* Calls visit(self, worker, user) for every user, in any order, by all threads of the pool. A
 * negative value of `visit` or of `keep_on` (asked now and then, may be NULL) ends it. */
struct private_visit {
    int (*visit)(void *self, int worker, const struct private_user *user, struct dpmf_error *error);
    void *self;
    int (*keep_on)(void *self, struct dpmf_error *error);
    void *keep_on_self;
};

int private_ratings_visit(const struct private_ratings *ratings, struct thread_pool *pool,
                          const struct private_visit *visit, struct dpmf_error *error);

#endif
