/*
 * The validation set of valid_set.h: fed by a store, asked by sgd_train.c after every epoch. Its
 * ratings are in the order of the model's users, so that rows which are on disk are read once and
 * in order.
 */
#include "train/valid_set.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

enum { PIECE = 16384 /* ratings a thread takes at once; sums are per piece, added in order */ };

#define UNKNOWN UINT32_MAX

struct valid_rating {
    uint32_t user, item; /* rows, or UNKNOWN */
    float value;         /* less base */
};

struct valid_set {
    const struct dpmf_cluster *cluster; /* NULL: one machine */
    struct valid_rating *ratings;
    uint64_t n, n_all; /* that are here, and everywhere */
    double *sums;      /* by piece */
    size_t n_pieces;
    double base; /* store_base of where they are from */
    /* Sums of predictions over models, by rating; NULL before valid_set_mean_rmse */
    double *totals;
    uint64_t n_totals; /* number of models in `totals` */

    /* The evaluation under way. */
    const struct factors *factors;
    const struct row_store *users;
    const struct kernel_set *kernels;
    bool totalling; /* the totals, instead of this model alone */
    _Atomic uint64_t next;
    _Atomic int code;
    struct dpmf_error error; /* error of the thread that set the code */
};

/* The rows of some users in a row, as a thread has them at hand. */
struct window {
    const float *rows;
    uint64_t first, n, room; /* room: as many at most, in the buffer */
    float *buffer;
};

struct valid_fill {
    struct valid_set *set;
    const struct factors *factors;
    const struct dpmf_store *store;
    uint32_t *row_of_item;
    uint64_t *known; /* by user of the store: whether a rank has them; in a cluster */
};

static uint32_t row_of(const struct factor_ids *ids, const char *id, size_t length) {
    uint64_t row = factor_ids_find(ids, id, length);
    return row == UINT64_MAX ? UNKNOWN : (uint32_t)row;
}

/* Whether this rank looks after a user's ratings. */
static bool is_wanted(const struct valid_fill *fill, uint64_t user, uint32_t row) {
    if (!fill->known || row != UNKNOWN) return true;
    return fill->known[user] == 0 && cluster_rank(fill->set->cluster) == 0;
}

/* Finds out which of the set's users are known to any rank. */
static int find_known(struct valid_fill *fill, struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = fill->set->cluster;
    const size_t n = (size_t)store_n_users(fill->store);
    int code = 0;
    fill->known = memory_alloc_zero(n, sizeof fill->known[0]);
    if (!fill->known) code = error_no_memory(error);
    struct store_scan scan = {.store = fill->store, .want = STORE_WANT_IDS};
    struct store_block block;
    while (store_scan_next(&scan, &block, &code, error))
        for (uint32_t u = 0; u < block.n_users; u++)
            fill->known[block.first_user + u] =
                row_of(&fill->factors->user_ids, block.id_bytes + block.id_start[u],
                       (size_t)(block.id_start[u + 1] - block.id_start[u])) != UNKNOWN;
    store_scan_free(&scan);
    code = cluster_agree(cluster, code, error);
    return code < 0 ? code : cluster_all_sum(cluster, fill->known, n, error);
}

static void fill_block(struct valid_fill *fill, const struct store_block *block) {
    for (uint32_t u = 0; u < block->n_users; u++) {
        uint32_t user = row_of(&fill->factors->user_ids, block->id_bytes + block->id_start[u],
                               (size_t)(block->id_start[u + 1] - block->id_start[u]));
        if (!is_wanted(fill, block->first_user + u, user)) continue;
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++)
            fill->set->ratings[fill->set->n++] =
                (struct valid_rating){user, fill->row_of_item[block->item[r]], block->value32[r]};
    }
}

