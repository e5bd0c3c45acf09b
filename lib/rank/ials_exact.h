/*
 * Rows of implicit least squares by Cholesky, a block of columns after the other, given the rest
 * (iALS++): the sums over a row's events, of which several ranks have a part each, and what is made
 * of them.
 */
#ifndef DPMF_RANK_IALS_EXACT_H
#define DPMF_RANK_IALS_EXACT_H

#include "kernels/kernels.h"
#include "model/factors.h"
#include "rank/event_rows.h"

enum { IALS_EXACT_PIECE = 256 /* rows whose products are summed in floats */ };

/* The sweep: alpha G of the other side, whole, and the events that are here. */
struct ials_exact {
    const struct kernel_set *kernels;
    size_t width; /* k padded */
    const double *gramian;
    const struct event_side *events;
    const struct factor_matrix *other;
};

/* What a thread has for it: IALS_EXACT_PIECE rows, and two matrices of k x k padded. */
struct ials_exact_room {
    float *piece, *square;
    double *matrix;
};

/* Numbers in the sums of a block: the lower half of a matrix, row by row, then the right side. */
size_t ials_exact_size(size_t columns);

/* Columns that are solved for at a time: whole lines of the cache. */
size_t ials_exact_columns(size_t width, uint32_t block);

/* How far row x's events are from 1. @return the sum of their weighted squares */
float ials_exact_misses(const struct ials_exact *exact, uint64_t row, const float *x,
                        float *misses);

/* sums := the events' part of the equations for columns `at` to `at` + columns - 1. */
void ials_exact_sum(const struct ials_exact *exact, struct ials_exact_room *room, uint64_t row,
                    const float *misses, size_t at, size_t columns, double *sums);

/* How to get from x to where the loss is least along these columns, from the sums of all events,
 * which are used up. @return whether the matrix was positive definite, as it is unless numbers are
 * too large */
bool ials_exact_solve(const struct ials_exact *exact, struct ials_exact_room *room, double penalty,
                      const float *x, size_t at, size_t columns, double *sums, float *move);

/* Goes there; misses may be NULL where nothing follows. */
void ials_exact_move(const struct ials_exact *exact, uint64_t row, size_t at, size_t columns,
                     const float *move, float *x, float *misses);

#endif
