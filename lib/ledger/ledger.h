/*
 * The ledger: what every population has spent, so that many releases of the same people cannot add
 * up unnoticed. A file of mode 0600 that concurrent processes share safely. A release is first
 * reserved, then published, then committed; a crash at any moment leaves at most a reservation,
 * which counts as spent until someone who knows that nothing was published returns it.
 *
 * When in doubt the ledger refuses (DPMF_ERR_PRIVACY_LEDGER): one that is damaged, that has
 * vanished, or that is older than its last change, would forget what was spent.
 * docs/formats/ledger.md specifies the file.
 */
#ifndef DPMF_LEDGER_LEDGER_H
#define DPMF_LEDGER_LEDGER_H

#include "dpmf.h"
#include "numerics/exact_arithmetic.h"
#include "statement/cohort.h"

enum { LEDGER_NAME_MAX = 128, LEDGER_ID_BYTES = 16, LEDGER_ID_TEXT = 2 * LEDGER_ID_BYTES + 1 };

/* A returned reservation stays in the ledger but no longer counts. The last two states are for runs
 * that are not releases. */
enum ledger_state {
    LEDGER_RESERVED,
    LEDGER_COMMITTED,
    LEDGER_RETURNED,
    LEDGER_RESEARCH,
    LEDGER_TUNING
};

struct ledger_entry {
    char population[LEDGER_NAME_MAX +
                    1];      /* UTF-8 without control characters, not blank at its ends */
    char id[LEDGER_ID_TEXT]; /* id of the release, 32 hexadecimal digits in small letters */
    enum ledger_state state;
    enum dpmf_claim claim; /* proven, conditional or partial: makes the population's total so */
    double mu;             /* mu of the release, rounded up; above 0 */
    /* delta at which its epsilon was claimed: above 0, below 1; for a conditional release also 0 */
    double delta;
    double epsilon;
    int64_t time; /* seconds since 1970: the ledger is private, dates may be in it. 0: now */
    struct cohort cohort; /* users it is made of, by their first record; all 0: everyone */
};

static inline bool ledger_is_release(const struct ledger_entry *entry) {
    return entry->state < LEDGER_RESEARCH;
}

static inline bool ledger_is_spent(const struct ledger_entry *entry) {
    return entry->state < LEDGER_RETURNED;
}

/* An id as it is written. */
void ledger_id_write(const uint8_t bytes[LEDGER_ID_BYTES], char id[LEDGER_ID_TEXT]);

/* The path given, or that of the user's own ledger, in *path, which the caller frees. @return 0,
 * DPMF_ERR_IO_MISSING without a home, or DPMF_ERR_BASE_NO_MEMORY */
int ledger_find(const char *given, char **path, struct dpmf_error *error);

/* What a ledger knows of a population. */
struct ledger_view {
    bool is_there; /* whether there is a ledger; if not, the rest is empty */
    bool is_known; /* whether the ledger knows the population */
    uint64_t others;
    struct dpmf_ledger_population population; /* its name is the one asked for */
};

/* Reads the ledger without a lock, for people to look at. A ledger that is missing is no error
 * here, but one that has vanished is. */
int ledger_look(const char *path, const char *population, struct ledger_view *view,
                struct dpmf_error *error);

/* Reports that a ledger that was named does not exist. */
int ledger_refuse_missing(const char *path, struct dpmf_error *error);

/* Reserves, if the population stays within `budget`: the mu of everything reserved or committed so
 * far, and this, composed exactly; of a budget declared as epsilon at a delta it is also enough if
 * epsilon, at that delta, stays within it (releases without a delta add their epsilon). NULL, or a
 * mu of 0: the budget recorded for the population, or none. A budget given is recorded for the
 * population, together with the reservation or not at all; one that is larger than the recorded is
 * refused.
 *
 * `run` (may be NULL), here and below, is warned when another process has the ledger locked, and
 * may stop waiting for it. With `may_make` the ledger and its directory (0700) are made when they
 * are missing. `entry->state` is not looked at.
 * @return 0, DPMF_ERR_PRIVACY_BUDGET, DPMF_ERR_PRIVACY_REFUSED (the id is there already),
 *         DPMF_ERR_PRIVACY_LEDGER, DPMF_ERR_USAGE_VALUE, or an I/O error: then nothing is reserved,
 *         unless it was only the last flush that failed */
int ledger_reserve(const char *path, const struct dpmf_run *run, bool may_make,
                   const struct ledger_entry *entry, const struct dpmf_budget *budget,
                   struct dpmf_error *error);

/* Enters a run that is no release, of state LEDGER_RESEARCH or LEDGER_TUNING; of the entry only
 * population, id and time are used. `spent` (may be NULL) receives the population as it is
 * afterwards. */
int ledger_record(const char *path, const struct dpmf_run *run, bool may_make,
                  const struct ledger_entry *entry, struct dpmf_ledger_population *spent,
                  struct dpmf_error *error);

/* What makes a release public. @return 0, or the code of the error it sets */
struct ledger_publication {
    int (*publish)(void *self, struct dpmf_error *error);
    void *self;
};

/* Publishes and commits in one step, under the lock: nobody can return the reservation in between,
 * and a reservation that was returned is not published (DPMF_ERR_PRIVACY_REFUSED). When the commit
 * fails after it was published it stays reserved. Idempotent. `spent` (may be NULL) receives the
 * population as it is afterwards, without a name. */
int ledger_publish(const char *path, const struct dpmf_run *run, const char *id,
                   const struct ledger_publication *publication,
                   struct dpmf_ledger_population *spent, struct dpmf_error *error);

/* Returns a reservation: nothing was published. A committed one cannot be returned. Idempotent. */
int ledger_return(const char *path, const struct dpmf_run *run, const char *id,
                  struct dpmf_error *error);

#endif
