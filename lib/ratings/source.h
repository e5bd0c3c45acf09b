/*
 * A source of ratings: the one interface behind which text files, stores and databases stand. Input
 * comes as chunks that can be parsed independently of each other: `next` cuts them, serially;
 * `parse` turns one into records, in any thread; `settle` follows, serially and in order, with what
 * depends on the order (line numbers, counts across chunks). import_read.c drives it with a
 * pipeline.
 */
#ifndef DPMF_RATINGS_SOURCE_H
#define DPMF_RATINGS_SOURCE_H

#include <assert.h>

#include "files/file_identity.h"
#include "ratings/record_batch.h"
#include "tables/column_names.h"
#include "tables/input_stream.h"

struct source;

struct source_ops {
    /* An empty chunk object for reuse, NULL without memory. */
    void *(*chunk_new)(const struct source *source);
    void (*chunk_free)(void *chunk);

    /* Serial. @return 1 with a chunk, 0 at the end, or a negative code */
    int (*next)(struct source *source, void *chunk, struct dpmf_error *error);

    /* Any thread; the source is not changed. Adds records to `batch`, stops when it says so. Does
     * not call record_batch_begin or _end. */
    void (*parse)(const struct source *source, void *chunk, struct record_batch *batch);

    /* Serial, in order, after parse: makes the places in batch->failure and batch->first_rejected
     * absolute (file, line) and checks what spans chunks; what is wrong across chunks is rejected
     * through the batch too. @return 0, or a negative code */
    int (*settle)(struct source *source, void *chunk, struct record_batch *batch,
                  struct dpmf_error *error);

    /* After the last chunk was settled: what is known only at the end. `batch` as in settle. */
    int (*finish)(struct source *source, struct record_batch *batch, struct dpmf_error *error);

    void (*close)(struct source *source);
};

struct source {
    const struct source_ops *ops;
    const char *format;         /* its name, e.g. "csv"; static text */
    struct store_layout layout; /* how its records are read; complete once the source is open */
    char unused[160];           /* names of columns that are not used, for people; or "" */
    bool contradicts;           /* whether its first line contradicts options->columns */
    uint64_t total_bytes;       /* for progress; 0 when not known (standard input) */
    uint64_t (*bytes_read)(const struct source *source); /* bytes read so far; any thread */
    uint64_t (*bytes_held)(const struct source *source); /* peak memory of its own, without
                                                            chunks; any thread; NULL: negligible */
};

/* Opens an input of any kind: sniffs compression, store and format, or takes options->format. Reads
 * no more than it needs to decide. `path` "-" is standard input. `wait` (may be NULL) as for
 * input_stream_open. */
int source_open(const char *path, const struct dpmf_input_options *options,
                const struct input_wait *wait, struct source **source, struct dpmf_error *error);
void source_close(struct source *source); /* NULL is fine */

/* Notes a column, from 0, by its name, unless `column` has it. */
void source_note_unused(struct source *source, const char *name, size_t n, uint32_t at,
                        const int32_t column[COLUMN_ROLES]);

/* The end of every function that opens one: `opened` becomes `*source`, or is closed when `code`
 * says that opening failed. @return `code` */
static inline int source_hand_over(struct source *opened, int code, struct source **source) {
    assert(opened->ops && code <= 0);
    if (code < 0)
        opened->ops->close(opened);
    else
        *source = opened;
    return code;
}

/* The identity of the file that is read, also where the path is the URL of a database; unknown
 * where there is no file. */
int source_identify(const char *path, struct file_identity *identity, struct dpmf_error *error);

#endif
