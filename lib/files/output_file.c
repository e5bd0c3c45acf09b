/*
 * Whole files or none. Everything dpmf writes goes through here: stores, models, tables and plots
 * without a name (or, where the system cannot do that, under a temporary one) until they are
 * complete and on the disk, and spill files with no name at all, so that no interruption leaves
 * ratings lying about.
 */
#define _GNU_SOURCE
#include "files/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "files/file_kind.h"
#include "files/temporary.h"

enum {
    BUFFER_SIZE = 1 << 20,
    PIECE_MAX = 1 << 30, /* bytes in one system call: some refuse more than 2 GiB */
    NAME_KEPT_MAX = 200, /* bytes of the final name in the temporary one: NAME_MAX is 255 */
    TEMPORARY_SIZE = NAME_KEPT_MAX + 32,
    NAME_ATTEMPTS = 64,
};

struct output_file {
    int fd;
    int directory;    /* kept open, so that changing the working directory changes nothing */
    char *path;       /* as the user wrote it, for messages */
    const char *name; /* the last part of path */
    char temporary[TEMPORARY_SIZE]; /* its name until it is whole; "" while it has none */
    uint8_t *buffer;
    size_t n_buffered;
    uint64_t size;
    bool prepared;
    bool was_there;      /* something was there when it was opened: */
    struct stat before;  /* what that was */
    _Atomic bool failed; /* a write failed: what is there is not whole and never will be */
};

/* ---- writing all of it ----------------------------------------------------------------------- */

/* A pipe that someone else made non-blocking still gets everything, just not at once. */
static bool wait_for_room(int fd) {
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    return poll(&ready, 1, -1) > 0 || errno == EINTR;
}

int file_write_all(int fd, const void *bytes, size_t n, const char *path,
                   struct dpmf_error *error) {
    const uint8_t *at = bytes;
    while (n > 0) {
        ssize_t done = write(fd, at, n < PIECE_MAX ? n : PIECE_MAX);
        if (done > 0) {
            at += done;
            n -= (size_t)done;
            continue;
        }
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && wait_for_room(fd)) continue;
        return error_system(error, done < 0 ? errno : EIO, "write", path);
    }
    return 0;
}

int file_write_at(int fd, const void *bytes, size_t n, uint64_t offset, const char *path,
                  struct dpmf_error *error) {
    const uint8_t *at = bytes;
    if (offset > INT64_MAX || n > INT64_MAX - offset)
        return error_system(error, EFBIG, "write", path);
    while (n > 0) {
        ssize_t done = pwrite(fd, at, n < PIECE_MAX ? n : PIECE_MAX, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return error_system(error, done < 0 ? errno : EIO, "write", path);
        at += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The part of a path up to its last name: "." when there is none. */
static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 1;
    if (slash == path) n = 1; /* the root */
    char *directory = memory_alloc(n + 1, 1);
    if (!directory) return NULL;
    memcpy(directory, slash ? path : ".", n);
    directory[n] = '\0';
    return directory;
}

/* A directory one may write into but not list cannot be opened for reading, but as a mere place. */
static int open_directory(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd;
}

/* Not for secrets: O_EXCL is what makes the name ours, this only makes a collision unlikely. */
static uint64_t name_number(void) {
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == (ssize_t)sizeof number) return number;
    number = (uint64_t)(clock_now() * 1e9) ^ (uint64_t)getpid() << 48;
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

/* Makes up a name for the file and tries it, until one is free. @return 0 or an errno */
static int take_name(struct output_file *file, int (*try_name)(struct output_file *, mode_t),
                     mode_t bits) {
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        snprintf(file->temporary, sizeof file->temporary, ".%.*s.%016llx.tmp", NAME_KEPT_MAX,
                 file->name, (unsigned long long)name_number());
        if (try_name(file, bits) == 0) return 0;
        if (errno != EEXIST && errno != EINTR) break;
    }
    int failure = errno;
    file->temporary[0] = '\0';
    return failure;
}

static int create_named(struct output_file *file, mode_t bits) {
    file->fd = openat(file->directory, file->temporary,
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, bits);
    return file->fd >= 0 ? 0 : -1;
}

/* A file without a name gets one through the kernel's list of open files. */
static int link_nameless(struct output_file *file, mode_t bits) {
    (void)bits;
    char open_file[64];
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, open_file, file->directory, file->temporary, AT_SYMLINK_FOLLOW);
}

/* Without a name as long as it is not whole, where the system can do that: then not even a killed
 * process leaves a piece of it behind. @return 0 or an errno */
