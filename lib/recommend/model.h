/*
 * An open model: the factors, the kernels that go through them, and what is known about the run that
 * made them. What the public struct dpmf_model is.
 */
#ifndef DPMF_RECOMMEND_MODEL_H
#define DPMF_RECOMMEND_MODEL_H

#include "dpmf.h"
#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "model/release.h"

enum model_kind { MODEL_CHECKPOINT, MODEL_RELEASE };

struct dpmf_model {
    enum model_kind kind;
    struct factors factors;              /* of a release: without users */
    struct checkpoint_state state;       /* of a checkpoint */
    double factor_penalty, bias_penalty; /* of a release, for fitting a user (model/release.h) */
    char *statement;                     /* of a release: JSON; else NULL */
    const struct kernel_set *kernels;
    size_t padded_k;
    char *provenance;
    uint64_t file_bytes;
};

/* @return the row, or NULL when the model does not know the user or item */
static inline const float *model_user_row(const struct dpmf_model *model, uint64_t user) {
    const struct factor_matrix *users = &model->factors.users;
    return user < users->n ? users->rows + user * users->stride : NULL;
}

static inline const float *model_item_row(const struct dpmf_model *model, uint64_t item) {
    const struct factor_matrix *items = &model->factors.items;
    return item < items->n ? items->rows + item * items->stride : NULL;
}

/* What all predictions for a user have in common: the offset and, if known, the user's bias. */
static inline double model_user_base(const struct dpmf_model *model, uint64_t user) {
    const struct factor_matrix *users = &model->factors.users;
    return model->factors.offset + (user < users->n ? (double)users->biases[user] : 0.0);
}

/* The n best items of a user, best first, ties by number; UINT64_MAX for an unknown user: by the items'
 * biases alone. The bitmaps may be NULL. Allocates nothing, cannot fail. @return how many there are */
size_t recommend_top_n(const struct dpmf_model *model, uint64_t user, const uint8_t *exclude,
                       const uint8_t *include, size_t n, struct dpmf_scored_item *out);

/* The same for a row and what all its scores have in common; `u` NULL: by the items' biases alone. */
size_t recommend_row_top_n(const struct dpmf_model *model, const float *u, double base,
                           const uint8_t *exclude, const uint8_t *include, size_t n,
                           struct dpmf_scored_item *out);

#endif
