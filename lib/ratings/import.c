/*
 * From ratings in any form to a store, in two pipelines.
 *
 *   reading   a source cuts chunks -> all threads parse them and look their ids up ->
 *             in order: new ids get numbers, ratings go to the sorter
 *   writing   slices of users -> all threads sort and encode them -> in order: the store
 *
 * Whatever decides a number (a new user's, which of two duplicates is the last) happens in the
 * ordered steps, so the same input gives the same store, byte for byte, for any number of threads
 * and any bound of memory. import_read.c and import_write.c are the two halves; here they are
 * planned.
 */
#define _GNU_SOURCE
#include "ratings/import.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/id_blanks.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "database/database_url.h"
#include "files/output_file.h"
#include "files/temporary.h"
#include "ratings/database_source.h"
#include "ratings/import_state.h"
#include "ratings/input_list.h"
#include "ratings/likes.h"
#include "ratings/store_source.h"
#include "store/shard_set.h"

#define MEBIBYTE (UINT64_C(1) << 20)
#define MEMORY_MIN (64 * MEBIBYTE)
#define READ_JOB_BYTES (6 * MEBIBYTE)   /* a chunk of text and its ratings, about */
#define STORE_RATING_BYTES 50           /* a rating of a store's block, decoded and taken, about */
#define WRITE_JOB_BYTES (40 * MEBIBYTE) /* a full slice while it is sorted and encoded, about */

/* ---- progress and memory --------------------------------------------------------------------- */

bool import_progress_report(struct import *import, const struct dpmf_progress *update) {
    const struct dpmf_run *run = import->run;
    if (!run->progress) return true;
    pthread_mutex_lock(&import->report_lock);
    if (update) import->last_report = *update;
    bool go_on = run->progress(run->progress_self, &import->last_report) == 0;
    pthread_mutex_unlock(&import->report_lock);
    return go_on;
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

int import_memory_divide(struct import *import, struct dpmf_error *error) {
    uint64_t ids = id_map_bytes(import->users) + id_map_bytes(import->items) +
                   8 * (id_map_size(import->users) + id_map_size(import->items));
    uint64_t taken = ids + import->reserve + import->held, least = import->memory / 8;
    const bool is_too_much = taken + least > import->memory;
    if (is_too_much && import->options->skip_bad) {
        /* One person can write as many ids as they like, and none decides whether there is a
         * store: the ids stay, beyond the bound, and the sorter gets the least that is useful. */
        import->id_bytes_beyond = taken + least - import->memory;
        rating_sorter_set_memory(import->sorter, least);
        return 0;
    }
    if (is_too_much) {
        int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                             "the ids read so far take %llu MiB, too much for {memory %lluMiB}",
                             (unsigned long long)(ids / MEBIBYTE),
                             (unsigned long long)(import->memory / MEBIBYTE));
        error_hint(error, "give it {memory %lluMiB}, or more",
                   (unsigned long long)(memory_needed(import, ids) / MEBIBYTE));
        return code;
    }
    rating_sorter_set_memory(import->sorter, import->memory - taken);
    return 0;
}

static void warn_of_memory(const struct import *import) {
    const struct dpmf_run *run = import->run;
    char text[DPMF_ERROR_TEXT_MAX];
    if (!run->warn || import->id_bytes_beyond == 0) return;
    dpmf_error_write(
        text, sizeof text,
        "the ids%s took %llu MiB more than {memory %lluMiB} leaves for them; they were "
        "kept, so that no single record decides whether there is a store",
        import->held > 0 ? " and the largest record batches" : "",
        (unsigned long long)(import->id_bytes_beyond / MEBIBYTE + 1),
        (unsigned long long)(import->memory / MEBIBYTE));
    run->warn(run->warn_self, text);
}

/* Such a line may be anyone's record, so it decides nothing; but whoever imports must know. */
static void warn_of_headers(const struct import *import) {
    const struct dpmf_run *run = import->run;
    char text[DPMF_ERROR_TEXT_MAX];
    if (!run->warn || import->report->other_headers == 0) return;
    dpmf_error_write(text, sizeof text,
                     "lines that contradict the header: %llu. If other files begin there, users, "
                     "items and ratings were mixed up in them: give the files one by one; to see "
                     "the line, import them without {on-error skip}",
                     (unsigned long long)import->report->other_headers);
    run->warn(run->warn_self, text);
}

