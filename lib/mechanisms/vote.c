/*
 * A vote's noisy sum, and who wins. Fed by the mechanism whose setting it is about.
 *
 * A user's gains are centred: only differences between candidates matter, and the mean would take
 * part of the norm for nothing. Then they are divided by their norm or the bound, whichever is
 * larger, so that the norm is at most 1. A user with a wish for a smaller epsilon counts less here
 * too: noisy_sum scales all contributions alike.
 */
#include "mechanisms/vote.h"

#include <assert.h>
#include <math.h>

__extension__ typedef unsigned __int128 wide; /* an extension of the compiler, not ISO C */

size_t vote_left_out(const struct private_user *user, size_t least) {
    assert(least > 0);
    if (user->n < least) return SIZE_MAX;
    return (size_t)((wide)user->coin * user->n >> 64);
}

void vote_contribute(void *self, int worker, const struct private_user *user,
                     struct contribution *out) {
    const struct vote *vote = self;
    double gains[VOTE_CANDIDATES_MAX], mean = 0, norm2 = 0;
    const bool votes = vote->gains(vote->self, worker, user, gains);
    for (size_t i = 0; i < vote->n; i++) mean += votes ? gains[i] / (double)vote->n : 0;
    for (size_t i = 0; i < vote->n; i++) {
        out->values[i] = votes ? gains[i] - mean : 0;
        norm2 += out->values[i] * out->values[i];
    }
    const double norm = fmax(sqrt(norm2), vote->bound);
    for (size_t i = 0; i < vote->n; i++) out->values[i] /= norm;
    out->n_blocks = 0;
    out->block = NULL;
}

int vote_take(struct noisy_sum_context *context, const struct vote *vote, double mu, double *sums,
              double *sigma, struct dpmf_error *error) {
    const struct noisy_sum_shape shape = {.name = "vote", .tail = vote->n};
    struct vote own = *vote;
    return noisy_sum_release(context, &shape, mu, vote_contribute, &own, sums, sigma, error);
}

size_t vote_winner(const double *sums, size_t n, double sigma, size_t fallback, double lead) {
    size_t winner = fallback;
    for (size_t i = 0; i < n; i++)
        if (sums[i] > sums[winner]) winner = i;
    return sums[winner] - sums[fallback] > lead * sqrt(2) * sigma ? winner : fallback;
}
