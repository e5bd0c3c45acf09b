/*
 * Parquet files as tables. Flat columns are read, in all encodings that writers use for them, and
 * in no compression, Snappy, gzip, zstd and LZ4; nested columns, and those that are encrypted, are
 * ignored, and refused where they are needed.
 */
#ifndef DPMF_PARQUET_PARQUET_READER_H
#define DPMF_PARQUET_PARQUET_READER_H

#include "arrow/arrow_table.h"

/* @return whether these are the first bytes of a Parquet file */
bool parquet_has_magic(const void *bytes, size_t n);

/* Opens a file, which must be on a disk. The values of a page may take `limit` bytes; with
 * `any_length` its texts may take more. */
int parquet_reader_open(const char *path, uint64_t limit, bool any_length,
                        struct arrow_table **table, struct dpmf_error *error);

#endif
