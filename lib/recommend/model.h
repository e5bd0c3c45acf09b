/*
 * An open model: the factors, the kernels that go through them, and what is known about the run
 * that made them. What the public struct dpmf_model is.
 */
#ifndef DPMF_RECOMMEND_MODEL_H
#define DPMF_RECOMMEND_MODEL_H

#include "dpmf_client.h"
#include "kernels/score_kernels.h"
#include "model/checkpoint.h"
#include "model/release.h"
#include "recommend/facts.h"
#include "recommend/taste.h"

enum model_kind { MODEL_CHECKPOINT, MODEL_RELEASE };

struct dpmf_model {
    enum model_kind kind;
    struct factors factors;        /* factors; a release has no users */
    struct checkpoint_state state; /* a checkpoint's state; of a release of events its `like` */
    double factor_penalty,
        bias_penalty; /* for fitting a user (model/release.h); 0: ridge.h's own */
    char *statement;  /* a release's statement, JSON; else NULL */
    const struct score_kernels *kernels;
    size_t padded_k;
    double *item_norms;                  /* lengths of the items' vectors */
    double item_norm_max, item_bias_max; /* the longest vector; the largest absolute bias */
    double *gramian; /* k x k, V^T V: of a model that ranks, to fit users with; else NULL */

    /* What lists are ordered by (score.h). */
    struct taste_space taste;
    struct facts_space facts; /* facts of a release, for whoever has a catalogue at home */
    float *crowd;         /* how much everyone likes each item; NULL: lists are by rating alone */
    double crowd_max;     /* largest absolute value */
    double *average_user; /* k, of a model that ranks; else NULL */
    /* a release of events: no rating is predicted, and how high one is says no more than `like` */
    bool of_events;
    double taste_weight; /* weight of taste in scores, as such a release says; else 1 */
    char *provenance;
    uint64_t file_bytes;
    /* The last rows of each side, placed by features (features/model_features.c). */
    uint64_t placed_users, placed_items;
    /* Users after all these, fitted to a history (evaluate/fold_users.h). */
    uint64_t fitted_users;
};

/* Whether nothing but its features is known of a user or an item of the model. */
static inline bool model_user_is_placed(const struct dpmf_model *model, uint64_t user) {
    const uint64_t end = model->factors.users.n - model->fitted_users;
    return user < end && user >= end - model->placed_users;
}

/* Whether a user was fitted to a history; a user whom the model does not know was not. */
static inline bool model_user_is_fitted(const struct dpmf_model *model, uint64_t user) {
    return user < model->factors.users.n && user >= model->factors.users.n - model->fitted_users;
}

static inline bool model_item_is_placed(const struct dpmf_model *model, uint64_t item) {
    return item < model->factors.items.n && item >= model->factors.items.n - model->placed_items;
}

/* Whether a rating is something that the model learns from: to one that ranks, only likes are. */
static inline bool model_is_event(const struct dpmf_model *model, double rating) {
    return !model->state.has_like || rating >= model->state.like;
}

/* Whether scores are no ratings. */
static inline bool model_predicts_ratings(const struct dpmf_model *model) {
    return !model->state.ranks && !model->of_events;
}

/* @return the row, or NULL when the model does not know the user or item */
static inline const float *model_user_row(const struct dpmf_model *model, uint64_t user) {
    const struct factor_matrix *users = &model->factors.users;
    return user < users->n ? users->rows + user * users->stride : NULL;
}

static inline const float *model_item_row(const struct dpmf_model *model, uint64_t item) {
    const struct factor_matrix *items = &model->factors.items;
    return item < items->n ? items->rows + item * items->stride : NULL;
}

/* Finds the norms and the largest of the items: to be called again when these change. */
int model_items_measure(struct dpmf_model *model, struct dpmf_error *error);

/* The common part of all predictions for a user: the offset and, if known, the user's bias. */
static inline double model_user_base(const struct dpmf_model *model, uint64_t user) {
    const struct factor_matrix *users = &model->factors.users;
    return model->factors.offset + (user < users->n ? (double)users->biases[user] : 0.0);
}

/* a.b over k columns in double, in one fixed order that vectors of up to four can follow: the same
 * on every machine, whatever its kernels. */
static inline double model_dot(const float *a, const float *b, size_t k) {
    double sum[4] = {0, 0, 0, 0};
    size_t c = 0;
    for (; c + 4 <= k; c += 4)
        for (size_t i = 0; i < 4; i++) sum[i] += (double)a[c + i] * (double)b[c + i];
    for (size_t i = 0; c + i < k; i++) sum[i] += (double)a[c + i] * (double)b[c + i];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

static inline double model_dot_double(const double *a, const float *b, size_t k) {
    double sum[4] = {0, 0, 0, 0};
    size_t c = 0;
    for (; c + 4 <= k; c += 4)
        for (size_t i = 0; i < 4; i++) sum[i] += a[c + i] * (double)b[c + i];
    for (size_t i = 0; c + i < k; i++) sum[i] += a[c + i] * (double)b[c + i];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* A user as items are scored for them: score = base + bias of the item + u.v. */
struct scoring {
    const struct dpmf_model *model;
    double base;
    const float *biases;  /* biases of the items: the model's own, or what everyone likes */
    double bias_max;      /* the largest of them without its sign */
    const double *exact;  /* what the biases were before they became floats; NULL: they are exact */
    const float *row;     /* u for the kernels; NULL: by the items' biases alone */
    const double *vector; /* u in double; NULL: the row is enough */
};

/* By predicted ratings. */
static inline struct scoring scoring_by_rating(const struct dpmf_model *model, double base,
                                               const float *row, const double *vector) {
    return (struct scoring){.model = model,
                            .base = base,
                            .biases = model->factors.items.biases,
                            .bias_max = model->item_bias_max,
                            .row = row,
                            .vector = vector};
}

/* The score in double, which is what is reported and ordered by. */
static inline double scoring_exact(const struct scoring *scoring, uint64_t item) {
    const struct factors *factors = &scoring->model->factors;
    const float *v = factors->items.rows + item * factors->items.stride;
    double sum = scoring->exact ? scoring->exact[item] : (double)scoring->biases[item];
    if (scoring->vector)
        sum += model_dot_double(scoring->vector, v, factors->k);
    else if (scoring->row)
        sum += model_dot(scoring->row, v, factors->k);
    return scoring->base + sum;
}

/* The n best items, best first, ties by number. The bitmaps may be NULL. Allocates nothing, cannot
 * fail.
 * @return how many there are */
size_t recommend_scoring_top_n(const struct scoring *scoring, const uint8_t *exclude,
                               const uint8_t *include, size_t n, struct dpmf_scored_item *out);

#endif
