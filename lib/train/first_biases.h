/*
 * The biases that SGD begins with, and the penalties it keeps on them: a model of averages alone,
 *
 *     r_ij = mean + b_i + b_j + e_ij,  b_i ~ N(0, users),  b_j ~ N(0, items),  e_ij ~ N(0, noise),
 *
 * whose three variances are estimated from the ratings. Each bias is the average of what is left of
 * its ratings, shrunk as its variance requires: someone with two ratings hardly differs from the
 * mean, someone with two hundred does. SGD in small steps would take hundreds of epochs to get
 * there for rows with few ratings.
 */
#ifndef DPMF_TRAIN_FIRST_BIASES_H
#define DPMF_TRAIN_FIRST_BIASES_H

#include "cluster/cluster.h"
#include "store/store.h"

struct first_biases {
    double noise, users, items; /* variances; all above 0 */
};

/* Bytes that first_biases_find takes. */
uint64_t first_biases_bytes(const struct dpmf_store *store);

/* Estimates the variances and fills in the biases of all users that are here and, by their number,
 * of all items. `store` has the users that are here, `whole` all of them, and `mean` is that of all
 * ratings less store_base. By all ranks. */
int first_biases_find(const struct dpmf_store *store, const struct dpmf_store *whole, double mean,
                      const struct dpmf_cluster *cluster, float *users, float *items,
                      struct first_biases *found, struct dpmf_error *error);

/* The number of average ratings that each bias is held at 0 by: noise over its variance. */
double first_biases_user_penalty(const struct first_biases *found);
double first_biases_item_penalty(const struct first_biases *found);

#endif
