/*
 * What may be claimed of a release: the one function that decides it. Statement, report,
 * verification, page, export and ledger all show its result.
 */
#ifndef DPMF_STATEMENT_CLAIM_H
#define DPMF_STATEMENT_CLAIM_H

#include "statement/statement.h"

/* What the promise of a statement rests on beside the proof, from its contents alone: bits of
 * dpmf_assumption. */
unsigned claim_assumptions(const struct statement *statement);

/* The kind of a statement, from its contents alone. */
enum dpmf_claim claim_of(const struct statement *statement);

#endif
