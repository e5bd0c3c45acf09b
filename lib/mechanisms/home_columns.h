/*
 * Columns of an item's vector that only a person at home uses: smooth functions of how popular and
 * how good an item is, by the noisy counts and biases that are public already. Post-processing.
 */
#ifndef DPMF_MECHANISMS_HOME_COLUMNS_H
#define DPMF_MECHANISMS_HOME_COLUMNS_H

#include "privacy/public_model.h"

/* Appends residual_rule_home(K) columns to the K of the vectors, or none where users do not differ
 * that way. */
int home_columns_add(struct public_model *model, const struct item_evidence *evidence,
                     struct dpmf_error *error);

#endif
