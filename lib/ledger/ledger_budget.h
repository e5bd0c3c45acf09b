/*
 * Budgets: how much a population may spend in all. A budget is a mu. It may have been declared as
 * an epsilon at a delta, which is how it is then shown; and what is within that is within the
 * budget, too.
 */
#ifndef DPMF_LEDGER_LEDGER_BUDGET_H
#define DPMF_LEDGER_LEDGER_BUDGET_H

#include "dpmf.h"

/* The delta at which sums are shown where none was declared. */
#define LEDGER_USUAL_DELTA 1e-5

/* Whether a budget may be recorded: a mu that, where it was declared as an epsilon at a delta,
 * keeps it. */
bool ledger_budget_is_valid(const struct dpmf_budget *budget);

/* The largest mu that keeps epsilon at delta; mu 0 when there is none. */
struct dpmf_budget ledger_budget_declare(double epsilon, double delta);

/* Whether what a population has spent, its epsilon being at the budget's delta if that has one, is
 * within its budget. Either bound is enough: releases without a delta may be few in epsilon and
 * many in mu. A sum that is NaN is not within it. */
bool ledger_budget_allows(const struct dpmf_ledger_population *spent);

#endif
