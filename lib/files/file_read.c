/*
 * Reading by place. Files are read, not mapped: one that is cut off meanwhile gives an error, not a
 * signal. That a file is reached through a pointer to a function keeps files out of what is linked
 * where there are none, in a browser. Feeds the readers of stores and models.
 */
#define _GNU_SOURCE
#include "files/file_read.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

enum { PIECE_MAX = 1 << 30 }; /* bytes in one system call: some refuse more than 2 GiB */

#ifdef _WIN32

#include <io.h>
#include <windows.h>

int file_open_to_read(const char *path) {
    const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = n > 0 ? memory_alloc((size_t)n, sizeof *wide) : NULL;
    if (!wide) {
        errno = n > 0 ? ENOMEM : ENOENT;
        return -1;
    }
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, n);
    const int fd = _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    const int kept = errno; /* free may change it */
    free(wide);
    errno = kept;
    return fd;
}

/* As pread(2), but for the position, which it moves: nobody reads by it. */
static ssize_t read_piece(int fd, void *bytes, size_t n, uint64_t offset) {
    OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
    DWORD done = 0;
    if (ReadFile((HANDLE)_get_osfhandle(fd), bytes, (DWORD)n, &done, &place)) return (ssize_t)done;
    if (GetLastError() == ERROR_HANDLE_EOF) return 0;
    errno = EIO;
    return -1;
}

#else

int file_open_to_read(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

static ssize_t read_piece(int fd, void *bytes, size_t n, uint64_t offset) {
    return pread(fd, bytes, n, (off_t)offset);
}

#endif

static int ends_early(const char *path, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_READ, "the file ends early");
    error_hint(error, "it was cut off, or is being written by someone else");
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_READ;
}

int file_read_at(int fd, void *bytes, size_t n, uint64_t offset, const char *path,
                 struct dpmf_error *error) {
    assert(bytes || n == 0);
    uint8_t *at = bytes;
    if (offset > INT64_MAX || n > INT64_MAX - offset)
        return error_system(error, EOVERFLOW, "read", path);
    while (n > 0) {
        ssize_t done = read_piece(fd, at, n < PIECE_MAX ? n : PIECE_MAX, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return error_system(error, errno, "read", path);
        if (done == 0) return ends_early(path, error);
        at += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

/* ---- sources --------------------------------------------------------------------------------- */

static int keep_name(struct byte_source *source, const char *name, struct dpmf_error *error) {
    size_t n = strlen(name) + 1;
    source->name = memory_alloc(n, 1);
    if (!source->name) return error_no_memory(error);
    memcpy(source->name, name, n);
    return 0;
}

static int read_file(const struct byte_source *source, void *bytes, size_t n, uint64_t offset,
                     struct dpmf_error *error) {
    return file_read_at(source->fd, bytes, n, offset, source->name, error);
}

static void release_file(struct byte_source *source) { close(source->fd); }

int byte_source_of_file(struct byte_source *source, int fd, const char *name,
                        struct dpmf_error *error) {
    struct stat status;
    *source = (struct byte_source){.read = read_file, .release = release_file, .fd = fd};
    int code = keep_name(source, name, error);
    if (code < 0) return code;
    if (fstat(fd, &status) < 0) return error_system(error, errno, "read", name);
    if (S_ISDIR(status.st_mode)) return error_system(error, EISDIR, "read", name);
    source->is_regular = S_ISREG(status.st_mode);
    source->n_bytes = status.st_size > 0 ? (uint64_t)status.st_size : 0;
    return 0;
}

static int read_memory(const struct byte_source *source, void *bytes, size_t n, uint64_t offset,
                       struct dpmf_error *error) {
    assert(offset <= source->n_bytes && n <= source->n_bytes - offset);
    (void)error;
    memcpy(bytes, (const uint8_t *)source->bytes + (size_t)offset, n);
    return 0;
}

int byte_source_of_memory(struct byte_source *source, const void *bytes, size_t n, const char *name,
                          struct dpmf_error *error) {
    assert(bytes || n == 0);
    *source = (struct byte_source){
        .read = read_memory, .fd = -1, .bytes = bytes, .n_bytes = n, .is_regular = true};
    return keep_name(source, name, error);
}

int byte_source_read(const struct byte_source *source, void *bytes, size_t n, uint64_t offset,
                     struct dpmf_error *error) {
    assert(source->read && source->name);
    if (offset > source->n_bytes || n > source->n_bytes - offset)
        return ends_early(source->name, error);
    return n > 0 ? source->read(source, bytes, n, offset, error) : 0;
}

void byte_source_close(struct byte_source *source) {
    if (source->release) source->release(source);
    free(source->name);
    *source = (struct byte_source){.fd = -1};
}
