/*
 * safetensors files: a JSON header and raw tensors, which every language can read.
 */
#ifndef DPMF_MODEL_SAFETENSORS_H
#define DPMF_MODEL_SAFETENSORS_H

#include "dpmf.h"
#include "files/output_file.h"

enum tensor_type { TENSOR_U8, TENSOR_F32, TENSOR_F64, TENSOR_I64 };

struct tensor {
    const char *name;
    enum tensor_type type;
    int n_dims; /* 1 or 2 */
    uint64_t dims[2];
    const void *data; /* row-major, little-endian */
    size_t stride;    /* bytes from row to row of `data`, where rows are padded; 0: they are not */
};

/* `metadata` is pairs of key and value, 2 * n_metadata strings. */
int safetensors_write(const char *path, enum output_mode mode, const struct tensor *tensors,
                      size_t n_tensors, const char *const *metadata, size_t n_metadata,
                      struct dpmf_error *error);

/* What such a file begins with: the length of its header, and the header. Tensors may be without
 * data; what was made is for free(). */
int safetensors_header_make(const struct tensor *tensors, size_t n_tensors,
                            const char *const *metadata, size_t n_metadata, uint8_t **header,
                            size_t *n, struct dpmf_error *error);

/* A file whose tensors are written in pieces, in any order and by any thread, and whose header
 * comes last. Tensors are declared without data; `metadata` must be as long as it can become: the
 * header's place is kept by it, and filled up with spaces. */
struct safetensors_draft;

int safetensors_draft_open(struct safetensors_draft **draft, const char *path,
                           enum output_mode mode, const struct tensor *tensors, size_t n_tensors,
                           const char *const *metadata, size_t n_metadata,
                           struct dpmf_error *error);

/* Writes n bytes of the i-th tensor, from `offset` on. From any thread. Where the metadata has a
 * place for a checksum (model_checksum.h), each byte is written once, in whole units, and no byte
 * changes meanwhile. */
int safetensors_draft_put(struct safetensors_draft *draft, size_t i, uint64_t offset,
                          const void *bytes, size_t n, struct dpmf_error *error);

/* Writes the header and puts the file in its place; frees the draft in any case. */
int safetensors_draft_commit(struct safetensors_draft *draft, const char *const *metadata,
                             size_t n_metadata, struct dpmf_error *error);
void safetensors_draft_abandon(struct safetensors_draft *draft); /* NULL is fine */

#endif
