/*
 * Rows of a model and what is known about users or items besides their ratings. Row j of a side,
 * its vector and its bias, is taken to be
 *
 *     x_j = m_j + d_j,      m_j = W f_j + constant,
 *
 * where f_j are its features and d_j is its own part. W is the ridge regression of all rows that
 * have features on these, each weighed by its number of ratings (numerics/feature_regression.h).
 *
 * Without ratings nothing is known of d_j, and a row is placed at m_j.
 *
 * With n_j ratings, training without features has held the row at 0, as if that were the best
 * guess before any rating: it ended at S_j y_j, y_j being what its ratings alone say, and
 * S_j = n_j / (n_j + hold). Held at m_j instead, it would have ended at
 *
 *     m_j + S_j (y_j - m_j) = S_j y_j + (1 - S_j) m_j,
 *
 * so it is enough to add hold / (n_j + hold) m_j afterwards, and no rating is read again. Here m_j
 * is the prediction from all other rows, relative to the mean of all. Biases that began as averages
 * are held by the number of ratings that the checkpoint records, and the formula is exact given the
 * other numbers. For vectors it is an approximation, with FEATURE_HOLD, which was chosen on one
 * split of MovieLens 1M (docs/features.md).
 */
#ifndef DPMF_FEATURES_FEATURE_ROWS_H
#define DPMF_FEATURES_FEATURE_ROWS_H

#include "model/factors.h"
#include "privacy/catalogue.h"

enum { FEATURE_HOLD = 100 }; /* ratings that hold a vector */

enum feature_side { FEATURES_OF_USERS, FEATURES_OF_ITEMS };

/* Numbers of rows of a table that are rows of a model, and that are not. */
struct feature_match {
    uint64_t known, unknown;
};

struct feature_match feature_rows_match(const struct factor_ids *ids,
                                        const struct catalogue *table);

/* Adds the share of the features to every row that has them. `bias_hold` is the number of ratings
 * that hold the side's biases; with 0 the biases do not change. Counts must be known; ids need not
 * be indexed.
 * @return 0, DPMF_ERR_INPUT_ID when too few rows are in the table, or DPMF_ERR_BASE_NO_MEMORY */
int feature_rows_blend(struct factors *factors, enum feature_side side,
                       const struct catalogue *table, double bias_hold, const char *path,
                       struct dpmf_error *error);

/* Appends the rows of the table that the model does not know, in the table's order. Those that it
 * knows stay as they are. `spare` rows follow. Counts, where they are known, are predicted too, by
 * their logarithms. The ids are indexed again. On failure the factors are as before. */
int feature_rows_place(struct factors *factors, enum feature_side side,
                       const struct catalogue *table, uint64_t spare, const char *path,
                       struct dpmf_error *error);

#endif
