/*
 * From ratings in any form to a store, in two pipelines.
 *
 *   reading   a source cuts chunks -> all threads parse them and look their ids up ->
 *             in order: new ids get numbers, ratings go to the sorter
 *   writing   slices of users -> all threads sort and encode them -> in order: the store
 *
 * Whatever decides a number (a new user's, which of two duplicates is the last) happens in the ordered
 * steps, so the same input gives the same store, byte for byte, for any number of threads and any bound
 * of memory. Fed by source.h; feeds lib/store.
 */
#define _GNU_SOURCE
#include "ratings/import.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "database/database_url.h"
#include "ratings/database_source.h"
#include "ratings/id_map.h"
#include "ratings/source.h"
#include "store/rating_sorter.h"

#define MEBIBYTE (UINT64_C(1) << 20)
#define MEMORY_MIN (64 * MEBIBYTE)
#define READ_JOB_BYTES (6 * MEBIBYTE)   /* a chunk of text and its ratings, about */
#define STORE_RATING_BYTES 50           /* a rating of a store's block, decoded and taken, about */
#define WRITE_JOB_BYTES (40 * MEBIBYTE) /* a full slice while it is sorted and encoded, about */

/* A source stays open until the last of its chunks is settled; `end` jobs close it in order. */
struct import {
    const char *const *inputs;
    size_t n_inputs, next_input;
    struct source *given; /* a source that is open already, until it is cut: in place of inputs */
    const struct dpmf_input_options *options;
    const struct dpmf_run *run;
    struct dpmf_import_report *report;
    uint64_t memory;

    /* reading */
    struct source *reading;      /* the source being cut; the producer's */
    pthread_mutex_t report_lock; /* who reports progress: the ordered step, or a read that waits */
    struct dpmf_progress last_report;
    _Atomic uint64_t bytes_before; /* of the sources already closed */
    uint64_t bytes_total;          /* 0 when not known */
    uint64_t read_job_bytes;       /* what a chunk takes while it is worked on */
    struct id_map *users, *items;
    struct rating_sorter *sorter;
    uint64_t reserve; /* memory for the jobs of either pipeline */
    uint64_t n_read;
    uint64_t *item_records;
    size_t item_capacity;

    /* writing */
    struct store_writer *writer;
    uint64_t next_slice, n_written;
    uint32_t *rank;                 /* item number -> place in the store's dictionary */
    _Atomic uint64_t *rank_ratings; /* by rank, duplicates taken off as they are found */
    _Atomic uint64_t duplicates;
    struct write_worker *workers;
};

/* ---- reading ---------------------------------------------------------------------------------- */

/* Reports what the ordered step has come to, or, without an update, that nothing has changed.
 * @return whether to go on */
static bool report_progress(struct import *import, const struct dpmf_progress *update) {
    const struct dpmf_run *run = import->run;
    if (!run->progress) return true;
    pthread_mutex_lock(&import->report_lock);
    if (update) import->last_report = *update;
    bool go_on = run->progress(run->self, &import->last_report) == 0;
    pthread_mutex_unlock(&import->report_lock);
    return go_on;
}

static bool go_on_waiting(void *self) { return report_progress(self, NULL); }

