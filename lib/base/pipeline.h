/*
 * The shape of everything dpmf does with data: pieces are produced in order by one thread at a
 * time, worked on by all, and consumed in the order of their production. A fixed set of job objects
 * bounds what is in flight, so that memory is bounded and a slow stage holds back the ones before.
 * Results and errors do not depend on the number of threads: what fails first in *order* is
 * reported.
 */
#ifndef DPMF_BASE_PIPELINE_H
#define DPMF_BASE_PIPELINE_H

#include "dpmf.h"

struct pipeline_stages {
    /* Serial: fill `job`. @return 1, 0 at the end, or a negative code */
    int (*produce)(void *self, void *job, struct dpmf_error *error);

    /* In parallel; `worker` is in 0 .. pipeline_workers() - 1 and no two run with the same one at
     * once. May be NULL. @return 0 or a negative code */
    int (*work)(void *self, int worker, void *job, struct dpmf_error *error);

    /* Serial, in order. May be NULL. @return 0, or a negative code, which ends the run */
    int (*consume)(void *self, void *job, struct dpmf_error *error);
};

/* How many threads pipeline_run uses: one more than asked for, so that a thread that waits for the
 * disk does not leave a core without work. */
int pipeline_workers(int threads);

/* Runs to the end of the input or to the first error in order; all threads have stopped on return.
 * `jobs` are the caller's objects, each passed through the stages again and again. */
int pipeline_run(const struct pipeline_stages *stages, void *self, void *const *jobs, size_t n_jobs,
                 int threads, struct dpmf_error *error);

#endif
