/*
 * Mutant: the first release is made twice, for a better average, and listed once.
 */
#include <stdlib.h>

#include "privacy/noisy_sum.h"

int __real_noisy_sum_release(struct noisy_sum_context *context, const struct noisy_sum_shape *shape,
                             double mu, noisy_sum_contribute *contribute, void *self, double *out,
                             double *sigma, struct dpmf_error *error);
int __wrap_noisy_sum_release(struct noisy_sum_context *context, const struct noisy_sum_shape *shape,
                             double mu, noisy_sum_contribute *contribute, void *self, double *out,
                             double *sigma, struct dpmf_error *error);

int __wrap_noisy_sum_release(struct noisy_sum_context *context, const struct noisy_sum_shape *shape,
                             double mu, noisy_sum_contribute *contribute, void *self, double *out,
                             double *sigma, struct dpmf_error *error) {
    if (context->statement->n_releases == 0) {
        struct secure_random other;
        const struct secure_random *random = context->random;
        int code = secure_random_init(&other, error);
        if (code < 0) return code;
        other.draws = random->draws;
        context->random = &other;
        code = __real_noisy_sum_release(context, shape, mu, contribute, self, out, sigma, error);
        context->random = random;
        if (code < 0) return code;
        context->statement->n_releases = 0;
    }
    return __real_noisy_sum_release(context, shape, mu, contribute, self, out, sigma, error);
}
