/*
 * A round of `residual` at the curator's: from noisy sums to a better public model.
 * Post-processing: reads nothing private.
 */
#ifndef DPMF_MECHANISMS_RESIDUAL_SERVER_H
#define DPMF_MECHANISMS_RESIDUAL_SERVER_H

#include "mechanisms/residual_user.h"
#include "mechanisms/shrink.h"

/* Vectors to start from: popularity and quality, which the first release gives for free, random
 * mixtures of the public features, and random numbers; and the free columns, if the rule has
 * any. */
int residual_server_start(const struct residual_rule *rule, const struct catalogue *catalogue,
                          struct public_model *model, struct item_evidence *evidence,
                          struct dpmf_error *error);

/* `sums` are the noisy sums of a round (a number for each learned column of an item and one for its
 * bias, then the moments), `sigma` their noise; they are overwritten. */
int residual_server_step(const struct residual_rule *rule, bool is_first, double *sums,
                         double sigma, struct thread_pool *pool, struct public_model *model,
                         struct item_evidence *evidence, struct dpmf_error *error);

#endif
