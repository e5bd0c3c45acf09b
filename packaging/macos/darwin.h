/*
 * macOS: what the code takes from Linux and glibc, by the names that it has there.
 * cmake/darwin.cmake has every file compiled with this header first; nothing else includes it. What
 * is not a matter of names is where it is done: base/clock.c, base/host.c, base/memory_discard.c.
 */
#ifndef DPMF_DARWIN_H
#define DPMF_DARWIN_H

#define __STDC_WANT_LIB_EXT1__ 1

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define st_mtim st_mtimespec
#define O_PATH O_SEARCH

#define MFD_CLOEXEC 1u
#define GRND_NONBLOCK 1u

static inline char *secure_getenv(const char *name) { return issetugid() ? NULL : getenv(name); }

static inline ssize_t getrandom(void *bytes, size_t n, unsigned flags) {
    const size_t most = 256; /* at a time; the system never waits */
    (void)flags;
    if (n > most) n = most;
    return getentropy(bytes, n) == 0 ? (ssize_t)n : -1;
}

static inline void explicit_bzero(void *bytes, size_t n) { (void)memset_s(bytes, n, 0, n); }

static inline void *memrchr(const void *bytes, int c, size_t n) {
    const unsigned char *at = (const unsigned char *)bytes + n;
    while (n-- > 0)
        if (*--at == (unsigned char)c) return (void *)(uintptr_t)at;
    return NULL;
}

/* A file without a name, in the folder for temporary files. */
static inline int memfd_create(const char *name, unsigned flags) {
    const char *folder = secure_getenv("TMPDIR");
    char path[1024];
    const int n =
        snprintf(path, sizeof path, "%s/%s.XXXXXX", folder && *folder ? folder : "/tmp", name);
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = flags & MFD_CLOEXEC ? mkostemp(path, O_CLOEXEC) : mkstemp(path);
    if (fd >= 0) unlink(path);
    return fd;
}

/* pselect takes the signals' mask as atomically; it is asked to wait and for nothing else. */
static inline int ppoll(struct pollfd *files, nfds_t n, const struct timespec *time,
                        const sigset_t *signals) {
    (void)files;
    if (n == 0) return pselect(0, NULL, NULL, NULL, time, signals);
    errno = EINVAL;
    return -1;
}

#endif
