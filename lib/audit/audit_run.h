/*
 * One run of an audit: dpmf_release_make, whole, with noise from the operating system, on people
 * with some of the canaries; and what an attacker learns who knows everything but the coins and the
 * noise.
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
    struct private_user *user;       /* its user; n is 0: none of its items is in the catalogue */
    size_t longest;                  /* most ratings of a canary */
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
    uint64_t contributions; /* contributions whose norm was checked */
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
    const char *output;         /* path where a release may be written temporarily */
    struct audit_tally tally;

    /* The run under way. */
    bool checks_everyone;
    bool *is_in; /* whether each canary takes part */
    /* log of the likelihood ratio of each canary, for an attacker who does not know the other
     * coins */
    double *score;
    double informed; /* the same for the first canary, for an attacker who knows the other coins */
    double loudness; /* m^2 of the first canary */
    uint64_t draws;
    size_t n_rounds;
    struct statement_release *rounds; /* as they were seen: STATEMENT_RELEASES_MAX */
    struct audit_quantised *quantised;
    struct audit_ratings ratings;
    double *values;
    int32_t *q;
    int64_t *exact, *noise;
    uint8_t *touched; /* number of canaries that contribute to each coordinate; 2 stands for more */
    size_t values_room, q_room, exact_room, noise_room, touched_room;
};

/* Runs once. guesses: one for each canary of the flock; informed: about the first. The coins are of
 * the operating system. `everyone`: the contributions of all users are checked. */
int audit_run(struct audit_runner *runner, bool everyone, struct audit_guess *guesses,
              struct audit_guess *informed, bool *was_in, struct dpmf_error *error);
void audit_runner_free(struct audit_runner *runner);

#endif