static int create_temporary(struct output_file *file, enum output_mode mode, bool is_named) {
    mode_t bits = mode == OUTPUT_PUBLIC ? 0666 : 0600;
    (void)is_named; /* as it is where there are no others */
#ifdef O_TMPFILE
    if (!is_named && access("/proc/self/fd", X_OK) == 0)
        file->fd = openat(file->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, bits);
#endif
    int failure = file->fd >= 0 ? 0 : take_name(file, create_named, bits);
    if (failure == 0 && mode != OUTPUT_PUBLIC && fchmod(file->fd, bits) != 0) failure = errno;
    if (failure == 0) (void)flock(file->fd, LOCK_EX | LOCK_NB); /* for sweep, where it can be had */
    return failure;
}

/* ---- what a killed process left -------------------------------------------------------------- */

static bool is_temporary_of(const char *name, const struct output_file *file) {
    size_t kept = strnlen(file->name, NAME_KEPT_MAX), n = strlen(name);
    const char end[] = ".tmp";
    return n == 1 + kept + 1 + 16 + strlen(end) && name[0] == '.' &&
           memcmp(name + 1, file->name, kept) == 0 && name[1 + kept] == '.' &&
           strcmp(name + n - strlen(end), end) == 0;
}

/* A process that is killed between giving a file its temporary name and the final one leaves it
 * there. Who writes the same file next takes it away: the lock on it tells that its owner is gone.
 * Nothing depends on this. */
