/*
 * The largest eigenvalues of a large dense symmetric matrix and their vectors, by Lanczos' method.
 * The same bits for the same input, whatever the number of threads.
 */
#ifndef DPMF_NUMERICS_LANCZOS_H
#define DPMF_NUMERICS_LANCZOS_H

#include "base/threads.h"

/* A is n x n, row-major, whole. The n_wanted largest eigenvalues go to `values`, falling, their
 * unit vectors to the rows of `vectors` (n_wanted x n). `start` (n numbers, not all 0; overwritten)
 * should not be orthogonal to any of them: random numbers will do. Fewer than wanted are found when
 * n is smaller or `start` lies in a smaller space; the others are 0. @return 0 or
 * DPMF_ERR_BASE_NO_MEMORY */
int lanczos_top(const double *A, size_t n, size_t n_wanted, double *start, struct thread_pool *pool,
                double *values, double *vectors, struct dpmf_error *error);

#endif
