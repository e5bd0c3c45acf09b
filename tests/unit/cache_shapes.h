/*
 * Caches that machines have, for tests of what is sized from them: the same for every machine that
 * tests run on. No unit test reads the caches of its own machine (tests/lint checks that), but
 * test_host. Include cmocka.h first.
 */
#ifndef DPMF_TESTS_CACHE_SHAPES_H
#define DPMF_TESTS_CACHE_SHAPES_H

#include <stdlib.h>
#include <string.h>

#include "base/host.h"

enum { CACHE_SHAPES = 5 };

static const struct {
    const char *environment; /* as DPMF_CACHES has it */
    struct host_caches caches;
} cache_shapes[CACHE_SHAPES] = {
    {"32K,256K,8M", {32 << 10, 256 << 10, 8 << 20, HOST_FROM_ENVIRONMENT}},
    {"32K,512K,32M", {32 << 10, 512 << 10, 32 << 20, HOST_FROM_ENVIRONMENT}},
    {"48K,2M,260M", {48 << 10, 2 << 20, 260 << 20, HOST_FROM_ENVIRONMENT}},
    {"64K,1M,none", {64 << 10, 1 << 20, 1 << 20, HOST_FROM_ENVIRONMENT}},
    {"unknown", {32 << 10, 256 << 10, 2 << 20, HOST_GUESSED}},
};

/* The shape that this run of the tests is for: fixed_machine.c, or whoever started it, has set it.
 */
static inline struct host_caches test_caches(void) {
    const char *name = getenv("DPMF_CACHES");
    for (size_t i = 0; name && i < CACHE_SHAPES; i++)
        if (strcmp(name, cache_shapes[i].environment) == 0) return cache_shapes[i].caches;
    fail_msg("DPMF_CACHES is none of the shapes of cache_shapes.h");
    return cache_shapes[0].caches;
}

#endif
