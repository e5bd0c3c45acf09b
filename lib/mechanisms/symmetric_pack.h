/*
 * A symmetric matrix as a vector of the same Euclidean norm, and back: the lower triangle, row by
 * row, with sqrt(2) times what is off the diagonal. What users contribute is bounded in that norm.
 */
#ifndef DPMF_MECHANISMS_SYMMETRIC_PACK_H
#define DPMF_MECHANISMS_SYMMETRIC_PACK_H

#include <stddef.h>

static const double symmetric_root2 = 1.4142135623730951;

static inline size_t symmetric_packed_n(size_t n) { return n * (n + 1) / 2; }

static inline void symmetric_pack(const double *A, size_t n, double *out) {
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < a; b++) *out++ = A[a * n + b] * symmetric_root2;
        *out++ = A[a * n + a];
    }
}

static inline void symmetric_unpack(const double *in, size_t n, double *A) {
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < a; b++) A[a * n + b] = A[b * n + a] = *in++ / symmetric_root2;
        A[a * n + a] = *in++;
    }
}

#endif
