/*
 * The mean prediction of many samples as one model. The mean over S samples of u_s.v_s is one
 * scalar product of rows S times as long, (u_1 .. u_S) / sqrt(S) and (v_1 .. v_S) / sqrt(S), and
 * biases are averaged as they are: so what comes of averaging is a checkpoint like any other, and
 * every verb works on it.
 *
 * A sample's block of such a row has two columns more, which carry how far its biases are from
 * their means:
 *
 *     user:  (u, d_i / (c s), 1 / c)       item:  (v, c s, c d_j)       c = 1/32, s the unit of the
 *     ratings
 *
 * so that a block's product, times S, is all of what the sample predicts beyond offset and mean
 * biases: intervals of predictions need that. Over all samples d_i and d_j add up to 0. c is so
 * small that an item's row, which similar items are found by and new users are fitted to, is hardly
 * changed by it.
 *
 * Columns are scaled such that every user's vector has the prior N(0, I): then two penalties say
 * how to fit a new user (factor_penalty and bias_penalty of struct checkpoint_state), and items are
 * compared by how people's ratings of them vary together.
 */
#ifndef DPMF_SAMPLE_POSTERIOR_MEAN_H
#define DPMF_SAMPLE_POSTERIOR_MEAN_H

#include "model/checkpoint.h"
#include "sample/precisions.h"
#include "train/rank_share.h"
#include "train/row_store.h"

enum {
    POSTERIOR_MEAN_MORE = 2,  /* columns of a block beyond k */
    POSTERIOR_MEAN_LEAST = 2, /* samples, of which a mean is one */
};

struct posterior_mean;

/* Room for `samples` of the `expected` that will be added, evenly taken. */
int posterior_mean_init(struct posterior_mean **mean, uint64_t n_users, uint64_t n_items, size_t k,
                        uint32_t samples, uint64_t expected, struct dpmf_error *error);
void posterior_mean_free(struct posterior_mean *mean); /* NULL is fine */

/* The samples that a mean gains from, as far as a model can hold them. */
uint32_t posterior_mean_useful(size_t k);

/* The most samples that a model can hold, and the bytes that a number of samples takes. */
uint32_t posterior_mean_most(size_t k);
uint64_t posterior_mean_bytes(uint64_t n_users, uint64_t n_items, size_t k, uint32_t samples);

/* The number of samples to keep: the number asked for, or as many as are useful and fit in *bytes;
 * 0 without options->average. @return 0, or DPMF_ERR_USAGE_MEMORY when there is too little, *bytes
 * then being what would be enough; the caller writes the message */
int posterior_mean_plan(const struct dpmf_train_options *options, uint64_t n_users,
                        uint64_t n_items, uint64_t expected, uint64_t *bytes, uint32_t *samples);

/* Copies the sample, when it is its turn. `users` has the users' rows, wherever they are. */
int posterior_mean_add(struct posterior_mean *mean, const struct factors *sample,
                       const struct row_store *users, const struct precisions *precisions,
                       struct dpmf_error *error);
uint32_t posterior_mean_samples(const struct posterior_mean *mean); /* samples kept so far */

/* Writes the model, by all ranks of a cluster, each of which has the samples of its users and of
 * all items: offset, scale and ids from `like` and the share; `state` gets what a reader must know
 * of the samples. Items are written in the order of the tiling's places; without one (NULL), in
 * that which they have. */
int posterior_mean_write(const struct posterior_mean *mean, const char *path,
                         const struct rank_share *share, const struct factors *like,
                         const struct tiling *tiling, struct checkpoint_state *state,
                         const char *provenance, struct dpmf_error *error);

/* The same for a sample alone: scales its columns in place and fills in the state. */
int posterior_sample_scale(struct factors *sample, const struct row_store *users,
                           const struct precisions *precisions, struct checkpoint_state *state,
                           struct dpmf_error *error);

#endif
