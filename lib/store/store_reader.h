/*
 * What the files of lib/store share about an open store.
 */
#ifndef DPMF_STORE_READER_H
#define DPMF_STORE_READER_H

#include "store/store_format.h"

const struct store_index_entry *store_index_at(const struct dpmf_store *store, uint64_t block);

#endif
