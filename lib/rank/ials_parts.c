/*
 * Parts of a sweep of implicit least squares, for several ranks that each have some of the events:
 * what the events here pull with, products with the Gramian, and exact rows step by step. Fed by
 * ials_ranks.c and ials_ranks_exact.c, which add up what the ranks have.
 */
#include <string.h>

#include "base/error.h"
#include "rank/ials_state.h"

static void pull_rows(struct ials *ials, struct ials_work *work, const uint32_t *rows, size_t n) {
    const size_t width = ials->width, bytes = width * sizeof(float);
    const struct ials_part *part = &ials->part;
    for (size_t i = 0; i < n; i++) {
        memcpy(work->p + i * width, part->vectors + rows[i] * width, bytes);
        if (part->out) memcpy(work->q + i * width, part->out + rows[i] * width, bytes);
    }
    ials_pull_team(ials, work, rows, n, work->p, part->target, part->out ? work->q : NULL);
    for (size_t i = 0; i < n; i++) {
        part->sums[rows[i]] = work->sums[i];
        if (part->out) memcpy(part->out + rows[i] * width, work->q + i * width, bytes);
    }
}

static void work_on_pulls(void *self, int worker) {
    struct ials *ials = self;
    ials_work_on_teams(ials, worker, pull_rows);
}

int ials_pull_all(struct ials *ials, const float *vectors, float target, float *out, float *sums,
                  struct dpmf_error *error) {
    ials->part = (struct ials_part){.vectors = vectors, .target = target, .out = out, .sums = sums};
    ials_begin_work(ials);
    thread_pool_run(ials->pool, work_on_pulls, ials);
    return atomic_load(&ials->stopped) ? error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted")
                                       : 0;
}

static void work_on_products(void *self, int worker) {
    struct ials *ials = self;
    const struct ials_part *part = &ials->part;
    const size_t width = ials->width;
    const unsigned state = ials->kernels->flush_denormals();
    uint64_t first;
    while ((first = IALS_BATCH * atomic_fetch_add(&ials->next, 1)) < part->n) {
        const size_t n = part->n - first < IALS_BATCH ? (size_t)(part->n - first) : IALS_BATCH;
        ials_apply_common(ials, &ials->work[worker], n, part->vectors + first * width,
                          part->penalties + first);
        memcpy(part->out + first * width, ials->work[worker].q, n * width * sizeof(float));
    }
    ials->kernels->restore_denormals(state);
}

void ials_apply_all(struct ials *ials, const float *vectors, const float *penalties, size_t n,
                    float *out) {
    ials->part = (struct ials_part){.vectors = vectors, .penalties = penalties, .n = n, .out = out};
    ials_begin_work(ials);
    thread_pool_run(ials->pool, work_on_products, ials);
}

/* ---- the same of exact rows ------------------------------------------------------------------ */

static float *misses_of(const struct ials *ials, const struct ials_block *block, uint64_t i) {
    const uint64_t *start = ials->events->start;
    return block->misses + (start[block->first + i] - start[block->first]);
}

static float *own_row(const struct ials *ials, uint64_t row) {
    return ials->own->rows + row * ials->own->stride;
}

static void measure_row(struct ials *ials, struct ials_work *work, const struct ials_block *block,
                        uint64_t i) {
    const struct ials_exact exact = ials_exact_of(ials);
    const uint64_t row = block->first + i;
    (void)work;
    ials->squares[row] =
        ials_exact_misses(&exact, row, own_row(ials, row), misses_of(ials, block, i));
}

static void sum_row(struct ials *ials, struct ials_work *work, const struct ials_block *block,
                    uint64_t i) {
    const struct ials_exact exact = ials_exact_of(ials);
    struct ials_exact_room room = ials_room_of(work);
    ials_exact_sum(&exact, &room, block->first + i, misses_of(ials, block, i), block->at,
                   block->columns, block->sums + i * ials_exact_size(block->columns));
}

static void solve_row(struct ials *ials, struct ials_work *work, const struct ials_block *block,
                      uint64_t i) {
    const struct ials_exact exact = ials_exact_of(ials);
    struct ials_exact_room room = ials_room_of(work);
    const uint64_t j = block->own_first + i, row = block->first + j;
    if (!ials_exact_solve(&exact, &room, block->penalties[j], own_row(ials, row), block->at,
                          block->columns, block->sums + j * ials_exact_size(block->columns),
                          work->p))
        atomic_store(&ials->failed, true);
    memcpy(block->moves + j * block->columns, work->p, block->columns * sizeof(float));
}

static void move_row(struct ials *ials, struct ials_work *work, const struct ials_block *block,
                     uint64_t i) {
    const struct ials_exact exact = ials_exact_of(ials);
    const uint64_t row = block->first + i;
    /* moves are not aligned as kernels want them */
    memcpy(work->p, block->moves + i * block->columns, block->columns * sizeof(float));
    ials_exact_move(&exact, row, block->at, block->columns, work->p, own_row(ials, row),
                    misses_of(ials, block, i));
}

static void work_on_block(void *self, int worker) {
    struct ials *ials = self;
    const struct ials_part *part = &ials->part;
    const unsigned state = ials->kernels->flush_denormals();
    while (!atomic_load_explicit(&ials->stopped, memory_order_relaxed)) {
        const uint64_t i = atomic_fetch_add(&ials->next, 1);
        if (i >= part->n) break;
        part->block_row(ials, &ials->work[worker], part->block, i);
        if (ials->stop && ials->stop(ials->self)) atomic_store(&ials->stopped, true);
    }
    ials->kernels->restore_denormals(state);
}

int ials_block_do(struct ials *ials, const struct ials_block *block, enum ials_block_part what,
                  struct dpmf_error *error) {
    ials->part = (struct ials_part){
        .block = block,
        .n = what == IALS_BLOCK_SOLVE ? block->n_own : block->n,
        .block_row = what == IALS_BLOCK_MEASURE ? measure_row
                     : what == IALS_BLOCK_SUM   ? sum_row
                     : what == IALS_BLOCK_SOLVE ? solve_row
                                                : move_row,
    };
    ials_begin_work(ials);
    thread_pool_run(ials->pool, work_on_block, ials);
    if (atomic_load(&ials->stopped))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    if (atomic_load(&ials->failed)) return ials_error_unsolved(error);
    return 0;
}
