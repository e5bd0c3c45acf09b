/*
 * Ratings that can be read only once, as standard input: copied to a file without a name, which is
 * then read as any other. Fed by own_read.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "files/output_file.h"
#include "files/temporary.h"
#include "own/own.h"

enum { BUFFER_BYTES = 1 << 16, PATH_TEXT_MAX = 32 };

static int report_progress(const struct own_reading *reading, uint64_t done,
                           struct dpmf_error *error) {
    const struct dpmf_run *run = reading->run;
    const struct dpmf_progress progress = {.phase = "reading", .unit = "bytes", .done = done};
    if (!run->progress || run->progress(run->progress_self, &progress) == 0) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

static int copy_bytes(const struct own_reading *reading, int from, int to,
                      struct dpmf_error *error) {
    char *bytes = memory_alloc(BUFFER_BYTES, 1);
    uint64_t done = 0;
    ssize_t n = 1;
    int code = bytes ? 0 : error_no_memory(error);
    while (code == 0 && n != 0) {
        n = read(from, bytes, BUFFER_BYTES);
        const int number = errno;
        if (n > 0) done += (uint64_t)n;
        code = report_progress(reading, done, error);
        if (code == 0 && n > 0)
            code = file_write_all(to, bytes, (size_t)n, temporary_directory(), error);
        if (code == 0 && n < 0 && number != EINTR)
            code = error_system(error, number, "read", reading->name);
    }
    free(bytes);
    return code;
}

int own_stream_read(struct own_reading *reading, int from, struct dpmf_error *error) {
    char path[PATH_TEXT_MAX];
    int copy = -1;
    int code = output_file_nameless(NULL, &copy, error);
    if (code < 0) return code;
    code = copy_bytes(reading, from, copy, error);
    if (code == 0) {
        const char *outside = reading->path;
        snprintf(path, sizeof path, "/dev/fd/%d", copy);
        reading->path = path;
        code = own_path_read(reading, error);
        reading->path = outside;
    }
    close(copy);
    return code;
}
