/*
 * Where a ledger is, and who may write to it now: the path with links followed, the directory, and
 * the lock in a file of its own beside the ledger, which stays when the ledger is replaced. The
 * lock file also remembers which ledger it belongs to and how often that was written, so that a
 * ledger that vanished, was put back from a backup or came to another one's lock is noticed.
 */
#ifndef DPMF_LEDGER_LEDGER_LOCK_H
#define DPMF_LEDGER_LEDGER_LOCK_H

#include "ledger/ledger.h"

struct ledger_lock {
    int fd;                  /* the lock file; -1: not locked */
    char *path;              /* path of the ledger itself */
    char *lock_path;         /* path + ".lock" */
    uint64_t generation;     /* least generation of the ledger; 0: none, or not known */
    char id[LEDGER_ID_TEXT]; /* the ledger's id; "": not known */
};

/* Finds the ledger's place without locking it. A ledger that is missing is no error here. */
int ledger_lock_find(const char *path, struct ledger_lock *lock, struct dpmf_error *error);

/* What the lock file remembers, once more, without locking it. */
void ledger_lock_peek(struct ledger_lock *lock);

/* Waits for its turn, a minute at most; `run` (may be NULL) is warned after a second and may end
 * it. With `make_directory`, missing directories are made, 0700. `lock` comes from
 * ledger_lock_find. */
int ledger_lock_take(struct ledger_lock *lock, const struct dpmf_run *run, bool make_directory,
                     struct dpmf_error *error);

/* Whether a path, there already or not, is that of the ledger or of its lock. A ledger that cannot
 * be found counts as neither: locking it reports why. @return 1, 0, or DPMF_ERR_BASE_NO_MEMORY */
int ledger_lock_claims(const char *ledger, const char *path, struct dpmf_error *error);

/* Remembers whose lock this is, before that ledger is written for the first time with its id:
 * whoever is killed in between leaves a ledger that is known by it. */
int ledger_lock_claim(struct ledger_lock *lock, const char *id, struct dpmf_error *error);

/* Remembers that the ledger has been written. A failure only means that less will be noticed. */
void ledger_lock_mark(struct ledger_lock *lock, uint64_t generation);

/* Unlocks and frees what it holds. */
void ledger_lock_drop(struct ledger_lock *lock);

#endif
