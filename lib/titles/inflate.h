/*
 * DEFLATE (RFC 1951), for the archives in which services export histories. The client library and
 * the page have no zlib, and one decoder reads the same everywhere.
 */
#ifndef DPMF_TITLES_INFLATE_H
#define DPMF_TITLES_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/* Unpacks bytes whose unpacked number is known.
 *
 * @return 0; DPMF_ERR_INPUT_COMPRESSED when they are damaged or unpack to another number of bytes;
 *         DPMF_ERR_BASE_NO_MEMORY
 */
int inflate_bytes(const uint8_t *packed, size_t n_packed, uint8_t *out, size_t n_out);

/* The CRC-32 of bytes, as archives keep it. */
uint32_t inflate_crc32(const uint8_t *bytes, size_t n);

#endif
