/*
 * The speed of the solver "ials", for dpmf_bench_run.
 */
#ifndef DPMF_MACHINE_BENCH_IALS_H
#define DPMF_MACHINE_BENCH_IALS_H

#include "dpmf.h"
#include "kernels/kernels.h"

/* As dpmf_bench_run, whose options have been checked. */
int bench_ials_run(struct dpmf_store *store, const struct dpmf_bench_options *options,
                   const struct dpmf_run *run, const struct kernel_set *kernels,
                   struct dpmf_bench_result *result, struct dpmf_error *error);

/* The median of seconds, which it sorts: a busy machine has epochs that say nothing. */
double bench_median(double *seconds, size_t n);

#endif
