/*
 * Reading the tensors and numbers that models are made of, out of an open safetensors file of any
 * origin: each is checked before memory is asked for, and errors name
 * the part.
 */
#ifndef DPMF_MODEL_TENSOR_READ_H
#define DPMF_MODEL_TENSOR_READ_H

#include "model/factors.h"
#include "model/safetensors_reader.h"

struct tensor_source {
    const struct safetensors *file;
    struct dpmf_error *error;
};

/* Describes damage: "the model is damaged: `which` `what`". @return DPMF_ERR_MODEL_CORRUPT */
int tensor_damage_tell(const struct tensor_source *source, const char *which, const char *what);

/* The tensor of that name, which must have this type and number of dimensions. */
int tensor_entry_find(const struct tensor_source *source, const char *name, enum tensor_type type,
                      int n_dims, const struct safetensors_entry **entry);

/* The same for one of a single dimension, n. */
int tensor_list_find(const struct tensor_source *source, const char *name, enum tensor_type type,
                     uint64_t n, const struct safetensors_entry **entry);

/* Rows `first` to first + n - 1 of a tensor with k columns (or of a list, k = 1), which it must
 * have, to rows `stride` apart in memory. Every number must be finite. */
int tensor_rows_read(const struct tensor_source *source, const struct safetensors_entry *entry,
                     uint64_t first, uint64_t n, size_t k, float *rows, size_t stride);

/* A matrix, `rows` (n x k, k may be 0), and the list of n biases called names[1]. Every number must
 * be finite. What was made by then is the caller's to free, also on failure. */
int tensor_matrix_read(const struct tensor_source *source, const char *const names[2],
                       const struct safetensors_entry *rows, size_t stride, uint64_t spare,
                       struct factor_matrix *matrix);

/* @return 1 when a tensor's bytes are these n, 0 or a negative code */
int tensor_bytes_equal(const struct tensor_source *source, const struct safetensors_entry *entry,
                       const void *bytes, uint64_t n);

/* n ids from their bytes (names[0]) and where each begins (names[1], n + 1), indexed; as above. */
int tensor_ids_read(const struct tensor_source *source, const char *const names[2], uint64_t n,
                    struct factor_ids *ids);

/* The number of people who had each of the items whose ids were read; all finite and above 0. */
int tensor_counts_read(const struct tensor_source *source, const char *name,
                       struct factor_ids *items);

/* A finite number among the metadata. */
int tensor_number_read(const struct tensor_source *source, const char *key, double *value);

#endif
