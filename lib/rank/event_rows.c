/*
 * Reads the events of a store into the two orders of event_rows.h: users in one pass, block by
 * block; items from them. Fed by a store; feeds ials_train.c.
 */
#include "rank/event_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/event_weight.h"
#include "store/store.h"

struct reading {
    struct event_rows *rows;
    double like;
    double count_weight;
};

static void take_block(void *self, const struct store_block *block) {
    const struct reading *reading = self;
    struct event_rows *rows = reading->rows;
    struct event_side *users = &rows->users, *items = &rows->items;
    for (uint32_t u = 0; u < block->n_users; u++) {
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            if (block->value[r] < reading->like) continue;
            if (users->weight)
                users->weight[rows->n_events] =
                    (float)event_weight(block->value[r], reading->count_weight);
            users->other[rows->n_events++] = block->item[r];
            items->start[block->item[r] + 1]++;
        }
        users->start[block->first_user + u + 1] = rows->n_events;
    }
}

static void count_block(void *self, const struct store_block *block) {
    const struct reading *reading = self;
    for (uint64_t r = block->start[0]; r < block->start[block->n_users]; r++)
        reading->rows->n_events += block->value[r] >= reading->like;
}

/* By one thread in the order of blocks: what is done with a rating costs less than decoding it. */
static int read_blocks(const struct dpmf_store *store,
                       void (*take)(void *self, const struct store_block *block), void *self,
                       const struct dpmf_run *run, struct dpmf_error *error) {
    struct store_scan scan = {.store = store, .want = STORE_WANT_VALUE};
    struct store_block block;
    int code = 0;
    while (store_scan_next(&scan, &block, &code, error)) {
        take(self, &block);
        const struct dpmf_progress progress = {.phase = "reading",
                                               .unit = "blocks",
                                               .done = scan.next,
                                               .total = store_n_blocks(store)};
        if (run->progress && run->progress(run->progress_self, &progress))
            code = error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    }
    store_scan_free(&scan);
    return code;
}

/* The items' events, in the order of users. While they come, start[i + 1] is where the next of item
 * i goes. */
static void fill_items(struct event_rows *rows) {
    struct event_side *users = &rows->users, *items = &rows->items;
    uint64_t before = 0;
    for (uint64_t i = 0; i < items->n; i++) {
        const uint64_t n = items->start[i + 1];
        items->start[i + 1] = before;
        before += n;
    }
    for (uint64_t u = 0; u < users->n; u++)
        for (uint64_t e = users->start[u]; e < users->start[u + 1]; e++) {
            const uint64_t at = items->start[users->other[e] + 1]++;
            items->other[at] = (uint32_t)u;
            if (items->weight) items->weight[at] = users->weight[e];
        }
}

static bool make_side(struct event_side *side, uint64_t n, uint64_t n_events, bool is_weighed) {
    side->n = n;
    if (!side->start) side->start = memory_alloc_zero((size_t)n + 1, sizeof side->start[0]);
    side->other = memory_alloc((size_t)n_events, sizeof side->other[0]);
    if (is_weighed) side->weight = memory_alloc((size_t)n_events, sizeof side->weight[0]);
    return side->start && side->other && (side->weight || !is_weighed);
}

int event_rows_read(struct event_rows *rows, const struct dpmf_store *store, double like,
                    double count_weight, const struct dpmf_run *run, struct dpmf_error *error) {
    struct reading reading = {rows, store_least_event(store, like), count_weight};
    const bool is_weighed = count_weight > 0;
    const uint64_t n_users = store_n_users(store), n_most = store_n_ratings(store);
    *rows = (struct event_rows){0};
    rows->items.n = store_n_items(store);
    rows->items.start = memory_alloc_zero((size_t)rows->items.n + 1, sizeof *rows->items.start);
    int code = make_side(&rows->users, n_users, n_most, is_weighed) && rows->items.start
                   ? read_blocks(store, take_block, &reading, run, error)
                   : error_no_memory(error);
    if (code == 0 && !make_side(&rows->items, rows->items.n, rows->n_events, is_weighed))
        code = error_no_memory(error);
    if (code == 0) fill_items(rows);
    if (code < 0) event_rows_free(rows);
    return code;
}

static void free_side(struct event_side *side) {
    free(side->start);
    free(side->other);
    free(side->weight);
}

void event_rows_free(struct event_rows *rows) {
    free_side(&rows->users);
    free_side(&rows->items);
    *rows = (struct event_rows){0};
}

int event_rows_count(const struct dpmf_store *store, double like, const struct dpmf_run *run,
                     uint64_t *n_events, struct dpmf_error *error) {
    struct event_rows rows = {.n_events = 0};
    struct reading reading = {&rows, store_least_event(store, like), 0};
    int code = 0;
    if (reading.like == -INFINITY)
        rows.n_events = store_n_ratings(store);
    else
        code = read_blocks(store, count_block, &reading, run, error);
    *n_events = rows.n_events;
    return code;
}

uint64_t event_rows_bytes(const struct dpmf_store *store, bool is_weighed) {
    const uint64_t event = sizeof(uint32_t) + (is_weighed ? sizeof(float) : 0);
    return 2 * store_n_ratings(store) * event +
           (store_n_users(store) + store_n_items(store) + 2) * sizeof(uint64_t) +
           store_largest_block(store) * (sizeof(double) + sizeof(uint32_t));
}
