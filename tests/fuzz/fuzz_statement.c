/*
 * Property: no text makes the reader of statements crash; what it accepts is, byte by byte, what
 * the writer makes of it, so nothing can be hidden in it; and what then passes the checks claims no
 * less than its releases cost, or, where it is conditional, than its bound on a user's loss gives,
 * is called proven only when it has no hole that it records itself, and can be shown to people.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statement/accountant.h"
#include "statement/claim.h"
#include "statement/statement_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_claim(const struct statement *statement) {
    double mu2 = 0;
    for (size_t i = 0; i < statement->n_releases; i++) {
        const struct statement_release *release = &statement->releases[i];
        double mu = ldexp(1, (int)release->bits) / (double)release->sigma;
        if (release->draws != release->coordinates) abort();
        mu2 += mu * mu;
    }
    double delta = accountant_delta(sqrt(mu2), statement->epsilon);
    if (!(delta <= statement->delta * (1 + 1e-6))) abort();
}

/* What is called proven has no hole that the statement itself records. */
static void check_kind(const struct statement *statement) {
    if (claim_of(statement) != DPMF_CLAIM_PROVEN) return;
    if (statement->is_insecure || statement->is_research || statement->catalogue_from_ratings ||
        statement_is_conditional(statement) || !(statement->delta <= 1e-4) ||
        !(statement->delta * (double)statement->declared_users < 1) ||
        !(statement_mu(statement) <= 3.45 * (1 + 1e-9)))
        abort();
}

static void check_conditional(const struct statement *statement,
                              const struct statement_figures *figures) {
    const struct statement_posterior *posterior = &statement->posterior;
    double span = statement->range_max - statement->range_min + posterior->kappa;
    double most = posterior->max_ratings * span * span * figures->loss_scale;
    if (!(most <= statement->epsilon * (1 + 1e-4)) || statement->delta != 0) abort();
    if (!(figures->replaced >= 2 * statement->epsilon / posterior->max_ratings * (1 - 1e-6)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct statement statement;
    static struct statement_figures figures;
    const char *text = (const char *)data;
    if (statement_from_json_figures(text, size, &statement, &figures, NULL) != 0) return 0;
    char *again = statement_json_make(&statement, &figures);
    if (!again || strlen(again) != size || memcmp(again, text, size) != 0) abort();
    free(again);
    if (statement_check(&statement, NULL) != 0) return 0;
    check_claim(&statement);
    if (statement_figures_check(&statement, &figures, NULL) == 0 &&
        statement_is_conditional(&statement))
        check_conditional(&statement, &figures);
    check_kind(&statement);
    statement_shape_check(&statement, statement.items, 2, NULL);
    char *page = statement_to_text(&statement);
    if (!page) abort();
    free(page);
    return 0;
}
