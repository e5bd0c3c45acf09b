/*
 * A store, or a directory of shards, as a source of ratings, so that stores can be merged, rescaled
 * or mixed with text.
 */
#ifndef DPMF_RATINGS_STORE_SOURCE_H
#define DPMF_RATINGS_STORE_SOURCE_H

#include "ratings/source.h"

int store_source_open(const char *path, struct source **source, struct dpmf_error *error);

#endif
