/*
 * Rows between a row store and a checkpoint, in pieces.
 */
#ifndef DPMF_TRAIN_ROWS_FILE_H
#define DPMF_TRAIN_ROWS_FILE_H

#include "model/checkpoint.h"
#include "train/row_store.h"

int rows_file_save(const struct row_store *rows, const float *biases, enum checkpoint_side side,
                   struct checkpoint_draft *draft, struct dpmf_error *error);
int rows_file_load(const struct row_store *rows, float *biases, enum checkpoint_side side,
                   const struct checkpoint_file *file, struct dpmf_error *error);

#endif
