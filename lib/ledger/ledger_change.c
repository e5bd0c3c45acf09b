/*
 * One change of the ledger's file. It is made under the lock (ledger_lock.c) to the whole book in
 * memory (ledger_book.c), which then replaces the file in one rename. So a process killed at any
 * moment leaves the ledger before the change or after it, and a full disk leaves it before. A book
 * that is older than the mark beside it, or that has lost its mark, is refused. Feeds ledger.c.
 */
#define _GNU_SOURCE
#include "ledger/ledger_change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "files/output_file.h"
#include "ledger/ledger.h"
#include "random/random.h"

/* ---- reading the file ------------------------------------------------------------------------ */

int ledger_refuse_file(struct dpmf_error *error, const char *path, const char *what,
                       const char *hint) {
    error_set(error, DPMF_ERR_PRIVACY_LEDGER, "%s", what);
    error_hint(error, "%s", hint);
    error_place(error, path, 0, 0);
    return DPMF_ERR_PRIVACY_LEDGER;
}

static int check_file(int fd, const char *path, bool to_change, size_t *size,
                      struct dpmf_error *error) {
    struct stat status;
    if (fstat(fd, &status) != 0) return error_system(error, errno, "read", path);
    if (S_ISDIR(status.st_mode)) return error_system(error, EISDIR, "read", path);
    if (!S_ISREG(status.st_mode))
        return ledger_refuse_file(error, path, "this is not a ledger", "give the path of a ledger");
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return ledger_refuse_file(error, path,
                                  "people other than its owner can write to the ledger",
                                  "check its contents, then run chmod 600 on it");
    if (to_change && status.st_uid != geteuid())
        return ledger_refuse_file(error, path, "the ledger belongs to another user",
                                  "do it as that user: a ledger has one owner");
    if (to_change && status.st_nlink > 1)
        return ledger_refuse_file(
            error, path, "the ledger has a second name, a hard link",
            "remove the other name: a change would be seen under one of them alone");
    if (status.st_size > LEDGER_TEXT_MAX)
        return ledger_refuse_file(error, path, "this is too large to be a ledger",
                                  "give the path of a ledger");
    *size = (size_t)status.st_size;
    return 0;
}

static int read_text(int fd, const char *path, bool to_change, struct ledger_book *book,
                     struct dpmf_error *error) {
    size_t n = 0;
    int code = check_file(fd, path, to_change, &n, error);
    if (code < 0) return code;
    char *text = memory_alloc(n + 1, 1);
    if (!text) return error_no_memory(error);
    code = file_read_at(fd, text, n, 0, path, error);
    if (code == 0) code = ledger_book_parse(text, n, path, book, error);
    free(text);
    return code;
}

static int refuse_strange_lock(const struct ledger_lock *lock, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_PRIVACY_LEDGER, "%.200s is the lock of another ledger",
              lock->lock_path);
    error_hint(
        error,
        "put back the two files that belong together; if this ledger is the newest copy, remove "
        "the lock and accept the ledger: {:ledger init FILE}");
    error_place(error, lock->path, 0, 0);
    return DPMF_ERR_PRIVACY_LEDGER;
}

/* Whether the book is the one that was written last. A lock that was claimed for a ledger which was
 * then never written is of generation 0, and anyone's. */
static int check_generation(const struct ledger_lock *lock, const struct ledger_book *book,
                            struct dpmf_error *error) {
    bool is_gone = book->generation == 0;
    if (!is_gone && lock->id[0] != '\0' && strcmp(lock->id, book->id) != 0)
        return refuse_strange_lock(lock, error);
    if (book->generation >= lock->generation) return 0;
    error_set(error, DPMF_ERR_PRIVACY_LEDGER, "%s",
              is_gone ? "the ledger is gone, though there was one"
                      : "the ledger is an old copy: what was spent since is missing");
    if (is_gone)
        error_hint(error, "put the newest copy back; if nothing was ever released, remove %.200s",
                   lock->lock_path);
    else
        error_hint(error,
                   "put the newest copy back; if there is none newer, remove %.200s and accept it: "
                   "{:ledger init FILE}",
                   lock->lock_path);
    error_place(error, lock->path, 0, 0);
    return DPMF_ERR_PRIVACY_LEDGER;
}

bool ledger_change_is_unmarked(const struct ledger_lock *lock, const struct ledger_book *book) {
    if (book->generation == 0 || lock->id[0] != '\0') return false;
    if (lock->generation == 0) return true;
    return book->id[0] != '\0' && book->generation != lock->generation + 1;
}

