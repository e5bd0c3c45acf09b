/*
 * Ends a process with SIGKILL in the middle of the n-th thing that it does to the disk, n being
 * KILL_AT: a write is half done, everything else is not done at all. Loaded before the C library by
 * tests/kills/kills.py and tests/database/files.sh, which try every n.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* @return whether this is the one */
static int is_time(void) {
    static atomic_int done;
    const char *at = getenv("KILL_AT");
    return at && atomic_fetch_add(&done, 1) + 1 == atoi(at);
}

/* The C library's own. */
static void find(const char *name, void *call) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    memcpy(call, &found, sizeof found);
}

#define INSTEAD(type, name, parameters, arguments, half)                                           \
    type name parameters {                                                                         \
        static type(*real) parameters;                                                             \
        find(#name, &real);                                                                        \
        if (is_time()) {                                                                           \
            half;                                                                                  \
            kill(getpid(), SIGKILL);                                                               \
        }                                                                                          \
        return real arguments;                                                                     \
    }

INSTEAD(ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n),
        (void)!real(fd, bytes, n / 2))
INSTEAD(ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t at), (fd, bytes, n, at),
        (void)!real(fd, bytes, n / 2, at))
INSTEAD(ssize_t, pwrite64, (int fd, const void *bytes, size_t n, off64_t at), (fd, bytes, n, at),
        (void)!real(fd, bytes, n / 2, at))
INSTEAD(int, fsync, (int fd), (fd), )
INSTEAD(int, fdatasync, (int fd), (fd), )
INSTEAD(int, ftruncate, (int fd, off_t n), (fd, n), )
INSTEAD(int, ftruncate64, (int fd, off64_t n), (fd, n), )
INSTEAD(int, mkdir, (const char *name, mode_t mode), (name, mode), )
INSTEAD(int, rmdir, (const char *name), (name), )
INSTEAD(int, mkdirat, (int fd, const char *name, mode_t mode), (fd, name, mode), )
INSTEAD(int, linkat, (int from, const char *a, int to, const char *b, int flags),
        (from, a, to, b, flags), )
INSTEAD(int, rename, (const char *a, const char *b), (a, b), )
INSTEAD(int, renameat, (int from, const char *a, int to, const char *b), (from, a, to, b), )
INSTEAD(int, renameat2, (int from, const char *a, int to, const char *b, unsigned int flags),
        (from, a, to, b, flags), )
INSTEAD(int, unlink, (const char *name), (name), )
INSTEAD(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags), )