static int report_reading(struct import *import, const struct source *source,
                          struct dpmf_error *error) {
    const struct dpmf_progress progress = {
        .phase = "reading",
        .unit = "bytes",
        .done = atomic_load(&import->bytes_before) + source->bytes_read(source),
        .total = import->bytes_total,
        .ratings = import->n_read,
    };
    if (report_progress(import, &progress)) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

/* Of several inputs one may be empty: a day without ratings, a film nobody rated. */
static bool may_be_empty(const struct import *import, const struct dpmf_error *error) {
    return error->code == DPMF_ERR_INPUT_EMPTY && import->n_inputs > 1;
}

static void warn_of_empty(struct import *import, const struct dpmf_error *error) {
    char text[2 * DPMF_ERROR_TEXT_MAX + 64];
    dpmf_error_format(error, text, sizeof text);
    pthread_mutex_lock(&import->report_lock);
    if (import->run->warn) import->run->warn(import->run->self, text);
    pthread_mutex_unlock(&import->report_lock);
}

/* An id that had no number when its chunk was parsed, of records in a row. */
struct new_id {
    size_t record, n_records;
    size_t offset; /* into the job's id_bytes */
    uint32_t length;
    bool is_item;
};

struct read_job {
    struct import *import;
    struct source *source;
    bool ends_source;        /* no chunk: the source is to be finished and closed */
    struct dpmf_error empty; /* there was nothing in it to begin with, and so no source: why */
    const struct source_ops *chunk_ops;
    void *chunk;
    struct record_batch batch;

    uint32_t *user, *item;
    double *value;
    int64_t *time;
    size_t n, user_capacity, item_capacity, value_capacity, time_capacity;
    bool any_time;
    struct new_id *new_ids;
    size_t n_new, new_capacity;
    struct byte_buffer id_bytes;
};

static struct id_text new_id_text(const struct read_job *job, const struct new_id *new_id) {
    return (struct id_text){(const char *)job->id_bytes.bytes + new_id->offset, new_id->length};
}

/* Whether this record goes on with what was kept last: ratings often come sorted by user or by item. */
static bool goes_on(const struct read_job *job, size_t record, bool is_item, struct id_text id) {
    if (job->n_new == 0) return false;
    const struct new_id *last = &job->new_ids[job->n_new - 1];
    return last->is_item == is_item && last->record + last->n_records == record &&
           last->length == id.length &&
           memcmp(new_id_text(job, last).bytes, id.bytes, id.length) == 0;
}

static int keep_new_id(struct read_job *job, size_t record, bool is_item, struct id_text id,
                       struct dpmf_error *error) {
    if (goes_on(job, record, is_item, id)) {
        job->new_ids[job->n_new - 1].n_records++;
        return 0;
    }
    uint8_t *room = byte_buffer_room(&job->id_bytes, id.length);
    if (!room ||
        !memory_reserve(&job->new_ids, &job->new_capacity, job->n_new + 1, sizeof job->new_ids[0]))
        return error_no_memory(error);
    memcpy(room, id.bytes, id.length);
    job->new_ids[job->n_new++] = (struct new_id){record, 1, job->id_bytes.n, id.length, is_item};
    job->id_bytes.n += id.length;
    return 0;
}

static int reserve_records(struct read_job *job, size_t n, struct dpmf_error *error) {
    if (memory_reserve(&job->user, &job->user_capacity, n, sizeof job->user[0]) &&
        memory_reserve(&job->item, &job->item_capacity, n, sizeof job->item[0]) &&
        memory_reserve(&job->value, &job->value_capacity, n, sizeof job->value[0]) &&
        memory_reserve(&job->time, &job->time_capacity, n, sizeof job->time[0]))
        return 0;
    return error_no_memory(error);
}

static_assert((int)RECORD_BATCH <= (int)ID_MAP_MANY, "a batch is looked up at once");

/* The numbers of the n records from `first` on; ids that have none are kept. */
static int look_up(struct read_job *job, const struct id_text *ids, size_t first, int n,
                   bool is_item, struct dpmf_error *error) {
    const struct import *import = job->import;
    uint32_t *number = (is_item ? job->item : job->user) + first;
    int code = 0;
    id_map_find_many(is_item ? import->items : import->users, ids, n, number);
    for (int i = 0; i < n && code == 0; i++)
        if (number[i] == ID_MAP_NONE)
            code = keep_new_id(job, first + (size_t)i, is_item, ids[i], error);
    return code;
}

/* The batch's owner: looks up a cache-full of records. */
static int take_records(void *self, const struct record *records, int n, struct dpmf_error *error) {
    struct read_job *job = self;
    struct id_text users[RECORD_BATCH], items[RECORD_BATCH];
    size_t first = job->n;
    int code = reserve_records(job, first + (size_t)n, error);
    if (code < 0) return code;
    for (int i = 0; i < n; i++) {
        users[i] = (struct id_text){records[i].user, records[i].user_length};
        items[i] = (struct id_text){records[i].item, records[i].item_length};
        job->value[first + (size_t)i] = records[i].rating;
        job->time[first + (size_t)i] = records[i].time;
        job->any_time |= records[i].time != STORE_NO_TIME;
    }
    code = look_up(job, users, first, n, false, error);
    if (code == 0) code = look_up(job, items, first, n, true, error);
    job->n += (size_t)n;
    return code;
}

static int prepare_chunk(struct read_job *job, struct dpmf_error *error) {
    if (job->chunk && job->chunk_ops == job->source->ops) return 0;
    if (job->chunk) job->chunk_ops->chunk_free(job->chunk);
    job->chunk_ops = job->source->ops;
    job->chunk = job->chunk_ops->chunk_new(job->source);
    return job->chunk ? 0 : error_no_memory(error);
}

static int produce_chunk(void *self, void *pointer, struct dpmf_error *error) {
    struct import *import = self;
    struct read_job *job = pointer;
    int code = 0;
    job->n = job->n_new = job->id_bytes.n = 0;
    job->any_time = job->ends_source = false;
    job->source = NULL;
    if (!import->reading && import->given) {
        import->reading = import->given;
        import->given = NULL;
    }
    if (!import->reading) {
        if (import->next_input == import->n_inputs) return 0;
        const char *path = import->inputs[import->next_input++];
        const struct input_wait wait = {go_on_waiting, import};
        struct dpmf_error reason = {0};
        code = source_open(path, import->options, &wait, &import->reading, &reason);
        if (code < 0 && may_be_empty(import, &reason)) { /* to be told in its turn */
            job->ends_source = true;
            job->empty = reason;
            return 1;
        }
        if (code < 0) {
            if (error) *error = reason;
            return code;
        }
    }
    job->source = import->reading;
    if ((code = prepare_chunk(job, error)) < 0) return code;
    code = job->source->ops->next(job->source, job->chunk, error);
    if (code < 0) return code;
    job->ends_source = code == 0;
    if (job->ends_source) import->reading = NULL; /* the job closes it, when its turn comes */
    return 1;
}

static int parse_chunk(void *self, int worker, void *pointer, struct dpmf_error *error) {
    struct import *import = self;
    struct read_job *job = pointer;
    (void)worker;
    (void)error; /* what goes wrong stays in the batch until its place in the file is known */
    job->batch.take = take_records;
    job->batch.self = job;
    job->batch.options = import->options;
    record_batch_begin(&job->batch);
    if (job->ends_source) return 0;
    job->source->ops->parse(job->source, job->chunk, &job->batch);
    record_batch_end(&job->batch);
    return 0;
}

static int number_new_ids(struct import *import, struct read_job *job, struct dpmf_error *error) {
    for (size_t i = 0; i < job->n_new; i++) {
        const struct new_id *new_id = &job->new_ids[i];
        struct id_text id = new_id_text(job, new_id);
        struct id_map *map = new_id->is_item ? import->items : import->users;
        uint32_t *number = (new_id->is_item ? job->item : job->user) + new_id->record;
        int code = id_map_add(map, id, number, error);
        if (code < 0) return code;
        for (size_t r = 1; r < new_id->n_records; r++) number[r] = number[0];
    }
    return 0;
}

static int count_items(struct import *import, const struct read_job *job,
                       struct dpmf_error *error) {
    size_t n = (size_t)id_map_size(import->items), before = import->item_capacity;
    if (!memory_reserve(&import->item_records, &import->item_capacity, n,
                        sizeof import->item_records[0]))
        return error_no_memory(error);
    if (import->item_capacity > before)
        memset(import->item_records + before, 0,
               (import->item_capacity - before) * sizeof import->item_records[0]);
    for (size_t r = 0; r < job->n; r++) import->item_records[job->item[r]]++;
    return 0;
}

/* What would do, if the rest of the input has as many new ids as what was read of it; tables of ids
 * double when they grow, and the one before is still there then. */
static uint64_t memory_needed(const struct import *import, uint64_t ids) {
    double share = import->bytes_total && import->last_report.done
                       ? (double)import->last_report.done / (double)import->bytes_total
                       : 0.25;
    if (share > 1) share = 1;
    return (uint64_t)(2.5 * (double)ids / share) + 2 * import->reserve + MEMORY_MIN;
}

/* What the ids and the jobs leave is for the sorter; a floor of an eighth keeps it useful. */
static int divide_memory(struct import *import, struct dpmf_error *error) {
    uint64_t ids = id_map_bytes(import->users) + id_map_bytes(import->items) +
                   8 * (id_map_size(import->users) + id_map_size(import->items));
    uint64_t taken = ids + import->reserve;
    if (taken + import->memory / 8 > import->memory) {
        int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                             "the ids read so far take %llu MiB, too much for --memory %llu MiB",
                             (unsigned long long)(ids / MEBIBYTE),
                             (unsigned long long)(import->memory / MEBIBYTE));
        error_hint(error, "give it --memory %lluMiB, or more",
                   (unsigned long long)(memory_needed(import, ids) / MEBIBYTE));
        return code;
    }
    rating_sorter_set_memory(import->sorter, import->memory - taken);
    return 0;
}

