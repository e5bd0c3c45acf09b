/*
 * Rows of an input that is no text, read as a private run reads them, with one inserted and
 * without. Include after cmocka.
 */
#ifndef DPMF_TESTS_INSERT_ROWS_H
#define DPMF_TESTS_INSERT_ROWS_H

#include "insert_record.h"
#include "ratings/source.h"

/* @return false without SQLite */
static inline bool read_rows(const char *address, struct insert_records *out) {
    static struct record_batch batch;
    struct dpmf_input_options options = dpmf_input_options_default();
    struct read_text_tally tally = {0, {.code = 0}};
    struct dpmf_error error = {0};
    struct source *source = NULL;
    options.by_record = options.skip_bad = true;
    out->n = out->count = 0;
    int code = source_open(address, &options, NULL, &source, &error);
    if (code == 0) {
        void *chunk = source->ops->chunk_new(source);
        batch.take = insert_take;
        batch.self = out;
        batch.options = &options;
        batch.counts = source->layout.holds_events;
        code = read_text_all(source, &batch, chunk, &tally, &error);
        source->ops->chunk_free(chunk);
        source_close(source);
    }
    if (code == DPMF_ERR_IO_LIBRARY) return false;
    if (code != 0) print_error("%s\n%s\n", error.message, address);
    assert_int_equal(code, 0);
    return true;
}

/* A record before the `place`-th of `base` at most, and all of these as they were. */
static inline void insert_expect_others(const struct insert_records *base, size_t place,
                                        const struct insert_records *with) {
    static struct insert_records others;
    const size_t own = with->count - base->count;
    assert_true(own <= 1);
    others.n = others.count = 0;
    insert_records_add(&others, with, 0, place);
    insert_records_add(&others, with, place + own, with->count);
    assert_int_equal(others.n, base->n);
    assert_memory_equal(others.bytes, base->bytes, base->n);
}

#endif
