/*
 * The ledger: reserving, committing and returning releases, and setting budgets. Every change is made under
 * the lock (ledger_lock.c) to the whole book in memory (ledger_book.c), which then replaces the file in one
 * rename. So a process killed at any moment leaves the ledger before the change or after it, and a full disk
 * leaves it before. Fed by whatever makes releases, and by the public functions at the end of this file,
 * which `dpmf ledger` calls.
 */
#define _GNU_SOURCE
#include "privacy/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "privacy/ledger_book.h"
#include "privacy/ledger_lock.h"

char *ledger_default_path(void) {
    const char *state = secure_getenv("XDG_STATE_HOME"), *home = secure_getenv("HOME");
    bool has_state =
        state && state[0] == '/'; /* a relative one is to be passed over, by the standard */
    if (!has_state && (!home || home[0] != '/')) return NULL;
    const char *base = has_state ? state : home;
    const char *rest = has_state ? "/dpmf/ledger" : "/.local/state/dpmf/ledger";
    size_t size = strlen(base) + strlen(rest) + 1;
    char *path = memory_alloc(size, 1);
    if (path) snprintf(path, size, "%s%s", base, rest);
    return path;
}

/* ---- reading the file ------------------------------------------------------------------------- */

static int refuse_file(struct dpmf_error *error, const char *path, const char *what,
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
        return refuse_file(error, path, "this is not a ledger", "give the path of a ledger");
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse_file(error, path, "the ledger can be written by others than its owner",
                           "look whether it is as it should be, then chmod 600 it");
    if (to_change && status.st_uid != geteuid())
        return refuse_file(error, path, "the ledger belongs to another user",
                           "run dpmf as that user: a ledger has one owner");
    if (to_change && status.st_nlink > 1)
        return refuse_file(error, path, "the ledger has a second name, a hard link",
                           "remove the other name: a change would be seen under one of them alone");
    if (status.st_size > LEDGER_TEXT_MAX)
        return refuse_file(error, path, "this is too large to be a ledger",
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

/* Whether the book is the one that was written last. */
static int check_generation(const struct ledger_lock *lock, const struct ledger_book *book,
                            struct dpmf_error *error) {
    bool is_gone = book->generation == 0;
    if (book->generation >= lock->generation) return 0;
    error_set(error, DPMF_ERR_PRIVACY_LEDGER, "%s",
              is_gone ? "the ledger is gone, though there was one"
                      : "the ledger is an old copy: what was spent since is missing");
    error_hint(error, "put the newest copy back; if %s, remove %.200s",
               is_gone ? "nothing was ever released" : "there is none newer", lock->lock_path);
    error_place(error, lock->path, 0, 0);
    return DPMF_ERR_PRIVACY_LEDGER;
}

/* A ledger that is not there gives an empty book of generation 0. */
static int read_book(const struct ledger_lock *lock, bool to_change, struct ledger_book *book,
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

static int refuse_missing(const struct ledger_lock *lock, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_IO_MISSING, "there is no ledger here");
    error_hint(error, "check the path; the first release of a population makes the ledger");
    error_place(error, lock->path, 0, 0);
    return code;
}

/* ---- one change ------------------------------------------------------------------------------- */

struct change {
    struct ledger_lock lock;
    struct ledger_book book;
};

/* With `may_make`, the ledger may be missing, and so may its directory. */
static int begin(struct change *change, const char *path, bool may_make, struct dpmf_error *error) {
    memset(&change->book, 0, sizeof change->book);
    int code = ledger_lock_find(path, &change->lock, error);
    if (code < 0) return code;
    /* Where there is no ledger and none is to be made, no lock file is left behind either. */
    if (!may_make && change->lock.generation == 0 && access(change->lock.path, F_OK) != 0 &&
        (errno == ENOENT || errno == ENOTDIR))
        return refuse_missing(&change->lock, error);
    code = ledger_lock_take(&change->lock, may_make, error);
    if (code == 0) code = read_book(&change->lock, true, &change->book, error);
    if (code == 0 && !may_make && change->book.generation == 0)
        code = refuse_missing(&change->lock, error);
    return code;
}

static int save(struct change *change, struct dpmf_error *error) {
    struct output_file *file = NULL;
    char *text = NULL;
    size_t n;
    change->book.generation++;
    int code = ledger_book_format(&change->book, &text, &n, error);
    if (code == 0) code = output_file_open(&file, change->lock.path, OUTPUT_PRIVATE, error);
    if (code == 0) code = output_file_write(file, text, n, error);
    if (code < 0)
        output_file_abandon(file);
    else
        code = output_file_commit(file, error);
    if (code == 0) ledger_lock_mark(&change->lock, change->book.generation);
    free(text);
    return code;
}

static void end(struct change *change) {
    ledger_book_free(&change->book);
    ledger_lock_drop(&change->lock);
}

/* ---- reserving -------------------------------------------------------------------------------- */

static int refuse_value(struct dpmf_error *error, const char *what) {
    return error_set(error, DPMF_ERR_USAGE_VALUE, "%s", what);
}

static int check_name(const char *population, struct dpmf_error *error) {
    const char *fault = ledger_name_fault(population);
    if (!fault) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_VALUE, "the population's name %s", fault);
    error_hint(error, "name it in a few words, for example movies-2024");
    return code;
}

static int check_budget(double budget, struct dpmf_error *error) {
    if (budget == 0 || ledger_budget_is_valid(budget)) return 0;
    int code = refuse_value(error, "a budget is an epsilon above 0 and at most 1e9");
    error_hint(error, "for example 5");
    return code;
}

/* Four decimals, rounded up as every epsilon that is shown. */
static const char *epsilon_text(double epsilon, char text[DPMF_DOUBLE_TEXT_MAX]) {
    double up = ceil(epsilon * 1e4) / 1e4;
    if (isfinite(up))
        dpmf_format_double(up, text);
    else
        memcpy(text, "infinity", sizeof "infinity");
    return text;
}

static int refuse_spending(const struct ledger_entry *entry, double budget,
                           const struct ledger_total *before, const struct ledger_total *after,
                           struct dpmf_error *error) {
    char spent[DPMF_DOUBLE_TEXT_MAX], total[DPMF_DOUBLE_TEXT_MAX];
    int code = error_set(error, DPMF_ERR_PRIVACY_BUDGET,
                         "population \"%s\" has spent epsilon %s of %g; with this release it would "
                         "be %s, at delta %g",
                         entry->population, epsilon_text(before->epsilon, spent), budget,
                         epsilon_text(after->epsilon, total), after->delta);
    if (before->reserved > 0)
        error_hint(error,
                   "ask for a smaller epsilon, or return what was reserved but never published "
                   "(%llu): dpmf ledger show",
                   (unsigned long long)before->reserved);
    else
        error_hint(error, "ask for a smaller epsilon, or allow the population more: dpmf ledger "
                          "budget NAME EPSILON");
    return code;
}

/* A budget that is given may tighten the recorded one, never loosen it in passing. */
static int settle_budget(struct ledger_book *book, const char *population, double budget,
                         struct dpmf_error *error) {
    double recorded = ledger_book_budget(book, population);
    if (budget == 0) return 0;
    if (recorded > 0 && budget > recorded) {
        int code = error_set(error, DPMF_ERR_PRIVACY_BUDGET,
                             "population \"%s\" has a budget of %g, and this asks for %g",
                             population, recorded, budget);
        error_hint(error, "leave the budget out, or raise it first: dpmf ledger budget NAME %g",
                   budget);
        return code;
    }
    return ledger_book_set_budget(book, population, budget, error);
}

static int refuse_known_id(const struct ledger_entry *entry, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_PRIVACY_REFUSED, "release %s is in the ledger already",
                         entry->id);
    error_hint(error, "every release has an id of its own: start the run again");
    return code;
}

