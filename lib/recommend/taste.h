/*
 * What a person is likely to choose next, from what they chose before. People are taken to choose
 * item j with a probability in proportion to
 *
 *     N_j exp(p.v_j),
 *
 * N_j being how many people had it and p the person's own. Around p = 0 the logarithm of the
 * probability of a history h is quadratic, with the mean m and the covariance C of the vectors
 * under N:
 *
 *     sum_h w_h p.(v_h - m)  -  W/2 p'C p,        W = sum_h |w_h|,
 *
 * and with the prior p ~ N(0, I / penalty) the most probable p is
 *
 *     p = (W C + penalty I)^-1 sum_h w_h (v_h - m).
 *
 * The penalty is half the trace of C: a priori p.(v_j - m) then has variance 2 over the items,
 * whatever the scale of the vectors. w_h is 1 for an event; of a rating it is least(1, (r - min) /
 * unit - 1/2), with a unit of a quarter of the scale, and never below -1/2: what is rated lowest
 * counts against.
 *
 * Columns are taken in blocks of at most 64, each of them as if it were alone, and the blocks'
 * answers are averaged: so the cost stays in proportion to the columns, and each sample in a model
 * of samples (sample/posterior_mean.h) is a block. C is kept as its eigenvectors, so that a person
 * costs one product with them. All of it in double and in one order: the same bits everywhere.
 */
#ifndef DPMF_RECOMMEND_TASTE_H
#define DPMF_RECOMMEND_TASTE_H

#include "dpmf_client.h"
#include "model/factors.h"

enum { TASTE_BLOCK_MOST = 64 }; /* columns of a block */

struct taste_space {
    size_t k, width, n_blocks; /* columns; in a block, the last of which may have fewer; blocks */
    double *mean;              /* k: m */
    double *values;            /* k: eigenvalues of each block of C */
    double *vectors;           /* n_blocks x width x width: eigenvectors, a row each */
    double *penalties;         /* n_blocks; 0: all vectors are the same, and say nothing */
    double unit, min;          /* unit and minimum of the scale; 0: every rating is an event */
};

/* From the items' vectors and counts; without counts (NULL) all items count the same. `block` is
 * the width of a sample's block, 0 for a model that is no sampler's. Free it also after a
 * failure. */
int taste_space_init(struct taste_space *space, const struct factors *factors, size_t block,
                     struct dpmf_error *error);
void taste_space_free(struct taste_space *space);

/* w_h of a rating. */
double taste_weight(const struct taste_space *space, double rating);

/* p, of n ratings of items that the model knows. `p` has room for k. */
void taste_fit(const struct taste_space *space, const struct factors *factors,
               const struct dpmf_own_rating *ratings, size_t n, double *p);

/* shares[h] := the part of p.x that is due to the rating h; they add up to p.x. `x` is k numbers
 * and is destroyed. */
void taste_share(const struct taste_space *space, const struct factors *factors,
                 const struct dpmf_own_rating *ratings, size_t n, double *x, double *shares);

#endif
