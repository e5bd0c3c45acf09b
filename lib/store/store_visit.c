/*
 * Goes through a whole store with all threads: blocks are read in order, decoded and visited in
 * parallel, and their products finished in order. What describe, split and export are made of.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/host.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "store/store_reader.h"

struct visit_job {
    struct store_raw raw;
    void *product;
    uint64_t n_ratings;
};

struct visit {
    const struct dpmf_store *store;
    const struct store_visitor *visitor;
    const struct dpmf_run *run;
    uint64_t next_block;
    struct store_space *spaces; /* one a worker */
    uint64_t ratings_done;
};

static int produce_raw(void *self, void *job_pointer, struct dpmf_error *error) {
    struct visit *visit = self;
    struct visit_job *job = job_pointer;
    if (visit->next_block == store_n_blocks(visit->store)) return 0;
    int code = store_block_read(visit->store, visit->next_block++, &job->raw, error);
    return code < 0 ? code : 1;
}

static int visit_block(void *self, int worker, void *job_pointer, struct dpmf_error *error) {
    assert(worker >= 0);
    struct visit *visit = self;
    struct visit_job *job = job_pointer;
    struct store_block block;
    int code = store_block_decode(visit->store, &job->raw, visit->visitor->want,
                                  &visit->spaces[worker], &block, error);
    if (code < 0) return code;
    job->n_ratings = block.n_ratings;
    return visit->visitor->visit(visit->visitor->self, worker, &block, job->product, error);
}

static int finish_block(void *self, void *job_pointer, struct dpmf_error *error) {
    struct visit *visit = self;
    struct visit_job *job = job_pointer;
    int code = 0;
    if (visit->visitor->finish)
        code = visit->visitor->finish(visit->visitor->self, job->product, error);
    if (code < 0) return code;
    visit->ratings_done += job->n_ratings;
    if (!visit->run || !visit->run->progress) return 0;
    const struct dpmf_progress progress = {
        .phase = visit->visitor->phase,
        .unit = "ratings",
        .done = visit->ratings_done,
        .total = store_n_ratings(visit->store),
        .ratings = visit->ratings_done,
    };
    if (visit->run->progress(visit->run->progress_self, &progress))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

/* About the bytes of a rating in a decoded block: item, value, time, and what it came from. */
enum { RATING_BYTES = 24 };

/* A worker decodes one block and fills one product, and as many products again wait for their
 * turn. */
size_t store_visit_products(const struct dpmf_store *store, const struct dpmf_run *run) {
    size_t wanted = 2 * (size_t)pipeline_workers(threads_wanted(run));
    uint64_t memory = run && run->memory ? run->memory : host_default_budget();
    uint64_t block = store ? store_largest_block(store) * RATING_BYTES : 0;
    uint64_t allowed = memory / 4 / (block + 1);
    if (allowed < 2) allowed = 2;
    return allowed < wanted ? (size_t)allowed : wanted;
}

int store_visit(const struct dpmf_store *store, const struct store_visitor *visitor,
                const struct dpmf_run *run, struct dpmf_error *error) {
    assert(store && visitor && visitor->visit);
    static const struct pipeline_stages stages = {produce_raw, visit_block, finish_block};
    int code = 0;
    int threads = threads_wanted(run);
    size_t n_jobs = visitor->n_products, n_spaces = (size_t)pipeline_workers(threads);
    struct visit visit = {.store = store, .visitor = visitor, .run = run};
    struct visit_job *jobs = memory_alloc_zero(n_jobs, sizeof jobs[0]);
    void **pointers = memory_alloc(n_jobs, sizeof pointers[0]);
    visit.spaces = memory_alloc_zero(n_spaces, sizeof visit.spaces[0]);
    if (!jobs || !pointers || !visit.spaces) {
        code = error_no_memory(error);
        goto out;
    }
    for (size_t i = 0; i < n_jobs; i++) {
        jobs[i].product = visitor->products[i];
        pointers[i] = &jobs[i];
    }
    code = pipeline_run(&stages, &visit, pointers, n_jobs, threads, error);
out:
    for (size_t i = 0; jobs && i < n_jobs; i++) free(jobs[i].raw.buffer.bytes);
    for (size_t i = 0; visit.spaces && i < n_spaces; i++) store_space_free(&visit.spaces[i]);
    free(visit.spaces);
    free(pointers);
    free(jobs);
    return code;
}
