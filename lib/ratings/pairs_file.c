/*
 * Pairs of a user and an item out of anything that has them: a table of two columns or more, a
 * store, or ratings in a format that is no table (blocks, MatrixMarket, JSON lines, RecBole, a
 * database, shards, Arrow and Parquet), one by one in the order of the file. The first two are
 * table_file.c's; the others are read by the importer's own parsers, in this thread. Feeds
 * predict.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arrow/ipc_reader.h"
#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "database/database_url.h"
#include "dpmf_text.h"
#include "parquet/parquet_reader.h"
#include "ratings/formats.h"
#include "ratings/source.h"
#include "store/shard_set.h"

typedef int take_pair(void *self, const struct dpmf_table_row *row, struct dpmf_error *error);

struct id_copy {
    char *text;
    size_t capacity;
};

struct pairs {
    const char *path;
    const struct dpmf_input_options *options;
    const struct dpmf_run *run;
    take_pair *take;
    void *self;
    struct id_copy user, item;
    uint64_t n;
    int code; /* the code that `take` returned */
    struct dpmf_error reason;
};

/* ---- records --------------------------------------------------------------------------------- */

static bool copy_id(struct id_copy *copy, const char *id, size_t n, struct dpmf_field *field) {
    if (!memory_reserve(&copy->text, &copy->capacity, n + 1, 1)) return false;
    memcpy(copy->text, id, n);
    copy->text[n] = '\0';
    *field = (struct dpmf_field){copy->text, n, 0};
    return true;
}

/* What `take` says is kept aside: the places in a batch's errors are relative to a chunk. */
static int take_records(void *self, const struct record *records, int n, struct dpmf_error *error) {
    struct pairs *pairs = self;
    struct dpmf_table_row row = {.file = pairs->path};
    (void)error;
    for (int i = 0; i < n && pairs->code == 0; i++) {
        const struct record *record = &records[i];
        if (!copy_id(&pairs->user, record->user, record->user_length, &row.field[0]) ||
            !copy_id(&pairs->item, record->item, record->item_length, &row.field[1]))
            pairs->code = error_no_memory(&pairs->reason);
        else
            pairs->code = pairs->take(pairs->self, &row, &pairs->reason);
        pairs->n++;
    }
    return pairs->code;
}

static bool may_go_on(void *self) {
    const struct pairs *pairs = self;
    if (!pairs->run || !pairs->run->progress) return true;
    const struct dpmf_progress progress = {.phase = "reading", .unit = "rows", .done = pairs->n};
    return pairs->run->progress(pairs->run->progress_self, &progress) == 0;
}

/* The batch's failure once its place is known; that of `take` goes before. */
static int failure_of(const struct pairs *pairs, const struct record_batch *batch,
                      struct dpmf_error *error) {
    const struct dpmf_error *failure = pairs->code != 0 ? &pairs->reason : &batch->failure;
    int code = pairs->code != 0 ? pairs->code : batch->failure.code;
    if (code != 0 && error) {
        *error = *failure;
        error->code = code;
    }
    return code;
}

static int read_chunks(struct pairs *pairs, struct source *source, struct record_batch *batch,
                       void *chunk, struct dpmf_error *error) {
    int code;
    while ((code = source->ops->next(source, chunk, error)) == 1) {
        record_batch_begin(batch);
        source->ops->parse(source, chunk, batch);
        record_batch_end(batch);
        code = pairs->code == 0 ? source->ops->settle(source, chunk, batch, error) : 0;
        if (code == 0) code = failure_of(pairs, batch, error);
        if (code == 0 && !may_go_on(pairs))
            code = error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
        if (code < 0) return code;
    }
    if (code < 0) return code;
    record_batch_begin(batch);
    code = source->ops->finish(source, batch, error);
    return code == 0 ? failure_of(pairs, batch, error) : code;
}

