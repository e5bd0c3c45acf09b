/*
 * Rows of implicit least squares by conjugate gradients, for a team of rows at a time: what the
 * events pull with, the product with the Gramian, and the steps. Fed by the sweeps of ials.c and by
 * ials_parts.c; the way through the other side's rows is planned by ials_plan.c.
 */
#include <math.h>
#include <string.h>

#include "rank/ials_state.h"

enum { AHEAD = 32 }; /* how far ahead a long row's events are asked for */

double ials_penalty(const struct ials_rule *rule, uint64_t n_events, uint64_t n_other) {
    return rule->penalty *
           pow((double)n_events + rule->unobserved * (double)n_other, rule->exponent);
}

double ials_row_penalty(const struct ials *ials, uint64_t row) {
    return ials_penalty(&ials->rule, ials_n_events(ials->events, row), ials->other->n);
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
    return ials_n_events(ials->events, row) * ials->width * sizeof(float) <= ials->ahead_bytes;
}

/* What the events of a row pull with. The first pass through them is the one that waits for memory:
 * so while a short row is gone through again, the rows of the next one's events are asked for, half
 * as many as it has itself a pass; while a long row is gone through first, its own. */
static float pull(const struct ials *ials, struct ials_work *work, uint64_t row, const float *x,
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
    return ials_plan_slices(ials->plan, ials_n_events(ials->events, row));
}

/* One slice of the other side, up to row `end` of it, for all rows of a team. */
static void pull_slice(const struct ials *ials, struct ials_work *work, const uint32_t *rows,
                       size_t n, uint64_t end, const float *vectors, float target, float *out) {
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

void ials_pull_team(const struct ials *ials, struct ials_work *work, const uint32_t *rows, size_t n,
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

float ials_dot(const struct ials *ials, const float *a, const float *b) {
    return ials->kernels->dot(a, b, ials->width);
}

void ials_apply_common(const struct ials *ials, struct ials_work *work, size_t n,
                       const float *vectors, const float *penalties) {
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

float ials_residual(const struct ials *ials, const float *r, float first) {
    const float square = ials_dot(ials, r, r);
    return square > least_square && square > least_share * first ? square : 0;
}

/* One step along p for a row, where q is -A p and the curvature p.A p; r is left alone where there
 * will be no other step.
 * @return r.r */
static float step_row(const struct ials *ials, struct ials_work *work, float *x, size_t i,
                      float curvature, float before, float first, bool is_last) {
    const size_t width = ials->width;
    float *r = work->r + i * width, *p = work->p + i * width, *q = work->q + i * width;
    if (before == 0 || !(curvature > 0)) return 0;
    const float length = before / curvature;
    for (size_t c = 0; c < width; c++) x[c] += length * p[c];
    if (is_last) return 0;
    for (size_t c = 0; c < width; c++) r[c] += length * q[c];
    const float after = ials_residual(ials, r, first), turn = after / before;
    for (size_t c = 0; c < width; c++) p[c] = r[c] + turn * p[c];
    return after;
}

/* One step of all rows of a team. Of the last one only the curvature is needed, and not the events'
 * part of q. */
static void step_team(const struct ials *ials, struct ials_work *work, const uint32_t *rows,
                      size_t n, float *x, const float *penalties, const float *first_squares,
                      float *squares, bool is_last) {
    const size_t width = ials->width;
    ials_apply_common(ials, work, n, work->p, penalties);
    ials_pull_team(ials, work, rows, n, work->p, 0, is_last ? NULL : work->q);
    for (size_t i = 0; i < n; i++) {
        float curvature = -ials_dot(ials, work->p + i * width, work->q + i * width);
        if (is_last) curvature += work->sums[i];
        squares[i] = step_row(ials, work, x + i * width, i, curvature, squares[i], first_squares[i],
                              is_last);
    }
}

/* Conjugate gradients for up to IALS_TEAM rows, from where they are: x. */
static void descend(const struct ials *ials, struct ials_work *work, const uint32_t *rows, size_t n,
                    float *x) {
    const size_t width = ials->width;
    float penalties[IALS_TEAM] = {0}, squares[IALS_TEAM], first_squares[IALS_TEAM];
    for (size_t i = 0; i < n; i++) penalties[i] = (float)ials_row_penalty(ials, rows[i]);
    ials_apply_common(ials, work, n, x, penalties);
    memcpy(work->r, work->q, n * width * sizeof(float));
    ials_pull_team(ials, work, rows, n, x, 1, work->r);
    for (size_t i = 0; i < n; i++) ials->squares[rows[i]] = work->sums[i];
    memcpy(work->p, work->r, n * width * sizeof(float));
    for (size_t i = 0; i < n; i++)
        squares[i] = first_squares[i] = ials_residual(ials, work->r + i * width, 0);
    for (uint32_t step = 1; step <= ials->rule.steps; step++)
        step_team(ials, work, rows, n, x, penalties, first_squares, squares,
                  step == ials->rule.steps);
}

/* The rows of this row's events will be wanted next; the cache could not keep those of a long
 * one. */
static void ask_for(const struct ials *ials, struct ials_work *work, uint64_t row) {
    work->ask = ials->events->other + ials->events->start[row];
    work->n_ask = is_short(ials, row) ? (size_t)ials_n_events(ials->events, row) : 0;
}

void ials_solve_team(const struct ials *ials, struct ials_work *work, const uint32_t *rows,
                     size_t n) {
    const size_t width = ials->width, stride = ials->own->stride, bytes = width * sizeof(float);
    float *x = work->x;
    for (size_t i = 0; i < n; i++)
        memcpy((ials->is_turned ? work->q : x) + i * width, ials->own->rows + rows[i] * stride,
               bytes);
    for (size_t i = 0; ials->is_turned && i < n; i += IALS_BATCH)
        ials->kernels->times(ials->basis.there, work->q + i * width,
                             n - i < IALS_BATCH ? n - i : IALS_BATCH, width, x + i * width);
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