/* Rejected records and failures of a chunk, their places now absolute. */
static int account_batch(struct import *import, const struct record_batch *batch,
                         struct dpmf_error *error) {
    struct dpmf_import_report *report = import->report;
    if (batch->n_rejected && !report->first_skipped.code)
        report->first_skipped = batch->first_rejected;
    report->skipped += batch->n_rejected;
    if (!batch->failure.code) return 0;
    if (error) *error = batch->failure;
    return batch->failure.code;
}

static int end_source(struct import *import, struct read_job *job, struct dpmf_error *error) {
    struct source *source = job->source;
    if (!source) {
        warn_of_empty(import, &job->empty);
        return 0;
    }
    struct dpmf_error reason = {0};
    int code = source->ops->finish(source, &job->batch, &reason);
    if (code < 0 && may_be_empty(import, &reason)) {
        warn_of_empty(import, &reason);
        code = 0;
    }
    if (code < 0 && error) *error = reason;
    if (code == 0) code = account_batch(import, &job->batch, error);
    snprintf(import->report->format, sizeof import->report->format, "%s", source->format);
    atomic_fetch_add(&import->bytes_before, source->bytes_read(source));
    source_close(source);
    job->source = NULL;
    return code;
}

static int commit_chunk(void *self, void *pointer, struct dpmf_error *error) {
    struct import *import = self;
    struct read_job *job = pointer;
    if (job->ends_source) return end_source(import, job, error);
    int code = job->source->ops->settle(job->source, job->chunk, &job->batch, error);
    if (code == 0) code = account_batch(import, &job->batch, error);
    if (code == 0) code = number_new_ids(import, job, error);
    if (code == 0) code = count_items(import, job, error);
    if (code == 0) code = divide_memory(import, error);
    if (code == 0)
        code = rating_sorter_add(import->sorter, job->user, job->item, job->value,
                                 job->any_time ? job->time : NULL, job->n, error);
    import->n_read += job->n;
    if (code == 0) code = report_reading(import, job->source, error);
    return code;
}

