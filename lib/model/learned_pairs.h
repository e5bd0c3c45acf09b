/*
 * What a model has learned from, to be recognised again: of all pairs of a user and an item the
 * LEARNED_PAIRS_MAX whose hashes are the smallest. These are a random sample, the same for any
 * order of the ratings, and that of two sets of pairs together follows from those of each. Ratings
 * that are brought to the model later are sampled alike, so the share of theirs that is known here
 * is the share of all that the model has learned. Filled by training, kept in checkpoints, which
 * are private, and asked by evaluation.
 */
#ifndef DPMF_MODEL_LEARNED_PAIRS_H
#define DPMF_MODEL_LEARNED_PAIRS_H

#include "dpmf.h"

enum { LEARNED_PAIRS_MAX = 8192 };

struct learned_pairs {
    uint64_t *hash; /* in increasing order, once finished; NULL: not known */
    size_t n, capacity;
    uint64_t bound; /* no larger hash is among the smallest; 0 before the first */
};

/* The hash of a user, or of an item. */
uint64_t learned_pairs_hash(const char *id, size_t length);

/* The hash of a pair, by the hashes of both. */
static inline uint64_t learned_pairs_join(uint64_t user, uint64_t item) {
    uint64_t h = user + item * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

/* Makes room; then pairs are added, each once, and finished. */
int learned_pairs_begin(struct learned_pairs *pairs, struct dpmf_error *error);
void learned_pairs_keep(struct learned_pairs *pairs, uint64_t hash);
static inline void learned_pairs_add(struct learned_pairs *pairs, uint64_t hash) {
    if (hash <= pairs->bound) learned_pairs_keep(pairs, hash);
}
void learned_pairs_finish(struct learned_pairs *pairs);

/* Those of both, where both are known; else nothing is. */
int learned_pairs_unite(const struct learned_pairs *a, const struct learned_pairs *b,
                        struct learned_pairs *both, struct dpmf_error *error);

/* Whether a pair is one of the sampled kind, and whether the model has learned it then. */
static inline bool learned_pairs_samples(const struct learned_pairs *pairs, uint64_t hash) {
    return pairs->hash && (pairs->n < LEARNED_PAIRS_MAX || hash <= pairs->hash[pairs->n - 1]);
}
bool learned_pairs_has(const struct learned_pairs *pairs, uint64_t hash);

/* The share of the pairs of `given` that is among `pairs` too, by the samples of both; 0 where that
 * is not known, or where so few of `given` are sampled that someone may just have rated again. */
double learned_pairs_share(const struct learned_pairs *pairs, const struct learned_pairs *given);

void learned_pairs_free(struct learned_pairs *pairs);

#endif