/* A range that is far too wide refuses nothing: most likely it was declared for another scale. */
static void warn_of_range(const struct import *import) {
    enum { FEW = 100, MUCH_WIDER = 10 };
    const struct dpmf_input_options *options = import->options;
    const struct dpmf_run *run = import->run;
    char text[DPMF_ERROR_TEXT_MAX];
    double min, max;
    if (!run->warn || !options->has_range || import->n_written < FEW) return;
    store_writer_range(import->writer, &min, &max);
    if (min == max || MUCH_WIDER * (max - min) > options->range_max - options->range_min) return;
    dpmf_error_write(text, sizeof text,
                     "all ratings are from %g to %g, at most a tenth of {rating-range %g:%g}: is "
                     "that their scale?",
                     min, max, options->range_min, options->range_max);
    run->warn(run->warn_self, text);
}

/* A rating outside the scale that was declared lies outside the new one too. What it was is not
 * said: in a private run it is one person's. */
static void warn_of_rescale(const struct import *import) {
    const double close = 1e-9;
    const struct dpmf_input_options *options = import->options;
    const struct dpmf_run *run = import->run;
    char text[DPMF_ERROR_TEXT_MAX];
    double min, max;
    if (!run->warn || !options->rescale || import->n_written == 0) return;
    const double low = fmin(options->to_min, options->to_max);
    const double high = fmax(options->to_min, options->to_max), far = close * (high - low);
    store_writer_range(import->writer, &min, &max);
    if (min >= low - far && max <= high + far) return;
    dpmf_error_write(text, sizeof text,
                     "some ratings are outside %g to %g, and {rescale} put them outside %g to %g: "
                     "was that their scale?",
                     options->from_min, options->from_max, low, high);
    run->warn(run->warn_self, text);
}

struct blank_ids {
    uint64_t n, twice; /* ids with blanks around them; those that are there without them too */
};

static struct blank_ids count_blanks(const struct id_map *map) {
    struct blank_ids found = {0};
    for (uint64_t i = 0; i < id_map_size(map); i++) {
        struct id_text id = id_map_id(map, i);
        if (!id_blanks_has(id.bytes, id.length)) continue;
        found.n++;
        id.length = (uint32_t)id_blanks_trim(&id.bytes, id.length);
        found.twice += id.length > 0 && id_map_find(map, id) != ID_MAP_NONE;
    }
    return found;
}

/* What "a, b, 3" says: one person may be two, and so may an item. Each record alone decides what
 * its ids are, so that nothing is refused. */
static void warn_of_blanks(const struct import *import) {
    const struct dpmf_run *run = import->run;
    char text[DPMF_ERROR_TEXT_MAX];
    if (!run->warn) return;
    const struct blank_ids users = count_blanks(import->users);
    const struct blank_ids items = count_blanks(import->items);
    if (users.n + items.n == 0) return;
    dpmf_error_write(text, sizeof text,
                     "ids with blanks around them: %llu of %llu users and %llu of %llu items, of "
                     "which %llu and %llu are there without them too. Blanks count: \" 7\" is "
                     "another id than \"7\"",
                     (unsigned long long)users.n, (unsigned long long)id_map_size(import->users),
                     (unsigned long long)items.n, (unsigned long long)id_map_size(import->items),
                     (unsigned long long)users.twice, (unsigned long long)items.twice);
    run->warn(run->warn_self, text);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A store's blocks may be larger than chunks of text. What is wrong with a store will be told
 * when it is read, with the rest; only the want of memory is told at once. `bytes` is how many
 * it has. */
static int measure_store(struct import *import, const char *path, bool is_set, uint64_t *bytes,
                         struct dpmf_error *error) {
    struct dpmf_store *store = NULL;
    struct dpmf_store_info info;
    int code = is_set ? shard_set_open(path, &store, error) : store_open_file(path, &store, error);
    if (code < 0) return code == DPMF_ERR_BASE_NO_MEMORY ? code : 0;
    uint64_t block = store_largest_block(store) * STORE_RATING_BYTES;
    if (block > import->read_job_bytes) import->read_job_bytes = block;
    dpmf_store_info(store, &info);
    *bytes = info.file_bytes;
    dpmf_store_close(store);
    return 0;
}

static int measure_file(struct import *import, const char *path, const struct stat *status,
                        bool *known, struct dpmf_error *error) {
    bool is_set = shard_set_is(path), is_store = false;
    uint64_t bytes = is_set ? 0 : (uint64_t)status->st_size;
    int code = is_set ? 0 : store_file_is(path, &is_store, error);
    if (!is_set && !S_ISREG(status->st_mode)) *known = false;
    if (code == 0 && (is_set || is_store))
        code = measure_store(import, path, is_set, &bytes, error);
    import->bytes_total += bytes;
    return code;
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
        int code = measure_file(import, path, &status, &known, error);
        if (code < 0) return code;
    }
    if (!known) import->bytes_total = 0;
    return 0;
}

