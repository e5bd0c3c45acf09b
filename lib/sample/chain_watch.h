/*
 * What is monitored in the chains of a sampler, the same for all samplers, and the report at the
 * end.
 */
#ifndef DPMF_SAMPLE_CHAIN_WATCH_H
#define DPMF_SAMPLE_CHAIN_WATCH_H

#include "cluster/cluster.h"
#include "model/factors.h"
#include "sample/precisions.h"
#include "train/row_store.h"

/* A chain after a round. */
struct chain_state {
    const struct factors *factors;
    const struct row_store *users; /* the users' rows, wherever they are */
    const struct precisions *precisions;
    uint64_t n_ratings;
    double squared_error;       /* sum of squared errors of all ratings */
    const double *user_squares; /* sums of squares of the users' rows: k columns, then the biases */
    const double *item_squares; /* sums of squares of the items' rows: k columns, then the biases */

    const struct dpmf_cluster *cluster; /* the ranks of the run; NULL: one machine */
    uint64_t first_user;                /* number of the first user here */
    uint64_t n_users;                   /* users of all ranks; 0: those of `factors` */
};

struct chain_watch;

/* Which pairs are watched follows from the seed and the numbers of users and items. */
int chain_watch_init(struct chain_watch **watch, uint64_t n_users, uint64_t n_items,
                     uint32_t chains, uint64_t seed, struct dpmf_error *error);
void chain_watch_free(struct chain_watch *watch); /* NULL is fine */

/* Called by all ranks of a cluster; all learn the same. */
int chain_watch_add(struct chain_watch *watch, uint32_t chain, const struct chain_state *state,
                    struct dpmf_error *error);

/* Fills in rhat, ess, worst and converged, draws the picture that options->trace asks for (in a
 * cluster, on rank 0), and warns when the chains have not converged. */
int chain_watch_end(const struct chain_watch *watch, uint32_t burn_in,
                    const struct dpmf_train_options *options, const struct dpmf_run *run,
                    struct dpmf_train_report *report, struct dpmf_error *error);

#endif
