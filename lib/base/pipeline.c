/*
 * The pipeline that import, describe, split, export and synth run on. All threads are alike: each
 * takes whichever step is due next, first of all consuming, because that is what frees jobs. Only
 * who has just produced goes on producing while there are idle threads to do the rest: where
 * producing is the slowest step it then never waits for a thread to wake up. Jobs form a ring in
 * the order of production, so three numbers tell how far each step is.
 */
#include "base/pipeline.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { PIPELINE_THREADS_MAX = 1024 };

/* What a job carries besides the caller's object. `code` is its own failure, reported in its
 * turn. */
struct slot {
    bool worked; /* may be consumed when its turn comes */
    int code;
    struct dpmf_error error;
};

struct pipeline {
    const struct pipeline_stages *stages;
    void *self;
    void *const *jobs;
    size_t n_jobs;

    pthread_mutex_t mutex; /* guards all that follows, and each slot between its steps */
    pthread_cond_t due;    /* some step may be due */
    struct slot *slots;    /* number i of all jobs ever produced is in slot i % n_jobs */
    uint64_t n_produced, n_taken, n_consumed; /* taken: to be worked on */
    int n_idle;
    bool producing, consuming; /* by some thread, right now */
    bool ended;                /* nothing more will be produced */
    bool stopped;              /* nothing more will be done */
    int code;                  /* the run's result, and its description */
    struct dpmf_error error;
};

struct pipeline_thread {
    struct pipeline *pipeline;
    pthread_t thread;
    int worker;
};

int pipeline_workers(int threads) {
    if (threads < 1) threads = 1;
    return (threads < PIPELINE_THREADS_MAX ? threads : PIPELINE_THREADS_MAX) + 1;
}

static struct slot *slot_of(struct pipeline *p, uint64_t number, void **job) {
    assert(number >= p->n_consumed && number - p->n_consumed < p->n_jobs);
    size_t i = (size_t)(number % p->n_jobs);
    *job = p->jobs[i];
    return &p->slots[i];
}

static bool consume_is_due(const struct pipeline *p) {
    return !p->consuming && p->n_consumed < p->n_produced &&
           p->slots[p->n_consumed % p->n_jobs].worked;
}

static bool work_is_due(const struct pipeline *p) { return p->n_taken < p->n_produced; }

static bool produce_is_due(const struct pipeline *p) {
    return !p->producing && !p->ended && p->n_produced - p->n_consumed < p->n_jobs;
}

static bool is_over(const struct pipeline *p) {
    return p->ended && !p->producing && p->n_consumed == p->n_produced;
}

/* Called with the lock held, whenever a thread is about to leave it for long: one thread is woken
 * when there is a step for it, and will itself wake the next. So nobody sleeps over a step that is
 * due, and nobody is woken for nothing. */
static void unlock_and_wake(struct pipeline *p) {
    if (!p->stopped && (consume_is_due(p) || work_is_due(p) || produce_is_due(p)))
        pthread_cond_signal(&p->due);
    pthread_mutex_unlock(&p->mutex);
}

static void stop(struct pipeline *p, int code, const struct dpmf_error *error) {
    if (p->stopped) return;
    p->stopped = true;
    p->code = code;
    if (code < 0) {
        p->error = *error;
        if (p->error.code == 0) error_set(&p->error, code, "%s", dpmf_error_sentence(code));
    }
    pthread_cond_broadcast(&p->due);
}

/* The three steps: called and left with the lock held, which they let go of while they work. */

static void consume(struct pipeline *p) {
    assert(consume_is_due(p));
    assert(p->n_consumed < p->n_taken);
    void *job;
    struct slot *slot = slot_of(p, p->n_consumed, &job);
    int code = slot->code;
    if (code == 0 && p->stages->consume) {
        p->consuming = true;
        unlock_and_wake(p);
        code = p->stages->consume(p->self, job, &slot->error);
        pthread_mutex_lock(&p->mutex);
        p->consuming = false;
    }
    slot->worked = false;
    p->n_consumed++;
    if (code < 0) stop(p, code, &slot->error);
}

