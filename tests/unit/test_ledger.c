/*
 * The ledger: what is reserved counts, what is over budget is refused, what is public stays spent;
 * the file is private and whole; and whatever is not exactly as it was written, or not where it
 * was, is refused rather than believed. Processes at once, and killed ones, are in
 * tests/ledger/run.sh.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "ledger/ledger_book.h"
#include "ledger/ledger_budget.h"
#include "ledger/ledger_lock.h"
#include "ledger/ledger_name.h"
#include "ledger_entries.h"
#include "statement/accountant.h"
#include "temp_dir.h"

static struct temp_dir dir;
static char path[TEMP_PATH_MAX], lock_path[TEMP_PATH_MAX];
static struct dpmf_error error;

static int set_up(void **state) {
    (void)state;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "ledger", path);
    temp_dir_file(&dir, "ledger.lock", lock_path);
    memset(&error, 0, sizeof error);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static struct ledger_entry entry_of(const char *population, unsigned id, double mu) {
    struct ledger_entry entry = {.mu = mu, .delta = 1e-5, .epsilon = 1, .time = 1700000000};
    snprintf(entry.population, sizeof entry.population, "%s", population);
    snprintf(entry.id, sizeof entry.id, "%032x", id);
    return entry;
}

/* The epsilon at a delta of 1e-5; what is no budget stays none. */
static struct dpmf_budget budget_of(double epsilon) {
    if (!(epsilon > 0 && epsilon <= 1e9)) return (struct dpmf_budget){epsilon, epsilon, 1e-5};
    return ledger_budget_declare(epsilon, 1e-5);
}

static int reserve_entry(const char *place, const struct ledger_entry *entry, double epsilon) {
    const struct dpmf_budget budget = budget_of(epsilon);
    return ledger_reserve(place, NULL, true, entry, epsilon == 0 ? NULL : &budget, &error);
}

static int reserve(const char *population, unsigned id, double mu, double epsilon) {
    struct ledger_entry entry = entry_of(population, id, mu);
    return reserve_entry(path, &entry, epsilon);
}

static int set_budget(const char *population, double epsilon) {
    const struct dpmf_budget budget = budget_of(epsilon);
    return dpmf_ledger_set_budget(path, population, epsilon == 0 ? NULL : &budget, NULL, &error);
}

static const char *id_of(unsigned id) {
    static char text[LEDGER_ID_TEXT];
    snprintf(text, sizeof text, "%032x", id);
    return text;
}

/* ---- looking --------------------------------------------------------------------------------- */

struct seen {
    size_t n;
    struct ledger_entry entries[64];
};

static int see(void *self, const struct ledger_entry *entry) {
    struct seen *seen = self;
    assert_true(seen->n < 64);
    seen->entries[seen->n++] = *entry;
    return 0;
}

static struct seen look(void) {
    struct seen seen = {0};
    assert_int_equal(entries_visit(path, see, &seen, &error), 0);
    return seen;
}

struct sum {
    const char *wanted;
    int populations, entries;
    struct dpmf_ledger_population found;
};

static int add_up(void *self, const struct dpmf_ledger_population *population,
                  const struct dpmf_ledger_entry *entry) {
    struct sum *sum = self;
    if (entry == NULL) sum->populations++;
    if (entry != NULL) sum->entries++;
    if (strcmp(population->name, sum->wanted) == 0) sum->found = *population;
    return 0;
}

static struct sum sum_of(const char *population) {
    struct sum sum = {.wanted = population};
    assert_int_equal(dpmf_ledger_visit(path, NULL, add_up, &sum, &error), 0);
    return sum;
}

/* ---- reserve, commit, return ----------------------------------------------------------------- */

static void test_life_of_a_release(void **state) {
    (void)state;
    assert_int_equal(reserve("movies", 1, 0.2, 0), 0);
    struct seen seen = look();
    assert_int_equal(seen.n, 1);
    assert_string_equal(seen.entries[0].population, "movies");
    assert_string_equal(seen.entries[0].id, id_of(1));
    assert_int_equal(seen.entries[0].state, LEDGER_RESERVED);
    assert_true(seen.entries[0].mu == 0.2 && seen.entries[0].delta == 1e-5);
    assert_true(seen.entries[0].time == 1700000000);

    assert_int_equal(entries_commit(path, id_of(1), NULL, &error), 0);
    assert_int_equal(entries_commit(path, id_of(1), NULL, &error), 0);
    assert_int_equal(look().entries[0].state, LEDGER_COMMITTED);
    assert_int_equal(ledger_return(path, NULL, id_of(1), &error), DPMF_ERR_PRIVACY_REFUSED);
    assert_int_equal(look().entries[0].state, LEDGER_COMMITTED);
}

static void test_returned_counts_for_nothing(void **state) {
    (void)state;
    double budget = accountant_epsilon(0.2, 1e-5);
    assert_int_equal(reserve("movies", 1, 0.2, budget), 0);
    assert_int_equal(reserve("movies", 2, 0.01, 0), DPMF_ERR_PRIVACY_BUDGET);
    assert_non_null(strstr(error.hint, "never published (1)"));
    assert_int_equal(ledger_return(path, NULL, id_of(1), &error), 0);
    assert_int_equal(ledger_return(path, NULL, id_of(1), &error), 0);
    assert_int_equal(reserve("movies", 1, 0.2, 0), DPMF_ERR_PRIVACY_REFUSED); /* the id is taken */
    assert_int_equal(reserve("movies", 2, 0.2, 0), 0);
    struct sum sum = sum_of("movies");
    assert_int_equal(sum.found.reserved, 1);
    assert_int_equal(sum.found.returned, 1);
}

/* What was returned cannot be published any more. */
static void test_no_commit_after_return(void **state) {
    (void)state;
    assert_int_equal(reserve("movies", 1, 0.2, 0), 0);
    assert_int_equal(ledger_return(path, NULL, id_of(1), &error), 0);
    assert_int_equal(entries_commit(path, id_of(1), NULL, &error), DPMF_ERR_PRIVACY_REFUSED);
    assert_int_equal(look().entries[0].state, LEDGER_RETURNED);
}

