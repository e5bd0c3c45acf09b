/*
 * The synthetic generator. Options become a shape (who rates how much, what is popular), a picker
 * (who rates what) and a planted model (how); blocks of users are then made and encoded by all
 * threads and appended in order. Whatever is drawn for a user comes from random streams named by
 * the user's number, so that the bytes do not depend on the threads. Feeds the store's writer, and
 * on wish a file with the planted factors and a catalogue of titles.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "dpmf_text.h"
#include "files/output_file.h"
#include "model/safetensors.h"
#include "store/block_packer.h"
#include "store/store.h"
#include "synth/synth_model.h"
#include "synth/synth_options.h"
#include "synth/synth_pick.h"
#include "synth/synth_shape.h"
#include "synth/titles.h"

enum { ID_TEXT_MAX = 11 }; /* bytes of a number below 2^32, with the NUL */

#define FIRST_TIME INT64_C(915148800)     /* 1999-01-01 */
#define TIME_SPAN (INT64_C(7) * 31556952) /* seven years */

struct synth_worker {
    struct synth_picker *picker;
    float *factors; /* factors of the current user */
};

/* A block on its way through the pipeline. */
struct synth_job {
    uint64_t first_user;
    uint32_t n_users;
    uint64_t first_place; /* place of its first rating among all, see synth_shape_rater_place */
    uint64_t first_rater; /* the first t whose item goes to this block */
    struct block_arrays arrays;
    struct store_encoded encoded;
};

struct synth {
    const struct dpmf_synth_options *options;
    struct dpmf_run run;
    struct synth_shape shape;
    struct synth_model model;
    struct synth_pick_table *table;
    uint32_t *user_id, *item_id; /* id less 1, by number in the store */
    float *user_factors,
        *user_biases; /* vectors and biases of all users, where the truth is kept */
    uint64_t *item_ratings;
    struct store_writer *writer;
    struct output_file *catalogue;

    struct synth_worker *workers;
    int n_workers;
    struct synth_job *jobs;
    void **job_pointers;
    size_t n_jobs;

    /* How far produce has come. */
    uint64_t next_user, next_place, next_rater;
    uint64_t ratings_done;
};

/* ---- the pipeline's stages ------------------------------------------------------------------- */

/* Skips the items that are certain to be rated at one of the places before `end`. */
static uint64_t pass_raters(const struct synth_shape *shape, uint64_t t, uint64_t end) {
    while (t < shape->items && synth_shape_rater_place(shape, t) < end) t++;
    return t;
}

/* The next users, as many as fill a block. */
static int produce_block(void *self, void *job_object, struct dpmf_error *error) {
    (void)error;
    struct synth *synth = self;
    struct synth_job *job = job_object;
    const struct synth_shape *shape = &synth->shape;
    if (synth->next_user == shape->users) return 0;
    job->first_user = synth->next_user;
    job->first_place = synth->next_place;
    job->first_rater = synth->next_rater;
    uint64_t n_ratings = 0;
    job->n_users = 0;
    while (synth->next_user < shape->users && job->n_users < STORE_BLOCK_USERS) {
        uint64_t degree = shape->degree[synth->next_user];
        if (job->n_users > 0 && n_ratings + degree > STORE_BLOCK_RATINGS) break;
        n_ratings += degree;
        job->n_users++;
        synth->next_user++;
    }
    synth->next_place += n_ratings;
    synth->next_rater = pass_raters(shape, synth->next_rater, synth->next_place);
    return 1;
}

/* Increasing times in a random order of the items: sorted times, shuffled. A user is active for a
 * part of the seven years, from a first visit to a last one. */
static void put_times(const struct synth *synth, uint64_t user, uint64_t n, int64_t *time) {
    struct random_stream stream;
    random_stream_init(&stream, synth->options->seed, SYNTH_TIME, user);
    double first = random_uniform(&stream) * (double)TIME_SPAN;
    double span = random_uniform(&stream) * ((double)TIME_SPAN - first);
    double at = 0;
    for (uint64_t i = 0; i < n; i++) {
        at += random_exponential(&stream);
        time[i] = (int64_t)(at * 65536); /* to be scaled below, when the sum is known */
    }
    double whole = (at + random_exponential(&stream)) * 65536;
    for (uint64_t i = 0; i < n; i++)
        time[i] = FIRST_TIME + (int64_t)(first + span * ((double)time[i] / whole));
    for (uint64_t i = n; i > 1; i--) {
        uint64_t j = random_below(&stream, i);
        int64_t t = time[j];
        time[j] = time[i - 1];
        time[i - 1] = t;
    }
}

