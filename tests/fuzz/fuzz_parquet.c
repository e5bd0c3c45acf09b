/*
 * Property: no bytes make the reader of Parquet files crash, read out of bounds or take more memory
 * than it may; every record obeys the contract of struct record; and bad rows are only skipped when
 * asked for.
 */
#define _GNU_SOURCE
#include "../unit/stream_of.h"

#include <stdio.h>

#include "fuzz_rows.h"
#include "parquet/parquet_reader.h"
#include "ratings/arrow_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct dpmf_input_options options = dpmf_input_options_default();
    struct arrow_table *table = NULL;
    struct source *source = NULL;
    struct dpmf_error error;
    char name[40];
    const int fd = stream_of_file(data + 1, size - 1);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    options.skip_bad = data[0] & 1;
    if (data[0] & 4) options.columns = "user,item,rating,timestamp";
    int code = parquet_reader_open(name, 1 << 20, data[0] & 2, &table, &error);
    if (code == 0) code = arrow_source_open(table, &options, &source, &error);
    if (code == 0) code = fuzz_read_rows(source, &options);
    fuzz_check_code(code);
    source_close(source);
    close(fd);
    return 0;
}