static void test_unknown_ids(void **state) {
    (void)state;
    assert_int_equal(entries_commit(path, id_of(9), NULL, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(ledger_return(path, NULL, id_of(9), &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(temp_dir_count(&dir), 0); /* not even a lock */
    assert_int_equal(reserve("movies", 1, 0.2, 0), 0);
    assert_int_equal(entries_commit(path, id_of(9), NULL, &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(ledger_return(path, NULL, "", &error), DPMF_ERR_PRIVACY_LEDGER);
}

/* ---- budgets --------------------------------------------------------------------------------- */

static void test_budget_is_exact(void **state) {
    (void)state;
    double mu[8], budget;
    for (int i = 0; i < 8; i++) mu[i] = 0.1;
    budget = accountant_epsilon(accountant_compose(mu, 7), 1e-5);
    for (unsigned i = 1; i <= 7; i++) assert_int_equal(reserve("a", i, 0.1, budget), 0);
    assert_int_equal(reserve("a", 8, 0.1, budget), DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve("a", 9, 1e-3, budget), DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve("b", 10, 0.1, 0), 0); /* other people */
    assert_true(sum_of("a").found.epsilon == budget);
    assert_int_equal(look().n, 8);
}

/* What a statement says of one release is what the ledger says of it. */
static void test_one_release_costs_what_it_claims(void **state) {
    (void)state;
    double mu = accountant_mu(1, 1e-5);
    assert_int_equal(reserve("a", 1, mu, accountant_epsilon(mu, 1e-5)), 0);
    assert_true(sum_of("a").found.mu == mu);
}

static void test_budget_given(void **state) {
    (void)state;
    assert_int_equal(reserve("a", 1, 0.1, 5), 0);
    assert_true(sum_of("a").found.budget.epsilon == 5);
    assert_int_equal(reserve("a", 2, 0.1, 6), DPMF_ERR_PRIVACY_BUDGET); /* not in passing */
    assert_int_equal(reserve("a", 2, 0.1, 4), 0);
    assert_true(sum_of("a").found.budget.epsilon == 4);
    assert_int_equal(reserve("a", 3, 3, 2), DPMF_ERR_PRIVACY_BUDGET);
    assert_true(sum_of("a").found.budget.epsilon == 4); /* a refusal changes nothing */
    assert_int_equal(set_budget("a", 6), 0);
    assert_int_equal(reserve("a", 4, 0.1, 6), 0);
    assert_int_equal(set_budget("a", 0), 0);
    assert_true(sum_of("a").found.budget.mu == 0);
    assert_int_equal(reserve("a", 5, 100, 0), 0);
}

static void test_budget_before_any_release(void **state) {
    (void)state;
    assert_int_equal(set_budget("none", 0), DPMF_ERR_IO_MISSING);
    assert_int_equal(set_budget("new", 1), DPMF_ERR_IO_MISSING);
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), 0);
    assert_int_equal(set_budget("new", 1), 0);
    struct sum sum = sum_of("new");
    assert_int_equal(sum.populations, 1);
    assert_int_equal(sum.entries, 0);
    assert_true(sum.found.epsilon == 0 && sum.found.budget.epsilon == 1);
    assert_int_equal(reserve("new", 1, 1, 0), DPMF_ERR_PRIVACY_BUDGET);
    static const double bad[] = {-1, NAN, INFINITY, 1e10};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(set_budget("new", bad[i]), DPMF_ERR_USAGE_VALUE);
        assert_int_equal(reserve("new", 2, 0.1, bad[i]), DPMF_ERR_USAGE_VALUE);
    }
}

/* A large delta makes a small epsilon; what is spent is a mu, and is shown at a delta that hides
 * nothing. */
static void test_delta_hides_nothing(void **state) {
    (void)state;
    struct ledger_entry entry = entry_of("a", 1, accountant_mu(5, 0.4));
    entry.delta = 0.4, entry.epsilon = 5;
    assert_int_equal(reserve_entry(path, &entry, 5), DPMF_ERR_PRIVACY_BUDGET);
    assert_non_null(strstr(error.message, "it would be 18.1"));
    assert_int_equal(reserve_entry(path, &entry, 0), 0);
    struct sum sum = sum_of("a");
    assert_true(sum.found.delta == 1e-5 && sum.found.epsilon > 18.1 && sum.found.epsilon < 18.2);

    /* Shown at the smallest delta claimed, and at the budget's when there is one. */
    entry = entry_of("a", 2, 0.2);
    entry.delta = 1e-7;
    assert_int_equal(reserve_entry(path, &entry, 0), 0);
    double mu[] = {accountant_mu(5, 0.4), 0.2};
    sum = sum_of("a");
    assert_true(sum.found.delta == 1e-7);
    assert_true(sum.found.epsilon == accountant_epsilon(accountant_compose(mu, 2), 1e-7));
    assert_int_equal(set_budget("a", 30), 0);
    assert_true(sum_of("a").found.delta == 1e-5);
    assert_true(sum_of("a").found.mu == sum.found.mu);
    assert_int_equal(set_budget("a", 0), 0);
    /* What was returned does not hold anyone to its delta. */
    assert_int_equal(ledger_return(path, NULL, id_of(2), &error), 0);
    assert_true(sum_of("a").found.delta == 1e-5);
}

static void test_budget_is_a_mu(void **state) {
    (void)state;
    const struct dpmf_budget half = {.mu = 0.5}, more = {.mu = 0.6}, bad = {0.5, 1, 1e-5};
    struct ledger_entry entry = entry_of("a", 1, 0.3);
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, &half, &error), 0);
    assert_true(sum_of("a").found.budget.mu == 0.5 && sum_of("a").found.budget.epsilon == 0);
    entry = entry_of("a", 2, 0.4); /* 0.3 and 0.4 are 0.5 and a rounding more */
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, NULL, &error),
                     DPMF_ERR_PRIVACY_BUDGET);
    assert_non_null(strstr(error.message, "mu 0.3 of 0.5"));
    entry = entry_of("a", 2, 0.399);
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, &more, &error),
                     DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, NULL, &error), 0);
    /* mu 0.5 is more than epsilon 1 at that delta */
    assert_int_equal(dpmf_ledger_set_budget(path, "a", &bad, NULL, &error), DPMF_ERR_USAGE_VALUE);
    /* Without a delta a release is what it is as a Gaussian one. */
    entry = entry_of("b", 3, accountant_mu_pure(0.5));
    entry.claim = DPMF_CLAIM_CONDITIONAL, entry.delta = 0, entry.epsilon = 0.5;
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, &half, &error),
                     DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve_entry(path, &entry, 0.5), 0);
}

static void test_budget_words(void **state) {
    (void)state;
    static const char *const bad[] = {"",        "x",         "0",     "-1",        "nan",
                                      "inf",     "1e10",      "3.46",  "5",         "5@",
                                      "@1e-5",   "5@0",       "5@1",   "5@nan",     "5@1e-5@",
                                      "5 @1e-5", "1e10@1e-5", "5@0.5", "1@1.01e-4", "50@1e-6"};
    struct dpmf_budget budget;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dpmf_budget_parse(bad[i], false, &budget, &error), DPMF_ERR_USAGE_VALUE);
        assert_true(budget.mu == 0);
    }
    assert_int_equal(dpmf_budget_parse("1.2", false, &budget, NULL), 0);
    assert_true(budget.mu == 1.2 && budget.epsilon == 0 && budget.delta == 0);
    assert_int_equal(dpmf_budget_parse("5@1e-5", false, &budget, NULL), 0);
    assert_true(budget.mu == accountant_mu(5, 1e-5) && budget.epsilon == 5 && budget.delta == 1e-5);
    assert_int_equal(dpmf_budget_parse("1@1e-4", false, &budget, NULL), 0);
    assert_int_equal(dpmf_budget_parse("20@1e-5", false, &budget, NULL), 0);
    assert_true(budget.mu > 3.4 && budget.mu <= DPMF_MU_USUAL_MAX);
    /* What an epsilon that was accepted costs can be a budget, if that is accepted. */
    assert_int_equal(dpmf_budget_parse("5", true, &budget, NULL), 0);
    assert_true(budget.mu == 5);
    assert_int_equal(dpmf_budget_parse("50@1e-6", true, &budget, NULL), 0);
    assert_int_equal(dpmf_budget_parse("5@0.5", true, &budget, NULL), DPMF_ERR_USAGE_VALUE);
}

/* Names that can be taken for one that the ledger knows: a second budget for the same people. */
static void test_names_alike(void **state) {
    (void)state;
    static const struct {
        const char *known, *alike;
    } pairs[] = {
        {"customers", "Customers"},
        {"customers-2024", "customers_2024"},
        {"level 1", "LeveI l"},
        {"modern", "modem"},
        {"coop", "c00p"},
        {"copy", "\xd1\x81\xd0\xbe\xd1\x80\xd1\x83" /* Cyrillic */},
        {"ABE", "\xce\x91\xce\x92\xce\x95" /* Greek */},
        {"caf\xc3\xa9", "CAF\xc3\x89"},
        {"\xd0\xba\xd0\xb8\xd0\xbd\xd0\xbe", "\xd0\x9a\xd0\x98\xd0\x9d\xd0\x9e"},
    };
    static const char *const others[] = {
        "customer", "customers-2025", "customers 2024 b", "level 2", "cafe", "modes", "coup"};
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct ledger_entry entry = entry_of(pairs[i].known, i + 1, 0.1);
        assert_int_equal(reserve_entry(path, &entry, 0), 0);
    }
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct ledger_entry entry = entry_of(pairs[i].alike, 90, 0.1);
        if (reserve_entry(path, &entry, 0) != DPMF_ERR_PRIVACY_REFUSED)
            fail_msg("%s is taken beside %s", pairs[i].alike, pairs[i].known);
        entry = entry_of(pairs[i].known, 100 + i, 0.1); /* which is known for good */
        assert_int_equal(reserve_entry(path, &entry, 0), 0);
    }
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct ledger_entry entry = entry_of(others[i], 200 + i, 0.1);
        if (reserve_entry(path, &entry, 0) != 0) fail_msg("%s is refused", others[i]);
    }
}

