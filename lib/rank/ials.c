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

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "rank/ials_basis.h"
#include "rank/ials_exact.h"
#include "rank/ials_plan.h"

enum {
    TEAM = IALS_TEAM,
    BATCH = IALS_BATCH,
    PIECE = IALS_EXACT_PIECE, /* rows that are summed in floats */
    AHEAD = 32,               /* how far ahead a long row's events are asked for */
    PARTS = 16, /* parts of the Gramian, each summed by one thread, for any number of threads */
};

/* What a thread works with: TEAM vectors each, a padded k apart. */
struct work {
    float *x, *r, *p, *q;
    float *piece, *square;  /* PIECE rows, k x k */
    double *matrix, *right; /* for Cholesky alone: a matrix, and the sums of a row */
    float *misses;          /* the same: 1 - u.v of each event of a row */
    uint64_t next[TEAM];    /* events not yet gone through */
    float sums[TEAM];       /* what they pulled with so far */
    const uint32_t *ask;    /* rows of the other side that will be wanted next */
    size_t n_ask;
};

/* What threads do for a part of a sweep. */
struct part {
    const float *vectors, *penalties;
    float target;
    float *out, *sums;
    uint64_t n;
    const struct ials_block *block;
    void (*block_row)(struct ials *ials, struct work *work, const struct ials_block *block,
                      uint64_t i);
};

struct ials {
    const struct kernel_set *kernels;
    size_t k, width; /* width: k padded */
    struct ials_rule rule;
    struct thread_pool *pool;
    int n_work;
    struct work *work;
    uint64_t ahead_bytes; /* rows that may be asked for ahead; a matter of speed alone */
    double *parts;        /* PARTS Gramians */
    double *gramian;      /* alpha G, in doubles and in floats */
    float *gramian32;

    bool is_turned; /* the sweep is in another basis */
    struct ials_basis basis;

    struct ials_plan plans[2]; /* plans of the sides seen so far: there are two */

