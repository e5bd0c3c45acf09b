/*
 * How good ranked lists are: of one user, and averaged over many; of all items, and of each fifth
 * of the items by popularity. Knows nothing of models and stores.
 */
#ifndef DPMF_EVALUATE_RANKING_SCORES_H
#define DPMF_EVALUATE_RANKING_SCORES_H

#include <stdatomic.h>

#include "dpmf.h"

enum {
    RANKING_PARTS = 1 + DPMF_POPULARITY_PARTS, /* all items, then each fifth of them */
    RANKING_MAX = 100000,                      /* items in a list, at most */
};

/* What the items are, and which of them were in anybody's list. */
struct ranking_items {
    uint64_t n;
    uint64_t *popularity;  /* ratings of each item in the history; NULL: there is none */
    uint8_t *part;         /* fifth of each item, 1 the most popular; NULL: no history */
    atomic_uchar *is_used; /* whether an item is in any list */
};

/* One user's list, judged: of one part of the items. */
struct list_scores {
    uint32_t wanted, found, listed; /* test items; those in the list; places that the list has */
    double gain;                    /* NDCG */
    double precision;               /* average precision */
    double reciprocal;              /* 1 / the place of the first item found, or 0 */
};

struct user_scores {
    struct list_scores part[RANKING_PARTS];
    double list_popularity, wanted_popularity; /* averages over the list and over the test items */
    bool is_ranked;
};

/* Sums over users: what several processes add up, the counts and the totals each as one array. */
struct ranking_sums {
    struct ranking_counts {
        uint64_t users[RANKING_PARTS], wanted[RANKING_PARTS], found[RANKING_PARTS],
            listed[RANKING_PARTS];
    } counts;
    struct ranking_totals {
        double recall[RANKING_PARTS], capped[RANKING_PARTS], gain[RANKING_PARTS],
            precision[RANKING_PARTS], reciprocal[RANKING_PARTS];
        double list_popularity, wanted_popularity;
    } totals;
};

/* `popularity` of n items becomes its own, and may be NULL. Free it in any case. */
int ranking_items_init(struct ranking_items *items, uint64_t n, uint64_t *popularity,
                       struct dpmf_error *error);
void ranking_items_free(struct ranking_items *items);

/* Judges a list of at most n items, best first. `wanted` are the test items in increasing order;
 * those from `items->n` on are not known to the model, and count as not found. In any thread. */
void ranking_user_judge(struct ranking_items *items, const uint32_t *wanted, size_t n_wanted,
                        const struct dpmf_scored_item *list, size_t n_list, size_t n,
                        struct user_scores *scores);

/* Adds a user whose list had room for n: in a fixed order, for the same sums. */
void ranking_sums_add(struct ranking_sums *sums, const struct user_scores *scores, size_t n);

/* Makes averages of the sums. */
void ranking_sums_finish(const struct ranking_sums *sums, const struct ranking_items *items,
                         size_t n, struct dpmf_evaluation *evaluation);

#endif