/* Names that look the same are one population to whoever reads them. */
static void test_invisible_names(void **state) {
    (void)state;
    static const char *const bad[] = {"mo\xe2\x80\x8bvies",
                                      "movies\xc2\xa0",
                                      "\xef\xbb\xbfmovies",
                                      "mo\xc2\xadvies",
                                      "\xe2\x80\xaemovies",
                                      "movies\xf3\xa0\x80\xa0",
                                      "mo\xe3\x80\x80vies",
                                      "cafe\xcc\x81" /* NFD */,
                                      "\xe2\x84\xab" /* Angstrom, U+00C5 to NFC */,
                                      "mo\xcd\x8fvies" /* default-ignorable */,
                                      "movies\xe1\xa0\x8f",
                                      "mo\xf0\x9d\x85\xb3vies",
                                      "movies\xcd\xb8" /* not assigned */,
                                      "\xee\x80\x80movies" /* private use */,
                                      "mo\xd0\xb2ies" /* a Cyrillic letter */,
                                      "mo  vies",
                                      "movies\xe2\x80\x93" /* a dash */,
                                      "\xe1\x84\x80\xe1\x85\xa1" /* Hangul in parts */,
                                      "\xef\xbd\x8d" /* a wide m */};
    static const char *const good[] = {
        "movies",          "caf\xc3\xa9",  "\xd0\xba\xd0\xb8\xd0\xbd\xd0\xbe-2024",
        "two words",       "\xea\xb0\x80", "\xe6\x98\xa0\xe7\x94\xbb",
        "\xf0\x9f\x8e\xac"};
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct ledger_entry entry = entry_of(good[i], i + 1, 0.1);
        assert_int_equal(reserve_entry(path, &entry, 0), 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ledger_entry entry = entry_of(bad[i], 99, 0.1);
        assert_int_equal(reserve_entry(path, &entry, 0), DPMF_ERR_USAGE_VALUE);
        assert_int_equal(dpmf_ledger_record_tuning(path, bad[i], NULL, &error),
                         DPMF_ERR_USAGE_VALUE);
        assert_null(ledger_name_fault(bad[i])); /* a ledger of 0.1.0 may have it */
    }
}

static void test_conditional(void **state) {
    (void)state;
    struct ledger_entry entry = entry_of("a", 1, 0.2);
    assert_int_equal(reserve_entry(path, &entry, 0), 0);
    assert_int_equal(sum_of("a").found.claim, DPMF_CLAIM_PROVEN);
    entry = entry_of("a", 2, 0.2);
    entry.claim = DPMF_CLAIM_CONDITIONAL;
    assert_int_equal(reserve_entry(path, &entry, 0), 0);
    assert_int_equal(sum_of("a").found.claim, DPMF_CLAIM_CONDITIONAL);
    assert_int_equal(ledger_return(path, NULL, id_of(2), &error), 0);
    assert_int_equal(sum_of("a").found.claim, DPMF_CLAIM_PROVEN);
}

/* What one release assumes, the sum does; what promises nothing is no release. */
static void test_partial(void **state) {
    (void)state;
    static const enum dpmf_claim claims[] = {DPMF_CLAIM_PROVEN, DPMF_CLAIM_PARTIAL,
                                             DPMF_CLAIM_PROVEN, DPMF_CLAIM_CONDITIONAL,
                                             DPMF_CLAIM_PARTIAL};
    static const enum dpmf_claim sums[] = {DPMF_CLAIM_PROVEN, DPMF_CLAIM_PARTIAL,
                                           DPMF_CLAIM_PARTIAL, DPMF_CLAIM_CONDITIONAL,
                                           DPMF_CLAIM_CONDITIONAL};
    for (unsigned i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        struct ledger_entry entry = entry_of("a", i, 0.2);
        entry.claim = claims[i];
        assert_int_equal(reserve_entry(path, &entry, 0), 0);
        assert_int_equal(sum_of("a").found.claim, sums[i]);
    }
    struct ledger_entry entry = entry_of("a", 9, 0.2);
    entry.claim = DPMF_CLAIM_NOT_PRIVATE;
    assert_int_equal(reserve_entry(path, &entry, 0), DPMF_ERR_USAGE_VALUE);
}

static int reserve_period(unsigned id, double mu, const char *since, const char *before,
                          bool is_complete, double epsilon) {
    struct ledger_entry entry = entry_of("a", id, mu);
    assert_null(cohort_declare(since, before, is_complete, &entry.cohort));
    return reserve_entry(path, &entry, epsilon);
}

/* Users who return may be in any release, so that periods change nothing by themselves. */
static void test_periods_add_up(void **state) {
    (void)state;
    const double mu[] = {0.2, 0.3};
    assert_int_equal(reserve_period(1, 0.2, NULL, "2025-01-01", false, 0), 0);
    assert_int_equal(reserve_period(2, 0.3, "2026-01-01", NULL, false, 0), 0);
    struct sum sum = sum_of("a");
    assert_true(sum.found.mu == accountant_compose(mu, 2));
    assert_true(sum.found.mu_in_full == sum.found.mu);
    assert_int_equal(sum.found.periods, 2);
    assert_int_equal(sum.found.claim, DPMF_CLAIM_PROVEN);
    /* One word is not enough: the other release may have anyone in it. */
    assert_int_equal(ledger_return(path, NULL, id_of(2), &error), 0);
    assert_int_equal(reserve_period(3, 0.3, "2026-01-01", NULL, true, 0), 0);
    sum = sum_of("a");
    assert_true(sum.found.mu == accountant_compose(mu, 2));
    assert_int_equal(sum.found.claim, DPMF_CLAIM_PROVEN);
}

/* Where histories are declared complete, the largest sum of a day counts, and is not proven. */
static void test_complete_periods(void **state) {
    (void)state;
    assert_int_equal(reserve_period(1, 0.2, NULL, "2025-01-01", true, 0), 0);
    assert_int_equal(sum_of("a").found.claim, DPMF_CLAIM_PROVEN); /* nothing was saved by it */
    assert_int_equal(reserve_period(2, 0.3, "2025-01-01", "2026-01-01", true, 0), 0);
    assert_int_equal(reserve_period(3, 0.1, "2026-01-01", NULL, true, 0), 0);
    struct sum sum = sum_of("a");
    const double all[] = {0.2, 0.3, 0.1};
    assert_true(sum.found.mu == 0.3);
    assert_true(sum.found.mu_in_full == accountant_compose(all, 3));
    assert_true(sum.found.epsilon == accountant_epsilon(0.3, 1e-5));
    assert_int_equal(sum.found.claim, DPMF_CLAIM_PARTIAL);
    /* A day of overlap: its users are in both. */
    assert_int_equal(reserve_period(4, 0.25, "2025-12-31", "2026-06-01", true, 0), 0);
    const double overlap[] = {0.3, 0.25}, later[] = {0.1, 0.25};
    assert_true(sum_of("a").found.mu == accountant_compose(overlap, 2));
    assert_int_equal(ledger_return(path, NULL, id_of(2), &error), 0);
    sum = sum_of("a");
    assert_true(sum.found.mu == accountant_compose(later, 2));
    const double returned[] = {0.25, 0.3};
    assert_true(sum.found.mu_with_returned == accountant_compose(returned, 2));
    /* A release of everyone adds to each. */
    assert_int_equal(reserve("a", 5, 0.4, 0), 0);
    const double with_all[] = {0.1, 0.25, 0.4};
    assert_true(sum_of("a").found.mu == accountant_compose(with_all, 3));
    /* What is read again is what was written. */
    struct seen seen = look();
    assert_int_equal(seen.n, 5);
}

/* Budgets count in the same way; what is refused leaves nothing behind. */
static void test_budget_of_periods(void **state) {
    (void)state;
    const double mu = accountant_mu(1, 1e-5);
    assert_int_equal(reserve_period(1, mu, NULL, "2026-01-01", true, 1), 0);
    assert_int_equal(reserve_period(2, mu, "2026-01-01", NULL, false, 1), DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve_period(3, mu, "2025-12-31", NULL, true, 1), DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve_period(4, mu, "2026-01-01", NULL, true, 1), 0);
    assert_int_equal(sum_of("a").entries, 2);
    assert_int_equal(sum_of("a").found.claim, DPMF_CLAIM_PARTIAL);
}

/* Releases without a delta, too: epsilon of a day, not of all. */
static void test_pure_periods(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct ledger_entry entry = entry_of("a", i, accountant_mu_pure(0.7));
        entry.claim = DPMF_CLAIM_CONDITIONAL;
        entry.delta = 0;
        entry.epsilon = 0.7;
        assert_null(
            cohort_declare(i ? "2026-01-01" : NULL, i ? NULL : "2026-01-01", true, &entry.cohort));
        assert_int_equal(reserve_entry(path, &entry, 0), 0);
    }
    assert_true(sum_of("a").found.epsilon == 0.7);
    assert_int_equal(sum_of("a").found.claim, DPMF_CLAIM_CONDITIONAL);
}

/* Releases without a delta add their epsilon; beside others whichever bound is the smaller one
 * holds. */
