/*
 * The ledger's place and its lock. Fed by ledger.c with the path that the user gave; feeds it with
 * the path to read and write, under a lock that no two processes or threads hold at once.
 *
 * The lock is flock(2) on FILE.lock: it ends with the process, however that ends, and it is not on
 * the ledger itself, because that is replaced by a rename with every change.
 */
#define _GNU_SOURCE
#include "ledger/ledger_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

enum {
    WAIT_SECONDS = 60,
    WARN_SECONDS = 1,
    PAUSE_NANOSECONDS = 500000,
    DIGITS = 20,
    OLD_MARK_SIZE = DIGITS + 1, /* size of 0.1.0's mark: a number and a line feed */
    MARK_SIZE = DIGITS + 1 + 2 * LEDGER_ID_BYTES +
                1, /* number, blank, id, line feed: one write, of one sector */
};

/* ---- the path -------------------------------------------------------------------------------- */

static char *join(const char *path, const char *suffix) {
    size_t n = strlen(path), m = strlen(suffix);
    char *joined = memory_alloc(n + m + 1, 1);
    if (!joined) return NULL;
    memcpy(joined, path, n);
    memcpy(joined + n, suffix, m + 1);
    return joined;
}

static int refuse(struct dpmf_error *error, const char *path, const char *what, const char *hint) {
    error_set(error, DPMF_ERR_PRIVACY_LEDGER, "%s", what);
    error_hint(error, "%s", hint);
    error_place(error, path, 0, 0);
    return DPMF_ERR_PRIVACY_LEDGER;
}

/* A ledger behind a link is replaced where it is: a rename over the link would leave two ledgers,
 * each knowing half of what was spent. */
static int follow_link(const char *path, char **real, struct dpmf_error *error) {
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
        *real = realpath(path, NULL);
        if (*real) return 0;
        if (errno == ENOMEM) return error_no_memory(error);
        return refuse(error, path, "the ledger is a link to a file that does not exist",
                      "fix the link, or give the path of the ledger itself");
    }
    *real = join(path, "");
    return *real ? 0 : error_no_memory(error);
}

/* ---- the mark in the lock file --------------------------------------------------------------- */

