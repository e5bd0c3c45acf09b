/*
 * The one checksum and the one hash of the project: XXH3, 64 bits. Not for secrets.
 */
#ifndef DPMF_BASE_CHECKSUM_H
#define DPMF_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum64(const void *bytes, size_t n);
uint64_t checksum64_seeded(const void *bytes, size_t n, uint64_t seed);

#endif
