/*
 * Mutant: whatever the statement says of itself, it is called proven.
 */
#include "statement/claim.h"

enum dpmf_claim __wrap_claim_of(const struct statement *statement);

enum dpmf_claim __wrap_claim_of(const struct statement *statement) {
    (void)statement;
    return DPMF_CLAIM_PROVEN;
}
