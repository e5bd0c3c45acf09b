/*
 * The speeds that no training can pass on this machine.
 */
#ifndef DPMF_MACHINE_ROOFLINE_H
#define DPMF_MACHINE_ROOFLINE_H

#include "base/threads.h"

/* Bytes a second that the pool's threads together can read, change and write back in place, in the
 * first or second level of the caches, whichever is faster; measured for some hundredths of a
 * second. */
int roofline_measure(struct thread_pool *pool, double *bytes_per_second, struct dpmf_error *error);

/* The same for memory that is only read. */
int roofline_measure_reading(struct thread_pool *pool, double *bytes_per_second,
                             struct dpmf_error *error);

#endif
