/*
 * Mutant: contributions are rounded, and that is all: half of them end up a little over the bound.
 * The loss is far too small to be noticed by guessing, but the proof is void.
 */
#include <math.h>

#include "privacy/quantise.h"

void __wrap_noisy_sum_quantise(const struct exact_kernels *exact, const double *values, size_t n,
                               double scale, int32_t *q);

void __wrap_noisy_sum_quantise(const struct exact_kernels *exact, const double *values, size_t n,
                               double scale, int32_t *q) {
    (void)exact;
    for (size_t i = 0; i < n; i++)
        q[i] = (int32_t)nearbyint(values[i] * scale * (1 << NOISY_SUM_BITS));
}