static int read_ratings(struct pairs *pairs, struct dpmf_error *error) {
    const struct input_wait wait = {may_go_on, pairs, 0};
    struct record_batch batch = {.take = take_records, .self = pairs, .options = pairs->options};
    struct source *source = NULL;
    int code = source_open(pairs->path, pairs->options, &wait, &source, error);
    if (code < 0) return code;
    if (source->contradicts && pairs->run->warn)
        pairs->run->warn(pairs->run->warn_self,
                         "the first line contradicts {columns}: which is right?");
    void *chunk = source->ops->chunk_new(source);
    code = chunk ? read_chunks(pairs, source, &batch, chunk, error) : error_no_memory(error);
    if (chunk) source->ops->chunk_free(chunk);
    source_close(source);
    free(pairs->user.text);
    free(pairs->item.text);
    return code;
}

/* ---- which of them --------------------------------------------------------------------------- */

static bool is_no_table(const struct text_format *format) {
    return format == &format_netflix || format == &format_yahoo ||
           format == &format_matrix_market || format == &format_json_lines ||
           format == &format_inter;
}

/* @return whether the text of the stream is such ratings; *code is set when there is no memory */
static bool sniff(struct input_stream *stream, int *code, struct dpmf_error *error) {
    size_t n = 0;
    const void *head;
    *code = 0;
    const size_t n_head = input_stream_head(stream, &head);
    if (ipc_has_magic(head, n_head) || parquet_has_magic(head, n_head)) return true;
    char *text = memory_alloc(TEXT_SNIFF_BYTES, 1);
    *code = text ? input_stream_read(stream, text, TEXT_SNIFF_BYTES, &n, error)
                 : error_no_memory(error);
    bool is_other = false;
    if (*code == 0) {
        size_t mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        is_other = is_no_table(format_sniff(text + mark, n - mark, n < TEXT_SNIFF_BYTES));
    }
    free(text);
    return is_other;
}

/* Only of a file: looking at a pipe would take its first bytes away. What cannot be looked at is
 * left to the reader of tables, which says why; a lack of memory is never ignored. */
static int look(const char *path, bool *is_other, struct dpmf_error *error) {
    struct stat status;
    struct input_stream *stream = NULL;
    *is_other = database_url_is(path) || shard_set_is(path);
    if (*is_other) return 0;
    if (strcmp(path, "-") == 0 || stat(path, &status) < 0 || !S_ISREG(status.st_mode)) return 0;
    int code = input_stream_open(path, NULL, &stream, error);
    if (code == 0) {
        *is_other = sniff(stream, &code, error);
        input_stream_close(stream);
    }
    return code == DPMF_ERR_BASE_NO_MEMORY ? code : 0;
}

/* How the file is read, without what is about its ratings: pairs need none. A bad record is always
 * an error, for every pair gets its line. */
static struct dpmf_input_options layout_of(const struct dpmf_input_options *input) {
    struct dpmf_input_options layout = *input;
    layout.rescale = layout.has_range = layout.skip_bad = false;
    return layout;
}

/* A table of pairs needs no rating and may have any columns; one whose layout is declared is read
 * by the importer, which knows what to make of that. */
static bool is_declared(const struct dpmf_input_options *input) {
    return !format_is_auto(input) || input->columns || input->separator != 0 ||
           input->user_column || input->item_column || input->rating_column || input->time_column ||
           input->events;
}

int dpmf_pairs_read(const char *path, const struct dpmf_input_options *options,
                    const struct dpmf_run *run, take_pair *take, void *self,
                    struct dpmf_error *error) {
    struct dpmf_run own_run;
    struct dpmf_input_options input = dpmf_input_options_default();
    int code = arguments_check(error, "path", path);
    if (code == 0) code = options_take(&input, sizeof input, options, "input_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    if (!take) return arguments_check(error, "take", NULL);
    input = layout_of(&input);
    struct pairs pairs = {.path = path, .options = &input, .run = run, .take = take, .self = self};
    bool is_other = is_declared(&input);
    code = is_other ? 0 : look(path, &is_other, error);
    if (code < 0) return code;
    if (is_other) return read_ratings(&pairs, error);
    return dpmf_table_read(path, "user,item", run, take, self, error);
}
