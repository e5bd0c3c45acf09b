/*
 * Columns of item vectors that cost no privacy: functions of what is public already.
 */
#ifndef DPMF_MECHANISMS_FREE_COLUMNS_H
#define DPMF_MECHANISMS_FREE_COLUMNS_H

#include "privacy/public_model.h"

/* The number of such columns for a number of public features. */
size_t free_columns_n(size_t n_features);

/* Fills the model's last n_free columns, of at most `variance` each on average over ratings. */
int free_columns_fill(struct public_model *model, const struct item_evidence *evidence,
                      const struct catalogue *catalogue, double variance, struct dpmf_error *error);

#endif
