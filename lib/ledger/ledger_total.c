/*
 * What a population has spent: its releases, composed. Fed by the book; feeds budgets and whoever
 * looks.
 *
 * A release counts for everyone, unless it was made of the users whose first record is in a period
 * and the curator declared that histories are complete (statement/cohort.h). Then a user has one
 * first record, on one day, and such a release is a function of the users of the days of its period
 * alone: for all others it costs nothing. So what is spent on a user is the composition of the
 * releases that count for their day, and what is spent is the largest of these. Later releases may
 * depend on earlier ones: what is spent on a user is bounded for every user by itself.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ledger/ledger_book.h"
#include "ledger/ledger_budget.h"
#include "statement/accountant.h"

/* What is spent on one group of users. */
struct spent {
    double *mu; /* mu of all releases; behind them that of what was returned */
    size_t n, n_returned;
    double *delta_mu; /* mu of those with a delta */
    size_t n_delta;
    double pure; /* epsilon of those without, added up */
};

/* a + b, rounded up where it is rounded at all: 1 and 1 are 2, and within a budget of 2. What the
 * sum left out is known exactly (Knuth's two-sum). */
static double add_up(double a, double b) {
    double sum = a + b, part = sum - a;
    double left = (a - (sum - part)) + (b - part);
    return left > 0 ? nextafter(sum, INFINITY) : sum;
}

static void count_spent(const struct ledger_entry *entry, struct spent *spent) {
    spent->mu[spent->n++] = entry->mu;
    if (entry->delta > 0)
        spent->delta_mu[spent->n_delta++] = entry->mu;
    else
        spent->pure = add_up(spent->pure, entry->epsilon);
}

/* What may be claimed of two releases together: as of one that assumes what both of them do. */
static enum dpmf_claim weaker(enum dpmf_claim a, enum dpmf_claim b) {
    if (a == DPMF_CLAIM_CONDITIONAL || b == DPMF_CLAIM_CONDITIONAL) return DPMF_CLAIM_CONDITIONAL;
    return a == DPMF_CLAIM_PROVEN ? b : a;
}

static void count_entry(const struct ledger_entry *entry, struct dpmf_ledger_population *total) {
    uint64_t *const counts[] = {&total->reserved, &total->committed, &total->returned,
                                &total->research, &total->tuning}; /* enum ledger_state */
    ++*counts[entry->state];
    if (!ledger_is_spent(entry)) return;
    total->claim = weaker(total->claim, entry->claim);
    total->periods += entry->cohort.is_declared;
}

/* One release alone costs what its own statement says, to the bit: composing would round once
 * more. */
static double compose(const double *mu, size_t n) {
    if (n == 0) return 0;
    return n == 1 ? mu[0] : accountant_compose(mu, n);
}

/* The entries of a population that count, or would if they had not been returned. */
struct account {
    const struct ledger_entry **entries;
    size_t n;
    double delta;       /* at which epsilon is shown; 0: none */
    struct spent spent; /* room for what is spent on a group */
};

/* At which epsilon is shown: as the budget was declared; or as cautious as the most cautious
 * release, and at 1e-5 at least: a large delta makes a small epsilon, and would hide what was
 * spent. */
static double delta_to_show(const struct account *account, const struct dpmf_budget *budget) {
    double least = 0;
    if (budget->delta > 0) return budget->delta;
    for (size_t i = 0; i < account->n; i++) {
        const struct ledger_entry *entry = account->entries[i];
        if (ledger_is_spent(entry) && entry->delta > 0 && (least == 0 || entry->delta < least))
            least = entry->delta;
    }
    return least > 0 ? fmin(least, LEDGER_USUAL_DELTA) : 0;
}

/* Whether a release counts for a group of users: those whose first record is on a day, or, without
 * one, those in no period. A period limits a release only where histories are declared complete:
 * otherwise anyone may be in it. */
static bool counts_for(const struct ledger_entry *entry, const int64_t *day) {
    if (!entry->cohort.is_declared || !entry->cohort.is_complete) return true;
    return day && cohort_has_day(&entry->cohort, *day);
}

struct sums {
    double mu, mu_with_returned, epsilon;
};

/* Two bounds hold, and the smaller one is shown: epsilon of all as Gaussian releases; and epsilon
 * of those with a delta, at it, plus that of the others (basic composition, which adds no delta for
 * them). */
