/*
 * Reads a store into the two orders of rating_rows.h, in one pass: blocks are decoded by all threads and put in their places in
 * their order, so that an item's ratings are in the order of users. Feeds gibbs_train.c.
 */
#include "train/rating_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

/* A block as it was decoded, on its way to its place. */
struct piece {
    uint64_t first_user, n_ratings;
    uint32_t n_users;
    uint64_t *start;
    uint32_t *item;
    float *value;
    size_t start_capacity, item_capacity, value_capacity;
};

struct filling {
    struct rating_rows *rows;
    const struct dpmf_store *store;
    uint64_t *next; /* by item: where its next rating goes */
    uint64_t n;     /* ratings so far */
    double sum;
};

static int keep_block(void *self, int worker, const struct store_block *block, void *product,
                      struct dpmf_error *error) {
    struct piece *piece = product;
    const size_t n = (size_t)block->n_ratings;
    (void)self;
    (void)worker;
    if (!memory_reserve(&piece->start, &piece->start_capacity, (size_t)block->n_users + 1,
                        sizeof piece->start[0]) ||
        !memory_reserve(&piece->item, &piece->item_capacity, n, sizeof piece->item[0]) ||
        !memory_reserve(&piece->value, &piece->value_capacity, n, sizeof piece->value[0]))
        return error_no_memory(error);
    piece->first_user = block->first_user;
    piece->n_users = block->n_users;
    piece->n_ratings = block->n_ratings;
    memcpy(piece->start, block->start, ((size_t)block->n_users + 1) * sizeof piece->start[0]);
    memcpy(piece->item, block->item, n * sizeof piece->item[0]);
    memcpy(piece->value, block->value32, n * sizeof piece->value[0]);
    return 0;
}

/* The numbers of ratings that the items have add up, but one block has more of one item than they say. */
static int miscounted(const struct dpmf_store *store, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_STORE_CORRUPT, "an item has more ratings than the store says");
    error_hint(error, "import the ratings again");
    error_place(error, store_path(store), 0, 0);
    return DPMF_ERR_STORE_CORRUPT;
}

static int place_block(void *self, void *product, struct dpmf_error *error) {
    struct filling *filling = self;
    const struct piece *piece = product;
    struct rating_side *users = &filling->rows->users, *items = &filling->rows->items;
    for (uint32_t u = 0; u < piece->n_users; u++) {
        const uint64_t user = piece->first_user + u;
        users->start[user + 1] = filling->n + piece->start[u + 1];
        for (uint64_t r = piece->start[u]; r < piece->start[u + 1]; r++) {
            const uint32_t item = piece->item[r];
            const uint64_t place = filling->next[item]++;
            if (place == items->start[item + 1]) return miscounted(filling->store, error);
            items->other[place] = (uint32_t)user;
            items->value[place] = piece->value[r];
            filling->sum += (double)piece->value[r];
        }
    }
    memcpy(users->other + filling->n, piece->item, piece->n_ratings * sizeof users->other[0]);
    memcpy(users->value + filling->n, piece->value, piece->n_ratings * sizeof users->value[0]);
    filling->n += piece->n_ratings;
    return 0;
}

static int visit(struct filling *filling, const struct dpmf_run *run, struct dpmf_error *error) {
    size_t n = store_visit_products(filling->store, run);
    struct piece *pieces = memory_alloc_zero(n, sizeof pieces[0]);
    void **products = memory_alloc(n, sizeof products[0]);
    int code = pieces && products ? 0 : error_no_memory(error);
    for (size_t i = 0; code == 0 && i < n; i++) products[i] = &pieces[i];
    if (code == 0) {
        const struct store_visitor visitor = {
            "reading", STORE_WANT_VALUE32, keep_block, place_block, filling, products, n};
        code = store_visit(filling->store, &visitor, run, error);
    }
    for (size_t i = 0; pieces && i < n; i++) {
        free(pieces[i].start);
        free(pieces[i].item);
        free(pieces[i].value);
    }
    free(pieces);
    free(products);
    return code;
}

static bool make_side(struct rating_side *side, uint64_t n, uint64_t n_ratings) {
    side->n = n;
    side->start = memory_alloc_zero((size_t)n + 1, sizeof side->start[0]);
    side->other = memory_alloc((size_t)n_ratings, sizeof side->other[0]);
    side->value = memory_alloc((size_t)n_ratings, sizeof side->value[0]);
    return side->start && side->other && side->value;
}

static void subtract_mean(struct rating_rows *rows) {
    for (uint64_t r = 0; r < rows->n_ratings; r++) {
        rows->users.value[r] = (float)((double)rows->users.value[r] - rows->mean);
        rows->items.value[r] = (float)((double)rows->items.value[r] - rows->mean);
    }
}

int rating_rows_read(struct rating_rows *rows, const struct dpmf_store *store,
                     const struct dpmf_run *run, struct dpmf_error *error) {
    const uint64_t n = store_n_ratings(store), n_items = store_n_items(store);
    struct filling filling = {.rows = rows, .store = store};
    int code = 0;
    *rows = (struct rating_rows){.n_ratings = n};
    filling.next = memory_alloc((size_t)n_items, sizeof filling.next[0]);
    if (!make_side(&rows->users, store_n_users(store), n) || !make_side(&rows->items, n_items, n) ||
        !filling.next) {
        code = error_no_memory(error);
        goto out;
    }
    for (uint64_t j = 0; j < n_items; j++) {
        filling.next[j] = rows->items.start[j];
        rows->items.start[j + 1] = rows->items.start[j] + store_item_at(store, j).n_ratings;
    }
    code = visit(&filling, run, error);
    if (code < 0) goto out;
    rows->mean = n > 0 ? filling.sum / (double)n : 0;
    subtract_mean(rows);
out:
    free(filling.next);
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

uint64_t rating_rows_bytes(const struct dpmf_store *store) {
    const uint64_t rating = 2 * (sizeof(uint32_t) + sizeof(float));
    return store_n_ratings(store) * rating +
           (store_n_users(store) + 2 * store_n_items(store)) * sizeof(uint64_t);
}
