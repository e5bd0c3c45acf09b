/*
 * How a checkpoint notices damage: one number of 64 bits over every bit of the file, kept in its
 * own header as dpmf.checksum. docs/formats/checkpoint.md is the specification.
 *
 * Tensors are written piece by piece, in any order and by any thread, and never read back, so what
 * covers them is a sum: each tensor is cut into units, and the XXH3 hashes of all units, each
 * seeded with its place, are added up. A unit is what no piece ever cuts: a row of a matrix, a
 * bias, and otherwise UNIT_BYTES. The header is hashed with that sum, as if the digits of the
 * checksum in it were zeros.
 */
#ifndef DPMF_MODEL_MODEL_CHECKSUM_H
#define DPMF_MODEL_MODEL_CHECKSUM_H

#include "model/safetensors_reader.h"

#define MODEL_CHECKSUM_KEY "dpmf.checksum"
#define MODEL_CHECKSUM_ZEROS "0000000000000000" /* its value while the header is made and hashed */

enum { MODEL_CHECKSUM_DIGITS = 16 };

/* Bytes in a unit of such a tensor; never 0. */
size_t model_checksum_unit(enum tensor_type type, int n_dims, const uint64_t *dims);

/* The sum over n bytes that begin a unit, `place` bytes after the header; what is left of the last
 * unit is one. */
uint64_t model_checksum_sum(size_t unit, uint64_t place, const void *bytes, size_t n);

/* Replaces the digits in a header of n bytes, its length in front included, by those of the
 * checksum: of the header and of the tensors' sum.
 * @return false when there is no place for them */
bool model_checksum_seal(uint8_t *header, size_t n, uint64_t sum);

/* The sum over all tensors of a file, which is read by several threads where there are any. */
int model_checksum_sum_file(const struct safetensors *file, uint64_t *sum,
                            struct dpmf_error *error);

/* Reads all of the file and compares. @return 1 when it fits, 0 when it does not or is not there, a
 * negative code */
int model_checksum_verify(const struct safetensors *file, struct dpmf_error *error);

#endif
