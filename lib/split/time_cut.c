/*
 * The k-th latest rating of a store, exactly, in bounded memory. A first pass finds the first and
 * the last time. Then the window in which the k-th latest must lie is narrowed: a pass counts the
 * ratings in 65,536 equal parts of it, and the part that holds the k-th becomes the window. A
 * window of a single time is narrowed by coin. As soon as few enough ratings are left in it, one
 * more pass collects and sorts them. Whatever is counted is a sum over the workers, so that the
 * result does not depend on the threads. Used by split.c.
 */
#include "split/time_cut.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "split/split_coin.h"
#include "store/time_ends.h"

enum { PART_BITS = 16, PARTS = 1 << PART_BITS };

/* Times as unsigned numbers in the same order. */
static uint64_t time_to_key(int64_t time) { return (uint64_t)time ^ UINT64_C(1) << 63; }
static int64_t key_to_time(uint64_t key) { return (int64_t)(key ^ UINT64_C(1) << 63); }

struct dated {
    uint64_t time, coin;
};

struct cut_worker {
    struct time_ends ends; /* the first pass */
    uint64_t *part;        /* how many ratings in each part of the window */
    struct dated *collected;
    size_t n_collected, capacity;
};

/* All ratings with low <= key <= high, where the key is the time, or the coin of those at a fixed
 * time. */
struct window {
    bool by_coin;
    uint64_t time; /* when by_coin */
    uint64_t low, high;
};

enum cut_pass { FIND_ENDS, COUNT_PARTS, COLLECT };

struct cut_search {
    uint64_t seed;
    const uint64_t *item_hash;
    size_t collect_max;
    enum cut_pass pass;
    struct window window;
    int shift; /* width of the window's parts, as a power of 2 */
    struct cut_worker *workers;
    int n_workers;
};

/* ---- a pass ---------------------------------------------------------------------------------- */

static bool visit_rating(const struct cut_search *search, struct cut_worker *worker, uint64_t time,
                         uint64_t user_hash, uint32_t item) {
    const struct window *window = &search->window;
    uint64_t key = time;
    if (window->by_coin) {
        if (time != window->time) return true;
        key = split_coin_pair(user_hash, search->item_hash[item], search->seed);
    }
    if (key < window->low || key > window->high) return true;
    if (search->pass == COUNT_PARTS) {
        worker->part[(key - window->low) >> search->shift]++;
        return true;
    }
    if (!memory_reserve(&worker->collected, &worker->capacity, worker->n_collected + 1,
                        sizeof *worker->collected))
        return false;
    uint64_t coin = split_coin_pair(user_hash, search->item_hash[item], search->seed);
    worker->collected[worker->n_collected++] = (struct dated){time, coin};
    return true;
}

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    (void)product;
    const struct cut_search *search = self;
    if (!block->time) return 0;
    if (search->pass == FIND_ENDS) {
        time_ends_add(&search->workers[worker].ends, block->time, block->n_ratings);
        return 0;
    }
    for (uint32_t i = 0; i < block->n_users; i++) {
        uint64_t user_hash = split_coin_user(block, i, search->seed);
        for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++) {
            if (block->time[r] == STORE_NO_TIME) continue;
            if (!visit_rating(search, &search->workers[worker], time_to_key(block->time[r]),
                              user_hash, block->item[r]))
                return error_no_memory(error);
        }
    }
    return 0;
}

