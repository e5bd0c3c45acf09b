/*
 * Makes calls of the system fail, as FAULT_SEED says: memory that is not given, reads and writes
 * that fail or are cut short, flushes, renames, mappings, threads, random bytes and clocks that are
 * refused. Loaded before the C library by tests/faults/faults.py. From the seed follow which kinds
 * of call may fail and how often, and then, call by call, which do: a program with one thread meets
 * the same faults whenever it runs with the same seed.
 *
 * Calls fail between the beginning of main() and its end, and neither before nor after: what is
 * linked with the program in order to watch it, such as the counters of `make coverage`, which
 * write their file at exit, is not on trial.
 *
 * Each fault adds a byte to the file FAULT_LOG, its kind's letter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum kind { MEMORY, READ, WRITE, FLUSH, RENAME, OPEN, MAP, THREAD, RANDOM, CLOCK, N_KINDS };
static const char letters[] = "mrwfnopthc";

static struct {
    bool is_armed;
    uint64_t seed;
    uint64_t threshold[N_KINDS]; /* a call whose hash is below this one fails */
    int log;
} plan;
static atomic_uint_fast64_t n_calls[N_KINDS];

/* splitmix64 */
static uint64_t hash(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Each kind takes part in one seed of two, once in 4 to 4,096 calls, so that early and late ones
 * are met. */
static void arm(void) {
    const char *seed = getenv("FAULT_SEED"), *log = getenv("FAULT_LOG");
    if (!seed || !log) return;
    plan.seed = strtoull(seed, NULL, 10);
    plan.log =
        (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (int kind = 0; kind < N_KINDS; kind++) {
        uint64_t bits = hash(plan.seed * N_KINDS + (uint64_t)kind);
        if (bits & 1) plan.threshold[kind] = UINT64_MAX >> (2 + (bits >> 1) % 11);
    }
    unsetenv("LD_PRELOAD"); /* programs that it starts are not on trial */
    plan.is_armed = plan.log >= 0;
}

/* @return 0, or, of a call that shall fail, random bits of which one is set */
static uint64_t fault(enum kind kind) {
    if (!plan.is_armed || plan.threshold[kind] == 0) return 0;
    uint64_t call = atomic_fetch_add(&n_calls[kind], 1);
    uint64_t bits = hash(hash(plan.seed ^ (uint64_t)kind << 56) + call);
    if (bits >= plan.threshold[kind]) return 0;
    (void)!syscall(SYS_write, plan.log, &letters[kind], (size_t)1);
    return hash(bits) | UINT64_C(1) << 63;
}

/* The C library's own. */
static void find(const char *name, void *call) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    memcpy(call, &found, sizeof found);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int (*main_on_trial)(int, char **, char **);

static int main_with_faults(int argc, char **argv, char **environment) {
    arm();
    const int status = main_on_trial(argc, argv, environment);
    plan.is_armed = false;
    return status;
}

/* Where every program begins. */
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end) {
    __typeof__(&__libc_start_main) real;
    find("__libc_start_main", &real);
    main_on_trial = program;
    return real(main_with_faults, argc, argv, init, fini, loader_fini, stack_end);
}

#define REAL(type, name, parameters)                                                               \
    static type(*real) parameters;                                                                 \
    if (!real) find(#name, &real)

/* ---- memory ---------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) { return fault(MEMORY) ? no_memory() : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
    return fault(MEMORY) ? no_memory() : __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
    return fault(MEMORY) ? no_memory() : __libc_realloc(block, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    return fault(MEMORY) ? no_memory() : __libc_memalign(alignment, size);
}

/* ---- reading and writing --------------------------------------------------------------------- */

/* A failing transfer of n bytes: an error, or, where it may be cut short, a part of it (at least
 * one byte). */
static bool is_cut(uint64_t bits, size_t *n) {
    if (*n < 2 || bits & 1) return false;
    *n = 1 + (size_t)(bits >> 1) % (*n - 1);
    return true;
}

#define TRANSFER(type, name, kind, number, parameters, arguments)                                  \
    type name parameters {                                                                         \
        REAL(type, name, parameters);                                                              \
        uint64_t bits = fault(kind);                                                               \
        if (bits && !is_cut(bits, &n)) {                                                           \
            errno = number;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return real arguments;                                                                     \
    }

/* A pipe or a terminal is cut short all the time; errors are for files. Standard error is left
 * alone: it tells what happened. */
TRANSFER(ssize_t, read, READ, EIO, (int fd, void *bytes, size_t n), (fd, bytes, n))
TRANSFER(ssize_t, pread, READ, EIO, (int fd, void *bytes, size_t n, off_t at), (fd, bytes, n, at))
TRANSFER(ssize_t, pread64, READ, EIO, (int fd, void *bytes, size_t n, off64_t at),
         (fd, bytes, n, at))
TRANSFER(ssize_t, pwrite, WRITE, ENOSPC, (int fd, const void *bytes, size_t n, off_t at),
         (fd, bytes, n, at))
TRANSFER(ssize_t, pwrite64, WRITE, ENOSPC, (int fd, const void *bytes, size_t n, off64_t at),
         (fd, bytes, n, at))

ssize_t write(int fd, const void *bytes, size_t n) {
    REAL(ssize_t, write, (int, const void *, size_t));
    uint64_t bits = fd == STDERR_FILENO ? 0 : fault(WRITE);
    if (bits && !is_cut(bits, &n)) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, bytes, n);
}

/* ---- everything else fails or does not ------------------------------------------------------- */

#define INSTEAD(type, name, kind, failure, number, parameters, arguments)                          \
    type name parameters {                                                                         \
        REAL(type, name, parameters);                                                              \
        if (fault(kind)) {                                                                         \
            errno = number;                                                                        \
            return failure;                                                                        \
        }                                                                                          \
        return real arguments;                                                                     \
    }

INSTEAD(int, fsync, FLUSH, -1, EIO, (int fd), (fd))
INSTEAD(int, fdatasync, FLUSH, -1, EIO, (int fd), (fd))
INSTEAD(int, ftruncate, WRITE, -1, EIO, (int fd, off_t n), (fd, n))
INSTEAD(int, ftruncate64, WRITE, -1, EIO, (int fd, off64_t n), (fd, n))
INSTEAD(int, rename, RENAME, -1, EIO, (const char *a, const char *b), (a, b))
INSTEAD(int, renameat, RENAME, -1, EIO, (int from, const char *a, int to, const char *b),
        (from, a, to, b))
INSTEAD(int, linkat, RENAME, -1, EIO, (int from, const char *a, int to, const char *b, int flags),
        (from, a, to, b, flags))
INSTEAD(int, mkdirat, RENAME, -1, ENOSPC, (int fd, const char *name, mode_t mode), (fd, name, mode))
INSTEAD(int, mkdir, RENAME, -1, ENOSPC, (const char *name, mode_t mode), (name, mode))
INSTEAD(void *, mmap, MAP, MAP_FAILED, ENOMEM,
        (void *at, size_t n, int protection, int flags, int fd, off_t offset),
        (at, n, protection, flags, fd, offset))
INSTEAD(void *, mmap64, MAP, MAP_FAILED, ENOMEM,
        (void *at, size_t n, int protection, int flags, int fd, off64_t offset),
        (at, n, protection, flags, fd, offset))
INSTEAD(int, pthread_create, THREAD, EAGAIN, EAGAIN,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *),
         void *argument),
        (thread, attributes, run, argument))
