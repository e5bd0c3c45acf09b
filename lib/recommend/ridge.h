/*
 * A user fitted to ratings, the items of a model held still: with x_j = (s, v_j), the s standing
 * for the user's bias, and y_j = r_j - offset - b_j,
 *
 *     w = (X^T X + c I)^-1 X^T y,      bias = s w_0,      vector = the rest of w.
 *
 * Of a checkpoint, c = regularization * unit * number of ratings and s^2 = unit (factors_unit),
 * which is what training drives the user's row towards. A release, and a checkpoint of samples,
 * name two penalties: c is the vector's, and s^2 that over the bias's, which is the same as
 * penalising the bias by its own. With fewer ratings than columns the same comes from the smaller
 * system w = X^T (X X^T + c I)^-1 y. A model that ranks (rank/ials.h) has s = 0, y_j = 1 for each
 * event, c as training has it for so many events, and alpha V^T V added to X^T X for all pairs;
 * where its events are weighed by their counts, each stands in both sums with its weight. All of it
 * in double and in one order. Here it is made, used and forgotten: for users who are fitted once,
 * and for explanations of ratings at hand. For someone who continues to rate, the sums are kept
 * (normal_equations.h).
 */
#ifndef DPMF_RECOMMEND_RIDGE_H
#define DPMF_RECOMMEND_RIDGE_H

#include "recommend/model.h"

/* c and s for a number of ratings. @return 0, or DPMF_ERR_INPUT_NOT_FINITE when they are no usable
 * numbers */
int ridge_penalties(const struct dpmf_model *model, size_t n, double *penalty, double *bias_column,
                    struct dpmf_error *error);

/* x of an item, k + 1 numbers. */
void ridge_row(const struct dpmf_model *model, uint64_t item, double bias_column, double *x);

/* The matrix before any rating, at row a and column b: 0 except for a model that ranks. */
double ridge_prior(const struct dpmf_model *model, size_t a, size_t b);

/* y of a rating. */
double ridge_residual(const struct dpmf_model *model, const struct dpmf_own_rating *own);

/* The weight of a rating in both sums: 1, unless the model weighs events by their counts. */
double ridge_weight(const struct dpmf_model *model, const struct dpmf_own_rating *own);

/* Reports that the ratings cannot be fitted. @return DPMF_ERR_INPUT_NOT_FINITE */
int ridge_refuse(struct dpmf_error *error);

struct ridge {
    const struct dpmf_model *model;
    const struct dpmf_own_rating *ratings;
    size_t n;
    size_t width;       /* k + 1 */
    double penalty;     /* c */
    double bias_column; /* s */
    bool by_ratings; /* the system is of the ratings, n x n; else of the columns, width x width */
    double *matrix;  /* its factor */
};

/* Factors the system of n ratings, of items that the model knows; with none of them there is no
 * system. `ratings` must outlive it. Free it also after a failure. */
int ridge_init(struct ridge *ridge, const struct dpmf_model *model,
               const struct dpmf_own_rating *ratings, size_t n, struct dpmf_error *error);
void ridge_free(struct ridge *ridge);

/* weights[j] := x^T (X^T X + c I)^-1 x_j for each of the n ratings; there is room for n + width.
 * `x` is a row, k + 1 numbers. */
void ridge_weigh(const struct ridge *ridge, const double *x, double *weights);

/* The bias, and the vector after it; there is room for n + width. */
void ridge_solve(const struct ridge *ridge, double *w);

#endif
