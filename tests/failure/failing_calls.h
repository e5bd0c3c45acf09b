/*
 * Calls that fail when a test says so: each function here stands between the library and the C
 * library's, through the linker's --wrap (the list is in CMakeLists.txt), and asks first whether
 * this call is the one. Included by test_allocation.c alone.
 */
#ifndef DPMF_TESTS_FAILING_CALLS_H
#define DPMF_TESTS_FAILING_CALLS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <unwind.h>

/* What happens to the call; a call names those that can happen to it. */
enum fault {
    NO_MEMORY = 1,   /* memory that is not given */
    IO_ERROR = 2,    /* EIO */
    INTERRUPTED = 4, /* EINTR, which asks to try again */
    CUT_SHORT = 8,   /* a part of the bytes, which asks for the rest */
    ENDED = 16,      /* no byte: the file became shorter */
    UNNAMED = 32,    /* EOPNOTSUPP: this file system has no files without a name */
    UNLISTED = 64,   /* EACCES: the directory may be written to and not read */
};

static _Atomic unsigned tried = NO_MEMORY; /* calls that this cannot happen to are not counted */
static atomic_long until_failure;          /* calls left before the one that fails; 0: none will */
static atomic_long n_live;
static atomic_bool free_is_wrapped;

/* Of a run that is watched, a hash of the callers of each call, in their order. */
enum { MAX_CALLS = 100000 };
static uint64_t callers[MAX_CALLS];
static atomic_long n_watched;
static atomic_bool is_watched;

static _Unwind_Reason_Code mix_caller(struct _Unwind_Context *context, void *hash) {
    const uint64_t mixed = (*(uint64_t *)hash ^ (uint64_t)_Unwind_GetIP(context));
    *(uint64_t *)hash = (mixed ^ mixed >> 29) * UINT64_C(0x9E3779B97F4A7C15);
    return _URC_NO_REASON;
}

static void watch(void) {
    uint64_t hash = 1;
    _Unwind_Backtrace(mix_caller, &hash);
    const long n = atomic_fetch_add(&n_watched, 1);
    if (n < MAX_CALLS) callers[n] = hash;
}

/* @return what happens to this call, of what could; 0: it is made */
static unsigned fault_now(unsigned faults) {
    const unsigned fault = faults & atomic_load(&tried);
    if (fault == 0) return 0;
    if (atomic_load(&is_watched)) watch();
    long left = atomic_load(&until_failure);
    while (left > 0)
        if (atomic_compare_exchange_weak(&until_failure, &left, left - 1))
            return left == 1 ? fault : 0;
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool has_no_memory(void) {
    if (!fault_now(NO_MEMORY)) return false;
    errno = ENOMEM;
    return true;
}

static void *count(void *block) {
    if (block) atomic_fetch_add(&n_live, 1);
    return block;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return has_no_memory() ? NULL : count(__real_malloc(size)); }

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) {
    return has_no_memory() ? NULL : count(__real_calloc(n, size));
}

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size) {
    if (has_no_memory()) return NULL;
    void *moved = __real_realloc(block, size);
    return block ? moved : count(moved);
}

void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size) {
    return has_no_memory() ? NULL : count(__real_aligned_alloc(align, size));
}

int __real_posix_memalign(void **block, size_t align, size_t size);
int __wrap_posix_memalign(void **block, size_t align, size_t size);
int __wrap_posix_memalign(void **block, size_t align, size_t size) {
    if (has_no_memory()) return ENOMEM;
    const int failure = __real_posix_memalign(block, align, size);
    if (failure == 0) count(*block);
    return failure;
}

/* Where the linker does not wrap free, nothing calls this and there is no real one to call. */
void __real_free(void *block);
void __wrap_free(void *block);
#pragma weak __real_free
void __wrap_free(void *block) {
    atomic_store(&free_is_wrapped, true);
    if (!block) return;
    atomic_fetch_sub(&n_live, 1);
    __real_free(block);
}

/* What allocates within the C library. */
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text) {
    return has_no_memory() ? NULL : count(__real_strdup(text));
}

char *__real_strndup(const char *text, size_t n);
char *__wrap_strndup(const char *text, size_t n);
char *__wrap_strndup(const char *text, size_t n) {
    return has_no_memory() ? NULL : count(__real_strndup(text, n));
}

