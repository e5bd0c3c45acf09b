/*
 * The reading half of an import: a source cuts chunks, all threads parse them and look their ids
 * up, and in order new ids get numbers and ratings go to the sorter. Fed by source.h; feeds the
 * sorter, and so import_write.c.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "database/database_url.h"
#include "ratings/database_source.h"
#include "ratings/import_state.h"

static bool go_on_waiting(void *self) { return import_progress_report(self, NULL); }

static int report_reading(struct import *import, const struct source *source,
                          struct dpmf_error *error) {
    const struct dpmf_progress progress = {
        .phase = "reading",
        .unit = "bytes",
        .done = atomic_load(&import->bytes_before) + source->bytes_read(source),
        .total = import->bytes_total,
        .ratings = import->n_read,
    };
    if (import_progress_report(import, &progress)) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

/* One of several inputs may be empty: a day without ratings, a film nobody rated. */
static bool may_be_empty(const struct import *import, const struct dpmf_error *error) {
    return error->code == DPMF_ERR_INPUT_EMPTY && import->n_inputs > 1;
}

static void warn_of(struct import *import, const struct dpmf_error *error) {
    char words[2 * DPMF_ERROR_TEXT_MAX + 64], text[2 * DPMF_ERROR_TEXT_MAX];
    dpmf_error_format(error, NULL, NULL, words, sizeof words);
    dpmf_error_write(text, sizeof text, "%s", words);
    pthread_mutex_lock(&import->report_lock);
    if (import->run->warn) import->run->warn(import->run->warn_self, text);
    pthread_mutex_unlock(&import->report_lock);
}

/* An id that had no number when its chunk was parsed, of records in a row. */
struct new_id {
    size_t record, n_records;
    size_t offset; /* into the job's id_bytes */
    int64_t whole; /* the id, where it came as a whole number: there are no bytes then */
    uint32_t length;
    bool is_item, is_whole;
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
    struct time_ends ends;
    struct record_doubts doubts;
    struct new_id *new_ids;
    size_t n_new, new_capacity;
    struct byte_buffer id_bytes;
};

static struct id_text new_id_text(const struct read_job *job, const struct new_id *new_id) {
    return (struct id_text){(const char *)job->id_bytes.bytes + new_id->offset, new_id->length};
}

/* Whether this record goes on with what was kept last: ratings often come sorted by user or by
 * item. */
static bool goes_on(const struct read_job *job, size_t record, bool is_item, struct id_text id) {
    if (job->n_new == 0) return false;
    const struct new_id *last = &job->new_ids[job->n_new - 1];
    return last->is_item == is_item && !last->is_whole &&
           last->record + last->n_records == record && last->length == id.length &&
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
    job->new_ids[job->n_new++] = (struct new_id){.record = record,
                                                 .n_records = 1,
                                                 .offset = job->id_bytes.n,
                                                 .length = id.length,
                                                 .is_item = is_item};
    job->id_bytes.n += id.length;
    return 0;
}

static int keep_new_whole(struct read_job *job, size_t record, bool is_item, int64_t whole,
                          struct dpmf_error *error) {
    struct new_id *last = job->n_new > 0 ? &job->new_ids[job->n_new - 1] : NULL;
    if (last && last->is_item == is_item && last->is_whole && last->whole == whole &&
        last->record + last->n_records == record) {
        last->n_records++;
        return 0;
    }
    if (!memory_reserve(&job->new_ids, &job->new_capacity, job->n_new + 1, sizeof job->new_ids[0]))
        return error_no_memory(error);
    job->new_ids[job->n_new++] = (struct new_id){
        .record = record, .n_records = 1, .whole = whole, .is_item = is_item, .is_whole = true};
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
    record_doubts_ids(&job->doubts, ids, n, is_item);
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
    time_ends_add(&job->ends, job->time + first, (uint64_t)n);
    record_doubts_values(&job->doubts, job->import->options, job->value + first, (size_t)n);
    code = look_up(job, users, first, n, false, error);
    if (code == 0) code = look_up(job, items, first, n, true, error);
    job->n += (size_t)n;
    return code;
}

static int look_up_wholes(struct read_job *job, const int64_t *wholes, size_t first, int n,
                          bool is_item, struct dpmf_error *error) {
    const struct import *import = job->import;
    uint32_t *number = (is_item ? job->item : job->user) + first;
    int code = 0;
    id_map_find_wholes(is_item ? import->items : import->users, wholes, n, number);
    for (int i = 0; i < n && code == 0; i++)
        if (number[i] == ID_MAP_NONE)
            code = keep_new_whole(job, first + (size_t)i, is_item, wholes[i], error);
    return code;
}

static int look_up_ids(struct read_job *job, const struct record_ids *ids, size_t first, int n,
                       bool is_item, struct dpmf_error *error) {
    struct id_text texts[RECORD_BATCH];
    if (ids->whole) return look_up_wholes(job, ids->whole, first, n, is_item, error);
    for (int i = 0; i < n; i++) texts[i] = (struct id_text){ids->text[i], ids->length[i]};
    return look_up(job, texts, first, n, is_item, error);
}

