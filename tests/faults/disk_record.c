/*
 * Records everything that a process does to the disk, in order, so that tests/faults/power_loss.py
 * can tell what a loss of power at any moment would have left. Loaded before the C library. A
 * record in the file RECORD_LOG is a line, and for W also bytes:
 *
 *     W inode offset n        n bytes written, which follow the line
 *     T inode n               cut or grown to n bytes
 *     S inode                 flushed: a file's bytes, or a directory's names
 *     N inode path            a name made, for a file (open, linkat)
 *     D inode path            a directory made
 *     R path path             renamed; both absolute
 *     U path                  a name removed, of a file or an empty directory
 *
 * A call and its record are one step for all threads. What is written by way of a mapping or of the
 * C library's own buffers is not seen: dpmf writes its files with neither.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int log_fd = -1;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("RECORD_LOG");
    if (path)
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                              0600);
    unsetenv("LD_PRELOAD"); /* programs that it starts are not recorded */
}

static void put(const void *bytes, size_t n) {
    for (const char *at = bytes; n > 0;) {
        long done = syscall(SYS_write, log_fd, at, n);
        if (done <= 0) abort(); /* a record with a hole would tell lies */
        at += done;
        n -= (size_t)done;
    }
}

__attribute__((format(printf, 1, 2))) static void put_line(const char *format, ...) {
    char line[3 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= (int)sizeof line) abort();
    put(line, (size_t)n);
}

/* A name as an absolute path. */
static const char *whole_path(int directory, const char *name, char *path) {
    char link[64], base[PATH_MAX];
    if (name[0] == '/') return name;
    if (directory == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) abort();
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        ssize_t n = readlink(link, base, sizeof base - 1);
        if (n < 0) abort();
        base[n] = '\0';
    }
    if (snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX) abort();
    return path;
}

/* @return the inode of a regular file or a directory; 0 for pipes, terminals and the like */
static unsigned long inode_of(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0) return 0;
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ? (unsigned long)status.st_ino : 0;
}

static void find(const char *name, void *call) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    memcpy(call, &found, sizeof found);
}

/* The call, and, where it succeeds, its record. */
#define RECORDED(type, name, parameters, arguments, before, record)                                \
    type name parameters {                                                                         \
        static type(*real) parameters;                                                             \
        if (!real) find(#name, &real);                                                             \
        if (log_fd < 0) return real arguments;                                                     \
        pthread_mutex_lock(&one_at_a_time);                                                        \
        before;                                                                                    \
        type done = real arguments;                                                                \
        if (done >= 0) {                                                                           \
            record;                                                                                \
        }                                                                                          \
        pthread_mutex_unlock(&one_at_a_time);                                                      \
        return done;                                                                               \
    }

/* ---- bytes ----------------------------------------------------------------------------------- */

static void record_bytes(unsigned long inode, off_t at, const void *bytes, ssize_t n) {
    if (inode == 0 || n <= 0) return;
    put_line("W %lu %lld %zd\n", inode, (long long)at, n);
    put(bytes, (size_t)n);
}

/* Before a write is where it begins; of a file that is opened to append, its end. */
static off_t place_of(int fd) {
    return fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
}

RECORDED(ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n),
         off_t at = place_of(fd), record_bytes(inode_of(fd), at, bytes, done))
RECORDED(ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t at), (fd, bytes, n, at), ,
         record_bytes(inode_of(fd), at, bytes, done))
RECORDED(ssize_t, pwrite64, (int fd, const void *bytes, size_t n, off64_t at), (fd, bytes, n, at), ,
         record_bytes(inode_of(fd), at, bytes, done))
RECORDED(int, ftruncate, (int fd, off_t n), (fd, n), ,
         put_line("T %lu %lld\n", inode_of(fd), (long long)n))
RECORDED(int, ftruncate64, (int fd, off64_t n), (fd, n), ,
         put_line("T %lu %lld\n", inode_of(fd), (long long)n))
RECORDED(int, fsync, (int fd), (fd), , put_line("S %lu\n", inode_of(fd)))
RECORDED(int, fdatasync, (int fd), (fd), , put_line("S %lu\n", inode_of(fd)))

/* ---- names ----------------------------------------------------------------------------------- */

static void record_name(char kind, int directory, const char *name) {
    char path[PATH_MAX];
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) abort();
    put_line("%c %lu %s\n", kind, (unsigned long)status.st_ino, whole_path(directory, name, path));
}

static void record_rename(int from, const char *a, int to, const char *b) {
    char one[PATH_MAX], other[PATH_MAX];
    put_line("R %s\nR %s\n", whole_path(from, a, one), whole_path(to, b, other));
}

static void record_removal(int directory, const char *name) {
    char path[PATH_MAX];
    put_line("U %s\n", whole_path(directory, name, path));
}

RECORDED(int, mkdir, (const char *name, mode_t mode), (name, mode), ,
         record_name('D', AT_FDCWD, name))
RECORDED(int, mkdirat, (int fd, const char *name, mode_t mode), (fd, name, mode), ,
         record_name('D', fd, name))
RECORDED(int, linkat, (int from, const char *a, int to, const char *b, int flags),
         (from, a, to, b, flags), , record_name('N', to, b))
RECORDED(int, rename, (const char *a, const char *b), (a, b), ,
         record_rename(AT_FDCWD, a, AT_FDCWD, b))
RECORDED(int, renameat, (int from, const char *a, int to, const char *b), (from, a, to, b), ,
         record_rename(from, a, to, b))
RECORDED(int, unlink, (const char *name), (name), , record_removal(AT_FDCWD, name))
RECORDED(int, rmdir, (const char *name), (name), , record_removal(AT_FDCWD, name))
RECORDED(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags), ,
         record_removal(fd, name))

static int record_open(int directory, const char *name, int flags, mode_t mode) {
    pthread_mutex_lock(&one_at_a_time);
    struct stat status;
    int makes = log_fd >= 0 && flags & O_CREAT && fstatat(directory, name, &status, 0) != 0;
    int fd = (int)syscall(SYS_openat, directory, name, flags, mode);
    if (fd >= 0 && makes) record_name('N', directory, name);
    if (fd >= 0 && log_fd >= 0 && !makes && flags & O_TRUNC) put_line("T %lu 0\n", inode_of(fd));
    pthread_mutex_unlock(&one_at_a_time);
    return fd;
}

#define OPENING(name, parameters, directory)                                                       \
    int name parameters {                                                                          \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(rest, int) : 0;               \
        va_end(rest);                                                                              \
        return record_open(directory, path, flags, mode);                                          \
    }

OPENING(open, (const char *path, int flags, ...), AT_FDCWD)
OPENING(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENING(openat, (int fd, const char *path, int flags, ...), fd)
OPENING(openat64, (int fd, const char *path, int flags, ...), fd)
