/*
 * The trimmed ratings of a private run in memory, by user and by item, with every user's weight:
 * what the sampler of the mechanism `posterior` goes over again and again. Made from
 * private_ratings, whose trimming it relies on.
 */
#ifndef DPMF_MECHANISMS_POSTERIOR_POSTERIOR_DATA_H
#define DPMF_MECHANISMS_POSTERIOR_POSTERIOR_DATA_H

#include "privacy/private_ratings.h"
#include "statement/posterior_rule.h"

/* One side: the ratings of row r are start[r] .. start[r + 1] - 1. */
struct posterior_side {
    size_t n;        /* rows */
    size_t *start;   /* n + 1 */
    uint32_t *other; /* the row on the other side, increasing */
    float *y;
};

struct posterior_data {
    struct posterior_side users, items;
    double *weight; /* w of each user */
};

/* Users in the order of the store. Warns when it takes more than `memory`. @return 0,
 * DPMF_ERR_BASE_BUG when a user has more than max_ratings, or what reading gave */
int posterior_data_build(const struct private_ratings *ratings, size_t n_items,
                         const struct posterior_rule *rule, uint64_t memory,
                         const struct dpmf_run *run, struct posterior_data *data,
                         struct dpmf_error *error);
void posterior_data_free(struct posterior_data *data);

#endif
