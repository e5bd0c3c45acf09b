/*
 * The sweeps of ials.h. Threads take a team of rows at a time. What takes time is bringing the
 * other side's rows to the processor, once for every event and step, above all from memory, and the
 * products with the Gramian, one for every row and step. As a rule a sweep is in a basis in which
 * the Gramian is tridiagonal, so that these products cost next to nothing: the other side and the
 * rows of a team are taken there, rows are solved for one after the other, each with all that its
 * events need in the second cache for all steps, and both sides stay there: every orthogonal basis
 * is as good. Where finding that basis would cost more than it saves, the conjugate gradients of a
 * team go in step, and each product with the Gramian is of a matrix and several vectors; a team is
 * as many rows as have all their events' rows in the last cache together. In either case, where the
 * other side is larger than that cache, rows with many events go in step through it in slices that
 * fit in the second cache, which come from memory once a step for all of the team. While a row that
 * is not sliced is gone through again, memory is asked for what the next one needs. What is
 * computed for a row depends on its own events alone, not on its team. Fed by event_rows and a
 * model's rows; feeds ials_train.c.
 */
#include "rank/ials.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "rank/ials_state.h"

enum {
    PIECE = IALS_EXACT_PIECE, /* rows that are summed in floats */
    PARTS = 16, /* parts of the Gramian, each summed by one thread, for any number of threads */
};

/* ---- memory ---------------------------------------------------------------------------------- */

static float *floats(size_t n) {
    void *at = NULL;
    if (posix_memalign(&at, KERNEL_ALIGN, (n + 1) * sizeof(float)) != 0) return NULL;
    memset(at, 0, (n + 1) * sizeof(float));
    return at;
}

static bool make_work(const struct ials *ials, struct ials_work *work) {
    const size_t vectors = IALS_TEAM * ials->width, square = ials->width * ials->width;
    work->x = floats(vectors);
    work->r = floats(vectors);
    work->p = floats(vectors);
    work->q = floats(vectors);
    work->piece = floats(PIECE * ials->width);
    work->square = floats(square);
    const bool made = work->x && work->r && work->p && work->q && work->piece && work->square;
    if (ials->rule.steps > 0) return made;
    work->right = memory_alloc(ials_exact_size(ials->width), sizeof(double));
    work->matrix = memory_alloc_zero(square, sizeof(double));
    return made && work->right && work->matrix;
}

static void free_work(struct ials_work *work) {
    free(work->x);
    free(work->r);
    free(work->p);
    free(work->q);
    free(work->piece);
    free(work->square);
    free(work->matrix);
    free(work->right);
    free(work->misses);
}

/* Three eighths of the second cache: of the rest, as much is for the row that is at hand. */
static int find_ahead(struct ials *ials, struct dpmf_error *error) {
    struct host_caches caches;
    int code = host_caches_read(&caches, error);
    if (code == 0) ials->ahead_bytes = (uint64_t)caches.l2 / 8 * 3;
    return code;
}

int ials_init(struct ials **out, const struct kernel_set *kernels, uint32_t k,
              const struct ials_rule *rule, struct thread_pool *pool, struct dpmf_error *error) {
    struct ials *ials = memory_alloc_zero(1, sizeof *ials);
    *out = ials;
    if (!ials) return error_no_memory(error);
    ials->kernels = kernels;
    ials->k = k;
    ials->width = kernels->padded_k(k);
    ials->rule = *rule;
    ials->pool = pool;
    ials->n_work = thread_pool_size(pool);
    int code = find_ahead(ials, error);
    if (code < 0) {
        ials_free(ials);
        *out = NULL;
        return code;
    }
    const size_t square = ials->width * ials->width;
    ials->work = memory_alloc_zero((size_t)ials->n_work, sizeof *ials->work);
    ials->parts = memory_alloc_zero(square, PARTS * sizeof(double));
    ials->gramian = memory_alloc_zero(square, sizeof(double));
    ials->gramian32 = floats(square);
    bool done = ials->work && ials->parts && ials->gramian && ials->gramian32 &&
                ials_basis_init(&ials->basis, ials->width);
    for (int i = 0; done && i < ials->n_work; i++) done = make_work(ials, &ials->work[i]);
    if (done) return 0;
    ials_free(ials);
    *out = NULL;
    return error_no_memory(error);
}

