/*
 * The estimates of first_biases.h. The variances are found by Henderson's first method: the sums of
 * squares of the users' totals, of the items' and of all ratings have expectations that are linear
 * in them. One pass over the ratings takes these sums, and a few more find the biases, users and
 * items in turn. Fed by a store; feeds train_prepare.c.
 */
#include "train/first_biases.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { SWEEPS = 4 };

#define LEAST_SHARE 1e-3 /* least share of the biases in the variance, whatever the ratings show */

/* What the passes share. */
struct passes {
    const struct dpmf_store *whole;
    const struct dpmf_cluster *cluster;
    double mean;
    float *users, *items;
    double *totals; /* by item: the sum of what is left of its ratings; last, a few sums more */
    double user_penalty, item_penalty;
    struct store_scan scan; /* over the users of this rank */
};

enum { BLOCK_RATING = 12, ITEM_TABLES = 12 }; /* bytes */

enum { SUM_SQUARES, SUM_USER_SQUARES, SUM_COUNT_SQUARES, SUMS };

typedef void visit_user(struct passes *passes, uint64_t user, const struct store_block *block,
                        uint64_t first, uint64_t n);

/* Visits every user that is here, then adds up the totals of all ranks. */
static int pass(struct passes *passes, visit_user *visit, struct dpmf_error *error) {
    const size_t n = (size_t)store_n_items(passes->whole) + SUMS;
    int code = 0;
    memset(passes->totals, 0, n * sizeof passes->totals[0]);
    struct store_block block;
    passes->scan.next = 0;
    while (store_scan_next(&passes->scan, &block, &code, error))
        for (uint32_t u = 0; u < block.n_users; u++)
            visit(passes, block.first_user + u, &block, block.start[u],
                  block.start[u + 1] - block.start[u]);
    code = cluster_agree(passes->cluster, code, error);
    return code < 0 ? code : cluster_sum_doubles(passes->cluster, passes->totals, n, error);
}

static double *sums_of(const struct passes *passes) {
    return passes->totals + store_n_items(passes->whole);
}

/* ---- variances ------------------------------------------------------------------------------- */

static void add_squares(struct passes *passes, uint64_t user, const struct store_block *block,
                        uint64_t first, uint64_t n) {
    double *sums = sums_of(passes), total = 0;
    (void)user;
    for (uint64_t r = first; r < first + n; r++) {
        const double x = (double)block->value32[r] - passes->mean;
        total += x;
        sums[SUM_SQUARES] += x * x;
        passes->totals[block->item[r]] += x;
    }
    if (n > 0) sums[SUM_USER_SQUARES] += total * total / (double)n;
    sums[SUM_COUNT_SQUARES] += (double)n * (double)n;
}

/* Two equations for the variances of the biases, given that noise and items share what is left
 * within users (`within`). Around the mean, whose own square is left out.
 *     by_users = (N - k1) users + (U - k2) items + (U - 1) noise
 *     by_items = (V - k1) users + (N - k2) items + (V - 1) noise,   items + noise = within
 */
static void solve(struct first_biases *found, double by_users, double by_items, double within,
                  double N, double U, double V, double k1, double k2) {
    const double a = N - k1, b = U - k2 - (U - 1), c = by_users - (U - 1) * within;
    const double d = V - k1, e = N - k2 - (V - 1), f = by_items - (V - 1) * within;
    const double det = a * e - b * d;
    found->users = det != 0 ? (c * e - b * f) / det : 0;
    found->items = det != 0 ? (a * f - c * d) / det : 0;
}