static void read_job_free(struct read_job *job) {
    if (job->chunk) job->chunk_ops->chunk_free(job->chunk);
    free(job->user);
    free(job->item);
    free(job->value);
    free(job->time);
    free(job->new_ids);
    free(job->id_bytes.bytes);
}

static int read_inputs(struct import *import, size_t n_jobs, int threads,
                       struct dpmf_error *error) {
    static const struct pipeline_stages stages = {produce_chunk, parse_chunk, commit_chunk};
    int code;
    struct read_job *jobs = memory_alloc_zero(n_jobs, sizeof jobs[0]);
    void **pointers = memory_alloc(n_jobs, sizeof pointers[0]);
    if (!jobs || !pointers) {
        code = error_no_memory(error);
        goto out;
    }
    for (size_t i = 0; i < n_jobs; i++) {
        jobs[i].import = import;
        pointers[i] = &jobs[i];
    }
    code = pipeline_run(&stages, import, pointers, n_jobs, threads, error);
out:
    /* After a failure sources may still be open: the one being cut, and those whose end was cut but
     * not reached in order. */
    for (size_t i = 0; jobs && i < n_jobs; i++)
        if (jobs[i].ends_source && jobs[i].source) source_close(jobs[i].source);
    source_close(import->reading);
    import->reading = NULL;
    for (size_t i = 0; jobs && i < n_jobs; i++) read_job_free(&jobs[i]);
    free(pointers);
    free(jobs);
    return code;
}

/* ---- writing ---------------------------------------------------------------------------------- */

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
    if (report_progress(import, &progress)) return 0;
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

/* ---- the whole -------------------------------------------------------------------------------- */

/* A store's blocks may be larger than chunks of text. What is wrong with a store will be told when it is
 * read, with the rest; only the want of memory is told at once. */
