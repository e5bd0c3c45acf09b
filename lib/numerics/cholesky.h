/*
 * The one small dense solver, in double and in a fixed order of operations, so that the same input
 * gives the same bits on every machine (compiled with -ffp-contract=off).
 */
#ifndef DPMF_NUMERICS_CHOLESKY_H
#define DPMF_NUMERICS_CHOLESKY_H

#include "dpmf.h"
#include "numerics/exact_arithmetic.h"

/* A = L L^T in place: A is n x n, row-major; only the lower triangle is read and written.
 * @return 0 or DPMF_ERR_BASE_NOT_DEFINITE (also for what is not finite) */
int cholesky_factor(double *A, size_t n);

/* The same, a piece at a time: columns `first` to end - 1, those before `first` being done. The
 * bits are the same too. */
int cholesky_factor_columns(double *A, size_t n, size_t first, size_t end);

/* x := A^-1 x, from the factor. */
void cholesky_solve(const double *L, size_t n, double *x);

/* x := L^-1 x, the first half of it. */
void cholesky_solve_lower(const double *L, size_t n, double *x);

/* x := L^-T x, the second. */
void cholesky_solve_transposed(const double *L, size_t n, double *x);

/* log det A = 2 sum log L_ii */
double cholesky_log_det(const double *L, size_t n);

/* out := A^-1, whole and symmetric. */
void cholesky_inverse(const double *L, size_t n, double *out);

#endif
