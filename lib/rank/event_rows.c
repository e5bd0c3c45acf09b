/*
 * Reads the events of a store into the two orders of event_rows.h: users in one pass, block by
 * block; items from them. Fed by a store; feeds ials_train.c.
 */
#include "rank/event_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/event_weight.h"
#include "store/store.h"

struct reading {
    struct event_rows *rows;
    double like;
    double count_weight;
    const struct event_reader *reader; /* NULL: nobody else looks */
};

/* Where every rating is an event that weighs 1, nobody asks for the values. */
static bool wants_values(const struct reading *reading) {
    return reading->like > -INFINITY || reading->count_weight > 0;
}

static unsigned find_want(const struct reading *reading) {
    return (wants_values(reading) ? STORE_WANT_VALUE : 0u) |
           (reading->reader ? reading->reader->want : 0u);
}

static void take_all(const struct reading *reading, const struct store_block *block) {
    struct event_rows *rows = reading->rows;
    struct event_side *users = &rows->users, *items = &rows->items;
    assert(block->start[0] == 0 && block->start[block->n_users] == block->n_ratings);
    memcpy(users->other + rows->n_events, block->item, block->n_ratings * sizeof *block->item);
    for (uint64_t r = 0; items->start && r < block->n_ratings; r++)
        items->start[block->item[r] + 1]++;
    for (uint32_t u = 0; u < block->n_users; u++)
        users->start[block->first_user + u + 1] = rows->n_events + block->start[u + 1];
    rows->n_events += block->n_ratings;
}

static void take_block(const struct reading *reading, const struct store_block *block) {
    struct event_rows *rows = reading->rows;
    struct event_side *users = &rows->users, *items = &rows->items;
    for (uint32_t u = 0; u < block->n_users; u++) {
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            if (block->value[r] < reading->like) continue;
            if (users->weight)
                users->weight[rows->n_events] =
                    (float)event_weight(block->value[r], reading->count_weight);
            users->other[rows->n_events++] = block->item[r];
            if (items->start) items->start[block->item[r] + 1]++;
        }
        users->start[block->first_user + u + 1] = rows->n_events;
    }
}

static void count_block(const struct reading *reading, const struct store_block *block) {
    for (uint64_t r = block->start[0]; r < block->start[block->n_users]; r++)
        reading->rows->n_events += block->value[r] >= reading->like;
}

/* By one thread in the order of blocks: what is done with a rating costs less than decoding it. */
static int read_blocks(const struct dpmf_store *store,
                       void (*take)(const struct reading *reading, const struct store_block *block),
                       const struct reading *reading, const struct dpmf_run *run,
                       struct dpmf_error *error) {
    struct store_scan scan = {.store = store, .want = find_want(reading)};
    struct store_block block;
    int code = 0;
    while (store_scan_next(&scan, &block, &code, error)) {
        take(reading, &block);
        if (reading->reader) code = reading->reader->see(reading->reader->self, &block, error);
        if (code < 0) break;
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

static int read_users(const struct reading *reading, const struct dpmf_store *store,
                      const struct dpmf_run *run, struct dpmf_error *error) {
    struct event_rows *rows = reading->rows;
    const bool is_weighed = reading->count_weight > 0;
    if (!make_side(&rows->users, store_n_users(store), store_n_ratings(store), is_weighed))
        return error_no_memory(error);
    return read_blocks(store, wants_values(reading) ? take_block : take_all, reading, run, error);
}

static int read_all(const struct reading *reading, const struct dpmf_store *store,
                    const struct dpmf_run *run, struct dpmf_error *error) {
    struct event_rows *rows = reading->rows;
    const bool users_alone = reading->reader && reading->reader->users_alone;
    *rows = (struct event_rows){0};
    rows->items.n = users_alone ? 0 : store_n_items(store);
    rows->items.start =
        users_alone ? NULL
                    : memory_alloc_zero((size_t)rows->items.n + 1, sizeof *rows->items.start);
    int code = users_alone || rows->items.start ? read_users(reading, store, run, error)
                                                : error_no_memory(error);
    if (code == 0 && !users_alone) {
        if (make_side(&rows->items, rows->items.n, rows->n_events, reading->count_weight > 0))
            fill_items(rows);
        else
            code = error_no_memory(error);
    }
    if (code < 0) event_rows_free(rows);
    return code;
}

int event_rows_read(struct event_rows *rows, const struct dpmf_store *store, double like,
                    double count_weight, const struct dpmf_run *run, struct dpmf_error *error) {
    const struct reading reading = {rows, store_least_event(store, like), count_weight, NULL};
    return read_all(&reading, store, run, error);
}

int event_rows_read_by(struct event_rows *rows, const struct dpmf_store *store,
                       const struct event_reader *reader, const struct dpmf_run *run,
                       struct dpmf_error *error) {
    const struct reading reading = {rows, store_least_event(store, reader->like), 0, reader};
    return read_all(&reading, store, run, error);
}

/* ---- other numbers --------------------------------------------------------------------------- */

/* The numbers here in the order of their rows. @return NULL where there was no memory */
static uint32_t *order_by_row(const struct event_numbers *numbers, uint64_t n) {
    uint32_t *number = memory_alloc((size_t)numbers->n + 1, sizeof *number);
    if (!number) return NULL;
    memset(number, 0xff, (size_t)numbers->n * sizeof *number);
    for (uint64_t i = 0; i < n; i++) number[numbers->row[i]] = (uint32_t)i;
    uint64_t found = 0;
    for (uint64_t row = 0; row < numbers->n; row++)
        if (number[row] != UINT32_MAX) number[found++] = number[row];
    assert(found == n);
    return number;
}

/* The lists of `to`, into out: gone through in the order of their rows, those of the other side
 * leave them in order. `next` has room for one number a list. */
static void turn_over(const struct event_side *to, const struct event_side *from,
                      const uint32_t *from_order, const uint32_t *from_row, uint64_t *next,
                      uint32_t *out) {
    memcpy(next, to->start, (size_t)to->n * sizeof *next);
    for (uint64_t i = 0; i < from->n; i++) {
        const uint32_t number = from_order[i], row = from_row[number];
        for (uint64_t e = from->start[number]; e < from->start[number + 1]; e++)
            out[next[from->other[e]]++] = row;
    }
}

int event_rows_renumber(struct event_rows *rows, const struct event_numbers *users,
                        const struct event_numbers *items, struct dpmf_error *error) {
    struct event_side *by_user = &rows->users, *by_item = &rows->items;
    const uint64_t longest = by_user->n > by_item->n ? by_user->n : by_item->n;
    assert(!by_user->weight && !by_item->weight);
    uint32_t *user_order = order_by_row(users, by_user->n);
    uint32_t *item_order = order_by_row(items, by_item->n);
    uint32_t *user_lists = memory_alloc((size_t)rows->n_events + 1, sizeof *user_lists);
    uint64_t *next = memory_alloc((size_t)longest + 1, sizeof *next);
    const bool made = user_order && item_order && user_lists && next;
    if (made) {
        turn_over(by_user, by_item, item_order, items->row, next, user_lists);
        turn_over(by_item, by_user, user_order, users->row, next, by_item->other);
        uint32_t *before = by_user->other;
        by_user->other = user_lists;
        user_lists = before;
    }
    free(user_order);
    free(item_order);
    free(user_lists);
    free(next);
    return made ? 0 : error_no_memory(error);
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
    const struct reading reading = {&rows, store_least_event(store, like), 0, NULL};
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
