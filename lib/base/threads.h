/*
 * A fork-join thread pool.
 */
#ifndef DPMF_BASE_THREADS_H
#define DPMF_BASE_THREADS_H

#include "dpmf.h"

/* run->threads, or the number of cores; at most 1024. `run` may be NULL. */
int threads_wanted(const struct dpmf_run *run);

struct thread_pool;

int thread_pool_init(struct thread_pool **pool, int n_threads, struct dpmf_error *error);
void thread_pool_free(struct thread_pool *pool); /* NULL is fine */
int thread_pool_size(const struct thread_pool *pool);

/* Runs task(self, worker) once in each of the pool's threads, worker = 0 .. n-1, and waits. */
void thread_pool_run(struct thread_pool *pool, void (*task)(void *self, int worker), void *self);

#endif
