/*
 * A file that appears whole or not at all: written beside its place without a name (or a temporary
 * one), flushed, renamed, and the directory flushed. Also temporary files that never get a name.
 */
#ifndef DPMF_FILES_OUTPUT_FILE_H
#define DPMF_FILES_OUTPUT_FILE_H

#include "dpmf.h"
#include "files/file_read.h"

enum output_mode {
    OUTPUT_PRIVATE, /* 0600: whatever holds ratings or users */
    OUTPUT_PUBLIC,  /* 0666 less the umask */
    OUTPUT_LEDGER,  /* 0600: the one file that may take the place of a ledger */
};

struct output_file;

/* Fails early for what would fail at the end: a missing or unwritable directory, a directory in the
 * way. */
int output_file_open(struct output_file **file, const char *path, enum output_mode mode,
                     struct dpmf_error *error);

/* Whether output_file_open would succeed, for files that are opened only after hours of work, and
 * whether what is there may be replaced (file_kind.h). Leaves nothing behind. */
int output_file_check(const char *path, unsigned kinds, bool replace, struct dpmf_error *error);

/* The same for a file of a directory that is not there yet: it waits for output_file_commit_into in
 * the directory `aside` on the same disk, without a name where possible; `path` is what errors call
 * it. */
int output_file_open_aside(struct output_file **file, const char *path, const char *aside,
                           enum output_mode mode, struct dpmf_error *error);

/* The same for a file that another library writes by its name: output_file_temporary returns the
 * temporary name, to be freed, or NULL without memory. */
int output_file_open_named(struct output_file **file, const char *path, enum output_mode mode,
                           struct dpmf_error *error);
char *output_file_temporary(const struct output_file *file);

/* Buffered for small pieces, straight through for large ones. */
int output_file_write(struct output_file *file, const void *bytes, size_t n,
                      struct dpmf_error *error);

/* Writes at an offset, without the buffer, from any number of threads at once. Such bytes do not
 * count in the size; do not mix with output_file_write in one file. */
int output_file_write_at(struct output_file *file, const void *bytes, size_t n, uint64_t offset,
                         struct dpmf_error *error);

uint64_t output_file_size(const struct output_file *file); /* bytes written so far */

/* Flushes everything to the disk and puts it in its place; frees `file` in any case. */
int output_file_commit(struct output_file *file, struct dpmf_error *error);

/* Flushes it and puts it into an open directory under a name that must be free; frees `file` in any
 * case. */
int output_file_commit_into(struct output_file *file, int directory, const char *name,
                            struct dpmf_error *error);

/* The first half of a commit: everything is on the disk under the temporary name. With two files,
 * prepare both, then commit both. */
int output_file_prepare(struct output_file *file, struct dpmf_error *error);

/* Takes away what is in its place now, and flushes that. Of several files that belong together, one
 * of them is cleared before another is committed: then an old one is never beside a new one,
 * whenever the process ends. */
int output_file_clear(struct output_file *file, struct dpmf_error *error);

/* Removes the temporary file and frees `file`; NULL is fine. */
void output_file_abandon(struct output_file *file);

/* A 0600 file without a name in the directory of `beside` (or in $TMPDIR or /tmp when NULL), gone
 * when closed or when the process ends, however it ends. */
int output_file_nameless(const char *beside, int *fd, struct dpmf_error *error);

/* Flushes what is behind a descriptor to the disk. @return whether that failed, with errno; not
 * where the file system has no fsync for it, which is no reason to lose the file */
bool output_sync_failed(int fd);

/* write(2) and pwrite(2) until done, as file_read_at reads. `path` is for the error's text. */
int file_write_all(int fd, const void *bytes, size_t n, const char *path, struct dpmf_error *error);
int file_write_at(int fd, const void *bytes, size_t n, uint64_t offset, const char *path,
                  struct dpmf_error *error);

#endif
