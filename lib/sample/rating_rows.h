/*
 * All ratings in memory, twice: each user's one after the other, and each item's. What block Gibbs
 * goes through, which meets all ratings of a row at once.
 */
#ifndef DPMF_SAMPLE_RATING_ROWS_H
#define DPMF_SAMPLE_RATING_ROWS_H

#include "cluster/cluster.h"
#include "dpmf.h"

/* Row i's ratings are start[i] .. start[i + 1] - 1, in increasing order of the rows that they are
 * of. */
struct rating_side {
    uint64_t n;
    uint64_t *start;
    uint32_t *other; /* rows of the other side */
    float *value;    /* ratings less the mean of all */
};

struct rating_rows {
    uint64_t n_ratings;              /* number of ratings here */
    double mean;                     /* mean of all ratings, on whatever rank */
    struct rating_side users, items; /* both sides, numbered as in the store */
};

/* In a cluster (else NULL) the store is a rank's share, and all ranks call this; `all` is how many
 * ratings all of them have. */
int rating_rows_read(struct rating_rows *rows, const struct dpmf_store *store,
                     const struct dpmf_cluster *cluster, uint64_t all, const struct dpmf_run *run,
                     struct dpmf_error *error);
void rating_rows_free(struct rating_rows *rows);

/* The bytes it takes: while it is made, and afterwards. */
uint64_t rating_rows_bytes(const struct dpmf_store *store, bool making);

#endif
