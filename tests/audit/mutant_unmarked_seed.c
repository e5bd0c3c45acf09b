/*
 * Mutant: a file whose noise has a seed claims what any other does.
 */
#include "statement/statement.h"

char *__real_statement_to_json(const struct statement *statement);
char *__wrap_statement_to_json(const struct statement *statement);

char *__wrap_statement_to_json(const struct statement *statement) {
    static _Thread_local struct statement claimed;
    claimed = *statement;
    claimed.is_insecure = false;
    return __real_statement_to_json(&claimed);
}
