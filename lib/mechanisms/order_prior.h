/*
 * What an item's neighbours in the catalogue say about it. Catalogues are mostly in the order in
 * which things came in, so neighbours are often of one series, studio or year, and alike. Where
 * they are not, this says nothing. Post-processing: reads sums with noise and the public order.
 */
#ifndef DPMF_MECHANISMS_ORDER_PRIOR_H
#define DPMF_MECHANISMS_ORDER_PRIOR_H

#include <stddef.h>

enum {
    ORDER_PARTS = 2,     /* a near and a far part of what neighbours have in common */
    ORDER_WORK_WIDTH = 5 /* doubles that the smoother keeps for each item */
};

/* What is left of a column of measurements when its prior mean has been taken out. */
struct order_column {
    size_t n_items;
    const double *left;  /* in the order of the catalogue */
    const double *noise; /* its variance */
    double variance;     /* total variance of what is left, without noise */
};

/* Finds the variance of what neighbours have in common, 0 where chance explains it; at most
 * a large part of the whole. */
void order_prior_fit(const struct order_column *column, double variance[ORDER_PARTS]);

/* Writes the posterior mean of what neighbours have in common, one number an item. `work` has room
 * for ORDER_WORK_WIDTH doubles an item. */
void order_prior_smooth(const struct order_column *column, const double variance[ORDER_PARTS],
                        double *work, double *common);

/* The rest of the variance, each item's own. */
double order_prior_rest(const struct order_column *column, const double variance[ORDER_PARTS]);

#endif
