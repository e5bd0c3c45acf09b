/*
 * The kind of a release, as every verb shows it. The library decides what it is; this is how it is
 * worded. Fed by a statement or a report; feeds train, describe, serve, export, verify and the
 * calculators.
 */
#include "shared/privacy_claim.h"

#include <stdio.h>

#include "cli/options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/privacy_figures.h"

const char *privacy_claim_label(enum dpmf_claim claim) {
    switch (claim) {
    case DPMF_CLAIM_PROVEN: return "proven";
    case DPMF_CLAIM_CONDITIONAL: return "CONDITIONAL, not proven";
    case DPMF_CLAIM_PARTIAL: return "PARTIAL, not proven";
    case DPMF_CLAIM_NOT_PRIVATE: break;
    }
    return "NOT PRIVATE";
}

void privacy_claim_json(struct dpmf_json *json, const char *key, enum dpmf_claim claim,
                        unsigned assumptions) {
    dpmf_json_string(json, key, dpmf_claim_name(claim));
    dpmf_json_begin_array(json, "assumptions");
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1)
        if (assumptions & bit) dpmf_json_string(json, NULL, dpmf_assumption_name(bit, NULL));
    dpmf_json_end_array(json);
}

void privacy_claim_warn(struct terminal *terminal, enum dpmf_claim claim, unsigned assumptions) {
    const char *sentence = NULL;
    if (claim == DPMF_CLAIM_NOT_PRIVATE) return; /* whoever finds that says why, or refuses */
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1)
        if ((assumptions & bit) && dpmf_assumption_name(bit, &sentence))
            terminal_alert_print(terminal, "%s: it assumes %s", privacy_claim_label(claim),
                                 sentence);
}

unsigned privacy_claim_accepted(const struct invocation *invocation) {
    const unsigned of_partial =
        DPMF_ASSUMES_CATALOGUE | DPMF_ASSUMES_DELTA | DPMF_ASSUMES_EPSILON | DPMF_ASSUMES_QUERY;
    if (options_is(invocation, OPTION_ACCEPT, "conditional")) return DPMF_ASSUMES_CONVERGENCE;
    if (options_is(invocation, OPTION_ACCEPT, "partial")) return of_partial;
    if (options_is(invocation, OPTION_ACCEPT, "both")) return DPMF_ASSUMES_CONVERGENCE | of_partial;
    return 0;
}

int privacy_claim_verify(const struct invocation *invocation, const char *bytes,
                         struct dpmf_verification *found, struct dpmf_error *error) {
    int rc = dpmf_release_verify(bytes, privacy_claim_accepted(invocation), found, error);
    if (rc != 0 && error->file[0] != '\0')
        snprintf(error->file, sizeof error->file, "%s", invocation->operands[0]);
    return rc;
}

const char *privacy_claim_fault(const struct dpmf_statement *statement) {
    return statement->is_insecure
               ? "it is stamped NOT PRIVATE: its noise was made from a seed"
               : "it is stamped NOT PRIVATE: private figures were shown with --research";
}

void privacy_excess_warn(struct terminal *terminal, double epsilon, double delta, uint64_t users) {
    const unsigned excess = dpmf_privacy_excess(epsilon, delta, users);
    char text[192];
    if ((excess & DPMF_ASSUMES_DELTA) && delta <= DPMF_DELTA_USUAL_MAX) {
        snprintf(text, sizeof text,
                 "delta %s is not below one in %s users: dpmf train --declared-users refuses it "
                 "without --accept-delta",
                 figures_exact(delta).text, text_number(users).text);
        terminal_warning_print(terminal, text);
    } else if (excess & DPMF_ASSUMES_DELTA) {
        snprintf(text, sizeof text,
                 "delta %s is above %s: dpmf train refuses it without "
                 "--accept-delta",
                 figures_exact(delta).text, figures_exact(DPMF_DELTA_USUAL_MAX).text);
        terminal_warning_print(terminal, text);
    }
    if (excess & DPMF_ASSUMES_EPSILON) {
        snprintf(text, sizeof text,
                 "epsilon %g at delta %g is above mu %g: dpmf train refuses it "
                 "without --accept-epsilon",
                 epsilon, delta, DPMF_MU_USUAL_MAX);
        terminal_warning_print(terminal, text);
    }
}