static void test_pure(void **state) {
    (void)state;
    struct ledger_entry entry = entry_of("a", 1, accountant_mu_pure(0.7));
    entry.claim = DPMF_CLAIM_CONDITIONAL;
    entry.delta = 0;
    entry.epsilon = 0.7;
    assert_int_equal(reserve_entry(path, &entry, 0), 0);
    assert_true(sum_of("a").found.epsilon == 0.7);
    assert_true(sum_of("a").found.delta == 0);
    snprintf(entry.id, sizeof entry.id, "%s", id_of(2));
    assert_int_equal(reserve_entry(path, &entry, 0), 0);
    double both = sum_of("a").found.epsilon;
    assert_true(both >= 1.4 && both < 1.4 + 1e-9);

    struct ledger_entry other = entry_of("a", 3, 0.2);
    other.delta = 1e-5;
    assert_int_equal(reserve_entry(path, &other, 0), 0);
    double apart = 1.4 + accountant_epsilon(0.2, 1e-5), all = sum_of("a").found.epsilon;
    assert_true(all >= apart && all < apart + 1e-9);
    assert_true(sum_of("a").found.delta == 1e-5);
    assert_int_equal(sum_of("a").found.claim, DPMF_CLAIM_CONDITIONAL);

    /* Many small ones are fewer together as Gaussian ones. */
    for (unsigned i = 10; i < 70; i++) {
        struct ledger_entry small = entry_of("b", i, accountant_mu_pure(0.05));
        small.claim = i > 10 ? DPMF_CLAIM_CONDITIONAL : DPMF_CLAIM_PROVEN;
        small.delta = i > 10 ? 0 : 1e-5;
        small.epsilon = 0.05;
        assert_int_equal(reserve_entry(path, &small, 0), 0);
    }
    double many = sum_of("b").found.epsilon, mu = accountant_mu_pure(0.05) * sqrt(60);
    assert_true(many < 2.9);
    assert_true(many >= accountant_epsilon(mu * (1 - 1e-9), 1e-5));

    /* Two of 1 are 2, and not a hair more. */
    for (unsigned i = 100; i < 103; i++) {
        struct ledger_entry one = entry_of("c", i, accountant_mu_pure(1));
        one.claim = DPMF_CLAIM_CONDITIONAL;
        one.delta = 0;
        one.epsilon = 1;
        assert_int_equal(reserve_entry(path, &one, 2), i < 102 ? 0 : DPMF_ERR_PRIVACY_BUDGET);
    }

    /* A budget counts them; and only a conditional one may be without a delta. */
    snprintf(entry.id, sizeof entry.id, "%s", id_of(2000));
    assert_int_equal(reserve_entry(path, &entry, all + 0.69), DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve_entry(path, &entry, all + 0.71), 0);
    snprintf(entry.id, sizeof entry.id, "%s", id_of(2001));
    entry.claim = DPMF_CLAIM_PROVEN;
    assert_int_equal(reserve_entry(path, &entry, 0), DPMF_ERR_USAGE_VALUE);
}

/* ---- publishing ------------------------------------------------------------------------------ */

static int count_up(void *self, struct dpmf_error *failed) {
    (void)failed;
    ++*(int *)self;
    return 0;
}

static int fail_to_publish(void *self, struct dpmf_error *failed) {
    (void)self;
    return error_set(failed, DPMF_ERR_IO_NO_SPACE, "no room");
}

/* What was returned is not published; what could not be published is not committed. */
static void test_publish(void **state) {
    (void)state;
    int n = 0;
    const struct ledger_publication publication = {count_up, &n}, failing = {fail_to_publish, NULL};
    struct dpmf_ledger_population spent;
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);
    assert_int_equal(ledger_publish(path, NULL, id_of(1), &failing, NULL, &error),
                     DPMF_ERR_IO_NO_SPACE);
    assert_int_equal(ledger_publish(path, NULL, id_of(1), &publication, &spent, &error), 0);
    assert_int_equal(n, 1);
    assert_true(spent.committed == 1 && spent.reserved == 1);

    assert_int_equal(ledger_return(path, NULL, id_of(2), &error), 0);
    assert_int_equal(ledger_publish(path, NULL, id_of(2), &publication, NULL, &error),
                     DPMF_ERR_PRIVACY_REFUSED);
    assert_int_equal(ledger_publish(path, NULL, id_of(3), &publication, NULL, &error),
                     DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(n, 1);
}

static int stop(void *self, const struct dpmf_progress *progress) {
    (void)progress;
    ++*(int *)self;
    return 1;
}