/* Adds the entry to the book, if the population can pay for it. */
static int spend(struct ledger_book *book, const struct ledger_entry *entry, double given,
                 struct dpmf_error *error) {
    struct ledger_total before, after;
    if (ledger_book_find(book, entry->id)) return refuse_known_id(entry, error);
    int code = settle_budget(book, entry->population, given, error);
    if (code == 0) code = ledger_book_total(book, entry->population, NULL, &before, error);
    if (code == 0) code = ledger_book_total(book, entry->population, entry, &after, error);
    if (code != 0) return code;
    double budget = ledger_book_budget(book, entry->population);
    /* Not "greater than": a total that is no number is refused as well. */
    if (budget > 0 && !(after.epsilon <= budget))
        return refuse_spending(entry, budget, &before, &after, error);
    return ledger_book_add(book, entry, error);
}

/* A clock that is wrong is no reason to refuse; the order of the entries does not depend on it. */
static int64_t sane_time(int64_t given) {
    const int64_t last = INT64_C(253402300799); /* of the year 9999 */
    int64_t moment = given != 0 ? given : (int64_t)time(NULL);
    return moment < 0 ? 0 : moment > last ? last : moment;
}

int ledger_reserve(const char *path, const struct ledger_entry *given, double budget,
                   struct dpmf_error *error) {
    struct change change;
    struct ledger_entry entry = {.state = LEDGER_RESERVED,
                                 .is_conditional = given->is_conditional,
                                 .mu = given->mu,
                                 .delta = given->delta,
                                 .epsilon = given->epsilon,
                                 .time = sane_time(given->time)};
    int code = check_name(given->population, error);
    if (code == 0) code = check_budget(budget, error);
    if (code < 0) return code;
    snprintf(entry.population, sizeof entry.population, "%s", given->population);
    memcpy(entry.id, given->id, sizeof entry.id);
    const char *fault = ledger_entry_fault(&entry);
    if (fault) return refuse_value(error, fault);
    code = begin(&change, path, true, error);
    if (code == 0) code = spend(&change.book, &entry, budget, error);
    if (code == 0) code = save(&change, error);
    end(&change);
    return code;
}

