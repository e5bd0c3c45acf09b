/*
 * Mutant: the last numbers of a release are left without a draw, while the statement lists one for
 * each.
 */
#include "random/exact_gaussian.h"

void __real_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);
void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums);

void __wrap_exact_gaussian_add(const struct secure_random *random, uint32_t release, uint64_t first,
                               size_t n, uint64_t sigma, int64_t *sums) {
    __real_exact_gaussian_add(random, release, first, n > 4 ? n - 4 : 0, sigma, sums);
}
