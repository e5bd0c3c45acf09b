/*
 * The normal equations of one user, kept so that a rating more or less costs O(w^2) for w columns:
 *
 *     (X^T X + c I) w = X^T y.
 *
 * The sums X^T X and X^T y are kept in double-double: adding a row and taking it away again leaves
 * them as they were, however often that is done, so nothing ever drifts. Beside them is the factor
 * of the matrix, which is changed by one row at a time, computed again from the sums where such a
 * change would lose too much, and used with a step of refinement against the sums: what is solved
 * is therefore always as good as a fresh solve.
 */
#ifndef DPMF_RECOMMEND_NORMAL_EQUATIONS_H
#define DPMF_RECOMMEND_NORMAL_EQUATIONS_H

#include "dpmf_client.h"

struct normal_equations {
    size_t width;               /* w; 0: nothing is kept */
    double penalty;             /* c of the factor */
    double *sum, *rest;         /* X^T X: its lower triangle, row after row; high and low parts */
    double *right, *right_rest; /* X^T y */
    double *factor;             /* w x w */
    double *space;              /* 2 w */
    uint64_t n_factored;        /* how often the factor was made from the sums, in O(w^3) */
};

/* Starts without ratings. Free it also after a failure. */
int normal_equations_init(struct normal_equations *equations, size_t width,
                          struct dpmf_error *error);
void normal_equations_free(struct normal_equations *equations);

/* Removes all ratings; the factor has to be made again. */
void normal_equations_clear(struct normal_equations *equations);

/* Adds (sign 1) or takes away (sign -1) the row x with the value y, in the sums alone. */
void normal_equations_add(struct normal_equations *equations, const double *x, double y, int sign);

/* Changes the value of a row. */
void normal_equations_revalue(struct normal_equations *equations, const double *x, double from,
                              double to);

/* The factor for a penalty, from the sums. @return 0 or DPMF_ERR_BASE_NOT_DEFINITE */
int normal_equations_factor(struct normal_equations *equations, double penalty);

/* The same by way of the factor there is, after a row was added or taken away and the penalty is as
 * it was. */
int normal_equations_follow(struct normal_equations *equations, const double *x, int sign);

/* w := (X^T X + c I)^-1 right, refined once; `space` has room for a row. @return the largest of the
 * correction as a share of the largest of w: how far the factor was off */
double normal_equations_refine(const struct normal_equations *equations, const double *right,
                               double *w, double *space);

/* w := the solution; the factor is computed again if it was too far off. @return 0 or
 * DPMF_ERR_BASE_NOT_DEFINITE */
int normal_equations_solve(struct normal_equations *equations, double *w);

#endif
