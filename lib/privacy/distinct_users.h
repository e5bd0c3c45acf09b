/*
 * That a store has each user once. What is proven is about one user id with all its ratings, and a
 * contribution has norm 1: with an id that comes twice there would be two. No store that dpmf wrote
 * has one, however people's records read; but checksums can be made by anybody, and the bound rests
 * on it.
 */
#ifndef DPMF_PRIVACY_DISTINCT_USERS_H
#define DPMF_PRIVACY_DISTINCT_USERS_H

#include "base/error.h"
#include "store/store.h"

/* @return DPMF_ERR_STORE_CORRUPT where an id comes twice */
int distinct_users_check(const struct dpmf_store *store, struct dpmf_error *error);

#endif
