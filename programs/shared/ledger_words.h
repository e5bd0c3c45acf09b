/*
 * The ledger in words: budgets and sums as people read them, and what is asked before a new ledger
 * is made. Shared by the commands that show the ledger and those that spend.
 */
#ifndef DPMF_PROGRAMS_LEDGER_WORDS_H
#define DPMF_PROGRAMS_LEDGER_WORDS_H

#include "cli/command.h"

/* A text by value, so that several fit in one printf. */
struct ledger_words {
    char text[240];
};

/* "epsilon 5 at delta 1e-05 (mu 1.1212)", as it was declared; or "mu 1.2 (epsilon 5.3865 at delta
 * 1e-05)". */
struct ledger_words ledger_words_budget(const struct dpmf_budget *budget);

/* "mu 0.26805 in 1 release, epsilon 1 at delta 1e-05; no budget: an odometer". */
struct ledger_words ledger_words_spent(const struct dpmf_ledger_population *population);

/* "1 published, 1 reserved, 2 research runs": what the ledger has of it. */
struct ledger_words ledger_words_counts(const struct dpmf_ledger_population *population);

/* How releases of users by their first record count; for a population that has any. */
struct ledger_words ledger_words_periods(const struct dpmf_ledger_population *population);

/* A population that a ledger may know; `name` is the caller's, the rest is 0. */
struct ledger_names {
    const char *name;
    uint64_t others; /* populations that the ledger knows beside it */
    bool is_known;
};

/* Looks for the name before it is written. A ledger that cannot be read is the next step's to
 * report. */
void ledger_words_look(const char *ledger, struct ledger_names *names);

/* Reports a name that was new, as before a release. */
void ledger_words_tell_new(struct terminal *terminal, const struct ledger_names *names);

/* Where there is no ledger yet and someone at a terminal can be asked, asks whether to make it.
 * Elsewhere it is left to the library: that makes the user's own, and refuses a path that leads
 * nowhere. @return 0, or an exit status after an answer of no */
int ledger_words_offer(struct invocation *invocation);

#endif
