/*
 * The items of ials_ranks.h: a step of conjugate gradients is a sum over ranks to the owners of the
 * items, the owners' arithmetic, and a gathering of the directions. Fed by ials_train.c; works
 * through the parts of a sweep in ials.c.
 */
#include "rank/ials_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Vectors are a padded k apart. Those of all items; and those of the items that this rank owns. */
struct shared {
    struct ials *ials;
    const struct dpmf_cluster *cluster;
    struct factor_matrix *items;
    size_t width, n;     /* n: items */
    size_t first, n_own; /* what this rank owns */
    size_t *start;       /* n_ranks + 1: items by owner */
    size_t *place;       /* the same in floats, or in bytes, of something */
    float *p, *q, *sums; /* rows of all items */
    float *r, *common;   /* rows of this rank's own items */
    float *penalty, *square, *first_square;
};

static float *aligned(size_t n) {
    void *at = NULL;
    const size_t bytes = (n + KERNEL_ALIGN / sizeof(float)) * sizeof(float);
    if (posix_memalign(&at, KERNEL_ALIGN, bytes) != 0) return NULL;
    memset(at, 0, bytes);
    return at;
}

static int make(struct shared *shared, struct dpmf_error *error) {
    const size_t ranks = (size_t)cluster_size(shared->cluster), all = shared->n * shared->width;
    shared->start = memory_alloc(ranks + 1, sizeof *shared->start);
    shared->place = memory_alloc(ranks + 1, sizeof *shared->place);
    if (!shared->start || !shared->place) return error_no_memory(error);
    cluster_ranges(shared->cluster, shared->n, 1, shared->start);
    const size_t rank = (size_t)cluster_rank(shared->cluster);
    shared->first = shared->start[rank];
    shared->n_own = shared->start[rank + 1] - shared->first;
    shared->p = aligned(all);
    shared->q = aligned(all);
    shared->sums = aligned(shared->n);
    shared->r = aligned(shared->n_own * shared->width);
    shared->common = aligned(shared->n_own * shared->width);
    shared->penalty = aligned(shared->n_own);
    shared->square = aligned(shared->n_own);
    shared->first_square = aligned(shared->n_own);
    return shared->p && shared->q && shared->sums && shared->r && shared->common &&
                   shared->penalty && shared->square && shared->first_square
               ? 0
               : error_no_memory(error);
}

static void end(struct shared *shared) {
    free(shared->start);
    free(shared->place);
    free(shared->p);
    free(shared->q);
    free(shared->sums);
    free(shared->r);
    free(shared->common);
    free(shared->penalty);
    free(shared->square);
    free(shared->first_square);
}

uint64_t ials_ranks_bytes(const struct dpmf_cluster *cluster, const struct kernel_set *kernels,
                          uint32_t k, uint64_t n_items) {
    if (cluster_size(cluster) == 1) return 0;
    /* p and q of all items, and in the worst case r, `common` and a message; numbers beside */
    return n_items * (5 * kernels->padded_k(k) + 8) * sizeof(float);
}

/* ---- between ranks --------------------------------------------------------------------------- */

static const size_t *places(const struct shared *shared, size_t each) {
    for (int r = 0; r <= cluster_size(shared->cluster); r++)
        shared->place[r] = shared->start[r] * each;
    return shared->place;
}

static int gather(const struct shared *shared, float *rows, size_t stride,
                  struct dpmf_error *error) {
    return cluster_all_gather(shared->cluster, rows, places(shared, stride * sizeof(float)), error);
}

/* What all ranks' events pull p with: in q for the owner, or without `wants_q` only in `sums`. */
static int pull_everywhere(const struct shared *shared, float target, bool wants_q,
                           struct dpmf_error *error) {
    if (wants_q) memset(shared->q, 0, shared->n * shared->width * sizeof(float));
    int code = ials_pull_all(shared->ials, shared->p, target, wants_q ? shared->q : NULL,
                             shared->sums, error);
    return cluster_agree(shared->cluster, code, error);
}

static int reduce_q(const struct shared *shared, struct dpmf_error *error) {
    return cluster_reduce_floats(shared->cluster, shared->q, places(shared, shared->width), error);
}

/* ---- the owner's part ------------------------------------------------------------------------ */

/* q := -A p, with what the events gave in q by now; without them, what they give is in `sums`. */
static void add_common(const struct shared *shared, bool has_q) {
    const size_t n = shared->n_own * shared->width, from = shared->first * shared->width;
    ials_apply_all(shared->ials, shared->p + from, shared->penalty, shared->n_own, shared->common);
    for (size_t i = 0; i < n; i++)
        shared->q[from + i] = shared->common[i] + (has_q ? shared->q[from + i] : 0);
}

