/*
 * Looks at the first bytes of files in the way of outputs. Fed by output_file.c and by whatever
 * checks its outputs before hours of work.
 *
 * A ledger remembers what cannot be made again, and its lock remembers which ledger it belongs to.
 * So both are known by what is in them, and a lock also by its name beside a ledger: it may be
 * empty, or not there yet.
 */
#define _GNU_SOURCE
#include "files/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/bytes.h"
#include "base/error.h"

enum {
    HEAD_BYTES = 96,
    LOCK_DIGITS = 20,           /* digits of the number that a lock begins with */
    LOCK_OLD_BYTES = 21,        /* size of 0.1.0's: the number and a line feed */
    LOCK_BYTES = 54,            /* size of later ones: number, blank, id of 32 digits, line feed */
    MODEL_HEADER_MAX = 1 << 24, /* bytes of a model's header that are looked at */
    WINDOW_BYTES = 1 << 13,     /* bytes of it at a time */
    KEY_AND_VALUE_BYTES = 64,   /* more than "dpmf.kind" and its value take */
};

/* ---- by what is in it ------------------------------------------------------------------------ */

/* @return the bytes that are there, at most n; -1: they cannot be read */
static ssize_t read_up_to(int fd, char *bytes, size_t n, uint64_t offset) {
    size_t done = 0;
    while (done < n) {
        const ssize_t got = pread(fd, bytes + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static bool begins(const char *head, size_t n, const char *with, size_t length) {
    return n >= length && memcmp(head, with, length) == 0;
}

static bool is_lock(const char *head, size_t n) {
    if (n != LOCK_OLD_BYTES && n != LOCK_BYTES) return false;
    for (size_t i = 0; i < LOCK_DIGITS; i++)
        if (head[i] < '0' || head[i] > '9') return false;
    return head[n - 1] == '\n' && (n == LOCK_OLD_BYTES || head[LOCK_DIGITS] == ' ');
}

/* The value of "dpmf.kind" in the header of a model. In a string of the header its quotes would be
 * escaped, so what is found is the key. */
static enum dpmf_file_kind kind_named(const char *header, size_t n) {
    static const char key[] = "\"dpmf.kind\"";
    static const struct {
        const char *name;
        enum dpmf_file_kind kind;
    } kinds[] = {{"\"checkpoint\"", DPMF_FILE_CHECKPOINT},
                 {"\"release\"", DPMF_FILE_RELEASE},
                 {"\"truth\"", DPMF_FILE_TRUTH}};
    const char *end = header + n, *at = memmem(header, n, key, sizeof key - 1);
    if (!at) return DPMF_FILE_OTHER;
    at += sizeof key - 1;
    while (at < end && (*at == ' ' || *at == ':' || *at == '\n' || *at == '\t')) at++;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (begins(at, (size_t)(end - at), kinds[i].name, strlen(kinds[i].name)))
            return kinds[i].kind;
    return DPMF_FILE_OTHER;
}

/* A model of tensors: the size of the header in eight bytes, then the header, an object of JSON.
 * It is searched piece by piece, each with the end of the one before: what a file is must not
 * depend on the memory there is. */
static enum dpmf_file_kind kind_of_model(int fd, const char *head) {
    char window[WINDOW_BYTES];
    uint64_t size = bytes_get_u64((const uint8_t *)head), at = 0;
    size_t kept = 0;
    if (size > MODEL_HEADER_MAX) size = MODEL_HEADER_MAX;
    while (at < size) {
        const uint64_t left = size - at, room = sizeof window - kept;
        const ssize_t got =
            read_up_to(fd, window + kept, (size_t)(left < room ? left : room), 8 + at);
        if (got <= 0) break;
        const size_t n = kept + (size_t)got;
        const enum dpmf_file_kind kind = kind_named(window, n);
        if (kind != DPMF_FILE_OTHER) return kind;
        at += (uint64_t)got;
        kept = n < KEY_AND_VALUE_BYTES ? n : KEY_AND_VALUE_BYTES;
        memmove(window, window + n - kept, kept);
    }
    return DPMF_FILE_OTHER;
}

static enum dpmf_file_kind kind_of_content(int fd) {
    static const char store[] = "\x89"
                                "DPR\r\n\x1a\n";
    static const char ledger[] = "{\"dpmf\":\"ledger\"";
    static const char plot[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
    char head[HEAD_BYTES];
    const ssize_t got = read_up_to(fd, head, sizeof head, 0);
    if (got == 0) return DPMF_FILE_NONE;
    if (got < 0) return DPMF_FILE_OTHER;
    const size_t n = (size_t)got;
    if (begins(head, n, store, sizeof store - 1)) return DPMF_FILE_STORE;
    if (begins(head, n, ledger, sizeof ledger - 1) || is_lock(head, n)) return DPMF_FILE_LEDGER;
    if (begins(head, n, plot, sizeof plot - 1)) return DPMF_FILE_PLOT;
    return n > 8 && head[8] == '{' ? kind_of_model(fd, head) : DPMF_FILE_OTHER;
}

static enum dpmf_file_kind kind_of_file(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return DPMF_FILE_NONE;
    if (!S_ISREG(status.st_mode)) return DPMF_FILE_OTHER;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return DPMF_FILE_OTHER;
    const enum dpmf_file_kind kind = kind_of_content(fd);
    close(fd);
    return kind;
}

/* ---- by its name ----------------------------------------------------------------------------- */

/* Without memory it counts as one. */
static bool is_beside_ledger(const char *path) {
    static const char ending[] = ".lock";
    const size_t n = strlen(path), m = sizeof ending - 1;
    if (n <= m || strcmp(path + n - m, ending) != 0) return false;
    char *ledger = strndup(path, n - m);
    const bool is_one = !ledger || kind_of_file(ledger) == DPMF_FILE_LEDGER;
    free(ledger);
    return is_one;
}

enum dpmf_file_kind dpmf_file_kind(const char *path) {
    if (!path) return DPMF_FILE_NONE;
    if (is_beside_ledger(path)) return DPMF_FILE_LEDGER;
    const enum dpmf_file_kind kind = kind_of_file(path);
    if (kind == DPMF_FILE_LEDGER || kind == DPMF_FILE_STORE) return kind;
    /* a link may lead to a lock that has nothing in it yet */
    char *resolved = realpath(path, NULL);
    const bool is_one = resolved && is_beside_ledger(resolved);
    free(resolved);
    return is_one ? DPMF_FILE_LEDGER : kind;
}

/* ---- what may be replaced -------------------------------------------------------------------- */

static const char *name_of(unsigned kinds) {
    return kinds & DPMF_FILE_STORE        ? "not a ratings store"
           : kinds & DPMF_FILE_CHECKPOINT ? "not a checkpoint"
           : kinds & DPMF_FILE_TRUTH      ? "not the truth of synthetic ratings"
           : kinds & DPMF_FILE_PLOT       ? "not a plot of dpmf"
                                          : NULL;
}

int file_kind_check_ledger(const char *path, struct dpmf_error *error) {
    if (dpmf_file_kind(path) != DPMF_FILE_LEDGER) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "an output would overwrite a ledger, or its lock");
    error_hint(error, "name another file to write");
    error_place(error, path, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

int file_kind_check(const char *path, unsigned kinds, bool replace, struct dpmf_error *error) {
    const enum dpmf_file_kind kind = dpmf_file_kind(path);
    if (kind == DPMF_FILE_LEDGER) return file_kind_check_ledger(path, error);
    if (kind == DPMF_FILE_NONE || kinds & (unsigned)kind || replace) return 0;
    const char *name = name_of(kinds);
    if (kind == DPMF_FILE_RELEASE) {
        error_set(error, DPMF_ERR_IO_WRITE, "there is a release already");
        error_hint(error, "{replace} replaces it: what it spent stays spent; or name another file");
    } else {
        error_set(error, DPMF_ERR_IO_WRITE, "there is a file already%s%s",
                  name ? ", and it is " : "", name ? name : "");
        error_hint(error, "{replace} replaces it, whatever it is; or name another file");
    }
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

int dpmf_output_check_kind(const char *path, unsigned kinds, const struct dpmf_run *run,
                           struct dpmf_error *error) {
    struct dpmf_run own;
    int code = arguments_check(error, "path", path);
    if (code == 0) code = run_take(&own, run, error);
    if (code == 0) code = dpmf_output_check(path, error);
    return code < 0 ? code : file_kind_check(path, kinds, own.replace, error);
}