static void sweep(const struct output_file *file) {
    int fd = openat(file->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd >= 0 ? fdopendir(fd) : NULL;
    if (!names && fd >= 0) close(fd);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the list is ours alone */
    for (struct dirent *entry; names && (entry = readdir(names));) {
        if (!is_temporary_of(entry->d_name, file)) continue;
        int left =
            openat(file->directory, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (left < 0) continue;
        if (flock(left, LOCK_EX | LOCK_NB) == 0) unlinkat(file->directory, entry->d_name, 0);
        close(left);
    }
    if (names) closedir(names);
}

/* Only a regular file may stand where the new one goes: renaming over a device or a pipe would put
 * a file in its place, which nobody means who writes to /dev/stdout. */
static int check_place(const char *path, struct dpmf_error *error) {
    struct stat status;
    size_t n = strlen(path);
    bool exists = stat(path, &status) == 0;
    if (!exists && errno == ENAMETOOLONG) return error_system(error, errno, "create", path);
    if ((exists && S_ISDIR(status.st_mode)) || (n > 0 && path[n - 1] == '/')) {
        error_set(error, DPMF_ERR_IO_DIRECTORY, "cannot write a file over a directory");
        error_hint(error, "give the path of a file");
        error_place(error, path, 0, 0);
        return DPMF_ERR_IO_DIRECTORY;
    }
    if (exists && !S_ISREG(status.st_mode)) {
        error_set(error, DPMF_ERR_IO_WRITE, "cannot replace what is not a regular file");
        error_hint(error,
                   "give the path of a file: output goes to a temporary file, which then replaces "
                   "it");
        error_place(error, path, 0, 0);
        return DPMF_ERR_IO_WRITE;
    }
    return n == 0 ? error_system(error, ENOENT, "create", path) : 0;
}

/* Renaming over a link would replace the link, and leave what it leads to as it was. */
static int check_no_link(const char *path, struct dpmf_error *error) {
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode)) return 0;
    error_set(error, DPMF_ERR_IO_WRITE, "cannot write over a symbolic link");
    error_hint(error, "name the file that it leads to, or remove the link");
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

/* Frees `file` and what it holds, the temporary file included unless it is in its place by now. */
static void discard(struct output_file *file) {
    if (file->fd >= 0) close(file->fd);
    if (file->temporary[0] != '\0') unlinkat(file->directory, file->temporary, 0);
    if (file->directory >= 0) close(file->directory);
    free(file->buffer);
    free(file->path);
    free(file);
}

static struct output_file *new_file(const char *path) {
    struct output_file *file = memory_alloc_zero(1, sizeof *file);
    if (!file) return NULL;
    size_t size = strlen(path) + 1;
    file->fd = file->directory = -1;
    file->path = memory_alloc(size, 1);
    file->buffer = memory_alloc(BUFFER_SIZE, 1);
    if (!file->path || !file->buffer) {
        discard(file);
        return NULL;
    }
    memcpy(file->path, path, size);
    const char *slash = strrchr(file->path, '/');
    file->name = slash ? slash + 1 : file->path;
    return file;
}

/* @return whether something is where the file will be */
static bool look_at_place(const struct output_file *file, struct stat *status) {
    return fstatat(file->directory, file->name, status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What was looked at when the file was opened may be replaced; what another program put there
 * since then, nobody has looked at. An empty file is as good as none, as in file_kind.h. */
static int check_still(const struct output_file *file, struct dpmf_error *error) {
    struct stat now;
    if (!look_at_place(file, &now) || (S_ISREG(now.st_mode) && now.st_size == 0)) return 0;
    const struct stat *before = &file->before;
    if (file->was_there && now.st_dev == before->st_dev && now.st_ino == before->st_ino &&
        now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
        return 0;
    error_set(error, DPMF_ERR_IO_WRITE, "another program wrote this file meanwhile");
    error_hint(error, "what it wrote was kept; name another file, or run this again");
    error_place(error, file->path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

static int open_in(struct output_file **out, const char *path, const char *directory,
                   enum output_mode mode, bool is_named, struct dpmf_error *error) {
    struct output_file *file = new_file(path);
    if (!file) return error_no_memory(error);
    file->directory = open_directory(directory);
    if (file->directory >= 0) sweep(file);
    file->was_there = file->directory >= 0 && look_at_place(file, &file->before);
    int failure = file->directory < 0 ? errno : create_temporary(file, mode, is_named);
    if (failure != 0) {
        discard(file);
        return error_system(error, failure, "create", path);
    }
    *out = file;
    return 0;
}

static int open_beside(struct output_file **out, const char *path, enum output_mode mode,
                       bool is_named, struct dpmf_error *error) {
    *out = NULL;
    int code = check_place(path, error);
    if (code == 0 && mode != OUTPUT_LEDGER) code = file_kind_check_ledger(path, error);
    if (code == 0) code = check_no_link(path, error);
    if (code < 0) return code;
    char *directory = directory_of(path);
    code =
        directory ? open_in(out, path, directory, mode, is_named, error) : error_no_memory(error);
    free(directory);
    return code;
}

int output_file_open(struct output_file **out, const char *path, enum output_mode mode,
                     struct dpmf_error *error) {
    return open_beside(out, path, mode, false, error);
}

int output_file_open_named(struct output_file **out, const char *path, enum output_mode mode,
                           struct dpmf_error *error) {
    return open_beside(out, path, mode, true, error);
}

int output_file_open_aside(struct output_file **out, const char *path, const char *aside,
                           enum output_mode mode, struct dpmf_error *error) {
    *out = NULL;
    return open_in(out, path, aside, mode, false, error);
}

/* Making one and taking it away again asks the system all that the end will ask of it. */
static int try_place(const char *path, struct dpmf_error *error) {
    struct output_file *file = NULL;
    int code = output_file_open(&file, path, OUTPUT_PRIVATE, error);
    output_file_abandon(file);
    return code;
}

int output_file_check(const char *path, unsigned kinds, bool replace, struct dpmf_error *error) {
    int code = try_place(path, error);
    return code < 0 ? code : file_kind_check(path, kinds, replace, error);
}

int dpmf_output_check(const char *path, struct dpmf_error *error) {
    int code = arguments_check(error, "path", path);
    return code < 0 ? code : try_place(path, error);
}

char *output_file_temporary(const struct output_file *file) {
    size_t n = (size_t)(file->name - file->path), size = n + sizeof file->temporary;
    char *path = memory_alloc(size, 1);
    if (!path) return NULL;
    memcpy(path, file->path, n);
    memcpy(path + n, file->temporary, sizeof file->temporary);
    return path;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_through(struct output_file *file, const void *bytes, size_t n,
                         struct dpmf_error *error) {
    int code = file_write_all(file->fd, bytes, n, file->path, error);
    if (code < 0) file->failed = true;
    return code;
}

static int flush_buffer(struct output_file *file, struct dpmf_error *error) {
    size_t n = file->n_buffered;
    file->n_buffered = 0;
    return n > 0 ? write_through(file, file->buffer, n, error) : 0;
}

static int refuse_failed(const struct output_file *file, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_WRITE, "cannot write: an earlier part could not be written");
    error_place(error, file->path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

int output_file_write(struct output_file *file, const void *bytes, size_t n,
                      struct dpmf_error *error) {
    if (file->failed) return refuse_failed(file, error);
    if (n == 0) return 0;
    file->prepared = false;
    if (n > BUFFER_SIZE - file->n_buffered) {
        int code = flush_buffer(file, error);
        if (code < 0) return code;
    }
    file->size += n;
    if (n >= BUFFER_SIZE) return write_through(file, bytes, n, error);
    memcpy(file->buffer + file->n_buffered, bytes, n);
    file->n_buffered += n;
    return 0;
}

int output_file_write_at(struct output_file *file, const void *bytes, size_t n, uint64_t offset,
                         struct dpmf_error *error) {
    if (file->failed) return refuse_failed(file, error);
    int code = file_write_at(file->fd, bytes, n, offset, file->path, error);
    if (code < 0) file->failed = true;
    return code;
}

uint64_t output_file_size(const struct output_file *file) { return file->size; }

/* ---- the end --------------------------------------------------------------------------------- */

bool output_sync_failed(int fd) {
    int result;
    do result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result != 0 && errno != EINVAL && errno != EBADF && errno != ENOTSUP;
}

int output_file_prepare(struct output_file *file, struct dpmf_error *error) {
    if (file->failed) return refuse_failed(file, error);
    if (file->prepared) return 0;
    int code = flush_buffer(file, error);
    if (code < 0) return code;
    if (output_sync_failed(file->fd)) {
        file->failed = true; /* a second fsync may succeed without the data being there */
        return error_system(error, errno, "flush", file->path);
    }
    file->prepared = true;
    return 0;
}

int output_file_clear(struct output_file *file, struct dpmf_error *error) {
    if (unlinkat(file->directory, file->name, 0) != 0)
        return errno == ENOENT ? 0 : error_system(error, errno, "replace", file->path);
    return output_sync_failed(file->directory) ? error_system(error, errno, "flush", file->path)
                                               : 0;
}

int output_file_commit(struct output_file *file, struct dpmf_error *error) {
    int code = output_file_prepare(file, error);
    if (code == 0) code = check_still(file, error);
    if (code < 0) goto out;
    int failure = file->temporary[0] == '\0' ? take_name(file, link_nameless, 0) : 0;
    if (failure != 0) {
        code = error_system(error, failure, "create", file->path);
        goto out;
    }
    if (renameat(file->directory, file->temporary, file->directory, file->name) != 0) {
        code = error_system(error, errno, "rename", file->path);
        goto out;
    }
    file->temporary[0] = '\0';
    if (output_sync_failed(file->directory)) code = error_system(error, errno, "flush", file->path);
out:
    discard(file);
    return code;
}

int output_file_commit_into(struct output_file *file, int directory, const char *name,
                            struct dpmf_error *error) {
    int code = output_file_prepare(file, error);
    if (code < 0) goto out;
    if (file->temporary[0] == '\0') {
        char open_file[64];
        snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", file->fd);
        if (linkat(AT_FDCWD, open_file, directory, name, AT_SYMLINK_FOLLOW) != 0)
            code = error_system(error, errno, "create", file->path);
    } else if (linkat(file->directory, file->temporary, directory, name, 0) != 0) {
        code = error_system(error, errno, "create", file->path); /* its other name goes below */
    }
out:
    discard(file);
    return code;
}

void output_file_abandon(struct output_file *file) {
    if (file) discard(file);
}

/* ---- files without a name -------------------------------------------------------------------- */

/* Where the file system cannot make a file without a name, it has one for an instant. */
static int open_and_unlink(const char *directory) {
    static const char pattern[] = "/.dpmf.XXXXXX";
    size_t n = strlen(directory);
    char *path = memory_alloc(n + sizeof pattern, 1);
    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(path, directory, n);
    memcpy(path + n, pattern, sizeof pattern);
    int fd = mkostemp(path, O_CLOEXEC);
    int failure = errno;
    if (fd >= 0) unlink(path);
    free(path);
    errno = failure;
    return fd;
}

static int open_nameless(const char *directory) {
    int fd = -1;
    errno = EOPNOTSUPP;
#ifdef O_TMPFILE
    fd = open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
#endif
    bool unknown = errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL;
    return fd < 0 && unknown ? open_and_unlink(directory) : fd;
}

int output_file_nameless(const char *beside, int *fd, struct dpmf_error *error) {
    char *directory = NULL;
    *fd = -1;
    if (beside) {
        directory = directory_of(beside);
        if (!directory) return error_no_memory(error);
    }
    const char *place = directory ? directory : temporary_directory();
    *fd = open_nameless(place);
    int code = *fd >= 0 ? 0 : error_system(error, errno, "create a temporary file here", place);
    free(directory);
    return code;
}
