/*
 * Algorithms 1 and 2 of the paper, "Fast Differentially Private Matrix Factorization" (Liu, Wang
 * and Smola, RecSys 2015), as they stand there: in doubles, in one thread, without any of the
 * speed. What lib/ does is compared with this; where lib/ departs from the paper, docs/privacy says
 * why, and here is what it departs from.
 *
 * As in the paper's own description biases are left out: a prediction is u_i.v_j.
 */
#ifndef DPMF_REFERENCE_PAPER_H
#define DPMF_REFERENCE_PAPER_H

#include <stdbool.h>
#include <stddef.h>

#include "random/random.h"

struct paper_rating {
    size_t user, item;
    double value;
};

/* The objective F(U, V) = sum w_i (r_ij - u_i.v_j)^2 + lambda (|U|^2 + |V|^2). */
struct paper_problem {
    size_t n_users, n_items, k, n;
    struct paper_rating *ratings; /* n, each user's together, in the order of users */
    const double *weight;         /* w, by user; NULL: all 1 */
    double lambda;
};

/* U is n_users x k, V is n_items x k. */
struct paper_model {
    double *U, *V;
};

double paper_predict(const struct paper_problem *problem, const struct paper_model *model,
                     size_t user, size_t item);
double paper_objective(const struct paper_problem *problem, const struct paper_model *model);

/* The gradient of F, 2s and all, in a model of its own. */
void paper_gradient(const struct paper_problem *problem, const struct paper_model *model,
                    struct paper_model *gradient);

/* ---- Algorithm 2: cache efficient stochastic gradient descent -------------------------------- */

struct paper_sgd {
    size_t block_users; /* users of one block, as it is read from disk */
    double rate;        /* eta_t */
    size_t write_every; /* B_t: blocks after which U and V are saved; 0: never */
    void (*write)(void *self, const struct paper_model *model, size_t blocks);
    void *self;
};

/* One pass over the ratings. */
void paper_sgd_pass(const struct paper_problem *problem, struct paper_model *model,
                    const struct paper_sgd *sgd);

/* ---- SGLD, the paper's way to sample: equation 3, with the gradient of all ratings ----------- */

/* (U, V) <- (U, V) - drift * eta * grad + N(0, eta). The paper has drift 1, whose stationary
 * distribution is exp(-2 F); that of exp(-F) is drift 1/2. */
void paper_sgld_step(const struct paper_problem *problem, struct paper_model *model, double drift,
                     double eta, struct paper_model *gradient, struct random_stream *random);

/* ---- Algorithm 1: differentially private matrix factorization -------------------------------- */

struct paper_privacy {
    double epsilon, kappa;
    double min, max; /* range of ratings: 1 and 5 */
    size_t tau;      /* ratings that a user may have */
};

/* Line 1: B = max_i min(tau, m_i) w_i (max - min + kappa)^2. */
double paper_bound(const struct paper_problem *problem, const struct paper_privacy *privacy);

/* Line 2: deletes ratings at random from users with more than tau. */
void paper_trim(struct paper_problem *problem, size_t tau, struct random_stream *random);

/* A step of a chain whose stationary distribution is exp(-loss_scale * loss - penalty_scale *
 * penalty), by Metropolis' rule for one number after the other. The paper has epsilon / (4 B) for
 * both. With `clamped`, predictions are put into low .. high within the loss, in place of
 * lines 5 to 7 (lib/statement/posterior_rule.h). */
struct paper_target {
    double loss_scale, penalty_scale;
    bool clamped;
    double low, high;
};

void paper_sample_step(const struct paper_problem *problem, const struct paper_target *target,
                       struct paper_model *model, double width, struct random_stream *random);

/* Lines 4 to 7: samples, `steps` steps of the chain each, until every u_i.v_j is within kappa of
 * the range; at most `tries` of them. @return how many it took; 0: none was */
size_t paper_private_sample(const struct paper_problem *problem,
                            const struct paper_privacy *privacy, struct paper_model *model,
                            size_t steps, double width, size_t tries, struct random_stream *random);

#endif
