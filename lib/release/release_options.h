/*
 * The checks that every private run begins with.
 */
#ifndef DPMF_RELEASE_RELEASE_OPTIONS_H
#define DPMF_RELEASE_RELEASE_OPTIONS_H

#include "mechanisms/mechanism.h"

/* The caller's options over the defaults: see base/arguments.h. @return 0 or
 * DPMF_ERR_USAGE_STRUCT */
int release_options_take(struct dpmf_release_options *own,
                         const struct dpmf_release_options *options, struct dpmf_error *error);

/* The options for this store: without a goal, what the store's header says it holds decides. Values
 * never do. */
struct dpmf_release_options release_options_settle(const struct dpmf_release_options *options,
                                                   const struct dpmf_store *store);

/* Where the mechanism ranks there is no range of ratings: 0 and 1 stand for none. */
void release_options_range(struct dpmf_release_options *options, const struct mechanism *mechanism);

/* Fills in the mechanism and the mu that epsilon and delta allow; for a conditional mechanism, a mu
 * that bounds its epsilon. @return 0, DPMF_ERR_USAGE_*, or DPMF_ERR_PRIVACY_REFUSED */
int release_options_check(const struct dpmf_release_options *options,
                          const struct mechanism **mechanism, double *mu, struct dpmf_error *error);

/* Whether a delta or an epsilon beyond what is usual was accepted. A calculator or an audit, which
 * publish nothing, do not ask.
 * @return 0, or DPMF_ERR_PRIVACY_REFUSED */
int release_options_check_accepted(const struct dpmf_release_options *options,
                                   const struct mechanism *mechanism, struct dpmf_error *error);

/* The settings of a sampler, from checked options. */
struct posterior_rule release_options_posterior(const struct dpmf_release_options *options);

/* The users of a release by their first record, as the options declare them. What is refused is
 * refused by what was declared, never by what the records are.
 * @return 0, DPMF_ERR_USAGE_* or DPMF_ERR_PRIVACY_REFUSED */
int release_options_cohort(const struct dpmf_release_options *options,
                           const struct dpmf_store *store, struct cohort *cohort,
                           struct dpmf_error *error);

/* A refusal with the way out. @return DPMF_ERR_PRIVACY_REFUSED */
int release_options_refuse(struct dpmf_error *error, const char *message, const char *hint);

#endif
