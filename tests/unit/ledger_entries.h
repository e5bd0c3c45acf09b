/*
 * The entries of a ledger as tests look at them, and a release that is published by doing nothing.
 * Both go through what programs use. Include after cmocka.
 */
#ifndef DPMF_TESTS_LEDGER_ENTRIES_H
#define DPMF_TESTS_LEDGER_ENTRIES_H

#include <stdio.h>

#include "ledger/ledger.h"

static inline int entries_publish_nothing(void *self, struct dpmf_error *error) {
    (void)self;
    (void)error;
    return 0;
}

/* Publishes and commits a reservation. `spent` may be NULL. */
static inline int entries_commit(const char *path, const char *id,
                                 struct dpmf_ledger_population *spent, struct dpmf_error *error) {
    const struct ledger_publication publication = {.publish = entries_publish_nothing};
    return ledger_publish(path, NULL, id, &publication, spent, error);
}

struct entries_taker {
    int (*take)(void *self, const struct ledger_entry *entry);
    void *self;
};

static inline int entries_take(void *self, const struct dpmf_ledger_population *population,
                               const struct dpmf_ledger_entry *shown) {
    const struct entries_taker *taker = self;
    if (!shown) return 0;
    struct ledger_entry entry = {.state = (enum ledger_state)shown->state,
                                 .claim = shown->claim,
                                 .mu = shown->mu,
                                 .delta = shown->delta,
                                 .epsilon = shown->epsilon,
                                 .time = shown->time};
    snprintf(entry.population, sizeof entry.population, "%s", population->name);
    snprintf(entry.id, sizeof entry.id, "%s", shown->id);
    return taker->take(taker->self, &entry);
}

/* All entries, those of a population together. */
static inline int entries_visit(const char *path,
                                int (*take)(void *self, const struct ledger_entry *entry),
                                void *self, struct dpmf_error *error) {
    struct entries_taker taker = {take, self};
    return dpmf_ledger_visit(path, NULL, entries_take, &taker, error);
}

#endif
