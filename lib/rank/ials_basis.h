/*
 * The basis in which the Gramian of a sweep is tridiagonal: (alpha G + penalty) x costs three
 * numbers a column there, and the way there a product with a matrix, once a sweep.
 * Conjugate gradients take the same steps in every orthogonal basis.
 */
#ifndef DPMF_RANK_IALS_BASIS_H
#define DPMF_RANK_IALS_BASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ials_basis {
    size_t width;
    float *diagonal, *beside; /* alpha G there: the diagonal, and what is beside it */
    float *there;             /* the matrix that leads there, in panels for the kernel `times` */
    double *basis, *spare;    /* room to find it */
};

/* @return whether there was memory; ials_basis_free is due in either case */
bool ials_basis_init(struct ials_basis *basis, size_t width);
void ials_basis_free(struct ials_basis *basis);
uint64_t ials_basis_bytes(size_t width);

/* Finds the basis for alpha G (width x width, whole), which is destroyed. */
void ials_basis_find(struct ials_basis *basis, double *gramian);

/* q := -(alpha G + penalty) x, for an x that is there. */
void ials_basis_apply(const struct ials_basis *basis, const float *x, float penalty, float *q);

#endif
