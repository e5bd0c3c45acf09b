/*
 * Reads ratings text from memory through a source, the way the importer does but in one thread, and
 * writes down everything that came of it as one text, so that two ways of reading can be compared.
 * Shared by the tests of the formats and by their fuzzers.
 */
#ifndef DPMF_TESTS_READ_TEXT_H
#define DPMF_TESTS_READ_TEXT_H

#include "stream_of.h" /* defines _GNU_SOURCE */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf_text.h"
#include "ratings/text_source.h"

/* What every record must be, whatever the input was. */
static inline void read_text_check(const struct record *record) {
    if (record->user_length == 0 || record->user_length > STORE_ID_MAX) abort();
    if (record->item_length == 0 || record->item_length > STORE_ID_MAX) abort();
    if (memchr(record->user, 0, record->user_length) != NULL) abort();
    if (memchr(record->item, 0, record->item_length) != NULL) abort();
    if (!isfinite(record->rating)) abort();
}

static inline int read_text_take(void *self, const struct record *records, int n,
                                 struct dpmf_error *error) {
    FILE *out = self;
    (void)error;
    for (int i = 0; i < n; i++) {
        const struct record *record = &records[i];
        char rating[DPMF_DOUBLE_TEXT_MAX];
        read_text_check(record);
        dpmf_format_double(record->rating, rating);
        fwrite(record->user, 1, record->user_length, out);
        fputc(' ', out);
        fwrite(record->item, 1, record->item_length, out);
        fprintf(out, " %s", rating);
        if (record->time != STORE_NO_TIME) fprintf(out, " %lld", (long long)record->time);
        fputc('\n', out);
    }
    return 0;
}

static inline void read_text_put_error(FILE *out, const char *what,
                                       const struct dpmf_error *error) {
    char text[3 * DPMF_ERROR_TEXT_MAX];
    dpmf_error_format(error, NULL, NULL, text, sizeof text);
    fprintf(out, "%s %s %s\n", what, dpmf_error_name(error->code), text);
}

struct read_text_tally {
    uint64_t skipped;
    struct dpmf_error first;
};

static inline void read_text_count(const struct record_batch *batch,
                                   struct read_text_tally *tally) {
    if (batch->n_rejected > 0 && tally->skipped == 0) tally->first = batch->first_rejected;
    tally->skipped += batch->n_rejected;
}

/* @return 0 or the code that reading ended with */
static inline int read_text_all(struct source *source, struct record_batch *batch, void *chunk,
                                struct read_text_tally *tally, struct dpmf_error *error) {
    int code;
    while ((code = source->ops->next(source, chunk, error)) == 1) {
        record_batch_begin(batch);
        source->ops->parse(source, chunk, batch);
        record_batch_end(batch);
        code = source->ops->settle(source, chunk, batch, error);
        if (code != 0) return code;
        read_text_count(batch, tally);
    }
    if (code < 0) return code;
    record_batch_begin(batch);
    code = source->ops->finish(source, batch, error);
    if (code == 0) read_text_count(batch, tally);
    return code;
}

/* The records, a line each, below a line "events" where they are these; then, if any, how many were
 * skipped and the first of them; or, when reading failed, nothing but the error. The caller frees
 * it. */
static inline char *read_text(const void *bytes, size_t n, const struct dpmf_input_options *options,
                              size_t chunk_size, size_t record_max, struct dpmf_error *error) {
    static struct record_batch batch;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) abort();
    memset(error, 0, sizeof *error);
    const struct text_settings settings = {chunk_size, record_max};
    struct read_text_tally tally = {0, {.code = 0}};
    struct source *source = NULL;
    struct input_stream *stream = NULL;
    int code = stream_of(bytes, n, "t", &stream, error);
    if (code == 0) code = text_source_open_stream(stream, options, &settings, &source, error);
    if (code == 0) {
        void *chunk = source->ops->chunk_new(source);
        batch.take = read_text_take;
        batch.self = out;
        batch.options = options;
        batch.counts = source->layout.holds_events;
        if (batch.counts) fputs("events\n", out);
        code = read_text_all(source, &batch, chunk, &tally, error);
        source->ops->chunk_free(chunk);
        source->ops->close(source);
    }
    if (code != 0) rewind(out);
    if (code != 0) read_text_put_error(out, "failed:", error);
    if (code == 0 && tally.skipped > 0) {
        fprintf(out, "skipped %llu, ", (unsigned long long)tally.skipped);
        read_text_put_error(out, "first:", &tally.first);
    }
    if (code == 0 && batch.remark.code) read_text_put_error(out, "remark:", &batch.remark);
    fputc('\0', out);
    fclose(out);
    return text;
}

#endif
