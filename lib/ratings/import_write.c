/*
 * The writing half of an import: slices of users out of the sorter, which all threads sort and
 * encode, go to the store in order, and the items after them, the most rated first. Fed by
 * import_read.c through the sorter; feeds lib/store.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "ratings/import_state.h"

struct write_job {
    uint64_t slice;
    struct store_encoded encoded;
};

struct write_worker {
    struct sorter_space space;
    struct byte_buffer ids;
    uint64_t id_start[STORE_BLOCK_USERS + 1];
};

struct item_order {
    uint64_t records;
    uint32_t number;
};

/* The most rated first; among equals, the first met. */
static int compare_order(const void *a, const void *b) {
    const struct item_order *x = a, *y = b;
    if (x->records != y->records) return x->records > y->records ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int rank_items(struct import *import, struct item_order **out, struct dpmf_error *error) {
    size_t n = (size_t)id_map_size(import->items);
    struct item_order *order = memory_alloc(n, sizeof order[0]);
    import->rank = memory_alloc(n, sizeof import->rank[0]);
    import->rank_ratings = memory_alloc(n, sizeof import->rank_ratings[0]);
    *out = order;
    if (!order || !import->rank || !import->rank_ratings) return error_no_memory(error);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct item_order){import->item_records[i], (uint32_t)i};
    qsort(order, n, sizeof order[0], compare_order);
    for (size_t r = 0; r < n; r++) {
        import->rank[order[r].number] = (uint32_t)r;
        atomic_init(&import->rank_ratings[r], order[r].records);
    }
    return 0;
}

static int produce_slice(void *self, void *pointer, struct dpmf_error *error) {
    struct import *import = self;
    struct write_job *job = pointer;
    (void)error;
    if (import->next_slice == rating_sorter_n_slices(import->sorter)) return 0;
    job->slice = import->next_slice++;
    return 1;
}

static void drop_duplicate(void *self, uint32_t rank) {
    struct import *import = self;
    atomic_fetch_sub_explicit(&import->rank_ratings[rank], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&import->duplicates, 1, memory_order_relaxed);
}

static int gather_ids(const struct import *import, struct write_worker *worker,
                      struct store_block *block, struct dpmf_error *error) {
    worker->ids.n = 0;
    for (uint32_t u = 0; u < block->n_users; u++) {
        struct id_text id = id_map_id(import->users, block->first_user + u);
        uint8_t *room = byte_buffer_room(&worker->ids, id.length);
        if (!room) return error_no_memory(error);
        memcpy(room, id.bytes, id.length);
        worker->id_start[u] = worker->ids.n;
        worker->ids.n += id.length;
    }
    worker->id_start[block->n_users] = worker->ids.n;
    block->id_start = worker->id_start;
    block->id_bytes = (const char *)worker->ids.bytes;
    return 0;
}

static int encode_slice(void *self, int worker_number, void *pointer, struct dpmf_error *error) {
    struct import *import = self;
    struct write_job *job = pointer;
    struct write_worker *worker = &import->workers[worker_number];
    struct store_block block;
    int code = rating_sorter_slice(import->sorter, job->slice, import->rank, &worker->space,
                                   drop_duplicate, import, &block, error);
    if (code == 0) code = gather_ids(import, worker, &block, error);
    if (code == 0)
        code = store_block_encode(&block, rating_sorter_has_times(import->sorter), &job->encoded,
                                  error);
    return code;
}

static int append_block(void *self, void *pointer, struct dpmf_error *error) {
    struct import *import = self;
    struct write_job *job = pointer;
    int code = store_writer_append(import->writer, &job->encoded, error);
    import->n_written += job->encoded.n_ratings;
    if (code < 0) return code;
    const struct dpmf_progress progress = {
        .phase = "writing",
        .unit = "ratings",
        .done = import->n_written,
        .total = import->n_read,
        .ratings = import->n_written,
    };
    if (import_progress_report(import, &progress)) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

static int write_blocks(struct import *import, size_t n_jobs, int threads,
                        struct dpmf_error *error) {
    static const struct pipeline_stages stages = {produce_slice, encode_slice, append_block};
    int code;
    size_t n_workers = (size_t)pipeline_workers(threads);
    struct write_job *jobs = memory_alloc_zero(n_jobs, sizeof jobs[0]);
    void **pointers = memory_alloc(n_jobs, sizeof pointers[0]);
    import->workers = memory_alloc_zero(n_workers, sizeof import->workers[0]);
    if (!jobs || !pointers || !import->workers) {
        code = error_no_memory(error);
        goto out;
    }
    for (size_t i = 0; i < n_jobs; i++) pointers[i] = &jobs[i];
    code = pipeline_run(&stages, import, pointers, n_jobs, threads, error);
out:
    for (size_t i = 0; jobs && i < n_jobs; i++) store_encoded_free(&jobs[i].encoded);
    for (size_t i = 0; import->workers && i < n_workers; i++) {
        sorter_space_free(&import->workers[i].space);
        free(import->workers[i].ids.bytes);
    }
    free(import->workers);
    import->workers = NULL;
    free(pointers);
    free(jobs);
    return code;
}

static int write_items(struct import *import, const struct item_order *order,
                       struct dpmf_error *error) {
    size_t n = (size_t)id_map_size(import->items);
    struct store_item *items = memory_alloc(n, sizeof items[0]);
    if (!items) return error_no_memory(error);
    for (size_t r = 0; r < n; r++) {
        struct id_text id = id_map_id(import->items, order[r].number);
        items[r].id = id.bytes;
        items[r].id_length = id.length;
        items[r].n_ratings = atomic_load_explicit(&import->rank_ratings[r], memory_order_relaxed);
    }
    int code = store_writer_finish(import->writer, items, n, error);
    free(items);
    return code;
}

int import_store_write(struct import *import, const char *output, size_t n_jobs, int threads,
                       struct dpmf_error *error) {
    struct item_order *order = NULL;
    if (import->layout.holds_events) rating_sorter_add_up(import->sorter);
    if (import->layout.is_unordered) rating_sorter_keep_latest(import->sorter);
    int code = rating_sorter_finish(import->sorter, id_map_size(import->users), error);
    if (code == 0) code = rank_items(import, &order, error);
    if (code == 0)
        code = store_writer_open(&import->writer, output, rating_sorter_has_times(import->sorter),
                                 &import->layout, error);
    if (code == 0) code = write_blocks(import, n_jobs, threads, error);
    if (code == 0) code = write_items(import, order, error);
    free(order);
    return code;
}
