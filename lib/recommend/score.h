/*
 * What lists are ordered by: not the predicted rating alone, which is highest for items that few
 * people know and all of them love, but what someone is likely to want.
 *
 *     score_j = crowd_j + habit + 2 t taste_j
 *
 *     crowd_j = log(N_j / average N) + g b_j          liked by everyone
 *     habit   = g (a + u.m)                           how this person rates: the same for all items
 *     taste_j = (p + g u).(v_j - m) + q.d_j           this person's taste
 *
 * t is the dial, from 0, the crowd alone, to 1; in the middle taste counts once. N_j is how many
 * people had the item, p the person's choices and m the average vector (taste.h); b_j, a and u are
 * the item's bias, the person's bias and their vector, as for predicted ratings, which count g =
 * 0.3 a quarter of the scale. q.d_j is what years and kinds of items, where they are known, add to
 * that (facts.h), and 0 elsewhere. Someone of whom the model knows u and no history is given is
 * ranked with taste_j = u.(v_j - m) / unit.
 *
 * A release of events has no ratings: g is 0, w_h is 1, and it says by what taste_j is multiplied
 * (its taste_weight).
 *
 * Of a model that ranks (rank/ials.h) crowd_j is the average user's score of the item, and taste_j
 * what is this person's own in theirs; habit is 0. In the middle of the dial that is u.v_j.
 */
#ifndef DPMF_RECOMMEND_SCORE_H
#define DPMF_RECOMMEND_SCORE_H

#include "recommend/model.h"

/* Fills in what a model keeps for it. Frees nothing on failure; score_free does. */
int score_prepare(struct dpmf_model *model, struct dpmf_error *error);
void score_free(struct dpmf_model *model);

/* The order to use: NULL stands for the default, which is by rating where the model has no counts.
 * @return 0, DPMF_ERR_USAGE_VALUE for a dial out of its range, DPMF_ERR_MODEL_KIND for what the
 * model cannot do */
int score_order_find(const struct dpmf_model *model, const struct dpmf_order *asked,
                     struct dpmf_order *order, struct dpmf_error *error);

/* Someone as scores see them. */
struct person {
    double bias;          /* a */
    const float *row;     /* u, laid out for the kernels; NULL: nothing is known of them */
    const double *vector; /* u in double; NULL: the row says it all */
    const double *choice; /* p; NULL: there is no history */
    const double *told;   /* q; NULL: nothing is known of the items */
};

/* A user of the model. `choice` may be NULL. */
struct person score_person_known(const struct dpmf_model *model, uint64_t user,
                                 const double *choice);

/* A scoring with room for its numbers. */
struct scorer {
    struct scoring scoring;
    struct dpmf_order order;
    double habit;
    double middle;  /* u.v of an item with the average vector; taste is the rest */
    double *vector; /* k: what items are multiplied with */
    float *row;     /* the same for the kernels */
    double *told;   /* crowd and what q adds to it, of each item; NULL: nothing is known of them */
    float *rounded; /* the same for the kernels */
    uint64_t first; /* items whose scores are wanted, up to end; `told` is of these alone */
    uint64_t end;
    struct scoring rating;
};

/* For all items; who wants fewer sets `first` and `end` before scorer_set. */
int scorer_init(struct scorer *scorer, const struct dpmf_model *model, struct dpmf_error *error);
void scorer_free(struct scorer *scorer);

/* Prepares the scores of a person. What `person` points to must stay valid while the scorer is
 * used. */
void scorer_set(struct scorer *scorer, const struct person *person, const struct dpmf_order *order);

/* The parts of an item's score; an item that the model does not know counts as average in
 * everything. */
struct dpmf_score scorer_parts(const struct scorer *scorer, uint64_t item);

/* The g of predicted ratings in scores. */
double score_quality(const struct dpmf_model *model);

#endif
