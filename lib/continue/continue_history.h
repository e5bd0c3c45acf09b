/*
 * The old events of a model that ranks, where they are still at hand. Rows with new events need not
 * be held by what the model remembers then (continue_rows.h): they are solved for again from all
 * their events, old and new, from where they are, by the solver that made them (rank/ials.h).
 */
#ifndef DPMF_CONTINUE_CONTINUE_HISTORY_H
#define DPMF_CONTINUE_CONTINUE_HISTORY_H

#include "continue/continue_model.h"
#include "rank/event_rows.h"
#include "rank/ials.h"

/* Some rows of one side. */
struct continue_again {
    const uint32_t *row;      /* row of each in the model */
    struct event_side events; /* all of each, of rows of the model's other side */
    uint32_t *picked_row;     /* NULL, or what `row` is */
};

struct continue_history {
    struct continue_again users, items; /* with new ratings, in the order of their store */
    struct continue_again near_users, near_items; /* what is new or near it */
    struct factor_matrix room;                    /* to solve for the rows of a side */
    struct ials *ials;
    double unobserved; /* the weight of a pair without an event, for old and new ones together */
    uint64_t n_old;    /* events of the history that are gone through: of these users or items */
    uint64_t n_twice;  /* events of the history whose pair is among the new ratings too */
    uint64_t odd_users, odd_items; /* rows whose ratings there are not as many as the model says */
};

/* Numbers of a side. */
struct continue_pick {
    const uint32_t *number;
    uint64_t n;
};

/* What it is made of. The events are those of `store`, with rows of the model for `other`, by which
 * they come to be in order. */
struct continue_history_given {
    const struct dpmf_store *history, *store;
    const struct continue_model *model;
    const struct event_rows *events;
    const struct kernel_set *kernels;
    struct thread_pool *pool;
    struct continue_pick near_users, near_items;
};

/* Refuses a history with users or items that the model does not know. On failure there is nothing
 * to free. */
int continue_history_init(struct continue_history *self, const struct continue_history_given *given,
                          const struct dpmf_run *run, struct dpmf_error *error);
void continue_history_free(struct continue_history *self); /* a zeroed one is fine */

/* An upper bound of the bytes it takes. */
uint64_t continue_history_bytes(const struct dpmf_store *history, const struct dpmf_store *store,
                                const struct kernel_set *kernels, uint32_t k, int threads);

struct continue_stop {
    bool (*asked)(void *self); /* asked now and then */
    void *self;
};

/* Solves for items, then for users: the first time for all that have new ratings, later, and
 * several times, near what is new. @return 0, DPMF_ERR_BASE_CANCELLED, or DPMF_ERR_TRAIN_DIVERGED
 * when a number is not finite */
int continue_history_epoch(struct continue_history *self, bool is_first, struct factors *now,
                           const struct continue_stop *stop, struct dpmf_error *error);

#endif