static void put_values(struct synth *synth, struct synth_worker *worker, uint64_t user, uint64_t n,
                       const uint32_t *item, double *value) {
    struct random_stream stream;
    float bias;
    uint32_t rank = synth->model.rank;
    synth_model_user(&synth->model, user, &stream, &bias, worker->factors);
    if (synth->user_factors) {
        memcpy(synth->user_factors + user * rank, worker->factors, rank * sizeof(float));
        synth->user_biases[user] = bias;
    }
    for (uint64_t i = 0; i < n; i++)
        value[i] = synth_model_rate(&synth->model, bias, worker->factors, item[i], &stream);
}

/* @return false without memory */
static bool make_user(struct synth *synth, struct synth_worker *worker, struct synth_job *job,
                      uint64_t user, uint64_t first_rater, uint64_t end_rater) {
    const struct synth_shape *shape = &synth->shape;
    struct block_arrays *arrays = &job->arrays;
    uint64_t degree = shape->degree[user];
    char id[DPMF_DOUBLE_TEXT_MAX];
    size_t id_length = number_format_int64((int64_t)synth->user_id[user] + 1, id);
    if (!block_arrays_room(arrays, degree, id_length, synth->options->times)) return false;

    struct random_stream stream;
    random_stream_init(&stream, synth->options->seed, SYNTH_PICK, user);
    for (uint64_t t = first_rater; t < end_rater; t++)
        synth_picker_take(worker->picker, shape->rater_order[t]);
    if (!synth_picker_draw(worker->picker, degree, &stream)) return false;
    uint64_t at = arrays->n_ratings;
    synth_picker_collect(worker->picker, arrays->item + at);
    put_values(synth, worker, user, degree, arrays->item + at, arrays->value + at);
    if (synth->options->times) put_times(synth, user, degree, arrays->time + at);
    block_arrays_end_user(arrays, degree, id, id_length);
    return true;
}

static int make_block(void *self, int worker, void *job_object, struct dpmf_error *error) {
    struct synth *synth = self;
    struct synth_job *job = job_object;
    block_arrays_clear(&job->arrays);
    uint64_t place = job->first_place, rater = job->first_rater;
    for (uint32_t i = 0; i < job->n_users; i++) {
        uint64_t user = job->first_user + i;
        place += synth->shape.degree[user];
        uint64_t end = pass_raters(&synth->shape, rater, place);
        if (!make_user(synth, &synth->workers[worker], job, user, rater, end))
            return error_no_memory(error);
        rater = end;
    }
    struct store_block block = block_arrays_view(&job->arrays, job->first_user);
    return store_block_encode(&block, synth->options->times, &job->encoded, error);
}

static int report_progress(const struct synth *synth, struct dpmf_error *error) {
    if (!synth->run.progress) return 0;
    struct dpmf_progress progress = {"writing", "ratings", synth->ratings_done,
                                     synth->shape.ratings, synth->ratings_done};
    if (synth->run.progress(synth->run.progress_self, &progress) == 0) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "cancelled");
}

static int append_block(void *self, void *job_object, struct dpmf_error *error) {
    struct synth *synth = self;
    struct synth_job *job = job_object;
    for (uint64_t i = 0; i < job->arrays.n_ratings; i++) synth->item_ratings[job->arrays.item[i]]++;
    synth->ratings_done += job->arrays.n_ratings;
    int code = store_writer_append(synth->writer, &job->encoded, error);
    return code != 0 ? code : report_progress(synth, error);
}

/* ---- the files beside the store -------------------------------------------------------------- */

static bool append_text(struct byte_buffer *buffer, const char *text, size_t n) {
    uint8_t *room = byte_buffer_room(buffer, n);
    if (!room) return false;
    memcpy(room, text, n);
    buffer->n += n;
    return true;
}

/* One line, the title quoted where CSV wants it. */
static bool append_title(struct byte_buffer *line, uint64_t id, const char *title) {
    char number[DPMF_DOUBLE_TEXT_MAX + 1];
    size_t n = number_format_int64((int64_t)id, number);
    number[n++] = ',';
    bool quote = strpbrk(title, ",\"") != NULL;
    bool ok = append_text(line, number, n) && (!quote || append_text(line, "\"", 1));
    for (const char *c = title; ok && *c; c++)
        ok = append_text(line, c, 1) && (*c != '"' || append_text(line, "\"", 1));
    return ok && append_text(line, quote ? "\"\n" : "\n", quote ? 2 : 1);
}

/* Written first, as it costs little: a place that cannot be written to is found out at once. */
static int write_catalogue(struct synth *synth, struct dpmf_error *error) {
    const char *path = synth->options->catalogue;
    if (!path) return 0;
    int code = output_file_open(&synth->catalogue, path, OUTPUT_PUBLIC, error);
    if (code != 0) return code;
    code = output_file_write(synth->catalogue, "item,title\n", 11, error);
    struct titles titles;
    titles_init(&titles, synth->options->seed);
    struct byte_buffer line = {0};
    for (uint64_t i = 0; i < synth->options->items && code == 0; i++) {
        char title[TITLE_MAX];
        titles_make(&titles, i, title);
        line.n = 0;
        code = append_title(&line, i + 1, title)
                   ? output_file_write(synth->catalogue, line.bytes, line.n, error)
                   : error_no_memory(error);
    }
    free(line.bytes);
    return code;
}