static bool is_id(const char *text) {
    for (size_t i = 0; i < 2 * LEDGER_ID_BYTES; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    return true;
}

/* @return 0 for a mark, or for a file that has none yet; -1 for what is no lock of ours */
static int read_mark(struct ledger_lock *lock, int fd) {
    static const char zeros[MARK_SIZE];
    char text[MARK_SIZE + 1];
    int64_t number;
    lock->generation = 0;
    lock->id[0] = '\0';
    ssize_t n = pread(fd, text, sizeof text, 0);
    if (n == 0) return 0;
    if (n != MARK_SIZE && n != OLD_MARK_SIZE) return -1;
    /* A machine that lost its power may leave the size of a file without the bytes. */
    if (memcmp(text, zeros, (size_t)n) == 0) return 0;
    if (text[n - 1] != '\n' || text[0] != '0') return -1;
    if (number_parse_int64(text, DIGITS, &number) != NUMBER_OK) return -1;
    if (n == MARK_SIZE && (text[DIGITS] != ' ' || !is_id(text + DIGITS + 1))) return -1;
    if (n == MARK_SIZE)
        snprintf(lock->id, sizeof lock->id, "%.*s", 2 * LEDGER_ID_BYTES, text + DIGITS + 1);
    lock->generation = (uint64_t)number;
    return 0;
}

static bool write_mark(struct ledger_lock *lock, uint64_t generation) {
    char text[MARK_SIZE + 4];
    int n = snprintf(text, sizeof text, "%020llu %s\n", (unsigned long long)generation, lock->id);
    if (n != MARK_SIZE || pwrite(lock->fd, text, MARK_SIZE, 0) != MARK_SIZE) return false;
    lock->generation = generation;
    return true;
}

int ledger_lock_claim(struct ledger_lock *lock, const char *id, struct dpmf_error *error) {
    snprintf(lock->id, sizeof lock->id, "%s", id);
    errno = EIO; /* a write was cut short */
    if (write_mark(lock, lock->generation) && fsync(lock->fd) == 0) return 0;
    return error_system(error, errno, "write", lock->lock_path);
}

void ledger_lock_mark(struct ledger_lock *lock, uint64_t generation) {
    write_mark(lock, generation);
}

/* What cannot be read is not known. */
void ledger_lock_peek(struct ledger_lock *lock) {
    lock->generation = 0;
    lock->id[0] = '\0';
    int fd = open(lock->lock_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (read_mark(lock, fd) != 0) lock->generation = 0;
    close(fd);
}

int ledger_lock_find(const char *path, struct ledger_lock *lock, struct dpmf_error *error) {
    *lock = (struct ledger_lock){.fd = -1};
    size_t n = strlen(path);
    if (n == 0 || path[n - 1] == '/') return error_system(error, n ? EISDIR : ENOENT, "open", path);
    int code = follow_link(path, &lock->path, error);
    if (code < 0) return code;
    lock->lock_path = join(lock->path, ".lock");
    if (!lock->lock_path) {
        ledger_lock_drop(lock);
        return error_no_memory(error);
    }
    ledger_lock_peek(lock);
    return 0;
}

/* ---- the directory --------------------------------------------------------------------------- */

/* The directory of a path, "." when it names none; free it. */
static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *directory = join(slash ? path : ".", "");
    if (directory && slash) directory[slash == path ? 1 : slash - path] = '\0';
    return directory;
}

static bool is_one_inode(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Files that are not there yet are one when they have one name in one directory. @return 1, 0, or
 * -1 without memory */
static int is_one_file(const char *a, const char *b) {
    if (strcmp(a, b) == 0 || is_one_inode(a, b)) return 1;
    if (strcmp(name_of(a), name_of(b)) != 0) return 0;
    char *directory_a = directory_of(a), *directory_b = directory_of(b);
    int is_one = directory_a && directory_b ? is_one_inode(directory_a, directory_b) : -1;
    free(directory_a);
    free(directory_b);
    return is_one;
}

int ledger_lock_claims(const char *ledger, const char *path, struct dpmf_error *error) {
    struct ledger_lock lock;
    int code = ledger_lock_find(ledger, &lock, error);
    if (code == DPMF_ERR_BASE_NO_MEMORY) return code;
    if (code < 0) return 0; /* there is no such place: using the ledger will tell */
    int is_claimed = is_one_file(lock.path, path);
    if (is_claimed == 0) is_claimed = is_one_file(lock.lock_path, path);
    if (is_claimed < 0) is_claimed = error_no_memory(error);
    ledger_lock_drop(&lock);
    return is_claimed;
}

/* A directory that is lost with the power takes the ledger with it. */
static void flush_directory_of(const char *path) {
    char *directory = directory_of(path);
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

/* Makes every directory above the file that is missing; whether that was enough, opening the file
 * shows. */
static int make_directories(const char *path, struct dpmf_error *error) {
    char *part = join(path, "");
    if (!part) return error_no_memory(error);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0700) == 0) flush_directory_of(part);
        *slash = '/';
    }
    free(part);
    return 0;
}

/* Where anyone may remove and replace files, anyone can make the ledger forget. */
static int check_directory(const char *path, struct dpmf_error *error) {
    char *directory = directory_of(path);
    struct stat status;
    if (!directory) return error_no_memory(error);
    bool open_to_all = stat(directory, &status) == 0 && (status.st_mode & S_IWOTH) != 0 &&
                       (status.st_mode & S_ISVTX) == 0;
    free(directory);
    return open_to_all ? refuse(error, path, "everyone can write to the ledger's directory",
                                "remove that permission with chmod o-w, or keep the ledger "
                                "elsewhere")
                       : 0;
}

/* ---- the lock -------------------------------------------------------------------------------- */

