/*
 * Block Gibbs for matrix factorisation (BPMF, Salakhutdinov and Mnih 2008): given everything else,
 * a row's vector and bias are Gaussian together, and are drawn from exactly that. With x_j = (v_j,
 * 1) and y_j = r_ij - offset - b_j over the ratings of user i,
 *
 *     (u_i, b_i) ~ N(A^-1 c, A^-1),      A = diag(users, user_bias) + noise sum_j x_j x_j^T,      c
 *     = noise sum_j x_j y_j
 *
 * (sample/precisions.h), and an item's likewise. Rows of one side do not depend on each other, so
 * all threads draw at once; what is drawn depends on the chain's key and the row alone.
 */
#ifndef DPMF_SAMPLE_GIBBS_H
#define DPMF_SAMPLE_GIBBS_H

#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/factors.h"
#include "sample/chain_key.h"
#include "sample/rating_rows.h"

/* One side, as a sweep draws it. */
struct gibbs_side {
    const struct rating_side *ratings;
    struct factor_matrix *own;
    const struct factor_matrix *other;
    const double *precision; /* precisions of the k columns */
    double bias_precision, noise;
    enum chain_purpose purpose;
    /* number of the first row in its random stream: not 0 in a share of the users */
    uint64_t first_row;
    double *squares; /* sum of squared errors of each row after it was drawn; may be NULL */
};

/* The working memory of a sampler. */
struct gibbs;

int gibbs_init(struct gibbs **gibbs, const struct kernel_set *kernels, size_t k,
               struct thread_pool *pool, struct dpmf_error *error);
void gibbs_free(struct gibbs *gibbs); /* NULL is fine */
size_t gibbs_factors(const struct gibbs *gibbs);
uint64_t gibbs_bytes(const struct kernel_set *kernels, size_t k, int threads);

/* Draws every row of a side. `should_stop` (may be NULL) is asked now and then, by any thread, also
 * within a row that takes long.
 * @return 0, DPMF_ERR_BASE_CANCELLED, or DPMF_ERR_TRAIN_DIVERGED when a number was not finite */
int gibbs_sweep(struct gibbs *gibbs, const struct gibbs_side *side, const struct chain_key *key,
                bool (*should_stop)(void *self), void *self, struct dpmf_error *error);

/* The same in steps, where the ratings of a row are in several places: what those that are here add
 * to A and c, without `noise`, as gibbs_sums_size doubles a row; rows `first` to first + n - 1
 * drawn, given the sums of all; and side->squares of what is here, of all rows. */
size_t gibbs_sums_size(size_t k);
int gibbs_sum_rows(struct gibbs *gibbs, const struct gibbs_side *side, uint64_t first, uint64_t n,
                   double *sums, bool (*should_stop)(void *self), void *self,
                   struct dpmf_error *error);
int gibbs_draw_rows(struct gibbs *gibbs, const struct gibbs_side *side, const struct chain_key *key,
                    uint64_t first, uint64_t n, double *sums, bool (*should_stop)(void *self),
                    void *self, struct dpmf_error *error);
int gibbs_square_errors(struct gibbs *gibbs, const struct gibbs_side *side,
                        struct dpmf_error *error);

#endif
