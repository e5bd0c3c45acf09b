/*
 * What the writer of safetensors shares with those who make a header alone
 * (safetensors_header_make).
 */
#ifndef DPMF_MODEL_SAFETENSORS_HEADER_H
#define DPMF_MODEL_SAFETENSORS_HEADER_H

#include "dpmf_text.h"
#include "model/safetensors.h"

enum {
    SAFETENSORS_ALIGNMENT = 8,
    SAFETENSORS_LENGTH_BYTES = 8,                     /* bytes of the length before the header */
    SAFETENSORS_HEADER_WRITE_MAX = 100 * 1000 * 1000, /* readers elsewhere refuse a longer one */
};

/* @return false when the tensor cannot be written */
bool safetensors_tensor_bytes(const struct tensor *tensor, uint64_t *bytes);

/* The bytes of a row of a tensor of `bytes` bytes; 0 when the tensor is empty. */
uint64_t safetensors_row_bytes(const struct tensor *tensor, uint64_t bytes);

/* Names, shapes and texts that can be written; the tensors also have their data, where that is
 * asked for. */
int safetensors_tensors_check(const struct tensor *tensors, size_t n, bool with_data,
                              struct dpmf_error *error);
int safetensors_metadata_check(const char *const *metadata, size_t n, struct dpmf_error *error);

/* The header's text, or NULL; it lives as long as *json. */
const char *safetensors_header_text(struct dpmf_json **json, const struct tensor *tensors,
                                    size_t n_tensors, const char *const *metadata,
                                    size_t n_metadata, size_t *n);

/* The bytes that a text of n takes up, filled up with spaces. */
size_t safetensors_header_room(size_t n);

/* The header as a file begins with it, SAFETENSORS_LENGTH_BYTES + room bytes: the length, the text,
 * and spaces. For free(), or NULL. */
uint8_t *safetensors_header_frame(const char *text, size_t n, size_t room);

#endif
