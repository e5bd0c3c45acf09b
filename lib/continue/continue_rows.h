/*
 * A model that continues to learn, from new ratings alone. The old ratings are gone; what is left
 * of them is each row as they left it, a, and their number, n. Around a, which they made optimal,
 * the old objective is about
 *
 *     n (x - a)^T (C + penalty) (x - a),      C = the mean of f f^T over all old ratings,
 *
 * with x the row and its bias and f the row of the other side and 1: C has each row of the other
 * side as often as it was rated. To that the new ratings add their own squares and penalties, and x
 * is where the sum is least:
 *
 *     (n C + penalties + sum f f^T) (x - a) = sum f (y - f.a) - (what the penalties grew by) a
 *
 * So a row is held by as many ratings as stand behind it, one without any is fitted to the new ones
 * as a user is at home, and no constant is left to choose. A few steps of conjugate gradients solve
 * it: the penalties keep the system well conditioned. Rows of a side are solved at once, by all
 * threads, and do not depend on each other.
 *
 * Of a model that ranks (rank/ials.h) y is 1 for each event, there are no biases, and all pairs add
 * alpha G. What someone has events of is what the model predicts, so each group of rows that are
 * alike has a C of its own (continue_tastes.h). And as the users, who come first, have already
 * moved to fit the new events, an old item takes of each only what is news: with s and t the shares
 * of the events of its user and of the item that are new, 1 - (1 - s) (1 - t).
 */
#ifndef DPMF_CONTINUE_CONTINUE_ROWS_H
#define DPMF_CONTINUE_CONTINUE_ROWS_H

#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/factors.h"

struct continue_rule {
    bool ranks;
    double penalty;      /* lambda: penalty of a rating on vectors; when it ranks, as for ials */
    double bias_penalty; /* penalty of a rating on biases, where a side has no `bias_hold` */
    double unobserved, exponent; /* as in struct ials_rule */
};

/* The rows of one side that have new ratings: number i's are start[i] .. start[i + 1] - 1. */
struct continue_side {
    uint64_t n;
    const uint32_t *row; /* row of each in the model */
    const uint64_t *start;
    const uint32_t *other; /* rows of the other side */
    const float *value;    /* ratings less the offset; NULL: events */
    const float *weight;   /* weights of events for rows that are not new; NULL: all weigh 1 */
    const float *counts;   /* by row of the model, old ratings behind it; 0: a new row */
    double bias_hold;      /* penalty that holds a bias at 0, in ratings; 0: bias_penalty of each */
    const struct factor_matrix *before; /* a */
    struct factor_matrix *own;          /* x */
    const uint32_t *pick;               /* numbers to solve for; NULL: all */
    uint64_t n_picked;
};

struct continue_rows;

/* C of a side, as the model's file has it: what rows of the other side were held by. Where there
 * are several, each group of those rows has its own. */
struct continue_moments {
    uint32_t n;           /* how many C there are */
    float *square, *mean; /* C but for the bias's row and column, which are the mean */
    double *trace;        /* trace of each square, over k */
    uint8_t *group;       /* by number of the side that is held, its C; NULL: there is one */
};

int continue_rows_init(struct continue_rows **rows, const struct kernel_set *kernels, uint32_t k,
                       const struct continue_rule *rule, struct thread_pool *pool,
                       struct dpmf_error *error);
void continue_rows_free(struct continue_rows *rows); /* NULL is fine */
uint64_t continue_rows_bytes(const struct kernel_set *kernels, uint32_t k, uint64_t n_rows,
                             int threads);

/* C of the rows `before`, which have `counts` old ratings each; when it ranks, for the rows of
 * `held`, which may be NULL otherwise. */
int continue_moments_find(struct continue_moments *moments, const struct continue_rows *rows,
                          const struct continue_side *held, const struct factor_matrix *before,
                          const float *counts, struct dpmf_error *error);
void continue_moments_free(struct continue_moments *moments); /* a zeroed one is fine */

/* The numbers of a side that a second sweep moves: rows that are new, and those that have ratings
 * with new ones, which have moved far. All others saw little change. @return how many */
uint64_t continue_side_near_new(const struct continue_side *side, const float *other_counts,
                                uint32_t *pick);

/* Solves for the rows of a side, given the other's and the moments of them as they were.
 * `stop` (may be NULL) is asked now and then. @return 0, DPMF_ERR_BASE_CANCELLED, or
 * DPMF_ERR_TRAIN_DIVERGED when a number is not finite */
int continue_rows_sweep(struct continue_rows *rows, const struct continue_side *side,
                        const struct factor_matrix *other, const struct continue_moments *moments,
                        bool (*stop)(void *self), void *self, struct dpmf_error *error);

/* The sum of (y - prediction)^2 over the new ratings of a side. */
double continue_rows_squares(const struct kernel_set *kernels, uint32_t k,
                             const struct continue_side *side, const struct factor_matrix *other);

#endif
