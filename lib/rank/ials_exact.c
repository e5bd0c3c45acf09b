/*
 * The arithmetic of ials_exact.h. Products of events' rows are summed in floats, a piece at a time,
 * and pieces in doubles. Fed by the sweeps of ials.c, on one machine or for ials_ranks_exact.c.
 */
#include "rank/ials_exact.h"

#include <math.h>
#include <string.h>

#include "numerics/cholesky.h"

static const float *row_of(const struct ials_exact *exact, uint64_t event) {
    return exact->other->rows + exact->events->other[event] * exact->other->stride;
}

static double weight_of(const struct ials_exact *exact, uint64_t event) {
    return exact->events->weight ? (double)exact->events->weight[event] : 1;
}

size_t ials_exact_size(size_t columns) { return columns * (columns + 1) / 2 + columns; }

size_t ials_exact_columns(size_t width, uint32_t block) {
    const size_t columns = ((size_t)block + KERNEL_PANEL - 1) / KERNEL_PANEL * KERNEL_PANEL;
    return block > 0 && columns < width ? columns : width;
}

float ials_exact_misses(const struct ials_exact *exact, uint64_t row, const float *x,
                        float *misses) {
    const uint64_t first = exact->events->start[row], end = exact->events->start[row + 1];
    float sum = 0;
    for (uint64_t e = first; e < end; e++) {
        const float miss = 1 - exact->kernels->dot(row_of(exact, e), x, exact->width);
        misses[e - first] = miss;
        sum += (float)weight_of(exact, e) * miss * miss;
    }
    return sum;
}

/* Adds the products of n rows, that lie one after the other in the room. */
static void add_products(const struct ials_exact *exact, const struct ials_exact_room *room,
                         size_t n, size_t columns, double *sums) {
    exact->kernels->gram(room->piece, n, columns, room->square);
    for (size_t a = 0; a < columns; a++)
        for (size_t b = 0; b <= a; b++) *sums++ += (double)room->square[a * columns + b];
}

void ials_exact_sum(const struct ials_exact *exact, struct ials_exact_room *room, uint64_t row,
                    const float *misses, size_t at, size_t columns, double *sums) {
    const uint64_t first = exact->events->start[row], end = exact->events->start[row + 1];
    double *right = sums + columns * (columns + 1) / 2;
    memset(sums, 0, ials_exact_size(columns) * sizeof *sums);
    for (uint64_t e = first, n; e < end; e += n) {
        n = end - e < IALS_EXACT_PIECE ? end - e : IALS_EXACT_PIECE;
        for (uint64_t j = 0; j < n; j++) {
            const float *v = row_of(exact, e + j) + at;
            const double weight = weight_of(exact, e + j);
            const double pull = weight * (double)misses[e + j - first];
            const float root = (float)sqrt(weight);
            for (size_t c = 0; c < columns; c++) room->piece[j * columns + c] = root * v[c];
            for (size_t c = 0; c < columns; c++) right[c] += pull * (double)v[c];
        }
        add_products(exact, room, (size_t)n, columns, sums);
    }
}

bool ials_exact_solve(const struct ials_exact *exact, struct ials_exact_room *room, double penalty,
                      const float *x, size_t at, size_t columns, double *sums, float *move) {
    const size_t width = exact->width;
    const double *half = sums;
    double *right = sums + columns * (columns + 1) / 2, *matrix = room->matrix;
    for (size_t a = 0; a < columns; a++) {
        const double *common = exact->gramian + (at + a) * width + at;
        for (size_t b = 0; b <= a; b++) matrix[a * columns + b] = common[b] + *half++;
        matrix[a * columns + a] += penalty;
        right[a] -= penalty * (double)x[at + a];
    }
    for (size_t c = 0; c < width; c++)
        for (size_t a = 0; a < columns; a++)
            right[a] -= exact->gramian[c * width + at + a] * (double)x[c];
    if (cholesky_factor(matrix, columns) < 0) return false;
    cholesky_solve(matrix, columns, right);
    for (size_t c = 0; c < columns; c++) move[c] = (float)right[c];
    return true;
}

void ials_exact_move(const struct ials_exact *exact, uint64_t row, size_t at, size_t columns,
                     const float *move, float *x, float *misses) {
    const uint64_t first = exact->events->start[row], end = exact->events->start[row + 1];
    for (size_t c = 0; c < columns; c++) x[at + c] += move[c];
    for (uint64_t e = first; misses && e < end; e++)
        misses[e - first] -= exact->kernels->dot(row_of(exact, e) + at, move, columns);
}
