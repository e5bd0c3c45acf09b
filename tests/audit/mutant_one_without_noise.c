/*
 * Mutant: the second release has no noise. It is drawn, counted, and thrown away, so that only what
 * is published can tell.
 */
#include <string.h>

#include "random/exact_gaussian.h"

void __real_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);
void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);

void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums) {
    int64_t unused[4096] = {0}; /* as many as noisy_sum.c asks for at once */
    __real_exact_gaussian_add(random, release, first, n, sigma, release == 1 ? unused : sums);
}