void ials_free(struct ials *ials) {
    if (!ials) return;
    for (int i = 0; ials->work && i < ials->n_work; i++) free_work(&ials->work[i]);
    free(ials->work);
    free(ials->parts);
    free(ials->gramian);
    free(ials->gramian32);
    ials_basis_free(&ials->basis);
    free(ials->squares);
    for (size_t i = 0; i < 2; i++) ials_plan_free(&ials->plans[i]);
    free(ials);
}

uint64_t ials_bytes(const struct kernel_set *kernels, uint32_t k, int threads) {
    const uint64_t width = kernels->padded_k(k), square = width * width;
    const uint64_t each = (4 * IALS_TEAM + PIECE) * width * sizeof(float) +
                          square * (sizeof(float) + sizeof(double)) +
                          ials_exact_size((size_t)width) * sizeof(double);
    return (uint64_t)threads * each + square * ((PARTS + 1) * sizeof(double) + sizeof(float)) +
           ials_basis_bytes((size_t)width);
}

/* ---- the Gramian ----------------------------------------------------------------------------- */

/* Adds the products of n rows of k columns, that lie one after the other in `piece`, to the lower
 * half of a matrix. */
static void add_products(const struct ials *ials, const struct ials_work *work, size_t n, size_t k,
                         double *matrix) {
    ials->kernels->gram(work->piece, n, k, work->square);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) matrix[a * k + b] += (double)work->square[a * k + b];
}

static void sum_part(const struct ials *ials, struct ials_work *work,
                     const struct factor_matrix *rows, size_t part) {
    const size_t width = ials->width;
    double *sum = ials->parts + part * width * width;
    const uint64_t first = rows->n * part / PARTS, end = rows->n * (part + 1) / PARTS;
    memset(sum, 0, width * width * sizeof *sum);
    for (uint64_t i = first; i < end; i += PIECE) {
        const size_t n = (size_t)(end - i < PIECE ? end - i : PIECE);
        for (size_t j = 0; j < n; j++)
            memcpy(work->piece + j * width, rows->rows + (i + j) * rows->stride,
                   width * sizeof(float));
        add_products(ials, work, n, width, sum);
    }
}

static void sum_parts(void *self, int worker) {
    struct ials *ials = self;
    uint64_t part;
    while ((part = atomic_fetch_add(&ials->next, 1)) < PARTS)
        sum_part(ials, &ials->work[worker], ials->other, (size_t)part);
}

void ials_gramian(struct ials *ials, const struct factor_matrix *rows, double *gramian) {
    const size_t width = ials->width;
    ials->other = rows;
    atomic_store(&ials->next, 0);
    thread_pool_run(ials->pool, sum_parts, ials);
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t part = 0; part < PARTS; part++)
                sum += ials->parts[part * width * width + a * width + b];
            gramian[a * width + b] = gramian[b * width + a] = sum;
        }
}

/* ---- exact rows ------------------------------------------------------------------------------ */

struct ials_exact ials_exact_of(const struct ials *ials) {
    return (struct ials_exact){
        .kernels = ials->kernels,
        .width = ials->width,
        .gramian = ials->gramian,
        .events = ials->events,
        .other = ials->other,
    };
}

struct ials_exact_room ials_room_of(const struct ials_work *work) {
    return (struct ials_exact_room){work->piece, work->square, work->matrix};
}

/* The same by Cholesky, block by block. @return whether it could be solved for */
static bool solve_directly(const struct ials *ials, struct ials_work *work, uint64_t row) {
    const struct ials_exact exact = ials_exact_of(ials);
    struct ials_exact_room room = ials_room_of(work);
    const size_t width = ials->width, most = ials_exact_columns(width, ials->rule.block);
    const double penalty = ials_row_penalty(ials, row);
    float *x = ials->own->rows + row * ials->own->stride;
    ials->squares[row] = ials_exact_misses(&exact, row, x, work->misses);
    for (size_t at = 0, columns; at < width; at += columns) {
        columns = width - at < most ? width - at : most;
        ials_exact_sum(&exact, &room, row, work->misses, at, columns, work->right);
        if (!ials_exact_solve(&exact, &room, penalty, x, at, columns, work->right, work->p))
            return false;
        ials_exact_move(&exact, row, at, columns, work->p, x,
                        at + columns < width ? work->misses : NULL);
    }
    return true;
}

