/*
 * The ledger: reserving, committing and returning releases, recording other runs, and setting
 * budgets. Every change is made whole or not at all (ledger_change.c). Fed by whatever makes
 * releases, and by the public functions at the end of this file, which `dpmf ledger` calls.
 */
#define _GNU_SOURCE
#include "ledger/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "ledger/ledger_budget.h"
#include "ledger/ledger_change.h"
#include "ledger/ledger_name.h"
#include "random/random.h"

/* ---- where it is ----------------------------------------------------------------------------- */

/* The directory that the user's own is in, or NULL; `rest` is what comes behind it. A relative one
 * is ignored, as the standard says. The environment of a program with rights of its own is not
 * believed. */
static const char *own_place(const char **rest) {
    const char *state = secure_getenv("XDG_STATE_HOME"), *home = secure_getenv("HOME");
    const bool has_state = state && state[0] == '/';
    *rest = has_state ? "/dpmf/ledger" : "/.local/state/dpmf/ledger";
    if (has_state) return state;
    return home && home[0] == '/' ? home : NULL;
}

int ledger_find(const char *given, char **path, struct dpmf_error *error) {
    const char *rest = "", *base = given ? given : own_place(&rest);
    *path = NULL;
    if (!base) {
        error_set(error, DPMF_ERR_IO_MISSING, "there is no home directory to find a ledger in");
        error_hint(error, "name the ledger");
        return DPMF_ERR_IO_MISSING;
    }
    size_t size = strlen(base) + strlen(rest) + 1;
    *path = memory_alloc(size, 1);
    if (!*path) return error_no_memory(error);
    snprintf(*path, size, "%s%s", base, rest);
    return 0;
}

/* ---- reserving ------------------------------------------------------------------------------- */

static int refuse_value(struct dpmf_error *error, const char *what) {
    return error_set(error, DPMF_ERR_USAGE_VALUE, "%s", what);
}

static int refuse_name(const char *fault, struct dpmf_error *error) {
    if (!fault) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_VALUE, "the population's name %s", fault);
    error_hint(error, "name it in a few words, for example movies-2024");
    return code;
}

static int check_name(const char *population, struct dpmf_error *error) {
    return refuse_name(ledger_name_fault(population), error);
}

/* Two budgets for one population, by a slip of the hand or by someone's wish. */
static int refuse_alike(const char *population, const char *other, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "population \"%.130s\" looks like \"%.130s\", which the ledger knows, and would have "
              "a budget of its own",
              population, other);
    error_hint(error,
               "give {population %.130s} if it is that one, or a name that cannot be confused with "
               "it",
               other);
    return DPMF_ERR_PRIVACY_REFUSED;
}

/* A name that the ledger knows is known for good, however it looks. */
static int check_new_name(const struct ledger_book *book, const char *population,
                          struct dpmf_error *error) {
    if (ledger_book_knows(book, population)) return 0;
    int code = refuse_name(ledger_new_name_fault(population), error);
    if (code < 0) return code;
    for (size_t i = 0; i < book->n_entries; i++)
        if (ledger_names_are_alike(population, book->entries[i].population))
            return refuse_alike(population, book->entries[i].population, error);
    for (size_t i = 0; i < book->n_budgets; i++)
        if (ledger_names_are_alike(population, book->budgets[i].population))
            return refuse_alike(population, book->budgets[i].population, error);
    return 0;
}

static int check_budget(const struct dpmf_budget *budget, struct dpmf_error *error) {
    if (budget->mu == 0 || ledger_budget_is_valid(budget)) return 0;
    int code = refuse_value(error, "a budget is a mu above 0, or an epsilon at a delta");
    error_hint(error, "for example 1.1, or 5@1e-5");
    return code;
}

/* Four decimals, rounded up as every figure of what is spent. */
static const char *figure_text(double figure, char text[DPMF_DOUBLE_TEXT_MAX]) {
    double up = dpmf_round_decimals(figure, 4, true);
    if (isfinite(up))
        dpmf_format_double(up, text);
    else
        memcpy(text, "infinity", sizeof "infinity");
    return text;
}