/* Only counted: who cannot resolve a path goes on without. */
char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved) {
    char *found = __real_realpath(path, resolved);
    return resolved ? found : count(found);
}

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...) {
    if (has_no_memory()) return -1;
    va_list arguments;
    va_start(arguments, format);
    const int n = vasprintf(text, format, arguments);
    va_end(arguments);
    if (n >= 0) count(*text);
    return n;
}

void *__real_mmap(void *at, size_t n, int access, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t offset) {
    return has_no_memory() ? MAP_FAILED : __real_mmap(at, n, access, flags, fd, offset);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* @return whether the call is to be made, of *n bytes; else `result` is its */
static bool transfers(unsigned faults, size_t *n, ssize_t *result) {
    const unsigned fault = fault_now(faults | IO_ERROR | INTERRUPTED | CUT_SHORT);
    if (fault == CUT_SHORT && *n > 1) *n /= 2;
    if (fault == 0 || fault == CUT_SHORT) return true;
    errno = fault == INTERRUPTED ? EINTR : EIO;
    *result = fault == ENDED ? 0 : -1;
    return false;
}

ssize_t __real_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n) {
    ssize_t result;
    return transfers(0, &n, &result) ? __real_read(fd, bytes, n) : result;
}

ssize_t __real_pread(int fd, void *bytes, size_t n, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t offset) {
    ssize_t result;
    return transfers(ENDED, &n, &result) ? __real_pread(fd, bytes, n, offset) : result;
}

ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n) {
    ssize_t result;
    return transfers(0, &n, &result) ? __real_write(fd, bytes, n) : result;
}

ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset) {
    ssize_t result;
    return transfers(0, &n, &result) ? __real_pwrite(fd, bytes, n, offset) : result;
}

/* These tests write thousands of files, and what is on a disk when tells them nothing: flushing
 * took most of their time. Only test_flushes has the real one. */
static atomic_bool flushes;
static atomic_long n_flushed;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    const unsigned fault = fault_now(IO_ERROR | INTERRUPTED);
    errno = fault == INTERRUPTED ? EINTR : EIO;
    if (fault) return -1;
    atomic_fetch_add(&n_flushed, 1);
    return atomic_load(&flushes) ? __real_fsync(fd) : 0;
}

/* ---- files and directories ------------------------------------------------------------------- */

static bool has_failed(void) {
    if (!fault_now(IO_ERROR)) return false;
    errno = EIO;
    return true;
}

/* A call that takes and returns what its prototype says, and can only fail as a whole. */
#define CAN_FAIL(type, name, parameters, arguments, failure)                                       \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters { return has_failed() ? failure : __real_##name arguments; }

CAN_FAIL(int, stat, (const char *path, struct stat *status), (path, status), -1)
CAN_FAIL(int, lstat, (const char *path, struct stat *status), (path, status), -1)
CAN_FAIL(int, fstat, (int fd, struct stat *status), (fd, status), -1)
CAN_FAIL(int, fstatat, (int at, const char *path, struct stat *status, int flags),
         (at, path, status, flags), -1)
CAN_FAIL(int, access, (const char *path, int what), (path, what), -1)
CAN_FAIL(ssize_t, getrandom, (void *bytes, size_t n, unsigned flags), (bytes, n, flags), -1)
CAN_FAIL(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
CAN_FAIL(int, ftruncate, (int fd, off_t n), (fd, n), -1)
CAN_FAIL(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), -1)
CAN_FAIL(int, mkostemp, (char *pattern, int flags), (pattern, flags), -1)
CAN_FAIL(int, renameat, (int from, const char *old, int to, const char *path),
         (from, old, to, path), -1)
CAN_FAIL(int, linkat, (int from, const char *old, int to, const char *path, int flags),
         (from, old, to, path, flags), -1)
CAN_FAIL(DIR *, opendir, (const char *path), (path), NULL)
CAN_FAIL(DIR *, fdopendir, (int fd), (fd), NULL)

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

/* @return whether a file, or a directory, is not opened */
static bool is_not_opened(int flags) {
    const bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    const bool is_listed = !is_nameless && flags & O_DIRECTORY && !(flags & O_PATH);
    const unsigned fault =
        fault_now(IO_ERROR | (is_nameless ? UNNAMED : 0u) | (is_listed ? UNLISTED : 0u));
    if (fault) errno = fault == UNNAMED ? EOPNOTSUPP : fault == UNLISTED ? EACCES : EIO;
    return fault != 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return is_not_opened(flags) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return is_not_opened(flags) ? -1 : __real_openat(at, path, flags, mode);
}

#endif