static int by_user(const void *a, const void *b) {
    const struct valid_rating *x = a, *y = b;
    if (x->user != y->user) return x->user < y->user ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Mostly they are in order: a split keeps that of the users. */
static void sort_by_user(struct valid_set *set) {
    bool sorted = true;
    for (uint64_t i = 1; i < set->n && sorted; i++)
        sorted = set->ratings[i - 1].user <= set->ratings[i].user;
    if (!sorted) qsort(set->ratings, (size_t)set->n, sizeof set->ratings[0], by_user);
}

uint64_t valid_set_bytes(uint64_t n_ratings, bool making) {
    return n_ratings * sizeof(struct valid_rating) * (making ? 2 : 1); /* sorting takes a copy */
}

int valid_set_init(struct valid_set **out, const struct dpmf_store *store,
                   const struct factors *factors, const struct dpmf_cluster *cluster,
                   struct dpmf_error *error) {
    *out = NULL;
    int code = 0;
    struct store_scan scan = {.store = store, .want = STORE_WANT_VALUE32 | STORE_WANT_IDS};
    struct store_block block;
    struct valid_set *set = memory_alloc_zero(1, sizeof *set);
    code = cluster_agree(cluster, set ? 0 : error_no_memory(error), error);
    if (code < 0) {
        free(set);
        return code;
    }
    set->cluster = cluster;
    set->base = store_base(store);
    struct valid_fill fill = {.set = set, .factors = factors, .store = store};
    size_t n = (size_t)store_n_ratings(store), n_items = (size_t)store_n_items(store);
    set->n_all = n;
    if (cluster_size(cluster) > 1) {
        code = find_known(&fill, error);
        if (code < 0) goto out;
    }
    set->ratings = memory_alloc(n, sizeof set->ratings[0]);
    set->sums = memory_alloc((n + PIECE - 1) / PIECE, sizeof set->sums[0]);
    fill.row_of_item = memory_alloc(n_items, sizeof fill.row_of_item[0]);
    if (!set->ratings || !set->sums || !fill.row_of_item) {
        code = error_no_memory(error);
        goto out;
    }
    for (size_t i = 0; i < n_items; i++) {
        struct store_item item = store_item_at(store, i);
        fill.row_of_item[i] = row_of(&factors->item_ids, item.id, item.id_length);
    }
    while (store_scan_next(&scan, &block, &code, error)) fill_block(&fill, &block);
    if (code < 0) goto out;
    set->n_pieces = (size_t)((set->n + PIECE - 1) / PIECE);
    sort_by_user(set);
    *out = set;
    set = NULL;
out:
    free(fill.known);
    free(fill.row_of_item);
    store_scan_free(&scan);
    valid_set_free(set);
    return code;
}

void valid_set_free(struct valid_set *set) {
    if (!set) return;
    free(set->ratings);
    free(set->sums);
    free(set->totals);
    free(set);
}

/* The row of a user; users are asked for in their order. */
static const float *row_at(const struct valid_set *set, struct window *window, uint64_t user,
                           struct dpmf_error *error) {
    const struct row_store *users = set->users;
    if (!window->rows || user >= window->first + window->n) {
        window->first = user;
        window->n = users->n - user < window->room ? users->n - user : window->room;
        window->rows = row_store_look(users, user, window->n, window->buffer, error);
        if (!window->rows) return NULL;
    }
    return window->rows + (user - window->first) * users->stride;
}

static bool predict(const struct valid_set *set, const struct valid_rating *rating,
                    struct window *window, double *out, struct dpmf_error *error) {
    assert(rating && out);
    const struct factors *factors = set->factors;
    double prediction = factors->offset;
    if (rating->user != UNKNOWN) prediction += (double)factors->users.biases[rating->user];
    if (rating->item != UNKNOWN) prediction += (double)factors->items.biases[rating->item];
    if (rating->user != UNKNOWN && rating->item != UNKNOWN) {
        const float *u = row_at(set, window, rating->user, error);
        if (!u) return false;
        prediction +=
            (double)set->kernels->dot(u, factors->items.rows + rating->item * factors->items.stride,
                                      set->kernels->padded_k(factors->k));
    }
    *out = prediction;
    return true;
}

/* The error of this model's prediction of a rating, or of the mean of all that were totalled. */
static bool error_of(const struct valid_set *set, uint64_t i, struct window *window, double *e,
                     struct dpmf_error *error) {
    assert(i < set->n && e);
    const struct valid_rating *rating = &set->ratings[i];
    double prediction;
    if (!predict(set, rating, window, &prediction, error)) return false;
    if (set->totalling) prediction = (set->totals[i] += prediction) / (double)set->n_totals;
    prediction = fmin(fmax(prediction, set->factors->min), set->factors->max);
    *e = (double)rating->value + set->base - prediction;
    return true;
}

static bool sum_piece(struct valid_set *set, uint64_t piece, struct window *window,
                      struct dpmf_error *error) {
    assert(piece < set->n_pieces);
    uint64_t end = (piece + 1) * PIECE < set->n ? (piece + 1) * PIECE : set->n;
    double sum = 0, e;
    window->rows = NULL;
    for (uint64_t i = piece * PIECE; i < end; i++) {
        if (!error_of(set, i, window, &e, error)) return false;
        sum += e * e;
    }
    set->sums[piece] = sum;
    return true;
}

static void sum_pieces(void *self, int worker) {
    struct valid_set *set = self;
    struct dpmf_error error = {0};
    struct window window = {.room = row_store_piece(set->users->stride)};
    uint64_t piece;
    bool good = true;
    (void)worker;
    if (!set->users->rows) { /* aligned, as the kernels want it */
        size_t bytes = (size_t)window.room * set->users->stride * sizeof(float);
        window.buffer = aligned_alloc(KERNEL_ALIGN, bytes);
        good = window.buffer != NULL;
        if (!good) error_no_memory(&error);
    }
    while (good && (piece = atomic_fetch_add(&set->next, 1)) < set->n_pieces)
        good = sum_piece(set, piece, &window, &error);
    int none = 0;
    if (!good && atomic_compare_exchange_strong(&set->code, &none, error.code)) set->error = error;
    free(window.buffer);
}

static int find_rmse(struct valid_set *set, const struct factors *factors,
                     const struct row_store *users, const struct kernel_set *kernels,
                     struct thread_pool *pool, double *rmse, struct dpmf_error *error) {
    set->factors = factors;
    set->users = users;
    set->kernels = kernels;
    atomic_store(&set->next, 0);
    atomic_store(&set->code, 0);
    thread_pool_run(pool, sum_pieces, set);
    int code = atomic_load(&set->code);
    if (code < 0 && error) *error = set->error;
    code = cluster_agree(set->cluster, code, error);
    if (code < 0) return code;
    double sum = 0;
    for (size_t i = 0; i < set->n_pieces; i++) sum += set->sums[i];
    code = cluster_sum_doubles(set->cluster, &sum, 1, error);
    *rmse = sqrt(sum / (double)set->n_all);
    return code;
}

int valid_set_rmse(struct valid_set *set, const struct factors *factors,
                   const struct row_store *users, const struct kernel_set *kernels,
                   struct thread_pool *pool, double *rmse, struct dpmf_error *error) {
    assert(rmse);
    set->totalling = false;
    return find_rmse(set, factors, users, kernels, pool, rmse, error);
}

int valid_set_mean_rmse(struct valid_set *set, const struct factors *factors,
                        const struct row_store *users, const struct kernel_set *kernels,
                        struct thread_pool *pool, double *rmse, struct dpmf_error *error) {
    assert(rmse);
    if (!set->totals) set->totals = memory_alloc_zero((size_t)set->n, sizeof set->totals[0]);
    int code = cluster_agree(set->cluster, set->totals ? 0 : error_no_memory(error), error);
    if (code < 0) return code;
    set->totalling = true;
    set->n_totals++;
    return find_rmse(set, factors, users, kernels, pool, rmse, error);
}
