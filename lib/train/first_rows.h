/*
 * What the rows of a model are before the first step.
 */
#ifndef DPMF_TRAIN_FIRST_ROWS_H
#define DPMF_TRAIN_FIRST_ROWS_H

#include "model/factors.h"

enum first_rows_side { FIRST_ROWS_USERS = 0x55, FIRST_ROWS_ITEMS = 0x56 };

void first_rows_fill(struct factor_matrix *matrix, uint32_t k, uint64_t seed,
                     enum first_rows_side side);

#endif