/* ---- what became of it ------------------------------------------------------------------------ */

static int find_entry(const struct change *change, const char *id, struct ledger_entry **entry,
                      struct dpmf_error *error) {
    *entry = ledger_book_find(&change->book, id);
    if (*entry) return 0;
    int code =
        error_set(error, DPMF_ERR_PRIVACY_LEDGER, "the ledger knows no release \"%.64s\"", id);
    error_hint(error, "dpmf ledger show lists the releases with their ids");
    error_place(error, change->lock.path, 0, 0);
    return code;
}

int ledger_commit(const char *path, const char *id, struct dpmf_error *error) {
    struct change change;
    struct ledger_entry *entry;
    int code = begin(&change, path, false, error);
    if (code == 0) code = find_entry(&change, id, &entry, error);
    if (code == 0 && entry->state != LEDGER_COMMITTED) {
        entry->state = LEDGER_COMMITTED;
        code = save(&change, error);
    }
    end(&change);
    return code;
}

static int refuse_return(const struct ledger_entry *entry, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                         "release %s was published: what is public stays spent", entry->id);
    error_hint(error, "only a reservation can be returned");
    return code;
}

int ledger_return(const char *path, const char *id, struct dpmf_error *error) {
    struct change change;
    struct ledger_entry *entry;
    int code = begin(&change, path, false, error);
    if (code == 0) code = find_entry(&change, id, &entry, error);
    if (code == 0 && entry->state == LEDGER_COMMITTED) code = refuse_return(entry, error);
    if (code == 0 && entry->state == LEDGER_RESERVED) {
        entry->state = LEDGER_RETURNED;
        code = save(&change, error);
    }
    end(&change);
    return code;
}

int ledger_set_budget(const char *path, const char *population, double budget,
                      struct dpmf_error *error) {
    struct change change;
    int code = check_name(population, error);
    if (code == 0) code = check_budget(budget, error);
    if (code < 0) return code;
    code = begin(&change, path, budget > 0, error);
    if (code == 0 && ledger_book_budget(&change.book, population) != budget) {
        code = ledger_book_set_budget(&change.book, population, budget, error);
        if (code == 0) code = save(&change, error);
    }
    end(&change);
    return code;
}

/* ---- looking ---------------------------------------------------------------------------------- */

/* The mark is read before the ledger, which can only become newer: so no lock is needed. */
static int open_book(const char *path, struct change *change, struct dpmf_error *error) {
    memset(&change->book, 0, sizeof change->book);
    int code = ledger_lock_find(path, &change->lock, error);
    if (code == 0) code = read_book(&change->lock, false, &change->book, error);
    if (code == 0 && change->book.generation == 0) code = refuse_missing(&change->lock, error);
    return code;
}

int ledger_visit(const char *path, int (*take)(void *self, const struct ledger_entry *entry),
                 void *self, struct dpmf_error *error) {
    struct change change;
    int code = open_book(path, &change, error);
    for (size_t i = 0; i < change.book.n_entries && code == 0; i++)
        code = take(self, &change.book.entries[i]);
    end(&change);
    return code;
}

