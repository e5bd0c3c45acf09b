/*
 * Rows of vectors that are in memory or, where memory does not allow it, in a nameless file of mode
 * 0600. Code that works on them takes a range at a time and need not know which.
 */
#ifndef DPMF_TRAIN_ROW_STORE_H
#define DPMF_TRAIN_ROW_STORE_H

#include "dpmf.h"

struct row_store {
    uint64_t n;
    size_t stride; /* floats from row to row, in memory and in the file */
    float *rows;   /* rows in memory; NULL: in the file */
    int file;      /* descriptor of the file; -1: none */
};

/* Rows that are in memory already and stay the caller's. */
struct row_store row_store_of(float *rows, uint64_t n, size_t stride);

/* A file for n rows beside `beside`, which read as 0 until they are written. */
int row_store_open(struct row_store *store, const char *beside, uint64_t n, size_t stride,
                   struct dpmf_error *error);
void row_store_close(struct row_store *store); /* may be called for a zeroed one, and twice */

/* @return rows `first` to first + n - 1: where they are, or read into `buffer`, or NULL with the
 * error */
const float *row_store_look(const struct row_store *store, uint64_t first, uint64_t n,
                            float *buffer, struct dpmf_error *error);

/* Writes rows; those that are in memory and come from there are left alone. */
int row_store_put(const struct row_store *store, uint64_t first, uint64_t n, const float *rows,
                  struct dpmf_error *error);

/* All rows of one store to another, in pieces. */
int row_store_copy(const struct row_store *to, const struct row_store *from,
                   struct dpmf_error *error);

/* Rows to take at once where nothing else says how many: enough for the disk, little in memory. */
uint64_t row_store_piece(size_t stride);

#endif
