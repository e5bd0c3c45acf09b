/*
 * A user fitted to ratings, the items of a model held still: with x_j = (s, v_j), the s standing for the
 * user's bias, and y_j = r_j - offset - b_j,
 *
 *     w = (X^T X + c I)^-1 X^T y,      bias = s w_0,      vector = the rest of w.
 *
 * Of a checkpoint, c = regularization * unit * number of ratings and s^2 = unit (factors_unit), which is what training
 * drives the user's row towards. A release names two penalties: c is the vector's, and s^2 that over the bias's, which
 * is the same as penalising the bias by its own. With fewer ratings than columns the same comes
 * from the smaller system w = X^T (X X^T + c I)^-1 y. All of it in double and in one order. Shared by
 * fold_in.c, which wants w, and explain.c, which wants each rating's part in x^T w.
 */
#ifndef DPMF_RECOMMEND_RIDGE_H
#define DPMF_RECOMMEND_RIDGE_H

#include "recommend/model.h"

struct ridge {
    const struct dpmf_model *model;
    const struct dpmf_own_rating *ratings;
    size_t n;           /* ratings of items that the model knows ... */
    size_t *known;      /* ... and which they are */
    size_t width;       /* k + 1 */
    double penalty;     /* c */
    double bias_column; /* s */
    bool by_ratings; /* the system is of the ratings, n x n; else of the columns, width x width */
    double *matrix;  /* its factor */
};

/* Finds the ratings that count and factors the system; with none of them, n is 0 and there is no system.
 * `ratings` must outlive it. Free it also after a failure. */
int ridge_init(struct ridge *ridge, const struct dpmf_model *model,
               const struct dpmf_own_rating *ratings, size_t n, struct dpmf_error *error);
void ridge_free(struct ridge *ridge);

/* weights[j] := x^T (X^T X + c I)^-1 x_j for each of the n ratings; there is room for n + width. */
void ridge_weigh(const struct ridge *ridge, const float *item, double *weights);

/* The bias, and the vector after it; there is room for n + width. */
void ridge_solve(const struct ridge *ridge, double *w);

/* y_j of the j-th rating that counts. */
double ridge_residual(const struct ridge *ridge, size_t j);

#endif
