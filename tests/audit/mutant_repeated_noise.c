/*
 * Mutant: all releases of a run have the noise of the first, so that it can be taken out again.
 */
#include "random/exact_gaussian.h"

void __real_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);
void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);

void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums) {
    (void)release;
    __real_exact_gaussian_add(random, 0, first, n, sigma, sums);
}
