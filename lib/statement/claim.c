/*
 * What may be claimed of a release, from its statement's contents alone, so that whoever reads the
 * file comes to the same answer as whoever wrote it; releases whose statement has no list of
 * assumptions are judged by what they record, too. Fed by a statement; feeds everything that says
 * what kind of promise a release makes.
 */
#include "statement/claim.h"

#include "statement/accountant.h"

/* ---- names ----------------------------------------------------------------------------------- */

const char *dpmf_claim_name(enum dpmf_claim claim) {
    switch (claim) {
    case DPMF_CLAIM_PROVEN: return "proven";
    case DPMF_CLAIM_CONDITIONAL: return "conditional";
    case DPMF_CLAIM_PARTIAL: return "partial";
    case DPMF_CLAIM_NOT_PRIVATE: break;
    }
    return "not private";
}

const char *dpmf_assumption_name(unsigned assumption, const char **sentence) {
    static const struct {
        unsigned bit;
        const char *name, *sentence;
    } known[] = {
        {DPMF_ASSUMES_CONVERGENCE, "convergence",
         "that the sampler had converged, for every set of ratings it might have been given"},
        {DPMF_ASSUMES_CATALOGUE, "catalogue",
         "that anyone may know which items were rated: the catalogue was made from the ratings"},
        {DPMF_ASSUMES_DELTA, "delta",
         "that so large a delta is acceptable: it allows for people whose ratings are published "
         "outright"},
        {DPMF_ASSUMES_EPSILON, "epsilon",
         "that so weak a promise is acceptable: guesses about a person may be right nearly always"},
        {DPMF_ASSUMES_QUERY, "query",
         "that nobody's ratings depend on other people: a query, a view or functions of a database "
         "gave them, and dpmf does not know what they do"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].bit == assumption) {
            if (sentence) *sentence = known[i].sentence;
            return known[i].name;
        }
    return NULL;
}

/* ---- what decides ---------------------------------------------------------------------------- */

/* A comparison that is false of what is no number counts against the release. */
unsigned dpmf_privacy_excess(double epsilon, double delta, uint64_t declared_users) {
    unsigned excess = 0;
    if (delta == 0) return epsilon <= DPMF_EPSILON_USUAL_MAX ? 0 : DPMF_ASSUMES_EPSILON;
    if (!(delta <= DPMF_DELTA_USUAL_MAX) || !(delta * (double)declared_users < 1))
        excess |= DPMF_ASSUMES_DELTA;
    if (!(accountant_mu(epsilon, delta) <= DPMF_MU_USUAL_MAX)) excess |= DPMF_ASSUMES_EPSILON;
    return excess;
}

unsigned claim_assumptions(const struct statement *statement) {
    unsigned assumptions =
        dpmf_privacy_excess(statement->epsilon, statement->delta, statement->declared_users);
    if (statement_is_conditional(statement)) assumptions |= DPMF_ASSUMES_CONVERGENCE;
    if (statement->catalogue_from_ratings) assumptions |= DPMF_ASSUMES_CATALOGUE;
    if (statement->is_queried) assumptions |= DPMF_ASSUMES_QUERY;
    return assumptions;
}

enum dpmf_claim claim_of(const struct statement *statement) {
    const unsigned assumptions = claim_assumptions(statement);
    if (statement->is_insecure || statement->is_research) return DPMF_CLAIM_NOT_PRIVATE;
    if (assumptions & DPMF_ASSUMES_CONVERGENCE) return DPMF_CLAIM_CONDITIONAL;
    return assumptions != 0 ? DPMF_CLAIM_PARTIAL : DPMF_CLAIM_PROVEN;
}
