/*
 * Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations in one fixed
 * order: the same bits for the same input on every machine.
 */
#ifndef DPMF_NUMERICS_SYMMETRIC_EIGEN_H
#define DPMF_NUMERICS_SYMMETRIC_EIGEN_H

#include <stddef.h>

#include "numerics/exact_arithmetic.h"

/* A (n x n, row-major, whole) is destroyed. values[0] >= values[1] >= ..., and row i of `vectors`
 * is the unit eigenvector of values[i]. What is not finite gives what is not finite, in bounded
 * time. */
void symmetric_eigen(double *A, size_t n, double *values, double *vectors);

#endif