static int run_pass(struct cut_search *search, enum cut_pass pass, const struct dpmf_store *store,
                    const struct dpmf_run *run, struct dpmf_error *error) {
    search->pass = pass;
    size_t n = store_visit_products(store, run);
    void **products = memory_alloc_zero(n, sizeof *products);
    if (!products) return error_no_memory(error);
    for (int w = 0; w < search->n_workers && pass == COUNT_PARTS; w++)
        memset(search->workers[w].part, 0, PARTS * sizeof *search->workers[w].part);
    struct store_visitor visitor = {
        .phase = "ordering",
        .want = STORE_WANT_TIME | STORE_WANT_IDS,
        .visit = visit_block,
        .self = search,
        .products = products,
        .n_products = n,
    };
    int code = store_visit(store, &visitor, run, error);
    free(products);
    return code;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Narrows the window to the part that holds the *rank-th latest of it (from 1) and makes the rank
 * relative to that part. @return how many ratings the window now holds, 0 when the store has
 * changed under us */
static uint64_t narrow(struct cut_search *search, uint64_t *rank) {
    struct window *window = &search->window;
    for (size_t part = PARTS; part-- > 0;) {
        uint64_t held = 0;
        for (int w = 0; w < search->n_workers; w++) held += search->workers[w].part[part];
        if (*rank > held) {
            *rank -= held;
            continue;
        }
        uint64_t width = (UINT64_C(1) << search->shift) - 1;
        window->low += (uint64_t)part << search->shift;
        if (window->high - window->low > width) window->high = window->low + width;
        return held;
    }
    return 0;
}

/* The smallest shift with which the window has no more than PARTS parts. */
static int shift_for(const struct window *window) {
    int shift = 0;
    while ((window->high - window->low) >> shift >= PARTS) shift++;
    return shift;
}

static int compare_late_first(const void *a, const void *b) {
    const struct dated *x = a, *y = b;
    if (x->time != y->time) return x->time > y->time ? -1 : 1;
    return (x->coin < y->coin) - (x->coin > y->coin);
}

static int merge_collected(struct cut_search *search, uint64_t rank, struct time_cut *cut,
                           struct dpmf_error *error) {
    struct cut_worker *all = &search->workers[0];
    for (int w = 1; w < search->n_workers; w++) {
        const struct cut_worker *from = &search->workers[w];
        if (from->n_collected == 0) continue;
        if (!memory_reserve(&all->collected, &all->capacity, all->n_collected + from->n_collected,
                            sizeof *all->collected))
            return error_no_memory(error);
        memcpy(all->collected + all->n_collected, from->collected,
               from->n_collected * sizeof *from->collected);
        all->n_collected += from->n_collected;
    }
    if (rank == 0 || rank > all->n_collected)
        return error_set(error, DPMF_ERR_BASE_BUG, "the cut in time was lost");
    qsort(all->collected, all->n_collected, sizeof *all->collected, compare_late_first);
    const struct dated *last = &all->collected[rank - 1];
    *cut = (struct time_cut){key_to_time(last->time), last->coin};
    return 0;
}

static int search_cut(struct cut_search *search, uint64_t rank, uint64_t held,
                      const struct dpmf_store *store, const struct dpmf_run *run,
                      struct time_cut *cut, struct dpmf_error *error) {
    assert(held > 0);
    struct window *window = &search->window;
    while (held > search->collect_max) {
        if (window->low == window->high) {
            if (window->by_coin) break; /* as many ratings of one coin: they stay together */
            *window = (struct window){true, window->low, 0, UINT64_MAX};
        }
        search->shift = shift_for(window);
        int code = run_pass(search, COUNT_PARTS, store, run, error);
        if (code != 0) return code;
        held = narrow(search, &rank);
    }
    int code = run_pass(search, COLLECT, store, run, error);
    return code != 0 ? code : merge_collected(search, rank, cut, error);
}

static int make_workers(struct cut_search *search, const struct dpmf_run *run,
                        struct dpmf_error *error) {
    search->n_workers = pipeline_workers(threads_wanted(run));
    search->workers = memory_alloc_zero((size_t)search->n_workers, sizeof *search->workers);
    if (!search->workers) return error_no_memory(error);
    for (int w = 0; w < search->n_workers; w++) {
        struct cut_worker *worker = &search->workers[w];
        worker->part = memory_alloc(PARTS, sizeof *worker->part);
        if (!worker->part) return error_no_memory(error);
    }
    return 0;
}

/* The window then spans all times. */
static struct time_ends merge_ends(struct cut_search *search) {
    struct time_ends all = {0};
    for (int w = 0; w < search->n_workers; w++) time_ends_merge(&all, &search->workers[w].ends);
    search->window = (struct window){false, 0, time_to_key(all.first), time_to_key(all.last)};
    return all;
}

/* What an import has not said before. */
static void warn_of_times(const struct dpmf_store *store, const struct time_ends *ends,
                          uint64_t wanted, const struct dpmf_run *run) {
    const uint64_t none = store_n_ratings(store) - ends->n;
    struct dpmf_store_info info;
    char text[DPMF_ERROR_TEXT_MAX];
    if (!run || !run->warn) return;
    dpmf_store_info(store, &info);
    const char *what = info.holds_events ? "events" : "ratings";
    if (!info.is_temporary) time_ends_warn(ends, run);
    if (wanted > ends->n) {
        snprintf(text, sizeof text,
                 "fewer %s have a time than the test set should hold: all of them are in it", what);
        run->warn(run->warn_self, text);
    }
    if (none == 0) return;
    snprintf(text, sizeof text, "%s without a time, in the training set: %" PRIu64, what, none);
    run->warn(run->warn_self, text);
}

int time_cut_find(const struct dpmf_store *store, double fraction, uint64_t seed,
                  const uint64_t *item_hash, size_t collect, const struct dpmf_run *run,
                  struct time_cut *cut, struct dpmf_error *error) {
    assert(fraction >= 0 && fraction <= 1);
    assert(cut);
    struct cut_search search = {.seed = seed, .item_hash = item_hash, .collect_max = collect};
    struct time_ends ends = {0};
    int code = make_workers(&search, run, error);
    if (code == 0 && store_has_times(store)) {
        code = run_pass(&search, FIND_ENDS, store, run, error);
        if (code == 0) ends = merge_ends(&search);
    }
    if (code == 0 && ends.n == 0) {
        const bool events = store_holds_events(store);
        code = error_set(error, DPMF_ERR_RATINGS_NO_TIMES, "no %s has a time",
                         events ? "event" : "rating");
        error_place(error, store_path(store), 0, 0);
        error_hint(error, "split at random or by user, or import the %s with timestamps",
                   events ? "events" : "ratings");
    }
    if (code == 0) {
        uint64_t wanted = (uint64_t)llround(fraction * (double)store_n_ratings(store));
        uint64_t rank = wanted < 1 ? 1 : wanted > ends.n ? ends.n : wanted;
        warn_of_times(store, &ends, wanted, run);
        code = search_cut(&search, rank, ends.n, store, run, cut, error);
    }
    for (int w = 0; search.workers && w < search.n_workers; w++) {
        free(search.workers[w].part);
        free(search.workers[w].collected);
    }
    free(search.workers);
    return code;
}
