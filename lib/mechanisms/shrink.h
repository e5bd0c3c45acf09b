/*
 * Empirical Bayes for the columns of a measured matrix: what is known about an item from others,
 * against what was measured of it. Post-processing: reads nothing private.
 */
#ifndef DPMF_MECHANISMS_SHRINK_H
#define DPMF_MECHANISMS_SHRINK_H

#include "base/threads.h"
#include "numerics/exact_arithmetic.h"
#include "privacy/public_model.h"

/* 1, log count (about its mean), public features: what the prior means are regressed on. */
int shrink_regressors_make(struct item_evidence *evidence, const struct catalogue *catalogue,
                           struct dpmf_error *error);

/* Replaces model->c by the posterior mean of the bias column of evidence->Z, and the prior variance
 * in evidence->tau by what the measurements say. */
int shrink_biases(struct public_model *model, struct item_evidence *evidence, double ridge,
                  struct thread_pool *pool, struct dpmf_error *error);

/* The same for all columns that are measured. Vectors are first turned to their principal axes, so
 * that each axis has a prior variance of its own; evidence->Z is turned with them. */
int shrink_all(struct public_model *model, struct item_evidence *evidence, double ridge,
               struct thread_pool *pool, struct dpmf_error *error);

/* The columns of the first n of each row of `rows` (rows `stride` apart) turned or scaled by B (K x
 * K): x := B x. */
void shrink_map_rows(double *rows, size_t n, size_t stride, size_t K, const double *B);

#endif