    /* The sweep under way. */
    struct part part;
    const struct ials_plan *plan;
    const struct event_side *events;
    struct factor_matrix *own, *turning; /* turning: what is taken to the basis */
    const struct factor_matrix *other;
    float *squares; /* by row */
    uint64_t squares_n;
    bool (*stop)(void *self);
    void *self;
    atomic_uint_fast64_t next;
    atomic_bool stopped, failed;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static float *floats(size_t n) {
    void *at = NULL;
    if (posix_memalign(&at, KERNEL_ALIGN, (n + 1) * sizeof(float)) != 0) return NULL;
    memset(at, 0, (n + 1) * sizeof(float));
    return at;
}

static bool make_work(const struct ials *ials, struct work *work) {
    const size_t vectors = TEAM * ials->width, square = ials->width * ials->width;
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

static void free_work(struct work *work) {
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
    const uint64_t each = (4 * TEAM + PIECE) * width * sizeof(float) +
                          square * (sizeof(float) + sizeof(double)) +
                          ials_exact_size((size_t)width) * sizeof(double);
    return (uint64_t)threads * each + square * ((PARTS + 1) * sizeof(double) + sizeof(float)) +
           ials_basis_bytes((size_t)width);
}

/* ---- the Gramian ----------------------------------------------------------------------------- */

/* Adds the products of n rows of k columns, that lie one after the other in `piece`, to the lower
 * half of a matrix. */
static void add_products(const struct ials *ials, const struct work *work, size_t n, size_t k,
                         double *matrix) {
    ials->kernels->gram(work->piece, n, k, work->square);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) matrix[a * k + b] += (double)work->square[a * k + b];
}

static void sum_part(const struct ials *ials, struct work *work, const struct factor_matrix *rows,
                     size_t part) {
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

/* ---- rows ------------------------------------------------------------------------------------ */

double ials_penalty(const struct ials_rule *rule, uint64_t n_events, uint64_t n_other) {
    return rule->penalty *
           pow((double)n_events + rule->unobserved * (double)n_other, rule->exponent);
}

static double penalty_of(const struct ials *ials, uint64_t row) {
    const uint64_t n = ials->events->start[row + 1] - ials->events->start[row];
    return ials_penalty(&ials->rule, n, ials->other->n);
}

static uint64_t n_events_of(const struct event_side *events, uint64_t row) {
    return events->start[row + 1] - events->start[row];
}

static struct kernel_events events_from(const struct ials *ials, uint64_t first, uint64_t end) {
    const struct event_side *events = ials->events;
    return (struct kernel_events){
        .rows = ials->other->rows,
        .stride = ials->other->stride,
        .at = events->other + first,
        .weights = events->weight ? events->weight + first : NULL,
        .n = (size_t)(end - first),
    };
}

/* Whether the second cache has room for the rows of a row's events beside those of another. */
static bool is_short(const struct ials *ials, uint64_t row) {
    return n_events_of(ials->events, row) * ials->width * sizeof(float) <= ials->ahead_bytes;
}

/* What the events of a row pull with. The first pass through them is the one that waits for memory:
 * so while a short row is gone through again, the rows of the next one's events are asked for, half
 * as many as it has itself a pass; while a long row is gone through first, its own. */
static float pull(const struct ials *ials, struct work *work, uint64_t row, const float *x,
                  float target, float *out) {
    const uint64_t *start = ials->events->start;
    struct kernel_events events = events_from(ials, start[row], start[row + 1]);
    if (target == 0 && work->n_ask > 0) {
        const size_t half = (events.n + 1) / 2;
        events.next = work->ask;
        events.n_next = work->n_ask < half ? work->n_ask : half;
        work->ask += events.n_next;
        work->n_ask -= events.n_next;
    } else if (target != 0 && !is_short(ials, row) && events.n > AHEAD) {
        events.next = events.at + AHEAD;
        events.n_next = events.n - AHEAD;
    }
    return ials->kernels->pull(x, target, &events, ials->width, out);
}

static bool is_sliced(const struct ials *ials, uint64_t row) {
    return ials_plan_slices(ials->plan, n_events_of(ials->events, row));
}

/* One slice of the other side, up to row `end` of it, for all rows of a team. */
static void pull_slice(const struct ials *ials, struct work *work, const uint32_t *rows, size_t n,
                       uint64_t end, const float *vectors, float target, float *out) {
    const struct event_side *events = ials->events;
    for (size_t i = 0; i < n; i++) {
        const uint64_t from = work->next[i], last = events->start[rows[i] + 1];
        uint64_t to = from;
        while (to < last && events->other[to] < end) to++;
        if (to == from) continue;
        const struct kernel_events some = events_from(ials, from, to);
        work->sums[i] += ials->kernels->pull(vectors + i * ials->width, target, &some, ials->width,
                                             out ? out + i * ials->width : NULL);
        work->next[i] = to;
    }
}

/* The pull of all events of a team's rows on their vectors; work->sums becomes what each row's
 * pulled with. */
static void pull_team(const struct ials *ials, struct work *work, const uint32_t *rows, size_t n,
                      const float *vectors, float target, float *out) {
    const uint64_t *start = ials->events->start, slice = ials_plan_slice_rows(ials->plan);
    if (!is_sliced(ials, rows[0])) {
        for (size_t i = 0; i < n; i++)
            work->sums[i] = pull(ials, work, rows[i], vectors + i * ials->width, target,
                                 out ? out + i * ials->width : NULL);
        return;
    }
    memset(work->sums, 0, n * sizeof work->sums[0]);
    for (size_t i = 0; i < n; i++) work->next[i] = start[rows[i]];
    for (uint64_t end = slice; end < ials->other->n + slice; end += slice)
        pull_slice(ials, work, rows, n, end, vectors, target, out);
}

static float dot(const struct ials *ials, const float *a, const float *b) {
    return ials->kernels->dot(a, b, ials->width);
}

/* q := -(alpha G + penalty) p for all vectors of a team. */
static void apply_common(const struct ials *ials, struct work *work, size_t n, const float *vectors,
                         const float *penalties) {
    const size_t width = ials->width;
    if (ials->is_turned) {
        for (size_t i = 0; i < n; i++)
            ials_basis_apply(&ials->basis, vectors + i * width, penalties[i], work->q + i * width);
        return;
    }
    ials->kernels->times(ials->gramian32, vectors, n, width, work->q);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < width; c++)
            work->q[i * width + c] =
                -work->q[i * width + c] - penalties[i] * vectors[i * width + c];
}

/* A residual of this square, or of this share of the first one's square, is rounding: steps along
 * it lead anywhere. */
static const float least_square = 1e-24f, least_share = 1e-12f;

static float square_of(const struct ials *ials, const float *r, float first) {
    const float square = dot(ials, r, r);
    return square > least_square && square > least_share * first ? square : 0;
}

/* One step along p for a row, where q is -A p and the curvature p.A p; r is left alone where there
 * will be no other step.
 * @return r.r */
static float step_row(const struct ials *ials, struct work *work, float *x, size_t i,
                      float curvature, float before, float first, bool is_last) {
    const size_t width = ials->width;
    float *r = work->r + i * width, *p = work->p + i * width, *q = work->q + i * width;
    if (before == 0 || !(curvature > 0)) return 0;
    const float length = before / curvature;
    for (size_t c = 0; c < width; c++) x[c] += length * p[c];
    if (is_last) return 0;
    for (size_t c = 0; c < width; c++) r[c] += length * q[c];
    const float after = square_of(ials, r, first), turn = after / before;
    for (size_t c = 0; c < width; c++) p[c] = r[c] + turn * p[c];
    return after;
}

/* One step of all rows of a team. Of the last one only the curvature is needed, and not the events'
 * part of q. */
static void step_team(const struct ials *ials, struct work *work, const uint32_t *rows, size_t n,
                      float *x, const float *penalties, const float *first_squares, float *squares,
                      bool is_last) {
    const size_t width = ials->width;
    apply_common(ials, work, n, work->p, penalties);
    pull_team(ials, work, rows, n, work->p, 0, is_last ? NULL : work->q);
    for (size_t i = 0; i < n; i++) {
        float curvature = -dot(ials, work->p + i * width, work->q + i * width);
        if (is_last) curvature += work->sums[i];
        squares[i] = step_row(ials, work, x + i * width, i, curvature, squares[i], first_squares[i],
                              is_last);
    }
}

/* Conjugate gradients for up to TEAM rows, from where they are: x. */
static void descend(const struct ials *ials, struct work *work, const uint32_t *rows, size_t n,
                    float *x) {
    const size_t width = ials->width;
    float penalties[TEAM] = {0}, squares[TEAM], first_squares[TEAM];
    for (size_t i = 0; i < n; i++) penalties[i] = (float)penalty_of(ials, rows[i]);
    apply_common(ials, work, n, x, penalties);
    memcpy(work->r, work->q, n * width * sizeof(float));
    pull_team(ials, work, rows, n, x, 1, work->r);
    for (size_t i = 0; i < n; i++) ials->squares[rows[i]] = work->sums[i];
    memcpy(work->p, work->r, n * width * sizeof(float));
    for (size_t i = 0; i < n; i++)
        squares[i] = first_squares[i] = square_of(ials, work->r + i * width, 0);
    for (uint32_t step = 1; step <= ials->rule.steps; step++)
        step_team(ials, work, rows, n, x, penalties, first_squares, squares,
                  step == ials->rule.steps);
}

/* The rows of this row's events will be wanted next; the cache could not keep those of a long
 * one. */
static void ask_for(const struct ials *ials, struct work *work, uint64_t row) {
    work->ask = ials->events->other + ials->events->start[row];
    work->n_ask = is_short(ials, row) ? (size_t)n_events_of(ials->events, row) : 0;
}

/* The rows of a team: in step, or, where they would share neither a product with the Gramian nor
 * slices, one after the other. */
static void solve_team(const struct ials *ials, struct work *work, const uint32_t *rows, size_t n) {
    const size_t width = ials->width, stride = ials->own->stride, bytes = width * sizeof(float);
    float *x = work->x;
    for (size_t i = 0; i < n; i++)
        memcpy((ials->is_turned ? work->q : x) + i * width, ials->own->rows + rows[i] * stride,
               bytes);
    for (size_t i = 0; ials->is_turned && i < n; i += BATCH)
        ials->kernels->times(ials->basis.there, work->q + i * width, n - i < BATCH ? n - i : BATCH,
                             width, x + i * width);
    if (!ials->is_turned || is_sliced(ials, rows[0]))
        descend(ials, work, rows, n, x);
    else
        for (size_t i = 0; i < n; i++) {
            if (i + 1 < n) ask_for(ials, work, rows[i + 1]);
            descend(ials, work, rows + i, 1, x + i * width);
        }
    work->n_ask = 0;
    for (size_t i = 0; i < n; i++) memcpy(ials->own->rows + rows[i] * stride, x + i * width, bytes);
}

/* ---- exact rows ------------------------------------------------------------------------------ */

static struct ials_exact exact_of(const struct ials *ials) {
    return (struct ials_exact){
        .kernels = ials->kernels,
        .width = ials->width,
        .gramian = ials->gramian,
        .events = ials->events,
        .other = ials->other,
    };
}

static struct ials_exact_room room_of(const struct work *work) {
    return (struct ials_exact_room){work->piece, work->square, work->matrix};
}

/* The same by Cholesky, block by block. @return whether it could be solved for */
static bool solve_directly(const struct ials *ials, struct work *work, uint64_t row) {
    const struct ials_exact exact = exact_of(ials);
    struct ials_exact_room room = room_of(work);
    const size_t width = ials->width, most = ials_exact_columns(width, ials->rule.block);
    const double penalty = penalty_of(ials, row);
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

static void solve_rows(struct ials *ials, struct work *work, const uint32_t *rows, size_t n) {
    if (ials->rule.steps > 0) {
        solve_team(ials, work, rows, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!solve_directly(ials, work, rows[i])) atomic_store(&ials->failed, true);
}

static void work_on_teams(struct ials *ials, int worker,
                          void (*team_work)(struct ials *, struct work *, const uint32_t *rows,
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

static void work_on(void *self, int worker) { work_on_teams(self, worker, solve_rows); }

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
    const uint64_t most = n_events_of(plan->events, plan->order[0]);
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
    return ials->rule.steps > 0 && k * (n_other + 32 * k) <= 4 * n_events;
}

/* Takes n rows of a side there, up to a team: those that are given, or from `first` on. */
static void turn_team(const struct ials *ials, struct work *work, struct factor_matrix *side,
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
    while ((first = BATCH * atomic_fetch_add(&ials->next, 1)) < ials->turning->n) {
        const uint64_t left = ials->turning->n - first;
        turn_team(ials, &ials->work[worker], ials->turning, NULL, first,
                  left < BATCH ? (size_t)left : BATCH);
    }
    ials->kernels->restore_denormals(state);
}

static void begin_work(struct ials *ials) {
    atomic_store(&ials->stopped, false);
    atomic_store(&ials->failed, false);
    atomic_store(&ials->next, 0);
}

static void turn(struct ials *ials, struct factor_matrix *other) {
    ials_basis_find(&ials->basis, ials->gramian);
    ials->turning = other;
    begin_work(ials);
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

static int error_unsolved(struct dpmf_error *error) {
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
    begin_work(ials);
    thread_pool_run(ials->pool, work_on, ials);
    if (atomic_load(&ials->stopped) && ials->is_turned) turn_rest(ials);
    if (atomic_load(&ials->stopped))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    if (atomic_load(&ials->failed)) return error_unsolved(error);
    if (squares) *squares = ials_squares(ials);
    return 0;
}

/* ---- parts of a sweep ------------------------------------------------------------------------ */

size_t ials_width(const struct ials *ials) { return ials->width; }

const struct ials_rule *ials_rule(const struct ials *ials) { return &ials->rule; }

float ials_dot(const struct ials *ials, const float *a, const float *b) { return dot(ials, a, b); }

float ials_residual(const struct ials *ials, const float *r, float first) {
    return square_of(ials, r, first);
}

int ials_begin(struct ials *ials, const struct event_side *events, struct factor_matrix *own,
               const struct factor_matrix *other, const struct dpmf_cluster *cluster,
               bool (*stop)(void *self), void *self, struct dpmf_error *error) {
    set_sides(ials, events, own, other, stop, self);
    return begin_sweep(ials, cluster, error);
}

static void pull_rows(struct ials *ials, struct work *work, const uint32_t *rows, size_t n) {
    const size_t width = ials->width, bytes = width * sizeof(float);
    const struct part *part = &ials->part;
    for (size_t i = 0; i < n; i++) {
        memcpy(work->p + i * width, part->vectors + rows[i] * width, bytes);
        if (part->out) memcpy(work->q + i * width, part->out + rows[i] * width, bytes);
    }
    pull_team(ials, work, rows, n, work->p, part->target, part->out ? work->q : NULL);
    for (size_t i = 0; i < n; i++) {
        part->sums[rows[i]] = work->sums[i];
        if (part->out) memcpy(part->out + rows[i] * width, work->q + i * width, bytes);
    }
}

static void work_on_pulls(void *self, int worker) {
    struct ials *ials = self;
    work_on_teams(ials, worker, pull_rows);
}

int ials_pull_all(struct ials *ials, const float *vectors, float target, float *out, float *sums,
                  struct dpmf_error *error) {
    ials->part = (struct part){.vectors = vectors, .target = target, .out = out, .sums = sums};
    begin_work(ials);
    thread_pool_run(ials->pool, work_on_pulls, ials);
    return atomic_load(&ials->stopped) ? error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted")
                                       : 0;
}

static void work_on_products(void *self, int worker) {
    struct ials *ials = self;
    const struct part *part = &ials->part;
    const size_t width = ials->width;
    const unsigned state = ials->kernels->flush_denormals();
    uint64_t first;
    while ((first = BATCH * atomic_fetch_add(&ials->next, 1)) < part->n) {
        const size_t n = part->n - first < BATCH ? (size_t)(part->n - first) : BATCH;
        apply_common(ials, &ials->work[worker], n, part->vectors + first * width,
                     part->penalties + first);
        memcpy(part->out + first * width, ials->work[worker].q, n * width * sizeof(float));
    }
    ials->kernels->restore_denormals(state);
}

void ials_apply_all(struct ials *ials, const float *vectors, const float *penalties, size_t n,
                    float *out) {
    ials->part = (struct part){.vectors = vectors, .penalties = penalties, .n = n, .out = out};
    begin_work(ials);
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

static void measure_row(struct ials *ials, struct work *work, const struct ials_block *block,
                        uint64_t i) {
    const struct ials_exact exact = exact_of(ials);
    const uint64_t row = block->first + i;
    (void)work;
    ials->squares[row] =
        ials_exact_misses(&exact, row, own_row(ials, row), misses_of(ials, block, i));
}

static void sum_row(struct ials *ials, struct work *work, const struct ials_block *block,
                    uint64_t i) {
    const struct ials_exact exact = exact_of(ials);
    struct ials_exact_room room = room_of(work);
    ials_exact_sum(&exact, &room, block->first + i, misses_of(ials, block, i), block->at,
                   block->columns, block->sums + i * ials_exact_size(block->columns));
}

static void solve_row(struct ials *ials, struct work *work, const struct ials_block *block,
                      uint64_t i) {
    const struct ials_exact exact = exact_of(ials);
    struct ials_exact_room room = room_of(work);
    const uint64_t j = block->own_first + i, row = block->first + j;
    if (!ials_exact_solve(&exact, &room, block->penalties[j], own_row(ials, row), block->at,
                          block->columns, block->sums + j * ials_exact_size(block->columns),
                          work->p))
        atomic_store(&ials->failed, true);
    memcpy(block->moves + j * block->columns, work->p, block->columns * sizeof(float));
}

static void move_row(struct ials *ials, struct work *work, const struct ials_block *block,
                     uint64_t i) {
    const struct ials_exact exact = exact_of(ials);
    const uint64_t row = block->first + i;
    /* moves are not aligned as kernels want them */
    memcpy(work->p, block->moves + i * block->columns, block->columns * sizeof(float));
    ials_exact_move(&exact, row, block->at, block->columns, work->p, own_row(ials, row),
                    misses_of(ials, block, i));
}

static void work_on_block(void *self, int worker) {
    struct ials *ials = self;
    const struct part *part = &ials->part;
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
    ials->part = (struct part){
        .block = block,
        .n = what == IALS_BLOCK_SOLVE ? block->n_own : block->n,
        .block_row = what == IALS_BLOCK_MEASURE ? measure_row
                     : what == IALS_BLOCK_SUM   ? sum_row
                     : what == IALS_BLOCK_SOLVE ? solve_row
                                                : move_row,
    };
    begin_work(ials);
    thread_pool_run(ials->pool, work_on_block, ials);
    if (atomic_load(&ials->stopped))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    if (atomic_load(&ials->failed)) return error_unsolved(error);
    return 0;
}

double ials_squares(const struct ials *ials) {
    double sum = 0;
    for (uint64_t i = 0; i < ials->own->n; i++) sum += (double)ials->squares[i];
    return sum;
}
