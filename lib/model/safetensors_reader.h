/*
 * Reading safetensors files of any origin. Everything the header says is checked when the file is
 * opened: afterwards names are unique, tensors lie one after the other without holes from the end
 * of the header to the end of the file, and each is as long as its shape says. The bytes are read,
 * not mapped: a file that is cut off meanwhile gives an error, not a signal.
 */
#ifndef DPMF_MODEL_SAFETENSORS_READER_H
#define DPMF_MODEL_SAFETENSORS_READER_H

#include "dpmf.h"
#include "model/safetensors.h"

enum {
    SAFETENSORS_HEADER_MAX = 16 << 20, /* bytes */
    SAFETENSORS_ENTRIES_MAX = 1024,    /* tensors, and as many metadata */
    SAFETENSORS_DIMS_MAX = 8,
};

struct safetensors_entry {
    const char *name;
    enum tensor_type type;
    int n_dims;
    uint64_t dims[SAFETENSORS_DIMS_MAX];
    uint64_t offset; /* from the end of the header */
    uint64_t bytes;
};

struct safetensors;

int safetensors_open(const char *path, struct safetensors **file, struct dpmf_error *error);

/* Takes over `fd`, which is closed with the file, and also when this fails. */
int safetensors_open_descriptor(int fd, const char *name, struct safetensors **file,
                                struct dpmf_error *error);

/* From bytes in memory, which must stay until it is closed. */
int safetensors_open_memory(const void *bytes, size_t n, const char *name,
                            struct safetensors **file, struct dpmf_error *error);
void safetensors_close(struct safetensors *file); /* NULL is fine */

const char *safetensors_path(const struct safetensors *file);
uint64_t safetensors_file_bytes(const struct safetensors *file);

/* The i-th tensor in the order of the file, or NULL past the last; the one of that name, or
 * NULL. */
const struct safetensors_entry *safetensors_entry_at(const struct safetensors *file, size_t i);
const struct safetensors_entry *safetensors_entry_find(const struct safetensors *file,
                                                       const char *name);

/* @return the text that goes with a key, or NULL */
const char *safetensors_metadata(const struct safetensors *file, const char *key);

/* @return the i-th key of the metadata in the order of the file, or NULL past the last */
const char *safetensors_metadata_at(const struct safetensors *file, size_t i);

/* Bytes from the start of the file to the first tensor, and these bytes as they are in the file. */
uint64_t safetensors_header_bytes(const struct safetensors *file);
int safetensors_header_read(const struct safetensors *file, uint8_t *bytes,
                            struct dpmf_error *error);

/* Reads n bytes of a tensor, from `offset` on; they must lie within it. */
int safetensors_read(const struct safetensors *file, const struct safetensors_entry *entry,
                     uint64_t offset, void *bytes, size_t n, struct dpmf_error *error);

#endif
