/*
 * The groups of continue_tastes.h, by a few rounds of k-means on directions, from rows that lie
 * evenly spread in the side. Fed by continue_train.c, by way of the moments of continue_rows.c.
 */
#include "continue/continue_tastes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { ROUNDS = 4 };

struct grouping {
    const struct kernel_set *kernels;
    const struct continue_side *side;
    size_t width;
    struct continue_tastes *tastes;
    float *centre; /* n x width, of length 1 */
};

static float *floats(size_t n) {
    void *at = NULL;
    if (posix_memalign(&at, KERNEL_ALIGN, (n + 1) * sizeof(float)) != 0) return NULL;
    memset(at, 0, (n + 1) * sizeof(float));
    return at;
}

/* NULL where no old events hold the row. */
static const float *held_row(const struct continue_side *side, uint64_t number) {
    const uint32_t row = side->row[number];
    return side->counts[row] > 0 ? side->before->rows + row * side->before->stride : NULL;
}

static void add(float *to, float factor, const float *from, size_t n) {
    for (size_t c = 0; c < n; c++) to[c] += factor * from[c];
}

/* @return what makes a row of length 1, or 0 where it is nothing */
static float to_unit(const struct grouping *grouping, const float *row) {
    const float square = grouping->kernels->dot(row, row, grouping->width);
    return square > 0 ? 1 / sqrtf(square) : 0;
}

static void first_centres(struct grouping *grouping, uint64_t n_held) {
    struct continue_tastes *tastes = grouping->tastes;
    uint64_t held = 0;
    uint32_t next = 0;
    for (uint64_t i = 0; i < grouping->side->n && next < tastes->n; i++) {
        const float *row = held_row(grouping->side, i);
        if (!row || held++ < next * n_held / tastes->n) continue;
        add(grouping->centre + next++ * grouping->width, to_unit(grouping, row), row,
            grouping->width);
    }
}

static uint8_t nearest(const struct grouping *grouping, const float *row) {
    float best = -INFINITY;
    uint8_t at = 0;
    for (uint32_t g = 0; g < grouping->tastes->n; g++) {
        const float *centre = grouping->centre + g * grouping->width;
        const float likeness = grouping->kernels->dot(row, centre, grouping->width);
        if (likeness > best) best = likeness, at = (uint8_t)g;
    }
    return at;
}

/* Every row to the nearest centre. The sums are of rows as long as they are, or of length 1. */
static void assign(struct grouping *grouping, bool as_units) {
    struct continue_tastes *tastes = grouping->tastes;
    const size_t width = grouping->width;
    memset(tastes->sum, 0, tastes->n * width * sizeof(float));
    for (uint64_t i = 0; i < grouping->side->n; i++) {
        const float *row = held_row(grouping->side, i);
        if (!row) continue;
        tastes->group[i] = nearest(grouping, row);
        add(tastes->sum + tastes->group[i] * width, as_units ? to_unit(grouping, row) : 1, row,
            width);
    }
}

/* A group that nobody is in keeps its centre. */
static void move_centres(struct grouping *grouping) {
    const size_t width = grouping->width;
    for (uint32_t g = 0; g < grouping->tastes->n; g++) {
        const float *sum = grouping->tastes->sum + g * width;
        const float unit = to_unit(grouping, sum);
        for (size_t c = 0; unit > 0 && c < width; c++)
            grouping->centre[g * width + c] = unit * sum[c];
    }
}

int continue_tastes_find(struct continue_tastes *tastes, const struct kernel_set *kernels,
                         uint32_t k, const struct continue_side *side, struct dpmf_error *error) {
    struct grouping grouping = {
        .kernels = kernels, .side = side, .width = kernels->padded_k(k), .tastes = tastes};
    uint64_t n_held = 0;
    for (uint64_t i = 0; i < side->n; i++) n_held += held_row(side, i) != NULL;
    *tastes = (struct continue_tastes){
        .n = n_held == 0                ? 1
             : n_held < CONTINUE_TASTES ? (uint32_t)n_held
                                        : CONTINUE_TASTES,
        .group = memory_alloc_zero((size_t)side->n + 1, 1),
        .sum = floats(CONTINUE_TASTES * grouping.width),
    };
    grouping.centre = floats(CONTINUE_TASTES * grouping.width);
    const bool done = tastes->group && tastes->sum && grouping.centre;
    if (done) first_centres(&grouping, n_held);
    for (int round = 0; done && round < ROUNDS; round++) {
        assign(&grouping, true);
        move_centres(&grouping);
    }
    if (done) assign(&grouping, false);
    free(grouping.centre);
    if (done) return 0;
    continue_tastes_free(tastes);
    return error_no_memory(error);
}

void continue_tastes_free(struct continue_tastes *tastes) {
    free(tastes->group);
    free(tastes->sum);
    *tastes = (struct continue_tastes){0};
}

void continue_tastes_weigh(const struct continue_tastes *tastes, const struct kernel_set *kernels,
                           uint32_t k, uint32_t group, const struct factor_matrix *other,
                           const float *other_counts, float *weights) {
    const size_t width = kernels->padded_k(k);
    double total = 0;
    for (uint64_t i = 0; i < other->n; i++) {
        const float of =
            kernels->dot(tastes->sum + group * width, other->rows + i * other->stride, width);
        weights[i] = of > 0 ? of : 0;
        total += (double)weights[i];
    }
    if (!(total > 0)) memcpy(weights, other_counts, (size_t)other->n * sizeof *weights);
}
