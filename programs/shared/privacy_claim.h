/*
 * The kind of a release, as every verb shows it.
 */
#ifndef DPMF_PROGRAMS_PRIVACY_CLAIM_H
#define DPMF_PROGRAMS_PRIVACY_CLAIM_H

#include "cli/command.h"
#include "dpmf_text.h"

/* "proven", "PARTIAL, not proven" and so on: nothing but what is proven is shown as such. */
const char *privacy_claim_label(enum dpmf_claim claim);

/* The kind under `key`, and "assumptions", a list of their names. */
void privacy_claim_json(struct dpmf_json *json, const char *key, enum dpmf_claim claim,
                        unsigned assumptions);

/* A warning for each thing that the promise rests on beside the proof, whatever is silenced. */
void privacy_claim_warn(struct terminal *terminal, enum dpmf_claim claim, unsigned assumptions);

/* --accept, as bits of dpmf_assumption. */
unsigned privacy_claim_accepted(const struct invocation *invocation);

/* Verifies the release of the operand, whose bytes are at `bytes`, accepting what --accept does. */
int privacy_claim_verify(const struct invocation *invocation, const char *bytes,
                         struct dpmf_verification *found, struct dpmf_error *error);

/* Why a release that is not private is not. */
const char *privacy_claim_fault(const struct dpmf_statement *statement);

/* Calculators publish nothing, so they refuse nothing: they warn of what dpmf train would want
 * accepted. `users`: how many there are, as is publicly known; 0: not declared. */
void privacy_excess_warn(struct terminal *terminal, double epsilon, double delta, uint64_t users);

#endif
