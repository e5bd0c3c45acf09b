/*
 * Reading, changing and writing back, and nothing else: the work that no update of a row can do
 * without; and reading and adding up, which no product of rows can do without. Their speeds are the
 * rooflines that training is held against.
 */
#ifndef DPMF_KERNELS_REWRITE_H
#define DPMF_KERNELS_REWRITE_H

#include <stddef.h>

/* x <- x/2 + 1/2 over n floats, with the widest vectors that this machine surely does well; x is
 * aligned as rows are. */
void rewrite_floats(float *x, size_t n);

/* @return the sum of n floats, in an order of its own, with the same vectors */
float reread_floats(const float *x, size_t n);

#endif
