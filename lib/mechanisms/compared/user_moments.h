/*
 * Second moments of a user's own vector under their posterior: what the scale of the vectors and
 * the variances of the model are read from.
 */
#ifndef DPMF_MECHANISMS_COMPARED_USER_MOMENTS_H
#define DPMF_MECHANISMS_COMPARED_USER_MOMENTS_H

#include "mechanisms/symmetric_pack.h"
#include "mechanisms/user_solve.h"

enum { USER_MOMENTS_MAX = (RULE_FACTORS_MAX + 2) * (RULE_FACTORS_MAX + 2) };

/* Packed moments and the mean squared residual. */
static inline size_t user_moments_n(size_t K) { return symmetric_packed_n(K + 2) + 1; }

/* M ((K + 2) x (K + 2)): the mean of [u, a, 1] [u, a, 1]^T over the posterior. */
void user_moments_make(const struct user_solution *solution, size_t K, double *M);

/* What the sums of users' moments, each times some weight, say about all of them. */
struct moments_read {
    double weights;                                         /* sum of weights, floored */
    double mean[RULE_FACTORS_MAX + 1];                      /* mean of [u, a] */
    double second[RULE_FACTORS_MAX * RULE_FACTORS_MAX];     /* second moments of u */
    double covariance[RULE_FACTORS_MAX * RULE_FACTORS_MAX]; /* the same about the mean */
};

/* From packed noisy sums of noise sigma. The model's s2, var_a and b0 are set to what they say. */
void user_moments_read(const double *sums, double sigma, struct public_model *model,
                       struct moments_read *out);

/* B with B C B^T = 1 (K x K): coordinates in which users are white. Where they vary more than they
 * should it goes further, by the power `over`, so that fewer rounds are needed. */
void user_moments_whiten(const double *C, size_t K, double over, double *B);

#endif