static int measure_store(struct import *import, const char *path, struct dpmf_error *error) {
    char magic[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, magic, sizeof magic) : -1;
    if (fd >= 0) close(fd);
    if (n <= 0 || !store_has_magic(magic, (size_t)n)) return 0;
    struct dpmf_store *store = NULL;
    int code = store_open_file(path, &store, error);
    if (code < 0) return code == DPMF_ERR_BASE_NO_MEMORY ? code : 0;
    uint64_t bytes = store_largest_block(store) * STORE_RATING_BYTES;
    if (bytes > import->read_job_bytes) import->read_job_bytes = bytes;
    dpmf_store_close(store);
    return 0;
}

/* The size of all inputs together, for progress; an input that is missing fails here, before hours
 * are spent on those before it. */
static int look_at_inputs(struct import *import, struct dpmf_error *error) {
    bool known = true, reads_stdin = false;
    for (size_t i = 0; i < import->n_inputs; i++) {
        const char *path = import->inputs[i];
        struct stat status;
        if (strcmp(path, "-") == 0) {
            if (reads_stdin)
                return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                                 "standard input can be read only once");
            reads_stdin = true;
            known = false;
            continue;
        }
        if (database_url_is(path)) {
            int code = database_source_check(path, error);
            if (code < 0) return code;
            known = false;
            continue;
        }
        if (stat(path, &status) < 0 || access(path, R_OK) < 0)
            return error_system(error, errno, "open", path);
        if (S_ISREG(status.st_mode)) {
            import->bytes_total += (uint64_t)status.st_size;
            int code = measure_store(import, path, error);
            if (code < 0) return code;
        } else {
            known = false;
        }
    }
    if (!known) import->bytes_total = 0;
    return 0;
}

static size_t at_most(uint64_t wanted, uint64_t bound, uint64_t at_least) {
    uint64_t n = wanted < bound ? wanted : bound;
    return (size_t)(n < at_least ? at_least : n);
}

static int run_import(struct import *import, const char *output, struct dpmf_error *error) {
    int threads = threads_wanted(import->run);
    struct item_order *order = NULL;
    int code = look_at_inputs(import, error);
    uint64_t workers = (uint64_t)pipeline_workers(threads);
    size_t read_jobs = at_most(2 * workers, import->memory / 8 / import->read_job_bytes, 2);
    size_t write_jobs = at_most(2 * workers, import->memory / 4 / WRITE_JOB_BYTES, 1);
    uint64_t at_work = write_jobs < workers ? write_jobs : workers;
    uint64_t for_reading = read_jobs * import->read_job_bytes,
             for_writing = at_work * WRITE_JOB_BYTES;
    import->reserve = for_reading > for_writing ? for_reading : for_writing;

    if (code == 0) code = id_map_init(&import->users, error);
    if (code == 0) code = id_map_init(&import->items, error);
    if (code == 0) code = rating_sorter_init(&import->sorter, import->memory, output, error);
    if (code == 0) code = divide_memory(import, error);
    if (code == 0) code = read_inputs(import, read_jobs, threads, error);
    if (code == 0 && import->n_read == 0) {
        code = error_set(error, DPMF_ERR_INPUT_EMPTY, "there are no ratings to import");
        if (import->report->skipped)
            error_hint(error, "all %llu records were bad; the first: line %lld, %s",
                       (unsigned long long)import->report->skipped,
                       (long long)import->report->first_skipped.line,
                       import->report->first_skipped.message);
    }
    if (code == 0) code = rating_sorter_finish(import->sorter, id_map_size(import->users), error);
    if (code == 0) code = rank_items(import, &order, error);
    if (code == 0)
        code = store_writer_open(&import->writer, output, rating_sorter_has_times(import->sorter),
                                 error);
    if (code == 0) code = write_blocks(import, write_jobs, threads, error);
    if (code == 0) code = write_items(import, order, error);
    free(order);
    return code;
}

char *import_temporary_name(const char *what) {
    const char *configured = secure_getenv("TMPDIR");
    char *name = NULL;
    if (asprintf(&name, "%s/<%s>", configured && *configured ? configured : "/tmp", what) < 0)
        return NULL;
    return name;
}

