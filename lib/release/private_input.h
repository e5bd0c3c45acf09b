/*
 * What a private run asks of the way its ratings were read.
 */
#ifndef DPMF_RELEASE_PRIVATE_INPUT_H
#define DPMF_RELEASE_PRIVATE_INPUT_H

#include "store/store.h"

/* Refuses a store in which one person's record may have decided how another's was read, or whether it is there. The error names
 * what would import the ratings again. @return 0 or DPMF_ERR_PRIVACY_REFUSED */
int private_input_check(const struct dpmf_store *store, struct dpmf_error *error);

#endif
