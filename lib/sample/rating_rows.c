/*
 * Reads a store into the two orders of rating_rows.h, in one pass, block by block: an item's
 * ratings are in the order of users. Feeds gibbs_train.c.
 */
#include "sample/rating_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

struct filling {
    struct rating_rows *rows;
    const struct dpmf_store *store;
    struct store_scan scan;
    uint64_t *next; /* by item: where its next rating goes */
    uint64_t n;     /* ratings so far */
    double sum;
};

/* The numbers of ratings that the items have add up, but the blocks have more of one item than they
 * say. */
static int miscounted(const struct dpmf_store *store, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_STORE_CORRUPT,
                         "the store is damaged: an item has more ratings than it should");
    error_hint(error, "import the ratings again");
    error_place(error, store_path(store), 0, 0);
    return code;
}

static int place_block(struct filling *filling, const struct store_block *block,
                       struct dpmf_error *error) {
    struct rating_side *users = &filling->rows->users, *items = &filling->rows->items;
    for (uint32_t u = 0; u < block->n_users; u++) {
        const uint64_t user = block->first_user + u;
        users->start[user + 1] = filling->n + block->start[u + 1];
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            const uint32_t item = block->item[r];
            const uint64_t place = filling->next[item]++;
            if (place == items->start[item + 1]) return miscounted(filling->store, error);
            items->other[place] = (uint32_t)user;
            items->value[place] = block->value32[r];
            filling->sum += (double)block->value32[r];
        }
    }
    memcpy(users->other + filling->n, block->item, block->n_ratings * sizeof users->other[0]);
    memcpy(users->value + filling->n, block->value32, block->n_ratings * sizeof users->value[0]);
    filling->n += block->n_ratings;
    return 0;
}

static int take_block(struct filling *filling, const struct store_block *block,
                      const struct dpmf_run *run, struct dpmf_error *error) {
    int code = place_block(filling, block, error);
    const struct dpmf_progress progress = {.phase = "reading",
                                           .unit = "ratings",
                                           .done = filling->n,
                                           .total = filling->rows->n_ratings,
                                           .ratings = filling->n};
    if (code == 0 && run->progress && run->progress(run->progress_self, &progress))
        code = error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return code;
}

static bool make_side(struct rating_side *side, uint64_t n, uint64_t n_ratings) {
    side->n = n;
    side->start = memory_alloc_zero((size_t)n + 1, sizeof side->start[0]);
    side->other = memory_alloc((size_t)n_ratings, sizeof side->other[0]);
    side->value = memory_alloc((size_t)n_ratings, sizeof side->value[0]);
    return side->start && side->other && side->value;
}

static void subtract(struct rating_rows *rows, double mean) {
    for (uint64_t r = 0; r < rows->n_ratings; r++) {
        rows->users.value[r] = (float)((double)rows->users.value[r] - mean);
        rows->items.value[r] = (float)((double)rows->items.value[r] - mean);
    }
}

/* Numbers of ratings by item: those of the store or, of a share of it, counted. */
static int find_starts(struct filling *filling, bool is_share, struct dpmf_error *error) {
    struct rating_side *items = &filling->rows->items;
    int code = 0;
    struct store_block block;
    while (is_share && store_scan_next(&filling->scan, &block, &code, error))
        for (uint64_t r = 0; r < block.n_ratings; r++) items->start[block.item[r] + 1]++;
    for (uint64_t j = 0; j < items->n && code == 0; j++) {
        if (!is_share) items->start[j + 1] = store_item_at(filling->store, j).n_ratings;
        items->start[j + 1] += items->start[j];
        filling->next[j] = items->start[j];
    }
    return code;
}

static int fill(struct filling *filling, bool is_share, const struct dpmf_run *run,
                struct dpmf_error *error) {
    struct rating_rows *rows = filling->rows;
    const struct dpmf_store *store = filling->store;
    const uint64_t n = rows->n_ratings, n_items = store_n_items(store);
    filling->next = memory_alloc((size_t)n_items, sizeof filling->next[0]);
    if (!make_side(&rows->users, store_n_users(store), n) || !make_side(&rows->items, n_items, n) ||
        !filling->next)
        return error_no_memory(error);
    int code = find_starts(filling, is_share, error);
    filling->scan.next = 0;
    filling->scan.want = STORE_WANT_VALUE32;
    struct store_block block;
    while (store_scan_next(&filling->scan, &block, &code, error))
        code = take_block(filling, &block, run, error);
    return code;
}

int rating_rows_read(struct rating_rows *rows, const struct dpmf_store *store,
                     const struct dpmf_cluster *cluster, uint64_t all, const struct dpmf_run *run,
                     struct dpmf_error *error) {
    struct filling filling = {.rows = rows, .store = store, .scan = {.store = store}};
    *rows = (struct rating_rows){.n_ratings = store_n_ratings(store)};
    int code = fill(&filling, cluster != NULL, run, error);
    code = cluster_agree(cluster, code, error);
    if (code == 0) code = cluster_sum_doubles(cluster, &filling.sum, 1, error);
    const double mean = all > 0 ? filling.sum / (double)all : 0; /* less the store's base */
    rows->mean = store_base(store) + mean;
    if (code == 0) subtract(rows, mean);
    free(filling.next);
    store_scan_free(&filling.scan);
    if (code < 0) rating_rows_free(rows);
    return code;
}

static void free_side(struct rating_side *side) {
    free(side->start);
    free(side->other);
    free(side->value);
}

void rating_rows_free(struct rating_rows *rows) {
    free_side(&rows->users);
    free_side(&rows->items);
    *rows = (struct rating_rows){0};
}

uint64_t rating_rows_bytes(const struct dpmf_store *store, bool making) {
    const uint64_t rating = 2 * (sizeof(uint32_t) + sizeof(float)), decoded = 3 * sizeof(uint32_t);
    const uint64_t bytes = store_n_ratings(store) * rating +
                           (store_n_users(store) + store_n_items(store)) * sizeof(uint64_t);
    if (!making) return bytes;
    return bytes + store_n_items(store) * sizeof(uint64_t) + store_largest_block(store) * decoded;
}
