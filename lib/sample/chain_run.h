/*
 * The run of a sampler: chains of rounds, of which those after the burn-in count. The loop is the
 * same for all samplers; what differs are the operations of struct chain_sampler, which
 * gibbs_train.c and langevin_train.c have.
 */
#ifndef DPMF_SAMPLE_CHAIN_RUN_H
#define DPMF_SAMPLE_CHAIN_RUN_H

#include "sample/chain_watch.h"
#include "sample/posterior_mean.h"
#include "sample/solver.h"
#include "train/train_place.h"

struct chain_sampler;

struct chain_run {
    struct train_run *train;
    enum solver solver;
    const struct chain_sampler *sampler;
    void *self; /* state of the sampler */
    uint32_t chains, burn_in;
    uint32_t samples;            /* number of samples kept, where they are averaged */
    struct chain_key key;        /* key of the round under way: chains from 0, rounds from 1 */
    struct posterior_mean *mean; /* NULL: no average is wanted */
    struct chain_watch *watch;
    uint64_t bytes_before; /* bytes sent by this rank before the first round */

    /* The chain after a round, which the sampler fills in; the last three point at what is its
     * own. */
    double squared_error; /* sum of squared errors of all ratings */
    struct precisions *precisions;
    const double *user_squares; /* sums of squares by column, k of them, and of the biases */
    const double *item_squares;
};

/* The operations of a sampler. Everything but `close` is called by all ranks, and fails on all
 * where it fails on any. */
struct chain_sampler {
    /* Checks the options, and gets as far as is needed to know how much memory is left for
     * samples. */
    int (*open)(struct chain_run *run, struct dpmf_error *error);

    /* How many samples there is room for, by chain_run_plan. May fail on some ranks. */
    int (*plan)(struct chain_run *run, struct dpmf_error *error);

    /* Everything else up to the first round. */
    int (*make)(struct chain_run *run, struct dpmf_error *error);

    /* Before a round, and before the first of a chain, whose rows are drawn from the prior. */
    int (*begin)(struct chain_run *run, struct dpmf_error *error);

    /* Draws all users and items, and takes the sums. @return DPMF_ERR_TRAIN_DIVERGED when a number
     * was not finite */
    int (*draw)(struct chain_run *run, struct dpmf_error *error);

    /* Adds a hint about what would help against divergence. */
    void (*hint)(const struct chain_run *run, struct dpmf_error *error);

    /* What all ranks sent, after the last round. */
    int (*report)(struct chain_run *run, struct dpmf_error *error);
    void (*close)(struct chain_run *run); /* also after a failure, or before anything else */
};

/* From a run that train_run_init has begun to a checkpoint: the last sample or, averaged, the mean
 * of many. The caller frees the run. */
int chain_run(struct chain_run *run, const char *output, struct dpmf_error *error);

/* Sets run->samples, with *left bytes for them. @return 0, or DPMF_ERR_USAGE_MEMORY, with *left the
 * bytes that would be enough */
int chain_run_plan(struct chain_run *run, uint64_t *left);

#endif
