/*
 * What implicit least squares does with rows, in terms of the `vec` and `eight` of an instruction
 * set: include its vec_*.h first. `pull` goes through the rows of one user's items, eight at a
 * time: their scalar products with x, then their weighted sum, while they are in the first cache;
 * meanwhile the caches are asked for rows to come.
 * `times` multiplies a matrix with vectors, several at a time, so that each number of the matrix is
 * loaded once for all of them.
 */
#ifndef DPMF_KERNELS_ROWS_BODY_H
#define DPMF_KERNELS_ROWS_BODY_H

#include "kernels/dot_body.h"
#include "kernels/kernel_inline.h"
#include "kernels/kernels.h"

enum { ROWS_LINE = KERNEL_ALIGN / (int)sizeof(float) };

/* How far ahead the first cache is asked for rows: short rows are finished before the next could be
 * there. */
enum { ROWS_SHORT = 128 };
INLINE size_t rows_ahead(size_t k) { return k <= ROWS_SHORT ? 2 * KERNEL_LANES : KERNEL_LANES; }

/* Up to eight rows that go abreast, and what is asked for meanwhile, a line at a time. */
struct rows_group {
    const float *row[KERNEL_LANES], *ahead[KERNEL_LANES], *next[KERNEL_LANES];
};

/* What is asked for beside a column: rows `from` to end - 1 of those ahead, and the first n_next
 * of `next`. */
INLINE void rows_ask(const struct rows_group *group, const int from, const int end,
                     const int n_next, size_t x) {
    UNROLL for (int i = from; i < end; i++) __builtin_prefetch(group->ahead[i] + x);
    UNROLL for (int i = 0; i < n_next; i++) __builtin_prefetch(group->next[i] + x, 0, 2);
}

/* The scalar products of u and the first `lanes` rows, 8 or 4. Half of the rows ahead are asked for
 * here where a sum follows, which asks for the rest: all at once they would have to wait. */
INLINE eight rows_dots(const float *u, const struct rows_group *group, const int lanes,
                       const int n_ahead, const int n_next, size_t k) {
    vec sum[KERNEL_LANES];
    UNROLL for (int i = 0; i < lanes; i++) sum[i] = vec_splat(0);
    size_t x = 0;
    for (; x + ROWS_LINE <= k; x += ROWS_LINE) {
        UNROLL for (size_t at = x; at < x + ROWS_LINE; at += VEC) {
            const vec ux = vec_load(u + at);
            UNROLL for (int i = 0; i < lanes; i++) {
                sum[i] = vec_fma(ux, vec_load(group->row[i] + at), sum[i]);
            }
        }
        rows_ask(group, 0, n_ahead, n_next, x);
    }
    for (; x < k; x += VEC) {
        const vec ux = vec_load(u + x);
        UNROLL for (int i = 0; i < lanes; i++) {
            sum[i] = vec_fma(ux, vec_load(group->row[i] + x), sum[i]);
        }
    }
    return lanes > 4 ? eight_sums(sum) : eight_first(eight_sums_half(sum), 4);
}

INLINE void rows_add_at(const struct rows_group *group, const int lanes, const vec *pull, size_t x,
                        float *out) {
    vec sum[2] = {vec_load(out + x), vec_splat(0)};
    UNROLL for (int i = 0; i < lanes; i++) {
        sum[i & 1] = vec_fma(pull[i], vec_load(group->row[i] + x), sum[i & 1]);
    }
    vec_store(out + x, vec_add(sum[0], sum[1]));
}

INLINE void rows_add(const struct rows_group *group, const int lanes, eight pulls, const int n_next,
                     size_t k, float *out) {
    vec pull[KERNEL_LANES];
    UNROLL for (int i = 0; i < lanes; i++) pull[i] = eight_pick(pulls, i);
    size_t x = 0;
    for (; x + ROWS_LINE <= k; x += ROWS_LINE) {
        UNROLL for (size_t at = x; at < x + ROWS_LINE; at += VEC) {
            rows_add_at(group, lanes, pull, at, out);
        }
        rows_ask(group, KERNEL_LANES / 2, KERNEL_LANES, n_next, x);
    }
    for (; x < k; x += VEC) rows_add_at(group, lanes, pull, x, out);
}

/* One group of `lanes` rows, 8 or 4, of which the first `left` are there, from event j on. The last
 * is taken again in place of those missing, with weight 0. @return what `total` becomes */
