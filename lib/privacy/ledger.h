/*
 * The ledger: what every population has spent, so that many releases of the same people cannot add up unnoticed.
 * A file of mode 0600 that concurrent processes share safely. A release is first reserved, then published,
 * then committed; a crash at any moment leaves at most a reservation, which counts as spent until someone who
 * knows that nothing was published returns it.
 *
 * When in doubt the ledger refuses (DPMF_ERR_PRIVACY_LEDGER): one that is damaged, that has vanished, or that is
 * older than its last change, would forget what was spent. docs/formats/ledger.md specifies the file.
 */
#ifndef DPMF_PRIVACY_LEDGER_H
#define DPMF_PRIVACY_LEDGER_H

#include "base/exact_arithmetic.h"
#include "dpmf.h"

enum { LEDGER_NAME_MAX = 128, LEDGER_ID_TEXT = 33 };

/* A returned reservation stays in the ledger, though it counts for nothing: should its release turn out to
 * be published after all, it can still be committed. */
enum ledger_state { LEDGER_RESERVED, LEDGER_COMMITTED, LEDGER_RETURNED };

struct ledger_entry {
    char population[LEDGER_NAME_MAX +
                    1];      /* UTF-8 without control characters, not blank at its ends */
    char id[LEDGER_ID_TEXT]; /* the release's, 32 hexadecimal digits in small letters */
    enum ledger_state state;
    bool is_conditional; /* a posterior sample: makes the population's total conditional */
    double mu;           /* of the release, rounded up; above 0 */
    double
        delta; /* at which its epsilon was claimed; above 0, below 1; of a conditional one also 0 */
    double epsilon;
    int64_t time; /* seconds since 1970: the ledger is private, dates may be in it. 0: now */
};

/* $XDG_STATE_HOME/dpmf/ledger, or ~/.local/state/dpmf/ledger. @return NULL without a home or memory; free it */
char *ledger_default_path(void);

/* Reserves, if the population stays within `budget` (epsilon of everything reserved or committed so far, and
 * this, composed exactly, at the smallest delta above 0 among them; those without a delta add their epsilon, or
 * compose as the Gaussian releases that they are no worse than, whichever is less). budget 0: the budget recorded for the population,
 * or none. A budget given is recorded for the population, together with the reservation or not at all; one
 * that differs from the recorded is refused unless it is smaller.
 *
 * Why the smallest delta: epsilon(delta) falls as delta grows, so the total at the smallest is the largest of
 * all. Being (epsilon, delta)-private at it, the releases together are so at every other delta claimed.
 *
 * The directory (0700) and the ledger are made when they are missing. `entry->state` is not looked at.
 * @return 0, DPMF_ERR_PRIVACY_BUDGET, DPMF_ERR_PRIVACY_REFUSED (the id is there already),
 *         DPMF_ERR_PRIVACY_LEDGER, DPMF_ERR_USAGE_VALUE, or an I/O error: then nothing is reserved, unless it
 *         was only the last flush that failed */
int ledger_reserve(const char *path, const struct ledger_entry *entry, double budget,
                   struct dpmf_error *error);

/* The release with this id is out. Idempotent. Of a reservation that someone returned meanwhile, too: what is
 * public is spent, whatever the budget says. */
int ledger_commit(const char *path, const char *id, struct dpmf_error *error);

/* Returns a reservation: nothing was published. A committed one cannot be returned. Idempotent. */
int ledger_return(const char *path, const char *id, struct dpmf_error *error);

/* The population may spend this much, more or less than it could before; 0: without limit. */
int ledger_set_budget(const char *path, const char *population, double budget,
                      struct dpmf_error *error);

/* All entries in the order in which they were reserved, whatever the clock said; `take` may stop it with a
 * value other than 0, which is returned. Takes no lock: `take` may call the functions above. */
int ledger_visit(const char *path, int (*take)(void *self, const struct ledger_entry *entry),
                 void *self, struct dpmf_error *error);

#endif
