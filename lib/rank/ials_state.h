/*
 * What the files of implicit least squares share: ials.c has the sweeps, ials_rows.c the rows of a
 * team by conjugate gradients, ials_parts.c the parts of a sweep that several ranks do together.
 */
#ifndef DPMF_RANK_IALS_STATE_H
#define DPMF_RANK_IALS_STATE_H

#include <stdatomic.h>

#include "rank/ials.h"
#include "rank/ials_basis.h"
#include "rank/ials_exact.h"
#include "rank/ials_plan.h"

/* What a thread works with: IALS_TEAM vectors each, a padded k apart. */
struct ials_work {
    float *x, *r, *p, *q;
    float *piece, *square;    /* IALS_EXACT_PIECE rows, k x k */
    double *matrix, *right;   /* for Cholesky alone: a matrix, and the sums of a row */
    float *misses;            /* the same: 1 - u.v of each event of a row */
    uint64_t next[IALS_TEAM]; /* events not yet gone through */
    float sums[IALS_TEAM];    /* what they pulled with so far */
    const uint32_t *ask;      /* rows of the other side that will be wanted next */
    size_t n_ask;
};

/* What threads do for a part of a sweep. */
struct ials_part {
    const float *vectors, *penalties;
    float target;
    float *out, *sums;
    uint64_t n;
    const struct ials_block *block;
    void (*block_row)(struct ials *ials, struct ials_work *work, const struct ials_block *block,
                      uint64_t i);
};

struct ials {
    const struct kernel_set *kernels;
    size_t k, width; /* width: k padded */
    struct ials_rule rule;
    struct thread_pool *pool;
    int n_work;
    struct ials_work *work;
    uint64_t ahead_bytes; /* rows that may be asked for ahead; a matter of speed alone */
    double *parts;        /* Gramians, one a part */
    double *gramian;      /* alpha G, in doubles and in floats */
    float *gramian32;

    bool is_turned; /* the sweep is in another basis */
    struct ials_basis basis;

    struct ials_plan plans[2]; /* plans of the sides seen so far: there are two */

    /* The sweep under way. */
    struct ials_part part;
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

static inline uint64_t ials_n_events(const struct event_side *events, uint64_t row) {
    return events->start[row + 1] - events->start[row];
}

/* ---- ials.c ---------------------------------------------------------------------------------- */

/* Makes the sweep's first team or row the next one for all threads. */
void ials_begin_work(struct ials *ials);

/* Teams of the plan, one after the other, until there are no more or the sweep is stopped. */
void ials_work_on_teams(struct ials *ials, int worker,
                        void (*team_work)(struct ials *, struct ials_work *, const uint32_t *rows,
                                          size_t n));

struct ials_exact ials_exact_of(const struct ials *ials);
struct ials_exact_room ials_room_of(const struct ials_work *work);
int ials_error_unsolved(struct dpmf_error *error);

/* ---- ials_rows.c ----------------------------------------------------------------------------- */

double ials_row_penalty(const struct ials *ials, uint64_t row);

/* The pull of all events of a team's rows on their vectors; work->sums becomes what each row's
 * pulled with. */
void ials_pull_team(const struct ials *ials, struct ials_work *work, const uint32_t *rows, size_t n,
                    const float *vectors, float target, float *out);

/* q := -(alpha G + penalty) p for all vectors of a team. */
void ials_apply_common(const struct ials *ials, struct ials_work *work, size_t n,
                       const float *vectors, const float *penalties);

/* The rows of a team: in step, or, where they would share neither a product with the Gramian nor
 * slices, one after the other. */
void ials_solve_team(const struct ials *ials, struct ials_work *work, const uint32_t *rows,
                     size_t n);

#endif