static int begin_truth(struct synth *synth, struct dpmf_error *error) {
    const struct dpmf_synth_options *options = synth->options;
    if (!options->truth) return 0;
    if (options->users > SIZE_MAX / options->rank) return error_no_memory(error);
    synth->user_factors = memory_alloc(options->users * options->rank, sizeof(float));
    synth->user_biases = memory_alloc(options->users, sizeof(float));
    return synth->user_factors && synth->user_biases ? 0 : error_no_memory(error);
}

static int write_truth(const struct synth *synth, struct dpmf_error *error) {
    const struct dpmf_synth_options *o = synth->options;
    if (!o->truth) return 0;
    const struct synth_model *m = &synth->model;
    const struct tensor tensors[] = {
        {"item_biases", TENSOR_F32, 1, {o->items, 0}, m->item_biases, 0},
        {"item_factors", TENSOR_F32, 2, {o->items, o->rank}, m->item_factors, 0},
        {"user_biases", TENSOR_F32, 1, {o->users, 0}, synth->user_biases, 0},
        {"user_factors", TENSOR_F32, 2, {o->users, o->rank}, synth->user_factors, 0},
    };
    char offset[DPMF_DOUBLE_TEXT_MAX], noise[DPMF_DOUBLE_TEXT_MAX], seed[24];
    dpmf_format_double(m->offset, offset);
    dpmf_format_double(m->noise, noise);
    snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    const char *const metadata[] = {"dpmf.kind", "truth", "offset", offset,
                                    "noise",     noise,   "seed",   seed};
    return safetensors_write(o->truth, OUTPUT_PRIVATE, tensors, 4, metadata, 4, error);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int make_workers(struct synth *synth, struct dpmf_error *error) {
    int threads = threads_wanted(&synth->run);
    synth->n_workers = pipeline_workers(threads);
    synth->workers = memory_alloc_zero((size_t)synth->n_workers, sizeof *synth->workers);
    if (!synth->workers) return error_no_memory(error);
    for (int w = 0; w < synth->n_workers; w++) {
        synth->workers[w].picker = synth_picker_new(synth->table);
        synth->workers[w].factors = memory_alloc(synth->options->rank, sizeof(float));
        if (!synth->workers[w].picker || !synth->workers[w].factors) return error_no_memory(error);
    }
    synth->n_jobs = (size_t)synth->n_workers + 2;
    synth->jobs = memory_alloc_zero(synth->n_jobs, sizeof *synth->jobs);
    synth->job_pointers = memory_alloc(synth->n_jobs, sizeof *synth->job_pointers);
    if (!synth->jobs || !synth->job_pointers) return error_no_memory(error);
    for (size_t i = 0; i < synth->n_jobs; i++) synth->job_pointers[i] = &synth->jobs[i];
    return 0;
}

static int prepare(struct synth *synth, struct dpmf_error *error) {
    const struct dpmf_synth_options *options = synth->options;
    int code = write_catalogue(synth, error);
    if (code == 0) code = begin_truth(synth, error);
    if (code == 0) code = synth_shape_init(&synth->shape, options, error);
    if (code == 0) code = synth_model_init(&synth->model, options, error);
    if (code != 0) return code;
    synth->table = synth_pick_table_new(synth->shape.weight, options->items);
    synth->user_id = synth_permutation(options->users, options->seed, SYNTH_USER_ID);
    synth->item_id = synth_permutation(options->items, options->seed, SYNTH_ITEM_ID);
    synth->item_ratings = memory_alloc_zero(options->items, sizeof *synth->item_ratings);
    if (!synth->table || !synth->user_id || !synth->item_id || !synth->item_ratings)
        return error_no_memory(error);
    return make_workers(synth, error);
}

static void warn_of_share(const struct synth *synth) {
    double wanted = synth->options->top_500_share, expected = synth->shape.expected_share;
    if (!synth->run.warn || !(wanted > 0) || synth->options->items <= 500) return;
    if (fabs(wanted - expected) < 0.005) return;
    char text[160];
    snprintf(text, sizeof text,
             "with these counts the 500 most rated items will hold about %.1f %% of the ratings, "
             "not %.1f %%",
             100 * expected, 100 * wanted);
    synth->run.warn(synth->run.warn_self, text);
}

/* The dictionary of items and the end of the store. */
static int finish_store(struct synth *synth, struct dpmf_error *error) {
    size_t n = (size_t)synth->options->items;
    struct store_item *items = memory_alloc(n, sizeof *items);
    char(*text)[ID_TEXT_MAX] = memory_alloc(n, sizeof *text);
    int code = items && text ? 0 : error_no_memory(error);
    for (size_t j = 0; j < n && code == 0; j++) {
        int length = snprintf(text[j], sizeof text[j], "%" PRIu64, (uint64_t)synth->item_id[j] + 1);
        items[j] = (struct store_item){text[j], (uint32_t)length, synth->item_ratings[j]};
    }
    if (code == 0) code = store_writer_finish(synth->writer, items, n, error);
    free(items);
    free(text);
    return code;
}

/* Everything is on the disk before anything is put in its place. */
static int put_in_place(struct synth *synth, uint64_t *file_bytes, struct dpmf_error *error) {
    int code = store_writer_prepare(synth->writer, error);
    if (code == 0 && synth->catalogue) code = output_file_prepare(synth->catalogue, error);
    if (code == 0) code = write_truth(synth, error);
    if (code == 0 && synth->catalogue) {
        code = output_file_commit(synth->catalogue, error);
        synth->catalogue = NULL;
    }
    if (code == 0) {
        code = store_writer_commit(synth->writer, file_bytes, error);
        synth->writer = NULL;
    }
    return code;
}

static void synth_free(struct synth *synth) {
    store_writer_abandon(synth->writer);
    output_file_abandon(synth->catalogue);
    for (size_t i = 0; synth->jobs && i < synth->n_jobs; i++) {
        block_arrays_free(&synth->jobs[i].arrays);
        store_encoded_free(&synth->jobs[i].encoded);
    }
    for (int w = 0; synth->workers && w < synth->n_workers; w++) {
        synth_picker_free(synth->workers[w].picker);
        free(synth->workers[w].factors);
    }
    free(synth->jobs);
    free(synth->job_pointers);
    free(synth->workers);
    free(synth->user_id);
    free(synth->item_id);
    free(synth->item_ratings);
    free(synth->user_factors);
    free(synth->user_biases);
    synth_pick_table_free(synth->table);
    synth_model_free(&synth->model);
    synth_shape_free(&synth->shape);
}

static void fill_report(struct dpmf_import_report *report, const struct dpmf_synth_options *options,
                        const struct store_layout *layout, uint64_t file_bytes, double seconds) {
    if (!report) return;
    memset(report, 0, sizeof *report);
    report->users = options->users;
    report->items = options->items;
    report->ratings = options->ratings;
    report->bytes_written = file_bytes;
    report->seconds = seconds;
    snprintf(report->format, sizeof report->format, "synth");
    report->layout = store_layout_shown(layout);
}

/* A catalogue is text, and cannot be told from anyone's list of items: none is replaced unasked. */
static int check_outputs(const char *output, const struct dpmf_synth_options *options,
                         const struct dpmf_run *run, struct dpmf_error *error) {
    int code = output_file_check(output, DPMF_FILE_STORE, run->replace, error);
    if (code == 0 && options->truth)
        code = output_file_check(options->truth, DPMF_FILE_TRUTH, run->replace, error);
    if (code == 0 && options->catalogue)
        code = output_file_check(options->catalogue, DPMF_FILE_NONE, run->replace, error);
    return code;
}

int dpmf_synth(const char *output, const struct dpmf_synth_options *options,
               const struct dpmf_run *run, struct dpmf_import_report *report,
               struct dpmf_error *error) {
    struct dpmf_error unwanted;
    if (!error) error = &unwanted;
    static const struct pipeline_stages stages = {produce_block, make_block, append_block};
    struct dpmf_synth_options own = dpmf_synth_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "output", output);
    if (code == 0) code = options_take(&own, sizeof own, options, "synth_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    double began = clock_now();
    struct store_layout layout = store_layout_declared();
    layout.formats = store_layout_format("synth");
    struct synth synth = {.options = options, .run = *run};
    uint64_t file_bytes = 0;

    code = synth_options_check(options, error);
    if (code == 0) code = check_outputs(output, options, run, error);
    if (code == 0) code = store_writer_open(&synth.writer, output, options->times, &layout, error);
    if (code == 0) code = prepare(&synth, error);
    if (code != 0) goto out;
    warn_of_share(&synth);
    code = pipeline_run(&stages, &synth, synth.job_pointers, synth.n_jobs,
                        threads_wanted(&synth.run), error);
    if (code == 0) code = finish_store(&synth, error);
    if (code == 0) code = put_in_place(&synth, &file_bytes, error);
    if (code == 0) fill_report(report, options, &layout, file_bytes, clock_now() - began);
out:
    synth_free(&synth);
    return code;
}