static void tell_spending(const struct dpmf_ledger_population *before,
                          const struct dpmf_ledger_population *after, struct dpmf_error *error) {
    char mu[DPMF_DOUBLE_TEXT_MAX], mu_after[DPMF_DOUBLE_TEXT_MAX];
    char epsilon[DPMF_DOUBLE_TEXT_MAX], epsilon_after[DPMF_DOUBLE_TEXT_MAX];
    const struct dpmf_budget *budget = &after->budget;
    figure_text(before->mu, mu);
    figure_text(after->mu, mu_after);
    figure_text(before->epsilon, epsilon);
    figure_text(after->epsilon, epsilon_after);
    if (budget->epsilon > 0)
        error_set(error, DPMF_ERR_PRIVACY_BUDGET,
                  "population \"%s\" has spent epsilon %s of %g at delta %g; with this release it "
                  "would be %s (mu %s of %.6g)",
                  after->name, epsilon, budget->epsilon, budget->delta, epsilon_after, mu_after,
                  budget->mu);
    else
        error_set(error, DPMF_ERR_PRIVACY_BUDGET,
                  "population \"%s\" has spent mu %s of %g; with this release it would be %s "
                  "(epsilon %s at delta %g)",
                  after->name, mu, budget->mu, mu_after, epsilon_after, after->delta);
}

static int refuse_spending(const struct dpmf_ledger_population *before,
                           const struct dpmf_ledger_population *after, struct dpmf_error *error) {
    tell_spending(before, after, error);
    if (before->reserved > 0)
        error_hint(error,
                   "ask for a smaller epsilon, or return what was reserved but never published "
                   "(%llu): {:ledger show}",
                   (unsigned long long)before->reserved);
    else
        error_hint(error, "ask for a smaller epsilon, or allow the population more: "
                          "{:ledger budget NAME MU}");
    return DPMF_ERR_PRIVACY_BUDGET;
}

