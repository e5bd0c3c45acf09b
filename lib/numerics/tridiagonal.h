/*
 * A symmetric matrix as an orthogonal one times a tridiagonal one: A = Q T Q^T, by Householder's
 * reflections. In the basis of Q's columns a product with A costs three numbers a column in place
 * of all of them. In double and in a fixed order of operations.
 */
#ifndef DPMF_NUMERICS_TRIDIAGONAL_H
#define DPMF_NUMERICS_TRIDIAGONAL_H

#include <stddef.h>

#include "numerics/exact_arithmetic.h"

/* Reads the lower triangle of A (n x n, row-major), and destroys all of A. diagonal[i] = T_ii,
 * beside[i] = T_i,i+1 and beside[n - 1] = 0; Q is n x n, row-major. `spare` has room for 3 n
 * numbers. Rows and columns of A that are 0 stay as they are in Q. What is not finite gives what is
 * not finite. */
void tridiagonal_reduce(double *A, size_t n, double *diagonal, double *beside, double *Q,
                        double *spare);

#endif
