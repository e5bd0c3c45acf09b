/*
 * The sample of learned_pairs.h: hashes are gathered in a buffer of twice its size, of which the
 * larger half is dropped whenever it is full. Fed by train/model_ids.c and checkpoint_read.c.
 */
#include "model/learned_pairs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"

uint64_t learned_pairs_hash(const char *id, size_t length) { return checksum64(id, length); }

static int compare_hashes(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int learned_pairs_begin(struct learned_pairs *pairs, struct dpmf_error *error) {
    *pairs = (struct learned_pairs){.capacity = 2 * LEARNED_PAIRS_MAX, .bound = UINT64_MAX};
    pairs->hash = memory_alloc(pairs->capacity, sizeof pairs->hash[0]);
    return pairs->hash ? 0 : error_no_memory(error);
}

/* The smallest, in order, each once. */
static void sort(struct learned_pairs *pairs) {
    size_t n = 0;
    qsort(pairs->hash, pairs->n, sizeof pairs->hash[0], compare_hashes);
    for (size_t i = 0; i < pairs->n && n < LEARNED_PAIRS_MAX; i++)
        if (n == 0 || pairs->hash[i] != pairs->hash[n - 1]) pairs->hash[n++] = pairs->hash[i];
    pairs->n = n;
    if (n == LEARNED_PAIRS_MAX) pairs->bound = pairs->hash[n - 1];
}

void learned_pairs_keep(struct learned_pairs *pairs, uint64_t hash) {
    assert(pairs->n < pairs->capacity);
    pairs->hash[pairs->n++] = hash;
    if (pairs->n == pairs->capacity) sort(pairs);
}

void learned_pairs_finish(struct learned_pairs *pairs) { sort(pairs); }

int learned_pairs_unite(const struct learned_pairs *a, const struct learned_pairs *b,
                        struct learned_pairs *both, struct dpmf_error *error) {
    *both = (struct learned_pairs){0};
    if (!a->hash || !b->hash) return 0;
    int code = learned_pairs_begin(both, error);
    for (size_t i = 0; code == 0 && i < a->n; i++) learned_pairs_add(both, a->hash[i]);
    for (size_t i = 0; code == 0 && i < b->n; i++) learned_pairs_add(both, b->hash[i]);
    if (code == 0) learned_pairs_finish(both);
    return code;
}

bool learned_pairs_has(const struct learned_pairs *pairs, uint64_t hash) {
    return bsearch(&hash, pairs->hash, pairs->n, sizeof hash, compare_hashes) != NULL;
}

double learned_pairs_share(const struct learned_pairs *pairs, const struct learned_pairs *given) {
    enum { FEW = 10 };
    size_t sampled = 0, known = 0;
    if (!pairs->hash) return 0;
    for (size_t i = 0; i < given->n && learned_pairs_samples(pairs, given->hash[i]); i++) {
        sampled++;
        known += learned_pairs_has(pairs, given->hash[i]);
    }
    return sampled >= FEW ? (double)known / (double)sampled : 0;
}

void learned_pairs_free(struct learned_pairs *pairs) {
    free(pairs->hash);
    *pairs = (struct learned_pairs){0};
}
