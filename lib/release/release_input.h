/*
 * What a private run requires of the way its ratings were read.
 */
#ifndef DPMF_RELEASE_RELEASE_INPUT_H
#define DPMF_RELEASE_RELEASE_INPUT_H

#include "store/store.h"

/* Refuses a store in which one person's record may have decided how another's was read, or whether
 * it is there. The error names what would import the ratings again. Events are for mechanisms that
 * rank. @return 0 or DPMF_ERR_PRIVACY_REFUSED */
int release_input_check(const struct dpmf_store *store, bool ranks, struct dpmf_error *error);

/* Refuses a catalogue or item features that are the very file of the ratings or of the wishes,
 * whatever the names are that lead there: both are published, or shape what is. @return 0 or
 * DPMF_ERR_PRIVACY_REFUSED */
int release_input_check_public(const struct dpmf_store *store,
                               const struct dpmf_release_options *options,
                               struct dpmf_error *error);

/* Refuses to write the release, or its trace, over the ratings or over a file that it is made
 * from. @return 0 or DPMF_ERR_USAGE_CONFLICT */
int release_input_check_output(const struct dpmf_store *store,
                               const struct dpmf_release_options *options, const char *output,
                               struct dpmf_error *error);

#endif
