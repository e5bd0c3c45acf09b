/*
 * Mutant: numbers that nobody contributed to stay 0, as if sums were kept sparsely. Whoever alone
 * rated an item is seen.
 */
#include "random/exact_gaussian.h"

void __real_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);
void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);

void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums) {
    for (size_t i = 0; i < n; i++) {
        int64_t unused = 0;
        __real_exact_gaussian_add(random, release, first + i, 1, sigma,
                                  sums[i] == 0 ? &unused : &sums[i]);
    }
}
