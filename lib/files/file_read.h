/*
 * Bytes of a file or of memory, read at any offset. Whoever reads through a source need not know
 * which of the two it is, and a client that has everything in memory needs no files at all.
 */
#ifndef DPMF_FILES_FILE_READ_H
#define DPMF_FILES_FILE_READ_H

#include "dpmf_client.h"

/* Opens a file to read it, without waiting, so that a pipe nobody writes to can be refused like any
 * other. `path` is UTF-8 on Windows. @return a descriptor, or -1 with errno */
int file_open_to_read(const char *path);

/* pread(2) until done. `path` is for the error's text. A short read is an error. */
int file_read_at(int fd, void *bytes, size_t n, uint64_t offset, const char *path,
                 struct dpmf_error *error);

struct byte_source {
    char *name; /* what errors call it */
    uint64_t n_bytes;
    bool is_regular; /* whether it has a size and offsets, unlike a pipe or a device */
    int (*read)(const struct byte_source *source, void *bytes, size_t n, uint64_t offset,
                struct dpmf_error *error);
    void (*release)(struct byte_source *source);
    int fd;            /* descriptor of a file */
    const void *bytes; /* memory of the caller, which must stay valid */
};

/* Takes over `fd`: close the source also when this fails. A directory is an error. */
int byte_source_of_file(struct byte_source *source, int fd, const char *name,
                        struct dpmf_error *error);
int byte_source_of_memory(struct byte_source *source, const void *bytes, size_t n, const char *name,
                          struct dpmf_error *error);

/* n bytes from `offset` on. What lies past the end is an error. */
int byte_source_read(const struct byte_source *source, void *bytes, size_t n, uint64_t offset,
                     struct dpmf_error *error);
void byte_source_close(struct byte_source *source);

#endif
