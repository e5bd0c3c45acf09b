/*
 * Budgets: read from what people write, checked, and compared with what is spent. Fed by the
 * options of a run, `dpmf ledger budget` and the ledger's file; feeds ledger.c with yes or no.
 */
#include "ledger/ledger_budget.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "statement/accountant.h"

static const double LARGEST = 1e9;

bool ledger_budget_is_valid(const struct dpmf_budget *budget) {
    if (!(budget->mu > 0 && budget->mu <= LARGEST)) return false;
    if (budget->epsilon == 0 && budget->delta == 0) return true;
    if (!(budget->epsilon > 0 && budget->epsilon <= LARGEST)) return false;
    if (!(budget->delta > 0 && budget->delta < 1)) return false;
    /* It may have been written by a machine whose logarithms differ from ours in their last
     * bits. */
    return accountant_delta(budget->mu, budget->epsilon) <= budget->delta * (1 + 1e-9);
}

struct dpmf_budget ledger_budget_declare(double epsilon, double delta) {
    return (struct dpmf_budget){
        .mu = accountant_mu(epsilon, delta), .epsilon = epsilon, .delta = delta};
}

bool ledger_budget_allows(const struct dpmf_ledger_population *spent) {
    const struct dpmf_budget *budget = &spent->budget;
    if (budget->mu == 0 || spent->mu <= budget->mu) return true;
    return budget->epsilon > 0 && spent->epsilon <= budget->epsilon;
}

static int refuse(struct dpmf_error *error, const char *text, const char *what) {
    int code = error_set(error, DPMF_ERR_USAGE_VALUE, "the budget \"%.60s\" %s", text, what);
    error_hint(error, "give a mu such as 1.1, or an epsilon at a delta such as 5@1e-5");
    return code;
}

/* Budgets once were epsilons, and a 5 that is taken for a mu would allow seven times as much as was
 * meant. */
static int refuse_large_mu(struct dpmf_error *error, const char *text, double mu) {
    char epsilon[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(dpmf_round_decimals(accountant_epsilon(mu, LEDGER_USUAL_DELTA), 1, true),
                       epsilon);
    int code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the budget %.60s is a mu, which is epsilon %s at delta 1e-5: more than "
                         "is accepted without confirmation",
                         text, epsilon);
    error_hint(error,
               "for an epsilon of %.60s at delta 1e-5 write %.60s@1e-5; to confirm it, add "
               "{accept-epsilon}",
               text, text);
    return code;
}

static int refuse_large(struct dpmf_error *error, const char *text) {
    int code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the budget \"%.60s\" is above mu 3.45: guesses about a person may be "
                         "right nearly always",
                         text);
    error_hint(error, "give less, or add {accept-epsilon} to confirm it");
    return code;
}

int dpmf_budget_parse(const char *text, bool accept_epsilon, struct dpmf_budget *budget,
                      struct dpmf_error *error) {
    int code = arguments_check(error, "text budget", text, budget);
    if (code < 0) return code;
    const char *at = strchr(text, '@');
    const size_t n = at ? (size_t)(at - text) : strlen(text);
    double number, delta = 0;
    *budget = (struct dpmf_budget){0};
    if (number_parse_double(text, n, &number) != NUMBER_OK || !isfinite(number) ||
        (at && (number_parse_double(at + 1, strlen(at + 1), &delta) != NUMBER_OK)))
        return refuse(error, text, "is neither a number nor two numbers separated by @");
    if (!(number > 0) || number > LARGEST)
        return refuse(error, text, "is not above 0 and at most 1e9");
    if (at && !(delta > 0 && delta < 1))
        return refuse(error, text, "has a delta that is not between 0 and 1");
    if (at && delta > DPMF_DELTA_USUAL_MAX)
        return refuse(error, text, "has a delta above 1e-4, at which an epsilon promises little");
    if (!at && number > DPMF_MU_USUAL_MAX && !accept_epsilon)
        return refuse_large_mu(error, text, number);
    const struct dpmf_budget read =
        at ? ledger_budget_declare(number, delta) : (struct dpmf_budget){.mu = number};
    if (!ledger_budget_is_valid(&read)) return refuse(error, text, "allows no release at all");
    if (read.mu > DPMF_MU_USUAL_MAX && !accept_epsilon) return refuse_large(error, text);
    *budget = read;
    return 0;
}