/* Where the ratings do not tell, as with one user or one rating each, everything is noise. */
static void find_variances(struct passes *passes, struct first_biases *found) {
    const double *sums = sums_of(passes);
    const double N = (double)store_n_ratings(passes->whole);
    const uint64_t n_items = store_n_items(passes->whole);
    const double U = (double)store_n_users(passes->whole), V = (double)n_items;
    const double all = sums[SUM_SQUARES] / N;
    double by_items = 0, item_counts = 0;
    for (uint64_t j = 0; j < n_items; j++) {
        const double n = (double)store_item_at(passes->whole, j).n_ratings;
        if (n > 0) by_items += passes->totals[j] * passes->totals[j] / n;
        item_counts += n * n;
    }
    const double within = N > U ? (sums[SUM_SQUARES] - sums[SUM_USER_SQUARES]) / (N - U) : all;
    solve(found, sums[SUM_USER_SQUARES], by_items, within, N, U, V, sums[SUM_COUNT_SQUARES] / N,
          item_counts / N);
    const double least = LEAST_SHARE * all, most = (1 - LEAST_SHARE) * all;
    if (!(found->users >= least)) found->users = least;
    if (!(found->items >= least)) found->items = least;
    if (found->users > most) found->users = most;
    if (found->items > most) found->items = most;
    found->noise = fmax(within - found->items, least);
    if (all > 0) return;
    *found = (struct first_biases){.noise = 1, .users = 1, .items = 1}; /* all ratings are equal */
}

double first_biases_user_penalty(const struct first_biases *found) {
    assert(found->noise > 0 && found->users > 0);
    return found->noise / found->users;
}

double first_biases_item_penalty(const struct first_biases *found) {
    assert(found->noise > 0 && found->items > 0);
    return found->noise / found->items;
}

/* ---- biases ---------------------------------------------------------------------------------- */

static void sweep_user(struct passes *passes, uint64_t user, const struct store_block *block,
                       uint64_t first, uint64_t n) {
    double total = 0;
    for (uint64_t r = first; r < first + n; r++)
        total += (double)block->value32[r] - passes->mean - (double)passes->items[block->item[r]];
    const double bias = total / ((double)n + passes->user_penalty);
    passes->users[user] = (float)bias;
    for (uint64_t r = first; r < first + n; r++)
        passes->totals[block->item[r]] += (double)block->value32[r] - passes->mean - bias;
}

static void sweep_items(struct passes *passes) {
    const uint64_t n_items = store_n_items(passes->whole);
    for (uint64_t j = 0; j < n_items; j++)
        passes->items[j] =
            (float)(passes->totals[j] /
                    ((double)store_item_at(passes->whole, j).n_ratings + passes->item_penalty));
}

/* A block, packed and unpacked, and two tables of items. */
uint64_t first_biases_bytes(const struct dpmf_store *store) {
    assert(store);
    return store_largest_block(store) * BLOCK_RATING + store_n_items(store) * ITEM_TABLES;
}

int first_biases_find(const struct dpmf_store *store, const struct dpmf_store *whole, double mean,
                      const struct dpmf_cluster *cluster, float *users, float *items,
                      struct first_biases *found, struct dpmf_error *error) {
    assert(users && items && found);
    const size_t n_items = (size_t)store_n_items(whole);
    struct passes passes = {
        .scan = {.store = store, .want = STORE_WANT_VALUE32},
        .whole = whole,
        .cluster = cluster,
        .mean = mean,
        .users = users,
        .items = items,
        .totals = memory_alloc(n_items + SUMS, sizeof(double)),
    };
    int code = cluster_agree(cluster, passes.totals ? 0 : error_no_memory(error), error);
    memset(items, 0, n_items * sizeof items[0]);
    if (code == 0) code = pass(&passes, add_squares, error);
    if (code == 0) find_variances(&passes, found);
    passes.user_penalty = code == 0 ? first_biases_user_penalty(found) : 0;
    passes.item_penalty = code == 0 ? first_biases_item_penalty(found) : 0;
    for (int sweep = 0; sweep < SWEEPS && code == 0; sweep++) {
        code = pass(&passes, sweep_user, error);
        if (code == 0) sweep_items(&passes);
    }
    free(passes.totals);
    store_scan_free(&passes.scan);
    return code;
}
