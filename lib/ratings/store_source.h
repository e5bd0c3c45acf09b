/*
 * A store, or a directory of shards, as a source of ratings, so that stores can be merged, rescaled
 * or mixed with text.
 */
#ifndef DPMF_RATINGS_STORE_SOURCE_H
#define DPMF_RATINGS_STORE_SOURCE_H

#include "ratings/source.h"

/* A store knows what its columns are: refuses what only says how tables are read, which would be
 * ignored. @return 0 or DPMF_ERR_USAGE_CONFLICT */
int store_source_check(const char *path, const struct dpmf_input_options *options,
                       struct dpmf_error *error);

int store_source_open(const char *path, struct source **source, struct dpmf_error *error);

#endif
