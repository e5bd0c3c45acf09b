/*
 * The shape of a synthetic set: how many ratings each user has, and how popular each item is.
 */
#ifndef DPMF_SYNTH_SYNTH_SHAPE_H
#define DPMF_SYNTH_SYNTH_SHAPE_H

#include "dpmf.h"

/* What keeps the uses of the one seed apart. */
enum synth_purpose {
    SYNTH_DEGREE = 0x73790001,
    SYNTH_PICK,
    SYNTH_USER,
    SYNTH_ITEM,
    SYNTH_TIME,
    SYNTH_ITEM_ID,
    SYNTH_USER_ID,
    SYNTH_RATER,
    SYNTH_TITLE,
};

/* Zero-initialise; free with synth_shape_free. */
struct synth_shape {
    uint64_t users, items, ratings;
    uint32_t *degree;      /* ratings of each user: 1 .. items, in sum `ratings` */
    double *weight;        /* weights of the items, in falling order; their sum is 1 */
    uint32_t *rater_order; /* a permutation of the items, see synth_shape_rater_place */
    double exponent;       /* a of the weights' power law (j + q)^-a */
    double expected_share; /* expected share of the 500 most popular items */
};

/* Needs valid options: users, items <= ratings <= users * items. */
int synth_shape_init(struct synth_shape *shape, const struct dpmf_synth_options *options,
                     struct dpmf_error *error);
void synth_shape_free(struct synth_shape *shape);

/* Every item has one rater for certain. Lay all ratings in a row, user after user: item
 * rater_order[t] belongs to the user at this place. Places are distinct and grow with t, so that no
 * user is given more items than it has ratings, and whoever rates more is given more. */
uint64_t synth_shape_rater_place(const struct synth_shape *shape, uint64_t t);

/* A random order of 0 .. n-1, n < 2^32. NULL without memory. */
uint32_t *synth_permutation(uint64_t n, uint64_t seed, enum synth_purpose purpose);

#endif
