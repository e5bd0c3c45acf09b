/*
 * Where an item would lie by what is known about it: a ridge regression of the numbers of other
 * items on their features. Reads nothing but what it is given: of a release, what is public.
 */
#ifndef DPMF_NUMERICS_FEATURE_REGRESSION_H
#define DPMF_NUMERICS_FEATURE_REGRESSION_H

#include "dpmf.h"
#include "numerics/exact_arithmetic.h"

struct feature_regression {
    size_t n;               /* items; the first n_known of them have values */
    size_t n_known;         /* at least 1 */
    size_t n_features;      /* at least 1 */
    const double *features; /* n x n_features */
    const bool *described;  /* n: whether the item has features; others are not learned from */
    const double *weights;  /* n_known: weight of each, at least 0 */
    size_t n_values;        /* numbers of an item */
    double *values;         /* n x n_values: the known ones are read, the rest is written */
    double *left_out;       /* n_known x n_values: each predicted from all others; or NULL */
    double *means;          /* n_values: the weighted means of the known; or NULL */
};

/* Each value has a penalty of its own: that of the smallest error when each item is predicted from
 * all others. Predictions do not leave the range of the known values.
 * @return 0, or without memory a negative code */
int feature_regression_run(const struct feature_regression *regression, struct dpmf_error *error);

#endif