/* A budget that is given may tighten the recorded one, never loosen it in passing. */
static int settle_budget(struct ledger_book *book, const char *population,
                         const struct dpmf_budget *budget, struct dpmf_error *error) {
    const struct dpmf_budget recorded = ledger_book_budget(book, population);
    if (budget->mu == 0) return 0;
    if (recorded.mu > 0 && budget->mu > recorded.mu) {
        int code = error_set(error, DPMF_ERR_PRIVACY_BUDGET,
                             "population \"%s\" has a budget of mu %.6g, and this asks for %.6g",
                             population, recorded.mu, budget->mu);
        error_hint(error, "leave the budget out, or raise it first: {:ledger budget NAME MU}");
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
static int spend(struct ledger_book *book, const struct ledger_entry *entry,
                 const struct dpmf_budget *given, struct dpmf_error *error) {
    struct dpmf_ledger_population before, after;
    if (ledger_book_find(book, entry->id)) return refuse_known_id(entry, error);
    int code = settle_budget(book, entry->population, given, error);
    if (code == 0) code = ledger_book_total(book, entry->population, NULL, &before, error);
    if (code == 0) code = ledger_book_total(book, entry->population, entry, &after, error);
    if (code != 0) return code;
    if (!ledger_budget_allows(&after)) return refuse_spending(&before, &after, error);
    return ledger_book_add(book, entry, error);
}

/* A clock that is wrong is no reason to refuse; the order of the entries does not depend on it. */
static int64_t sane_time(int64_t given) {
    const int64_t last = INT64_C(253402300799); /* last second of the year 9999 */
    int64_t moment = given != 0 ? given : (int64_t)time(NULL);
    return moment < 0 ? 0 : moment > last ? last : moment;
}

/* An entry that can be written down, of what is given. */
static int make_entry(const struct ledger_entry *given, enum ledger_state state,
                      struct ledger_entry *entry, struct dpmf_error *error) {
    int code = check_name(given->population, error);
    if (code < 0) return code;
    *entry = (struct ledger_entry){.state = state, .time = sane_time(given->time)};
    snprintf(entry->population, sizeof entry->population, "%s", given->population);
    memcpy(entry->id, given->id, sizeof entry->id);
    if (ledger_is_release(entry)) {
        entry->claim = given->claim;
        entry->mu = given->mu;
        entry->delta = given->delta;
        entry->epsilon = given->epsilon;
        entry->cohort = given->cohort;
    }
    const char *fault = ledger_entry_fault(entry);
    return fault ? refuse_value(error, fault) : 0;
}

int ledger_reserve(const char *path, const struct dpmf_run *run, bool may_make,
                   const struct ledger_entry *given, const struct dpmf_budget *budget,
                   struct dpmf_error *error) {
    static const struct dpmf_budget none;
    struct ledger_change change;
    struct ledger_entry entry;
    int code = make_entry(given, LEDGER_RESERVED, &entry, error);
    if (!budget) budget = &none;
    if (code == 0) code = check_budget(budget, error);
    if (code < 0) return code;
    code = ledger_change_begin(&change, path, run, may_make, error);
    if (code == 0) code = check_new_name(&change.book, entry.population, error);
    if (code == 0) code = spend(&change.book, &entry, budget, error);
    if (code == 0) code = ledger_change_save(&change, error);
    ledger_change_end(&change);
    return code;
}

int ledger_record(const char *path, const struct dpmf_run *run, bool may_make,
                  const struct ledger_entry *given, struct dpmf_ledger_population *spent,
                  struct dpmf_error *error) {
    struct ledger_change change;
    struct ledger_entry entry;
    struct dpmf_ledger_population unwanted;
    int code = make_entry(given, given->state, &entry, error);
    if (code < 0) return code;
    code = ledger_change_begin(&change, path, run, may_make, error);
    if (code == 0) code = check_new_name(&change.book, entry.population, error);
    if (code == 0 && ledger_book_find(&change.book, entry.id))
        code = refuse_known_id(&entry, error);
    if (code == 0) code = ledger_book_add(&change.book, &entry, error);
    if (code == 0)
        code = ledger_book_total(&change.book, given->population, NULL, spent ? spent : &unwanted,
                                 error);
    if (code == 0) code = ledger_change_save(&change, error);
    ledger_change_end(&change);
    return code;
}

/* ---- what became of it ----------------------------------------------------------------------- */

static int find_entry(const struct ledger_change *change, const char *id,
                      struct ledger_entry **entry, struct dpmf_error *error) {
    *entry = ledger_book_find(&change->book, id);
    if (*entry && ledger_is_release(*entry)) return 0;
    int code =
        error_set(error, DPMF_ERR_PRIVACY_LEDGER, "the ledger knows no release \"%.64s\"", id);
    error_hint(error, "{:ledger show} lists the releases with their ids");
    error_place(error, change->lock.path, 0, 0);
    return code;
}

/* Writes down that the release is out, and what its population has spent then. */
static int enter_commit(struct ledger_change *change, struct ledger_entry *entry,
                        struct dpmf_ledger_population *spent, struct dpmf_error *error) {
    struct dpmf_ledger_population unwanted;
    const bool was_committed = entry->state == LEDGER_COMMITTED;
    if (!spent) spent = &unwanted;
    entry->state = LEDGER_COMMITTED;
    int code = ledger_book_total(&change->book, entry->population, NULL, spent, error);
    spent->name = NULL; /* it goes with the book */
    return code == 0 && !was_committed ? ledger_change_save(change, error) : code;
}

static int refuse_returned(const struct ledger_entry *entry, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                         "the reservation of release %s was returned during its run: "
                         "nothing is published",
                         entry->id);
    error_hint(error, "run it again, and return only reservations of runs that have ended");
    return code;
}

int ledger_publish(const char *path, const struct dpmf_run *run, const char *id,
                   const struct ledger_publication *publication,
                   struct dpmf_ledger_population *spent, struct dpmf_error *error) {
    struct ledger_change change;
    struct ledger_entry *entry;
    int code = ledger_change_begin(&change, path, run, false, error);
    if (code == 0) code = find_entry(&change, id, &entry, error);
    if (code == 0 && !ledger_is_spent(entry)) code = refuse_returned(entry, error);
    if (code == 0) code = publication->publish(publication->self, error);
    if (code == 0) code = enter_commit(&change, entry, spent, error);
    ledger_change_end(&change);
    return code;
}

static int refuse_return(const struct ledger_entry *entry, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                         "release %s was published: what is public stays spent", entry->id);
    error_hint(error, "only a reservation can be returned");
    return code;
}

