/*
 * Ids of a catalogue that are most likely no items: comments, sums, rules between rows, headers in
 * words that are not known. They would be published as items of the release. The catalogue is
 * public, so that a warning of them tells nothing of people; but each may be an item, so that
 * nothing is refused.
 */
#ifndef DPMF_PRIVACY_CATALOGUE_DOUBTS_H
#define DPMF_PRIVACY_CATALOGUE_DOUBTS_H

#include "dpmf.h"
#include "model/factors.h"

/* @return how many of the ids look like a header, a comment, a sum or the like */
uint64_t catalogue_doubts_count(const struct factor_ids *ids);

/* Tells run->warn; `run` may be NULL. */
void catalogue_doubts_warn(const struct factor_ids *ids, const struct dpmf_run *run);

#endif