static struct sums sum_up(const struct spent *spent, double delta) {
    struct sums sums = {.mu = compose(spent->mu, spent->n),
                        .mu_with_returned = compose(spent->mu, spent->n + spent->n_returned),
                        .epsilon = spent->pure};
    if (delta == 0) return sums;
    double apart = accountant_epsilon(compose(spent->delta_mu, spent->n_delta), delta);
    sums.epsilon = add_up(apart, spent->pure);
    if (spent->pure > 0) sums.epsilon = fmin(sums.epsilon, accountant_epsilon(sums.mu, delta));
    return sums;
}

/* What is spent on a group of users; `all`: as if everyone were in every release. */
static struct sums sum_for(struct account *account, const int64_t *day, bool all) {
    struct spent *spent = &account->spent;
    spent->n = spent->n_returned = spent->n_delta = 0;
    spent->pure = 0;
    for (size_t i = 0; i < account->n; i++)
        if (ledger_is_spent(account->entries[i]) && (all || counts_for(account->entries[i], day)))
            count_spent(account->entries[i], spent);
    for (size_t i = 0; i < account->n; i++)
        if (!ledger_is_spent(account->entries[i]) && (all || counts_for(account->entries[i], day)))
            spent->mu[spent->n + spent->n_returned++] = account->entries[i]->mu;
    return sum_up(spent, account->delta);
}

/* What is no number stays none: it is within no budget. */
static double larger(double a, double b) { return isnan(a) || a > b ? a : b; }

static void keep_larger(struct sums *sums, const struct sums *other) {
    sums->mu = larger(sums->mu, other->mu);
    sums->mu_with_returned = larger(sums->mu_with_returned, other->mu_with_returned);
    sums->epsilon = larger(sums->epsilon, other->epsilon);
}

/* The largest sum over all groups of users. As days go by, it can only grow where a period begins;
 * the day before all of them is where periods without a beginning count. */
static struct sums sum_over_days(struct account *account) {
    const int64_t before_all = INT64_MIN;
    struct sums largest = sum_for(account, NULL, false);
    bool are_limited = false;
    for (size_t i = 0; i < account->n; i++) {
        const struct cohort *cohort = &account->entries[i]->cohort;
        if (!cohort->is_declared || !cohort->is_complete) continue;
        are_limited = true;
        if (!cohort->has_since) continue;
        const int64_t day = cohort->since;
        const struct sums sums = sum_for(account, &day, false);
        keep_larger(&largest, &sums);
    }
    if (are_limited) {
        const struct sums sums = sum_for(account, &before_all, false);
        keep_larger(&largest, &sums);
    }
    return largest;
}

/* What is not the sum of all rests on the curator's word, so it is not proven. */
static void fill_total(struct account *account, struct dpmf_ledger_population *total) {
    account->delta = total->delta = delta_to_show(account, &total->budget);
    const struct sums full = sum_for(account, NULL, true), sums = sum_over_days(account);
    total->mu_in_full = full.mu;
    total->mu = sums.mu;
    total->mu_with_returned = sums.mu_with_returned;
    total->epsilon = sums.epsilon;
    if (sums.mu < full.mu || sums.epsilon < full.epsilon)
        total->claim = weaker(total->claim, DPMF_CLAIM_PARTIAL);
}

static void take_entry_of(struct account *account, const struct ledger_entry *entry,
                          struct dpmf_ledger_population *total) {
    count_entry(entry, total);
    if (ledger_is_release(entry)) account->entries[account->n++] = entry;
}

int ledger_book_total(const struct ledger_book *book, const char *population,
                      const struct ledger_entry *more, struct dpmf_ledger_population *total,
                      struct dpmf_error *error) {
    const size_t most = book->n_entries + 1;
    struct account account = {
        .entries = memory_alloc(most, sizeof *account.entries),
        .spent = {.mu = memory_alloc(most, sizeof(double)),
                  .delta_mu = memory_alloc(most, sizeof(double))},
    };
    *total = (struct dpmf_ledger_population){.name = population,
                                             .budget = ledger_book_budget(book, population)};
    const bool has_room = account.entries && account.spent.mu && account.spent.delta_mu;
    int code = has_room ? 0 : error_no_memory(error);
    for (size_t i = 0; code == 0 && i < book->n_entries; i++)
        if (strcmp(book->entries[i].population, population) == 0)
            take_entry_of(&account, &book->entries[i], total);
    if (code == 0 && more) take_entry_of(&account, more, total);
    if (code == 0) fill_total(&account, total);
    free(account.entries);
    free(account.spent.mu);
    free(account.spent.delta_mu);
    return code;
}