int ledger_return(const char *path, const struct dpmf_run *run, const char *id,
                  struct dpmf_error *error) {
    struct ledger_change change;
    struct ledger_entry *entry;
    int code = ledger_change_begin(&change, path, run, false, error);
    if (code == 0) code = find_entry(&change, id, &entry, error);
    if (code == 0 && entry->state == LEDGER_COMMITTED) code = refuse_return(entry, error);
    if (code == 0 && entry->state == LEDGER_RESERVED) {
        entry->state = LEDGER_RETURNED;
        code = ledger_change_save(&change, error);
    }
    ledger_change_end(&change);
    return code;
}

static bool is_one_budget(const struct dpmf_budget *a, const struct dpmf_budget *b) {
    return a->mu == b->mu && a->epsilon == b->epsilon && a->delta == b->delta;
}

static int set_budget(const char *path, const struct dpmf_run *run, bool may_make,
                      const char *population, const struct dpmf_budget *budget,
                      struct dpmf_error *error) {
    struct ledger_change change;
    int code = check_name(population, error);
    if (code == 0) code = check_budget(budget, error);
    if (code < 0) return code;
    code = ledger_change_begin(&change, path, run, may_make && budget->mu > 0, error);
    if (code == 0) code = check_new_name(&change.book, population, error);
    const struct dpmf_budget recorded = ledger_book_budget(&change.book, population);
    if (code == 0 && !is_one_budget(&recorded, budget)) {
        code = ledger_book_set_budget(&change.book, population, budget, error);
        if (code == 0) code = ledger_change_save(&change, error);
    }
    ledger_change_end(&change);
    return code;
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Whether the i-th entry is the first of its population, which has no budget that was met
 * before. */
static bool is_first(const struct ledger_book *book, size_t i) {
    const char *name = book->entries[i].population;
    if (ledger_book_budget(book, name).mu > 0) return false;
    for (size_t j = 0; j < i; j++)
        if (strcmp(book->entries[j].population, name) == 0) return false;
    return true;
}

static uint64_t count_others(const struct ledger_book *book, const char *population) {
    uint64_t n = 0;
    for (size_t i = 0; i < book->n_budgets; i++)
        n += strcmp(book->budgets[i].population, population) != 0;
    for (size_t i = 0; i < book->n_entries; i++)
        n += strcmp(book->entries[i].population, population) != 0 && is_first(book, i);
    return n;
}

int ledger_look(const char *path, const char *population, struct ledger_view *view,
                struct dpmf_error *error) {
    struct ledger_change change = {0};
    memset(view, 0, sizeof *view);
    view->population.name = population;
    int code = ledger_lock_find(path, &change.lock, error);
    if (code == 0) code = ledger_change_read(&change.lock, false, &change.book, error);
    /* It may have been made since its mark was looked for, and had one before it was there. */
    if (code == 0 && ledger_change_is_unmarked(&change.lock, &change.book))
        ledger_lock_peek(&change.lock);
    if (code == 0) code = ledger_change_check(&change.lock, &change.book, error);
    if (code == 0) code = check_new_name(&change.book, population, error);
    if (code == 0) {
        view->is_there = change.book.generation > 0;
        view->is_known = ledger_book_knows(&change.book, population);
        view->others = count_others(&change.book, population);
        code = ledger_book_total(&change.book, population, NULL, &view->population, error);
    }
    ledger_change_end(&change);
    return code;
}

/* ---- for everyone ---------------------------------------------------------------------------- */

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
        char since[DAY_TEXT], before[DAY_TEXT];
        cohort_dates(&entry->cohort, since, before);
        const struct dpmf_ledger_entry shown = {
            .id = entry->id,
            .state = (enum dpmf_ledger_state)entry->state,
            .claim = entry->claim,
            .mu = entry->mu,
            .delta = entry->delta,
            .epsilon = entry->epsilon,
            .time = entry->time,
            .users_since = since,
            .users_before = before,
            .complete_histories = entry->cohort.is_complete,
        };
        int code = visit->take(visit->self, population, &shown);
        if (code != 0) return code;
    }
    return 0;
}

