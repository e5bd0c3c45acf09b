/*
 * Threads for work that is divided in advance. What flows through stages in order has pipeline.c
 * instead.
 */
#define _GNU_SOURCE
#include "base/threads.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"

enum { THREADS_MAX = 1024 };

int threads_wanted(const struct dpmf_run *run) {
    int threads = run && run->threads > 0 ? run->threads : host_cores();
    return threads < THREADS_MAX ? threads : THREADS_MAX;
}

struct pool_thread {
    struct thread_pool *pool;
    pthread_t thread;
    int worker;
};

struct thread_pool {
    pthread_mutex_t mutex;
    pthread_cond_t start, finished;
    int n;          /* workers, the caller of thread_pool_run among them */
    int n_started;  /* threads that exist: n - 1 of them once the pool is whole */
    uint64_t round; /* counts the tasks given; a thread runs when it differs from its own */
    int n_running;
    bool closing;
    void (*task)(void *self, int worker);
    void *self;
    struct pool_thread threads[];
};

static void *pool_thread_main(void *argument) {
    struct pool_thread *me = argument;
    struct thread_pool *pool = me->pool;
    uint64_t round = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->closing && pool->round == round)
            pthread_cond_wait(&pool->start, &pool->mutex);
        if (pool->closing) break;
        round = pool->round;
        void (*task)(void *, int) = pool->task;
        void *self = pool->self;
        pthread_mutex_unlock(&pool->mutex);
        task(self, me->worker);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->n_running == 0) pthread_cond_signal(&pool->finished);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* A mutex with two conditions, or nothing at all. */
static bool make_locks(pthread_mutex_t *mutex, pthread_cond_t *first, pthread_cond_t *second) {
    if (pthread_mutex_init(mutex, NULL) != 0) return false;
    if (pthread_cond_init(first, NULL) == 0) {
        if (pthread_cond_init(second, NULL) == 0) return true;
        pthread_cond_destroy(first);
    }
    pthread_mutex_destroy(mutex);
    return false;
}

int thread_pool_init(struct thread_pool **out, int n_threads, struct dpmf_error *error) {
    *out = NULL;
    int n = n_threads < 1 ? 1 : n_threads < THREADS_MAX ? n_threads : THREADS_MAX;
    size_t bytes = sizeof(struct thread_pool) + (size_t)n * sizeof(struct pool_thread);
    struct thread_pool *pool = memory_alloc_zero(1, bytes);
    if (!pool) return error_no_memory(error);
    if (!make_locks(&pool->mutex, &pool->start, &pool->finished)) {
        free(pool);
        return error_no_memory(error);
    }
    pool->n = n;
    for (int i = 0; i < n - 1; i++) {
        struct pool_thread *thread = &pool->threads[i];
        thread->pool = pool;
        thread->worker = i + 1;
        int failure = pthread_create(&thread->thread, NULL, pool_thread_main, thread);
        if (failure != 0) {
            thread_pool_free(pool);
            error_set(error, DPMF_ERR_BASE_THREAD, "cannot start thread %d of %d", i + 2, n);
            error_hint(error, "use fewer threads");
            return DPMF_ERR_BASE_THREAD;
        }
        pool->n_started++;
    }
    *out = pool;
    return 0;
}

void thread_pool_free(struct thread_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->n_started; i++) pthread_join(pool->threads[i].thread, NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

int thread_pool_size(const struct thread_pool *pool) {
    assert(pool && pool->n >= 1);
    return pool->n;
}

void thread_pool_run(struct thread_pool *pool, void (*task)(void *self, int worker), void *self) {
    assert(pool && task);
    assert(pool->n_started == pool->n - 1);
    assert(pool->n_running == 0);
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->self = self;
    pool->n_running = pool->n_started;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);

    task(self, 0);

    pthread_mutex_lock(&pool->mutex);
    while (pool->n_running > 0) pthread_cond_wait(&pool->finished, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}
