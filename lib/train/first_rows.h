/*
 * What the rows of a model are before the first step, and where they are.
 */
#ifndef DPMF_TRAIN_FIRST_ROWS_H
#define DPMF_TRAIN_FIRST_ROWS_H

#include "model/factors.h"
#include "train/row_store.h"

enum first_rows_side { FIRST_ROWS_USERS = 0x55, FIRST_ROWS_ITEMS = 0x56 };

/* Room for n users, in memory with `spare` rows more, or in a file beside `beside`; their biases
 * are in memory in any case. */
int first_rows_make_users(struct factor_matrix *users, struct row_store *rows, uint64_t n,
                          size_t stride, uint64_t spare, const char *beside,
                          struct dpmf_error *error);

/* Small random numbers in all rows, wherever they are or in memory; `unit` is that of the ratings,
 * and `first` the number that the first row goes by. */
int first_rows_fill_store(const struct row_store *rows, uint64_t first, uint32_t k, double unit,
                          uint64_t seed, enum first_rows_side side, struct dpmf_error *error);
void first_rows_fill(struct factor_matrix *matrix, uint32_t k, double unit, uint64_t seed,
                     enum first_rows_side side);

/* The same in one row, by its number. */
void first_rows_fill_one(float *row, uint64_t number, uint32_t k, double unit, uint64_t seed,
                         enum first_rows_side side);

#endif
