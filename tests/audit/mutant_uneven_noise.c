/*
 * Mutant: the noise has the variance that is listed, and the wrong shape: every other number has
 * far less than its share.
 */
#include "random/exact_gaussian.h"

void __real_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);
void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);

void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums) {
    for (size_t i = 0; i < n; i++)
        __real_exact_gaussian_add(random, release, first + i, 1,
                                  (first + i) % 2 ? sigma / 2 : sigma * 13229 / 10000, &sums[i]);
}
