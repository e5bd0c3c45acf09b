/*
 * Sums of products of columns in plain C.
 */
#include "kernels/kernel_sets.h"

#include <assert.h>

void kernel_ref_gram(const float *rows, size_t n, size_t k, float *gram) {
    assert(k > 0 && gram && (rows || n == 0));
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) gram[a * k + b] = 0;
    for (size_t t = 0; t < n; t++) {
        const float *row = rows + t * k;
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b <= a; b++) gram[a * k + b] += row[a] * row[b];
    }
}
