/*
 * The basis of ials_basis.h, found in double by Householder's reflections. Fed by the Gramian that
 * ials.c sums; feeds its sweeps.
 */
#include "rank/ials_basis.h"

#include <stdlib.h>

#include "base/memory.h"
#include "kernels/kernels.h"
#include "numerics/tridiagonal.h"

static float *floats(size_t n) {
    void *at = NULL;
    if (posix_memalign(&at, KERNEL_ALIGN, (n + 1) * sizeof(float)) != 0) return NULL;
    for (size_t i = 0; i <= n; i++) ((float *)at)[i] = 0;
    return at;
}

bool ials_basis_init(struct ials_basis *basis, size_t width) {
    const size_t square = width * width;
    *basis = (struct ials_basis){
        .width = width,
        .diagonal = floats(width),
        .beside = floats(width),
        .there = floats(square),
        .basis = memory_alloc_zero(square, sizeof(double)),
        .spare = memory_alloc_zero(5 * width, sizeof(double)),
    };
    return basis->diagonal && basis->beside && basis->there && basis->basis && basis->spare;
}

void ials_basis_free(struct ials_basis *basis) {
    free(basis->diagonal);
    free(basis->beside);
    free(basis->there);
    free(basis->basis);
    free(basis->spare);
    *basis = (struct ials_basis){0};
}

uint64_t ials_basis_bytes(size_t width) {
    return (uint64_t)width * width * (sizeof(float) + sizeof(double)) +
           width * (2 * sizeof(float) + 5 * sizeof(double));
}

void ials_basis_find(struct ials_basis *basis, double *gramian) {
    const size_t width = basis->width;
    double *diagonal = basis->spare, *beside = diagonal + width, *spare = beside + width;
    tridiagonal_reduce(gramian, width, diagonal, beside, basis->basis, spare);
    for (size_t a = 0; a < width; a++) {
        basis->diagonal[a] = (float)diagonal[a];
        basis->beside[a] = (float)beside[a];
        for (size_t b = 0; b < width; b++)
            basis->there[kernel_panel_at(width, a, b)] = (float)basis->basis[a * width + b];
    }
}

void ials_basis_apply(const struct ials_basis *basis, const float *x, float penalty, float *q) {
    const size_t width = basis->width;
    const float *diagonal = basis->diagonal, *beside = basis->beside;
    q[0] = -(diagonal[0] + penalty) * x[0];
    if (width > 1) q[0] -= beside[0] * x[1];
    for (size_t c = 1; c + 1 < width; c++)
        q[c] = -(diagonal[c] + penalty) * x[c] - beside[c] * x[c + 1] - beside[c - 1] * x[c - 1];
    if (width > 1)
        q[width - 1] =
            -(diagonal[width - 1] + penalty) * x[width - 1] - beside[width - 2] * x[width - 2];
}
