/*
 * The validation set of valid_set.h: fed by a store, asked by train.c after every epoch.
 */
#include "train/valid_set.h"

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
    float value;
};

struct valid_set {
    struct valid_rating *ratings;
    uint64_t n;
    double *sums; /* by piece */
    size_t n_pieces;

    /* of the running evaluation */
    const struct factors *factors;
    const struct kernel_set *kernels;
    _Atomic uint64_t next;
};

struct valid_fill {
    struct valid_set *set;
    const struct factors *factors;
    const struct dpmf_store *store;
    uint32_t *row_of_item;
};

static uint32_t row_of(const struct factor_ids *ids, const char *id, size_t length) {
    uint64_t row = factor_ids_find(ids, id, length);
    return row == UINT64_MAX ? UNKNOWN : (uint32_t)row;
}

static int fill_block(struct valid_fill *fill, uint64_t b, struct store_raw *raw,
                      struct store_space *space, struct dpmf_error *error) {
    struct store_block block = {0};
    int code = store_block_read(fill->store, b, raw, error);
    if (code == 0)
        code = store_block_decode(fill->store, raw, STORE_WANT_VALUE32 | STORE_WANT_IDS, space,
                                  &block, error);
    if (code < 0) return code;
    for (uint32_t u = 0; u < block.n_users; u++) {
        uint32_t user = row_of(&fill->factors->user_ids, block.id_bytes + block.id_start[u],
                               (size_t)(block.id_start[u + 1] - block.id_start[u]));
        for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++)
            fill->set->ratings[fill->set->n++] =
                (struct valid_rating){user, fill->row_of_item[block.item[r]], block.value32[r]};
    }
    return 0;
}

int valid_set_init(struct valid_set **out, const struct dpmf_store *store,
                   const struct factors *factors, struct dpmf_error *error) {
    *out = NULL;
    int code = 0;
    struct store_raw raw = {0};
    struct store_space space = {0};
    struct valid_set *set = memory_alloc_zero(1, sizeof *set);
    if (!set) return error_no_memory(error);
    struct valid_fill fill = {.set = set, .factors = factors, .store = store};
    size_t n = (size_t)store_n_ratings(store), n_items = (size_t)store_n_items(store);
    set->n_pieces = (n + PIECE - 1) / PIECE;
    set->ratings = memory_alloc(n, sizeof set->ratings[0]);
    set->sums = memory_alloc(set->n_pieces, sizeof set->sums[0]);
    fill.row_of_item = memory_alloc(n_items, sizeof fill.row_of_item[0]);
    if (!set->ratings || !set->sums || !fill.row_of_item) {
        code = error_no_memory(error);
        goto out;
    }
    for (size_t i = 0; i < n_items; i++) {
        struct store_item item = store_item_at(store, i);
        fill.row_of_item[i] = row_of(&factors->item_ids, item.id, item.id_length);
    }
    for (uint64_t b = 0; b < store_n_blocks(store) && code == 0; b++)
        code = fill_block(&fill, b, &raw, &space, error);
    if (code < 0) goto out;
    *out = set;
    set = NULL;
out:
    free(fill.row_of_item);
    free(raw.buffer.bytes);
    store_space_free(&space);
    valid_set_free(set);
    return code;
}

void valid_set_free(struct valid_set *set) {
    if (!set) return;
    free(set->ratings);
    free(set->sums);
    free(set);
}

static double error_of(const struct valid_set *set, const struct valid_rating *rating) {
    const struct factors *factors = set->factors;
    double prediction = factors->offset;
    if (rating->user != UNKNOWN) prediction += (double)factors->users.biases[rating->user];
    if (rating->item != UNKNOWN) prediction += (double)factors->items.biases[rating->item];
    if (rating->user != UNKNOWN && rating->item != UNKNOWN)
        prediction +=
            (double)set->kernels->dot(factors->users.rows + rating->user * factors->users.stride,
                                      factors->items.rows + rating->item * factors->items.stride,
                                      set->kernels->padded_k(factors->k));
    prediction = fmin(fmax(prediction, factors->min), factors->max);
    return (double)rating->value - prediction;
}

static void sum_pieces(void *self, int worker) {
    struct valid_set *set = self;
    (void)worker;
    uint64_t piece;
    while ((piece = atomic_fetch_add(&set->next, 1)) < set->n_pieces) {
        uint64_t end = (piece + 1) * PIECE < set->n ? (piece + 1) * PIECE : set->n;
        double sum = 0;
        for (uint64_t i = piece * PIECE; i < end; i++) {
            double e = error_of(set, &set->ratings[i]);
            sum += e * e;
        }
        set->sums[piece] = sum;
    }
}

double valid_set_rmse(struct valid_set *set, const struct factors *factors,
                      const struct kernel_set *kernels, struct thread_pool *pool) {
    set->factors = factors;
    set->kernels = kernels;
    atomic_store(&set->next, 0);
    thread_pool_run(pool, sum_pieces, set);
    double sum = 0;
    for (size_t i = 0; i < set->n_pieces; i++) sum += set->sums[i];
    return sqrt(sum / (double)set->n);
}