static const char *name_of(const char *input) {
    return strcmp(input, "-") == 0 ? "<stdin>" : input;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* `given`, taken in any case, in place of inputs; errors will call a nameless store `name`. */
static int import_any(const char *const *inputs, size_t n_inputs, struct source *given,
                      const char *name, const char *output,
                      const struct dpmf_input_options *options, const struct dpmf_run *run,
                      struct dpmf_import_report *report, struct dpmf_store **store,
                      struct dpmf_error *error) {
    const struct dpmf_input_options default_options = dpmf_input_options_default();
    const struct dpmf_run default_run = dpmf_run_default();
    struct dpmf_import_report unwanted_report;
    struct import import = {
        .inputs = inputs,
        .n_inputs = n_inputs,
        .given = given,
        .bytes_total = given ? given->total_bytes : 0,
        .options = options ? options : &default_options,
        .run = run ? run : &default_run,
        .report = report ? report : &unwanted_report,
        .read_job_bytes = READ_JOB_BYTES,
    };
    memset(import.report, 0, sizeof *import.report);
    import.memory = import.run->memory ? import.run->memory : memory_default_budget();
    if (import.memory < MEMORY_MIN) {
        int code = error_set(error, DPMF_ERR_USAGE_MEMORY, "--memory is too little to import with");
        error_hint(error, "give it --memory 64MiB or more");
        source_close(given);
        return code;
    }

    if (pthread_mutex_init(&import.report_lock, NULL) != 0) {
        source_close(given);
        return error_no_memory(error);
    }
    import.last_report = (struct dpmf_progress){.phase = "reading", .unit = "bytes"};
    double started = now();
    int code = run_import(&import, output, error);
    if (code == 0) {
        import.report->ratings = import.n_written;
        import.report->users = id_map_size(import.users);
        import.report->items = id_map_size(import.items);
        import.report->duplicates = import.duplicates;
        import.report->bytes_read = import.bytes_before;
        import.report->bytes_spilled = rating_sorter_spilled(import.sorter);
        struct store_writer *writer = import.writer;
        import.writer = NULL;
        code = output ? store_writer_commit(writer, &import.report->bytes_written, error)
                      : store_writer_commit_open(writer, name, store, error);
        import.report->seconds = now() - started;
    }
    source_close(import.given);
    store_writer_abandon(import.writer);
    rating_sorter_free(import.sorter);
    id_map_free(import.users);
    id_map_free(import.items);
    free(import.item_records);
    free(import.rank);
    free((void *)import.rank_ratings);
    pthread_mutex_destroy(&import.report_lock);
    return code;
}

int import_ratings(const char *const *inputs, size_t n_inputs, const char *output,
                   const struct dpmf_input_options *options, const struct dpmf_run *run,
                   struct dpmf_import_report *report, struct dpmf_store **store,
                   struct dpmf_error *error) {
    const char *name = n_inputs > 0 ? name_of(inputs[0]) : "";
    char *temporary = NULL;
    if (database_url_is(name)) {
        name = temporary = import_temporary_name("database");
        if (!temporary) return error_no_memory(error);
    }
    int code = import_any(inputs, n_inputs, NULL, name, output, options, run, report, store, error);
    free(temporary);
    return code;
}

int import_source(struct source *source, const char *name, const struct dpmf_input_options *options,
                  const struct dpmf_run *run, struct dpmf_store **store, struct dpmf_error *error) {
    struct dpmf_import_report report;
    int code = import_any(NULL, 0, source, name, NULL, options, run, &report, store, error);
    if (code == 0) import_losses_tell(&report, run);
    return code;
}

void import_losses_tell(const struct dpmf_import_report *report, const struct dpmf_run *run) {
    char text[2 * DPMF_ERROR_TEXT_MAX], first[2 * DPMF_ERROR_TEXT_MAX];
    if (!run || !run->warn) return;
    if (report->skipped) {
        dpmf_error_format(&report->first_skipped, first, sizeof first);
        snprintf(text, sizeof text, "bad records skipped: %llu, the first: %.800s",
                 (unsigned long long)report->skipped, first);
        run->warn(run->self, text);
    }
    if (report->duplicates) {
        snprintf(text, sizeof text, "duplicated pairs of a user and an item: %llu; the last won",
                 (unsigned long long)report->duplicates);
        run->warn(run->self, text);
    }
}

int dpmf_import(const char *const *inputs, size_t n_inputs, const char *output,
                const struct dpmf_input_options *options, const struct dpmf_run *run,
                struct dpmf_import_report *report, struct dpmf_error *error) {
    return import_ratings(inputs, n_inputs, output, options, run, report, NULL, error);
}