static size_t at_most(uint64_t wanted, uint64_t bound, uint64_t at_least) {
    uint64_t n = wanted < bound ? wanted : bound;
    return (size_t)(n < at_least ? at_least : n);
}

/* None was good. */
static void hint_at_bad_records(const struct import *import, struct dpmf_error *error) {
    const struct dpmf_error *first = &import->report->first_skipped;
    char words[DPMF_ERROR_TEXT_MAX];
    dpmf_error_text(first->message, NULL, NULL, words, sizeof words);
    error_hint(error, "all %llu records were bad; the first: line %lld, %s",
               (unsigned long long)import->report->skipped, (long long)first->line, words);
}

/* With no rating at all a private run releases noise, so that no single rating decides whether
 * there is a release; the report says that there was none. Everyone else has given the wrong
 * file. */
static int take_nothing(const struct import *import, struct dpmf_error *error) {
    if (import->may_be_empty && store_layout_is_by_record(&import->layout)) return 0;
    int code = error_set(error, DPMF_ERR_INPUT_EMPTY, "there are no ratings to import");
    if (import->report->skipped) hint_at_bad_records(import, error);
    return code;
}

static int run_import(struct import *import, const char *output, struct dpmf_error *error) {
    int threads = threads_wanted(import->run);
    int code = look_at_inputs(import, error);
    uint64_t workers = (uint64_t)pipeline_workers(threads);
    size_t read_jobs = at_most(2 * workers, import->memory / 8 / import->read_job_bytes, 2);
    size_t write_jobs = at_most(2 * workers, import->memory / 4 / WRITE_JOB_BYTES, 1);
    uint64_t at_work = write_jobs < workers ? write_jobs : workers;
    uint64_t for_reading = read_jobs * import->read_job_bytes,
             for_writing = at_work * WRITE_JOB_BYTES;
    import->reserve = for_reading > for_writing ? for_reading : for_writing;

    if (code == 0 && output)
        code = output_file_check(output, DPMF_FILE_STORE, import->run->replace, error);
    if (code == 0) code = id_map_init(&import->users, error);
    if (code == 0) code = id_map_init(&import->items, error);
    if (code == 0) code = rating_sorter_init(&import->sorter, import->memory, output, error);
    if (code == 0) code = import_memory_divide(import, error);
    if (code == 0) code = import_inputs_read(import, read_jobs, threads, error);
    if (code == 0 && import->n_read == 0) code = take_nothing(import, error);
    if (code == 0 && output) /* reading took time, and others may have written there */
        code = output_file_check(output, DPMF_FILE_STORE, import->run->replace, error);
    return code < 0 ? code : import_store_write(import, output, write_jobs, threads, error);
}

char *import_temporary_name(const char *what) {
    char *name = NULL;
    return asprintf(&name, "%s/<%s>", temporary_directory(), what) < 0 ? NULL : name;
}

static const char *name_of(const char *input) {
    return strcmp(input, "-") == 0 ? "<stdin>" : input;
}

