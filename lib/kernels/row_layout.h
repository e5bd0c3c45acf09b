/*
 * How the vector kernels lay out a row: its padded length and the distance to the next.
 */
#ifndef DPMF_KERNELS_ROW_LAYOUT_H
#define DPMF_KERNELS_ROW_LAYOUT_H

#include "kernels/kernels.h"

enum {
    ROW_LINE = KERNEL_ALIGN / 4, /* floats in a cache line */
    ROW_SMALL = 32, /* up to here a row lives in registers, and k need not fill lines */
};

/* Whole vectors for small rows; whole lines, which large rows are prefetched by. */
static inline size_t row_padded(size_t k, size_t vector) {
    size_t unit = k <= ROW_SMALL ? vector : ROW_LINE;
    return (k + unit - 1) / unit * unit;
}

/* A line more where rows are a multiple of 1 KiB: otherwise the same column of several rows falls
 * on addresses whose low 12 bits agree, which share the sets of the cache and look like store
 * conflicts. */
static inline size_t row_stride(size_t k) {
    size_t lines = (k + ROW_LINE - 1) / ROW_LINE * ROW_LINE;
    return lines % 256 == 0 ? lines + ROW_LINE : lines;
}

#endif
