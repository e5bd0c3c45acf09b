/*
 * A ledger in memory: its entries and budgets, read from the text of the file and written back, and the sums
 * over a population. Knows nothing of files and locks.
 */
#ifndef DPMF_PRIVACY_LEDGER_BOOK_H
#define DPMF_PRIVACY_LEDGER_BOOK_H

#include "privacy/ledger.h"

/* Of the file's text: some 40,000 releases. What would grow larger is not written. */
enum { LEDGER_TEXT_MAX = 8 << 20 };

struct ledger_budget {
    char population[LEDGER_NAME_MAX + 1];
    double epsilon;
};

struct ledger_book {
    uint64_t generation; /* how often the file was written; 0: it is not there yet */
    struct ledger_budget *budgets;
    size_t n_budgets, budgets_capacity;
    struct ledger_entry *entries; /* in the order they were reserved */
    size_t n_entries, entries_capacity;
};

void ledger_book_free(struct ledger_book *book);

/* Believes nothing: a text is accepted only when writing what was read gives the same bytes again.
 * `path` is for the error's text. @return 0, DPMF_ERR_PRIVACY_LEDGER or DPMF_ERR_BASE_NO_MEMORY; `book` is
 * then empty */
int ledger_book_parse(const char *text, size_t n, const char *path, struct ledger_book *book,
                      struct dpmf_error *error);

/* The whole text; free it with free(). */
int ledger_book_format(const struct ledger_book *book, char **text, size_t *n,
                       struct dpmf_error *error);

/* The checksum that ends a line, of the line's text before it; `previous` is that of the line above (0 for
 * the first), so that no line can go missing or change its place. */
uint64_t ledger_book_seal(const char *line, size_t n, uint64_t previous);

/* What makes a name or an entry unfit to be recorded, or NULL. */
const char *ledger_name_fault(const char *name);
const char *ledger_entry_fault(const struct ledger_entry *entry);
bool ledger_id_is_valid(const char *id);
bool ledger_budget_is_valid(double epsilon);

struct ledger_entry *ledger_book_find(const struct ledger_book *book, const char *id);
int ledger_book_add(struct ledger_book *book, const struct ledger_entry *entry,
                    struct dpmf_error *error);

/* @return the population's budget, or 0 when it has none; setting 0 removes it */
double ledger_book_budget(const struct ledger_book *book, const char *population);
int ledger_book_set_budget(struct ledger_book *book, const char *population, double epsilon,
                           struct dpmf_error *error);

/* What a population has spent: everything reserved or committed. */
struct ledger_total {
    uint64_t committed, reserved, returned;
    double mu;      /* all of it composed; 0 when there is nothing */
    double delta;   /* the smallest above 0 of those claimed; 0 when there is none */
    double epsilon; /* at that delta, rounded up; 0 when there is nothing */
    bool is_conditional;
};

/* `more` (may be NULL) is counted as if it were reserved. */
int ledger_book_total(const struct ledger_book *book, const char *population,
                      const struct ledger_entry *more, struct ledger_total *total,
                      struct dpmf_error *error);

#endif
