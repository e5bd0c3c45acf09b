/*
 * Refuses to compile where the compiler may change arithmetic. Proofs about sums, noise and
 * accounting count roundings one by one: they hold for IEEE doubles in the order that is written,
 * and for nothing else. Included by every file whose results such a proof covers; tests/lint/
 * compiles all of them with the options that are refused.
 */
#ifndef DPMF_NUMERICS_EXACT_ARITHMETIC_H
#define DPMF_NUMERICS_EXACT_ARITHMETIC_H

#include <float.h>

#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ || defined __RECIPROCAL_MATH__ ||        \
    (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math and its parts: they void the privacy proofs"
#endif

#if FLT_EVAL_METHOD != 0
#error "compile with -mfpmath=sse or the like: digits beyond a double's void the privacy proofs"
#endif

#endif
