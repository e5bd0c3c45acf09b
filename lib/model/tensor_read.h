/*
 * Reading the tensors and numbers that models are made of, out of an open safetensors file of any origin:
 * each is checked before memory is asked for, and what is wrong is told with the name of the part.
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

/* The tensor of that name, which must be of this type and have so many dimensions. */
int tensor_entry_find(const struct tensor_source *source, const char *name, enum tensor_type type,
                      int n_dims, const struct safetensors_entry **entry);

/* The same for one of a single dimension, n. */
int tensor_list_find(const struct tensor_source *source, const char *name, enum tensor_type type,
                     uint64_t n, const struct safetensors_entry **entry);

/* A matrix, `rows` (n x k, k may be 0), and the list of n biases called names[1]. Every number must be
 * finite. What was made by then is the caller's to free, also on failure. */
int tensor_matrix_read(const struct tensor_source *source, const char *const names[2],
                       const struct safetensors_entry *rows, size_t stride, uint64_t spare,
                       struct factor_matrix *matrix);

/* n ids from their bytes (names[0]) and where each begins (names[1], n + 1), indexed; as above. */
int tensor_ids_read(const struct tensor_source *source, const char *const names[2], uint64_t n,
                    struct factor_ids *ids);

/* A finite number among the metadata, in the spelling that dpmf_format_double gives it. */
int tensor_number_read(const struct tensor_source *source, const char *key, double *value);

#endif
