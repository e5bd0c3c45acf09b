/*
 * The sweeps of continue_rows.h: moments of the other side first, in an order of their own, then
 * teams of rows, whose vectors go through the moments together. Fed by continue_train.c.
 */
#include "continue/continue_rows.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "continue/continue_tastes.h"
#include "rank/ials.h"

enum {
    TEAM = 8,        /* rows that are solved together */
    STEPS = 2,       /* steps of conjugate gradients for an old row: more change nothing */
    STEPS_RANKS = 4, /* the same when it ranks, where pairs make the system worse */
    STEPS_NEW = 8,   /* steps for a row that has nothing but its new ratings */
};

/* A row being solved, but for its vectors. */
struct lane {
    uint64_t first, end; /* its ratings */
    uint32_t row;
    uint32_t steps;
    uint32_t group;       /* number of the C that holds it */
    float count;          /* old ratings behind it */
    const float *weights; /* weights of its events; NULL: all weigh 1 */
    float penalty, bias_penalty;
    float scale, bias_scale; /* the preconditioner */
    float d, r, p, q;        /* the bias's numbers in `work`'s vectors of these names */
    float square;            /* r.z */
    bool is_done;
};

struct work {
    struct lane lane[TEAM];
    float *d, *r, *p, *q,
        *sum;       /* TEAM x width: steps so far, residuals, directions, A p, sum of f */
    float *product; /* TEAM x width */
    float *left;    /* a row's ratings, less the biases of the other side */
    size_t left_capacity;
};

struct continue_rows {
    const struct kernel_set *kernels;
    size_t k, width;
    struct continue_rule rule;
    struct thread_pool *pool;
    struct ials *ials; /* for its Gramians, which do not depend on threads */
    int n_work;
    struct work *work;
    double *square;     /* width x width */
    float *pairs;       /* alpha G, as kernels want it; NULL where nothing ranks */
    float *nothing;     /* width zeros */
    double pairs_trace; /* over k */
    float *norms;       /* |v|^2 of each row of the other side, for the preconditioner */
    size_t norms_capacity;

