/*
 * One chain of the sampler of the mechanism `posterior`: Gibbs over users and items, each row drawn
 * from its Gaussian conditional under the loss without the clamp and then accepted or not, so that
 * the clamped target of posterior_rule.h is kept exactly. In doubles, by all threads, from the
 * generator of releases.
 */
#ifndef DPMF_MECHANISMS_POSTERIOR_POSTERIOR_SAMPLER_H
#define DPMF_MECHANISMS_POSTERIOR_POSTERIOR_SAMPLER_H

#include "base/threads.h"
#include "mechanisms/posterior/posterior_data.h"
#include "privacy/public_model.h"
#include "random/secure_random.h"

/* The target on the standard scale. */
struct posterior_target {
    size_t factors;     /* K; a row is a vector and a bias, D = K + 1 */
    double scale;       /* a */
    double limit;       /* predictions are clamped to -limit .. limit: 2 and kappa */
    double precision_b; /* precision of users' biases; that of their vectors is 1 */
    double precision_v, precision_c, precision_g;
};

struct posterior_target posterior_target_make(const struct posterior_rule *rule);

struct posterior_worker;
struct posterior_sums;

struct posterior_chain {
    const struct posterior_target *target;
    const struct posterior_data *data;
    const struct secure_random *random;
    struct thread_pool *pool;
    uint32_t number; /* the chain's number: each has draws of its own */
    uint64_t round;
    uint64_t warming;            /* number of rounds at the beginning that accept every proposal */
    double *users, *items;       /* n x D: u_i, b_i and v_j, c_j */
    double mean_c;               /* g */
    double loss;                 /* L after the last round, clamped and weighted */
    uint64_t proposed, accepted; /* rows in later rounds */

    bool (*should_stop)(void *self); /* NULL, or asked now and then during a round, by one thread */
    void *self;

    struct posterior_worker *workers; /* one for each thread */
    struct posterior_sums *sums;      /* one for a few users */
};

/* Begins with a draw from the prior. What is pointed to must outlive it. */
int posterior_chain_init(struct posterior_chain *chain, const struct posterior_target *target,
                         const struct posterior_data *data, const struct secure_random *random,
                         struct thread_pool *pool, uint32_t number, uint64_t warming,
                         struct dpmf_error *error);
void posterior_chain_free(struct posterior_chain *chain);

/* One round: every user, every item, the mean of the biases, and the shift between users and items.
 * The same draws for any number of threads. @return 0, DPMF_ERR_BASE_CANCELLED or
 * DPMF_ERR_TRAIN_DIVERGED */
int posterior_chain_round(struct posterior_chain *chain, struct dpmf_error *error);

/* Fills in the model with the items of the state, on the standard scale: what is published. Numbers
 * that grew beyond all bounds are refused. */
int posterior_publish(const struct posterior_chain *chain, struct public_model *model,
                      struct dpmf_error *error);

/* Whether a point is in the unit disk, its centre apart; *square is its squared distance from
 * there. Gaussians are drawn from such points. */
bool posterior_is_in_disk(double x, double y, double *square);

/* log p but for a constant: -a L and the priors. */
double posterior_chain_log_density(const struct posterior_chain *chain);

/* c + b + u.v, clamped */
double posterior_chain_predict(const struct posterior_chain *chain, size_t user, size_t item);

#endif