static int visit_population(const struct visit *visit, const char *name, struct dpmf_error *error) {
    struct dpmf_ledger_population shown;
    int code = ledger_book_total(visit->book, name, NULL, &shown, error);
    if (code < 0) return code;
    code = visit->take(visit->self, &shown, NULL);
    return code != 0 ? code : visit_entries(visit, &shown);
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
    struct ledger_change change = {.lock = {.fd = -1}};
    char *place;
    int code = take ? 0 : arguments_check(error, "take", NULL);
    if (code < 0) return code;
    code = ledger_find(path, &place, error);
    if (code == 0) code = ledger_change_open(place, &change, error);
    const struct visit visit = {&change.book, take, self};
    if (code == 0) code = visit_all(&visit, population, error);
    ledger_change_end(&change);
    free(place);
    return code;
}

char *dpmf_ledger_path(void) {
    char *path;
    ledger_find(NULL, &path, NULL);
    return path;
}

static int refuse_second(const char *path, struct dpmf_error *error) {
    return ledger_refuse_file(error, path, "there is a ledger here already",
                              "use it as it is, or give another path");
}

int dpmf_ledger_init(const char *path, const struct dpmf_run *run, struct dpmf_error *error) {
    struct ledger_change change = {.lock = {.fd = -1}};
    struct dpmf_run own_run;
    char *place;
    int code = run_take(&own_run, run, error);
    if (code < 0) return code;
    code = ledger_find(path, &place, error);
    if (code == 0) code = ledger_change_begin_any(&change, place, &own_run, true, error);
    const bool is_accepted = code == 0 && ledger_change_is_unmarked(&change.lock, &change.book);
    if (code == 0 && change.book.generation > 0 && !is_accepted) code = refuse_second(place, error);
    if (code == 0) code = ledger_change_save(&change, error);
    ledger_change_end(&change);
    free(place);
    return code < 0 ? code : is_accepted;
}

int dpmf_ledger_return(const char *path, const char *id, const struct dpmf_run *run,
                       struct dpmf_error *error) {
    struct dpmf_run own_run;
    char *place;
    int code = arguments_check(error, "id", id);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    code = ledger_find(path, &place, error);
    if (code == 0) code = ledger_return(place, &own_run, id, error);
    free(place);
    return code;
}

int dpmf_ledger_set_budget(const char *path, const char *population,
                           const struct dpmf_budget *budget, const struct dpmf_run *run,
                           struct dpmf_error *error) {
    static const struct dpmf_budget none;
    struct dpmf_run own_run;
    char *place;
    int code = arguments_check(error, "population", population);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    code = ledger_find(path, &place, error);
    if (code == 0)
        code = set_budget(place, &own_run, !path, population, budget ? budget : &none, error);
    free(place);
    return code;
}

int dpmf_ledger_record_tuning(const char *path, const char *population, const struct dpmf_run *run,
                              struct dpmf_error *error) {
    struct ledger_entry entry = {.state = LEDGER_TUNING};
    struct dpmf_run own_run;
    uint8_t id[LEDGER_ID_BYTES];
    char *place;
    int code = arguments_check(error, "population", population);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code == 0) code = check_name(population, error);
    if (code == 0) code = random_from_system(id, sizeof id, error);
    if (code < 0) return code;
    ledger_id_write(id, entry.id);
    snprintf(entry.population, sizeof entry.population, "%s", population);
    code = ledger_find(path, &place, error);
    if (code == 0) code = ledger_record(place, &own_run, !path, &entry, NULL, error);
    free(place);
    return code;
}