    /* The sweep under way. */
    const struct continue_side *side;
    const struct factor_matrix *other;
    const struct continue_moments *moments;
    bool (*stop)(void *self);
    void *self;
    atomic_uint_fast64_t next;
    atomic_bool stopped, diverged;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static float *floats(size_t n) {
    void *at = NULL;
    if (posix_memalign(&at, KERNEL_ALIGN, (n + 1) * sizeof(float)) != 0) return NULL;
    memset(at, 0, (n + 1) * sizeof(float));
    return at;
}

static bool make_work(const struct continue_rows *rows, struct work *work) {
    const size_t n = TEAM * rows->width;
    work->d = floats(n);
    work->r = floats(n);
    work->p = floats(n);
    work->q = floats(n);
    work->sum = floats(n);
    work->product = floats(n);
    return work->d && work->r && work->p && work->q && work->sum && work->product;
}

static void free_work(struct work *work) {
    free(work->d);
    free(work->r);
    free(work->p);
    free(work->q);
    free(work->sum);
    free(work->product);
    free(work->left);
}

int continue_rows_init(struct continue_rows **out, const struct kernel_set *kernels, uint32_t k,
                       const struct continue_rule *rule, struct thread_pool *pool,
                       struct dpmf_error *error) {
    const struct ials_rule gramian = {.unobserved = 1, .penalty = 1, .steps = 1};
    struct continue_rows *rows = memory_alloc_zero(1, sizeof *rows);
    *out = NULL;
    if (!rows) return error_no_memory(error);
    rows->kernels = kernels;
    rows->k = k;
    rows->width = kernels->padded_k(k);
    rows->rule = *rule;
    rows->pool = pool;
    rows->n_work = thread_pool_size(pool);
    const size_t square = rows->width * rows->width;
    int code = ials_init(&rows->ials, kernels, k, &gramian, pool, error);
    rows->work = memory_alloc_zero((size_t)rows->n_work, sizeof *rows->work);
    rows->square = memory_alloc_zero(square, sizeof(double));
    rows->nothing = floats(rows->width);
    if (rule->ranks) rows->pairs = floats(square);
    bool done = rows->work && rows->square && rows->nothing && (rows->pairs || !rule->ranks);
    for (int i = 0; done && i < rows->n_work; i++) done = make_work(rows, &rows->work[i]);
    if (code == 0 && !done) code = error_no_memory(error);
    if (code < 0)
        continue_rows_free(rows);
    else
        *out = rows;
    return code;
}

void continue_rows_free(struct continue_rows *rows) {
    if (!rows) return;
    for (int i = 0; rows->work && i < rows->n_work; i++) free_work(&rows->work[i]);
    ials_free(rows->ials);
    free(rows->work);
    free(rows->square);
    free(rows->pairs);
    free(rows->norms);
    free(rows->nothing);
    free(rows);
}

uint64_t continue_rows_bytes(const struct kernel_set *kernels, uint32_t k, uint64_t n_rows,
                             int threads) {
    const uint64_t width = kernels->padded_k(k), square = width * width;
    return ials_bytes(kernels, k, threads) +
           square * (sizeof(double) + (1 + 2 * CONTINUE_TASTES) * sizeof(float)) +
           (uint64_t)threads * 6 * TEAM * width * sizeof(float) +
           n_rows * (kernels->stride(k) + 3) * sizeof(float);
}

static float dot(const struct continue_rows *rows, const float *a, const float *b) {
    return rows->kernels->dot(a, b, rows->width);
}

/* ---- moments of the other side --------------------------------------------------------------- */

/* A square in doubles, by `share`, as the kernel wants it. @return its trace over k */
static double put_square(const struct continue_rows *rows, double share, float *out) {
    const size_t width = rows->width;
    double trace = 0;
    for (size_t a = 0; a < width; a++) {
        for (size_t b = 0; b < width; b++)
            out[kernel_panel_at(width, a, b)] = (float)(share * rows->square[a * width + b]);
        trace += share * rows->square[a * width + a];
    }
    return trace / (double)rows->k;
}

/* Each row by the root of its count; their mean, by counts. @return the sum of the counts */
static double weigh(const struct continue_rows *rows, const struct factor_matrix *from,
                    const float *counts, struct factor_matrix *to, double *mean) {
    double total = 0;
    for (uint64_t i = 0; i < from->n; i++) {
        const float *row = from->rows + i * from->stride, root = sqrtf(counts[i]);
        float *out = to->rows + i * to->stride;
        for (size_t c = 0; c < rows->width; c++) out[c] = root * row[c];
        for (size_t c = 0; c < rows->width; c++) mean[c] += (double)counts[i] * (double)row[c];
        total += (double)counts[i];
    }
    return total;
}

static int make_moments(struct continue_moments *moments, const struct continue_rows *rows,
                        uint32_t n, struct dpmf_error *error) {
    *moments = (struct continue_moments){.n = n,
                                         .square = floats(n * rows->width * rows->width),
                                         .mean = floats(rows->width),
                                         .trace = memory_alloc_zero(n, sizeof(double))};
    return moments->square && moments->mean && moments->trace ? 0 : error_no_memory(error);
}

/* C number `at`, of rows that count as often as `counts` says. */
static int find_one(struct continue_moments *moments, const struct continue_rows *rows, uint32_t at,
                    const struct factor_matrix *before, const float *counts,
                    struct factor_matrix *weighted, struct dpmf_error *error) {
    double *mean = memory_alloc_zero(rows->width, sizeof *mean);
    if (!mean) return error_no_memory(error);
    double total = weigh(rows, before, counts, weighted, mean);
    if (!(total > 0)) total = 1; /* nothing is behind any row, and nothing holds any */
    for (size_t c = 0; c < rows->width; c++) moments->mean[c] = (float)(mean[c] / total);
    ials_gramian(rows->ials, weighted, rows->square);
    moments->trace[at] =
        put_square(rows, 1 / total, moments->square + at * rows->width * rows->width);
    free(mean);
    return 0;
}

/* One for each group of rows that are alike. */
static int find_by_taste(struct continue_moments *moments, const struct continue_rows *rows,
                         const struct continue_side *held, const struct factor_matrix *before,
                         const float *counts, struct factor_matrix *weighted,
                         struct dpmf_error *error) {
    const uint32_t k = (uint32_t)rows->k;
    struct continue_tastes tastes;
    int code = continue_tastes_find(&tastes, rows->kernels, k, held, error);
    if (code < 0) return code;
    float *weights = memory_alloc((size_t)before->n + 1, sizeof *weights);
    code = make_moments(moments, rows, tastes.n, error);
    if (code == 0 && !weights) code = error_no_memory(error);
    for (uint32_t at = 0; code == 0 && at < tastes.n; at++) {
        continue_tastes_weigh(&tastes, rows->kernels, k, at, before, counts, weights);
        code = find_one(moments, rows, at, before, weights, weighted, error);
    }
    moments->group = tastes.group;
    tastes.group = NULL;
    continue_tastes_free(&tastes);
    free(weights);
    return code;
}

int continue_moments_find(struct continue_moments *moments, const struct continue_rows *rows,
                          const struct continue_side *held, const struct factor_matrix *before,
                          const float *counts, struct dpmf_error *error) {
    struct factor_matrix weighted = {0};
    *moments = (struct continue_moments){0};
    int code = factor_matrix_init(&weighted, before->n, before->stride, 0, error);
    if (code == 0 && rows->rule.ranks)
        code = find_by_taste(moments, rows, held, before, counts, &weighted, error);
    else if (code == 0) {
        code = make_moments(moments, rows, 1, error);
        if (code == 0) code = find_one(moments, rows, 0, before, counts, &weighted, error);
    }
    factor_matrix_free(&weighted);
    if (code < 0) continue_moments_free(moments);
    return code;
}

void continue_moments_free(struct continue_moments *moments) {
    free(moments->square);
    free(moments->mean);
    free(moments->trace);
    free(moments->group);
    *moments = (struct continue_moments){0};
}

/* What a sweep needs to know of the other side as it is now. */
static int look_at_other(struct continue_rows *rows, const struct factor_matrix *other,
                         struct dpmf_error *error) {
    if (!memory_reserve(&rows->norms, &rows->norms_capacity, (size_t)other->n + 1, sizeof(float)))
        return error_no_memory(error);
    for (uint64_t i = 0; i < other->n; i++) {
        const float *row = other->rows + i * other->stride;
        rows->norms[i] = dot(rows, row, row);
    }
    if (!rows->rule.ranks) return 0;
    ials_gramian(rows->ials, other, rows->square);
    rows->pairs_trace = put_square(rows, rows->rule.unobserved, rows->pairs);
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add(float *to, float factor, const float *from, size_t n) {
    for (size_t c = 0; c < n; c++) to[c] += factor * from[c];
}

/* out += the sum of weight (target - x.v) v over a row's ratings. */
static void pull(const struct continue_rows *rows, const struct lane *lane, const float *x,
                 float target, const float *weights, float *out) {
    const struct kernel_events events = {
        .rows = rows->other->rows,
        .stride = rows->other->stride,
        .at = rows->side->other + lane->first,
        .weights = weights,
        .n = (size_t)(lane->end - lane->first),
    };
    rows->kernels->pull(x, target, &events, rows->width, out);
}

/* What is left of rating j, given a row and its bias. */
static float residual(const struct continue_side *side, const struct factor_matrix *other,
                      uint64_t j, float product, float bias) {
    const uint32_t at = side->other[j];
    return side->value ? side->value[j] - bias - other->biases[at] - product : 1 - product;
}

static double penalty_of(const struct continue_rows *rows, double n_ratings) {
    const struct continue_rule *rule = &rows->rule;
    if (!rule->ranks) return rule->penalty * n_ratings;
    return n_ratings == 0
               ? 0
               : rule->penalty *
                     pow(n_ratings + rule->unobserved * (double)rows->other->n, rule->exponent);
}

/* What the new ratings say about a row. @return how much they weigh together */
static float read_lane(const struct continue_rows *rows, struct work *work, size_t i,
                       double *squares) {
    const struct continue_side *side = rows->side;
    struct lane *lane = &work->lane[i];
    double n = 0;
    for (uint64_t j = lane->first; j < lane->end; j++) {
        const uint32_t of = side->other[j];
        const float weight = lane->weights ? lane->weights[j - lane->first] : 1;
        const float y = side->value ? side->value[j] - rows->other->biases[of] : 1;
        work->left[j - lane->first] = weight * y;
        lane->r += y;
        n += (double)weight;
        *squares += (double)(weight * rows->norms[of]);
    }
    return (float)n;
}

/* The right-hand side at a, and what the preconditioner needs to know. */
static void begin_lane(const struct continue_rows *rows, struct work *work, size_t i,
                       uint64_t number) {
    const struct continue_side *side = rows->side;
    const struct continue_moments *moments = rows->moments;
    struct lane *lane = &work->lane[i];
    const uint32_t at = side->row[number];
    const size_t width = rows->width;
    const float *a = side->before->rows + at * side->before->stride;
    const float a_bias = side->before->biases[at];
    float *r = work->r + i * width, *sum = work->sum + i * width;
    double squares = 0;
    *lane = (struct lane){.first = side->start[number],
                          .end = side->start[number + 1],
                          .row = at,
                          .group = moments->group ? moments->group[number] : 0,
                          .count = side->counts[at]};
    if (side->weight && lane->count > 0) lane->weights = side->weight + lane->first;
    const float n = read_lane(rows, work, i, &squares);
    lane->steps = !(lane->count > 0) ? STEPS_NEW : rows->rule.ranks ? STEPS_RANKS : STEPS;
    memset(r, 0, width * sizeof *r);
    memset(sum, 0, width * sizeof *sum);
    pull(rows, lane, rows->nothing, 1, NULL, sum);
    pull(rows, lane, rows->nothing, 1, work->left, r);
    pull(rows, lane, a, -a_bias, lane->weights, r);
    lane->r -= dot(rows, sum, a) + n * a_bias;
    const double before = penalty_of(rows, (double)lane->count);
    const double now = penalty_of(rows, (double)lane->count + (double)n);
    add(r, (float)(before - now), a, width);
    lane->penalty = (float)now;
    lane->scale = (float)(now + (double)lane->count * moments->trace[lane->group] +
                          rows->pairs_trace + squares / (double)rows->k);
    if (!(lane->scale > 0))
        lane->scale = 1; /* a new row without an event: there is nothing to do */
    lane->bias_penalty = side->bias_hold > 0
                             ? (float)side->bias_hold
                             : (float)(rows->rule.bias_penalty * (double)(lane->count + n));
    if (!(side->bias_hold > 0)) lane->r -= (float)rows->rule.bias_penalty * n * a_bias;
    lane->bias_scale = lane->count + n + lane->bias_penalty;
    if (rows->rule.ranks) lane->r = 0;
}

/* Whether old ratings hold a row that is not done; the moments are for those alone. */
static bool is_any_held(const struct work *work, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!work->lane[i].is_done && work->lane[i].count > 0) return true;
    return false;
}

/* q := C p, for all lanes at once where there is one C. */
static void apply_moments(const struct continue_rows *rows, const struct work *work, size_t n,
                          const float *p, float *q) {
    const struct continue_moments *moments = rows->moments;
    const size_t width = rows->width;
    if (moments->n == 1 && is_any_held(work, n)) {
        rows->kernels->times(moments->square, p, n, width, q);
        return;
    }
    memset(q, 0, n * width * sizeof *q);
    for (size_t i = 0; i < n; i++)
        if (!work->lane[i].is_done && work->lane[i].count > 0)
            rows->kernels->times(moments->square + work->lane[i].group * width * width,
                                 p + i * width, 1, width, q + i * width);
}

/* q := A p for all lanes that are not done. */
static void apply(const struct continue_rows *rows, struct work *work, size_t n, const float *p,
                  float *q) {
    const size_t width = rows->width;
    apply_moments(rows, work, n, p, q);
    if (rows->pairs) rows->kernels->times(rows->pairs, p, n, width, work->product);
    for (size_t i = 0; i < n; i++) {
        struct lane *lane = &work->lane[i];
        const float *own = p + i * width;
        float *to = q + i * width, *more = work->product + i * width;
        if (lane->is_done) continue;
        for (size_t c = 0; c < width; c++)
            to[c] =
                lane->count * (to[c] + lane->p * rows->moments->mean[c]) + lane->penalty * own[c];
        if (rows->pairs) add(to, 1, more, width);
        memset(more, 0, width * sizeof *more);
        pull(rows, lane, own, -lane->p, lane->weights, more);
        add(to, -1, more, width);
        lane->q = lane->count * (dot(rows, rows->moments->mean, own) + lane->p) +
                  lane->bias_penalty * lane->p + dot(rows, work->sum + i * width, own) +
                  (float)(lane->end - lane->first) * lane->p;
        if (rows->rule.ranks) lane->q = 0;
    }
}

/* Where the last sweep left the rows: d, and r less A d. */
static void begin_where_it_is(const struct continue_rows *rows, struct work *work, size_t n) {
    const struct continue_side *side = rows->side;
    const size_t width = rows->width;
    bool moved = false;
    for (size_t i = 0; i < n; i++) {
        struct lane *lane = &work->lane[i];
        const float *x = side->own->rows + lane->row * side->own->stride;
        const float *a = side->before->rows + lane->row * side->before->stride;
        for (size_t c = 0; c < width; c++) {
            work->d[i * width + c] = x[c] - a[c];
            moved = moved || x[c] != a[c];
        }
        lane->d = lane->p = side->own->biases[lane->row] - side->before->biases[lane->row];
        moved = moved || lane->d != 0;
    }
    if (!moved) return;
    apply(rows, work, n, work->d, work->q);
    for (size_t i = 0; i < n; i++) {
        add(work->r + i * width, -1, work->q + i * width, width);
        work->lane[i].r -= work->lane[i].q;
    }
}

/* r.z with z the preconditioned residual; 0 where it is rounding. */
static float square_of(const struct continue_rows *rows, const struct work *work, size_t i) {
    const struct lane *lane = &work->lane[i];
    const float *r = work->r + i * rows->width;
    const float square = dot(rows, r, r) / lane->scale + lane->r * lane->r / lane->bias_scale;
    return square > 1e-20f ? square : 0;
}

/* p := z + turn p */
static void turn(const struct continue_rows *rows, struct work *work, size_t i, float factor) {
    struct lane *lane = &work->lane[i];
    const float *r = work->r + i * rows->width;
    float *p = work->p + i * rows->width;
    for (size_t c = 0; c < rows->width; c++) p[c] = r[c] / lane->scale + factor * p[c];
    lane->p = lane->r / lane->bias_scale + factor * lane->p;
}

static void step(const struct continue_rows *rows, struct work *work, size_t i) {
    const size_t width = rows->width;
    struct lane *lane = &work->lane[i];
    if (lane->is_done) return;
    const float curvature = dot(rows, work->p + i * width, work->q + i * width) + lane->p * lane->q;
    const float before = lane->square;
    if (lane->steps == 0 || !(curvature > 0)) {
        lane->is_done = true;
        return;
    }
    const float length = before / curvature;
    add(work->d + i * width, length, work->p + i * width, width);
    add(work->r + i * width, -length, work->q + i * width, width);
    lane->d += length * lane->p;
    lane->r -= length * lane->q;
    lane->square = --lane->steps > 0 ? square_of(rows, work, i) : 0;
    lane->is_done = lane->square == 0;
    if (!lane->is_done) turn(rows, work, i, lane->square / before);
}

static bool is_under_way(const struct work *work, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!work->lane[i].is_done) return true;
    return false;
}