static int take_stretch(void *self, const struct record_stretch *stretch,
                        struct dpmf_error *error) {
    struct read_job *job = self;
    const size_t first = job->n, n = (size_t)stretch->n;
    int code = reserve_records(job, first + n, error);
    if (code < 0) return code;
    memcpy(job->value + first, stretch->rating, n * sizeof job->value[0]);
    for (size_t i = 0; i < n; i++) {
        job->time[first + i] = stretch->time ? stretch->time[i] : STORE_NO_TIME;
        job->any_time |= job->time[first + i] != STORE_NO_TIME;
    }
    if (stretch->time) time_ends_add(&job->ends, job->time + first, n);
    record_doubts_values(&job->doubts, job->import->options, job->value + first, n);
    code = look_up_ids(job, &stretch->user, first, stretch->n, false, error);
    if (code == 0) code = look_up_ids(job, &stretch->item, first, stretch->n, true, error);
    job->n += n;
    return code;
}

static int prepare_chunk(struct read_job *job, struct dpmf_error *error) {
    if (job->chunk && job->chunk_ops == job->source->ops) return 0;
    if (job->chunk) job->chunk_ops->chunk_free(job->chunk);
    job->chunk_ops = job->source->ops;
    job->chunk = job->chunk_ops->chunk_new(job->source);
    return job->chunk ? 0 : error_no_memory(error);
}

