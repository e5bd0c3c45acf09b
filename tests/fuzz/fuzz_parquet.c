/*
 * Property: no bytes make the reader of Parquet files crash, read out of bounds or take more memory
 * than it may; every record obeys the contract of struct record; and bad rows are only skipped when
 * asked for.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parquet/parquet_reader.h"
#include "ratings/arrow_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t sum; /* sum of all ids' bytes, so that each is read */

static int check_records(void *self, const struct record *records, int n,
                         struct dpmf_error *error) {
    (void)self, (void)error;
    for (int i = 0; i < n; i++) {
        if (!isfinite(records[i].rating)) abort();
        if (records[i].user_length - 1u >= (uint32_t)STORE_ID_MAX) abort();
        if (records[i].item_length - 1u >= (uint32_t)STORE_ID_MAX) abort();
        for (uint32_t j = 0; j < records[i].user_length; j++) sum ^= (uint8_t)records[i].user[j];
        for (uint32_t j = 0; j < records[i].item_length; j++) sum ^= (uint8_t)records[i].item[j];
    }
    return 0;
}

static void check_error(int code) {
    if (code == DPMF_ERR_BASE_BUG || (code < 0 && !dpmf_error_name(code))) abort();
}

static int read_rows(struct source *source, const struct dpmf_input_options *options) {
    static struct record_batch batch;
    struct dpmf_error error;
    uint64_t rows = 0;
    void *chunk = source->ops->chunk_new(source);
    int code = 0;
    if (!chunk) abort();
    batch.take = check_records;
    batch.options = options;
    batch.counts = source->layout.holds_events;
    /* A run of one value needs few bytes: its rows are not worth the time of a fuzzer. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct dpmf_input_options options = dpmf_input_options_default();
    struct arrow_table *table = NULL;
    struct source *source = NULL;
    struct dpmf_error error;
    char name[40];
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1) abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    options.skip_bad = data[0] & 1;
    if (data[0] & 4) options.columns = "user,item,rating,timestamp";
    int code = parquet_reader_open(name, 1 << 20, data[0] & 2, &table, &error);
    if (code == 0) code = arrow_source_open(table, &options, &source, &error);
    if (code == 0) code = read_rows(source, &options);
    check_error(code);
    source_close(source);
    close(fd);
    return 0;
}