static bool put_rows(const struct continue_rows *rows, const struct work *work, size_t n) {
    const struct continue_side *side = rows->side;
    const size_t width = rows->width;
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        const struct lane *lane = &work->lane[i];
        const float *a = side->before->rows + lane->row * side->before->stride;
        float *x = side->own->rows + lane->row * side->own->stride;
        for (size_t c = 0; c < width; c++) x[c] = a[c] + work->d[i * width + c];
        side->own->biases[lane->row] = side->before->biases[lane->row] + lane->d;
        finite = finite && isfinite(dot(rows, x, x)) && isfinite(side->own->biases[lane->row]);
    }
    return finite;
}

static bool solve_team(const struct continue_rows *rows, struct work *work, uint64_t first,
                       size_t n) {
    const uint32_t *pick = rows->side->pick;
    for (size_t i = 0; i < n; i++) begin_lane(rows, work, i, pick ? pick[first + i] : first + i);
    begin_where_it_is(rows, work, n);
    for (size_t i = 0; i < n; i++) {
        work->lane[i].square = square_of(rows, work, i);
        work->lane[i].is_done = work->lane[i].square == 0;
        work->lane[i].p = 0;
        memset(work->p + i * rows->width, 0, rows->width * sizeof(float));
        turn(rows, work, i, 0);
    }
    while (is_under_way(work, n)) {
        apply(rows, work, n, work->p, work->q);
        for (size_t i = 0; i < n; i++) step(rows, work, i);
    }
    return put_rows(rows, work, n);
}

