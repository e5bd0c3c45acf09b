/*
 * Names of populations. Each has a budget of its own, so two names must not look the same.
 */
#ifndef DPMF_LEDGER_LEDGER_NAME_H
#define DPMF_LEDGER_LEDGER_NAME_H

#include <stdbool.h>

/* What is wrong with the name of a population that a ledger holds, or NULL. */
const char *ledger_name_fault(const char *name);

/* The same for a name that is new to a ledger: besides, every character of it can be seen and is
 * written in one way alone. Ledgers of 0.1.0 may have others, which stay as they are. */
const char *ledger_new_name_fault(const char *name);

/* Whether people may take two names of populations for one: by capitals, by what separates words,
 * or by letters and digits of the same shapes, of whatever alphabets. */
bool ledger_names_are_alike(const char *a, const char *b);

#endif
