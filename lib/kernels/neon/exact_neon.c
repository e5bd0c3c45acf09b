/*
 * Private contributions: an instance of kernels/exact_body.h.
 */
#define EXACT_VEC 2

#include "kernels/exact_body.h"
#include "kernels/kernel_sets.h"

EXACT_KERNELS(neon);