static void solve_teams(void *self, int worker) {
    struct continue_rows *rows = self;
    struct work *work = &rows->work[worker];
    const unsigned denormals = rows->kernels->flush_denormals();
    const uint64_t n = rows->side->pick ? rows->side->n_picked : rows->side->n;
    uint64_t team;
    while ((team = atomic_fetch_add(&rows->next, 1)) * TEAM < n) {
        const uint64_t left = n - team * TEAM;
        if (atomic_load(&rows->stopped)) break;
        if (!solve_team(rows, work, team * TEAM, left < TEAM ? (size_t)left : TEAM))
            atomic_store(&rows->diverged, true);
        if (team % 64 == 0 && rows->stop && rows->stop(rows->self))
            atomic_store(&rows->stopped, true);
    }
    rows->kernels->restore_denormals(denormals);
}

/* Room for the longest row, in every thread. */
static bool reserve_left(struct continue_rows *rows, const struct continue_side *side) {
    size_t longest = 1;
    for (uint64_t i = 0; i < side->n; i++)
        if (side->start[i + 1] - side->start[i] > longest)
            longest = (size_t)(side->start[i + 1] - side->start[i]);
    for (int i = 0; i < rows->n_work; i++)
        if (!memory_reserve(&rows->work[i].left, &rows->work[i].left_capacity, longest,
                            sizeof(float)))
            return false;
    return true;
}

