/*
 * One run of an audit: dpmf_release_make, whole, with noise from the operating system, on people
 * with some of the canaries; and what someone who knows everything but the coins and the noise
 * makes of it.
 */
#ifndef DPMF_AUDIT_AUDIT_RUN_H
#define DPMF_AUDIT_AUDIT_RUN_H

#include "audit/audit_bound.h"
#include "audit/audit_noise.h"
#include "audit/audit_population.h"
#include "release/release_make.h"

/* The canaries of the runs as contributions are computed from them. */
struct audit_flock {
    size_t n;
    struct private_ratings **packed; /* one canary each */
    struct private_user *user;       /* what is in there; n 0: nothing of it is in the catalogue */
    size_t longest;                  /* ratings of one */
    struct secure_random coins;      /* users' coins, the same in all runs: so are contributions */
};

int audit_flock_make(const struct audit_population *population,
                     const struct dpmf_release_options *options, bool ranks,
                     const struct dpmf_run *run, struct audit_flock *flock,
                     struct dpmf_error *error);
void audit_flock_free(struct audit_flock *flock);

/* Counted over the runs of one thread. */
struct audit_tally {
    struct audit_noise noise;
    uint64_t contributions; /* whose norm was checked */
    uint64_t over_norm;     /* those above the bound */
    uint64_t wrong_sums;    /* runs whose sums are not those of its users' contributions */
    uint64_t draws, draws_listed;
    uint64_t rounds, rounds_listed;
    uint64_t wrong_lists; /* runs whose statement does not list what was seen */
    /* Runs whose statement does not add up, or does not say NOT PRIVATE */
    uint64_t wrong_statements;
    double loudness; /* m^2 of the first canary, added up over runs */
};

struct audit_quantised; /* the integers of one canary */

/* What a thread keeps from run to run. Zero-initialise but for what comes first. */
struct audit_runner {
    const struct audit_population *population;
    const struct audit_flock *flock;
    const struct dpmf_release_options *options;
    const struct dpmf_run *run; /* settings for one thread */
    const char *output;         /* where a release may be written for a moment */
    struct audit_tally tally;

    /* The run under way. */
    bool checks_everyone;
    bool *is_in; /* by canary */
    /* By canary: log of the likelihood ratio, by one who does not know the other coins */
    double *score;
    double informed; /* the first canary's, by one who knows them */
    double loudness; /* m^2 of the first canary */
    uint64_t draws;
    size_t n_rounds;
    struct statement_release *rounds; /* as they were seen: STATEMENT_RELEASES_MAX */
    struct audit_quantised *quantised;
    struct audit_ratings ratings;
    double *values;
    int32_t *q;
    int64_t *exact, *noise;
    uint8_t *touched; /* how many canaries have a part in a number; 2 is many */
    size_t values_room, q_room, exact_room, noise_room, touched_room;
};

/* Runs once. guesses: one for each canary of the flock; informed: about the first. The coins are of
 * the operating system. `everyone`: the contributions of all users are checked. */
int audit_run(struct audit_runner *runner, bool everyone, struct audit_guess *guesses,
              struct audit_guess *informed, bool *was_in, struct dpmf_error *error);
void audit_runner_free(struct audit_runner *runner);

#endif
