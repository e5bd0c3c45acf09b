/*
 * A private vote: a setting that the data should choose is chosen by a noisy sum of few numbers.
 * Each user computes at home how well each candidate does on a record that they left out of
 * everything else, and contributes those gains.
 *
 * Every candidate must already be public: a post-processing of noisy sums that are accounted for,
 * or a release that is accounted for in full. Scoring anything else would make one person's vote
 * depend on other people. A user's coins (which record, what it is compared with) come from
 * private_user.coin, which depends on their id and a secret key alone.
 */
#ifndef DPMF_MECHANISMS_VOTE_H
#define DPMF_MECHANISMS_VOTE_H

#include "privacy/noisy_sum.h"

enum { VOTE_CANDIDATES_MAX = 16 };

struct vote {
    size_t n; /* candidates */
    /* Norm of a user's gains, less their mean, that counts in full; less counts in proportion */
    double bound;

    /* A user's gain with each candidate: a pure function of the user and of public state. @return
     * false: abstains */
    bool (*gains)(void *self, int worker, const struct private_user *user, double *gains);
    void *self;
};

noisy_sum_contribute vote_contribute; /* `self` is a struct vote */

/* Takes the vote with at most mu. sums[i] is what candidate i has, *sigma the deviation of its
 * noise. */
int vote_take(struct noisy_sum_context *context, const struct vote *vote, double mu, double *sums,
              double *sigma, struct dpmf_error *error);

/* The candidate with the highest sum; `fallback` unless it leads that one by `lead` deviations of
 * the noise of a difference. */
size_t vote_winner(const double *sums, size_t n, double sigma, size_t fallback, double lead);

/* The place of the event that a user leaves out, by their coin; SIZE_MAX of users with fewer than
 * `least`. */
size_t vote_left_out(const struct private_user *user, size_t least);

#endif
