/*
 * What a sampler assumes about a model before it has seen a rating, and draws again once per round:
 *
 *     r_ij ~ N(offset + b_i + b_j + u_i.v_j, 1 / noise)
 *     u_i  ~ N(0, diag(users)^-1)      b_i ~ N(0, 1 / user_bias)
 *     v_j  ~ N(0, diag(items)^-1)      b_j ~ N(0, 1 / item_bias)
 *
 * and each of these precisions ~ Gamma(alpha, beta), beta being a scale: its density is that of an
 * exponential of mean 100 (alpha = 1, beta = 100, the paper's), nearly flat where precisions are.
 * The paper does not say which meaning of beta is its own. Taken for a rate it would say that
 * variances are above 100, on a scale of 1 to 5, and the ratings of a thousand people would not
 * outweigh that.
 *
 * On a scale whose unit is s (factors_unit), biases and errors are s times as large and vectors
 * sqrt(s) times, so the scale of a bias's or an error's precision is beta / s^2 and that of a
 * vector's is beta / s.
 */
#ifndef DPMF_SAMPLE_PRECISIONS_H
#define DPMF_SAMPLE_PRECISIONS_H

#include "model/factors.h"
#include "sample/chain_key.h"

#define PRECISIONS_ALPHA 1.0
#define PRECISIONS_BETA 100.0

struct precisions {
    size_t k;
    double unit;
    double noise; /* lambda_r */
    double user_bias, item_bias;
    double *users, *items; /* k each, the diagonals of Lambda_u and Lambda_v */
};

/* With the values that a chain begins with: products u.v of a standard deviation of half a unit. */
int precisions_init(struct precisions *precisions, size_t k, double unit, struct dpmf_error *error);
void precisions_free(struct precisions *precisions);
void precisions_begin(struct precisions *precisions);

enum precisions_side { PRECISIONS_USERS, PRECISIONS_ITEMS };

/* Draws the precisions of a side, given the sums of squares of its n rows: by column, the biases
 * last. */
void precisions_draw_side(struct precisions *precisions, enum precisions_side side, uint64_t n,
                          const double *squares, const struct chain_key *key);

/* Draws the precision of the ratings, given the sum of n squared errors. */
void precisions_draw_noise(struct precisions *precisions, uint64_t n, double squares,
                           const struct chain_key *key);

/* Draws all of them, given the sums over users, items and ratings. */
void precisions_draw(struct precisions *precisions, uint64_t n_ratings, double squared_error,
                     uint64_t n_users, const double *user_squares, uint64_t n_items,
                     const double *item_squares, const struct chain_key *key);

/* The sums of squares of rows in memory: k columns and the biases. */
void precisions_squares(const struct factor_matrix *matrix, size_t k, double *squares);

/* log of the density of everything, without its constants: of n ratings with this sum of errors'
 * squares, of rows with these sums of squares (k columns and the biases), and of the precisions. It
 * is that of the model in which every column of U is as long as that of V: lengthening one and
 * shortening the other changes no prediction, ratings carry no information about it, and no chain
 * converges in it. */
double precisions_log_density(const struct precisions *precisions, uint64_t n_ratings,
                              double squared_error, uint64_t n_users, const double *user_squares,
                              uint64_t n_items, const double *item_squares);

/* Draws every row and bias of a side from its prior: where a chain begins. */
void precisions_draw_rows(const struct precisions *precisions, enum precisions_side side,
                          struct factor_matrix *matrix, const struct chain_key *key);

/* The same where the first row goes by another number than 0: of a share of the users. */
void precisions_draw_share(const struct precisions *precisions, enum precisions_side side,
                           struct factor_matrix *matrix, uint64_t first,
                           const struct chain_key *key);

#endif