/* Whether an input is a store or a directory of shards. @return 0 or a negative code */
static int input_is_store(const char *input, bool *is_set, bool *is_store) {
    *is_set = *is_store = shard_set_is(input);
    if (*is_set || database_url_is(input) || strcmp(input, "-") == 0) return 0;
    return store_file_is(input, is_store, NULL);
}

/* What says how tables are read is for those inputs that are tables; where all are stores it would
 * be ignored. What cannot be opened fails later, with its own words. */
static int check_tables(const char *const *inputs, size_t n_inputs,
                        const struct dpmf_input_options *options, struct dpmf_error *error) {
    bool is_set, is_store = n_inputs > 0;
    for (size_t i = 0; i < n_inputs && is_store; i++)
        if (input_is_store(inputs[i], &is_set, &is_store) == DPMF_ERR_BASE_NO_MEMORY)
            return error_no_memory(error);
    return is_store ? store_source_check(inputs[0], options, error) : 0;
}

/* Whether an input is a store whose bad records were dropped one by one.
 * @return 0 or a negative code, also where it cannot be opened */
static int store_drops_bad(const char *input, bool *drops) {
    struct dpmf_store *store = NULL;
    bool is_set, is_store;
    *drops = false;
    int code = input_is_store(input, &is_set, &is_store);
    if (code < 0 || !is_store) return code;
    code = is_set ? shard_set_open(input, &store, NULL) : store_open_file(input, &store, NULL);
    if (code == 0)
        *drops = store_layout_of(store)->origin != STORE_ORIGIN_UNKNOWN &&
                 store_layout_of(store)->drops_bad;
    dpmf_store_close(store);
    return code;
}

/* Whether all inputs are such stores, and nothing is asked for that could make another record bad:
 * then nobody's record can end this import either, and it is one that drops them. What cannot be
 * opened fails later, with its own words.
 * @return 0 or DPMF_ERR_BASE_NO_MEMORY */
static int find_drops(const char *const *inputs, size_t n_inputs,
                      const struct dpmf_input_options *options, bool *drops,
                      struct dpmf_error *error) {
    *drops = n_inputs > 0 && !options->rescale && !options->has_range;
    for (size_t i = 0; i < n_inputs && *drops; i++)
        if (store_drops_bad(inputs[i], drops) == DPMF_ERR_BASE_NO_MEMORY)
            return error_no_memory(error);
    return 0;
}

/* A scale without length would make one number of all ratings. */
static int check_rescale(const struct dpmf_input_options *options, struct dpmf_error *error) {
    if (!options->rescale ||
        (options->from_min != options->from_max && options->to_min != options->to_max))
        return 0;
    error_set(error, DPMF_ERR_USAGE_VALUE, "{rescale} needs two ends of each scale");
    error_hint(error, "for example: {rescale 0:100=0:5}");
    return DPMF_ERR_USAGE_VALUE;
}