INSTEAD(int, clock_gettime, CLOCK, -1, EINVAL, (clockid_t clock, struct timespec *time),
        (clock, time))

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPENING(name, parameters, arguments)                                                       \
    int name parameters {                                                                          \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = mode_of(flags, rest);                                                        \
        va_end(rest);                                                                              \
        if (fault(OPEN)) {                                                                         \
            errno = EMFILE;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return (int)syscall arguments;                                                             \
    }

OPENING(open, (const char *path, int flags, ...), (SYS_openat, AT_FDCWD, path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (SYS_openat, AT_FDCWD, path, flags, mode))
OPENING(openat, (int fd, const char *path, int flags, ...), (SYS_openat, fd, path, flags, mode))
OPENING(openat64, (int fd, const char *path, int flags, ...), (SYS_openat, fd, path, flags, mode))

/* Interrupted, or fewer bytes than were asked for, or none at all. */
ssize_t getrandom(void *bytes, size_t n, unsigned int flags) {
    REAL(ssize_t, getrandom, (void *, size_t, unsigned int));
    uint64_t bits = fault(RANDOM);
    if (bits && !is_cut(bits, &n)) {
        errno = bits & 2 ? EINTR : ENOSYS;
        return -1;
    }
    return real(bytes, n, flags);
}
