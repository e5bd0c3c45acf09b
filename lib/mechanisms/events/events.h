/*
 * The parts of the mechanism `events`: what a user contributes (events_user.c), what the curator
 * makes of the noisy sums (events_server.c), and how a person ranks at home, as far as the vote
 * needs it (events_score.c). events.c has the order of things.
 *
 * In a run the public model means, with N_j an item's noisy popularity:
 *     counts[j] = N_j,  c[j] = log(N_j / mean N),  weight[j] = N_j^-scale, up to a factor: the
 *     item's weight in a user's row, rows: while rounds are made, the directions that users look
 *     along; then the vectors of items.
 */
#ifndef DPMF_MECHANISMS_EVENTS_EVENTS_H
#define DPMF_MECHANISMS_EVENTS_EVENTS_H

#include "mechanisms/vote.h"
#include "privacy/public_model.h"
#include "statement/events_rule.h"

/* ---- a user's part --------------------------------------------------------------------------- */

noisy_sum_contribute events_contribute_popularity; /* `self` is not used; width 1 */

struct events_round {
    const struct public_model *model;
    const struct events_rule *rule;
    double *z; /* worker w has z + w * longest */
    size_t longest;
};

noisy_sum_contribute events_contribute_round; /* `self` is a struct events_round */

/* ---- the curator's --------------------------------------------------------------------------- */

/* Noisy sums of popularity, several of them averaged by precision. */
struct events_popularity {
    double *sums; /* n_items */
    double precision;
};

struct events_server;

/* Mean square of popularity over that of the noise that the whole budget would put on it, as
 * estimated; at least 0. */
double events_popularity_snr(const struct events_popularity *popularity, size_t n_items, double mu);

/* Fills in the model's counts, c and weights. */
void events_popularity_read(const struct events_popularity *popularity,
                            const struct events_rule *rule, struct public_model *model);

/* Chooses the first directions: those of public features, and random ones. The model gets them as
 * its rows. */
int events_server_init(struct events_server **server, const struct events_rule *rule,
                       const struct catalogue *catalogue, struct public_model *model,
                       struct dpmf_error *error);

/* Takes the noisy sums of a round, n_items x the model's columns, which it changes; the model gets
 * the next directions. */
int events_server_step(struct events_server *server, double *sums, double sigma,
                       struct public_model *model, struct dpmf_error *error);

/* The model's rows become the items' vectors: centred, along the principal axes, of total variance
 * 1, all by popularity. Without any signal the model has no factors then. */
int events_server_finish(struct events_server *server, struct public_model *model,
                         struct dpmf_error *error);

void events_server_free(struct events_server *server);

/* ---- at home --------------------------------------------------------------------------------- */

/* How a person scores items: crowd_j + weight taste_j, crowd_j = c[j] and taste_j = p.v_j with
 *     p = (W C + L I)^-1 sum of v_h over the person's W events h,   C the covariance of v by
 *     popularity, L = trace(C) / 2
 * as lib/recommend/score.h has it. Vectors are centred and along their axes, so C is diagonal. */
struct events_score {
    const struct public_model *model;
    const struct events_rule *rule;
    double variance[EVENTS_FACTORS_MAX]; /* the diagonal of C */
    double penalty;                      /* L */
};

void events_score_init(struct events_score *score, const struct public_model *model,
                       const struct events_rule *rule);

/* p of a user without the event at place `left_out`. */
void events_score_person(const struct events_score *score, const struct private_user *user,
                         size_t left_out, double *p);

double events_score_taste(const struct events_score *score, const double *p, uint32_t row);

/* The `gains` of the vote: `self` is a struct events_score. */
bool events_score_gains(void *self, int worker, const struct private_user *user, double *gains);

#endif
