/*
 * Bytes of a test as an input stream: written to a file without a name, and read from it as any
 * input is. Shared by tests and fuzzers.
 */
#ifndef DPMF_TESTS_STREAM_OF_H
#define DPMF_TESTS_STREAM_OF_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tables/input_stream.h"

/* @return a descriptor at the beginning of a file of these bytes */
static inline int stream_of_file(const void *bytes, size_t n) {
    const int fd = memfd_create("test", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0) abort();
    return fd;
}

static inline int stream_of(const void *bytes, size_t n, const char *name,
                            struct input_stream **stream, struct dpmf_error *error) {
    return input_stream_open_fd(stream_of_file(bytes, n), name, NULL, stream, error);
}

#endif
