/*
 * A ledger in memory: its entries and budgets, read from the text of the file and written back, and
 * the sums over a population. Knows nothing of files and locks.
 */
#ifndef DPMF_LEDGER_LEDGER_BOOK_H
#define DPMF_LEDGER_LEDGER_BOOK_H

#include "ledger/ledger.h"

/* Most bytes of the file's text: some 40,000 releases. A larger ledger is not written. */
enum { LEDGER_TEXT_MAX = 8 << 20 };

struct ledger_budget {
    char population[LEDGER_NAME_MAX + 1];
    struct dpmf_budget budget;
};

struct ledger_book {
    uint64_t generation;     /* how often the file was written; 0: it is not there yet */
    int64_t version;         /* version of the format that it was read from; 0: none */
    char id[LEDGER_ID_TEXT]; /* the ledger's id, by which its lock file is known; "": none yet */
    struct ledger_budget *budgets;
    size_t n_budgets, budgets_capacity;
    struct ledger_entry *entries; /* in the order they were entered */
    size_t n_entries, entries_capacity;
};

void ledger_book_free(struct ledger_book *book);

/* Trusts nothing: a text is accepted only when writing what was read gives the same bytes, in the
 * same version of the format. Version 0.1.0 is read too; its budgets, which are epsilons at the
 * smallest delta claimed, apply at that delta or at 1e-5, whichever is smaller. Errors name `path`.
 * @return 0, DPMF_ERR_PRIVACY_LEDGER or DPMF_ERR_BASE_NO_MEMORY; `book` is then empty */
int ledger_book_parse(const char *text, size_t n, const char *path, struct ledger_book *book,
                      struct dpmf_error *error);

/* The whole text, in the newest version; free it with free(). */
int ledger_book_format(const struct ledger_book *book, char **text, size_t *n,
                       struct dpmf_error *error);

/* The checksum that ends a line, of the line's text before it; `previous` is that of the line above
 * (0 for the first), so that no line can go missing or change its place. */
uint64_t ledger_book_seal(const char *line, size_t n, uint64_t previous);

/* What makes an entry unfit to be recorded, or NULL. */
const char *ledger_entry_fault(const struct ledger_entry *entry);

struct ledger_entry *ledger_book_find(const struct ledger_book *book, const char *id);
int ledger_book_add(struct ledger_book *book, const struct ledger_entry *entry,
                    struct dpmf_error *error);

/* @return the population's budget, whose mu is 0 when it has none; setting such a one removes it */
struct dpmf_budget ledger_book_budget(const struct ledger_book *book, const char *population);
int ledger_book_set_budget(struct ledger_book *book, const char *population,
                           const struct dpmf_budget *budget, struct dpmf_error *error);

/* Whether the book has an entry or a budget of it. */
bool ledger_book_knows(const struct ledger_book *book, const char *population);

/* What a population has spent (ledger_total.c), its budget, and what else is known of it. `more`
 * (may be NULL) is
 * counted as if it were entered. total->name is `population`. */
int ledger_book_total(const struct ledger_book *book, const char *population,
                      const struct ledger_entry *more, struct dpmf_ledger_population *total,
                      struct dpmf_error *error);

#endif
