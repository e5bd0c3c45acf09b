/*
 * What a user contributes to the releases of `gram`; for the tests of sensitivity.
 */
#ifndef DPMF_MECHANISMS_COMPARED_GRAM_H
#define DPMF_MECHANISMS_COMPARED_GRAM_H

#include "mechanisms/compared/user_moments.h"
#include "privacy/noisy_sum.h"

enum {
    GRAM_ITEMS_MAX = 4000,   /* P: items in the matrix */
    GRAM_RATINGS_MAX = 1000, /* most ratings of one user */
    GRAM_TAIL = 1,
};

static const double gram_pairs_weight =
    0.1; /* beta: weight of the scalar that goes with the pairs */

/* Which items are in the matrix, from the noisy counts: public. */
struct gram_items {
    size_t n;           /* P */
    uint32_t *position; /* by row of the catalogue: in the matrix; UINT32_MAX: not in it */
    uint32_t *rank;     /* by row: 0 for the highest count; only of items in the matrix */
};

/* A worker's own. */
struct gram_space {
    uint32_t *pairs; /* GRAM_RATINGS_MAX (GRAM_RATINGS_MAX - 1) / 2 */
    double *residuals;
    double x[GRAM_RATINGS_MAX], weight[GRAM_RATINGS_MAX];
    uint32_t at[GRAM_RATINGS_MAX];
};

struct gram_user {
    const struct public_model *model; /* without factors */
    const struct gram_items *items;
    double floor;
    struct gram_space *spaces; /* by worker */
};

/* An item by its count. */
struct gram_counted {
    double N;
    uint32_t row;
};

/* For qsort: the most popular first, and of equals the first row. */
int gram_compare_counts(const void *a, const void *b);

/* 0 of none too: 0 times anything. */
static inline size_t gram_pairs(size_t n) { return n * (n - 1) / 2; }

/* Coordinate of the pair of positions j < k: rows of the upper triangle one after the other. */
static inline uint32_t gram_pair(size_t n, size_t j, size_t k) {
    return (uint32_t)(j * (2 * n - j - 1) / 2 + (k - j - 1));
}

noisy_sum_contribute gram_contribute; /* `self` is a struct gram_user; width 1 */

/* Moments of users' vectors alone, no items. */
struct gram_calibration {
    const struct public_model *model;
    double floor;
    double *residuals; /* worker w has residuals + w * longest */
    size_t longest;
};

noisy_sum_contribute gram_contribute_moments; /* `self` is a struct gram_calibration */

#endif