INLINE eight rows_pull_group(const float *x, float target, const struct kernel_events *events,
                             size_t j, const int lanes, const int n_next, size_t k, float *out,
                             eight total) {
    struct rows_group group;
    float weight[KERNEL_LANES] = {0};
    const size_t n = events->n, left = n - j < (size_t)lanes ? n - j : (size_t)lanes;
    const size_t ahead = j + rows_ahead(k), next = j / KERNEL_LANES * (size_t)n_next;
    for (size_t i = 0; i < (size_t)lanes; i++)
        group.row[i] = events->rows + events->at[j + (i < left ? i : left - 1)] * events->stride;
    for (size_t i = 0; i < KERNEL_LANES; i++)
        group.ahead[i] =
            ahead + i < n ? events->rows + events->at[ahead + i] * events->stride : group.row[0];
    for (size_t i = 0; i < (size_t)n_next; i++)
        group.next[i] = next + i < events->n_next
                            ? events->rows + events->next[next + i] * events->stride
                            : group.row[0];
    for (size_t i = 0; i < left; i++) weight[i] = events->weights ? events->weights[j + i] : 1;
    const eight dots = out ? rows_dots(x, &group, lanes, KERNEL_LANES / 2, 0, k)
                           : rows_dots(x, &group, lanes, KERNEL_LANES, n_next, k);
    const eight miss = eight_sub(eight_splat(target), dots);
    const eight pulls = eight_mul(eight_load(weight), miss);
    if (out) rows_add(&group, lanes, pulls, n_next, k, out);
    return eight_fma(pulls, miss, total);
}

/* The same for all rows, n_next of `next` asked for with each eight. */
INLINE float rows_pull_all(const float *x, float target, const struct kernel_events *events,
                           const int n_next, size_t k, float *out) {
    eight total = eight_splat(0);
    for (size_t j = 0; j < events->n; j += KERNEL_LANES)
        total =
            events->n - j > KERNEL_LANES / 2
                ? rows_pull_group(x, target, events, j, KERNEL_LANES, n_next, k, out, total)
                : rows_pull_group(x, target, events, j, KERNEL_LANES / 2, n_next, k, out, total);
    return eight_total(total);
}

INLINE float rows_pull(const float *x, float target, const struct kernel_events *events, size_t k,
                       float *out) {
    if (events->n_next == 0) return rows_pull_all(x, target, events, 0, k, out);
    return 2 * events->n_next <= events->n + KERNEL_LANES - 1
               ? rows_pull_all(x, target, events, KERNEL_LANES / 2, k, out)
               : rows_pull_all(x, target, events, KERNEL_LANES, k, out);
}

/* How many vectors go abreast: their sums for a panel stay in registers while its rows move by. */
enum {
    ROWS_PANEL = KERNEL_PANEL / VEC, /* vectors to a row of a panel */
    ROWS_ABREAST = ROWS_PANEL > 1 ? 6 : 8,
};

/* `abreast` vectors by `columns` vectors of columns, both constants. */
INLINE void times_block(const float *panel, size_t row, const float *vectors, size_t k,
                        const int abreast, const int columns, float *out) {
    vec sum[ROWS_ABREAST][ROWS_PANEL];
    UNROLL for (int i = 0; i < abreast; i++) {
        UNROLL for (int j = 0; j < columns; j++) sum[i][j] = vec_splat(0);
    }
    for (size_t c = 0; c < k; c++) {
        vec column[ROWS_PANEL];
        UNROLL for (int j = 0; j < columns; j++) {
            column[j] = vec_load(panel + c * row + (size_t)(VEC * j));
        }
        UNROLL for (int i = 0; i < abreast; i++) {
            const vec number = vec_splat(vectors[(size_t)i * k + c]);
            UNROLL for (int j = 0; j < columns; j++) {
                sum[i][j] = vec_fma(number, column[j], sum[i][j]);
            }
        }
    }
    UNROLL for (int i = 0; i < abreast; i++) {
        UNROLL for (int j = 0; j < columns; j++) {
            vec_store(out + (size_t)i * k + (size_t)(VEC * j), sum[i][j]);
        }
    }
}

INLINE void times_panel(const float *panel, size_t row, const float *vectors, size_t n, size_t k,
                        const int columns, float *out) {
    size_t i = 0;
    for (; i + ROWS_ABREAST <= n; i += ROWS_ABREAST)
        times_block(panel, row, vectors + i * k, k, ROWS_ABREAST, columns, out + i * k);
    for (; i + 3 <= n; i += 3) times_block(panel, row, vectors + i * k, k, 3, columns, out + i * k);
    if (i + 2 == n) times_block(panel, row, vectors + i * k, k, 2, columns, out + i * k);
    if (i + 1 == n) times_block(panel, row, vectors + i * k, k, 1, columns, out + i * k);
}

INLINE void rows_times(const float *matrix, const float *vectors, size_t n, size_t k, float *out) {
    size_t x = 0;
    for (; x + KERNEL_PANEL <= k; x += KERNEL_PANEL)
        times_panel(matrix + x * k, KERNEL_PANEL, vectors, n, k, ROWS_PANEL, out + x);
    const size_t left = k - x;
    for (size_t at = 0; at < left; at += VEC)
        times_panel(matrix + x * k + at, left, vectors, n, k, 1, out + x + at);
}

#endif
