/*
 * XXH3 behind two names, compiled in place so that hashing a short id costs no call into a shared
 * library. Stores check their blocks with it; id maps and splits hash ids with it.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/checksum.h"

uint64_t checksum64(const void *bytes, size_t n) { return XXH3_64bits(bytes, n); }

uint64_t checksum64_seeded(const void *bytes, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, n, seed);
}
