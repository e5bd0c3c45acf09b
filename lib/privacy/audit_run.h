/*
 * One run of an audit: the mechanism, for real, with noise from the operating system, on a population with or without
 * a canary; and what someone who knows everything but the coin and the noise makes of it.
 */
#ifndef DPMF_PRIVACY_AUDIT_RUN_H
#define DPMF_PRIVACY_AUDIT_RUN_H

#include "privacy/audit_bound.h"
#include "privacy/audit_population.h"
#include "privacy/mechanism.h"

enum { AUDIT_RELEASES_MAX = STATEMENT_RELEASES_MAX };

/* What the runs of one thread have shown of the noise of the t-th release. */
struct audit_noise {
    double
        energy; /* squares of the noise, in units of the sigma listed: as many as there are numbers, about */
    double numbers;
    double zeros,
        zeros_expected; /* numbers without any noise, which has a probability of about 0.4 / sigma */
};

/* Noise is fresh: products of what should be independent add up to about 0, with a variance of `numbers`. */
struct audit_echo {
    double product, numbers;
};

/* Counted over the runs of one thread. */
struct audit_tally {
    struct audit_echo releases_echo,
        runs_echo; /* of a release and the one before, of a run and the one before */
    struct audit_noise noise[AUDIT_RELEASES_MAX];
    uint64_t contributions; /* whose norm was looked at ... */
    uint64_t over_norm;     /* ... and was over the bound */
    uint64_t draws, draws_listed;
    uint64_t releases, releases_listed;
    uint64_t wrong_lists;      /* runs whose statement does not list what was seen */
    uint64_t wrong_statements; /* runs whose statement does not add up */
};

/* What a thread keeps from run to run. Zero-initialise but for the first three. */
struct audit_runner {
    const struct audit_population *population;
    const struct mechanism *mechanism;
    const struct dpmf_private_options *options;
    double mu;
    struct audit_tally tally;

    /* Of the run under way. */
    struct thread_pool *pool;
    struct statement *statement;
    const struct audit_canary *canary;
    bool is_in;
    double score; /* log of the likelihood ratio of in to out */
    size_t n_observed;
    struct statement_release *observed; /* AUDIT_RELEASES_MAX */
    int code;
    struct dpmf_error error;
    double *values; /* of one user */
    int32_t *q;
    int64_t *sums; /* of the release: of the others, then what is left without them */
    double loudness[AUDIT_CANARIES]; /* m^2 of each kind of canary, had it been there */
    double *before, *first; /* noise of the release before, and of the last run's first one */
    size_t n_before, n_first;
    size_t values_room, q_room, sums_room, before_room, first_room;
};

/* Runs once and fills in the guess. The coin is of the operating system. */
int audit_run(struct audit_runner *runner, const struct audit_canary *canary,
              struct audit_guess *guess, bool *was_in, struct dpmf_error *error);
void audit_runner_free(struct audit_runner *runner);

#endif
