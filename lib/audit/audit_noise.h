/*
 * The noise of an audit's runs, which the auditor knows to the last digit: whether it has the size
 * and shape that are listed, and is never used twice.
 */
#ifndef DPMF_AUDIT_AUDIT_NOISE_H
#define DPMF_AUDIT_AUDIT_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "statement/statement.h"

enum { AUDIT_NOISE_EDGES = 33 }; /* edges from -4 to 4 deviations, a quarter apart */

/* Statistics of the t-th round over all runs. */
struct audit_noise_round {
    double numbers, energy; /* energy: squares in units of what is listed, added up */
    double granularity;     /* 1 / sigma, the largest */
    double zeros, zeros_expected;
    double below[AUDIT_NOISE_EDGES]; /* numbers at or below each edge */
};

/* Products of what should be independent. */
struct audit_echo {
    double product, numbers;
};

struct audit_noise {
    struct audit_noise_round rounds[STATEMENT_RELEASES_MAX];
    struct audit_echo rounds_echo, runs_echo,
        neighbours_echo;    /* products with the round before, the run before, the next number */
    double *before, *first; /* noise of the round before, and of the last run's first round */
    size_t n_before, n_first, before_room, first_room;
};

/* Counts the noise of round t of a run, in the order of rounds. @return false without memory */
bool audit_noise_add(struct audit_noise *noise, size_t t, const int64_t *values, size_t n,
                     double sigma);

/* Adds what another thread has counted. */
void audit_noise_merge(struct audit_noise *sum, const struct audit_noise *part);
void audit_noise_free(struct audit_noise *noise);

/* How many numbers there are, and their deviation in units of what is listed. */
void audit_noise_size(const struct audit_noise *noise, double *numbers, double *deviation);

/* A sentence about the first thing that is wrong. An honest mechanism is accused with probability
 * AUDIT_NOISE_LEVEL at most.
 * @return whether there is one */
bool audit_noise_is_wrong(const struct audit_noise *noise, char *reason, size_t size);

#define AUDIT_NOISE_LEVEL 1e-8

#endif
