/*
 * The parts of a statement for people that are different when it is conditional.
 */
#ifndef DPMF_STATEMENT_STATEMENT_CONDITIONAL_H
#define DPMF_STATEMENT_STATEMENT_CONDITIONAL_H

#include "statement/statement.h"
#include "statement/statement_page.h"

enum statement_part { STATEMENT_PROMISE, STATEMENT_ACCOUNTING };

void statement_conditional_put(struct statement_page *page, const struct statement *statement,
                               const struct statement_figures *figures, enum statement_part part);

#endif
