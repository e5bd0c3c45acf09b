/*
 * Measures the rooflines of training. An update of SGD rewrites a vector and a share of another,
 * and that, not arithmetic, is its limit; so all threads rewrite memory that stays in their own
 * caches, as fast as they can. Implicit least squares takes a number from the caches for each
 * multiplication and addition; so they read it. Feeds bench.c and bench_ials.c.
 */
#define _GNU_SOURCE
#include "machine/roofline.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "kernels/rewrite.h"

enum { ROUNDS = 8 };
static const double ROUND_SECONDS = 4e-3;

struct roofline {
    void (*pass)(float *x, size_t n); /* what is measured */
    size_t floats;
    float **memory; /* a thread's, all of it mapped before the clock starts */
    double *rate;   /* a thread's, bytes a second */
};

/* The best of several rounds: a slow one says something about the neighbours, not about the
 * machine. */
static void run_thread(void *self, int worker) {
    struct roofline *roofline = self;
    float *x = roofline->memory[worker];
    size_t bytes = roofline->floats * sizeof *x, times = ((size_t)1 << 20) / bytes + 1;
    for (size_t i = 0; i < roofline->floats; i++) x[i] = 1;
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begun = clock_of_thread(), end = begun, done = 0;
        while (end - begun < ROUND_SECONDS) {
            for (size_t i = 0; i < times; i++) roofline->pass(x, roofline->floats);
            done += (double)(times * bytes);
            end = clock_of_thread();
        }
        if (done / (end - begun) > best) best = done / (end - begun);
    }
    roofline->rate[worker] = best;
}

/* The sum goes into the memory, where the compiler has to believe that it is wanted. */
static void read_pass(float *x, size_t n) { x[0] = 1 + 1e-30f * reread_floats(x, n); }

static int measure(struct thread_pool *pool, void (*pass)(float *x, size_t n),
                   double *bytes_per_second, struct dpmf_error *error) {
    struct host_caches caches;
    int code = host_caches_read(&caches, error);
    if (code < 0) return code;
    const size_t sizes[] = {caches.l1 / 2, caches.l2 / 2};
    const int n = thread_pool_size(pool);
    const size_t room = caches.l1 > caches.l2 ? caches.l1 : caches.l2;
    struct roofline roofline = {
        .pass = pass,
        .memory = memory_alloc_zero((size_t)n, sizeof(float *)),
        .rate = memory_alloc_zero((size_t)n, sizeof(double)),
    };
    *bytes_per_second = 0;
    if (!roofline.memory || !roofline.rate) code = error_no_memory(error);
    for (int i = 0; code == 0 && i < n; i++)
        if (!(roofline.memory[i] = memory_map(room))) code = error_no_memory(error);
    for (size_t s = 0; code == 0 && s < sizeof sizes / sizeof *sizes; s++) {
        double sum = 0;
        roofline.floats = sizes[s] / sizeof(float);
        thread_pool_run(pool, run_thread, &roofline);
        for (int i = 0; i < n; i++) sum += roofline.rate[i];
        if (sum > *bytes_per_second) *bytes_per_second = sum;
    }
    for (int i = 0; roofline.memory && i < n; i++) memory_unmap(roofline.memory[i], room);
    free(roofline.memory);
    free(roofline.rate);
    return code;
}

int roofline_measure(struct thread_pool *pool, double *bytes_per_second, struct dpmf_error *error) {
    return measure(pool, rewrite_floats, bytes_per_second, error);
}

int roofline_measure_reading(struct thread_pool *pool, double *bytes_per_second,
                             struct dpmf_error *error) {
    return measure(pool, read_pass, bytes_per_second, error);
}