/* ---- a sweep --------------------------------------------------------------------------------- */

/* The plan of the sweep's side, made when the side is seen first. */
static int find_plan(struct ials *ials, struct dpmf_error *error) {
    struct ials_plan *plans = ials->plans;
    size_t i = 0;
    while (i < 2 && plans[i].events && plans[i].events != ials->events) i++;
    if (i == 2) i = 0;
    ials->plan = &plans[i];
    if (plans[i].events == ials->events && plans[i].n_other == ials->other->n &&
        plans[i].in_step == !ials->is_turned)
        return 0;
    return ials_plan_make(&plans[i], ials->events, ials->other->n, ials->width, !ials->is_turned,
                          ials->n_work, error);
}

static void solve_rows(struct ials *ials, struct ials_work *work, const uint32_t *rows, size_t n) {
    if (ials->rule.steps > 0) {
        ials_solve_team(ials, work, rows, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!solve_directly(ials, work, rows[i])) atomic_store(&ials->failed, true);
}

void ials_work_on_teams(struct ials *ials, int worker,
                        void (*team_work)(struct ials *, struct ials_work *, const uint32_t *rows,
                                          size_t n)) {
    const struct ials_plan *plan = ials->plan;
    const unsigned state = ials->kernels->flush_denormals();
    while (!atomic_load_explicit(&ials->stopped, memory_order_relaxed)) {
        const uint64_t team = atomic_fetch_add(&ials->next, 1);
        if (team >= plan->n_teams) break;
        const uint32_t first = plan->team[team], end = plan->team[team + 1];
        team_work(ials, &ials->work[worker], plan->order + first, end - first);
        if (ials->stop && ials->stop(ials->self)) atomic_store(&ials->stopped, true);
    }
    ials->kernels->restore_denormals(state);
}

static void work_on(void *self, int worker) { ials_work_on_teams(self, worker, solve_rows); }

static int make_squares(struct ials *ials, struct dpmf_error *error) {
    if (ials->squares_n >= ials->own->n) return 0;
    free(ials->squares);
    ials->squares = memory_alloc((size_t)ials->own->n, sizeof *ials->squares);
    ials->squares_n = ials->squares ? ials->own->n : 0;
    return ials->squares ? 0 : error_no_memory(error);
}

/* Room for the misses of the row with the most events, in each thread. */
static int make_misses(struct ials *ials, struct dpmf_error *error) {
    const struct ials_plan *plan = ials->plan;
    if (ials->rule.steps > 0 || plan->events->n == 0) return 0;
    const uint64_t most = ials_n_events(plan->events, plan->order[0]);
    for (int i = 0; i < ials->n_work; i++) {
        free(ials->work[i].misses);
        ials->work[i].misses = memory_alloc((size_t)most + 1, sizeof(float));
        if (!ials->work[i].misses) return error_no_memory(error);
    }
    return 0;
}

static int begin_sweep(struct ials *ials, const struct dpmf_cluster *cluster,
                       struct dpmf_error *error) {
    const size_t width = ials->width;
    int code = find_plan(ials, error);
    if (code == 0) code = make_squares(ials, error);
    if (code == 0) code = make_misses(ials, error);
    code = cluster_agree(cluster, code, error);
    if (code < 0) return code;
    ials_gramian(ials, ials->other, ials->gramian);
    code = cluster_sum_doubles(cluster, ials->gramian, width * width, error);
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b < width; b++) {
            ials->gramian[a * width + b] *= ials->rule.unobserved;
            ials->gramian32[kernel_panel_at(width, a, b)] = (float)ials->gramian[a * width + b];
        }
    return code;
}

/* ---- another basis --------------------------------------------------------------------------- */

/* Whether a sweep is in the basis in which the Gramian is tridiagonal: each row of either side is
 * taken there, in place of a product with the Gramian a step. It pays where that and finding the
 * basis cost little beside the events. */
static bool should_turn(const struct ials *ials) {
    const double k = (double)ials->width, n_other = (double)ials->other->n;
    const double n_events = ials->rule.events_share > 0
                                ? ials->rule.events_share
                                : (double)ials->events->start[ials->events->n];
    return ials->rule.steps > 0 && !ials->rule.stays && k * (n_other + 32 * k) <= 4 * n_events;
}