/* Someone else has the lock: whoever waits is asked whether to go on. */
static void test_wait(void **state) {
    (void)state;
    static const struct ledger_publication nothing;
    int n = 0;
    struct dpmf_run run = dpmf_run_default();
    run.progress = stop;
    run.progress_self = &n;
    assert_int_equal(dpmf_ledger_init(path, &run, &error), 0);
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    assert_int_equal(n, 0);
    int fd = open(lock_path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    struct ledger_entry entry = entry_of("a", 2, 0.1);
    assert_int_equal(ledger_reserve(path, &run, true, &entry, NULL, &error),
                     DPMF_ERR_BASE_CANCELLED);
    entry.state = LEDGER_RESEARCH;
    assert_int_equal(ledger_record(path, &run, true, &entry, NULL, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(ledger_publish(path, &run, id_of(1), &nothing, NULL, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(dpmf_ledger_init(path, &run, &error), DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(dpmf_ledger_return(path, id_of(1), &run, &error), DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(dpmf_ledger_set_budget(path, "a", NULL, &run, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(dpmf_ledger_record_tuning(path, "a", &run, &error), DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(n, 7);
    close(fd);
    assert_int_equal(dpmf_ledger_return(path, id_of(1), &run, &error), 0);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void check_name(const char *name, int code) {
    struct ledger_entry entry = entry_of(name, 1, 0.1);
    assert_int_equal(reserve_entry(path, &entry, 0), code);
    unlink(path);
    unlink(lock_path);
}

static void test_names(void **state) {
    (void)state;
    static const char *const bad[] = {"",         " a",       "a ",          "a\nb",
                                      "a\tb",     "\x7f",     "\xff",        "a\xc3",
                                      "\xc2\x85", "\x1b[31m", "\xe2\x80\xa8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_name(bad[i], DPMF_ERR_USAGE_VALUE);
    static const char *const good[] = {
        "a", "a b", "Zuschauer \xc3\xbc", "\"quoted\" \\ back", "{}", "\xf0\x9f\x8e\xac"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) check_name(good[i], 0);
    struct ledger_entry entry = entry_of("a", 1, 0.1);
    memset(entry.population, 'x', sizeof entry.population); /* without an end */
    assert_int_equal(reserve_entry(path, &entry, 0), DPMF_ERR_USAGE_VALUE);
    entry.population[LEDGER_NAME_MAX] = '\0';
    assert_int_equal(reserve_entry(path, &entry, 0), 0);
    assert_string_equal(look().entries[0].population, entry.population);
}

static void test_names_come_back(void **state) {
    (void)state;
    assert_int_equal(reserve("\"quoted\" \\ \xc3\xbc", 1, 0.1, 3), 0);
    assert_string_equal(look().entries[0].population, "\"quoted\" \\ \xc3\xbc");
    assert_true(sum_of("\"quoted\" \\ \xc3\xbc").found.budget.epsilon == 3);
}

static void test_values(void **state) {
    (void)state;
    static const struct {
        double mu, delta, epsilon;
    } bad[] = {{0, 1e-5, 1},    {-1, 1e-5, 1},   {NAN, 1e-5, 1},   {INFINITY, 1e-5, 1},
               {1e10, 1e-5, 1}, {0.1, 0, 1},     {0.1, 1, 1},      {0.1, NAN, 1},
               {0.1, -1e-5, 1}, {0.1, 1e-5, -1}, {0.1, 1e-5, NAN}, {0.1, 1e-5, INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ledger_entry entry = entry_of("a", 1, bad[i].mu);
        entry.delta = bad[i].delta;
        entry.epsilon = bad[i].epsilon;
        assert_int_equal(reserve_entry(path, &entry, 0), DPMF_ERR_USAGE_VALUE);
    }
    struct ledger_entry entry = entry_of("a", 1, 0.1);
    memset(entry.id, 'f', sizeof entry.id);
    assert_int_equal(reserve_entry(path, &entry, 0), DPMF_ERR_USAGE_VALUE);
    snprintf(entry.id, sizeof entry.id, "%032X", 0xABCu);
    assert_int_equal(reserve_entry(path, &entry, 0), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(temp_dir_count(&dir), 0);
    assert_int_equal(reserve("a", 1, 1e9, 0),
                     0); /* huge, but a number: recorded, and fits no budget */
    assert_int_equal(reserve("a", 2, 0.1, 1e9), DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve("tiny", 3, 5e-324, 1), 0);
}

static void test_clock(void **state) {
    (void)state;
    static const int64_t times[] = {1700000000, 1600000000, -5, INT64_MAX, INT64_MIN, 0};
    for (unsigned i = 0; i < 6; i++) {
        struct ledger_entry entry = entry_of("a", i + 1, 0.1);
        entry.time = times[i];
        assert_int_equal(reserve_entry(path, &entry, 0), 0);
    }
    struct seen seen = look();
    assert_int_equal(seen.n, 6);
    for (unsigned i = 0; i < 6; i++) assert_string_equal(seen.entries[i].id, id_of(i + 1));
    assert_true(seen.entries[1].time == 1600000000 && seen.entries[2].time == 0);
    assert_true(seen.entries[5].time > 1700000000);
}

/* ---- the file -------------------------------------------------------------------------------- */

static mode_t mode_of(const char *file) {
    struct stat status;
    assert_int_equal(stat(file, &status), 0);
    return status.st_mode & 07777;
}

static void test_modes_and_directories(void **state) {
    (void)state;
    char above[TEMP_PATH_MAX], below[TEMP_PATH_MAX], file[TEMP_PATH_MAX], lock[TEMP_PATH_MAX];
    temp_dir_file(&dir, "state", above);
    temp_dir_file(&dir, "state/dpmf", below);
    temp_dir_file(&dir, "state/dpmf/ledger", file);
    temp_dir_file(&dir, "state/dpmf/ledger.lock", lock);
    struct ledger_entry entry = entry_of("a", 1, 0.1);
    mode_t old = umask(0);
    assert_int_equal(reserve_entry(file, &entry, 0), 0);
    umask(old);
    assert_int_equal(mode_of(above), 0700);
    assert_int_equal(mode_of(below), 0700);
    assert_int_equal(mode_of(file), 0600);
    assert_int_equal(mode_of(lock), 0600);
    unlink(file), unlink(lock), rmdir(below), rmdir(above);
}

static void test_default_path(void **state) {
    (void)state;
    char *home = getenv("HOME"), *kept = home ? strdup(home) : NULL;
    setenv("HOME", "/h", 1);
    setenv("XDG_STATE_HOME", "/x", 1);
    const struct dpmf_budget one = {.mu = 1};
    char *found = dpmf_ledger_path();
    assert_string_equal(found, "/x/dpmf/ledger");
    free(found);
    setenv("XDG_STATE_HOME", "relative", 1);
    found = dpmf_ledger_path();
    assert_string_equal(found, "/h/.local/state/dpmf/ledger");
    free(found);
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    assert_null(dpmf_ledger_path());
    assert_int_equal(dpmf_ledger_init(NULL, NULL, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(dpmf_ledger_return(NULL, id_of(1), NULL, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(dpmf_ledger_set_budget(NULL, "a", &one, NULL, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(dpmf_ledger_visit(NULL, NULL, add_up, NULL, &error), DPMF_ERR_IO_MISSING);
    if (kept) setenv("HOME", kept, 1);
    free(kept);
}

static void test_permissions(void **state) {
    (void)state;
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    struct seen seen = {0};
    static const mode_t bad[] = {0620, 0602, 0666};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(chmod(path, bad[i]), 0);
        assert_int_equal(reserve("a", 2, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
        assert_int_equal(entries_visit(path, see, &seen, &error), DPMF_ERR_PRIVACY_LEDGER);
    }
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);
    assert_int_equal(mode_of(path), 0600); /* private again */
    assert_int_equal(chmod(dir.path, 0777), 0);
    assert_int_equal(reserve("a", 3, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(chmod(dir.path, 01777), 0);
    assert_int_equal(reserve("a", 3, 0.1, 0), 0);
}

static void test_links(void **state) {
    (void)state;
    char link[TEMP_PATH_MAX];
    temp_dir_file(&dir, "link", link);
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    assert_int_equal(symlink(path, link), 0);
    struct ledger_entry entry = entry_of("a", 2, 0.1);
    assert_int_equal(reserve_entry(link, &entry, 0), 0);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode)); /* the ledger was replaced where it is */
    assert_int_equal(look().n, 2);
    assert_int_equal(temp_dir_count(&dir), 3); /* one ledger, one lock, one link */

    unlink(link);
    assert_int_equal(symlink("nowhere", link), 0);
    assert_int_equal(reserve_entry(link, &entry, 0), DPMF_ERR_PRIVACY_LEDGER);
    unlink(link);
    assert_int_equal(linkat(AT_FDCWD, path, AT_FDCWD, link, 0), 0);
    assert_int_equal(reserve("a", 3, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    unlink(link);
    assert_int_equal(reserve("a", 3, 0.1, 0), 0);
}

/* Its own files are no place for anything else, however they are spelt and whether they are there
 * or not. */
static void test_claims(void **state) {
    char link[TEMP_PATH_MAX], longer[TEMP_PATH_MAX], other[TEMP_PATH_MAX];
    (void)state;
    temp_dir_file(&dir, "link", link);
    temp_dir_file(&dir, ".//ledger.lock", longer);
    temp_dir_file(&dir, "link.lock", other);
    for (int there = 0; there < 2; there++) {
        assert_int_equal(ledger_lock_claims(path, path, NULL), 1);
        assert_int_equal(ledger_lock_claims(path, lock_path, NULL), 1);
        assert_int_equal(ledger_lock_claims(path, longer, NULL), 1);
        assert_int_equal(ledger_lock_claims(path, other, NULL), 0);
        if (!there) assert_int_equal(reserve("p", 1, 0.1, 0), 0);
    }
    assert_int_equal(symlink("ledger", link), 0);
    assert_int_equal(ledger_lock_claims(link, lock_path, NULL), 1);
    assert_int_equal(ledger_lock_claims(path, link, NULL), 1);
    assert_int_equal(ledger_lock_claims(link, other, NULL), 0);
    assert_int_equal(ledger_lock_claims("", other, NULL), 0);
}

static void test_not_a_file(void **state) {
    (void)state;
    struct ledger_entry entry = entry_of("a", 1, 0.1);
    struct seen seen = {0};
    assert_int_equal(reserve_entry("", &entry, 0), DPMF_ERR_IO_MISSING);
    assert_int_equal(reserve_entry("/", &entry, 0), DPMF_ERR_IO_DIRECTORY);
    assert_int_equal(entries_visit(path, see, &seen, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(reserve("a", 1, 0.1, 0), DPMF_ERR_IO_DIRECTORY);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(reserve("a", 1, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(entries_visit(path, see, &seen, &error), DPMF_ERR_PRIVACY_LEDGER);
}

/* Someone else's file of the lock's name is left alone. */
static void test_foreign_lock(void **state) {
    (void)state;
    temp_dir_write(lock_path, "[package]\n", 10);
    assert_int_equal(reserve("a", 1, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    size_t n;
    char *text = temp_dir_read(lock_path, &n);
    assert_string_equal(text, "[package]\n");
    free(text);
    unlink(lock_path);
    assert_int_equal(symlink("elsewhere", lock_path), 0);
    assert_true(reserve("a", 1, 0.1, 0) < 0);
    unlink(lock_path);
    temp_dir_write(lock_path, "", 0);
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static void test_lost_and_old_ledgers(void **state) {
    (void)state;
    size_t n;
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    char *old = temp_dir_read(path, &n);
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);

    temp_dir_write(path, old, n); /* from a backup */
    chmod(path, 0600);
    struct seen seen = {0};
    assert_int_equal(reserve("a", 3, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_non_null(strstr(error.message, "old copy"));
    assert_int_equal(entries_visit(path, see, &seen, &error), DPMF_ERR_PRIVACY_LEDGER);
    unlink(path);
    assert_int_equal(reserve("a", 3, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_non_null(strstr(error.message, "gone"));
    assert_int_equal(entries_commit(path, id_of(1), NULL, &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(entries_visit(path, see, &seen, &error), DPMF_ERR_PRIVACY_LEDGER);

    temp_dir_write(path, old, n); /* what the hint says */
    chmod(path, 0600);
    unlink(lock_path);
    assert_int_equal(reserve("a", 3, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), 1);
    assert_int_equal(reserve("a", 3, 0.1, 0), 0);
    assert_int_equal(look().n, 2);
    free(old);
}

/* Without its lock file nothing tells whether a ledger is the newest copy: it is looked at, but
 * changes only once it was accepted. */
static void test_without_its_mark(void **state) {
    (void)state;
    struct ledger_view view;
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);
    unlink(lock_path);
    assert_int_equal(reserve("a", 3, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_non_null(strstr(error.hint, "{:ledger init"));
    assert_true(error.file[0] && error.line == 0 && error.column == 0); /* no place in it */
    assert_int_equal(ledger_return(path, NULL, id_of(2), &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(ledger_look(path, "a", &view, &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(look().n, 2);

    assert_int_equal(dpmf_ledger_init(path, NULL, &error), 1);
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), DPMF_ERR_PRIVACY_LEDGER); /* once */
    assert_int_equal(reserve("a", 3, 0.1, 0), 0);
    assert_int_equal(look().n, 3);
}

/* Not even of a ledger that was written once: it may be the copy that was made before everything
 * else. */
static void test_first_without_its_mark(void **state) {
    (void)state;
    struct ledger_view view;
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    unlink(lock_path);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(reserve("a", 2, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
        assert_int_equal(ledger_look(path, "a", &view, &error), DPMF_ERR_PRIVACY_LEDGER);
        assert_int_equal(look().n, 1);
        temp_dir_write(lock_path, "", 0); /* an empty one tells no more */
    }
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), 1);
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);
}

/* The lock of another ledger tells nothing about this one. */
static void test_lock_of_another(void **state) {
    (void)state;
    char other[TEMP_PATH_MAX], other_lock[TEMP_PATH_MAX];
    struct seen seen = {0};
    size_t n;
    temp_dir_file(&dir, "other", other);
    temp_dir_file(&dir, "other.lock", other_lock);
    struct ledger_entry entry = entry_of("a", 7, 0.1);
    assert_int_equal(reserve_entry(other, &entry, 0), 0);
    char *mark = temp_dir_read(other_lock, &n);
    for (unsigned i = 1; i <= 3; i++) assert_int_equal(reserve("a", i, 0.1, 0), 0);
    temp_dir_write(lock_path, mark, n);
    assert_int_equal(reserve("a", 4, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_non_null(strstr(error.message, "another ledger"));
    assert_int_equal(entries_visit(path, see, &seen, &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), DPMF_ERR_PRIVACY_LEDGER);
    memset(mark, '0', 20); /* claimed, and the other one never written */
    temp_dir_write(lock_path, mark, n);
    assert_int_equal(reserve("a", 4, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    unlink(lock_path); /* what the hint says */
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), 1);
    assert_int_equal(reserve("a", 4, 0.1, 0), 0);
    assert_int_equal(look().n, 4);
    free(mark);
    unlink(other), unlink(other_lock);
}

/* Killed after the lock was claimed: with the ledger in its place, and without. */
static void test_claimed(void **state) {
    (void)state;
    size_t n;
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    char *mark = temp_dir_read(lock_path, &n);
    memset(mark, '0', 20);
    temp_dir_write(lock_path, mark, n);
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);
    assert_int_equal(look().n, 2);
    unlink(path);
    temp_dir_write(lock_path, mark, n);
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    assert_int_equal(look().n, 1);
    free(mark);
}

/* Killed after the ledger was replaced and before that was noted. */
static void test_newer_than_its_mark(void **state) {
    (void)state;
    size_t n;
    assert_int_equal(reserve("a", 1, 0.1, 0), 0);
    char *mark = temp_dir_read(lock_path, &n);
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);
    temp_dir_write(lock_path, mark, n);
    free(mark);
    assert_int_equal(reserve("a", 3, 0.1, 0), 0);
    assert_int_equal(look().n, 3);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static char *some_ledger(size_t *n) {
    assert_int_equal(reserve("a", 1, 0.1, 5), 0);
    assert_int_equal(reserve("b \"x\"", 2, 0.25, 0), 0);
    assert_int_equal(reserve("a", 3, 0.3, 0), 0);
    assert_int_equal(entries_commit(path, id_of(2), NULL, &error), 0);
    assert_int_equal(ledger_return(path, NULL, id_of(3), &error), 0);
    return temp_dir_read(path, n);
}

static int parse(const char *text, size_t n) {
    struct ledger_book book;
    int code = ledger_book_parse(text, n, "ledger", &book, &error);
    ledger_book_free(&book);
    return code;
}

static void test_every_byte_matters(void **state) {
    (void)state;
    size_t n;
    char *text = some_ledger(&n);
    assert_int_equal(parse(text, n), 0);
    for (size_t i = 0; i < n; i++) {
        char kept = text[i];
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(kept ^ (1 << bit));
            assert_int_equal(parse(text, n), DPMF_ERR_PRIVACY_LEDGER);
            assert_true(error.hint[0] != '\0');
        }
        text[i] = kept;
    }
    for (size_t i = 0; i < n; i++) assert_int_equal(parse(text, i), DPMF_ERR_PRIVACY_LEDGER);
    free(text);
}

/* Whole lines left out, doubled or exchanged: their own checksums are right. */
static void test_every_line_matters(void **state) {
    (void)state;
    size_t n, starts[16], lines = 0;
    char *text = some_ledger(&n), *other = malloc(2 * n);
    assert_non_null(other);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || text[i - 1] == '\n') starts[lines++] = i;
    starts[lines] = n;
    assert_int_equal(lines, 6);
    for (size_t i = 0; i < lines; i++) {
        size_t from = starts[i], to = starts[i + 1];
        memcpy(other, text, from);
        memcpy(other + from, text + to, n - to);
        assert_int_equal(parse(other, n - (to - from)), DPMF_ERR_PRIVACY_LEDGER);
        memcpy(other, text, to);
        memcpy(other + to, text + from, n - from);
        assert_int_equal(parse(other, n + (to - from)), DPMF_ERR_PRIVACY_LEDGER);
        if (i + 1 == lines) continue;
        size_t next = starts[i + 2] - to;
        memcpy(other, text, n);
        memcpy(other + from, text + to, next);
        memcpy(other + from + next, text + from, to - from);
        assert_int_equal(parse(other, n), DPMF_ERR_PRIVACY_LEDGER);
    }
    free(other);
    free(text);
}

static void test_torn_file(void **state) {
    (void)state;
    size_t n;
    char *text = some_ledger(&n);
    temp_dir_write(path, text, n - 30);
    chmod(path, 0600);
    assert_int_equal(reserve("a", 4, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_non_null(strstr(error.message, "cut off"));
    assert_true(error.line == 6);
    temp_dir_write(path, "", 0);
    assert_int_equal(reserve("a", 4, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    temp_dir_write(path, "user,item,rating\n1,2,3\n", 23);
    assert_int_equal(reserve("a", 4, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
    assert_non_null(strstr(error.message, "not a ledger"));
    free(text);
}

static size_t seal_line(char *out, const char *line, uint64_t *seal) {
    size_t n = strlen(line) - 1;
    *seal = ledger_book_seal(line, n, *seal);
    return (size_t)sprintf(out, "%.*s,\"check\":\"%016llx\"}\n", (int)n, line,
                           (unsigned long long)*seal);
}

/* Lines with good checksums and no sense. */
static size_t seal_lines(const char *const *lines, char *text) {
    size_t n = 0;
    uint64_t seal = 0;
    for (; *lines; lines++) n += seal_line(text + n, *lines, &seal);
    return n;
}

static int parse_lines(const char *const *lines) {
    char text[4096];
    return parse(text, seal_lines(lines, text));
}

/* What is read is written again as it was, in the same version. */
static void assert_written_again(const char *const *lines) {
    char text[4096], *again;
    struct ledger_book book;
    const size_t n = seal_lines(lines, text);
    size_t n_again;
    assert_int_equal(ledger_book_parse(text, n, "ledger", &book, &error), 0);
    assert_int_equal(ledger_book_format(&book, &again, &n_again, &error), 0);
    assert_int_equal(n_again, n);
    assert_memory_equal(again, text, n);
    free(again);
    ledger_book_free(&book);
}

#define HEAD "{\"dpmf\":\"ledger\",\"version\":1,\"generation\":1}"
#define HEAD_2 "{\"dpmf\":\"ledger\",\"version\":2,\"generation\":1}"
#define HEAD_3 "{\"dpmf\":\"ledger\",\"version\":3,\"generation\":1}"
#define RUN(use)                                                                                   \
    "{\"run\":\"00000000000000000000000000000009\",\"population\":\"a\",\"use\":\"" use            \
    "\",\"time\":5}"
#define RELEASE_OF(kind, id, rest)                                                                 \
    "{\"release\":\"0000000000000000000000000000000" id "\",\"population\":\"a\",\"state\":\""     \
    "reserved\",\"kind\":\"" kind "\"," rest "}"
#define RELEASE(id, rest) RELEASE_OF("proven", id, rest)
#define FIGURES "\"mu\":0.1,\"delta\":0.00001,\"epsilon\":1,\"time\":5"

static void test_sealed_nonsense(void **state) {
    (void)state;
    static const char *const good[] = {HEAD, RELEASE("1", FIGURES), "{\"end\":1}", NULL};
    assert_int_equal(parse_lines(good), 0);
    static const char *const bad[][5] = {
        {HEAD, RELEASE("1", FIGURES), RELEASE("1", FIGURES), "{\"end\":2}", NULL}, /* twice */
        {HEAD, RELEASE("1", FIGURES), "{\"end\":2}", NULL},
        {HEAD, RELEASE("1", FIGURES), NULL},
        {HEAD, "{\"budget\":\"a\",\"epsilon\":1}", "{\"budget\":\"a\",\"epsilon\":2}",
         "{\"end\":2}", NULL},
        {HEAD, RELEASE("1", FIGURES), "{\"budget\":\"a\",\"epsilon\":1}", "{\"end\":2}", NULL},
        {HEAD, "{\"budget\":\"a\\n\",\"epsilon\":1}", "{\"end\":1}", NULL},
        {HEAD, "{\"budget\":\"a\",\"epsilon\":-1}", "{\"end\":1}", NULL},
        {HEAD, "{\"budget\":\"a\",\"epsilon\":1,\"more\":1}", "{\"end\":1}", NULL},
        {HEAD, RELEASE("1", "\"mu\":-0.1,\"delta\":0.00001,\"epsilon\":1,\"time\":5"),
         "{\"end\":1}", NULL},
        {HEAD, RELEASE("1", "\"mu\":0.10,\"delta\":0.00001,\"epsilon\":1,\"time\":5"),
         "{\"end\":1}", NULL},
        {HEAD, RELEASE("1", "\"mu\":1e999,\"delta\":0.00001,\"epsilon\":1,\"time\":5"),
         "{\"end\":1}", NULL},
        {HEAD, RELEASE("1", "\"mu\":0.1,\"mu\":0.2,\"delta\":0.00001,\"epsilon\":1,\"time\":5"),
         "{\"end\":1}", NULL},
        {HEAD, RELEASE("1", "\"mu\":0.1,\"delta\":0.00001,\"epsilon\":1"), "{\"end\":1}", NULL},
        {"{\"dpmf\":\"ledger\",\"version\":1,\"generation\":0}", "{\"end\":0}", NULL},
        {"{\"dpmf\":\"ledger\",\"version\":1}", "{\"end\":0}", NULL},
        {"{\"dpmf\":\"model\",\"version\":1,\"generation\":1}", "{\"end\":0}", NULL},
        {HEAD, "{\"end\":0}", "{\"end\":0}", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse_lines(bad[i]), DPMF_ERR_PRIVACY_LEDGER);
    static const char *const runs[] = {HEAD_2,
                                       "{\"budget\":\"a\",\"mu\":0.5}",
                                       RUN("research"),
                                       RELEASE("1", FIGURES),
                                       RELEASE_OF("partial", "2", FIGURES),
                                       "{\"end\":4}",
                                       NULL};
    assert_int_equal(parse_lines(runs), 0);
    static const char *const worse[][4] = {
        {HEAD, RUN("research"), "{\"end\":1}", NULL}, /* 0.1.0 knew of none */
        {HEAD, RELEASE_OF("partial", "1", FIGURES), "{\"end\":1}", NULL},
        {HEAD_2, RELEASE_OF("not private", "1", FIGURES), "{\"end\":1}", NULL},
        {HEAD_2, RUN("pleasure"), "{\"end\":1}", NULL},
        {HEAD_2, "{\"budget\":\"a\",\"epsilon\":1}", "{\"end\":1}", NULL},
        {HEAD_2, "{\"budget\":\"a\",\"mu\":0.5,\"epsilon\":1}", "{\"end\":1}", NULL},
        {HEAD_2, "{\"budget\":\"a\",\"mu\":0.5,\"epsilon\":1,\"delta\":0.00001}", "{\"end\":1}",
         NULL},
        {HEAD, "{\"budget\":\"a\",\"mu\":0.5}", "{\"end\":1}", NULL},
        {"{\"dpmf\":\"ledger\",\"version\":0,\"generation\":1}", "{\"end\":0}", NULL},
    };
    for (size_t i = 0; i < sizeof worse / sizeof worse[0]; i++)
        assert_int_equal(parse_lines(worse[i]), DPMF_ERR_PRIVACY_LEDGER);
    static const char *const newer[] = {"{\"dpmf\":\"ledger\",\"version\":4,\"generation\":1}",
                                        "{\"end\":0}", NULL};
    assert_int_equal(parse_lines(newer), DPMF_ERR_PRIVACY_LEDGER);
    assert_non_null(strstr(error.message, "newer"));
}

/* Periods are in version 3 alone, and a release says all of its own. */
static void test_sealed_periods(void **state) {
    (void)state;
    static const char *const good[][4] = {
        {HEAD_3, RELEASE("1", FIGURES ",\"since\":\"2026-01-01\",\"complete\":true"), "{\"end\":1}",
         NULL},
        {HEAD_3,
         RELEASE("1", FIGURES ",\"since\":\"2026-01-01\",\"before\":\"2026-07-01\","
                              "\"complete\":false"),
         "{\"end\":1}", NULL},
        {HEAD_3, RELEASE("1", FIGURES), "{\"end\":1}", NULL},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(parse_lines(good[i]), 0);
        assert_written_again(good[i]);
    }
    static const char *const bad[][4] = {
        {HEAD_2, RELEASE("1", FIGURES ",\"since\":\"2026-01-01\",\"complete\":true"), "{\"end\":1}",
         NULL},
        {HEAD_3, RELEASE("1", FIGURES ",\"since\":\"2026-01-01\""), "{\"end\":1}", NULL},
        {HEAD_3, RELEASE("1", FIGURES ",\"complete\":true"), "{\"end\":1}", NULL},
        {HEAD_3, RELEASE("1", FIGURES ",\"complete\":false"), "{\"end\":1}", NULL},
        {HEAD_3, RELEASE("1", FIGURES ",\"since\":\"2026-02-30\",\"complete\":true"), "{\"end\":1}",
         NULL},
        {HEAD_3, RELEASE("1", FIGURES ",\"since\":null,\"complete\":true"), "{\"end\":1}", NULL},
        {HEAD_3,
         RELEASE("1", FIGURES ",\"since\":\"2026-07-01\",\"before\":\"2026-07-01\","
                              "\"complete\":false"),
         "{\"end\":1}", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse_lines(bad[i]), DPMF_ERR_PRIVACY_LEDGER);
}

/* What would become too large to be read is not written. */
static void test_too_large(void **state) {
    (void)state;
    struct ledger_book book = {.generation = 1};
    char *text;
    size_t n;
    memset(&error, 0, sizeof error);
    for (unsigned i = 0; i < 50000; i++) {
        struct ledger_entry entry = entry_of("a", i, 0.1);
        assert_int_equal(ledger_book_add(&book, &entry, &error), 0);
    }
    assert_int_equal(ledger_book_format(&book, &text, &n, &error), DPMF_ERR_PRIVACY_LEDGER);
    book.n_entries = 30000;
    assert_int_equal(ledger_book_format(&book, &text, &n, &error), 0);
    assert_int_equal(parse(text, n), 0);
    free(text);
    ledger_book_free(&book);
}

/* ---- a new ledger, other runs, and old ones -------------------------------------------------- */

static void test_made_on_purpose(void **state) {
    (void)state;
    struct ledger_entry entry = entry_of("a", 1, 0.1);
    const struct dpmf_budget one = {.mu = 1};
    assert_int_equal(ledger_reserve(path, NULL, false, &entry, NULL, &error), DPMF_ERR_IO_MISSING);
    assert_non_null(strstr(error.hint, "{:ledger init FILE}"));
    assert_int_equal(dpmf_ledger_set_budget(path, "a", &one, NULL, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(dpmf_ledger_record_tuning(path, "a", NULL, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(temp_dir_count(&dir), 0);
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), 0);
    assert_int_equal(look().n, 0);
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(ledger_reserve(path, NULL, false, &entry, NULL, &error), 0);
    unlink(path); /* one that has vanished is not begun again */
    assert_int_equal(dpmf_ledger_init(path, NULL, &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, NULL, &error),
                     DPMF_ERR_PRIVACY_LEDGER);
}

static void test_other_runs(void **state) {
    (void)state;
    struct ledger_entry run = entry_of("a", 7, 3);
    struct dpmf_ledger_population spent;
    run.state = LEDGER_RESEARCH;
    assert_int_equal(reserve("a", 1, 0.2, 1), 0);
    assert_int_equal(ledger_record(path, NULL, false, &run, &spent, &error), 0);
    assert_true(spent.research == 1 && spent.reserved == 1 && spent.mu == 0.2);
    assert_int_equal(ledger_record(path, NULL, false, &run, NULL, &error),
                     DPMF_ERR_PRIVACY_REFUSED);
    assert_int_equal(dpmf_ledger_record_tuning(path, "a", NULL, &error), 0);
    assert_int_equal(dpmf_ledger_record_tuning(path, "", NULL, &error), DPMF_ERR_USAGE_VALUE);
    struct sum sum = sum_of("a");
    assert_int_equal(sum.entries, 3);
    assert_true(sum.found.research == 1 && sum.found.tuning == 1 && sum.found.mu == 0.2);
    /* They are no reservations. */
    assert_int_equal(ledger_return(path, NULL, id_of(7), &error), DPMF_ERR_PRIVACY_LEDGER);
    assert_int_equal(entries_commit(path, id_of(7), NULL, &error), DPMF_ERR_PRIVACY_LEDGER);
    /* What is returned counts for nothing, and its share is known. */
    assert_int_equal(reserve("a", 2, 0.1, 0), 0);
    double mu[] = {0.2, 0.1};
    assert_int_equal(ledger_return(path, NULL, id_of(2), &error), 0);
    sum = sum_of("a");
    assert_true(sum.found.mu == 0.2 && sum.found.returned == 1);
    assert_true(sum.found.mu_with_returned == accountant_compose(mu, 2));
    assert_int_equal(entries_commit(path, id_of(1), &spent, &error), 0);
    assert_true(spent.committed == 1 && spent.mu == 0.2 && spent.budget.epsilon == 1);
}

static void test_what_is_new(void **state) {
    (void)state;
    struct ledger_view view;
    assert_int_equal(ledger_look(path, "a", &view, &error), 0);
    assert_false(view.is_there || view.is_known);
    assert_int_equal(reserve("a", 1, 0.2, 0), 0);
    assert_int_equal(set_budget("b", 1), 0);
    assert_int_equal(reserve("b", 2, 0.1, 0), 0);
    assert_int_equal(ledger_look(path, "a", &view, &error), 0);
    assert_true(view.is_there && view.is_known && view.others == 1 && view.population.mu == 0.2);
    assert_int_equal(ledger_look(path, "c", &view, &error), 0);
    assert_true(view.is_there && !view.is_known && view.others == 2 && view.population.mu == 0);
    assert_string_equal(view.population.name, "c");
}

/* A ledger of 0.1.0 is read as it is, but for what it calls proven without knowing, and written in
 * the version of today, which 0.1.0 refuses. */
static void test_old_ledgers(void **state) {
    (void)state;
    static const char *const lines[] = {
        HEAD,
        "{\"budget\":\"a\",\"epsilon\":5}",
        "{\"budget\":\"new\",\"epsilon\":2}",
        "{\"release\":\"00000000000000000000000000000001\",\"population\":\"a\",\"state\":"
        "\"committed\",\"kind\":\"proven\",\"mu\":0.2,\"delta\":1e-7,\"epsilon\":1,\"time\":"
        "5}",
        "{\"release\":\"00000000000000000000000000000002\",\"population\":\"a\",\"state\":"
        "\"reserved\",\"kind\":\"proven\",\"mu\":0.5,\"delta\":0.4,\"epsilon\":1,\"time\":5}",
        "{\"end\":4}",
        NULL};
    char text[4096];
    size_t n = seal_lines(lines, text);
    temp_dir_write(path, text, n);
    temp_dir_write(lock_path, "00000000000000000001\n", 21);
    chmod(path, 0600);
    struct sum sum = sum_of("a");
    assert_true(sum.found.budget.epsilon == 5 && sum.found.budget.delta == 1e-7);
    assert_true(sum.found.budget.mu == accountant_mu(5, 1e-7));
    assert_true(sum_of("new").found.budget.delta == 1e-5);
    assert_int_equal(sum.found.claim, DPMF_CLAIM_PARTIAL);
    assert_int_equal(reserve("a", 3, 2, 0), DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(reserve("a", 3, 0.1, 0), 0);
    assert_true(sum_of("a").entries == 3 && sum_of("a").found.budget.mu == sum.found.budget.mu);
    char *now = temp_dir_read(path, &n);
    assert_non_null(strstr(now, "\"version\":2,\"generation\":2,"));
    assert_non_null(strstr(now, "\"kind\":\"partial\",\"mu\":0.2,"));
    assert_non_null(strstr(now, "\"kind\":\"proven\",\"mu\":0.1,"));
    free(now);
    /* Killed before it was noted that it has an id now, and once more later. */
    temp_dir_write(lock_path, "00000000000000000001\n", 21);
    assert_int_equal(reserve("a", 4, 0.1, 0), 0);
    temp_dir_write(lock_path, "00000000000000000001\n", 21);
    assert_int_equal(reserve("a", 5, 0.1, 0), DPMF_ERR_PRIVACY_LEDGER);
}

/* ---- visits ---------------------------------------------------------------------------------- */

static int stop_at_once(void *self, const struct dpmf_ledger_population *population,
                        const struct dpmf_ledger_entry *entry) {
    (void)self, (void)population;
    return entry != NULL ? 7 : 0;
}

static void test_visit(void **state) {
    (void)state;
    size_t n;
    free(some_ledger(&n));
    struct sum sum = {.wanted = "b \"x\""};
    assert_int_equal(dpmf_ledger_visit(path, "b \"x\"", add_up, &sum, &error), 0);
    assert_int_equal(sum.populations, 1);
    assert_int_equal(sum.entries, 1);
    assert_int_equal(sum.found.committed, 1);
    sum = (struct sum){.wanted = "a"};
    assert_int_equal(dpmf_ledger_visit(path, NULL, add_up, &sum, &error), 0);
    assert_int_equal(sum.populations, 2);
    assert_int_equal(sum.entries, 3);
    sum = (struct sum){.wanted = "c"};
    assert_int_equal(dpmf_ledger_visit(path, "c", add_up, &sum, &error), 0);
    assert_int_equal(sum.populations, 0);
    assert_int_equal(dpmf_ledger_visit(path, NULL, stop_at_once, NULL, &error), 7);
}

/* Errors are returned to callers that want no words. */
static void test_without_words(void **state) {
    (void)state;
    struct ledger_entry entry = entry_of("a", 1, 5);
    const struct dpmf_budget budget = budget_of(1);
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, &budget, NULL),
                     DPMF_ERR_PRIVACY_BUDGET);
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, NULL, NULL), 0);
    assert_int_equal(ledger_reserve(path, NULL, true, &entry, NULL, NULL),
                     DPMF_ERR_PRIVACY_REFUSED);
    assert_int_equal(entries_commit(path, "x", NULL, NULL), DPMF_ERR_PRIVACY_LEDGER);
    temp_dir_write(path, "{", 1);
    assert_int_equal(entries_commit(path, "x", NULL, NULL), DPMF_ERR_PRIVACY_LEDGER);
    unlink(path);
    assert_int_equal(entries_commit(path, "x", NULL, NULL), DPMF_ERR_PRIVACY_LEDGER);
    unlink(lock_path);
    assert_int_equal(entries_commit(path, "x", NULL, NULL), DPMF_ERR_IO_MISSING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_life_of_a_release),
        TEST(test_returned_counts_for_nothing),
        TEST(test_no_commit_after_return),
        TEST(test_unknown_ids),
        TEST(test_budget_is_exact),
        TEST(test_one_release_costs_what_it_claims),
        TEST(test_budget_given),
        TEST(test_budget_before_any_release),
        TEST(test_delta_hides_nothing),
        TEST(test_budget_is_a_mu),
        TEST(test_budget_words),
        TEST(test_invisible_names),
        TEST(test_names_alike),
        TEST(test_conditional),
        TEST(test_partial),
        TEST(test_periods_add_up),
        TEST(test_complete_periods),
        TEST(test_budget_of_periods),
        TEST(test_pure_periods),
        TEST(test_sealed_periods),
        TEST(test_pure),
        TEST(test_names),
        TEST(test_names_come_back),
        TEST(test_values),
        TEST(test_clock),
        TEST(test_modes_and_directories),
        TEST(test_default_path),
        TEST(test_permissions),
        TEST(test_links),
        TEST(test_claims),
        TEST(test_not_a_file),
        TEST(test_foreign_lock),
        TEST(test_without_its_mark),
        TEST(test_first_without_its_mark),
        TEST(test_lock_of_another),
        TEST(test_claimed),
        TEST(test_publish),
        TEST(test_wait),
        TEST(test_lost_and_old_ledgers),
        TEST(test_newer_than_its_mark),
        TEST(test_every_byte_matters),
        TEST(test_every_line_matters),
        TEST(test_torn_file),
        TEST(test_sealed_nonsense),
        TEST(test_too_large),
        TEST(test_made_on_purpose),
        TEST(test_other_runs),
        TEST(test_what_is_new),
        TEST(test_old_ledgers),
        TEST(test_visit),
        TEST(test_without_words),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
