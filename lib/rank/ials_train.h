/*
 * The solver "ials": dpmf_train for models that rank.
 */
#ifndef DPMF_RANK_IALS_TRAIN_H
#define DPMF_RANK_IALS_TRAIN_H

#include "dpmf.h"
#include "kernels/kernels.h"
#include "model/factors.h"

#define IALS_PENALTY 0.007 /* default of lambda */

/* As dpmf_train, whose options have been checked as far as all solvers have them in common. */
int ials_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
               const struct dpmf_train_options *options, const struct dpmf_run *run,
               int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
               struct dpmf_train_report *report, struct dpmf_error *error);

/* Refuses likes where there are events already. */
int ials_check_like(const struct dpmf_store *store, const struct dpmf_train_options *options,
                    struct dpmf_error *error);

/* Rows of items that a run can begin with. */
void ials_first_items(struct factor_matrix *items, uint32_t k, uint64_t seed);

/* Whether run->memory, or what there is, is enough for the events and rows of a store and `more`
 * bytes.
 * @return 0 or DPMF_ERR_USAGE_MEMORY, which says how much would be enough */
int ials_memory_check(const struct dpmf_store *store, const struct kernel_set *kernels, uint32_t k,
                      int threads, uint64_t more, const struct dpmf_run *run,
                      struct dpmf_error *error);

/* The default weight of pairs without an event, from the numbers of events, users and items. */
double ials_default_unobserved(uint64_t events, uint64_t users, uint64_t items);

/* The same for a store, or the weight that the options give. With likes, the store is read once for
 * this. */
int ials_unobserved_find(const struct dpmf_store *store, const struct dpmf_train_options *options,
                         const struct dpmf_run *run, double *unobserved, struct dpmf_error *error);

#endif
