/*
 * A validation set in memory, its ids looked up once, for an RMSE after every epoch.
 */
#ifndef DPMF_TRAIN_VALID_SET_H
#define DPMF_TRAIN_VALID_SET_H

#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/factors.h"

struct valid_set;

/* Ids must be indexed (factor_ids_index). */
int valid_set_init(struct valid_set **set, const struct dpmf_store *store,
                   const struct factors *factors, struct dpmf_error *error);
void valid_set_free(struct valid_set *set);

/* Unknown users and items count with what is known of them; predictions are clamped to the scale. The same
 * bits for any number of threads. */
double valid_set_rmse(struct valid_set *set, const struct factors *factors,
                      const struct kernel_set *kernels, struct thread_pool *pool);

#endif
