/*
 * Names for the draws of a chain: what a sampler draws for a row depends on the seed, the chain,
 * the round and the row, and on nothing else, so that it is the same for any number of threads.
 */
#ifndef DPMF_SAMPLE_CHAIN_KEY_H
#define DPMF_SAMPLE_CHAIN_KEY_H

#include "random/random.h"

struct chain_key {
    uint64_t seed;
    uint32_t chain; /* below 2^20 */
    uint32_t round; /* from 1; 0: before the first */
};

/* What is drawn. Each solver has purposes of its own, so that two of them with one seed have
 * nothing in common. */
enum chain_purpose {
    CHAIN_FIRST_USERS,
    CHAIN_FIRST_ITEMS,
    CHAIN_GIBBS_USERS,
    CHAIN_GIBBS_ITEMS,
    CHAIN_PRECISIONS, /* precisions: the row says which */
    CHAIN_SCALES,     /* scales: the row is the column */
    CHAIN_PAIRS,
    CHAIN_NOISE_TABLE, /* table of noise: the row is the tile */
    CHAIN_MOMENTA,
};

static inline void chain_stream_init(struct random_stream *random, const struct chain_key *key,
                                     enum chain_purpose purpose, uint64_t row) {
    const uint32_t chains = 0x80000000u; /* separate from the small constants of other purposes */
    random_stream_init(random, key->seed, chains | key->chain << 8 | (uint32_t)purpose,
                       (uint64_t)key->round << 32 | row);
}

#endif