static int refuse_source(const char *name, const char *what, const char *hint,
                         struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "%s", what);
    error_hint_text(error, hint);
    error_place(error, name, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

/* Whether a column has one role in one layout and another in the other. */
static bool have_another_order(const struct store_layout *a, const struct store_layout *b) {
    for (int i = 0; i < STORE_ROLES; i++)
        for (int j = 0; j < STORE_ROLES; j++)
            if (i != j && a->column[i] != 0 && a->column[i] == b->column[j]) return true;
    return false;
}

/* A file that was cut into parts has its header in the first alone, and the columns of the others
 * would be guessed: users as items, where the header has another order than is usual. */
static int check_headers(struct import *import, const char *name, struct dpmf_error *error) {
    const struct source *source = import->reading;
    const struct store_layout *one = &source->layout, *a = &import->headed, *b = &import->headless;
    const bool may_have_header =
        strcmp(source->format, "csv") == 0 || strcmp(source->format, "tsv") == 0;
    if (!may_have_header || import->options->columns) return 0;
    struct store_layout *kept = one->has_header ? &import->headed : &import->headless;
    if (kept->n_columns == 0) *kept = *one;
    if (a->n_columns == 0 || b->n_columns == 0) return 0;
    const struct store_layout *other = one->has_header ? b : a;
    if (!have_another_order(one, other)) return 0;
    error_set(
        error, DPMF_ERR_INPUT_HEADER,
        "of these inputs some have a header and some have none, and their columns would not be "
        "in the same order");
    error_hint(error, "give each file its header, or say what the columns of all are with "
                      "{columns user,item,rating}");
    error_place(error, name, 0, 0);
    return DPMF_ERR_INPUT_HEADER;
}

/* What only ratings can have done to them, and that all inputs hold the same. `name` may be NULL.
 */
static int check_source(struct import *import, const char *name, struct dpmf_error *error) {
    const struct dpmf_input_options *options = import->options;
    const bool events = import->reading->layout.holds_events;
    if (import->n_opened++ == 0) import->holds_events = events;
    if (import->holds_events != events)
        return refuse_source(
            name,
            events ? "this holds events, the inputs before it ratings"
                   : "this holds ratings, the inputs before it events",
            "turn the ratings into events first, with {:import} and {like any}, and import both",
            error);
    if (!events && options->events)
        return refuse_source(name, "this holds ratings, not events",
                             "turn ratings into events with {like any}", error);
    if (events && options->has_like)
        return refuse_source(name, "this holds events, to which likes do not apply",
                             "leave {like} out", error);
    if (events && (options->rescale || options->has_range))
        return refuse_source(name, "this holds events, which have no scale of ratings",
                             "leave {rescale} and {rating-range} out", error);
    return check_headers(import, name, error);
}

/* Reports a first line that contradicts the declared columns. Where bad records are dropped it may
 * be one of them, so it is no error: nobody's record decides whether there is a store. */
static void look_at_first_line(struct import *import) {
    const struct dpmf_run *run = import->run;
    if (!import->reading->contradicts || import->report->first_line_contradicts) return;
    import->report->first_line_contradicts = true;
    if (run->warn)
        run->warn(run->warn_self, "the first line contradicts {columns}: which is right?");
}

static int produce_chunk(void *self, void *pointer, struct dpmf_error *error) {
    struct import *import = self;
    struct read_job *job = pointer;
    int code = 0;
    job->n = job->n_new = job->id_bytes.n = 0;
    job->any_time = job->ends_source = false;
    job->ends = (struct time_ends){0};
    job->doubts = (struct record_doubts){0};
    job->source = NULL;
    if (!import->reading && import->given) {
        import->reading = import->given;
        import->given = NULL;
        if ((code = check_source(import, NULL, error)) < 0) return code;
    }
    if (!import->reading) {
        if (import->next_input == import->n_inputs) return 0;
        const char *path = import->inputs[import->next_input++];
        const struct input_wait wait = {go_on_waiting, import, import->memory};
        struct dpmf_error reason = {0};
        code = source_open(path, import->options, &wait, &import->reading, &reason);
        if (code < 0 && may_be_empty(import, &reason)) { /* reported when it is its turn */
            job->ends_source = true;
            job->empty = reason;
            return 1;
        }
        if (code < 0) {
            if (error) *error = reason;
            return code;
        }
        const char *name = database_url_is(path) ? NULL : strcmp(path, "-") == 0 ? "<stdin>" : path;
        if ((code = check_source(import, name, error)) < 0) return code;
        look_at_first_line(import);
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
    job->batch.take_stretch = take_stretch;
    job->batch.self = job;
    job->batch.options = import->options;
    job->batch.counts = job->source && job->source->layout.holds_events;
    job->batch.refuses_times = true;
    record_batch_begin(&job->batch);
    if (job->ends_source) return 0;
    job->source->ops->parse(job->source, job->chunk, &job->batch);
    record_batch_end(&job->batch);
    return 0;
}

/* A number's text is made once, when it is new; in a chunk that was read before that, it is there
 * by now. */
static int number_whole(struct id_map *map, int64_t whole, uint32_t *number,
                        struct dpmf_error *error) {
    char room[DATABASE_NUMBER_MAX];
    struct id_text id;
    id_map_find_wholes(map, &whole, 1, number);
    if (*number != ID_MAP_NONE) return 0;
    id.bytes = database_number_text(whole, room, &id.length);
    return id_map_add_whole(map, whole, id, number, error);
}

static int number_new_ids(struct import *import, struct read_job *job, struct dpmf_error *error) {
    for (size_t i = 0; i < job->n_new; i++) {
        const struct new_id *new_id = &job->new_ids[i];
        struct id_map *map = new_id->is_item ? import->items : import->users;
        uint32_t *number = (new_id->is_item ? job->item : job->user) + new_id->record;
        int code = new_id->is_whole ? number_whole(map, new_id->whole, number, error)
                                    : id_map_add(map, new_id_text(job, new_id), number, error);
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

/* Rejected records and failures of a chunk, their places now absolute. */
static int account_batch(struct import *import, const struct record_batch *batch,
                         struct dpmf_error *error) {
    struct dpmf_import_report *report = import->report;
    if (batch->n_rejected && !report->first_skipped.code)
        report->first_skipped = batch->first_rejected;
    report->skipped += batch->n_rejected;
    report->other_headers += batch->n_headers;
    if (!batch->failure.code) return 0;
    if (error) *error = batch->failure;
    return batch->failure.code;
}

static int end_source(struct import *import, struct read_job *job, struct dpmf_error *error) {
    struct source *source = job->source;
    import_doubts_end_input(&import->doubts, import->holds_events);
    if (!source) {
        warn_of(import, &job->empty);
        return 0;
    }
    struct dpmf_error reason = {0};
    int code = source->ops->finish(source, &job->batch, &reason);
    bool is_declared = import->may_be_empty && source->layout.origin == STORE_ORIGIN_DECLARED;
    if (reason.code == DPMF_ERR_INPUT_EMPTY && is_declared) {
        code = 0; /* run_import decides when all have been read */
    } else if (code < 0 && may_be_empty(import, &reason)) {
        warn_of(import, &reason);
        code = 0;
    }
    if (code < 0 && error) *error = reason;
    if (code == 0) code = account_batch(import, &job->batch, error);
    if (code == 0 && job->batch.remark.code) warn_of(import, &job->batch.remark);
    store_layout_join(&import->layout, &source->layout);
    snprintf(import->report->format, sizeof import->report->format, "%s", source->format);
    if (source->unused[0])
        snprintf(import->report->unused, sizeof import->report->unused, "%s", source->unused);
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
    const uint64_t held =
        job->source->bytes_held ? job->source->bytes_held(job->source) : import->held;
    if (held > import->held) import->held = held;
    if (code == 0) code = import_memory_divide(import, error);
    if (code == 0)
        code = rating_sorter_add(import->sorter, job->user, job->item, job->value,
                                 job->any_time ? job->time : NULL, job->n, error);
    import->n_read += job->n;
    time_ends_merge(&import->ends, &job->ends);
    import_doubts_merge(&import->doubts, &job->doubts);
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

int import_inputs_read(struct import *import, size_t n_jobs, int threads,
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
