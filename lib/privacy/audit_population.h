/*
 * Who takes part in an audit: users of the store, or a sample of them, and canaries of several kinds, each of which is
 * added to the population in some runs and not in others.
 *
 * The canaries are made as the worst users one can think of, and join the population as real users do: in a ratings store
 * that is packed by the code that packs every private run's.
 */
#ifndef DPMF_PRIVACY_AUDIT_POPULATION_H
#define DPMF_PRIVACY_AUDIT_POPULATION_H

#include "privacy/catalogue.h"
#include "privacy/private_ratings.h"

enum { AUDIT_CANARIES = 5 };

struct audit_canary {
    struct private_ratings *with;  /* the population and this one */
    struct private_ratings *alone; /* nobody but this one: what `user` points into */
    struct private_user user;
};

struct audit_population {
    struct catalogue catalogue; /* as the population without a canary has it */
    struct private_ratings *without;
    struct audit_canary canaries[AUDIT_CANARIES];
    bool catalogue_leaks; /* it changed when a canary came; then there are no ratings to run on */
    uint64_t users;       /* that could have been taken */
};

/* At most `users` users of the store, spread evenly over it. */
int audit_population_make(const struct dpmf_store *store,
                          const struct dpmf_private_options *options, uint64_t users,
                          const struct dpmf_run *run, struct audit_population *population,
                          struct dpmf_error *error);
void audit_population_free(struct audit_population *population);

#endif
