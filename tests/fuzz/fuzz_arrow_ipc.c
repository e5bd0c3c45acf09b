/*
 * Property: no bytes make the reader of Arrow's IPC files and streams crash, read out of bounds or
 * take more memory than it may, be they read through a pipe or by their footer; every record obeys
 * the contract of struct record; and bad rows are only skipped when asked for.
 */
#define _GNU_SOURCE
#include "../unit/stream_of.h"

#include <stdio.h>

#include "arrow/ipc_reader.h"
#include "fuzz_rows.h"
#include "ratings/arrow_source.h"

static int open_bytes(const uint8_t *data, size_t size, bool is_file, int *fd,
                      struct input_stream **stream, struct dpmf_error *error) {
    char name[40];
    if (!is_file) return stream_of(data, size, "no such file", stream, error);
    *fd = stream_of_file(data, size);
    snprintf(name, sizeof name, "/proc/self/fd/%d", *fd);
    return input_stream_open(name, NULL, stream, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct dpmf_input_options options = dpmf_input_options_default();
    struct input_stream *stream = NULL;
    struct arrow_table *table = NULL;
    struct source *source = NULL;
    struct dpmf_error error;
    int fd = -1;
    options.skip_bad = data[0] & 1;
    if (data[0] & 4) options.columns = "user,item,rating,timestamp";
    int code = open_bytes(data + 1, size - 1, data[0] & 2, &fd, &stream, &error);
    if (code == 0) code = ipc_reader_open(stream, 1 << 20, &table, &error);
    if (code == 0) code = arrow_source_open(table, &options, &source, &error);
    if (code == 0) code = fuzz_read_rows(source, &options);
    fuzz_check_code(code);
    source_close(source);
    if (fd >= 0) close(fd);
    return 0;
}
