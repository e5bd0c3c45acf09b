/*
 * No mutant that may be accused: contributions to the rounds are four times too long, but the
 * integers are checked as they should be. The mechanism is wrong, and still private.
 */
#include "mechanisms/residual_user.h"

noisy_sum_contribute __real_residual_user_contribute, __wrap_residual_user_contribute;

void __wrap_residual_user_contribute(void *self, int worker, const struct private_user *user,
                                     struct contribution *out) {
    const struct residual_round *round = self;
    const size_t n = user->n * (round->rule->factors + 1) + residual_moments_n(round->model->K);
    __real_residual_user_contribute(self, worker, user, out);
    for (size_t i = 0; i < n; i++) out->values[i] *= 4;
}
