/*
 * The coins of a split: 64 bits that depend on the seed and the bytes of the ids alone or, where
 * ratings under other names are to be split alike, on the seed and the numbers in the store.
 */
#ifndef DPMF_SPLIT_SPLIT_COIN_H
#define DPMF_SPLIT_SPLIT_COIN_H

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/memory.h"
#include "store/store.h"

/* @return the hash of each item's id, by number, or NULL without memory */
static inline uint64_t *split_coin_items(const struct dpmf_store *store, uint64_t seed) {
    uint64_t n = store_n_items(store);
    uint64_t *hash = memory_alloc(n > 0 ? n : 1, sizeof *hash);
    for (uint64_t j = 0; hash && j < n; j++) {
        struct store_item item = store_item_at(store, j);
        hash[j] = checksum64_seeded(item.id, item.id_length, seed);
    }
    return hash;
}

static inline uint64_t split_coin_user(const struct store_block *block, uint32_t i, uint64_t seed) {
    uint64_t from = block->id_start[i];
    return checksum64_seeded(block->id_bytes + from, (size_t)(block->id_start[i + 1] - from), seed);
}

/* The hash of a number instead of an id's. */
static inline uint64_t split_coin_number(uint64_t number, uint64_t seed) {
    uint8_t bytes[8];
    bytes_put_u64(bytes, number);
    return checksum64_seeded(bytes, sizeof bytes, seed);
}

/* The coin of a pair, from the hashes of its two ids. */
static inline uint64_t split_coin_pair(uint64_t user_hash, uint64_t item_hash, uint64_t seed) {
    uint8_t pair[16];
    bytes_put_u64(pair, user_hash);
    bytes_put_u64(pair + 8, item_hash);
    return checksum64_seeded(pair, sizeof pair, seed);
}

/* Whether a coin comes up `test`, which it does with this probability. */
static inline bool split_coin_is_test(uint64_t coin, double test_fraction) {
    return (double)(coin >> 11) * 0x1p-53 < test_fraction;
}

#endif
