/*
 * One change of the ledger's file: the lock taken, the book read and compared with its mark, and
 * the new book instead of the old.
 */
#ifndef DPMF_LEDGER_LEDGER_CHANGE_H
#define DPMF_LEDGER_LEDGER_CHANGE_H

#include "ledger/ledger_book.h"
#include "ledger/ledger_lock.h"

struct ledger_change {
    struct ledger_lock lock;
    struct ledger_book book;
};

/* Locks and reads the ledger. With `may_make`, it may be missing, and so may its directory. End it
 * also when this fails; the same holds for the next two. */
int ledger_change_begin(struct ledger_change *change, const char *path, const struct dpmf_run *run,
                        bool may_make, struct dpmf_error *error);

/* The same, whether or not the ledger is known to be the newest copy. */
int ledger_change_begin_any(struct ledger_change *change, const char *path,
                            const struct dpmf_run *run, bool may_make, struct dpmf_error *error);

/* To look, not to change. The mark is read before the ledger, which can only become newer: so no
 * lock is needed. */
int ledger_change_open(const char *path, struct ledger_change *change, struct dpmf_error *error);

/* Writes the book. */
int ledger_change_save(struct ledger_change *change, struct dpmf_error *error);

void ledger_change_end(struct ledger_change *change);

/* Reads the book that belongs to a lock. A ledger that is not there gives an empty book of
 * generation 0. */
int ledger_change_read(const struct ledger_lock *lock, bool to_change, struct ledger_book *book,
                       struct dpmf_error *error);

/* Whether it cannot be known that the ledger is the newest copy. The lock of an older version names
 * no ledger: it belongs to one without an id, or to one that was just given its id by a process
 * that was killed before it could note that. */
bool ledger_change_is_unmarked(const struct ledger_lock *lock, const struct ledger_book *book);

/* Refuses a ledger that is unmarked: what is spent from an old copy would forget what the newer one
 * knows. */
int ledger_change_check(const struct ledger_lock *lock, const struct ledger_book *book,
                        struct dpmf_error *error);

int ledger_refuse_file(struct dpmf_error *error, const char *path, const char *what,
                       const char *hint);

#endif
