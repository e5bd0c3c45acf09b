/*
 * Mutant: contributions are four times as long as they should be, as if nobody had divided them by
 * their norm, and the check of the integers is left out.
 */
#include <math.h>

#include "privacy/quantise.h"

void __wrap_noisy_sum_quantise(const struct exact_kernels *exact, const double *values, size_t n,
                               double scale, int32_t *q);

void __wrap_noisy_sum_quantise(const struct exact_kernels *exact, const double *values, size_t n,
                               double scale, int32_t *q) {
    (void)exact;
    for (size_t i = 0; i < n; i++)
        q[i] = (int32_t)nearbyint(4 * values[i] * scale * (1 << NOISY_SUM_BITS));
}
