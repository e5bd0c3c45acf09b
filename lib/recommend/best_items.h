/*
 * The n best of a long list of scored items: a heap whose top is the worst of those kept, so that
 * most items cost one comparison. Items come in increasing number; of equal scores the first stays.
 */
#ifndef DPMF_RECOMMEND_BEST_ITEMS_H
#define DPMF_RECOMMEND_BEST_ITEMS_H

#include "dpmf_client.h"

struct best_items {
    struct dpmf_scored_item *heap; /* heap of the caller, with room for `capacity` */
    size_t n, capacity;
};

static inline bool best_items_is_worse(const struct dpmf_scored_item *a,
                                       const struct dpmf_scored_item *b) {
    return a->score < b->score || (a->score == b->score && a->item > b->item);
}

/* Puts `entry` where the hole at `at` is, or below it. */
static inline void best_items_sink(struct dpmf_scored_item *heap, size_t n, size_t at,
                                   struct dpmf_scored_item entry) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && best_items_is_worse(&heap[child + 1], &heap[child])) child++;
        if (!best_items_is_worse(&heap[child], &entry)) break;
        heap[at] = heap[child];
    }
    heap[at] = entry;
}

static inline bool best_items_is_full(const struct best_items *best) {
    return best->n == best->capacity;
}

/* Keeps an item with a number above all before it, unless there are enough that are no worse. */
static inline void best_items_offer(struct best_items *best, uint64_t item, double score) {
    struct dpmf_scored_item entry = {item, score};
    if (best_items_is_full(best)) {
        if (best->n > 0 && score > best->heap[0].score)
            best_items_sink(best->heap, best->n, 0, entry);
        return;
    }
    size_t at = best->n++;
    for (; at > 0 && best_items_is_worse(&entry, &best->heap[(at - 1) / 2]); at = (at - 1) / 2)
        best->heap[at] = best->heap[(at - 1) / 2];
    best->heap[at] = entry;
}

/* Sorts them, the best first; it is no longer a heap. */
static inline void best_items_sort(struct best_items *best) {
    for (size_t n = best->n; n > 1; n--) {
        struct dpmf_scored_item worst = best->heap[0];
        best_items_sink(best->heap, n - 1, 0, best->heap[n - 1]);
        best->heap[n - 1] = worst;
    }
}

static inline bool best_items_bit(const uint8_t *bitmap, uint64_t item) {
    return bitmap[item / 8] >> (item % 8) & 1;
}

#endif