uint64_t continue_side_near_new(const struct continue_side *side, const float *other_counts,
                                uint32_t *pick) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < side->n; i++) {
        bool near = !(side->counts[side->row[i]] > 0);
        for (uint64_t j = side->start[i]; !near && j < side->start[i + 1]; j++)
            near = !(other_counts[side->other[j]] > 0);
        if (near) pick[n++] = (uint32_t)i;
    }
    return n;
}

int continue_rows_sweep(struct continue_rows *rows, const struct continue_side *side,
                        const struct factor_matrix *other, const struct continue_moments *moments,
                        bool (*stop)(void *self), void *self, struct dpmf_error *error) {
    if (side->pick && side->n_picked == 0) return 0;
    int code = reserve_left(rows, side) ? 0 : error_no_memory(error);
    if (code == 0) code = look_at_other(rows, other, error);
    if (code < 0) return code;
    rows->side = side;
    rows->other = other;
    rows->moments = moments;
    rows->stop = stop;
    rows->self = self;
    atomic_store(&rows->next, 0);
    atomic_store(&rows->stopped, false);
    atomic_store(&rows->diverged, false);
    thread_pool_run(rows->pool, solve_teams, rows);
    if (atomic_load(&rows->stopped))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    if (!atomic_load(&rows->diverged)) return 0;
    return error_set(error, DPMF_ERR_TRAIN_DIVERGED, "a vector is not finite");
}

double continue_rows_squares(const struct kernel_set *kernels, uint32_t k,
                             const struct continue_side *side, const struct factor_matrix *other) {
    const size_t width = kernels->padded_k(k);
    double sum = 0;
    for (uint64_t i = 0; i < side->n; i++) {
        const float *x = side->own->rows + side->row[i] * side->own->stride;
        const float bias = side->own->biases[side->row[i]];
        for (uint64_t j = side->start[i]; j < side->start[i + 1]; j++) {
            const float product =
                kernels->dot(x, other->rows + side->other[j] * other->stride, width);
            const double e = (double)residual(side, other, j, product, bias);
            sum += e * e;
        }
    }
    return sum;
}
