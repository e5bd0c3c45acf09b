/*
 * The inner loops, one set per instruction set, and the choice between them. A set brings its block
 * sizes along: how rows are padded and how many rows a chunk should hold at a given k. Every kernel
 * has a plain reference in ref/, which the others are tested against.
 *
 * The model is r = offset + b_user + b_item + u.v. Of a chunk's two sides one row is *resident*: it
 * stays in registers or in L1 while up to KERNEL_LANES rows of the other side *move* by.
 */
#ifndef DPMF_KERNELS_KERNELS_H
#define DPMF_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host.h"
#include "kernels/exact.h"
#include "kernels/noise.h"

enum {
    KERNEL_LANES = 8,  /* moving rows in a chunk, at most */
    KERNEL_AHEAD = 4,  /* chunks that a kernel may read past the last one, to prefetch their rows */
    KERNEL_ALIGN = 64, /* bytes: of every row */
    KERNEL_K_MAX = 4096,
};

/* Ratings of one resident row by up to eight moving rows (all different). Unused lanes hold the
 * number of a spare row, which may be read and written but means nothing, and rating 0. A spare row
 * begins as 0 or anything finite, has a bias like any other, and belongs to one thread. */
struct kernel_chunk {
    uint32_t resident;
    uint32_t n; /* lanes in use, 1 .. KERNEL_LANES */
    uint32_t moving[KERNEL_LANES];
    float rating[KERNEL_LANES];
};

/* One factor matrix and its biases: row i is rows[i * stride] .. + padded k - 1, the columns past k
 * are 0 and stay 0. */
struct kernel_side {
    float *rows;
    float *biases;
    size_t stride; /* in floats, a multiple of KERNEL_ALIGN / 4 */
};

/* What is the same for all chunks of a tile. With e = r - prediction before the chunk, for each
 * lane i:
 *     moving_i   <- decay[1] * moving_i + rate * e_i * resident
 *     resident   <- decay[n] * resident + rate * sum_i e_i * moving_i        (old moving_i)
 * and likewise the biases with bias_rate and bias_decay: a minibatch of n, decay[i] = (1 -
 * rate*reg)^i. */
struct kernel_step {
    struct kernel_side resident, moving;
    size_t k; /* padded */
    float offset;
    float rate, bias_rate;
    float decay[KERNEL_LANES + 1], bias_decay[KERNEL_LANES + 1];
    uint32_t lead; /* prefetched are the rows of the chunk so many further on, <= KERNEL_AHEAD */
};

/* Goes through n chunks. @return the sum of e^2 over all lanes in use */
typedef double kernel_sgd_tile(const struct kernel_step *step, const struct kernel_chunk *chunks,
                               size_t n);

/* The rows that `pull` goes through: numbers at[0] .. at[n - 1], each with its weight, or without
 * weights (NULL) with 1. While it does, it asks the second cache for rows that will be wanted
 * later: next[0] .. next[n_next - 1], at most as many as it goes through; 0 is fine. */
struct kernel_events {
    const float *rows;
    size_t stride;
    const uint32_t *at;
    const float *weights;
    size_t n;
    const uint32_t *next;
    size_t n_next;
};

/* With m_j = target - x.row_j for these rows: out += sum_j weight_j m_j row_j. Without `out` (NULL)
 * nothing is added. x and out are aligned as rows are, k padded.
 * @return sum_j weight_j m_j^2 */
typedef float kernel_pull(const float *x, float target, const struct kernel_events *events,
                          size_t k, float *out);

/* Where row a, column b of a k x k matrix for `times` is: panels of a cache line of columns follow
 * each other, each with all rows, so that a panel is read from end to end. The last one has the
 * columns that are left. */
enum { KERNEL_PANEL = KERNEL_ALIGN / 4 };

static inline size_t kernel_panel_at(size_t k, size_t a, size_t b) {
    const size_t first = b / KERNEL_PANEL * KERNEL_PANEL;
    const size_t columns = k - first < KERNEL_PANEL ? k - first : KERNEL_PANEL;
    return first * k + a * columns + (b - first);
}

struct kernel_set {
    const char *name;        /* "ref", "avx2", "avx512", "neon" */
    const char *description; /* one line, for doctor */
    bool (*is_supported)(void);
    bool (*is_preferred)(void); /* whether it is preferred to those after it in the table */

    /* How rows are laid out: the columns to store for k, whole vectors; the floats from row to row,
     * aligned, and never a multiple of 4 KiB apart. */
    size_t (*padded_k)(size_t k);
    size_t (*stride)(size_t k);

    /* The best number of moving rows a chunk, at most KERNEL_LANES: for these caches, or, where
     * `caches` is NULL, one that depends on k and the set alone, for runs that must be repeatable
     * elsewhere. Whether all tiles should keep users resident. */
    uint32_t (*lanes)(size_t k, const struct host_caches *caches);
    bool (*user_resident_small)(size_t k);

    /* The kernel for k, padded or not; step.k must be its padded_k. */
    kernel_sgd_tile *(*sgd_tile)(size_t k);

    /* a.b over k floats; rows aligned as above, k padded. */
    float (*dot)(const float *a, const float *b, size_t k);

    /* out[i] = biases[i] + u.rows_i for n rows. */
    void (*scores)(const float *u, const float *rows, size_t stride, const float *biases, size_t n,
                   size_t k, float *out);

    /* gram[a * k + b] = sum over n rows of row[a] row[b] for b <= a, k padded; the rows lie one
     * after the other, aligned as the k x k result is, whose part above the diagonal becomes
     * anything. */
    void (*gram)(const float *rows, size_t n, size_t k, float *gram);

    kernel_pull *pull;

    /* out_i = vector_i matrix for n vectors; k padded, the vectors k apart, all aligned. The matrix
     * is in panels: see kernel_panel_at. What comes of a vector does not depend on the
     * others. */
    void (*times)(const float *matrix, const float *vectors, size_t n, size_t k, float *out);

    /* Noise, the same bits in every set. */
    noise_fill *fill;
    noise_diffuse *diffuse;
    noise_push_rows *push;

    /* Private contributions, the same bits in every set. */
    const struct exact_kernels *exact;

    /* Makes this thread take denormals as zero; @return the state to restore. */
    unsigned (*flush_denormals)(void);
    void (*restore_denormals)(unsigned state);
};

/* The i-th set compiled in, best first, or NULL past the last (the reference, always there). */
const struct kernel_set *kernel_set_at(size_t i);

/* The best that this machine supports; `name` asks for one. When it is NULL, the environment's
 * DPMF_KERNELS is taken for it, if that is set and not empty. @return NULL when there is no set of
 * that name here or the machine lacks it */
const struct kernel_set *kernel_set_choose(const char *name);

/* The same, but for the one with the widest vectors that this machine supports, whichever is
 * preferred for training on ratings: implicit least squares goes through long rows, and half as
 * many instructions win even where vectors are halved. */
const struct kernel_set *kernel_set_widest(const char *name);

/* The kernels of private contributions with the widest vectors that this machine supports,
 * whichever set is preferred for training: even where vectors are halved, half as many instructions
 * win. In all sets they give the same bits. DPMF_KERNELS asks for one, as above. @return NULL when
 * there is none of that name */
const struct exact_kernels *kernel_set_exact(void);

#endif
