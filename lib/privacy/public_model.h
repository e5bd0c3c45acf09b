/*
 * The public state of a private run: the model as released so far, and what is known about it. All
 * of it follows from releases and public constants; users compute from the model, the curator keeps
 * the rest beside it.
 */
#ifndef DPMF_PRIVACY_PUBLIC_MODEL_H
#define DPMF_PRIVACY_PUBLIC_MODEL_H

#include "kernels/exact.h"
#include "numerics/exact_arithmetic.h"
#include "privacy/catalogue.h"
#include "statement/residual_rule.h"

/* On the standard scale, ratings -2 .. 2:  y = b0 + c_j + a + u.v_j + noise of variance s2, a ~
 * N(0, var_a), u ~ N(0, I). Row j of `rows` is v_j, then a 1 (the column of a), then zeros up to
 * the stride. */
struct public_model {
    size_t n_items, K, stride;
    size_t n_free; /* the last of the K columns: public, not measured (free_columns.c) */
    double b0, s2, var_a;
    double *c, *rows;
    double *weight;      /* weight of an item in contributions: omega_j */
    double *bias_weight; /* weight of its bias against one factor there: b_j */
    double taste_weight; /* weight of taste beside popularity, where items are ranked */
    const struct exact_kernels *exact;
    /* noisy counts above 0, in the unit of their sum; all 0 where none were wanted */
    double *counts;
};

/* The curator's notes: noisy, and so public. D = K - n_free + 1: what is measured of the vector,
 * and the bias. */
struct item_evidence {
    double *N;                    /* noisy weighted counts, floored */
    double total, typical, users; /* sum of N; noisy sum of w sqrt(m); noisy number of users */
    double count_snr;             /* mean square of the counts over that of their noise, less 1 */
    double *Z;                    /* running measurement of [v, c], n x D */
    double *A;                    /* its precision against privacy noise: of v and of c, n x 2 */
    double *sampling;             /* its sampling variance: the users are the same in every round */
    double *tau;                  /* prior variance of each column, D */
    size_t n_regressors;
    double
        *regressors; /* regressors of the prior means: 1, log count, features; n x n_regressors */
};

/* The inner loops of contributions. Whichever are chosen, the bits are the same; $DPMF_KERNELS
 * names others, and is refused when this machine has none of that name. */
int private_kernels_choose(const struct exact_kernels **exact, struct dpmf_error *error);

int public_model_init(struct public_model *model, size_t n_items, struct dpmf_error *error);
/* Room for K factors; the vectors are 0. */
int public_model_widen(struct public_model *model, size_t K, struct dpmf_error *error);
void public_model_free(struct public_model *model);

int item_evidence_init(struct item_evidence *evidence, size_t n_items, struct dpmf_error *error);
/* Room for K factors that are measured: Z's bias column and tau's last stay what they were. */
int item_evidence_widen(struct item_evidence *evidence, size_t n_items, size_t K,
                        struct dpmf_error *error);
void item_evidence_free(struct item_evidence *evidence);

/* Sampling variance of a weighted sum a unit of weight, (sum w^2) / (sum w), from released sums
 * only; p is the release's sum of w sqrt(m). */
double item_evidence_weight_unit(const struct item_evidence *evidence, double p);

#endif