static void work(struct pipeline *p, int worker) {
    assert(work_is_due(p));
    void *job;
    struct slot *slot = slot_of(p, p->n_taken++, &job);
    if (slot->code == 0 && p->stages->work) {
        unlock_and_wake(p);
        int code = p->stages->work(p->self, worker, job, &slot->error);
        pthread_mutex_lock(&p->mutex);
        if (code < 0) slot->code = code;
    }
    /* The run cannot get past a job that failed: what comes after it is not worth producing. */
    if (slot->code < 0) p->ended = true;
    slot->worked = true;
}

static void produce(struct pipeline *p) {
    assert(produce_is_due(p));
    void *job;
    struct slot *slot = slot_of(p, p->n_produced, &job);
    slot->code = 0;
    slot->error.code = 0;
    p->producing = true;
    unlock_and_wake(p);
    int code = p->stages->produce(p->self, job, &slot->error);
    pthread_mutex_lock(&p->mutex);
    p->producing = false;
    if (code <= 0) p->ended = true;
    if (code < 0) slot->code = code;
    if (code != 0) p->n_produced++;
}

static void wait_for_step(struct pipeline *p) {
    p->n_idle++;
    pthread_cond_wait(&p->due, &p->mutex);
    p->n_idle--;
}

static void take_steps(struct pipeline *p, int worker) {
    bool produced = false; /* by this thread, just now */
    pthread_mutex_lock(&p->mutex);
    while (!p->stopped) {
        bool go_on = produced && p->n_idle > 0 && produce_is_due(p);
        produced = false;
        if (consume_is_due(p) && !go_on) {
            consume(p);
        } else if (work_is_due(p) && !go_on) {
            work(p, worker);
        } else if (produce_is_due(p)) {
            produce(p);
            produced = true;
        } else if (is_over(p)) {
            stop(p, 0, NULL);
        } else {
            wait_for_step(p);
        }
    }
    pthread_mutex_unlock(&p->mutex);
}

static void *thread_main(void *argument) {
    struct pipeline_thread *me = argument;
    take_steps(me->pipeline, me->worker);
    return NULL;
}

/* The calling thread is worker 0, so that a machine without threads to spare is slower, no more. */
static void run_threads(struct pipeline *p, struct pipeline_thread *threads, int n) {
    int started = 0;
    for (; started < n; started++) {
        struct pipeline_thread *thread = &threads[started];
        thread->pipeline = p;
        thread->worker = started + 1;
        if (pthread_create(&thread->thread, NULL, thread_main, thread) != 0) break;
    }
    take_steps(p, 0);
    for (int i = 0; i < started; i++) pthread_join(threads[i].thread, NULL);
}

static bool make_locks(struct pipeline *p) {
    if (pthread_mutex_init(&p->mutex, NULL) != 0) return false;
    if (pthread_cond_init(&p->due, NULL) == 0) return true;
    pthread_mutex_destroy(&p->mutex);
    return false;
}

int pipeline_run(const struct pipeline_stages *stages, void *self, void *const *jobs, size_t n_jobs,
                 int threads, struct dpmf_error *error) {
    assert(stages && stages->produce);
    assert(jobs || n_jobs == 0);
    if (n_jobs == 0) return error_set(error, DPMF_ERR_BASE_BUG, "a pipeline without jobs");
    int n = pipeline_workers(threads);
    if ((size_t)n > n_jobs) n = (int)n_jobs; /* each thread at work holds a job */

    int code;
    struct pipeline *p = memory_alloc_zero(1, sizeof *p);
    struct slot *slots = memory_alloc_zero(n_jobs, sizeof *slots);
    struct pipeline_thread *others = memory_alloc_zero((size_t)n, sizeof *others);
    if (!p || !slots || !others || !make_locks(p)) {
        code = error_no_memory(error);
        goto out;
    }
    p->stages = stages;
    p->self = self;
    p->jobs = jobs;
    p->n_jobs = n_jobs;
    p->slots = slots;

    run_threads(p, others, n - 1);
    code = p->code;
    if (code < 0 && error) *error = p->error;
    pthread_cond_destroy(&p->due);
    pthread_mutex_destroy(&p->mutex);
out:
    free(others);
    free(slots);
    free(p);
    return code;
}
