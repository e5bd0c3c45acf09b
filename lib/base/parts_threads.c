/*
 * Work in parts, by as many threads as the machine has cores. Where threads cannot be had, one does
 * it all.
 */
#include "base/parts.h"

#include "base/threads.h"
#include <assert.h>

struct work {
    void (*part)(void *self, size_t i, size_t n);
    void *self;
    int n;
};

static void run_part(void *self, int worker) {
    const struct work *work = self;
    work->part(work->self, (size_t)worker, (size_t)work->n);
}

void parts_run(void (*part)(void *self, size_t i, size_t n), void *self, size_t most) {
    assert(part);
    struct thread_pool *pool = NULL;
    int n = threads_wanted(NULL);
    if (n > PARTS_MAX) n = PARTS_MAX;
    if ((size_t)n > most) n = (int)most;
    if (n < 2 || thread_pool_init(&pool, n, NULL) < 0) {
        part(self, 0, 1);
        return;
    }
    struct work work = {.part = part, .self = self, .n = n};
    thread_pool_run(pool, run_part, &work);
    thread_pool_free(pool);
}