/* Takes n rows of a side there, up to a team: those that are given, or from `first` on. */
static void turn_team(const struct ials *ials, struct ials_work *work, struct factor_matrix *side,
                      const uint32_t *rows, uint64_t first, size_t n) {
    const size_t width = ials->width, bytes = width * sizeof(float);
    for (size_t i = 0; i < n; i++)
        memcpy(work->p + i * width, side->rows + (rows ? rows[i] : first + i) * side->stride,
               bytes);
    ials->kernels->times(ials->basis.there, work->p, n, width, work->q);
    for (size_t i = 0; i < n; i++)
        memcpy(side->rows + (rows ? rows[i] : first + i) * side->stride, work->q + i * width,
               bytes);
}

static void turn_rows(void *self, int worker) {
    struct ials *ials = self;
    const unsigned state = ials->kernels->flush_denormals();
    uint64_t first;
    while ((first = IALS_BATCH * atomic_fetch_add(&ials->next, 1)) < ials->turning->n) {
        const uint64_t left = ials->turning->n - first;
        turn_team(ials, &ials->work[worker], ials->turning, NULL, first,
                  left < IALS_BATCH ? (size_t)left : IALS_BATCH);
    }
    ials->kernels->restore_denormals(state);
}

void ials_begin_work(struct ials *ials) {
    atomic_store(&ials->stopped, false);
    atomic_store(&ials->failed, false);
    atomic_store(&ials->next, 0);
}

static void turn(struct ials *ials, struct factor_matrix *other) {
    ials_basis_find(&ials->basis, ials->gramian);
    ials->turning = other;
    ials_begin_work(ials);
    thread_pool_run(ials->pool, turn_rows, ials);
}

/* After a sweep that was stopped: the rows that it did not come to are taken to where the others
 * are. */
static void turn_rest(struct ials *ials) {
    const struct ials_plan *plan = ials->plan;
    for (uint64_t team = atomic_load(&ials->next); team < plan->n_teams; team++)
        turn_team(ials, &ials->work[0], ials->own, plan->order + plan->team[team], 0,
                  plan->team[team + 1] - plan->team[team]);
}

static void set_sides(struct ials *ials, const struct event_side *events, struct factor_matrix *own,
                      const struct factor_matrix *other, bool (*stop)(void *self), void *self) {
    ials->events = events;
    ials->own = own;
    ials->other = other;
    ials->is_turned = false;
    ials->stop = stop;
    ials->self = self;
}

int ials_error_unsolved(struct dpmf_error *error) {
    return error_set(error, DPMF_ERR_TRAIN_DIVERGED, "a row could not be solved for");
}

int ials_sweep(struct ials *ials, const struct event_side *events, struct factor_matrix *own,
               struct factor_matrix *other, bool (*stop)(void *self), void *self, double *squares,
               struct dpmf_error *error) {
    set_sides(ials, events, own, other, stop, self);
    ials->is_turned = should_turn(ials);
    int code = begin_sweep(ials, NULL, error);
    if (code < 0) return code;
    if (ials->is_turned) turn(ials, other);
    ials_begin_work(ials);
    thread_pool_run(ials->pool, work_on, ials);
    if (atomic_load(&ials->stopped) && ials->is_turned) turn_rest(ials);
    if (atomic_load(&ials->stopped))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    if (atomic_load(&ials->failed)) return ials_error_unsolved(error);
    if (squares) *squares = ials_squares(ials);
    return 0;
}

int ials_begin(struct ials *ials, const struct event_side *events, struct factor_matrix *own,
               const struct factor_matrix *other, const struct dpmf_cluster *cluster,
               bool (*stop)(void *self), void *self, struct dpmf_error *error) {
    set_sides(ials, events, own, other, stop, self);
    return begin_sweep(ials, cluster, error);
}

double ials_squares(const struct ials *ials) {
    double sum = 0;
    for (uint64_t i = 0; i < ials->own->n; i++) sum += (double)ials->squares[i];
    return sum;
}

size_t ials_width(const struct ials *ials) { return ials->width; }

const struct ials_rule *ials_rule(const struct ials *ials) { return &ials->rule; }