static void step_item(const struct shared *shared, size_t i, bool is_last) {
    const size_t width = shared->width, at = shared->first + i;
    float *x = shared->items->rows + at * shared->items->stride, *r = shared->r + i * width,
          *p = shared->p + at * width, *q = shared->q + at * width;
    const float before = shared->square[i];
    float curvature = -ials_dot(shared->ials, p, q);
    if (is_last) curvature += shared->sums[at];
    shared->square[i] = 0;
    if (before == 0 || !(curvature > 0)) {
        memset(p, 0, width * sizeof *p); /* it is where it will be */
        return;
    }
    const float length = before / curvature;
    for (size_t c = 0; c < width; c++) x[c] += length * p[c];
    if (is_last) return;
    for (size_t c = 0; c < width; c++) r[c] += length * q[c];
    shared->square[i] = ials_residual(shared->ials, r, shared->first_square[i]);
    const float turn = shared->square[i] / before;
    for (size_t c = 0; c < width; c++) p[c] = r[c] + turn * p[c];
}

/* ---- a sweep --------------------------------------------------------------------------------- */

/* The first residual, and the first direction along it. */
static int begin_items(const struct shared *shared, double *squares, struct dpmf_error *error) {
    const size_t width = shared->width, from = shared->first * width;
    for (size_t i = 0; i < shared->n; i++)
        memcpy(shared->p + i * width, shared->items->rows + i * shared->items->stride,
               width * sizeof(float));
    int code = pull_everywhere(shared, 1, true, error);
    *squares = 0;
    for (size_t i = 0; i < shared->n && code == 0; i++) *squares += (double)shared->sums[i];
    if (code == 0) code = cluster_sum_doubles(shared->cluster, squares, 1, error);
    if (code == 0) code = reduce_q(shared, error);
    if (code < 0) return code;
    add_common(shared, true);
    memcpy(shared->r, shared->q + from, shared->n_own * width * sizeof(float));
    memcpy(shared->p + from, shared->r, shared->n_own * width * sizeof(float));
    for (size_t i = 0; i < shared->n_own; i++)
        shared->square[i] = shared->first_square[i] =
            ials_residual(shared->ials, shared->r + i * width, 0);
    return gather(shared, shared->p, width, error);
}

static int step_items(const struct shared *shared, bool is_last, struct dpmf_error *error) {
    int code = pull_everywhere(shared, 0, !is_last, error);
    if (code == 0 && !is_last) code = reduce_q(shared, error);
    if (code == 0 && is_last)
        code = cluster_reduce_floats(shared->cluster, shared->sums, places(shared, 1), error);
    if (code < 0) return code;
    add_common(shared, !is_last);
    for (size_t i = 0; i < shared->n_own; i++) step_item(shared, i, is_last);
    return is_last ? gather(shared, shared->items->rows, shared->items->stride, error)
                   : gather(shared, shared->p, shared->width, error);
}

static int sweep(struct shared *shared, const struct ials_totals *totals, double *squares,
                 struct dpmf_error *error) {
    const struct ials_rule *rule = ials_rule(shared->ials);
    int code = 0;
    for (size_t i = 0; i < shared->n_own; i++)
        shared->penalty[i] =
            (float)ials_penalty(rule, totals->item_events[shared->first + i], totals->n_users);
    code = begin_items(shared, squares, error);
    for (uint32_t step = 1; step <= rule->steps && code == 0; step++)
        code = step_items(shared, step == rule->steps, error);
    return code;
}

int ials_ranks_sweep_items(struct ials *ials, const struct event_side *events,
                           struct factor_matrix *items, struct factor_matrix *users,
                           const struct ials_totals *totals, const struct dpmf_cluster *cluster,
                           bool (*stop)(void *self), void *self, double *squares,
                           struct dpmf_error *error) {
    if (cluster_size(cluster) == 1)
        return ials_sweep(ials, events, items, users, stop, self, squares, error);
    if (ials_rule(ials)->steps == 0) {
        int code = ials_begin(ials, events, items, users, cluster, stop, self, error);
        return code < 0 ? code
                        : ials_ranks_solve_items(ials, events, totals, cluster, squares, error);
    }
    struct shared shared = {
        .ials = ials,
        .cluster = cluster,
        .items = items,
        .width = ials_width(ials),
        .n = (size_t)items->n,
    };
    int code = cluster_agree(cluster, make(&shared, error), error);
    if (code == 0) code = ials_begin(ials, events, items, users, cluster, stop, self, error);
    if (code == 0) code = sweep(&shared, totals, squares, error);
    end(&shared);
    return code;
}
