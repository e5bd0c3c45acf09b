/*
 * What the fuzzers of tables share: reading all rows of a source, with everything that must hold of
 * any record checked.
 */
#ifndef DPMF_TESTS_FUZZ_ROWS_H
#define DPMF_TESTS_FUZZ_ROWS_H

#include <math.h>
#include <stdlib.h>

#include "ratings/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A take_records that aborts at a record which breaks its contract. */
static inline int fuzz_check_records(void *self, const struct record *records, int n,
                                     struct dpmf_error *error) {
    static volatile uint8_t sum; /* over all ids' bytes, so that each is read */
    (void)self, (void)error, (void)sum;
    for (int i = 0; i < n; i++) {
        if (!isfinite(records[i].rating)) abort();
        if (records[i].user_length - 1u >= (uint32_t)STORE_ID_MAX) abort();
        if (records[i].item_length - 1u >= (uint32_t)STORE_ID_MAX) abort();
        for (uint32_t j = 0; j < records[i].user_length; j++) sum ^= (uint8_t)records[i].user[j];
        for (uint32_t j = 0; j < records[i].item_length; j++) sum ^= (uint8_t)records[i].item[j];
    }
    return 0;
}

static inline void fuzz_check_code(int code) {
    if (code == DPMF_ERR_BASE_BUG || (code < 0 && !dpmf_error_name(code))) abort();
}

static inline int fuzz_read_rows(struct source *source, const struct dpmf_input_options *options) {
    static struct record_batch batch;
    struct dpmf_error error;
    uint64_t rows = 0;
    void *chunk = source->ops->chunk_new(source);
    int code = 0;
    if (!chunk) abort();
    batch.take = fuzz_check_records;
    batch.options = options;
    batch.counts = source->layout.holds_events;
    /* Nulls and runs of one value need few bytes: their rows are not worth a fuzzer's time. */
    while (code == 0 && rows < 1000000 && (code = source->ops->next(source, chunk, &error)) == 1) {
        record_batch_begin(&batch);
        source->ops->parse(source, chunk, &batch);
        record_batch_end(&batch);
        if (batch.n_rejected > 0 && !options->skip_bad) abort();
        code = source->ops->settle(source, chunk, &batch, &error);
        rows += 1 << 15;
    }
    source->ops->chunk_free(chunk);
    return code;
}

#endif