/* `given`, taken in any case, in place of inputs; errors will call a nameless store `name`. */
static int import_any(const char *const *inputs, size_t n_inputs, struct source *given,
                      const char *name, const char *output,
                      const struct dpmf_input_options *options, const struct dpmf_run *run,
                      struct dpmf_import_report *report, struct dpmf_store **store,
                      struct dpmf_error *error) {
    struct dpmf_input_options used = *options;
    struct dpmf_import_report unwanted_report;
    bool drops = false;
    if (report) memset(report, 0, sizeof *report);
    int rescales = check_rescale(options, error);
    if (rescales < 0) {
        source_close(given);
        return rescales;
    }
    if (!given) {
        int code = check_tables(inputs, n_inputs, options, error);
        if (code < 0) return code;
        if (find_drops(inputs, n_inputs, options, &drops, error) < 0)
            return DPMF_ERR_BASE_NO_MEMORY;
    }
    used.skip_bad = used.skip_bad || drops;
    bool may_be_empty = used.by_record || (used.skip_bad && (output || used.has_like));
    used.skip_bad |= used.by_record;
    struct import import = {
        .inputs = inputs,
        .n_inputs = n_inputs,
        .given = given,
        .bytes_total = given ? given->total_bytes : 0,
        .options = &used,
        .run = run,
        .report = report ? report : &unwanted_report,
        .read_job_bytes = READ_JOB_BYTES,
        .layout = store_layout_declared(),
        .may_be_empty = may_be_empty,
    };
    import.layout.drops_bad = import.options->skip_bad;
    /* By what was declared, whether or not anyone's rating was outside. */
    import.layout.is_ranged = import.options->skip_bad && import.options->has_range;
    memset(import.report, 0, sizeof *import.report);
    import.memory = import.run->memory ? import.run->memory : host_default_budget();
    if (import.memory < MEMORY_MIN) {
        int code = error_set(error, DPMF_ERR_USAGE_MEMORY, "{memory} is too little to import with");
        error_hint(error, "give it {memory 64MiB} or more");
        source_close(given);
        return code;
    }

    if (pthread_mutex_init(&import.report_lock, NULL) != 0) {
        source_close(given);
        return error_no_memory(error);
    }
    import.last_report = (struct dpmf_progress){.phase = "reading", .unit = "bytes"};
    double started = clock_now();
    int code = run_import(&import, output, error);
    if (code == 0) {
        import.report->ratings = import.n_written;
        import.report->users = id_map_size(import.users);
        import.report->items = id_map_size(import.items);
        import.report->duplicates = import.duplicates;
        import.report->holds_events = import.layout.holds_events;
        import.report->keeps_latest = import.layout.is_unordered;
        import.report->layout = store_layout_shown(&import.layout);
        import.report->bytes_read = import.bytes_before;
        warn_of_memory(&import);
        warn_of_headers(&import);
        warn_of_range(&import);
        warn_of_rescale(&import);
        warn_of_blanks(&import);
        import_doubts_warn(&import.doubts, import.layout.holds_events, import.run);
        time_ends_warn(&import.ends, import.run);
        import.report->bytes_spilled = rating_sorter_spilled(import.sorter);
        struct store_writer *writer = import.writer;
        import.writer = NULL;
        code = output ? store_writer_commit(writer, &import.report->bytes_written, error)
                      : store_writer_commit_open(writer, name, store, error);
        import.report->seconds = clock_now() - started;
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

/* The same, where `options` may ask for events of ratings: these go into a nameless store first. */
static int import_liked(const char *const *inputs, size_t n_inputs, struct source *given,
                        const char *name, const char *output,
                        const struct dpmf_input_options *options, const struct dpmf_run *run,
                        struct dpmf_import_report *report, struct dpmf_store **store,
                        struct dpmf_error *error) {
    struct dpmf_import_report unwanted_report;
    struct dpmf_store *ratings = NULL;
    if (!options || !options->has_like)
        return import_any(inputs, n_inputs, given, name, output, options, run, report, store,
                          error);
    const double started = clock_now();
    int code = isnan(options->like) || options->like == INFINITY
                   ? error_set(error, DPMF_ERR_USAGE_VALUE, "a like must be a number")
                   : 0;
    if (code == 0 && output) code = output_file_check(output, DPMF_FILE_STORE, run->replace, error);
    if (code < 0) {
        source_close(given);
        return code;
    }
    if (!report) report = &unwanted_report;
    code = import_any(inputs, n_inputs, given, name, NULL, options, run, report, &ratings, error);
    if (code == 0)
        code = likes_make(ratings, options->like, output, name, run, report, store, error);
    dpmf_store_close(ratings);
    report->seconds = clock_now() - started;
    return code;
}

/* Whether a file is in a directory. */
static bool is_in(const char *directory, const char *file) {
    const char *slash = strrchr(file, '/');
    char *parent = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    if (!parent) return false;
    const struct file_identity one = file_identity_of(directory), other = file_identity_of(parent);
    free(parent);
    return file_identity_equal(&one, &other);
}

/* A store takes the place of its input only by a slip of the hand. */
static int check_not_read(const char *const *inputs, size_t n_inputs, const char *output,
                          struct dpmf_error *error) {
    const struct file_identity written = file_identity_of(output);
    for (size_t i = 0; i < n_inputs && written.is_known; i++) {
        struct file_identity input;
        int code = source_identify(inputs[i], &input, error);
        if (code < 0) return code;
        if (!file_identity_equal(&written, &input) &&
            !(shard_set_is(inputs[i]) && is_in(inputs[i], output)))
            continue;
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "the store would be written over an input");
        error_hint(error, "name another file to write");
        error_place(error, output, 0, 0);
        return DPMF_ERR_USAGE_CONFLICT;
    }
    return 0;
}

int import_ratings(const char *const *inputs, size_t n_inputs, const char *output,
                   const struct dpmf_input_options *options, const struct dpmf_run *run,
                   struct dpmf_import_report *report, struct dpmf_store **store,
                   struct dpmf_error *error) {
    const char *name = n_inputs > 0 ? name_of(inputs[0]) : "";
    struct input_list list;
    char *temporary = NULL;
    int code = input_list_make(inputs, n_inputs, &list, error);
    const char *const *paths = (const char *const *)list.paths;
    if (code == 0 && output) code = check_not_read(paths, list.n, output, error);
    if (code == 0 && database_url_is(name)) {
        name = temporary = import_temporary_name("database");
        if (!temporary) code = error_no_memory(error);
    }
    if (code == 0)
        code = import_liked(paths, list.n, NULL, name, output, options, run, report, store, error);
    free(temporary);
    input_list_free(&list);
    return code;
}

int import_source(struct source *source, const char *name, const struct dpmf_input_options *options,
                  const struct dpmf_run *run, struct dpmf_store **store, struct dpmf_error *error) {
    struct dpmf_import_report report;
    int code = import_liked(NULL, 0, source, name, NULL, options, run, &report, store, error);
    if (code < 0) return code;
    store_set_losses(*store, &report);
    import_losses_tell(&report, options, run);
    return 0;
}

int import_source_to(struct source *source, const char *output,
                     const struct dpmf_input_options *options, const struct dpmf_run *run,
                     struct dpmf_import_report *report, struct dpmf_error *error) {
    return import_liked(NULL, 0, source, output, output, options, run, report, NULL, error);
}

void import_losses_tell(const struct dpmf_import_report *report,
                        const struct dpmf_input_options *options, const struct dpmf_run *run) {
    char text[2 * DPMF_ERROR_TEXT_MAX], first[2 * DPMF_ERROR_TEXT_MAX];
    if (!run->warn) return;
    if (report->skipped && options->by_record) {
        snprintf(text, sizeof text, "bad records skipped: %llu",
                 (unsigned long long)report->skipped);
        run->warn(run->warn_self, text);
    } else if (report->skipped) {
        dpmf_error_format(&report->first_skipped, NULL, NULL, first, sizeof first);
        dpmf_error_write(text, sizeof text, "bad records skipped: %llu, the first: %.800s",
                         (unsigned long long)report->skipped, first);
        run->warn(run->warn_self, text);
    }
    if (report->duplicates) {
        const bool added = report->holds_events && !options->has_like;
        snprintf(text, sizeof text, "%s: %llu; %s",
                 added ? "repeated events of a user and an item"
                       : "repeated pairs of a user and an item",
                 (unsigned long long)report->duplicates,
                 added                  ? "their counts were added"
                 : report->keeps_latest ? "the latest rating counts, then the highest"
                                        : "the last rating counts");
        run->warn(run->warn_self, text);
    }
}

int dpmf_import(const char *const *inputs, size_t n_inputs, const char *output,
                const struct dpmf_input_options *options, const struct dpmf_run *run,
                struct dpmf_import_report *report, struct dpmf_error *error) {
    struct dpmf_input_options own = dpmf_input_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "inputs output", inputs, output);
    if (code == 0) code = options_take(&own, sizeof own, options, "input_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    for (size_t i = 0; i < n_inputs; i++)
        if ((code = arguments_check(error, "inputs[i]", inputs[i])) < 0) return code;
    return import_ratings(inputs, n_inputs, output, options, run, report, NULL, error);
}