static int open_lock(struct ledger_lock *lock, bool make_directory, struct dpmf_error *error) {
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    lock->fd = open(lock->lock_path, flags, 0600);
    if (lock->fd < 0 && errno == ENOENT && make_directory) {
        int code = make_directories(lock->lock_path, error);
        if (code < 0) return code;
        lock->fd = open(lock->lock_path, flags, 0600);
    }
    return lock->fd >= 0 ? 0 : error_system(error, errno, "create", lock->lock_path);
}

static int check_lock(const struct ledger_lock *lock, struct dpmf_error *error) {
    struct stat status;
    if (fstat(lock->fd, &status) != 0) return error_system(error, errno, "open", lock->lock_path);
    if (!S_ISREG(status.st_mode))
        return refuse(error, lock->lock_path, "the ledger's lock is not a regular file",
                      "remove it, or keep the ledger elsewhere");
    if (status.st_uid != geteuid())
        return refuse(error, lock->lock_path, "the ledger's lock belongs to another user",
                      "run dpmf as the user whose ledger it is, or keep the ledger elsewhere");
    return 0;
}

static const double ask_seconds = 0.1; /* seconds between two checks whether to continue */

/* Someone who waits for others is told so, and may have had enough. */
struct waiting {
    const struct dpmf_run *run; /* NULL: nobody to tell */
    double begun, asked;        /* clock_now() */
    bool has_warned;
};

static int go_on_waiting(struct waiting *waiting, const char *lock_path, struct dpmf_error *error) {
    const struct dpmf_run *run = waiting->run;
    const double now = clock_now(), waited = now - waiting->begun;
    if (waited > WAIT_SECONDS) {
        error_set(error, DPMF_ERR_IO_WRITE,
                  "another process has kept the ledger locked for a minute");
        error_hint(error, "wait for it to end, or find it with fuser and end it");
        error_place(error, lock_path, 0, 0);
        return DPMF_ERR_IO_WRITE;
    }
    if (!run || now - waiting->asked < ask_seconds) return 0;
    waiting->asked = now;
    const struct dpmf_progress progress = {
        .phase = "waiting for the ledger", .unit = "s", .done = (uint64_t)waited};
    if (run->progress && run->progress(run->progress_self, &progress) != 0)
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    if (waited < WARN_SECONDS || waiting->has_warned) return 0;
    waiting->has_warned = true;
    if (run->warn)
        run->warn(run->warn_self,
                  "another process has the ledger locked: waiting, a minute at most");
    return 0;
}

/* Asked again and again and not waited for: a process that was stopped while it held the lock must
 * not stop all others for ever. */
static int wait_for_turn(const struct ledger_lock *lock, const struct dpmf_run *run,
                         struct dpmf_error *error) {
    const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    const double begun = clock_now();
    struct waiting waiting = {.run = run, .begun = begun, .asked = begun};
    while (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_system(error, errno, "lock", lock->lock_path);
        int code = go_on_waiting(&waiting, lock->lock_path, error);
        if (code < 0) return code;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* Whether the file that we locked is still the one of that name: if someone removed it, others may
 * hold a lock on a new one. */
static bool is_in_place(const struct ledger_lock *lock) {
    struct stat ours, named;
    return fstat(lock->fd, &ours) == 0 && lstat(lock->lock_path, &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

int ledger_lock_take(struct ledger_lock *lock, const struct dpmf_run *run, bool make_directory,
                     struct dpmf_error *error) {
    for (;;) {
        int code = open_lock(lock, make_directory, error);
        if (code == 0) code = check_lock(lock, error);
        if (code == 0) code = check_directory(lock->path, error);
        if (code == 0) code = wait_for_turn(lock, run, error);
        if (code < 0) return code;
        if (is_in_place(lock)) break;
        close(lock->fd);
        lock->fd = -1;
    }
    if (read_mark(lock, lock->fd) == 0) return 0;
    return refuse(error, lock->lock_path, "this file is not the lock of a ledger",
                  "give the ledger another name: the lock is the file of that name with .lock");
}

void ledger_lock_drop(struct ledger_lock *lock) {
    if (lock->fd >= 0) close(lock->fd);
    free(lock->path);
    free(lock->lock_path);
    *lock = (struct ledger_lock){.fd = -1};
}