int ledger_change_check(const struct ledger_lock *lock, const struct ledger_book *book,
                        struct dpmf_error *error) {
    if (!ledger_change_is_unmarked(lock, book)) return 0;
    error_set(error, DPMF_ERR_PRIVACY_LEDGER,
              "%.200s is missing, which shows whether the ledger is the newest copy",
              lock->lock_path);
    error_hint(error, "if it was moved here and is the newest, accept it: {:ledger init FILE}");
    error_place(error, lock->path, 0, 0);
    return DPMF_ERR_PRIVACY_LEDGER;
}

int ledger_change_read(const struct ledger_lock *lock, bool to_change, struct ledger_book *book,
                       struct dpmf_error *error) {
    memset(book, 0, sizeof *book);
    int fd = open(lock->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno != ENOENT) return error_system(error, errno, "open", lock->path);
    int code = 0;
    if (fd >= 0) {
        code = read_text(fd, lock->path, to_change, book, error);
        close(fd);
    }
    if (code == 0) code = check_generation(lock, book, error);
    if (code < 0) ledger_book_free(book);
    return code;
}

int ledger_refuse_missing(const char *path, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_IO_MISSING, "there is no ledger here");
    error_hint(error, "check the path, or make the ledger first: {:ledger init FILE}");
    error_place(error, path, 0, 0);
    return code;
}

/* ---- one change ------------------------------------------------------------------------------ */

int ledger_change_begin_any(struct ledger_change *change, const char *path,
                            const struct dpmf_run *run, bool may_make, struct dpmf_error *error) {
    memset(&change->book, 0, sizeof change->book);
    int code = ledger_lock_find(path, &change->lock, error);
    if (code < 0) return code;
    /* Where there is no ledger and none is to be made, no lock file is left behind either. */
    if (!may_make && change->lock.generation == 0 && access(change->lock.path, F_OK) != 0 &&
        (errno == ENOENT || errno == ENOTDIR))
        return ledger_refuse_missing(change->lock.path, error);
    code = ledger_lock_take(&change->lock, run, may_make, error);
    if (code == 0) code = ledger_change_read(&change->lock, true, &change->book, error);
    if (code == 0 && !may_make && change->book.generation == 0)
        code = ledger_refuse_missing(change->lock.path, error);
    return code;
}

int ledger_change_begin(struct ledger_change *change, const char *path, const struct dpmf_run *run,
                        bool may_make, struct dpmf_error *error) {
    int code = ledger_change_begin_any(change, path, run, may_make, error);
    return code < 0 ? code : ledger_change_check(&change->lock, &change->book, error);
}

void ledger_id_write(const uint8_t bytes[LEDGER_ID_BYTES], char id[LEDGER_ID_TEXT]) {
    for (size_t i = 0; i < LEDGER_ID_BYTES; i++) snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* Gives the ledger its id: a new one, or one of an older version. The lock of a new ledger gets it
 * first, so that a process that is killed in between leaves a ledger that is known by its lock;
 * that of an older one has a mark, which stays until the ledger is in its place. */
static int name_ledger(struct ledger_change *change, struct dpmf_error *error) {
    struct ledger_lock *lock = &change->lock;
    uint8_t bytes[LEDGER_ID_BYTES];
    if (change->book.id[0] == '\0') {
        int code = random_from_system(bytes, sizeof bytes, error);
        if (code < 0) return code;
        ledger_id_write(bytes, change->book.id);
    }
    if (change->book.generation == 0) return ledger_lock_claim(lock, change->book.id, error);
    return 0;
}

int ledger_change_save(struct ledger_change *change, struct dpmf_error *error) {
    struct output_file *file = NULL;
    char *text = NULL;
    size_t n;
    int code = name_ledger(change, error);
    change->book.generation++;
    if (code == 0) code = ledger_book_format(&change->book, &text, &n, error);
    if (code == 0) code = output_file_open(&file, change->lock.path, OUTPUT_LEDGER, error);
    if (code == 0) code = output_file_write(file, text, n, error);
    if (code < 0)
        output_file_abandon(file);
    else
        code = output_file_commit(file, error);
    if (code == 0) {
        memcpy(change->lock.id, change->book.id, sizeof change->lock.id);
        ledger_lock_mark(&change->lock, change->book.generation);
    }
    free(text);
    return code;
}

void ledger_change_end(struct ledger_change *change) {
    ledger_book_free(&change->book);
    ledger_lock_drop(&change->lock);
}

int ledger_change_open(const char *path, struct ledger_change *change, struct dpmf_error *error) {
    memset(&change->book, 0, sizeof change->book);
    int code = ledger_lock_find(path, &change->lock, error);
    if (code == 0) code = ledger_change_read(&change->lock, false, &change->book, error);
    if (code == 0 && change->book.generation == 0)
        code = ledger_refuse_missing(change->lock.path, error);
    return code;
}