/* ---- for everyone ----------------------------------------------------------------------------- */

/* The path given, or the default one in `*made`, which the caller frees. @return NULL after an error */
static const char *place_of(const char *path, char **made, struct dpmf_error *error, int *code) {
    *made = NULL;
    *code = 0;
    if (path) return path;
    *made = ledger_default_path();
    if (!*made) {
        *code =
            error_set(error, DPMF_ERR_IO_MISSING, "there is no home directory to find a ledger in");
        error_hint(error, "name the ledger: --ledger FILE");
    }
    return *made;
}

struct visit {
    const struct ledger_book *book;
    int (*take)(void *self, const struct dpmf_ledger_population *population,
                const struct dpmf_ledger_entry *entry);
    void *self;
};

static int visit_entries(const struct visit *visit,
                         const struct dpmf_ledger_population *population) {
    for (size_t i = 0; i < visit->book->n_entries; i++) {
        const struct ledger_entry *entry = &visit->book->entries[i];
        if (strcmp(entry->population, population->name) != 0) continue;
        const struct dpmf_ledger_entry shown = {
            .id = entry->id,
            .state = (enum dpmf_ledger_state)entry->state,
            .is_conditional = entry->is_conditional,
            .mu = entry->mu,
            .delta = entry->delta,
            .epsilon = entry->epsilon,
            .time = entry->time,
        };
        int code = visit->take(visit->self, population, &shown);
        if (code != 0) return code;
    }
    return 0;
}

static int visit_population(const struct visit *visit, const char *name, struct dpmf_error *error) {
    struct ledger_total total;
    int code = ledger_book_total(visit->book, name, NULL, &total, error);
    if (code < 0) return code;
    const struct dpmf_ledger_population shown = {
        .name = name,
        .committed = total.committed,
        .reserved = total.reserved,
        .returned = total.returned,
        .mu = total.mu,
        .delta = total.delta,
        .epsilon = total.epsilon,
        .is_conditional = total.is_conditional,
        .budget = ledger_book_budget(visit->book, name),
    };
    code = visit->take(visit->self, &shown, NULL);
    return code != 0 ? code : visit_entries(visit, &shown);
}

/* Whether the i-th entry is the first of its population, which has no budget that was met before. */
static bool is_first(const struct ledger_book *book, size_t i) {
    const char *name = book->entries[i].population;
    if (ledger_book_budget(book, name) > 0) return false;
    for (size_t j = 0; j < i; j++)
        if (strcmp(book->entries[j].population, name) == 0) return false;
    return true;
}

static int visit_all(const struct visit *visit, const char *only, struct dpmf_error *error) {
    const struct ledger_book *book = visit->book;
    int code = 0;
    for (size_t i = 0; i < book->n_budgets && code == 0; i++)
        if (!only || strcmp(only, book->budgets[i].population) == 0)
            code = visit_population(visit, book->budgets[i].population, error);
    for (size_t i = 0; i < book->n_entries && code == 0; i++)
        if ((!only || strcmp(only, book->entries[i].population) == 0) && is_first(book, i))
            code = visit_population(visit, book->entries[i].population, error);
    return code;
}

int dpmf_ledger_visit(const char *path, const char *population,
                      int (*take)(void *self, const struct dpmf_ledger_population *population,
                                  const struct dpmf_ledger_entry *entry),
                      void *self, struct dpmf_error *error) {
    struct change change;
    char *made;
    int code;
    const char *place = place_of(path, &made, error, &code);
    if (!place) return code;
    code = open_book(place, &change, error);
    const struct visit visit = {&change.book, take, self};
    if (code == 0) code = visit_all(&visit, population, error);
    end(&change);
    free(made);
    return code;
}

int dpmf_ledger_return(const char *path, const char *id, struct dpmf_error *error) {
    char *made;
    int code;
    const char *place = place_of(path, &made, error, &code);
    if (place) code = ledger_return(place, id, error);
    free(made);
    return code;
}

int dpmf_ledger_set_budget(const char *path, const char *population, double budget,
                           struct dpmf_error *error) {
    char *made;
    int code;
    const char *place = place_of(path, &made, error, &code);
    if (place) code = ledger_set_budget(place, population, budget, error);
    free(made);
    return code;
}
