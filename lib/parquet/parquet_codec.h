/*
 * The compressions of Parquet's pages. What is decompressed must be exactly as long as the page's
 * header says: no byte more is written, and no byte fewer is accepted.
 */
#ifndef DPMF_PARQUET_PARQUET_CODEC_H
#define DPMF_PARQUET_PARQUET_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum parquet_codec {
    PARQUET_UNCOMPRESSED,
    PARQUET_SNAPPY,
    PARQUET_GZIP,
    PARQUET_LZO,
    PARQUET_BROTLI,
    PARQUET_LZ4,
    PARQUET_ZSTD,
    PARQUET_LZ4_RAW,
    PARQUET_CODECS,
};

/* @return "Snappy", or NULL where there is no such codec */
const char *parquet_codec_name(int codec);

/* @return whether parquet_decompress can do it */
bool parquet_codec_is_known(int codec);

/* Makes `size` bytes of n. The codec is known. @return false when they are not exactly that */
bool parquet_decompress(enum parquet_codec codec, const uint8_t *packed, size_t n, uint8_t *bytes,
                        size_t size);

#endif
